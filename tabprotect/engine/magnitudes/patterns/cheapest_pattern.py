"""The cheapest pattern of a small table: a whole-number programme with cuts from the readers.

A pattern that some reader sees through gives a cut that every sound pattern meets; the cheapest
pattern that meets all cuts is tried again, until no reader sees through it.

The search for counts (``suppressing.hiding_sets``) has the loop in common, and the programme it solves.
Its attackers keep one tableau warm for thousands of ends, since all of them let a number move equally
far; here each reader has bounds of their own: 24 of them for 96 cells and readers (medians of 60 random
tables of 3 x 3 with p=10), whose questions are nine tenths of the .13 s. Its cuts are covers of hidden
numbers; a cell that is alone in an equation here may be published again instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InfeasibleError, SolverError
from tabprotect.engine.magnitudes.patterns.unions import SOUND, faults
from tabprotect.engine.magnitudes.readers.attack_problem import (
    AttackProblem,
    AttackTarget,
    floors,
    lower_ends,
)
from tabprotect.engine.magnitudes.readers.reader_programme import NEAR
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.solver import Entries, Limit, TableProgramme
from tabprotect.languages.messages import message

MOST_CELLS = 30
"""Up to this many cells that differ the cheapest pattern is looked for."""

ROUNDS = 300
"""How many patterns are tried before the one at hand is kept."""

PATIENCE = Limit(nodes=2_000)


class _Reading:
    """All cells as a reader's programme: those that are published may not move."""

    def __init__(self, puzzle: AttackProblem) -> None:
        self.puzzle, self.places = puzzle, puzzle.equations.places
        equation, cell, sign = puzzle.equations.among(self.places)
        zeros, none = np.zeros(len(puzzle.equations)), np.zeros(len(self.places))
        entries = Entries.at(equation, cell, sign, len(self.places))
        self.model = TableProgramme(entries, sums=(zeros, zeros), cells=(none, none))

    def ends(self, item: AttackTarget) -> tuple[Floats, Floats]:
        """Return how far each cell could move if it were hidden."""
        every = np.ones(len(self.puzzle.value), dtype=bool)
        low, high = lower_ends(self.puzzle, self.places, floors(self.puzzle, item.reader, every))
        still = self.puzzle.still[self.places]
        return np.where(still, 0.0, low), np.where(still, 0.0, high)

    def cut(self, item: AttackTarget, hidden: Bools) -> Floats | None:
        """The coefficients of a cut, where the reader sees through a pattern."""
        low, high = self.ends(item)
        here = hidden[self.places]
        column = int(np.searchsorted(self.places, item.cell))
        most = max(float(item.need) * 2.0, 1.0)
        high = np.minimum(high, most * len(self.places))
        every = np.arange(len(self.places), dtype=np.int64)
        self.model.limit_many("columns", every, (low * here, high * here))
        found = self.model.optimise(np.array([column]), "max")
        if found.value is None or found.value >= item.need - NEAR:
            return None
        _, dual = self.model.duals()
        reach = np.maximum(dual, 0.0) * high + np.maximum(-dual, 0.0) * -low
        return np.asarray(np.minimum(float(item.need), reach))


def cheapest_pattern(
    puzzle: AttackProblem,
    cost: Ints,
    fixed: tuple[Bools, Bools],
    items: Sequence[AttackTarget],
    progress: Progress = SILENT,
) -> Bools | None:
    """The cheapest pattern in which no reader comes too near; ``None`` if it was not found.

    Parameters
    ----------
    fixed
        Cells that have to be hidden, and cells that may not be.
    items
        Every cell and reader that are judged.
    """
    places = puzzle.equations.places
    reading = _Reading(puzzle)
    must, may_not = fixed[0][places], fixed[1][places] | puzzle.still[places]
    low, high = must.astype(np.float64), np.where(may_not & ~must, 0.0, 1.0)
    size = len(places)
    none, nowhere = np.zeros(0), np.zeros(0, dtype=np.int64)
    empty = Entries.at(nowhere, nowhere, none, size)
    master = TableProgramme(empty, sums=(none, none), cells=(low, high), integral=True)
    price = np.maximum(1, cost[places]).astype(np.float64) * ~must
    hidden = np.zeros(len(puzzle.value), dtype=bool)
    for attempt in range(ROUNDS):
        progress.report(message("looking for the cheapest pattern"), attempt / ROUNDS)
        try:
            found = master.weighted(price, limit=PATIENCE)
            if not found.optimal or found.value is None:
                return None
            hidden[places] = found.point > 0.5
            cuts = [*_unions(puzzle, hidden), *_read(reading, items, hidden)]
        except (InfeasibleError, SolverError):
            return None
        if not cuts:
            return hidden
        entries = Entries.joined([(np.flatnonzero(row), row[row != 0]) for row, _ in cuts])
        least = np.array([side for _, side in cuts]) - 1e-7
        master.more_rows(entries, (least, np.full(len(cuts), np.inf)))
    return None


def _unions(puzzle: AttackProblem, hidden: Bools) -> list[tuple[Floats, float]]:
    """A cut for each equation that publishes too much: one of its cells changes."""
    sums, places = puzzle.equations, puzzle.equations.places
    out = []
    for equation in np.flatnonzero(faults(puzzle, hidden) != SOUND).tolist():
        row = np.zeros(len(places))
        cells = np.append(sums.children(equation), sums.parent[equation])
        inside = hidden[cells]
        row[np.searchsorted(places, cells)] = np.where(inside, -1.0, 1.0)
        out.append((row, 1.0 - float(inside.sum())))
    return out


def _read(reading: _Reading, items: Sequence[AttackTarget], hidden: Bools) -> list[tuple[Floats, float]]:
    out = []
    for item in items:
        row = reading.cut(item, hidden)
        if row is not None:
            # Scaled, so that whole-number tolerances mean the same in every cut.
            out.append((row / item.need, 1.0))
    return out
