"""How far one hidden number can move for a reader: one linear programme, kept warm.

Columns are the changes of the inner cells; a published number of several cells is a row. A number
that is published cannot move; a hidden one can fall by its room and rise up to a limit. Between
runs only the objective and the ends of a few numbers change, and the objective is capped at what
is asked for: only whether the promise holds matters, not how far a number could go.

Where the programme falls short of the need its dual values are a cut: what the hidden set lacks.

Source: Fischetti and Salazar 2001, *Solving the cell suppression problem on tabular data with
linear constraints*, Management Science 47, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.suppressing.hiding_sets.tableau import MOST_ENTRIES, Tableau
from tabprotect.engine.protection.suppressing.published_numbers import merged_sums
from tabprotect.engine.solver import NEAR, Entries, TableProgramme, Tuning
from tabprotect.engine.tables.publication import Publication

LIMIT = 1000
"""Limit of a number's rise, as a multiple of the largest need: bounds are valid up to there."""

SHORT = 1e-6
"""Relative tolerance within which a number counts as moving as far as is asked."""

SHORT_ROWS = 5_000
"""Most rows for which a run takes some milliseconds."""

RUN, STEP = (350.0, 3.0), (25.0, 0.11)
"""Microseconds of a usual core that a run takes at once and for each row, and that an iteration
takes and more of them for each row. Stated, never timed."""

PUSH, PIVOT, FAILED, SOLVED = 150.0, (1.0, 3e-4), 15, 1e-4
"""The same of a push along a tableau: at once, of a pivot and more of it for each entry; the pivots
of one that fails; and of solving the equations, for each entry and equation."""

NOISE, LEAST = 1e-7, 1e-3
"""Coefficients of a cut below ``NOISE`` are rounding; others are at least ``LEAST`` (the cut
stays valid)."""


@dataclass(frozen=True, eq=False)
class Cut:
    """``sum(share * hidden) >= 1``: some of these numbers must be hidden. Confidential.

    Attributes
    ----------
    numbers : int64 (entries,)
    share : float64 (entries,)
        Above 0 and at most 1.
    """

    numbers: Ints
    share: Floats

    @classmethod
    def of(cls, share: Floats, always: Bools, need: float) -> Cut | None:
        """The cut from each number's contribution, float64 (numbers,); None where nothing is lacking.

        Parameters
        ----------
        always
            Numbers that are hidden in any case.
        need
            The sum of contributions to be reached.
        """
        left = need - float(share[always].sum())
        if left <= SHORT * need:
            return None
        scaled = share / left
        used = np.flatnonzero(~always & (scaled > NOISE))
        return cls(used, np.clip(scaled[used], LEAST, 1.0))


