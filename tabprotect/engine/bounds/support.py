"""The cells that released margins leave open: positive in every one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints
from tabprotect.engine.equal_rows import place_among, spread
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

SUPPORT_CELLS = 2_000_000
"""Most cells of a support; at that size a sweep of the shuttle takes seconds."""

MOST_ENTRIES = 160_000_000
"""Most cells times margins of a support: four bytes each."""


STAGE = message("cells left open")


@dataclass(frozen=True, eq=False)
class Support:
    """All cells that may hold anybody, and the released sums they enter.

    Attributes
    ----------
    domain
        The variables that occur in the margins.
    keys : int64 (cells,)
        Mixed-radix keys in ``domain``, ascending. All other cells are zero.
    sums : int32 (margins, cells)
        Number of the sum, over all margins, that each cell enters.
    totals : int64 (sums,)
    truth : int64 (cells,)
        The original counts: one table with these sums.
    """

    domain: Domain
    keys: Ints
    sums: npt.NDArray[np.int32]
    totals: Ints
    truth: Ints

    @property
    def rows(self) -> Ints:
        """The sums that each cell enters, int64 (cells, margins)."""
        return np.ascontiguousarray(self.sums.T, dtype=np.int64)

    @property
    def total(self) -> int:
        """The grand total."""
        return int(self.truth.sum())

    def positions(self, keys: Ints) -> Ints:
        """The places of the cells ``keys`` in the support; -1 for those known to be zero."""
        return place_among(self.keys, keys)

    @staticmethod
    def at(values: Ints, positions: Ints) -> Ints:
        """Values of the support at positions; 0 for cells outside it."""
        out = np.zeros(len(positions), dtype=np.int64)
        out[positions >= 0] = values[positions[positions >= 0]]
        return out

    def keeps(self, counts: Ints) -> bool:
        """Return True if a table of whole counts (cells,) has all the released sums: exact."""
        if len(counts) and int(counts.min()) < 0:
            return False
        found = np.zeros(len(self.totals), dtype=np.int64)
        for row in self.sums:
            np.add.at(found, row, counts)
        return bool((found == self.totals).all())


def support(
    table: Table,
    margins: MarginSet,
    *,
    most_cells: int = SUPPORT_CELLS,
    structure: Sequence[Table] = (),
    progress: Progress = SILENT,
) -> Support | None:
    """The support of margins that cover all variables of the table; ``None`` when too large.

    Parameters
    ----------
    table
        The original, or its margin over the variables of the release.
    margins
        The released ones, none contained in another.
    most_cells
        Most cells of the support.
    structure
        Tables that are 0 where no cell is possible, whatever the margins say.
    """
    domain = table.domain
    most_cells = min(most_cells, MOST_ENTRIES // max(1, len(margins)))
    released: dict[tuple[str, ...], Table] = {}
    for names in margins:
        progress.report(STAGE, 0.0)
        released[names] = table.margin(names)
    waiting = sorted(margins, key=lambda names: len(released[names].cells[0]))
    known: dict[str, Ints] = {}
    size = 1
    for possible in structure:
        joined = _join(known, size, possible, most_cells, progress)
        if joined is None:
            return None
        known, size = joined
    while waiting:
        progress.report(STAGE, 1 - len(waiting) / len(margins))
        # Margins over variables at hand only strike out cells; else the one that adds fewest.
        names = min(waiting, key=lambda m: np.prod([len(domain[n].categories) for n in m if n not in known]))
        waiting.remove(names)
        joined = _join(known, size, released[names], most_cells, progress)
        if joined is None:
            return None
        known, size = joined
    keys = np.zeros(size, dtype=np.int64)
    for variable in domain.variables:
        progress.report(STAGE, 1.0)
        keys *= len(variable.categories)
        keys += known.pop(variable.name)
    keys.sort()
    sums = np.empty((len(margins), size), dtype=np.int32)
    totals, offset = [], 0
    for row, names in zip(sums, margins, strict=True):
        progress.report(STAGE, 1.0)
        margin_keys, counts = released[names].cells
        row[:] = np.searchsorted(margin_keys, domain.project_keys(keys, names)) + offset
        totals.append(counts)
        offset += len(counts)
    return Support(domain, keys, sums, np.concatenate(totals), table.counts_at(keys))


def _join(
    known: dict[str, Ints], size: int, margin: Table, most_cells: int, progress: Progress
) -> tuple[dict[str, Ints], int] | None:
    """Cells over the variables at hand joined with a margin's positive cells."""
    keys = margin.cells[0]
    new: dict[str, Ints] = {}
    for variable in reversed(margin.domain.variables):
        keys, new[variable.name] = np.divmod(keys, len(variable.categories))
    left, right = np.zeros(size, dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    for variable in margin.domain.variables:
        if variable.name in known:
            left = left * len(variable.categories) + known[variable.name]
            right = right * len(variable.categories) + new[variable.name]
    order = np.argsort(right, kind="stable")
    right = right[order]
    first = np.searchsorted(right, left, side="left")
    repeats = np.searchsorted(right, left, side="right") - first
    joined = int(repeats.sum())
    if joined > most_cells:
        return None
    old = np.repeat(np.arange(size), repeats)
    progress.report(STAGE, 0.5)
    match = order[spread(first, repeats)]
    out: dict[str, Ints] = {}
    for name in known.keys() | new.keys():
        progress.report(STAGE, 0.5)
        out[name] = known[name][old] if name in known else new[name][match]
    return out, joined
