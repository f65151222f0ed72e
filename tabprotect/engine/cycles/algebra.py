"""The algebra of a cycle set: rank, relations between cycles, distinct outcomes, known functionals.

All of it works on signature groups (cells that move alike). Cycles that can be peeled off, each
with a cell of its own, are independent of all others; the rest goes component by component. Ranks
are exact if everything peels or every group is touched by at most two cycles (a signed graph);
otherwise they come from elimination modulo a prime of 31 bits, which can only err by reporting too
little, with a chance of about cycles / 2^31.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import gcd

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.cycles import graphs
from tabprotect.engine.cycles.constructions.for_margins import dimension
from tabprotect.engine.cycles.kernel_basis import core
from tabprotect.engine.cycles.signatures import Signatures, signatures
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
    out = []
    for g in groups:
        cycles, signs = sig.touching(g)
        out.append(dict(zip(cycles.tolist(), signs.tolist(), strict=True)))
    return out


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


def _signed_graph(rows: list[Row], members: list[int]) -> CycleComponent:
    """Rank of rows with one or two entries of +-1: full, or one less if they balance."""
    near: dict[int, list[tuple[int, int]]] = {v: [] for v in members}
    pinned = False
    for row in rows:
        if len(row) == 1:
            pinned = True
            continue
        (i, s), (j, t) = row.items()
        near[i].append((j, -s * t))
        near[j].append((i, -s * t))
    value = {members[0]: 1}
    stack = [members[0]]
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
    n = len(members)
    if pinned:
        return CycleComponent(n, n, None)
    return CycleComponent(n, n - 1, tuple(value[v] for v in members))


def _integer_kernel(rows: list[Row], members: list[int]) -> tuple[int, ...] | None:
    """The primitive integer relation if the kernel is one-dimensional (exact fractions)."""
    number = {v: k for k, v in enumerate(members)}
    pivots: dict[int, dict[int, Fraction]] = {}
    for given in rows:
        row = {number[k]: Fraction(v) for k, v in given.items()}
        for column in sorted(pivots):
            factor = row.get(column)
            if factor:
                for k, v in pivots[column].items():
                    row[k] = row.get(k, Fraction(0)) - factor * v
        row = {k: v for k, v in row.items() if v}
        if row:
            column = min(row)
            lead = row[column]
            pivots[column] = {k: v / lead for k, v in row.items()}
    free = [v for v in range(len(members)) if v not in pivots]
    if len(free) != 1:
        return None
    solution = {free[0]: Fraction(1)}
    for column in sorted(pivots, reverse=True):
        solution[column] = -sum(
            (v * solution.get(k, Fraction(0)) for k, v in pivots[column].items() if k != column), Fraction(0)
        )
    scale = 1
    for v in solution.values():
        scale = scale * v.denominator // gcd(scale, v.denominator)
    whole = [int(solution[k] * scale) for k in range(len(members))]
    common = gcd(*whole)
    return tuple(w // common for w in whole)


def _part(rows: list[Row], members: list[int]) -> CycleComponent:
    if all(len(r) <= 2 for r in rows):
        return _signed_graph(rows, members)
    span = Span()
    for row in sorted(rows, key=len):
        span.add(row)
        if len(span) == len(members):
            break
        if span.work > ALGEBRA_WORK:
            return CycleComponent(len(members), None, None)
    relation = None
    if len(span) == len(members) - 1 and len(members) <= 60:
        relation = _integer_kernel(rows, members)
    return CycleComponent(len(members), len(span), relation)


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
        touching = np.repeat(np.arange(len(sig)), np.diff(sig.starts))
        stays = core(sig.cycles, touching, count=len(moves))
        self.peeled = int((~stays).sum())
        self.parts = self._parts(stays, touching)

    def _parts(self, stays: Bools, touching: Ints) -> list[tuple[list[int], CycleComponent]]:
        """The connected components of the cycles that do not peel off, with their members."""
        if not stays.any():
            return []
        sig = self.signatures
        kept = stays[sig.cycles]
        cycles, touching = sig.cycles[kept], touching[kept]
        signs = sig.signs[kept]
        first = np.flatnonzero(np.r_[True, np.diff(touching) != 0])
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
        order = np.argsort(label, kind="stable")
        bounds = np.flatnonzero(np.r_[True, np.diff(label[order]) != 0, True])
        for a, b in pairwise(bounds.tolist()):
            members = order[a:b].tolist()
            if label[members[0]] < 0:
                continue
            number = {v: k for k, v in enumerate(members)}
            own_rows = rows[int(label[members[0]])]
            shape = tuple(sorted(tuple(sorted((number[k], v) for k, v in r.items())) for r in own_rows))
            if shape not in seen:
                local = [dict(r) for r in shape]
                seen[shape] = _part(local, list(range(len(members))))
            parts.append((members, seen[shape]))
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
        for members, part in self.parts:
            if id(part) not in counted:
                counted[id(part)] = self._distinct(members, part, passes)
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
            overlap = 1
            for r in part.relation:
                overlap *= max(0, side - abs(r))
            return int(side**part.cycles) - overlap
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
        equations: list[dict[int, Fraction]] = [{} for _ in range(len(self.moves))]
        for g in range(len(sig)):
            cycles, signs = sig.touching(g)
            for i, s in zip(cycles.tolist(), signs.tolist(), strict=True):
                equations[i][g] = Fraction(s)
        pivots: dict[int, dict[int, Fraction]] = {}
        for equation in equations:
            row = dict(equation)
            for column, pivot in pivots.items():
                factor = row.get(column)
                if factor:
                    for k, v in pivot.items():
                        row[k] = row.get(k, Fraction(0)) - factor * v
            row = {k: v for k, v in row.items() if v}
            if not row:
                continue
            column = min(row)
            lead = row[column]
            row = {k: v / lead for k, v in row.items()}
            for other, pivot in pivots.items():
                factor = pivot.get(column)
                if factor:
                    merged = {
                        k: pivot.get(k, Fraction(0)) - factor * row.get(k, Fraction(0))
                        for k in {*pivot, *row}
                    }
                    pivots[other] = {k: v for k, v in merged.items() if v}
            pivots[column] = row
        out: list[Row] = []
        for free in range(len(sig)):
            if free in pivots:
                continue
            vector = {free: Fraction(1)}
            for column, pivot in pivots.items():
                if pivot.get(free):
                    vector[column] = -pivot[free]
            scale = 1
            for v in vector.values():
                scale = scale * v.denominator // gcd(scale, v.denominator)
            out.append({int(sig.first_cell[g]): int(v * scale) for g, v in vector.items()})
        return out

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
