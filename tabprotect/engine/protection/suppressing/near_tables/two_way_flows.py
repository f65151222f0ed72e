"""Tables near a two-way table that agree with it on all published cells: flows in a network.

Rows and columns are nodes, published cells are arcs between them; with the totals as one more
row and one more column, entered negatively, every row and column adds up to zero. A change of
one cell that is made up for by suppressed cells is a circulation; so the largest change is a
maximum flow, whole numbers stay whole, and every bound found here is sharp.

Source: Castro and Baena, *Using a mathematical programming modelling language for optimal CTA*;
Cox 1995, *Network models for complementary cell suppression*, J. Amer. Statist. Assoc. 90.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.budgets import LARGEST_FLOW
from tabprotect.engine.protection.suppressing.near_tables.deviation import ENDLESS, Deviation
from tabprotect.engine.tables.publication import Publication

PART = 16
"""Rows and columns of a rectangle that are looked at first."""

FEW = 20
"""Cells that must not move, up to which rectangles are looked for first."""

Path = list[tuple[int, int]]


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
        self._networks: dict[int, _Network] = {}

    @staticmethod
    def fits(publication: Publication) -> bool:
        """Whether the published cells are the inner cells of one or two variables with totals."""
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
        self, cell: int, sign: int, need: int, *, barred: Ints, pay: bool
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
        """
        i, j = int(self._rows[cell]), int(self._columns[cell])
        turn = sign * int(self._sign[i, j])
        if len(barred) <= FEW:
            found = self._rectangle(turn, (i, j), need, barred)
            if found is not None:
                return found
        forward, back = self._capacities(turn, cell, barred)
        moved: dict[tuple[int, int], int] = {(i, j): turn * need}
        left = need
        free, weight = self._open, self._weight
        while left:
            path, amount = _reach(free, forward, back, i, j, left)
            if not path and pay:
                path, amount = _cheapest(weight, forward, back, (i, j), left)
                free, weight = free.copy(), weight.copy()
                for at in path:
                    free[at], weight[at] = True, self._step
            if not path:
                return None
            for step, at in enumerate(path):
                way = -turn if step % 2 == 0 else turn
                moved[at] = moved.get(at, 0) + way * amount
                gain, loss = (back, forward) if step % 2 == 0 else (forward, back)
                loss[at] -= amount
                gain[at] += amount
            left -= amount
        return self._deviation(moved)

    def _rectangle(
        self, turn: int, at: tuple[int, int], need: int, barred: Ints
    ) -> Deviation | None:
        """The shortest way there is, by three hidden cells; None where it does not exist.

        It looks at one row, one column and where their hidden cells meet, not at the whole table.
        """
        i, j = at
        fall, rise = (
            (self._decrease, self._increase) if turn > 0 else (self._increase, self._decrease)
        )
        across = self._open[i] & (fall[i] >= need)
        down = self._open[:, j] & (fall[:, j] >= need)
        still = list(zip(self._rows[barred].tolist(), self._columns[barred].tolist(), strict=True))
        for row, column in [at, *still]:
            if row == i:
                across[column] = False
            if column == j:
                down[row] = False
        rows, columns = np.flatnonzero(down), np.flatnonzero(across)
        # Nearly always a small part of where they meet will do.
        for part in (PART, len(rows) + len(columns)):
            corner = rows[:part, None], columns[None, :part]
            meets = self._open[corner] & (rise[corner] >= need)
            for place in still:
                meets &= (corner[0] != place[0]) | (corner[1] != place[1])
            if meets.any() or part >= max(len(rows), len(columns)):
                break
        if not meets.any():
            return None
        k, m = divmod(int(meets.argmax()), meets.shape[1])
        by = turn * need
        row, column = int(rows[k]), int(columns[m])
        return self._deviation({at: by, (i, column): -by, (row, column): by, (row, j): -by})

    def _capacities(self, turn: int, cell: int, barred: Ints) -> tuple[Ints, Ints]:
        """What can go from rows to columns and back, while one cell is pushed up (turn 1)."""
        pair = (self._decrease, self._increase) if turn > 0 else (self._increase, self._decrease)
        forward, back = pair[0].copy(), pair[1].copy()
        for still in (np.array([cell]), barred):
            at = self._rows[still], self._columns[still]
            forward[at] = back[at] = 0
        return forward, back

    def _deviation(self, moved: dict[tuple[int, int], int]) -> Deviation:
        places = [(at, by) for at, by in moved.items() if by and self._ids[at] >= 0]
        cells = np.array([self._ids[at] for at, _ in places], dtype=np.int64)
        change = np.array([by * int(self._sign[at]) for at, by in places], dtype=np.int64)
        return Deviation.of(cells, change, self._room[cells])

    def extreme(self, cell: int, sign: int, known: int) -> tuple[int, bool, Deviation | None]:
        """How far one suppressed cell can move while the published ones stay.

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
        nothing = np.zeros(0, dtype=np.int64)
        if network.endless:
            forward, back = self._capacities(turn, cell, nothing)
            if _reach(self._open, forward, back, i, j, ENDLESS, at_once=True)[0]:
                return own, True, None
        if network.fits:
            amount, (rows, columns, flow) = network.flow(i, j)
        else:
            forward, back = self._capacities(turn, cell, nothing)
            amount, moved = _augmented(forward * self._open, back * self._open, (i, j))
            rows, columns = np.nonzero(moved)
            flow = -moved[rows, columns]
        if amount <= known or amount > own:
            return min(amount, own), True, None
        rows, columns = np.append(rows, i), np.append(columns, j)
        change = turn * self._sign[rows, columns] * np.append(-flow, amount)
        cells = self._ids[rows, columns]
        cells, change = cells[cells >= 0], change[cells >= 0]
        return amount, True, Deviation.of(cells, change, self._room[cells])

    def _network(self, turn: int) -> _Network:
        if turn not in self._networks:
            pair = (self._decrease, self._increase)
            forward, back = pair if turn > 0 else pair[::-1]
            self._networks[turn] = _Network(forward * self._open, back * self._open)
        return self._networks[turn]


class _Network:
    """The arcs of hidden cells as a graph, kept between maximum flows.

    Parameters
    ----------
    forward, back : int64 (rows, columns)
        What can go from a row to a column, and back.
    """

    def __init__(self, forward: Ints, back: Ints) -> None:
        # A third of the program's start, and few need it.
        from scipy.sparse import csr_array

        rows, columns = forward.shape
        self._rows = rows
        self._forward = forward
        self._out = forward.sum(axis=1, dtype=np.float64)
        self._into = forward.sum(axis=0, dtype=np.float64)
        self.endless = bool((forward >= ENDLESS).any())
        finite = sum(float(side[side < ENDLESS].sum(dtype=np.float64)) for side in (forward, back))
        self.fits = finite < LARGEST_FLOW // 2
        down, up = np.nonzero(forward), np.nonzero(back.T)
        # By tails, then heads: as a compressed matrix has them.
        capacity = np.concatenate([forward[down], back.T[up]])
        ends = np.concatenate(
            [np.bincount(down[0], minlength=rows), np.bincount(up[0], minlength=columns)]
        )
        self._graph = csr_array(
            (
                np.minimum(capacity, min(int(finite) + 1, LARGEST_FLOW)).astype(np.int32),
                np.concatenate([down[1] + rows, up[1]]).astype(np.int32),
                np.concatenate([[0], np.cumsum(ends)]).astype(np.int32),
            ),
            shape=(rows + columns, rows + columns),
        )

    def most(self, i: int, j: int) -> int:
        """No more can go from row i to column j beside their own arc."""
        own = float(self._forward[i, j])
        return int(min(self._out[i] - own, self._into[j] - own))

    def flow(self, i: int, j: int) -> tuple[int, tuple[Ints, Ints, Ints]]:
        """The largest flow from row i to column j beside their own arc; rows, columns, amounts."""
        from scipy.sparse.csgraph import maximum_flow

        graph = self._graph
        own = self._arcs(i, self._rows + j) + self._arcs(self._rows + j, i)
        before = graph.data[own]
        graph.data[own] = 0
        found = maximum_flow(graph, i, self._rows + j)
        graph.data[own] = before
        flow = found.flow.tocoo()
        used = (flow.data != 0) & (flow.row < self._rows)
        amounts = flow.data[used].astype(np.int64)
        at = flow.row[used].astype(np.int64), flow.col[used].astype(np.int64) - self._rows
        return int(found.flow_value), (*at, amounts)

    def _arcs(self, tail: int, head: int) -> list[int]:
        """Where an arc stands among the graph's entries, if there is one."""
        begin, end = self._graph.indptr[tail], self._graph.indptr[tail + 1]
        at = int(begin + np.searchsorted(self._graph.indices[begin:end], head))
        return [at] if at < end and self._graph.indices[at] == head else []


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


