"""What contributors know of a pattern of hidden sums, and how closely they can estimate each other.

A reader knows the published sums, that all add up, that nothing is negative (where nothing is), and
his own contributions: a hidden sum is at least what he put in, and exactly that where he is alone. He
estimates another's contribution to hidden cells by the largest sum they may have, less his own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.equal_rows import largest_by_key, sums_by_key
from tabprotect.engine.magnitudes.tables.equations import Equations
from tabprotect.engine.magnitudes.tables.largest_only import RANKS
from tabprotect.engine.magnitudes.tables.lists import Lists
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, judge, most_ranks
from tabprotect.engine.sensitivity.rule import CellContributions

Reader = tuple[int, ...]
"""The holdings that put together what they know."""

MOST_ROWS = 1_000_000
"""Contributions that are judged together at once."""

OUTSIDER: Reader = ()
"""The reader who contributes nothing."""


@dataclass(frozen=True, eq=False)
class AttackProblem:
    """A magnitude table with the rules that its pattern has to keep, over cells that differ.

    Attributes
    ----------
    table, rules
    weights
        How weights are read.
    least : int64 (cells,)
        By how much each sum has to be uncertain at least, whatever the rules say; ``None`` for 0.
    """

    table: MagnitudeTable
    rules: tuple[MagnitudeRule, ...]
    weights: str = "sample"
    least: Ints | None = None

    @cached_property
    def still(self) -> Bools:
        """The sums that are not hidden to protect others: they are 0, and nobody minds."""
        zero = self.value == 0
        return np.asarray(zero if self.least is None else zero & (self.least == 0))

    @cached_property
    def equations(self) -> Equations:
        """Return how the cells add up."""
        cells = self.table.cells
        return Equations.of(self.table.variables, cells.key, cells.nodes)

    @cached_property
    def value(self) -> Ints:
        """The sums."""
        return self.table.cells.value

    @cached_property
    def lists(self) -> Lists:
        """The contributions to the cells that were asked for."""
        return Lists(self.table, whole=self.table.weighted and self.weights != "sample")

    @cached_property
    def plain(self) -> bool:
        """Return True if nobody asked for protection, and nobody waived it."""
        rows = self.table.rows
        return not rows.asked.any() and not rows.waived.any()

    @cached_property
    def _held(self) -> dict[int, list[tuple[int, int]]]:
        return {}

    def cells_of(self, holding: int) -> list[tuple[int, int]]:
        """The cells of a holding with what he put in, among cells that differ."""
        if self.table.largest is not None:
            # Whoever it is, what he has elsewhere is not known.
            of, rank = divmod(holding, RANKS)
            return [(of, int(self.lists.of(of).known[rank]))]
        known = self._held.get(holding)
        if known is None:
            table, rows = self.table, self.table.rows_of(holding)
            whole = table.weighted and self.weights != "sample"
            own = (table.rows.weighted if whole else table.rows.own)[rows]
            keys = table.keys_at_all_depths(table.rows.codes[:, rows])
            key, at = np.unique(keys, return_inverse=True)
            sums = np.zeros(len(key), dtype=np.int64)
            np.add.at(sums, at.reshape(-1), np.tile(own, len(keys)))
            cell = np.searchsorted(table.cells.key, key)
            differs = self.equations.same[cell] == cell
            known = list(zip(cell[differs].tolist(), sums[differs].tolist(), strict=True))
            self._held[holding] = known
        return known

    @cached_property
    def public_floor(self) -> float:
        """Return what everybody knows no sum to be below: 0, or with negative values far below all."""
        return -float(np.abs(self.table.rows.weighted).sum()) if self.table.signed else 0.0

    def pooled(self, cells: Sequence[int]) -> tuple[Ints, Ints]:
        """The contributors of cells together, the largest first, and what each put in."""
        parts = [self.lists.of(cell) for cell in cells]
        holding, own = parts[0].holding, parts[0].known
        if len(parts) > 1:
            every = np.concatenate([self._pools(part.holding) for part in parts])
            holding, at = np.unique(every, return_inverse=True)
            own = np.zeros(len(holding), dtype=np.int64)
            np.add.at(own, at, np.concatenate([part.known for part in parts]))
        order = np.lexsort((holding, -np.abs(own)))
        return holding[order], own[order]

    def _pools(self, holding: Ints) -> Ints:
        """Return whose contributions are put together; where that is not known, those of one rank."""
        return holding if self.table.largest is None else holding % RANKS

    def judged(self, cells: Sequence[int]) -> CellContributions:
        """Return what the rules look at in cells together."""
        holding, own = self.pooled(cells)
        parts = [self.lists.of(cell) for cell in cells]
        size = len(own) if not self.plain else min(len(own), self.ranks)
        top = np.zeros((1, max(size, self.ranks)), dtype=np.int64)
        top[0, :size] = np.abs(own[:size])
        asked, waived = np.zeros(top.shape, dtype=bool), np.zeros(top.shape, dtype=bool)
        if not self.plain:
            for part in parts:
                at = {h: n for n, h in enumerate(part.holding.tolist())}
                for rank, one in enumerate(holding[:size].tolist()):
                    if one in at:
                        asked[0, rank] |= part.asked[at[one]]
                        waived[0, rank] = part.waived[at[one]]
        whole = sum(int(np.abs(part.weighted).sum()) for part in parts)
        total = np.array([whole if self.table.weighted else int(np.abs(own).sum())])
        return CellContributions(total, top, np.array([int((own != 0).sum())]), asked, waived)

    @cached_property
    def ranks(self) -> int:
        """Return how many of the largest contributions the rules look at, at least two."""
        return max(2, most_ranks(self.rules))

    def level(self, cells: Sequence[int]) -> int:
        """Return by how much the rules want the sum of cells to be uncertain; 0 where it is safe."""
        return int(judge(self.rules, self.judged(cells)).upper[0])

    def levels(self, start: Ints, cells: Ints) -> Ints:
        """The same of many groups of cells at once: those of each begin at ``start``.

        Zeros that are sensitive are known together where the sum of a group is 0.
        """
        found = self._by_rules(start, cells)
        if self.least is None:
            return found
        size = np.add.reduceat(np.abs(self.value[cells]), start)
        least = np.maximum.reduceat(self.least[cells], start)
        return np.where(size == 0, np.maximum(found, least), found)

    def _by_rules(self, start: Ints, cells: Ints) -> Ints:
        if not self.plain:
            groups = zip(start.tolist(), [*start[1:].tolist(), len(cells)], strict=True)
            return np.array([self.level(cells[a:b].tolist()) for a, b in groups], dtype=np.int64)
        lengths = self.lists.lengths(cells)
        ends = np.append(start, len(cells))
        rows = np.append(0, np.cumsum(lengths))[ends]
        out = np.zeros(len(start), dtype=np.int64)
        first = 0
        while first < len(start):
            # As many groups as fit, one at least.
            last = int(np.searchsorted(rows, rows[first] + MOST_ROWS, side="right")) - 1
            last = min(max(last, first + 1), len(start))
            out[first:last] = self._levels(ends[first : last + 1], cells)
            first = last
        return out

    def _levels(self, ends: Ints, cells: Ints) -> Ints:
        sizes = np.diff(ends)
        group = np.repeat(np.arange(len(sizes)), sizes)
        part, lengths = self.lists.gathered(cells[ends[0] : ends[-1]])
        of = np.repeat(group, lengths)
        size = len(self.table.names) if self.table.largest is None else RANKS
        key, sums = sums_by_key(of * size + self._pools(part.holding), part.known[None])
        own, of_own = sums[0], key // size
        total = np.zeros(len(sizes), dtype=np.int64)
        weighted = self.table.weighted
        np.add.at(total, of if weighted else of_own, np.abs(part.weighted if weighted else own))
        _, top = largest_by_key(of_own, np.abs(own), self.ranks)
        nonzero = np.bincount(of_own, own != 0, len(sizes)).astype(np.int64)
        return judge(self.rules, CellContributions.ranked(total, top, nonzero)).upper


@dataclass(frozen=True)
class AttackTarget:
    """A cell that has to be protected against a reader.

    Attributes
    ----------
    cell
    reader
    need
        By how much the largest possible sum has to exceed the true one.
    """

    cell: int
    reader: Reader
    need: int


@dataclass(frozen=True)
class AuditCounts:
    """The numbers of readers and cells that an audit looked at.

    Attributes
    ----------
    readers, items
        Readers, and pairs of a reader and a cell.
    audited, unsafe
        Cells that were looked at, and those that have to be protected.
    exactly, within
        Pairs that are broken: known exactly, or too nearly.
    """

    readers: int
    items: int
    audited: int
    unsafe: int
    exactly: int = 0
    within: int = 0


def need_of(puzzle: AttackProblem, cell: int, reader: Reader) -> int:
    """Return by how much the largest possible sum has to exceed the true one for this reader; 0 or less if he
    cannot come too near whatever he knows.
    """
    holding, own = puzzle.pooled([cell])
    inside = np.isin(holding, reader)
    others = own[~inside]
    least = 0 if puzzle.least is None or not len(others) else int(puzzle.least[cell])
    if not np.any(others != 0):
        return least
    total, target = int(puzzle.value[cell]), int(np.abs(others).max())
    mine = int(own[inside].sum())
    if puzzle.table.rows.waived.any() or puzzle.table.signed:
        return max(least, puzzle.level([cell]))
    best = least
    for rule in puzzle.rules:
        if rule.name == "p":
            # The smallest whole number that keeps the estimate p % away.
            share = rule.numbers[0]
            short = (100 * share.denominator + share.numerator) * target
            need = -(-short // (100 * share.denominator)) + mine - total
        else:
            need = int(judge((rule,), puzzle.judged([cell])).upper[0])
        best = max(best, need)
    return best


def readers_of(puzzle: AttackProblem, cell: int, near: Ints, *, every: bool) -> Iterator[Reader]:
    """Those who may come near a contributor of a cell.

    Parameters
    ----------
    near
        Hidden cells of the same equations.
    every
        True for all who contribute to any of ``near``; else the outsider, the two largest, and who is
        alone in one of them.
    """
    yield OUTSIDER
    holding, own = puzzle.pooled([cell])
    ranked = [int(h) for h, v in zip(holding.tolist(), own.tolist(), strict=True) if v != 0]
    singles = set(ranked if every else ranked[:2])
    holdings = puzzle.table.cells.holdings
    for other in near.tolist():
        if every or holdings[other] == 1:
            singles.update(puzzle.lists.of(other).holding.tolist())
    yield from ((one,) for one in sorted(singles))
    size = max((rule.coalition for rule in puzzle.rules), default=1)
    if size > 1 and len(ranked) > 1:
        # All coalitions would be exponentially many: those of the largest know most of this cell.
        yield tuple(sorted(ranked[1 : size + 1]))
        yield tuple(sorted(ranked[:size]))


def floors(puzzle: AttackProblem, reader: Reader, hidden: Bools) -> dict[int, tuple[int, bool]]:
    """Return what a reader knows of hidden cells: his contribution, and whether he is alone."""
    out: dict[int, tuple[int, bool]] = {}
    holdings = puzzle.table.cells.holdings
    held: dict[int, int] = {}
    for one in reader:
        for cell, own in puzzle.cells_of(one):
            if hidden[cell]:
                held[cell] = held.get(cell, 0) + 1
                known = out.get(cell, (0, False))[0] + own
                out[cell] = known, int(holdings[cell]) == held[cell]
    return out


def lower_ends(
    puzzle: AttackProblem, cells: Ints, known: dict[int, tuple[int, bool]]
) -> tuple[Floats, Floats]:
    """Return by how much each sum may lie below and above the true one, for a reader.

    ``cells`` are sorted; those of ``known`` that are not among them are left out.
    """
    least = puzzle.public_floor
    low: Floats = least - puzzle.value[cells].astype(np.float64)
    high = np.full(len(cells), np.inf)
    held = np.array(list(known), dtype=np.int64)
    for cell, at in zip(held.tolist(), np.searchsorted(cells, held).tolist(), strict=True):
        if at < len(cells) and cells[at] == cell:
            own, alone = known[cell]
            low[at] = 0.0 if alone else min(0.0, least + own - float(puzzle.value[cell]))
            high[at] = 0.0 if alone else np.inf
    return low, high
