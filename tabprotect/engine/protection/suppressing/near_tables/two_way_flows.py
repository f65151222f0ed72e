"""Tables near a two-way table that agree with it on all published cells: flows in a network.

Rows and columns are nodes, published cells are arcs between them; with the totals as one more
row and one more column, entered negatively, every row and column adds up to zero. A change of
one cell that is made up for by suppressed cells is a circulation; so the largest change is a
maximum flow, whole numbers stay whole, and every bound found here is sharp.

Source: Castro and Baena, *Using a mathematical programming modelling language for optimal CTA*;
Cox 1995, *Network models for complementary cell suppression*, J. Amer. Statist. Assoc. 90.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.protection.suppressing.near_tables import two_way_routes
from tabprotect.engine.protection.suppressing.near_tables.deviation import ENDLESS, Deviation
from tabprotect.engine.tables.publication import Publication

if TYPE_CHECKING:
    pass


DIFFERENT = 6
"""Most different needs handled one by one; of more, each is rounded up to a power of two."""


def in_rectangles(at: tuple[Ints, Ints], needs: Ints, movable: Bools, fall: Ints, rise: Ints) -> Bools:
    """Tell whether there is a rectangle of movable cells that lets each cell rise by its need.

    A cell in row i and column j rises where some (i, c) and (r, j) can fall by the need and (r, c)
    can rise. How many such pairs of a row r and a column c there are is a product of two matrices,
    less the pairs that use row i or column j themselves; so no rectangle is looked at by itself.

    Where there are many different needs it may miss a rectangle.

    Parameters
    ----------
    at : int64 (cells,) each
        Rows and columns of the cells; they need not be movable.
    needs : int64 (cells,)
    movable : bool (rows, columns)
    fall, rise : int64 (rows, columns)
        By how much each cell of the table can fall and rise.

    Returns
    -------
    bool (cells,)
    """
    found = np.zeros(len(needs), dtype=np.bool_)
    if len(np.unique(needs)) > DIFFERENT:
        needs = 2 ** np.ceil(np.log2(np.maximum(needs, 1))).astype(np.int64)
    for need in np.unique(needs):
        mine = np.flatnonzero(needs == need)
        rows, columns = at[0][mine], at[1][mine]
        falls = (movable & (fall >= need)).astype(np.float64)
        rises = (movable & (rise >= need)).astype(np.float64)
        found[mine] = _pairs(falls, rises)[rows, columns] > 0.5
    return found


def _pairs(falls: Floats, rises: Floats) -> Floats:
    """Count for each cell (i, j) the (r, c) beside its row and column that have all three corners."""
    if falls.shape[0] < falls.shape[1]:
        return _pairs(falls.T, rises.T).T
    # Of each column c and j: rows r with (r, c) rising and (r, j) falling.
    between = rises.T @ falls
    np.fill_diagonal(between, 0.0)
    both = falls * rises
    # Row i itself: all its columns but j that fall and rise, where (i, j) falls, too.
    own = falls * (both.sum(axis=1, keepdims=True) - both)
    pairs: Floats = falls @ between - own
    return pairs


class HiddenNetwork:
    """The arcs of hidden cells, kept between maximum flows.

    Parameters
    ----------
    forward, back : int64 (rows, columns)
        What can go from a row to a column, and back.
    """

    def __init__(self, forward: Ints, back: Ints) -> None:
        self._forward, self._back = forward, back
        self._out = forward.sum(axis=1, dtype=np.float64)
        self._into = forward.sum(axis=0, dtype=np.float64)

    @cached_property
    def _cells(self) -> tuple[Ints, ...]:
        """The hidden cells by rows and by columns, what can go, and place for what goes."""
        shape = self._forward.shape
        rows, columns = np.nonzero((self._forward != 0) | (self._back != 0))
        by_column = np.argsort(columns, kind="stable")
        starts = (
            np.concatenate([[0], np.cumsum(np.bincount(which, minlength=size))])
            for which, size in zip((rows, columns), shape, strict=True)
        )
        sides = self._forward[rows, columns], self._back[rows, columns]
        # Both are views of one list of places.
        columns = np.ascontiguousarray(columns)
        return next(starts), columns, next(starts), by_column, *sides, np.zeros_like(by_column)

    def most(self, i: int, j: int) -> int:
        """An upper limit of the flow from row i to column j beside their own arc."""
        own = float(self._forward[i, j])
        return int(min(self._out[i] - own, self._into[j] - own))

    def wanted(self, i: int, j: int, most: int) -> tuple[int, tuple[Ints, Ints, Ints]]:
        """A flow from row i to column j beside their own arc, as large as wanted or as there is.

        Returns how large it is, rows, columns, and amounts.
        """
        starts, columns, *_, gone = self._cells
        begin, end = int(starts[i]), int(starts[i + 1])
        at = begin + int(np.searchsorted(columns[begin:end], j))
        own = at if at < end and columns[at] == j else -1
        amount = two_way_routes.largest(self._cells, i, j, own, most)
        used = np.flatnonzero(gone)
        rows = np.searchsorted(starts, used, side="right") - 1
        return amount, (rows, columns[used], gone[used])


BY_ROUTE = 4e-4
"""Seconds for each end of an interval that needs ways of its own."""

FEW = 20
"""Cells that must not move, up to which rectangles are looked for first."""


class TwoWayFlows:
    """The network of a two-way table, and which of its cells may move.

    Parameters
    ----------
    publication
        One that :meth:`fits`.
    room : int64 (published cells,)
        How far each count may fall.
    cost : float64 (published cells,)
        Of suppressing a cell, from 0 up; infinite where it must be published.
    """

    most_routes = 100_000
    gave_up = False

    def __init__(self, publication: Publication, room: Ints, cost: Floats) -> None:
        self._room = room
        ids = _layout(publication)
        self._ids = ids
        published = ids >= 0
        self._sign = np.ones(ids.shape, dtype=np.int64)
        self._sign[-1, :-1] = self._sign[:-1, -1] = -1
        amounts = np.where(published, room[ids], 0)
        self._increase = np.where((self._sign > 0) | ~published, ENDLESS, amounts)
        self._decrease = np.where((self._sign < 0) | ~published, ENDLESS, amounts)
        # What is asked of a few places at a time: number, sign and room of the cell there.
        flat = (np.ascontiguousarray(one.reshape(-1)) for one in (ids, self._sign, amounts))
        self._at_place = tuple(one.data for one in flat)
        self._rows = np.zeros(len(room), dtype=np.int64)
        self._columns = np.zeros(len(room), dtype=np.int64)
        self._rows[ids[published]], self._columns[ids[published]] = np.nonzero(published)
        # A little for every arc: of two ways that cost the same the shorter one is taken.
        finite = cost[np.isfinite(cost) & (cost > 0)]
        self._step = 1e-6 * float(finite.min()) if len(finite) else 1.0
        self._cost = np.where(published, cost[ids], 0.0) + self._step
        self._weight = self._cost.copy()
        self._weight[~published] = self._step
        self._open = ~published
        self._networks: dict[int, HiddenNetwork] = {}

    @staticmethod
    def fits(publication: Publication) -> bool:
        """Return True if the published cells are the inner cells of one or two variables with totals."""
        names = {name for margin in publication.margins for name in margin}
        if not 1 <= len(names) <= 2 or not names <= set(publication.domain.names):
            return False
        full = tuple(n for n in publication.domain.names if n in names)
        if full not in publication.margins or publication.domain.structural:
            return False
        return len(publication.distinct[0]) == publication.size

    def open(self, cells: Ints) -> None:
        """Suppress cells: they may move at no cost."""
        at = self._rows[cells], self._columns[cells]
        self._open[at] = True
        self._weight[at] = self._step
        self._networks.clear()

    def close(self, cells: Ints) -> None:
        """Publish cells again."""
        at = self._rows[cells], self._columns[cells]
        self._open[at] = False
        self._weight[at] = self._cost[at]
        self._networks.clear()

    def route(
        self, cell: int, sign: int, need: int, *, barred: Ints, pay: bool, quick: bool = False
    ) -> Deviation | None:
        """The cheapest change found that moves one cell by ``sign * need`` and no published one.

        Parameters
        ----------
        cell
            A suppressed one.
        barred
            Cells that must not move.
        pay
            Whether published cells may be used, at their cost.
        quick
            Flows always are.
        """
        i, j = int(self._rows[cell]), int(self._columns[cell])
        turn = sign * int(self._sign[i, j])
        rows, columns = self._ids.shape
        arcs = self._open, self._weight, *self._sides(turn)
        still = self._rows[barred] * columns + self._columns[barred] if len(barred) else barred
        asked = np.array((i, j, need, turn), dtype=np.int64)
        found = two_way_routes.route(*arcs, still, asked, rows, columns, pay, self._step, FEW)
        if found is None:
            return None
        # A few cells: arrays would take several times as long.
        ids, signs, rooms = self._at_place
        pairs = zip(*(memoryview(one).cast("q") for one in found), strict=True)
        moved = [(place, by) for place, by in pairs if by and ids[place] >= 0]
        change = [by * signs[place] for place, by in moved]
        return Deviation.of([ids[k] for k, _ in moved], change, [rooms[k] for k, _ in moved])

    def at_once(self, cells: Ints, sign: int, needs: Ints, still: Bools) -> Bools:
        """The cells that three other hidden ones let move, bool (cells,): many at a time.

        Parameters
        ----------
        cells, needs : int64 (cells,)
            By how much each is to move.
        still : bool (published cells,)
            Cells that must not move.
        """
        rows, columns = self._rows[cells], self._columns[cells]
        turns = sign * self._sign[rows, columns]
        movable = self._open.copy()
        movable[self._rows[still], self._columns[still]] = False
        found = np.zeros(len(cells), dtype=np.bool_)
        for turn in (1, -1):
            mine = np.flatnonzero(turns == turn)
            fall, rise = self._sides(turn)
            found[mine] = in_rectangles((rows[mine], columns[mine]), needs[mine], movable, fall, rise)
        return found

    def seconds(self, ends: int) -> tuple[float, float]:
        """About how long choosing and checking take, for so many ends that ``at_once`` left."""
        return ends * BY_ROUTE, ends * BY_ROUTE

    def _sides(self, turn: int) -> tuple[Ints, Ints]:
        """Return what can go from rows to columns and back, while one cell is pushed up (turn 1)."""
        pair = self._decrease, self._increase
        return pair if turn > 0 else pair[::-1]

    def extreme(self, cell: int, sign: int, known: int) -> tuple[int, bool, Deviation | None]:
        """Return how far one suppressed cell can move while the published ones stay.

        Parameters
        ----------
        known
            It can move at least so far.

        Returns
        -------
        How far (``ENDLESS`` where nothing limits it), whether that is proven to be sharp, and a
        change that goes there.
        """
        i, j = int(self._rows[cell]), int(self._columns[cell])
        turn = sign * int(self._sign[i, j])
        own = int((self._increase if turn > 0 else self._decrease)[i, j])
        network = self._network(turn)
        most = min(own, network.most(i, j))
        if most <= known:
            return most, True, None
        amount, (rows, columns, flow) = network.wanted(i, j, most)
        if amount <= known or amount >= ENDLESS:
            return amount, True, None
        rows, columns = np.append(rows, i), np.append(columns, j)
        change = turn * self._sign[rows, columns] * np.append(-flow, amount)
        cells = self._ids[rows, columns]
        cells, change = cells[cells >= 0], change[cells >= 0]
        found = Deviation.of(cells.tolist(), change.tolist(), self._room[cells].tolist())
        return amount, True, found

    def _network(self, turn: int) -> HiddenNetwork:
        if turn not in self._networks:
            forward, back = self._sides(turn)
            self._networks[turn] = HiddenNetwork(forward * self._open, back * self._open)
        return self._networks[turn]


def _layout(publication: Publication) -> Ints:
    """Number of the published cell at each place of the table with its totals; -1 where none."""
    names = {name for margin in publication.margins for name in margin}
    full = tuple(n for n in publication.domain.names if n in names)
    sizes = [len(publication.domain[n].categories) for n in full]
    rows, columns = sizes[0], sizes[1] if len(sizes) == 2 else 1
    ids = np.full((rows + 1, columns + 1), -1, dtype=np.int64)
    for m, margin in enumerate(publication.margins):
        run = np.arange(publication.starts[m], publication.starts[m + 1])
        if margin == full:
            ids[:-1, :-1] = run.reshape(rows, columns)
        elif margin == () and len(full) == 2:
            ids[-1, -1] = run[0]
        elif margin == ():
            ids[-1, 0] = run[0]
        elif margin == full[:1]:
            ids[:-1, -1] = run
        else:
            ids[-1, :-1] = run
    return ids
