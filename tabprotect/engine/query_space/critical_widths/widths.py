"""Critical widths: how tight each sub-table alone makes the bounds of the at-risk cells.

The most parsimonious release of a sub-table T is T with the one-way tables of all other
variables. It is decomposable, so its bounds are a closed form and sharp; the critical width of T
is the smallest upper minus lower bound of an at-risk cell. It never grows with T.

Structural zeros join variables: there is no closed form then, and integer programmes lower the
widths if the table and its lattice are small. In larger ones the closed form stands, which is never
too small; a release is always judged with the zeros (``criteria/width.py``).

Source: Dobra, Karr, Sanil and Fienberg 2002, section 4 and equation 10 with its maximum read as
the minimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.bounds.bounding import width
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.critical_widths.at_risk import AtRiskCells
from tabprotect.engine.query_space.critical_widths.smallest_counts import ListedCells, smallest_counts
from tabprotect.engine.query_space.frontier import maximal_queries
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.workers.spreading import Workers, spread
from tabprotect.languages.messages import message

TIED_CELLS = 2**14
"""Most cells times sub-tables for which critical widths are computed with structural zeros."""


PIECES = 6
"""The lattice is shared out in 2^6 pieces, or a few more."""


def by_figure(lattice: Lattice, values: Ints) -> list[Query]:
    """Queries by their values (queries,): largest first, then larger ones, then variables' order."""
    every, early = lattice.every, np.zeros(lattice.size, dtype=np.int64)
    # The first variables weigh most.
    for v in range(lattice.variables):
        early = 2 * early + (every >> v & 1)
    order = np.lexsort((-early, -np.bitwise_count(every).astype(np.int64), -values))
    found: list[Query] = every[order].tolist()
    return found


@dataclass(frozen=True, repr=False)
class Widths:
    """The critical width of every sub-table. Confidential.

    Attributes
    ----------
    values : int64 (queries,)
        In the lattice's order.
    smallest : int64 (queries,)
        The smallest count of each margin at an at-risk cell: no release that contains the
        margin can have a larger width.
    """

    lattice: Lattice
    values: Ints
    smallest: Ints

    def __getitem__(self, query: Query) -> int:
        return int(self.values[self.lattice.at([query])[0]])

    def smallest_at(self, queries: Ints | Sequence[Query]) -> Ints:
        """Smallest counts of given margins at an at-risk cell, in the shape of ``queries``."""
        return self.smallest[self.lattice.at(queries)]

    def ordered(self) -> list[Query]:
        """Widest first, then larger sub-tables, then the variables' order."""
        return by_figure(self.lattice, self.values)

    def chain(self) -> list[Query]:
        """The most dangerous chain, from the grand total to the table: each step adds the
        variable that leaves the smallest width (the first of equals in the table's order)."""
        out = [0]
        while out[-1] != self.lattice.full:
            out.append(min(self.lattice.above(out[-1]), key=self.__getitem__))
        return out

    def by_text(self) -> Iterator[tuple[str, int]]:
        """The name and the width of every sub-table, as :meth:`ordered`."""
        texts, values = self.lattice.texts, self.values.tolist()
        for place in self.lattice.at(self.ordered()).tolist():
            yield texts[place], values[place]

    def as_json(self) -> dict[str, object]:
        """Return it for ``widths --json``: variables, and widths keyed by names."""
        return {"variables": list(self.lattice.names), "widths": dict(self.by_text())}


def critical_widths(cells: AtRiskCells, *, workers: Workers = None, progress: Progress = SILENT) -> Widths:
    """All critical widths.

    Raises
    ------
    InputError
        If there are more than ``2^MAX_LISTED`` sub-tables.
    Interrupted
        If cancelled.
    """
    lattice = cells.lattice
    every = lattice.every
    smallest = _smallest(cells, workers, progress)
    values = smallest.copy()
    for axis, single in zip(lattice.axes, lattice.at(lattice.axes).tolist(), strict=True):
        outside = every & axis != axis
        values[outside] = np.minimum(values[outside], smallest[single])
    for query, least in _with_lower_bounds(cells, progress):
        values[lattice.at([query])] = least
    for query, least in _with_structural_zeros(cells, progress):
        values[lattice.at([query])] = np.minimum(values[lattice.at([query])], least)
    values.flags.writeable = smallest.flags.writeable = False
    return Widths(lattice, values, smallest)


def parsimonious_bounds(cells: AtRiskCells, query: Query) -> tuple[Ints, Ints]:
    """Upper and lower bound of each at-risk cell (m,) under the most parsimonious release."""
    upper = cells.counts_at(query)
    lower = upper
    for axis in cells.lattice.axes:
        if query & axis != axis:
            single = cells.counts_at(axis)
            lower = lower + (single - cells.counts_at(query & axis))
            upper = np.minimum(upper, single)
    return upper, np.maximum(lower, 0)


def _with_lower_bounds(cells: AtRiskCells, progress: Progress) -> Iterator[tuple[Query, int]]:
    """The sub-tables that bound some at-risk cell from below, with their widths.

    Lower bounds never fall as sub-tables grow, so these are connected from the table downwards.
    """
    waiting, seen = [cells.lattice.full], {cells.lattice.full}
    while waiting:
        query = waiting.pop()
        upper, lower = parsimonious_bounds(cells, query)
        progress.report(message("lower bounds"), 1.0)
        if not lower.any():
            continue
        yield query, int((upper - lower).min())
        smaller = [q for q in cells.lattice.below(query) if q not in seen]
        seen.update(smaller)
        waiting += smaller


def _with_structural_zeros(cells: AtRiskCells, progress: Progress) -> Iterator[tuple[Query, int]]:
    """The sub-tables that structural zeros join with others, with their widths."""
    lattice, table = cells.lattice, cells.table
    if not lattice.tied or table.domain.size * lattice.size > TIED_CELLS:
        return
    for number, query in enumerate(lattice.every.tolist()):
        release = maximal_queries([query, *lattice.axes])
        if lattice.separable(release):
            continue
        progress.report(message("structural zeros"), number / lattice.size)
        at_risk = cells.rule.low, cells.rule.high
        yield query, width(table, lattice.margins(release), cells=at_risk).width


def _smallest(cells: AtRiskCells, workers: Workers, progress: Progress) -> Ints:
    """The smallest margin count at an at-risk cell, by query."""
    lattice, stage = cells.lattice, message("critical widths")
    listed = ListedCells(cells.codes, cells.sizes, cells.counts, cells.size, lattice)
    if workers is None or workers == 1:
        return smallest_counts(listed, watch=lambda fraction: progress.report(stage, fraction))
    free, always = len(lattice.axes), np.zeros(1, dtype=np.int64)
    while free and len(always) < 1 << PIECES:
        free -= 1
        always = np.add.outer(always, np.array(lattice.patterns[free])).reshape(-1)
    work = partial(_piece, listed, free)
    pieces = spread(work, always.tolist(), workers=workers, progress=progress, stage=stage)
    return np.concatenate(pieces)


def _piece(cells: ListedCells, free: int, always: Query, progress: Progress) -> Ints:
    """All margins that agree with ``always`` on the variables beyond the first ``free``."""
    return smallest_counts(cells, always=always, free=free)