def _reach(
    free: Bools, forward: Ints, back: Ints, i: int, j: int, left: int, *, at_once: bool = False
) -> tuple[Path, int]:
    """A path of fewest free arcs from row i to column j, and how much of ``left`` it carries."""
    amount = left
    while amount:
        path = _fewest(free & (forward >= amount), (free & (back >= amount)).T, i, j)
        if path:
            return path, amount
        if at_once:
            break
        amount //= 2
    return [], 0


def _fewest(there: Bools, again: Bools, i: int, j: int) -> Path:
    """Breadth first; ``again`` is columns by rows."""
    rows, columns = there.shape
    from_row = np.full(columns, -1, dtype=np.int64)
    from_column = np.full(rows, -1, dtype=np.int64)
    from_column[i] = columns
    edge = np.array([i])
    while len(edge):
        met = there[edge]
        new = np.flatnonzero(met.any(axis=0) & (from_row < 0))
        if not len(new):
            break
        from_row[new] = edge[met[:, new].argmax(axis=0)]
        if from_row[j] >= 0:
            return _traced(from_row, from_column, i, j)
        met = again[new]
        edge = np.flatnonzero(met.any(axis=0) & (from_column < 0))
        from_column[edge] = new[met[:, edge].argmax(axis=0)]
    return []


