"""What contributors can work out of the sums that a release leaves hidden.

A deviation of the hidden sums that is possible for everybody, whatever he put in where, proves a sum
safe from everybody. Only readers whom no such deviation covers are tried by programmes of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.magnitudes.readers.attack_problem import (
    OUTSIDER,
    AttackProblem,
    AttackTarget,
    Reader,
    need_of,
)
from tabprotect.engine.magnitudes.readers.reader_programme import NEAR, ReaderProgramme
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.margins.margin_safety import MOST_TIGHT
from tabprotect.languages.messages import message

LARGEST = 3
"""Contributors to a sum among whom is the one who comes nearest to another."""


@dataclass(frozen=True, eq=False)
class HiddenSums:
    """The hidden sums of one release.

    Attributes
    ----------
    whole
        How the sums of the table add up, without a rule.
    hidden : bool (sums,)
    """

    whole: AttackProblem
    hidden: Bools
    _points: dict[tuple[int, bool], Floats] = field(default_factory=dict)

    @cached_property
    def programme(self) -> ReaderProgramme:
        """The hidden sums as one programme."""
        return ReaderProgramme(self.whole, self.hidden)

    def ends(self, cell: int, reader: Reader = OUTSIDER) -> tuple[float, float]:
        """The least and the largest sum that a hidden cell can have for a reader."""
        return self.programme.ends(cell, reader)

    @cached_property
    def _contributions(self) -> tuple[Ints, Ints, Floats]:
        """Every contribution to a hidden sum: its column, whose it is, how far the sum can fall for him."""
        cells = self.programme.cells
        part, lengths = self.whole.lists.gathered(cells)
        column = np.repeat(np.arange(len(cells)), lengths)
        least = self.whole.public_floor + part.known - self.whole.value[cells][column]
        return column, part.holding, np.minimum(least.astype(np.float64), 0.0)

    @cached_property
    def _alone(self) -> Bools:
        return np.asarray(self.whole.table.cells.holdings[self.programme.cells] == 1)

    def _strongest(self, cell: int) -> tuple[Floats, Floats]:
        """By how much each sum may lie below and above the true one for whoever knows most of it.

        Who is alone in a cell has nobody to look for there: what he knows does not count.
        """
        column, holding, least = self._contributions
        at, alone = self.programme.at[cell], self._alone
        if alone[at]:
            kept = holding != holding[column == at][0]
            alone = alone.copy()
            alone[column[~kept]] = False
            column, least = column[kept], least[kept]
        low = self.programme.low.copy()
        np.maximum.at(low, column, least)
        return np.where(alone, 0.0, low), np.where(alone, 0.0, np.inf)

    def _point(self, cell: int, *, of_everybody: bool) -> Floats:
        """Deviations with the largest sum of a cell: for somebody who knows what everybody knows, or nothing."""
        known = self._points.get((cell, of_everybody))
        if known is None:
            programme, column = self.programme, self.programme.at[cell]
            low, high = self._strongest(cell) if of_everybody else (programme.low, programme.high)
            free = high.copy()
            free[column] = 100.0 * max(abs(int(self.whole.value[cell])), 1)
            with programme.model.held(np.arange(len(low)), low, free):
                found = programme.model.optimise(np.array([column]), "max")
            known = np.zeros(len(low)) if found.value is None else found.point
            self._points[cell, of_everybody] = known
        return known

    def _readers(self, cell: int, need: float) -> list[Reader] | None:
        """Those who may come near another, if anybody does; ``None`` where an outsider does."""
        column = self.programme.at[cell]
        sure, far = (self._point(cell, of_everybody=one) for one in (True, False))
        if sure[column] >= need - NEAR:
            return []
        if far[column] < need - NEAR:
            return None
        share = (need - sure[column]) / (far[column] - sure[column])
        point = sure + share * (far - sure)
        columns, holding, least = self._contributions
        fails = (point[columns] < least - NEAR) | (self._alone[columns] & (np.abs(point[columns]) > NEAR))
        return [(one,) for one in np.unique(holding[fails]).tolist()]

    def given_away(
        self, problem: AttackProblem, unsafe: Bools, progress: Progress
    ) -> tuple[AttackTarget, ...]:
        """The hidden sums of those a rule finds unsafe that a reader comes too near in, up to ``MOST_TIGHT``.

        Raises
        ------
        Interrupted
        """
        cells = np.flatnonzero(unsafe)
        programme = ReaderProgramme(problem, self.hidden, self.programme)
        broken: list[AttackTarget] = []
        for at, cell in enumerate(cells.tolist()):
            progress.report(message("trying contributors as readers"), at / len(cells))
            largest = problem.pooled([cell])[0][:LARGEST].tolist()
            first: list[Reader] = [OUTSIDER, *((one,) for one in largest)]
            need = max(problem.level([cell]), *(need_of(problem, cell, one) for one in first))
            readers = self._readers(cell, need)
            items = [
                AttackTarget(cell, one, need_of(problem, cell, one))
                for one in (first if readers is None else readers)
            ]
            found = (item for item in items if item.need > 0 and programme.most(item) < item.need - NEAR)
            broken += [item for item in (next(found, None),) if item is not None]
            if len(broken) == MOST_TIGHT:
                break
        return tuple(broken)
