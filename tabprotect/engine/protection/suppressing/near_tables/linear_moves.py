"""Tables near any set of published tables that agree with it where it is not suppressed.

One kept linear programme: the change of every inner cell, split into what is added and what is
taken away, and the same for every published sum. Its optimum may be fractional in tables of
three and more variables; only a change in whole numbers, checked exactly, counts as a proof.
Boxes of hidden cells are such changes and cost no programme, so they are looked at first; where
the programme's optimum is fractional the cheapest box takes its place, and where no box serves
an integer programme looks for a change, as long as all of these together stay within a stated
work.

Source: Fischetti and Salazar 2001, *Solving the cell suppression problem on tabular data with
linear constraints*, Management Science 47 (the attackers' programmes); Kelly, Golden and Assad
1992 (the heuristic's costs).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.bounds.programme import LARGEST_TOTAL
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.suppressing.near_tables.deviation import ENDLESS, Deviation
from tabprotect.engine.protection.suppressing.near_tables.hypercubes import (
    MOST_BOXES,
    MOST_LOOKED,
    Hypercubes,
)
from tabprotect.engine.protection.suppressing.published_numbers import merged_sums
from tabprotect.engine.solver import (
    DUAL_SIMPLEX,
    NEAR,
    PRIMAL_SIMPLEX,
    Entries,
    Limit,
    SolverOutcome,
    TableProgramme,
    Tuning,
    solver_work,
)
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from scipy.sparse import csc_array

MOST_NODES = 200
"""Branch-and-bound nodes an integer programme may take; a count, so that no clock decides."""

MOST_WORK = 3e6
"""Nominal microseconds (`solver.solver_work`) that integer programmes may take in all."""

QUICK_WORK = 1e8
"""The same for programmes that only make a pattern better; in a large table boxes alone do."""


Purpose = Literal["cheapest", "farthest", "whole"]
"""The aim of a programme: the cheapest change, the largest one, or either in whole numbers."""


STEP = 1e-3
"""Cost of moving a hidden cell, against 1 for the cheapest published one: fewer are moved."""

ATTEMPTS = 3
"""Linear programmes that are solved in search of whole numbers before an integer programme is."""


SMALL = 64
"""Published numbers up to which only boxes are looked at where there is one, or nothing is paid.

The patterns hardly cost more, and the posterior of a small table chooses thousands of them.
"""

BY_BOXES = 0.003
"""Seconds that the boxes for one end of an interval take in a large table."""

BY_PROGRAMMES = 5e-8
"""Seconds of a usual core that the programmes for one end take in other tables, for each two numbers.