class Attackers:
    """The programme of one publication. Confidential: it holds the true counts.

    Parameters
    ----------
    publication
    room : int64 (numbers,)
        How far each distinct published number may fall.
    inner_room : int64 (inner cells,)
    most : int
        The largest need.
    progress
        Asked whether to go on.
    """

    def __init__(
        self, publication: Publication, room: Ints, inner_room: Ints, most: int, progress: Progress = SILENT
    ) -> None:
        self._progress = progress
        sums, merge = merged_sums(publication)
        self._sums = sums.tocsr()
        self._sums.sort_indices()
        cells = self._sums.shape[1]
        merged_room = np.zeros(cells)
        np.add.at(merged_room, merge, inner_room)
        single = np.diff(self._sums.indptr) == 1
        self._several = np.flatnonzero(~single)
        # The row of a number of several cells, the column of a number that is one cell.
        self._row = np.full(len(room), -1, dtype=np.int64)
        self._row[self._several] = np.arange(len(self._several))
        self._column = np.full(len(room), -1, dtype=np.int64)
        self._column[single] = self._sums.indices[self._sums.indptr[:-1][single]]
        self.rise = float(LIMIT * most)
        self._fall = room.astype(np.float64)
        # Where nobody can be nothing moves: no number has such a cell.
        self._bare = np.diff(sums.indptr) > 0
        self._bare[self._column[single]] = False
        self._bare_fall = np.where(self._bare, merged_room, 0.0)
        part = self._sums[self._several].tocsc()
        zero = np.zeros(len(self._several))
        self._model = TableProgramme(
            Entries.of(part),
            sums=(zero, zero),
            cells=(-self._bare_fall, np.where(self._bare, self.rise, 0.0)),
            tuning=Tuning(short=len(self._several) <= SHORT_ROWS),
        )
        self._share = np.zeros(len(room))
        self._cost = np.zeros(cells)
        self._tableau: Tableau | None = None
        self.runs = 0
        self._running = 0.0
        self.work = 0.0
        # The opposite of a change of inner cells that are not published may be impossible.
        self.bare = bool(self._bare.any())

    @property
    def each(self) -> float:
        """Microseconds of a run, as stated."""
        return self._running / self.runs if self.runs else RUN[0]

    def hide(self, share: Floats) -> None:
        """Set the hidden numbers, float64 (numbers,): 1, 0, or a share of what they may move."""
        changed = np.flatnonzero(share != self._share)
        self._share = share.copy()
        self._bounds(changed, -self._fall[changed] * share[changed], self.rise * share[changed])

    def _bounds(self, numbers: Ints, low: Floats, high: Floats) -> None:
        rows = self._row[numbers] >= 0
        if rows.any():
            at = self._row[numbers[rows]]
            self._model.limit_many("rows", at, (low[rows], high[rows]))
        if not rows.all():
            at = self._column[numbers[~rows]]
            self._model.limit_many("columns", at, (low[~rows], high[~rows]))

    def push(self, number: int, sign: int, need: int, barred: Ints) -> tuple[float, Floats]:
        """Push a number towards ``sign * need``: how far it goes, and the change of every number.

        Parameters
        ----------
        barred
            Numbers that must not move.
        """
        self.runs += 1
        held = np.append(barred, number)
        ends = np.zeros((2, len(held)))
        # The end behind stays as it is: from where the last run ended nothing has to be mended.
        ends[:, -1] = (-need, self.rise) if sign < 0 else (-self._fall[number], need)
        self._bounds(held, *ends)
        cost = np.zeros(len(self._cost))
        begin, end = self._sums.indptr[number], self._sums.indptr[number + 1]
        cost[self._sums.indices[begin:end]] = -float(sign)
        try:
            outcome = self._model.weighted(cost, progress=self._progress, stage="audit")
        finally:
            rows = len(self._several)
            taken = RUN[0] + RUN[1] * rows + (STEP[0] + STEP[1] * rows) * self._model.iterations
            self._running += taken
            self.work += taken
            share = self._share[held]
            self._bounds(held, -self._fall[held] * share, self.rise * share)
        change = np.asarray(self._sums @ outcome.point)
        return sign * float(change[number]), change

    def way(self, number: int, sign: int, need: int, barred: Ints) -> Floats | None:
        """The change of every number in which one moves by ``sign * need``; ``None`` if none was found.

        Parameters
        ----------
        barred
            Numbers that must not move.
        """
        tableau = self._solved()
        if tableau is None:
            return None
        moves = self._share > 0
        moves[barred] = False
        bare = self._bare_fall[self._bare], np.full(int(self._bare.sum()), self.rise)
        low = -np.concatenate([np.where(moves, self._fall, 0.0), bare[0]])
        high = np.concatenate([np.where(moves, self.rise, 0.0), bare[1]])
        taken, cells = tableau.push(number, float(sign * need), (low, high), len(self._cost))
        each = PIVOT[0] + PIVOT[1] * tableau.size
        self.work += PUSH + each * (taken if taken >= 0 else FAILED)
        if taken < 0:
            return None
        change = np.asarray(self._sums @ cells)
        apart = np.maximum(low[: len(change)] - change, change - high[: len(change)])
        if apart.max() > NEAR or sign * change[number] < need * (1 - SHORT):
            # Rounding has added up: the equations are solved anew.
            self._tableau = None
            return None
        return change

    def _solved(self) -> Tableau | None:
        """The tableau of what is hidden now, or of more; ``None`` where it would be too large."""
        hidden = self._share > 0
        if self._tableau is None or (hidden & ~self._tableau.hidden).any():
            cells = int((self._column[hidden] >= 0).sum()) + int(self._bare.sum())
            if cells**2 > 4 * MOST_ENTRIES:
                return None
            bare = np.flatnonzero(self._bare)
            self._tableau = Tableau(self._sums, self._column, hidden, bare)
            self.work += SOLVED * self._tableau.work
        return self._tableau if self._tableau.size <= MOST_ENTRIES else None

    def lack(self, number: int, need: int, always: Bools, barred: Ints) -> Cut | None:
        """The cut of the last push, which fell short."""
        rows, columns = self._model.duals()
        dual = np.where(self._row >= 0, rows[self._row], columns[self._column])
        share = np.where(dual < 0, -dual * self.rise, dual * self._fall)
        share[number] = 0.0
        share[barred] = 0.0
        bare = columns[self._bare]
        beside = np.where(bare < 0, -bare * self.rise, bare * self._bare_fall[self._bare]).sum()
        return Cut.of(share, always, need - float(beside))
