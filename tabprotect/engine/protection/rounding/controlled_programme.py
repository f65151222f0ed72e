"""Controlled rounding as an integer programme: every count goes down or up, and all sums hold.

In units of the base a count is its floor plus 0 or 1, so each published sum fixes one number: that
of the cells that go up, less one if the sum itself goes up. For two-way tables this is a flow
(Cox and Ernst 1982), and always has a solution; from three ways on it may have none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError, SolverError, TooLargeError
from tabprotect.engine.progress import SILENT, Announced, PartialProgress, Progress
from tabprotect.engine.solver import Bounds, Entries, Limit, TableProgramme, search_seconds
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

MOST_NODES = 100
"""Default number of branch-and-bound nodes for the nearest rounding; a count and not a time, so
that the answer does not depend on the machine.
"""

MOST_ENTRIES = 50_000_000
"""Most counts between multiples, times the sums they enter: some 300 bytes each."""


NODES_WITHOUT = 20
"""Factor on the nodes where any rounding at all is searched for."""


@dataclass(frozen=True, eq=False)
class Controlled:
    """A controlled rounding. Confidential.

    Attributes
    ----------
    inner
        The rounded inner cells: their sums are the rounded published counts.
    distance
        Sum of |rounded - true| over the published counts.
    optimal
        Whether it is proven that no rounding is nearer.
    """

    inner: Table
    distance: int
    optimal: bool


MOST_KNOWN = 100_000
"""Solutions that are kept for other tables."""


@dataclass(eq=False)
class Known:
    """The part that programmes of many small tables with one publication, base and limit share.

    Attributes
    ----------
    solutions
        By rests: which way a count goes depends on the rests of all, and on nothing else.
    keys
        The cell of each margin that each inner cell adds into.
    model
        The solver, which they hand on to each other.
    """

    solutions: dict[bytes, tuple[Floats, bool]] = field(default_factory=dict)
    keys: dict[int, Ints] = field(default_factory=dict)
    model: TableProgramme | None = None


class ControlledProgramme:
    """Zero-restricted rounding of one table: multiples of the base stay as they are.

    Parameters
    ----------
    publication
        The published margins, with or without the inner cells. Inner cells are rounded either way,
        so that every published count is a sum of one rounded table.
    nodes
        Branch-and-bound nodes after which the nearest rounding found so far is taken.
    known
        What this programme shares with those of other tables.
    """

    def __init__(
        self,
        table: Table,
        publication: Publication,
        base: int,
        nodes: int = MOST_NODES,
        known: Known | None = None,
    ) -> None:
        self.table, self.publication, self.base = table, publication, base
        self.nodes = nodes
        cells, counts = table.cells
        rest = counts % base
        self.cells, self.rest = cells[rest > 0], rest[rest > 0]
        self._known = known
        self.sums = publication.added_up(table)
        inner = publication.domain in publication.domains
        self.inner_weighs = int(inner)
        self.margins = [m for m, d in enumerate(publication.domains) if d != publication.domain]

    def nearest(self, progress: Progress = SILENT) -> Controlled:
        """The rounding with the smallest sum of |rounded - true| over the published counts.

        Raises
        ------
        InfeasibleError
            When there is none, naming the margins in conflict.
        SolverError
            When none is found within the limit of work.
        TooLargeError
            Before the work, with what it would cost.
        """
        entries = len(self.cells) * max(len(self.margins), 1)
        if entries > MOST_ENTRIES:
            raise TooLargeError(
                message(
                    "rounding {cells:,} counts in {margins:,} tables together would take about "
                    "{value:.0f} GB and hours",
                    len(self.cells),
                    len(self.margins),
                    3e-7 * entries,
                ),
                hint=message("publish fewer tables, or take small_count_rounding"),
            )
        rests = self.cells.tobytes() + self.rest.tobytes()
        solutions = {} if self._known is None else self._known.solutions
        if rests not in solutions:
            try:
                found = self._solve(self.margins, progress)
            except InfeasibleError:
                raise self._conflict(progress) from None
            if len(solutions) < MOST_KNOWN:
                solutions[rests] = found
        else:
            found = solutions[rests]
        point, optimal = found
        up = point[: len(self.cells)] > 0.5
        rounded = self.table.moved(self.cells, up * self.base - self.rest)
        new = self.publication.added_up(rounded)
        return Controlled(rounded, int(np.abs(new - self.sums).sum()), optimal)

    def _programme(self, margins: list[int]) -> tuple[TableProgramme, Floats, int] | None:
        """The programme, the cost of its columns, and the number of its sums; None without columns.

        One column for each inner cell between multiples, then one for each such margin cell.
        """
        base, publication = self.base, self.publication
        counts = self.sums
        keys = [self._keys(m) + publication.starts[m] for m in margins]
        used = np.concatenate(
            [np.arange(publication.starts[m], publication.starts[m + 1]) for m in margins]
            or [np.zeros(0, dtype=np.int64)]
        )
        row = np.zeros(publication.size, dtype=np.int64)
        row[used] = np.arange(len(used))
        # Rests of the inner cells of each sum, in units of the base: what is missing to its floor.
        missing = np.zeros(publication.size, dtype=np.int64)
        for key in keys:
            missing += np.bincount(key, self.rest, minlength=publication.size).astype(np.int64)
        between = used[counts[used] % base > 0]
        needed = ((missing - counts % base) // base)[used]
        entries = Entries(
            np.concatenate(
                [
                    np.arange(len(self.cells) + 1) * len(keys),
                    len(self.cells) * len(keys) + 1 + np.arange(len(between)),
                ]
            ),
            np.concatenate([row[np.array(keys, dtype=np.int64).T.reshape(-1)], row[between]]),
            np.concatenate([np.ones(len(self.cells) * len(keys)), -np.ones(len(between))]),
        )
        columns = len(self.cells) + len(between)
        if not columns:
            return None
        totals = needed.astype(np.float64)
        model = self._model(entries, (totals, totals), (np.zeros(columns), np.ones(columns)))
        cost = np.concatenate(
            [(base - 2 * self.rest) * self.inner_weighs, base - 2 * (counts[between] % base)]
        )
        return model, cost.astype(np.float64), len(used)

    def _keys(self, m: int) -> Ints:
        if self._known is None:
            return self.publication.keys(m, self.cells)
        if m not in self._known.keys:
            self._known.keys[m] = self.publication.keys(m)
        return self._known.keys[m][self.cells]

    def _model(self, entries: Entries, rows: Bounds, columns: Bounds) -> TableProgramme:
        if self._known is not None and self._known.model is not None:
            self._known.model.replace(entries, sums=rows, cells=columns)
            return self._known.model
        model = TableProgramme(entries, sums=rows, cells=columns, integral=True)
        if self._known is not None:
            self._known.model = model
        return model

    def _solve(
        self, margins: list[int], progress: Progress, *, any_point: bool = False
    ) -> tuple[Floats, bool]:
        """The point with the least cost, or any one, and whether it is proved to be that."""
        programme = self._programme(margins)
        if programme is None:
            return np.zeros(0), True
        model, cost, sums = programme
        nothing = np.zeros(len(cost))
        size = message("{columns:,} counts in {used:,} sums", len(cost), sums)
        found = model.weighted(
            nothing if any_point else cost,
            limit=Limit(self.nodes),
            progress=progress,
            stage=message("rounding {cost}, at most {nodes:,} nodes", size, self.nodes),
        )
        if found.value is not None:
            return found.point, found.optimal
        found = model.weighted(
            nothing,
            limit=Limit(self.nodes * NODES_WITHOUT),
            progress=progress,
            stage=message("looking for any rounding of {cost}", size),
        )
        if found.value is None:
            raise SolverError(
                message("no controlled rounding was found, nor a proof that there is none"),
                hint=message("publish fewer margins, or take another base"),
            )
        return found.point, False

    def _conflict(self, progress: Progress) -> InfeasibleError:
        """The error that names a minimal set of margins which no rounding satisfies together."""
        kept = list(self.margins)
        entries, nodes = len(self.cells) * len(kept), self.nodes * (1 + NODES_WITHOUT)
        each = search_seconds(entries, nodes, minimised=False)[1]
        # Programmes with fewer margins are smaller: most take a tenth of the first one's time.
        announced = Announced(progress, len(kept) * each / 100, len(kept) * each / 2)
        stage = message("looking for the margins that contradict each other")
        # Larger margins are left out first: the conflict is then told by small ones.
        for number, margin in enumerate(sorted(kept, key=lambda m: -self.publication.domains[m].size)):
            part = PartialProgress(announced, number, len(self.margins), stage)
            fewer = [m for m in kept if m != margin]
            try:
                self._solve(fewer, part, any_point=True)
            except InfeasibleError:
                kept = fewer
        names: MarginSet = tuple(self.publication.margins[m] for m in kept)
        texts = [" × ".join(margin) or message("the grand total") for margin in names]
        return InfeasibleError(
            message(
                "no rounding to base {base} adds up: the margins {texts} contradict each other",
                self.base,
                joined(texts, ", "),
            ),
            hint=message("publish fewer of these margins, take another base, or another rounding method"),
            detail=message(
                "every count may only go to one of the two multiples beside it, and multiples "
                "stay as they are"
            ),
        )