Measured on tables of four and five variables, of 840 and 2,240 numbers: a route takes no less; to hide,
publish again and audit takes up to the root of the numbers as long.
"""

LARGE = 3_000
"""Published numbers from which a box is taken, too: the programmes would take minutes."""


class LinearMoves:
    """The programme of a publication, and which of its cells may move.

    Attributes
    ----------
    gave_up : bool
        Whether a route was not found that may exist.

    Parameters
    ----------
    publication
    room : int64 (published cells,)
        How far each count may fall.
    cost : float64 (published cells,)
        Of suppressing a cell, from 0 up; infinite where it must be published.
    inner_room : int64 (inner cells,)
        The same of the inner counts.
    progress
        Asked whether to go on while a programme is solved.
    """

    def __init__(
        self,
        publication: Publication,
        room: Ints,
        cost: Floats,
        inner_room: Ints,
        progress: Progress = SILENT,
    ) -> None:
        self._progress = progress
        if int(inner_room.sum()) > LARGEST_TOTAL:
            raise InputError(
                message(
                    "the counts add up to more than {LARGEST_TOTAL:,}: too much for a linear programme",
                    LARGEST_TOTAL,
                ),
                hint=message("publish a two-way table, or take a larger unit"),
            )
        self._first = publication.distinct[0]
        self._place = np.full(publication.size, -1, dtype=np.int64)
        self._place[self._first] = np.arange(len(self._first))
        self._room = room[self._first]
        self._sums, self._merge = merged_sums(publication)
        self._inner_room = np.zeros(self._sums.shape[1], dtype=np.int64)
        np.add.at(self._inner_room, self._merge, inner_room)
        large = len(self._first) > LARGE
        most = MOST_LOOKED if large else MOST_BOXES
        self._boxes = Hypercubes(publication, self._room, inner_room, most)
        positive = cost[np.isfinite(cost) & (cost > 0)]
        scale = float(positive.min()) if len(positive) else 1.0
        self._price = np.maximum(cost[self._first] / scale, STEP)
        self._open = np.zeros(len(self._first), dtype=np.bool_)
        self.most_routes = 2_000 if large else 150
        # What moving each number costs where published ones may be paid for, and where not.
        self._prices = {True: self._price.copy(), False: np.full(len(self._first), np.inf)}
        self._kept: dict[Purpose, _Programme] = {}
        self._spent, self._left_quickly = 0.0, 0.0 if large else QUICK_WORK
        self.gave_up = False

    def open(self, cells: Ints) -> None:
        """Suppress cells: they may move at (almost) no cost."""
        self._set(self._place[cells], True)

    def close(self, cells: Ints) -> None:
        """Publish cells again."""
        self._set(self._place[cells], False)

    def _set(self, cells: Ints, is_open: bool) -> None:
        self._open[cells] = is_open
        self._prices[True][cells] = STEP if is_open else self._price[cells]
        self._prices[False][cells] = STEP if is_open else np.inf
        for programme in self._kept.values():
            programme.price(cells, STEP if is_open else self._price[cells])

    def _programme(self, purpose: Purpose) -> _Programme:
        """Built when it is first needed: the sensitive cells are open by then."""
        if purpose not in self._kept:
            price = np.where(self._open, STEP, self._price)
            self._kept[purpose] = _Programme(
                self._sums, self._room, self._inner_room, price, purpose, self._progress
            )
        return self._kept[purpose]

    def route(
        self, cell: int, sign: int, need: int, *, barred: Ints, pay: bool, quick: bool = False
    ) -> Deviation | None:
        """The cheapest change that moves one cell by ``sign * need`` and no published one.

        Parameters
        ----------
        cell
            A suppressed one.
        barred
            Cells that must not move.
        pay
            Whether published cells may be used, at their cost. If not, None only says that no
            change was found.
        quick
            Whether boxes alone are looked at once such questions have taken a stated work.
        """
        at = int(self._place[cell])
        still = self._place[barred]
        still = still[still >= 0]
        free = self._box(at, sign, need, still, pay=False)
        if free is not None or (quick and self._left_quickly <= 0.0):
            return free
        before = solver_work()
        try:
            return self._by_programmes(at, sign, need, still, pay=pay)
        finally:
            self._left_quickly -= solver_work() - before if quick else 0.0

    def _by_programmes(self, at: int, sign: int, need: int, still: Ints, *, pay: bool) -> Deviation | None:
        box: Deviation | None = None
        if pay and not SMALL < len(self._first) <= LARGE:
            box = self._box(at, sign, need, still, pay=True)
            if box is not None:
                return box
        if not pay and len(self._first) <= SMALL:
            return None
        for attempt in range(ATTEMPTS):
            found = self._programme("cheapest").least(at, sign * need, still, attempt)
            if found is None:
                return None
            change = self._exactly(found, at, sign * need, pay=pay)
            if change is not None:
                return self._moved(change[0])
            if pay and attempt == 0:
                box = self._box(at, sign, need, still, pay=True)
            if box is not None or not pay:
                return box
        return self._searched(at, sign * need, still)

    def at_once(self, cells: Ints, sign: int, needs: Ints, still: Bools) -> Bools:
        """Return no cell: boxes are searched one by one."""
        return np.zeros(len(cells), dtype=np.bool_)

    def seconds(self, ends: int) -> tuple[float, float]:
        """About how long choosing and checking take at least and at most, for so many ends of intervals."""
        numbers = len(self._first)
        if numbers > LARGE:
            return BY_BOXES * ends, BY_BOXES * ends
        return BY_PROGRAMMES * numbers**2 * ends, BY_PROGRAMMES * numbers**2.5 * ends

    def _searched(self, at: int, by: int, still: Ints) -> Deviation | None:
        if self._spent < MOST_WORK:
            before = solver_work()
            found = self._programme("whole").least(at, by, still, 0)
            self._spent += solver_work() - before
            if found is not None:
                change = self._exactly(found, at, by, pay=True)
                if change is not None:
                    return self._moved(change[0])
        self.gave_up = True
        return None

    def _box(self, at: int, sign: int, need: int, still: Ints, *, pay: bool) -> Deviation | None:
        price = self._prices[pay]
        before = price[still]
        price[still] = np.inf
        found = self._boxes.cheapest(at, sign, need, price)
        price[still] = before
        if found is None:
            return None
        columns, place = np.unique(self._merge[found[1]], return_inverse=True)
        by = np.zeros(len(columns), dtype=np.int64)
        np.add.at(by, place, found[2])
        return self._deviation(columns, by)

    def _exactly(self, found: Floats, at: int, by: int, *, pay: bool) -> tuple[Ints, Ints] | None:
        """The change in whole numbers, or None where the programme's point is not one."""
        # Rounding must not move what the programme leaves alone.
        used = np.abs(np.asarray(self._sums @ found)) > NEAR
        if not pay and (used & ~self._open).any():
            return None
        change = self._checked(found, self._open | used)
        return None if change is None or change[1][at] != by else change

    def _checked(self, found: Floats, movable: Bools) -> tuple[Ints, Ints] | None:
        """Whole changes of the inner and of the published cells, or None: no table does that."""
        inner = np.rint(found).astype(np.int64)
        sums: Ints = np.asarray(self._sums @ inner)
        if (inner < -self._inner_room).any() or (self._room + sums < 0).any() or sums[~movable].any():
            return None
        return inner, sums

    def _moved(self, inner: Ints) -> Deviation:
        columns = np.flatnonzero(inner)
        return self._deviation(columns, inner[columns])

    def _deviation(self, columns: Ints, by: Ints) -> Deviation:
        """The change that some inner cells, each named once, make by so much."""
        sums = self._sums
        parts = [np.arange(sums.indptr[c], sums.indptr[c + 1]) for c in columns.tolist()]
        entries = np.concatenate(parts)
        numbers, place = np.unique(sums.indices[entries], return_inverse=True)
        change = np.zeros(len(numbers), dtype=np.int64)
        moved_by = np.repeat(by, [len(part) for part in parts])
        np.add.at(change, place, moved_by * sums.data[entries])
        used, change = numbers[change != 0], change[change != 0]
        moved = self._first[used], change, self._room[used]
        found = Deviation.of(*(one.tolist() for one in moved))
        hidden = Deviation.of([], by.tolist(), self._inner_room[columns].tolist())
        return Deviation(
            found.cells, found.change, min(found.ahead, hidden.ahead), min(found.behind, hidden.behind)
        )

    def extreme(self, cell: int, sign: int, known: int) -> tuple[int, bool, Deviation | None]:
        """Return how far one suppressed cell can move while the published ones stay.

        Parameters
        ----------
        known
            It can move at least so far.

        Returns
        -------
        How far (``ENDLESS`` where nothing limits it), whether that is proven to be sharp, and a
        change that goes there where one is known.
        """
        at = int(self._place[cell])
        if sign > 0 and self._unlimited[at]:
            return ENDLESS, True, None
        if sign < 0 and known >= self._room[at]:
            return int(self._room[at]), True, None
        most, point = self._programme("farthest").farthest(at, sign, None)
        if most <= known:
            return known, True, None
        change = self._checked(point, self._open)
        if change is not None and sign * int(change[1][at]) == most:
            return most, True, self._moved(change[0])
        return self._whole(at, sign, known, most)

    def _whole(self, at: int, sign: int, known: int, most: int) -> tuple[int, bool, Deviation | None]:
        box = self._box(at, sign, most, np.zeros(0, dtype=np.int64), pay=False)
        if box is not None:
            return most, True, box
        if self._spent >= MOST_WORK:
            return most, False, None
        before = solver_work()
        bound, point = self._programme("whole").farthest(at, sign, MOST_NODES)
        self._spent += solver_work() - before
        most = min(most, bound)
        change = self._checked(point, self._open) if len(point) else None
        reached = known if change is None else max(known, sign * int(change[1][at]))
        proof = self._moved(change[0]) if change is not None and reached > known else None
        return most, reached == most, proof

    @property
    def _unlimited(self) -> Bools:
        """Sums with an inner cell that no published sum contains: it can be anything."""
        covered = self._sums[np.flatnonzero(~self._open)].sum(axis=0) > 0
        return np.asarray(self._sums @ (~np.asarray(covered).reshape(-1)).astype(np.int64)) > 0


