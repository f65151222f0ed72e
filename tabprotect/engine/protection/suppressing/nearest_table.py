"""The table nearest to the original in which no published count is at risk: an integer programme.

Every sensitive published count goes to the nearest count below or above the at-risk range (to
the other one where no table is found so); all others move as little as possible, never into the
range, and zeros stay zero. Sums are of the adjusted inner cells, so everything adds up.

With the sensitive counts set, a two-way table is a network and the linear programme has a whole
optimum; elsewhere, and where the choice is open, an integer programme is solved.

Source: Dandekar and Cox 2002, *Synthetic tabular data: an alternative to complementary cell
suppression*; Castro 2006, *Minimum-distance controlled perturbation methods for large-scale
tabular data protection*, European J. Oper. Res. 171 (the two-sided choice as a binary).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.solver import NEAR, Entries, Limit, TableProgramme
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Distance = Literal["l1", "l2"]

BEND = 4
"""Change up to which squares are exact; beyond it the cost is linear."""

SPARED = 20.0
"""Cost of moving a spared total by 1, against 1 for every other count."""

LARGE, GAP = 500, 0.5
"""In programmes of more columns a table is near enough within this share of the distance."""

ANY = 1e6
"""A gap that every table is within."""

Totals = Literal["spared", "kept", "moved"]

SLACK = 1e-3
"""Cost of moving an inner cell that is not published."""

MOST_NODES, NODES_BY_COLUMNS = 200, 100
"""Branch-and-bound nodes where nothing else is said, and columns from which on they are fewer in
proportion; a count, so that no clock decides."""

WHOLE = 64
"""Columns up to which a search goes on until the nearest table is proved."""

COLUMN_COST = 1_000.0
"""Nominal microseconds that a larger search takes for each of its columns."""

NEARER = 1.0 - 1e-6
"""By how much another table has to cost less so that no search ends with the dearer one."""

MOST_RIVALS = 256

MOST_LISTED = 20


@dataclass(frozen=True, eq=False)
class _Cells:
    """Numbers that the programme may set, inner cells or sums of them.

    Attributes
    ----------
    values : int64 (cells,)
    rows, signs : int64 (entries,), float64 (entries,)
        The rows of the programme each cell enters, run after run.
    starts : int64 (cells + 1,)
    published : bool (cells,)
    price : float
        Of moving a published one by 1.
    """

    values: Ints
    rows: Ints
    starts: Ints
    sign: float
    published: Bools
    price: float


class _Programme:
    """Columns of cells, each with its cost, bounds and effect on one cell."""

    def __init__(self, at_risk: SmallCount, distance: Distance, nodes: int) -> None:
        self._nodes = nodes
        self.safe = (at_risk.low - 1, at_risk.high + 1)
        self._at_risk = at_risk
        self._distance = distance
        self.cost: list[float] = []
        self.high: list[float] = []
        self.step: list[int] = []
        self.cell: list[int] = []
        self.nearest: dict[int, int] = {}
        self._entries: list[tuple[Ints, float]] = []

    def _column(self, cells: _Cells, cell: int, step: int, high: float, cost: float) -> None:
        run = slice(int(cells.starts[cell]), int(cells.starts[cell + 1]))
        self._entries.append((cells.rows[run], cells.sign * step))
        self.cost.append(cost)
        self.high.append(high)
        self.step.append(step)

    def add(self, cells: _Cells, first: int) -> Ints:
        """Columns for all cells; the values they start from (cells,)."""
        start = cells.values.copy()
        below, above = self.safe
        at_risk = self._at_risk.mask(cells.values) & cells.published
        for cell in range(len(start)):
            value = int(cells.values[cell])
            before = len(self.cost)
            if at_risk[cell]:
                up, down = above - value, value - below
                gain = up**2 - down**2 if self._distance == "l2" else up - down
                # Half of those in the middle go up.
                ties = len(self.nearest) % 2
                self.nearest[len(self.cost)] = int(up < down or (up == down and ties))
                self._column(cells, cell, above - below, 1.0, float(gain))
                start[cell] = below
            elif not cells.published[cell]:
                self._column(cells, cell, 1, np.inf, SLACK)
                self._column(cells, cell, -1, float(value), SLACK)
            elif value >= above:
                self._bend(cells, cell, 1, np.inf)
                self._bend(cells, cell, -1, float(value - above))
            self.cell += [first + cell] * (len(self.cost) - before)
        return start

    def _bend(self, cells: _Cells, cell: int, step: int, most: float) -> None:
        """Make further moves cost more, where the distance is that of squares."""
        pieces = BEND if self._distance == "l2" else 0
        for piece in range(pieces):
            if most >= 1:
                self._column(cells, cell, step, 1.0, cells.price * (2 * piece + 1))
                most -= 1
        if most >= 1:
            self._column(cells, cell, step, most, cells.price * (2 * pieces + 1))

    def solve(
        self, right: Ints, fixed: range, progress: Progress, *, gap: float | None = None
    ) -> Floats | None:
        """The cheapest point found, in whole numbers; None where none was found.

        Parameters
        ----------
        right : int64 (rows,)
            What each row must be.
        fixed
            Columns that must not move.
        gap
            How far from the cheapest the point may be, as a share.

        Raises
        ------
        InfeasibleError
            When it is proved that there is no such point.
        """
        if gap is None:
            gap = GAP if len(self.cost) > LARGE else 0.0
        nodes = min(self._nodes, 1 + self._nodes * NODES_BY_COLUMNS // len(self.cost))
        cost = message(
            "{cost:,} changes of counts, {right:,} sums, at most {nodes:,} nodes",
            len(self.cost),
            len(right),
            nodes,
        )
        limit = Limit(None if len(self.cost) <= WHOLE else nodes, gap=gap)
        none_near = False
        for integral, near in ((False, True), (True, True), (False, False), (True, False)):
            if near and none_near:
                continue
            model = self._model(right, integral=integral)
            ends = dict.fromkeys((c for c in fixed if c not in self.nearest), 0)
            ends |= self.nearest if near else {}
            held, choice = (
                np.array(list(ends), dtype=np.int64),
                np.array(list(ends.values()), dtype=np.float64),
            )
            model.limit_many("columns", held, (choice, choice))
            try:
                outcome = model.weighted(
                    np.array(self.cost),
                    limit=limit,
                    progress=progress,
                    stage=message("adjusting the table: {cost}", cost),
                )
            except InfeasibleError:
                if not near:
                    raise
                # Without fractions there is none either.
                none_near = True
                continue
            point = np.rint(outcome.point)
            if len(point) and np.abs(point - outcome.point).max() < NEAR:
                return point
        return None

    def broken(self, right: Ints, fixed: range, progress: Progress) -> Ints:
        """Cells of the columns that move after all where moving them is only dear."""
        try:
            point = self.solve(right, range(0), progress, gap=ANY)
        except InfeasibleError:
            point = None
        if point is None:
            return np.zeros(0, dtype=np.int64)
        moved = [self.cell[c] for c in fixed if point[c] and c not in self.nearest]
        return np.unique(np.array(moved, dtype=np.int64))

    def _model(self, right: Ints, *, integral: bool) -> TableProgramme:
        high = np.array(self.high)
        entries = Entries.joined(self._entries)
        return TableProgramme(
            entries, sums=(right, right), cells=(np.zeros(len(high)), high), integral=integral
        )


@dataclass(frozen=True)
class AdjustmentTarget:
    """The table that is sought among those without counts at risk.

    Attributes
    ----------
    distance
        By which it is the nearest.
    totals
        Of the totals that are not at risk themselves: whether they move only where they must,
        must not move, or move like every other count.
    nodes
        Branch-and-bound nodes after which the nearest table found so far is taken.
    """

    distance: Distance = "l1"
    totals: Totals = "spared"
    nodes: int = MOST_NODES


NEAREST = AdjustmentTarget()


def _counts(
    publication: Publication, table: Table, totals: Totals
) -> tuple[_Cells, _Cells, csc_array[np.int64], Ints]:
    """The inner cells, the published sums of several, which of those sum which, and their cells."""
    values = publication.added_up(table)
    first = publication.distinct[0]
    incidence = publication.incidence[first].tocsr()
    behind = np.diff(incidence.indptr)
    inner = table.counts.reshape(-1)
    published = np.zeros(len(inner), dtype=np.bool_)
    published[incidence.indices[incidence.indptr[:-1][behind == 1]]] = True
    several = np.flatnonzero(behind > 1)
    sums = incidence[several].tocsc()
    enters = _Cells(inner, sums.indices.astype(np.int64), sums.indptr.astype(np.int64), 1.0, published, 1.0)
    of_sums = _Cells(
        values[first[several]],
        np.arange(len(several)),
        np.arange(len(several) + 1),
        -1.0,
        np.ones(len(several), dtype=np.bool_),
        1.0 if totals == "moved" else SPARED,
    )
    return enters, of_sums, sums, first[several]


def nearest_safe(
    publication: Publication,
    table: Table,
    at_risk: SmallCount,
    wanted: AdjustmentTarget = NEAREST,
    progress: Progress = SILENT,
) -> Table:
    """Adjusted inner counts. Deterministic.

    Parameters
    ----------
    at_risk
        From 1 up: empty cells have nobody to protect.

    Raises
    ------
    InfeasibleError
        When it is proved that there is no such table, naming the totals in conflict; or when
        none was found within the stated work, which it says.
    """
    programme = _Programme(at_risk, wanted.distance, wanted.nodes)
    enters, of_sums, sums, cells = _counts(publication, table, wanted.totals)
    start = programme.add(enters, 0)
    moved = start.copy()
    before = len(programme.cost)
    ends = programme.add(of_sums, len(start))
    if programme.cost:
        columns = range(before, len(programme.cost)) if wanted.totals == "kept" else range(0)
        right = ends - np.asarray(sums @ start)
        try:
            point = programme.solve(right, columns, progress)
        except InfeasibleError:
            off = programme.broken(right, columns, progress) - len(start)
            if not len(off):
                off = np.flatnonzero(at_risk.mask(of_sums.values))
            raise _conflict(publication, cells[off]) from None
        if point is None:
            raise InfeasibleError(
                message("no table without small counts was found within the stated work"),
                hint=message("let the totals move, publish fewer of them, or merge categories"),
            )
        by = point.astype(np.int64) * np.array(programme.step)
        cell = np.array(programme.cell)
        mine = cell < len(start)
        np.add.at(moved, cell[mine], by[mine])
    return Table.dense(table.domain, moved.reshape(table.domain.shape))


def search_cost(counts: Ints, distance: Distance) -> float | None:
    """Nominal microseconds of finding the table nearest to one like this; ``None`` for a small one.

    Parameters
    ----------
    counts
        All published counts, sums too.
    """
    columns = 2 * (BEND + 1 if distance == "l2" else 1) * int(np.count_nonzero(counts))
    return None if columns <= WHOLE else COLUMN_COST * columns


class Rivals:
    """Safe tables that are known: an original that is nearer to one of them is adjusted to no other.

    That takes programmes that are solved to their end, and inner cells that are published.

    Parameters
    ----------
    adjusted
        The inner counts of the table that others are compared with.
    """

    def __init__(
        self, publication: Publication, adjusted: Table, at_risk: SmallCount, wanted: AdjustmentTarget
    ) -> None:
        self._at_risk, self._wanted = at_risk, wanted
        enters, of_sums, sums, _ = _counts(publication, adjusted, wanted.totals)
        self.usable = bool(enters.published.all())
        self._inner, self._sums = len(enters.values), sums.toarray()
        self._price = np.repeat([1.0, of_sums.price], [self._inner, len(of_sums.values)])
        self._known = self._numbers(adjusted)[None]

    def add(self, table: Table) -> None:
        """Take in another safe table."""
        own = self._numbers(table)
        if len(self._known) < MOST_RIVALS and not (self._known == own).all(axis=1).any():
            self._known = np.concatenate([self._known, own[None]])

    def rule_out(self, original: Table) -> bool:
        """Return True if an original is certainly adjusted to another table, or to none."""
        values = self._numbers(original)
        most = BEND + 1 if self._wanted.distance == "l2" else 1
        columns = np.where(self._at_risk.mask(values), 1, 2 * most).sum()
        possible, near, cost = self._costs(values)
        if not possible[0]:
            return True
        if columns > WHOLE:
            return False
        cheaper = possible & (cost <= cost[0] - NEARER)
        if near[0]:
            return bool((cheaper & near).any())
        # All at the nearest safe counts comes first, whatever it costs.
        return bool((cheaper | (possible & near)).any())

    def _numbers(self, table: Table) -> Ints:
        inner = table.counts.reshape(-1)
        return np.concatenate([inner, self._sums @ inner])

    def _costs(self, values: Ints) -> tuple[Bools, Bools, Floats]:
        """Tell of each known table if it may be taken, with nearest counts, and at what cost."""
        at_risk, known = self._at_risk.mask(values), self._known
        below, above = self._at_risk.low - 1, self._at_risk.high + 1
        up, down = above - values, values - below
        square = self._wanted.distance == "l2"
        gain = (up**2 - down**2 if square else up - down)[at_risk]
        ties = np.arange(len(gain)) % 2 == 1
        nearest = (up < down)[at_risk] | ((up == down)[at_risk] & ties)
        mine = known[:, at_risk]
        possible = ((mine == below) | (mine == above)).all(axis=1)
        near = ((mine == above) == nearest).all(axis=1)
        cost = ((mine == above) * gain).sum(axis=1).astype(np.float64)
        still = values < self._at_risk.low
        if self._wanted.totals == "kept":
            still[self._inner :] |= ~at_risk[self._inner :]
        possible &= (known[:, still] == values[still]).all(axis=1)
        free = ~at_risk & ~still
        moved = np.abs(known[:, free] - values[free])
        possible &= (known[:, free] >= above).all(axis=1)
        if square:
            bent = np.minimum(moved, BEND)
            moved = bent**2 + (2 * BEND + 1) * (moved - bent)
        return possible, near, cost + moved @ self._price[free]


def _conflict(publication: Publication, cells: Ints) -> InfeasibleError:
    names = [publication.cell_text(int(cell)) for cell in cells[:MOST_LISTED]]
    if len(cells) > MOST_LISTED:
        names.append(message("... and {cells} more", len(cells) - MOST_LISTED))
    where = (
        (message(" ({names}, ...)", names[0]) if len(cells) > 1 else message(" ({names})", names[0]))
        if names
        else ""
    )
    return InfeasibleError(
        message("no table without small counts has these totals") + where,
        hint=message("let the totals move, publish fewer of them, or merge categories"),
        detail=joined(names, "\n"),
    )
