"""The integer programme over hiding sets: one binary for each number that may be hidden.

Cuts on a hiding set from single equations "total = parts", before any programme.

A sensitive number can move only if the others of its equation make up for it: what they can
contribute must reach the need. And a hidden number is of use only if another one of each of its
equations is hidden, too: alone it would be known.

Source: Fischetti and Salazar 2001 (capacity and bridgeless inequalities).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.suppressing.hiding_problem import HidingProblem
from tabprotect.engine.protection.suppressing.hiding_sets.attackers import Cut
from tabprotect.engine.protection.suppressing.published_numbers import Equations
from tabprotect.engine.solver import DUAL_SIMPLEX, NEAR, Entries, Limit, TableProgramme, Tuning
from tabprotect.languages.messages import message

Bridge = tuple[int, Ints]
"""A number, and the numbers of which one must be hidden if it is."""


def equation_cuts(
    equations: Equations, room: Ints, needs: dict[int, Ints], always: Bools, may_move: Bools
) -> list[Cut]:
    """The cuts of the equations with a sensitive number.

    Parameters
    ----------
    room : int64 (numbers,)
    needs
        By sign, int64 (numbers,); 0 where nothing is asked for.
    always, may_move : bool (numbers,)
        Numbers hidden in any case; numbers that are or may be hidden.
    """
    cuts = []
    asked = (needs[1] > 0) | (needs[-1] > 0)
    for total, cells in _each(equations, may_move):
        turn = np.where(cells == total, -1, 1)
        for at in np.flatnonzero(asked[cells]):
            for sign in (1, -1):
                need = int(needs[sign][cells[at]])
                if not need:
                    continue
                # The others of its side go the other way, those across the same way.
                falls = turn * turn[at] * sign > 0
                share = np.where(falls, np.minimum(room[cells], need), need).astype(np.float64)
                share[at] = 0.0
                cut = Cut.of(share, always[cells], need)
                if cut is not None:
                    cuts.append(Cut(cells[cut.numbers], cut.share))
    return cuts


def bridges(equations: Equations, always: Bools, may_move: Bools) -> list[Bridge]:
    """Bridges from the equations in which nothing is hidden in any case."""
    return [
        (int(cell), np.delete(cells, at))
        for _, cells in _each(equations, may_move)
        if not always[cells].any()
        for at, cell in enumerate(cells)
    ]


def _each(equations: Equations, may_move: Bools) -> list[tuple[int, Ints]]:
    out = []
    for k, total in enumerate(equations.total.tolist()):
        parts = equations.parts[equations.starts[k] : equations.starts[k + 1]]
        cells = np.append(parts, total)
        # A total of one part is the same number.
        if len(parts) > 1:
            out.append((total, cells[may_move[cells]]))
    return out


BEGIN, QUESTION, ENTRY = 4_000.0, (5_500.0, 1.5), 0.7
"""Microseconds that an integer programme takes before its search, from one question whether to go
on to the next and more of them for each entry, and once for each entry. Stated, never timed: the
same table must give the same hiding set."""

EARLY = 2
"""Questions asked before the search begins."""

RELAXED, STEP = (800.0, 2.1), (25.0, 0.035)
"""The same of the relaxed programme: at once and for each row, for an iteration and more of them
for each row."""


@dataclass(frozen=True, eq=False)
class MasterPoint:
    """A point of the master.

    Attributes
    ----------
    share : float64 (numbers,)
        1 hidden, 0 published; in between where the programme is relaxed. Empty where a limit
        ended the run before anything was found.
    cost : float
        Cost of what is hidden beyond the sensitive numbers.
    bound : float
        No hiding set that satisfies the cuts costs less.
    optimal : bool
        Whether no limit ended the run.
    """

    share: Floats
    cost: float
    bound: float
    optimal: bool


class Master:
    """Cuts so far, and the cheapest hiding set that satisfies them."""

    def __init__(self, problem: HidingProblem, bridges: list[Bridge]) -> None:
        self._problem = problem
        free = np.isfinite(problem.cost) & ~problem.always
        self.free = np.flatnonzero(free)
        self._cost = problem.cost[self.free]
        self._place = np.full(len(problem.cost), -1, dtype=np.int64)
        self._place[self.free] = np.arange(len(self.free))
        self._rows: list[tuple[Ints, Floats, float]] = []
        self._stacked: _Stacked | None = None
        self._known: set[bytes] = set()
        self._relaxed: TableProgramme | None = None
        self._in_relaxed = 0
        self.work = 0.0
        for number, others in bridges:
            if free[number]:
                others = others[free[others]]
                columns = self._place[np.append(number, others)]
                self._rows.append((columns, np.append(-1.0, np.ones(len(others))), 0.0))

    def add(self, cuts: list[Cut]) -> int:
        """Add cuts; return how many were new."""
        before = len(self._rows)
        for cut in cuts:
            kept = self._place[cut.numbers] >= 0
            columns, share = self._place[cut.numbers[kept]], cut.share[kept]
            key = columns.tobytes() + np.round(share, 9).tobytes()
            if key not in self._known:
                self._known.add(key)
                self._rows.append((columns, share, 1.0))
                self._stacked = None
        return len(self._rows) - before

    def _entries(self) -> _Stacked:
        if self._stacked is None:
            self._stacked = _Stacked.of(self._rows)
        return self._stacked

    def questions(self, most_work: float) -> int:
        """The number of questions of the full programme within some work, in microseconds."""
        return int(most_work / _question(len(self._entries().rows)))

    def allows(self, share: Floats) -> bool:
        """Return True if a point (numbers,) satisfies all cuts that are known."""
        return bool((self._entries().reached(share[self.free]) >= -NEAR).all())

    def cost(self, hidden: Bools | Floats) -> float:
        """The cost of what is hidden beyond the numbers that are hidden in any case."""
        return float(self._cost @ hidden[self.free])

    def solve(
        self,
        *,
        fixed: Ints | None = None,
        below: float | None = None,
        questions: int | None = None,
        gap: float = 0.0,
        progress: Progress = SILENT,
    ) -> MasterPoint | None:
        """The cheapest hiding set found; None where the cuts leave none.

        Parameters
        ----------
        fixed : int64
            Numbers that are hidden: what they satisfy is left out of the programme.
        below
            The most that the hiding set may cost.
        questions
            A limit of the work (``TableProgramme.weighted``).
        """
        hidden = np.zeros(len(self.free))
        if fixed is not None:
            hidden[self._place[fixed]] = 1.0
        open_ = np.flatnonzero(hidden == 0.0)
        known = self._cost @ hidden
        rows, columns, values, right = self._entries().left(hidden)
        ceiling = np.full(len(right), np.inf)
        if below is not None:
            rows = np.append(rows, np.full(len(open_), len(right)))
            columns = np.append(columns, np.arange(len(open_)))
            values = np.append(values, self._cost[open_])
            right, ceiling = np.append(right, -np.inf), np.append(ceiling, below - known)
        model = TableProgramme(
            Entries.at(rows, columns, values, len(open_)),
            sums=(right, ceiling),
            cells=(np.zeros(len(open_)), np.ones(len(open_))),
            integral=True,
            tuning=Tuning(DUAL_SIMPLEX, presolved=fixed is None),
        )
        try:
            outcome = model.weighted(
                self._cost[open_],
                limit=Limit(questions=questions, gap=gap),
                progress=progress,
                stage=message("secondary suppression"),
            )
        except InfeasibleError:
            return None
        finally:
            asked = max(0, model.asked - EARLY) * _question(len(values))
            self.work += BEGIN + asked + ENTRY * len(values)
        if not len(outcome.point):
            return MasterPoint(outcome.point, np.inf, float(outcome.bound + known), optimal=False)
        hidden[open_] = np.rint(outcome.point)
        return self._chosen(hidden, float(outcome.bound + known), optimal=outcome.optimal)

    def relax(self, fixed: Ints, progress: Progress = SILENT) -> MasterPoint | None:
        """The cheapest point where numbers may be hidden by a share; None where there is none.

        The programme is kept: a run goes on from where the last one ended.
        """
        hidden = np.zeros(len(self.free))
        hidden[self._place[fixed]] = 1.0
        if self._relaxed is None:
            none, nowhere = np.zeros(0), np.zeros(0, dtype=np.int64)
            self._relaxed = TableProgramme(
                Entries.at(nowhere, nowhere, none, len(self.free)),
                sums=(none, none),
                cells=(hidden, np.ones(len(self.free))),
                tuning=Tuning(DUAL_SIMPLEX),
            )
        new = _Stacked.of(self._rows[self._in_relaxed :])
        self._in_relaxed = len(self._rows)
        if len(new.right):
            starts = np.searchsorted(new.rows, np.arange(len(new.right) + 1))
            self._relaxed.more_rows(
                Entries(starts, new.columns, new.values), (new.right, np.full(len(new.right), np.inf))
            )
        every = np.arange(len(self.free))
        self._relaxed.limit_many("columns", every, (hidden, np.ones(len(self.free))))
        try:
            outcome = self._relaxed.weighted(
                self._cost, progress=progress, stage=message("secondary suppression")
            )
        except InfeasibleError:
            return None
        finally:
            rows = len(self._rows)
            self.work += RELAXED[0] + RELAXED[1] * rows
            self.work += (STEP[0] + STEP[1] * rows) * self._relaxed.iterations
        return self._chosen(outcome.point, outcome.bound, optimal=True)

    def _chosen(self, hidden: Floats, bound: float, *, optimal: bool) -> MasterPoint:
        share = self._problem.always.astype(np.float64)
        share[self.free] = hidden
        return MasterPoint(share, self.cost(share), bound, optimal)


def _question(entries: int) -> float:
    """Microseconds of a usual core between two questions of a programme, as stated."""
    return QUESTION[0] + QUESTION[1] * entries


@dataclass(frozen=True, eq=False)
class _Stacked:
    """Rows ``values @ hidden >= right``, over the numbers that may be hidden.

    Attributes
    ----------
    rows, columns : int64 (entries,)
        In the order of the rows.
    values : float64 (entries,)
    right : float64 (rows,)
    """

    rows: Ints
    columns: Ints
    values: Floats
    right: Floats

    @classmethod
    def of(cls, rows: list[tuple[Ints, Floats, float]]) -> _Stacked:
        """Make one from columns, values and the right hand side of each."""
        return cls(
            np.repeat(np.arange(len(rows)), [len(columns) for columns, _, _ in rows]),
            np.concatenate([np.zeros(0, np.int64), *(c for c, _, _ in rows)]),
            np.concatenate([np.zeros(0), *(v for _, v, _ in rows)]),
            np.array([right for _, _, right in rows]),
        )

    def reached(self, hidden: Floats) -> Floats:
        """Return by how much each row is more than satisfied, float64 (rows,); below 0: it is not."""
        sums = np.bincount(self.rows, self.values * hidden[self.columns], minlength=len(self.right))
        return np.asarray(sums - self.right)

    def left(self, hidden: Floats) -> tuple[Ints, Ints, Floats, Floats]:
        """The rows that some hidden numbers do not yet satisfy: rows, columns, values, right hand sides.

        Columns are counted among those that are not hidden.
        """
        missing = -self.reached(hidden)
        open_ = hidden[self.columns] == 0.0
        rows, columns, values = self.rows[open_], self.columns[open_], self.values[open_]
        least = np.bincount(rows, np.minimum(values, 0.0), minlength=len(self.right))
        needed = least < missing - NEAR / 10
        place = np.cumsum(needed) - 1
        kept = needed[rows]
        column = np.cumsum(hidden == 0.0) - 1
        return place[rows[kept]], column[columns[kept]], values[kept], missing[needed]
