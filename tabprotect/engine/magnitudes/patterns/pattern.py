"""Which sums are hidden: primaries, unions, the readers' audit, repairs, and what need not be hidden."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress as suppressing
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InfeasibleError, InputError, Interrupted
from tabprotect.engine.magnitudes.patterns.cheapest_pattern import MOST_CELLS, cheapest_pattern
from tabprotect.engine.magnitudes.patterns.decided import Decided, below_missing, zeros_of
from tabprotect.engine.magnitudes.patterns.repair import Repair
from tabprotect.engine.magnitudes.patterns.unions import SOUND, faults, mend_unions
from tabprotect.engine.magnitudes.readers.attack_problem import AttackProblem, AttackTarget, AuditCounts
from tabprotect.engine.magnitudes.readers.audit import Audit, Broken
from tabprotect.engine.magnitudes.tables.equations import Equations
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.languages.messages import message

EVERYBODY = 100
"""Up to this many cells that differ every contributor is tried as a reader by a programme."""

ROUNDS = 40
"""How often the audit and its repairs follow each other at most."""

TIDIED = 400
"""Up to this many cells that differ, secondaries are tried to be published again one by one."""

REPAIRED_WHOLE = 5_000
"""Up to this many cells that differ a repair looks for the cheapest cells of all; beyond, near by first."""

HOPS = (2, 3, 4, 6, 8)
"""How far from a cell the others lie that are hidden for it: by equations from cell to cell."""

AUDITED_WHOLE, SAMPLED = 20_000, 400
"""Up to how many cells that differ readers are tried on all unsafe ones; beyond, on how many of them."""

COSTS = ("value", "n", "unity")
"""What hiding a cell may cost besides a column of its own."""


@dataclass(frozen=True, kw_only=True)
class SuppressionRequest:
    """A request for hidden cells: rules, costs, and how they are chosen.

    Attributes
    ----------
    rules
    weights
        How weights are read.
    cost
        One of :data:`COSTS`, or the column of costs of the table.
    frozen : bool (cells,)
        Cells that were published and stay so, unless they are unsafe; ``None`` for none.
    decided
        What was decided of cells before; ``None`` for nothing.
    zeros
        By how much a sum of zeros has to be uncertain; 0 to publish that nobody has anything.
    missing_safe
        Whether sums of units whose category is not known are declared safe.
    """

    rules: tuple[MagnitudeRule, ...]
    weights: str = "sample"
    cost: str = "value"
    frozen: Bools | None = None
    decided: Decided | None = None
    zeros: int = 0
    missing_safe: bool = False


@dataclass(frozen=True, eq=False)
class Pattern:
    """A pattern of hidden sums with its audit. Confidential, but for which cells are hidden.

    Attributes
    ----------
    hidden, primary : bool (cells,)
    broken
        What a reader still comes too near to: the cell and the reader.
    tally
        What the audit tried.
    worst
        Of ``broken``, those of the audit, with how far the sums can go.
    everybody
        Whether every contributor was tried alone, and nobody was promised more.
    declared
        Sums that the rules find unsafe and somebody declared safe.
    letters : int64 (cells,)
        The letter of size of each finest sum where they were chosen by letters; else ``None``.
    """

    hidden: Bools
    primary: Bools
    broken: tuple[AttackTarget, ...]
    tally: AuditCounts
    worst: tuple[tuple[AttackTarget, float], ...] = ()
    everybody: bool = True
    declared: int = 0
    letters: Ints | None = None

    @property
    def secondary(self) -> Bools:
        """Cells that are hidden to protect others."""
        return self.hidden & ~self.primary


def costs(table: MagnitudeTable, cost: str) -> Ints:
    """Return what hiding each cell costs.

    Raises
    ------
    InputError
        For a cost that there is not.
    """
    cells = table.cells
    if cost == "value":
        return np.abs(cells.value)
    if cost == "n":
        return cells.units
    if cost == "unity":
        return np.ones(len(cells), dtype=np.int64)
    if table.rows.cost is table.rows.own:
        raise InputError(
            message("the table has no costs {cost}", repr(cost)),
            hint=message("choose value, n or unity, or tabulate with a column of costs: --cost COLUMN"),
        )
    return np.abs(cells.cost)


def has_everybody(table: MagnitudeTable) -> bool:
    """Return True if the table is so small that every contributor is tried as a reader."""
    cells = table.cells
    return len(Equations.of(table.variables, cells.key, cells.nodes).places) <= EVERYBODY


def suppress(table: MagnitudeTable, wanted: SuppressionRequest, progress: Progress = SILENT) -> Pattern:
    """Choose the cells to hide, and audit the choice with what contributors know.

    When the audit is broken off, the pattern stays, with what was audited of it.

    Raises
    ------
    InputError
        For costs that the table does not have.
    """
    work, hidden, of_rules = _begun(table, wanted)
    mend_unions(work.puzzle, hidden, work.price, work.frozen)
    return _pattern(table, wanted, work, of_rules, work.whole(hidden, progress))


def audited(
    table: MagnitudeTable, wanted: SuppressionRequest, hidden: Bools, progress: Progress = SILENT
) -> Pattern:
    """The audit of cells that were chosen otherwise, bool (cells,); nothing is repaired.

    Raises
    ------
    InputError
        For costs that the table does not have.
    """
    work, _, of_rules = _begun(table, wanted)
    return _pattern(table, wanted, work, of_rules, work.tried(hidden, progress))


def _begun(table: MagnitudeTable, wanted: SuppressionRequest) -> tuple[_Work, Bools, tuple[Bools, Bools]]:
    """What patterns are worked at with, what has to be hidden, and what rules and decisions find unsafe."""
    by_rules = sensitive_cells(table, wanted.rules, weights=wanted.weights).unsafe
    decided, least = _decisions(table, wanted)
    primary = decided.primaries(by_rules)
    puzzle = AttackProblem(table, wanted.rules, wanted.weights, least if least.any() else None)
    same = puzzle.equations.same
    price = costs(table, wanted.cost)
    price = np.where(decided.cost >= 0, decided.cost, price)
    frozen, unsafe, kept = np.zeros((3, len(table.cells)), dtype=bool)
    frozen[same[decided.published | (False if wanted.frozen is None else wanted.frozen)]] = True
    unsafe[same[primary]] = True
    kept[same[primary | decided.hidden]] = True
    frozen &= ~kept
    size = len(puzzle.equations.places)
    small, most = size <= EVERYBODY, size if size <= AUDITED_WHOLE else SAMPLED
    work = _Work(puzzle, (price, frozen, kept), Audit(puzzle, unsafe, every=small, most=most))
    return work, kept.copy(), (by_rules, primary)


def _pattern(
    table: MagnitudeTable,
    wanted: SuppressionRequest,
    work: _Work,
    of_rules: tuple[Bools, Bools],
    found: tuple[Bools, AuditCounts, list[Broken]],
) -> Pattern:
    (by_rules, primary), (hidden, tally, broken), puzzle = of_rules, found, work.puzzle
    same = puzzle.equations.same
    stuck = np.flatnonzero(faults(puzzle, hidden) != SOUND)
    lost = [AttackTarget(cell, (), 0) for cell in puzzle.equations.parent[stuck].tolist()]
    everywhere = np.asarray(hidden[same])
    unsafe = np.zeros(len(same), dtype=bool)
    unsafe[same[primary]] = True
    declared = int((by_rules & ~primary).sum())
    alone = all(rule.coalition == 1 for rule in wanted.rules)
    alone &= not declared and table.largest is None
    return Pattern(
        everywhere,
        primary | (unsafe[same] & everywhere),
        (*(item for item, _ in broken), *lost),
        tally,
        tuple(broken),
        work.audit.every and alone and tally.audited == tally.unsafe,
        declared,
    )


def _decisions(table: MagnitudeTable, wanted: SuppressionRequest) -> tuple[Decided, Ints]:
    """Return what is decided of each cell, and by how much it has to be uncertain whatever the rules say."""
    decided = wanted.decided or Decided.nothing(len(table.cells))
    if wanted.missing_safe:
        decided = replace(decided, safe=decided.safe | below_missing(table))
    least = np.where(decided.sensitive, np.maximum(decided.above, 1), 0)
    if wanted.zeros:
        zeros = zeros_of(table) & ~decided.safe
        least = np.where(zeros, np.maximum(least, wanted.zeros), least)
        decided = replace(decided, sensitive=decided.sensitive | zeros)
    return decided, least


class _Work:
    """The repair of a pattern in which an audit finds something."""

    def __init__(self, puzzle: AttackProblem, given: tuple[Ints, Bools, Bools], audit: Audit) -> None:
        self.puzzle, self.audit = puzzle, audit
        self.price, self.frozen, self.unsafe = given
        self._repair: Repair | None = None

    def sound(self, hidden: Bools) -> bool:
        """Return True if no equation and no reader gives anything away."""
        if np.any(faults(self.puzzle, hidden) != SOUND):
            return False
        return self.audit.sound(hidden)

    def whole(self, hidden: Bools, progress: Progress) -> tuple[Bools, AuditCounts, list[Broken]]:
        """The pattern with its audit; of one that is broken off, what is done of both."""
        try:
            self.mend(hidden, progress)
            if len(self.puzzle.equations.places) <= MOST_CELLS:
                items, fixed = self.audit.items(hidden), (self.unsafe, self.frozen)
                best = cheapest_pattern(self.puzzle, self.price, fixed, items, progress)
                if best is not None and self.sound(best):
                    hidden = best
            return (hidden, *self.audit.run(hidden, progress))
        except Interrupted:
            hopeless: set[AttackTarget] = set()
            self._hide(hidden, [item for item, _ in self.audit.found], hopeless)
            left = [(item, most) for item, most in self.audit.found if item in hopeless]
            return hidden, self.audit.so_far(), left

    def tried(self, hidden: Bools, progress: Progress) -> tuple[Bools, AuditCounts, list[Broken]]:
        """The pattern as it is with its audit; of one that is broken off, what is done of it."""
        try:
            return (hidden, *self.audit.run(hidden, progress))
        except Interrupted:
            return hidden, self.audit.so_far(), list(self.audit.found)

    def mend(self, hidden: Bools, progress: Progress) -> None:
        """Hide what the audit asks for, round after round, then publish what need not be hidden."""
        hopeless: set[AttackTarget] = set()
        for number in range(ROUNDS):
            progress.report(message("repairing the pattern"), number / ROUNDS)
            _, broken = self.audit.run(hidden, progress)
            left = [item for item, _ in broken if item not in hopeless]
            if not left:
                break
            self._hide(hidden, left, hopeless)
        if len(self.puzzle.equations.places) <= TIDIED and not hopeless:
            self._tidy(hidden)

    def _hide(self, hidden: Bools, broken: Sequence[AttackTarget], hopeless: set[AttackTarget]) -> None:
        touched: set[int] = set()
        for item in broken:
            try:
                more = self._further(item, hidden)
            except InfeasibleError:
                hopeless.add(item)
                continue
            hidden[more] = True
            for cell in more.tolist():
                touched.update(self.puzzle.equations.touching.get(cell, ()))
        mend_unions(self.puzzle, hidden, self.price, self.frozen, touched)

    def _further(self, item: AttackTarget, hidden: Bools) -> Ints:
        """The cells to hide for an item that is broken."""
        sums = self.puzzle.equations
        if len(sums.places) > REPAIRED_WHOLE:
            for hops in HOPS:
                around = sums.near(item.cell, hops)
                with suppressing(InfeasibleError):
                    near = Repair(self.puzzle, self.price, self.frozen, around)
                    return near.further(item, hidden)
        if self._repair is None:
            self._repair = Repair(self.puzzle, self.price, self.frozen)
        return self._repair.further(item, hidden)

    def _tidy(self, hidden: Bools) -> None:
        spare = np.flatnonzero(hidden & ~self.unsafe)
        for cell in spare[np.lexsort((spare, -self.price[spare]))].tolist():
            hidden[cell] = False
            if not self.sound(hidden):
                hidden[cell] = True
