"""Critical widths: how tight each sub-table alone makes the bounds of the at-risk cells.

The most parsimonious release of a sub-table T is T with the one-way tables of all other
variables. It is decomposable, so its bounds are a closed form and sharp; the critical width of T
is the smallest upper minus lower bound of an at-risk cell. It never grows with T.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 4 and equation 10 with its maximum read as
the minimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.at_risk import AtRiskCells, Ints
from tabprotect.engine.query_space.lattice import Lattice, Query, bits
from tabprotect.engine.query_space.margin_minima import Node, branch, drop, root
from tabprotect.engine.query_space.workers import Workers, spread

MAX_LISTED = 20
"""Variables up to which every sub-table is listed; beyond, ask for those above a threshold."""

PIECES = 6
"""The lattice is cut into 2^6 pieces: enough to share out, and to cancel in between."""


@dataclass(frozen=True)
class Widths:
    """The critical width of every sub-table. Confidential.

    Attributes
    ----------
    values : int64 (2^K,)
        By query.
    smallest : int64 (2^K,)
        The smallest count of each margin at an at-risk cell: no release that contains the
        margin can have a larger width.
    """

    lattice: Lattice
    values: Ints
    smallest: Ints

    def __getitem__(self, query: Query) -> int:
        return int(self.values[query])

    def ordered(self) -> list[Query]:
        """Widest first, then larger sub-tables, then the variables' order."""
        return sorted(
            range(len(self.values)),
            key=lambda q: (-int(self.values[q]), -q.bit_count(), tuple(bits(q))),
        )

    def chain(self) -> list[Query]:
        """The most dangerous chain, from the grand total to the table: each step adds the
        variable that leaves the smallest width (the first such in the table's order)."""
        out = [0]
        while out[-1] != self.lattice.full:
            out.append(min(self.lattice.above(out[-1]), key=lambda q: int(self.values[q])))
        return out

    def as_json(self) -> dict[str, object]:
        """For ``widths --json``: variables, and widths keyed by names."""
        return {
            "variables": list(self.lattice.names),
            "widths": {self.lattice.text(q): int(self.values[q]) for q in self.ordered()},
        }


def critical_widths(
    cells: AtRiskCells, *, workers: Workers = None, progress: Progress = SILENT
) -> Widths:
    """All ``2^K`` critical widths.

    Raises
    ------
    InputError
        For more than ``MAX_LISTED`` variables.
    Interrupted
        When cancelled.
    """
    lattice = cells.lattice
    if lattice.variables > MAX_LISTED:
        raise InputError(
            f"{lattice.variables} variables have {1 << lattice.variables:,} sub-tables: "
            "too many to list",
            hint=f"take a margin over at most {MAX_LISTED} variables",
        )
    smallest, largest = _extremes(cells, workers, progress)
    values = smallest.copy()
    ceiling = largest.copy()
    every = np.arange(1 << lattice.variables, dtype=np.int64)
    for v in range(lattice.variables):
        outside = (every >> v) & 1 == 0
        values[outside] = np.minimum(values[outside], smallest[1 << v])
        ceiling[outside] += largest[1 << v] - cells.total
    # Lower bounds above zero are rare: only where even the largest counts could give one.
    for query in np.flatnonzero(ceiling > 0):
        values[query] = int(parsimonious_widths(cells, int(query)).min())
    values.flags.writeable = smallest.flags.writeable = False
    return Widths(lattice, values, smallest)


def parsimonious_widths(cells: AtRiskCells, query: Query) -> Ints:
    """Upper minus lower bound of each at-risk cell (m,) under the most parsimonious release."""
    upper = cells.counts_at(query)
    lower = upper
    for v in bits(cells.lattice.full & ~query):
        single = cells.counts_at(1 << v)
        lower = lower + (single - cells.total)
        upper = np.minimum(upper, single)
    return upper - np.maximum(lower, 0)


def wide_enough(
    cells: AtRiskCells, beta: int, *, progress: Progress = SILENT
) -> Iterator[tuple[Query, int]]:
    """Every sub-table of critical width >= beta with its width, level by level.

    Widths never grow with the sub-table, so only those are looked at whose every sub-table of
    one variable less passed: for lattices too large to list.
    """
    passed = [0] if int(parsimonious_widths(cells, 0).min()) >= beta else []
    if passed:
        yield 0, int(parsimonious_widths(cells, 0).min())
    for dimension in range(1, cells.lattice.variables + 1):
        before = set(passed)
        passed = []
        for done, query in enumerate(before):
            progress.report(f"sub-tables of {dimension} variables", done / len(before))
            top = query.bit_length()
            for v in range(top, cells.lattice.variables):
                larger = query | 1 << v
                if all(smaller in before for smaller in cells.lattice.below(larger)):
                    width = int(parsimonious_widths(cells, larger).min())
                    if width >= beta:
                        passed.append(larger)
                        yield larger, width
        if not passed:
            return


def _extremes(cells: AtRiskCells, workers: Workers, progress: Progress) -> tuple[Ints, Ints]:
    """Smallest and largest margin count at the at-risk cells, by query."""
    sizes = cells.table.domain.shape
    variables = len(sizes)
    # Dropping the variables with most categories first leaves the least to do below.
    order = sorted(range(variables), key=lambda v: -sizes[v])
    whole = root(cells.codes[order], [sizes[v] for v in order], cells.counts, cells.size)
    split = min(PIECES, variables)
    results = spread(
        partial(_piece, whole, split),
        range(1 << split),
        workers,
        progress,
        "critical widths",
    )
    smallest = np.empty(1 << variables, dtype=np.int64)
    largest = np.empty(1 << variables, dtype=np.int64)
    rest = np.arange(1 << (variables - split), dtype=np.int64)
    for piece, (low, high) in enumerate(results):
        dropped = np.zeros(len(rest), dtype=np.int64)
        for place, v in enumerate(order):
            if place < split:
                dropped |= (piece >> place & 1) << v
            else:
                dropped |= (rest >> (place - split) & 1) << v
        queries = (1 << variables) - 1 - dropped
        smallest[queries], largest[queries] = low, high
    return smallest, largest


def _piece(whole: Node, split: int, dropped: int) -> tuple[Ints, Ints]:
    """All margins without exactly those of the first ``split`` variables in ``dropped``."""
    node = whole
    for place in reversed(range(split)):
        if dropped >> place & 1:
            node = drop(node, place)
    return branch(node, split - dropped.bit_count())
