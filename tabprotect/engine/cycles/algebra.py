"""The algebra of a cycle set: rank, relations between cycles, distinct outcomes, known functionals.

All of it works on signature groups (cells that move alike). Cycles that can be peeled off, each
with a cell of its own, are independent of all others; the rest goes component by component. Ranks
are exact if everything peels or every group is touched by at most two cycles (a signed graph);
otherwise they come from elimination modulo a prime of 31 bits, which can only err by reporting too
little, with a chance of about cycles / 2^31.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import lcm, prod

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.cycles import graphs
from tabprotect.engine.cycles.constructions.for_margins import dimension
from tabprotect.engine.cycles.kernel_basis import core
from tabprotect.engine.cycles.signatures import Signatures, signatures
from tabprotect.engine.equal_rows import members, starts_of_runs
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.moves import MoveSet

ALGEBRA_WORK = 20_000_000
"""Row operations after which a rank counts as too large to compute."""

ALGEBRA_OUTCOMES = 300_000
"""Most outcomes of a cycle set that are listed to be counted."""


PRIME = 2**31 - 1

MOST_OUTCOMES = 2**63 - 1

Row = dict[int, int]


def _rows(sig: Signatures, groups: list[int]) -> list[Row]:
    return [dict(zip(*(of.tolist() for of in sig.touching(g)), strict=True)) for g in groups]


class Span:
    """A growing row space modulo a prime, in echelon form (sparse rows)."""

    def __init__(self) -> None:
        self._pivots: dict[int, Row] = {}
        self.work = 0

    def __len__(self) -> int:
        return len(self._pivots)

    def reduce(self, row: Row) -> Row:
        """The remainder of a row after reduction by the span; empty if the row is in the span."""
        row = {k: v % PRIME for k, v in row.items() if v % PRIME}
        left: Row = {}
        while row:
            column = min(row)
            value = row.pop(column)
            pivot = self._pivots.get(column)
            if pivot is None:
                left[column] = value
                continue
            self.work += len(pivot)
            for k, v in pivot.items():
                if k == column:
                    continue
                new = (row.get(k, 0) - value * v) % PRIME
                if new:
                    row[k] = new
                else:
                    row.pop(k, None)
        return left

    def add(self, row: Row) -> bool:
        """Add a row; return True if it was independent."""
        left = self.reduce(row)
        if not left:
            return False
        column = min(left)
        inverse = pow(left[column], -1, PRIME)
        self._pivots[column] = {k: v * inverse % PRIME for k, v in left.items()}
        return True


@dataclass(frozen=True)
class CycleComponent:
    """One connected component of a cycle set.

    ``relation`` is the only integer relation between its cycles, if there is exactly one.
    """

    cycles: int
    rank: int | None
    relation: tuple[int, ...] | None


def _signed_graph(rows: list[Row], n: int) -> CycleComponent:
    """Rank of rows with one or two entries of +-1: full, or one less if they balance."""
    near: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    pinned = False
    for row in rows:
        if len(row) == 1:
            pinned = True
            continue
        (i, s), (j, t) = row.items()
        near[i].append((j, -s * t))
        near[j].append((i, -s * t))
    value, stack = {0: 1}, [0]
    while stack and not pinned:
        i = stack.pop()
        for j, factor in near[i]:
            want = value[i] * factor
            if j not in value:
                value[j] = want
                stack.append(j)
            elif value[j] != want:
                pinned = True
                break
    if pinned:
        return CycleComponent(n, n, None)
    return CycleComponent(n, n - 1, tuple(value[v] for v in range(n)))


def _null_space(rows: Iterable[Row], columns: int) -> list[Row]:
    """A basis of the vectors on which all rows vanish, in whole numbers (exact fractions)."""
    pivots: dict[int, dict[int, Fraction]] = {}
    for given in rows:
        row = {k: Fraction(v) for k, v in given.items()}
        for column, pivot in pivots.items():
            if column in row:
                row = _less(row, pivot, row[column])
        if not row:
            continue
        column, lead = min(row), row[min(row)]
        row = {k: v / lead for k, v in row.items()}
        for other, pivot in pivots.items():
            if column in pivot:
                pivots[other] = _less(pivot, row, pivot[column])
        pivots[column] = row
    out = []
    for free in (k for k in range(columns) if k not in pivots):
        vector = {column: -pivot[free] for column, pivot in pivots.items() if free in pivot}
        scale = lcm(*(v.denominator for v in vector.values()))
        out.append({free: scale, **{k: int(v * scale) for k, v in vector.items()}})
    return out


def _less(row: dict[int, Fraction], other: dict[int, Fraction], times: Fraction) -> dict[int, Fraction]:
    """A row less so many times another, without zeros."""
    none = Fraction(0)
    found = {k: row.get(k, none) - times * other.get(k, none) for k in {**row, **other}}
    return {k: v for k, v in found.items() if v}


def _part(rows: list[Row], n: int) -> CycleComponent:
    if all(len(r) <= 2 for r in rows):
        return _signed_graph(rows, n)
    span = Span()
    for row in sorted(rows, key=len):
        span.add(row)
        if len(span) == n:
            break
        if span.work > ALGEBRA_WORK:
            return CycleComponent(n, None, None)
    relation = None
    if len(span) == n - 1 and n <= 60:
        kernel = _null_space(rows, n)
        relation = tuple(kernel[0].get(k, 0) for k in range(n)) if len(kernel) == 1 else None
    return CycleComponent(n, len(span), relation)


class CycleAlgebra:
    """All properties of one cycle set that do not depend on a table's counts.

    Parameters
    ----------
    moves
    support : bool (cells,)
        Cells that are not public zeros; all by default. A cycle that touches another cell can never
        be taken, and counts for nothing here.
    """

    def __init__(self, moves: MoveSet, support: Bools | None = None) -> None:
        self.support = support
        if support is not None and not support.all():
            dead = np.logical_or.reduceat(~support[moves.cells], moves.starts[:-1])
            moves = moves.take(np.flatnonzero(~dead))
        self.moves = moves
        self.signatures = signatures(moves)
        sig = self.signatures
        stays = core(sig.cycles, sig.groups, count=len(moves))
        self.peeled = int((~stays).sum())
        self.parts = self._parts(stays, sig.groups)

    def _parts(self, stays: Bools, touching: Ints) -> list[tuple[list[int], CycleComponent]]:
        """The connected components of the cycles that do not peel off, with their members."""
        if not stays.any():
            return []
        sig = self.signatures
        kept = stays[sig.cycles]
        cycles, touching = sig.cycles[kept], touching[kept]
        signs = sig.signs[kept]
        first = starts_of_runs(touching)
        spans = np.diff(np.r_[first, len(touching)])
        label = graphs.components(np.repeat(cycles[first], spans), cycles, len(stays))
        label[~stays] = -1
        rows: dict[int, list[Row]] = {}
        for a, n in zip(first.tolist(), spans.tolist(), strict=True):
            own = cycles[a : a + n]
            row = dict(zip(own.tolist(), signs[a : a + n].tolist(), strict=True))
            rows.setdefault(int(label[own[0]]), []).append(row)
        seen: dict[tuple[object, ...], CycleComponent] = {}
        parts: list[tuple[list[int], CycleComponent]] = []
        for part, cycles_of in enumerate(members(label, int(label.max()) + 1)):
            if part not in rows:
                continue
            number = {v: k for k, v in enumerate(cycles_of.tolist())}
            shape = tuple(sorted(tuple(sorted((number[k], v) for k, v in r.items())) for r in rows[part]))
            if shape not in seen:
                seen[shape] = _part([dict(r) for r in shape], len(number))
            parts.append((list(number), seen[shape]))
        return parts

    @property
    def rank(self) -> int | None:
        """Rank of the cycle set; ``None`` if too large to compute."""
        total = self.peeled
        for _, part in self.parts:
            if part.rank is None:
                return None
            total += part.rank
        return total

    @cached_property
    def dimension(self) -> int | None:
        """Number of independent moves that keep the margins; ``None`` if too large to compute."""
        return dimension(self.moves.publication, self.support)

    def distinct_outcomes(self, passes: int = 1) -> int | None:
        """Number of distinct tables the coins can reach if nothing is blocked.

        With independent cycles (2p + 1)^n. With one integer relation r the coefficient vectors
        that give the same table form chains along r, so there are (2p + 1)^n -
        prod(2p + 1 - |r_i|) of them. Small remaining components are counted one by one.
        ``None`` if there are too many to count (or more than 2^63).
        """
        total = int((2 * passes + 1) ** min(self.peeled, 64))
        if total > MOST_OUTCOMES:
            return None
        counted: dict[int, int | None] = {}
        for cycles, part in self.parts:
            if id(part) not in counted:
                counted[id(part)] = self._distinct(cycles, part, passes)
            number = counted[id(part)]
            if number is None:
                return None
            total *= number
            if total > MOST_OUTCOMES:
                return None
        return total

    def _distinct(self, members: list[int], part: CycleComponent, passes: int) -> int | None:
        side = 2 * passes + 1
        if part.rank == part.cycles:
            return int(side**part.cycles)
        if part.relation is not None:
            return int(side**part.cycles) - prod(max(0, side - abs(r)) for r in part.relation)
        if side**part.cycles > ALGEBRA_OUTCOMES:
            return None
        dense = np.stack([self.moves.array(i).reshape(-1) for i in members]).astype(np.int64)
        weights = np.array(list(product(range(-passes, passes + 1), repeat=len(members))))
        return len(np.unique(weights @ dense, axis=0))

    def known_functionals(self) -> list[dict[Index, int]] | None:
        """Sums of cells that every outcome publishes exactly, beyond the margins.

        A basis modulo the margins, simplest first: untouched cells, differences of cells that
        move alike, then general combinations. ``None`` for tables of more than 400 cells.
        """
        domain = self.moves.domain
        rank = self.rank
        if domain.size > 400 or rank is None or self.dimension is None:
            return None
        wanted = self.dimension - rank
        span = Span()
        if self.support is not None:
            for cell in np.flatnonzero(~self.support).tolist():
                span.add({cell: 1})
        kept = self.moves.publication
        for m in range(len(kept.margins)):
            keys = kept.keys(m)
            for key in range(int(keys.max()) + 1):
                span.add({int(c): 1 for c in np.flatnonzero(keys == key)})
        found: list[dict[Index, int]] = []
        for row in self._candidates():
            if len(found) >= wanted:
                break
            if span.add(row):
                found.append({domain.unflat(c): v for c, v in sorted(row.items())})
        return found

    def _candidates(self) -> list[Row]:
        sig = self.signatures
        group_of = sig.group_of_cell
        untouched: list[Row] = [{int(c): 1} for c in np.flatnonzero(group_of < 0)]
        alike: list[Row] = []
        for g in range(len(sig)):
            cells = np.flatnonzero(group_of == g).tolist()
            alike.extend({a: 1, b: -1} for a, b in pairwise(cells))
        return untouched + alike + self._null_rows()

    def _null_rows(self) -> list[Row]:
        """Integer vectors over the groups' first cells that vanish on every cycle (exact)."""
        sig = self.signatures
        # One equation per cycle over the groups, each group counted once per cell of its first.
        equations: list[Row] = [{} for _ in range(len(self.moves))]
        for g in range(len(sig)):
            for i, s in zip(*(of.tolist() for of in sig.touching(g)), strict=True):
                equations[i][g] = s
        null = _null_space(equations, len(sig))
        return [{int(sig.first_cell[g]): v for g, v in vector.items()} for vector in null]

    def revealed_by(self, known: Bools) -> Bools:
        """Cells that become exactly known to a reader who knows the true values of ``known``.

        Holds for an unblocked run: a cell is revealed if its moves are a combination of the known
        cells' moves. Flat boolean arrays (cells,); untouched cells are published anyway. With
        more than 600 groups only cells that move exactly like a known one are counted.
        """
        sig = self.signatures
        touched = sig.group_of_cell >= 0
        known_groups = np.unique(sig.group_of_cell[known & touched])
        revealed = np.zeros(len(sig), dtype=np.bool_)
        revealed[known_groups] = True
        if not revealed.all() and len(sig) <= 600:
            span = Span()
            for row in _rows(sig, known_groups.tolist()):
                span.add(row)
            for g in np.flatnonzero(~revealed).tolist():
                revealed[g] = not span.reduce(_rows(sig, [g])[0])
        out = ~touched | known
        out[touched] |= revealed[sig.group_of_cell[touched]]
        return out
