"""The integer programme over hiding sets: one binary for each number that may be hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.suppressing.hiding_sets.additive_cuts import Bridge
from tabprotect.engine.protection.suppressing.hiding_sets.attackers import Cut
from tabprotect.engine.protection.suppressing.hiding_sets.hiding_problem import HidingProblem
from tabprotect.engine.solver import DUAL_SIMPLEX, NEAR, Entries, Model

BEGIN, QUESTION, ENTRY = 12_000.0, (5_000.0, 0.4), 0.7
"""Microseconds that the integer programme takes before its search, between two questions whether to
go on, more of them for each entry, and once for each entry. Stated, never timed: the same table must give the same
hiding set."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """A point of the master.

    Attributes
    ----------
    share : float64 (numbers,)
        1 hidden, 0 published; in between where the programme is relaxed.
    cost : float
        Of what is hidden beyond the sensitive numbers.
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
        self._place = np.full(len(problem.cost), -1, dtype=np.int64)
        self._place[self.free] = np.arange(len(self.free))
        self._rows: list[tuple[Ints, Floats, float]] = []
        self._stacked: tuple[Ints, Ints, Floats, Floats] | None = None
        self._known: set[bytes] = set()
        self.work = 0.0
        for number, others in bridges:
            if free[number]:
                others = others[free[others]]
                columns = self._place[np.append(number, others)]
                self._rows.append((columns, np.append(-1.0, np.ones(len(others))), 0.0))

    def add(self, cuts: list[Cut]) -> int:
        """How many of the cuts were not there yet."""
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

    def _entries(self) -> tuple[Ints, Ints, Floats, Floats]:
        """Row and column of each entry, its value, and the right hand sides."""
        if self._stacked is None:
            sizes = [len(columns) for columns, _, _ in self._rows]
            self._stacked = (
                np.repeat(np.arange(len(sizes)), sizes),
                np.concatenate([np.zeros(0, np.int64), *(c for c, _, _ in self._rows)]),
                np.concatenate([np.zeros(0), *(v for _, v, _ in self._rows)]),
                np.array([right for _, _, right in self._rows]),
            )
        return self._stacked

    @property
    def question(self) -> float:
        """Microseconds of a usual core between two questions of the programme, as stated."""
        return QUESTION[0] + QUESTION[1] * len(self._entries()[0])

    def allows(self, share: Floats) -> bool:
        """Whether a point (numbers,) satisfies all cuts that are known."""
        rows, columns, values, right = self._entries()
        reached = np.bincount(rows, values * share[self.free[columns]], minlength=len(right))
        return bool((reached >= right - NEAR).all())

    def cost(self, hidden: Bools | Floats) -> float:
        """Of what is hidden beyond the numbers that are hidden anyhow."""
        return float(self._problem.cost[self.free] @ hidden[self.free])

    def solve(
        self,
        *,
        whole: bool = True,
        fixed: Ints | None = None,
        start: Bools | None = None,
        below: float | None = None,
        questions: int | None = None,
        gap: float = 0.0,
        progress: Progress = SILENT,
    ) -> Chosen | None:
        """The cheapest hiding set found; None where the cuts leave none, or none was found.

        Parameters
        ----------
        whole
            Whether numbers are hidden or published and nothing in between.
        fixed : int64
            Numbers that are hidden.
        start : bool (numbers,)
            A hiding set that satisfies the cuts.
        below
            What the hiding set may cost at most.
        questions
            A limit of the work (``Model.weighted``).
        """
        cost = self._problem.cost[self.free]
        low = np.zeros(len(self.free))
        if fixed is not None:
            low[self._place[fixed]] = 1.0
        rows, columns, values, right = self._entries()
        ceiling = np.full(len(right), np.inf)
        if below is not None:
            rows = np.append(rows, np.full(len(cost), len(right)))
            columns = np.append(columns, np.arange(len(cost)))
            values = np.append(values, cost)
            right, ceiling = np.append(right, -np.inf), np.append(ceiling, below)
        order = np.lexsort((rows, columns))
        starts = np.searchsorted(columns[order], np.arange(len(self.free) + 1))
        model = Model.of_entries(
            Entries(starts.astype(np.int64), rows[order].astype(np.int64), values[order]),
            rows=(right, ceiling),
            columns=(low, np.ones(len(self.free))),
            integral=whole,
            strategy=DUAL_SIMPLEX,
        )
        try:
            outcome = model.weighted(
                cost,
                start=None if start is None else start[self.free].astype(np.int64),
                most_questions=questions,
                gap=gap,
                progress=progress,
                stage="secondary suppression",
            )
        except InfeasibleError:
            return None
        finally:
            asked = BEGIN + model.asked * self.question if whole else 0.0
            self.work += asked + ENTRY * len(values)
        if not len(outcome.point):
            return None
        share = self._problem.always.astype(np.float64)
        share[self.free] = np.rint(outcome.point) if whole else outcome.point
        return Chosen(share, self.cost(share), outcome.bound, outcome.optimal)