def _cheapest(
    weight: Floats, forward: Ints, back: Ints, ends: tuple[int, int], left: int
) -> tuple[Path, int]:
    """A path of least weight that carries all of ``left``, or else as much as any does."""
    amount = left
    while amount:
        there = np.where(forward >= amount, weight, np.inf)
        again = np.where(back >= amount, weight, np.inf).T.copy()
        path = _shortest(there, again, *ends)
        if path:
            return path, amount
        amount //= 2
    return [], 0


def _shortest(there: Floats, again: Floats, i: int, j: int) -> Path:
    """Least weight, by correcting labels; ``again`` is columns by rows. Empty when there is none."""
    rows, columns = there.shape
    to_row, to_column = np.full(rows, np.inf), np.full(columns, np.inf)
    from_row = np.full(columns, -1, dtype=np.int64)
    from_column = np.full(rows, -1, dtype=np.int64)
    to_row[i] = 0.0
    edge = np.array([i])
    while len(edge):
        way = to_row[edge, None] + there[edge]
        best = way.argmin(axis=0)
        least = way[best, np.arange(columns)]
        new = np.flatnonzero((least < to_column) & (least < to_column[j]))
        to_column[new] = least[new]
        from_row[new] = edge[best[new]]
        new = new[new != j]
        if not len(new):
            break
        way = to_column[new, None] + again[new]
        best = way.argmin(axis=0)
        least = way[best, np.arange(rows)]
        edge = np.flatnonzero((least < to_row) & (least < to_column[j]))
        to_row[edge] = least[edge]
        from_column[edge] = new[best[edge]]
    return _traced(from_row, from_column, i, j) if np.isfinite(to_column[j]) else []


def _traced(from_row: Ints, from_column: Ints, i: int, j: int) -> Path:
    path = []
    column = j
    while True:
        row = int(from_row[column])
        path.append((row, column))
        if row == i:
            return path[::-1]
        column = int(from_column[row])
        path.append((row, column))


def _augmented(forward: Ints, back: Ints, ends: tuple[int, int]) -> tuple[int, Ints]:
    """The same for counts beyond int32: the widest paths first."""
    moved = np.zeros(forward.shape, dtype=np.int64)
    free = np.ones(forward.shape, dtype=np.bool_)
    amount = 0
    while True:
        path, more = _reach(free, forward, back, *ends, ENDLESS // 2)
        if not path:
            return amount, moved
        for step, at in enumerate(path):
            gain, loss = (back, forward) if step % 2 == 0 else (forward, back)
            loss[at] -= more
            gain[at] += more
            moved[at] += -more if step % 2 == 0 else more
        amount += more