class _Programme:
    """min cost * |change|, kept between runs.

    Columns: what is added to and taken from each inner cell, then each published sum of several.
    """

    def __init__(
        self,
        sums: csc_array[np.int64],
        room: Ints,
        inner_room: Ints,
        price: Floats,
        purpose: Purpose,
        progress: Progress,
    ) -> None:
        # A third of the program's start, and few need it.
        from scipy.sparse import csc_array, eye_array, hstack

        self._progress = progress
        movable = np.isfinite(price)
        by_sum = sums.tocsr()
        single = np.diff(by_sum.indptr) == 1
        several = np.flatnonzero(~single)
        cells = sums.shape[1]
        # A published sum of one inner cell is that cell.
        self._of_inner = np.full(cells, -1, dtype=np.int64)
        self._of_inner[by_sum.indices[by_sum.indptr[:-1][single]]] = np.flatnonzero(single)
        self._cells = cells
        minus = -eye_array(len(several))
        part = by_sum[several].astype(np.float64)
        matrix = csc_array(hstack([part, -part, minus, -minus], format="csc"))
        free = 4.0 * float(inner_room.sum()) + 1e6
        moves = np.where(self._of_inner >= 0, movable[self._of_inner], True)
        high = np.concatenate(
            [
                np.where(moves, free, 0.0),
                np.where(moves, inner_room, 0),
                np.where(movable[several], np.inf, 0.0),
                np.where(movable[several], room[several], 0),
            ]
        ).astype(np.float64)
        # The two columns of every published sum.
        self._more = np.zeros(len(room), dtype=np.int64)
        self._less = np.zeros(len(room), dtype=np.int64)
        published = np.flatnonzero(self._of_inner >= 0)
        self._more[self._of_inner[published]] = published
        self._less[self._of_inner[published]] = published + cells
        self._more[several] = 2 * cells + np.arange(len(several))
        self._less[several] = 2 * cells + len(several) + np.arange(len(several))
        self._high = high
        zero = np.zeros(len(several))
        self._model = TableProgramme(
            Entries.of(matrix),
            sums=(zero, zero),
            cells=(np.zeros(len(high)), high),
            integral=purpose == "whole",
            # Where only the objective changes between runs, the last point stays feasible.
            tuning=Tuning(PRIMAL_SIMPLEX if purpose == "farthest" else DUAL_SIMPLEX),
        )
        self._weights = np.full(len(high), STEP)
        self._weights[self._more[movable]] = self._weights[self._less[movable]] = price[movable]

    def price(self, cells: Ints, price: Floats | float) -> None:
        """Set what moving some published sums costs from now on."""
        self._weights[self._more[cells]] = self._weights[self._less[cells]] = price

    def least(self, at: int, by: int, still: Ints, attempt: int) -> Floats | None:
        """The cheapest changes of the inner cells that move one sum by so much; None if none do.

        Later attempts have slightly other costs, and so another optimum.
        """
        weights = self._weights
        if attempt:
            generator = np.random.Generator(np.random.PCG64(attempt))
            weights = weights * generator.uniform(1.0, 1.5, len(weights))
        up, down = int(self._more[at]), int(self._less[at])
        held = np.setdiff1d(np.concatenate([self._more[still], self._less[still]]), [up, down])
        far = np.append(np.zeros(len(held)), [max(by, 0), max(-by, 0)])
        try:
            with self._model.held(np.append(held, [up, down]), far, far):
                outcome = self._model.weighted(
                    weights,
                    limit=Limit(MOST_NODES),
                    progress=self._progress,
                    stage=message("secondary suppression"),
                )
        except InfeasibleError:
            return None
        return self._changes(outcome)

    def farthest(self, at: int, sign: int, nodes: int | None) -> tuple[int, Floats]:
        """Return how far one sum can move (rounded outwards), and changes of the inner cells."""
        cost = np.zeros(len(self._high))
        cost[self._more[at]], cost[self._less[at]] = sign, -sign
        outcome = self._model.weighted(
            cost, "max", limit=Limit(nodes), progress=self._progress, stage="audit"
        )
        bound = outcome.bound
        most = ENDLESS if bound >= ENDLESS else math.floor(bound + NEAR)
        found = self._changes(outcome)
        return most, np.zeros(0) if found is None else found

    def _changes(self, outcome: SolverOutcome) -> Floats | None:
        if not len(outcome.point):
            return None
        changes: Floats = outcome.point[: self._cells] - outcome.point[self._cells : 2 * self._cells]
        return changes
