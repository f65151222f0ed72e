"""The law of each true count by itself: its prior times the factors of that cell alone.

Cells under the same factors and the same prior share a *law*: a table of a million cells has a
few dozen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, log_weight
from tabprotect.languages.messages import message

MOST_COUNTS = 2**22
"""Most counts of one law."""


FAR = 45.0
"""A tail this far (in logs) below the peak is cut off: it weighs less than 1e-15."""


@dataclass(frozen=True, eq=False)
class CellLaws:
    """The laws of all cells of a table.

    Attributes
    ----------
    law_of_cell : int64 (cells,)
    cell : int64 (laws,)
        A cell under each law.
    kinds
        The factor kinds of each law.
    low, high : int64 (laws,)
        Possible counts (closed); ``high`` may be ``UNBOUNDED``.
    """

    likelihood: CellFactors
    prior: Prior
    law_of_cell: Ints
    cell: Ints
    kinds: tuple[tuple[int, ...], ...]
    low: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.cell)

    def log_weights(self, law: int, low: int, high: int) -> Floats:
        """Log weights of the counts low..high under a law, up to a constant; -inf is impossible.

        Raises
        ------
        InfeasibleError
            If there are too many counts.
        """
        if high - low >= MOST_COUNTS:
            raise InfeasibleError(
                message("the counts that {law} could have are too many to be weighed", self._named(law)),
                hint=message("take a prior that knows more about it"),
            )
        values = np.arange(low, high + 1, dtype=np.int64)
        logs = self.prior.log_weight(self.cell[law], values)
        for kind in self.kinds[law]:
            logs = logs + kind_logs(self.likelihood, kind, values)
        return logs

    def settled(self, law: int) -> tuple[int, Floats, bool]:
        """Return (lowest count, log weights from it on, whether a tail was cut off) of one law.

        Raises
        ------
        InfeasibleError
            If no count is possible, or the weights do not fall off.
        """
        low, high = int(self.low[law]), int(self.high[law])
        if high < UNBOUNDED:
            logs = self.log_weights(law, low, high)
            possible = np.flatnonzero(logs > -np.inf)
            if not len(possible):
                raise self.impossible(int(self.cell[law]))
            return low + int(possible[0]), logs[possible[0] : possible[-1] + 1], False
        width = 64
        while width <= MOST_COUNTS:
            logs = self.log_weights(law, low, low + width - 1)
            peak = logs.max()
            flat = logs[-1] > -np.inf and logs[-1] >= logs[width // 2]
            if peak > -np.inf and not flat and logs[-1] < peak - FAR:
                kept = np.flatnonzero(logs > peak - FAR)
                return low + int(kept[0]), logs[kept[0] : kept[-1] + 1], True
            if flat and logs[width // 2] == logs[-1] == peak:
                break
            width *= 4
        raise self.improper(int(self.cell[law]))

    def impossible(self, cell: int) -> InfeasibleError:
        """The error for a cell that has no possible count."""
        domain = self.likelihood.domain
        return InfeasibleError(
            message(
                "no true count of cell {cell} fits the release and the prior",
                domain.cell_text(domain.unflat(cell)),
            ),
            hint=message("check that table and mechanism belong together, or choose a wider prior"),
        )

    def improper(self, cell: int) -> InfeasibleError:
        """The error for a cell whose count nothing bounds."""
        domain = self.likelihood.domain
        return InfeasibleError(
            message(
                "neither the release nor the prior limits the true count of cell {cell}",
                domain.cell_text(domain.unflat(cell)),
            ),
            hint=message(
                "take a prior around expected counts (poisson:FILE, negative_binomial:FILE) or a "
                "table of weights (table:FILE)"
            ),
        )

    def _named(self, law: int) -> str:
        domain = self.likelihood.domain
        return message("cell {cell}", domain.cell_text(domain.unflat(int(self.cell[law]))))


def kind_logs(likelihood: CellFactors, kind: int, values: Ints) -> Floats:
    """Log weights of sums under a factor kind; -inf where it excludes them."""
    run = likelihood.logs[likelihood.log_starts[kind] : likelihood.log_starts[kind + 1]]
    return log_weight(values, int(likelihood.low[kind]), int(likelihood.high[kind]), run)


def cell_laws(likelihood: CellFactors, prior: Prior) -> CellLaws:
    """Group the cells by law. O(cells log cells).

    Raises
    ------
    InfeasibleError
        If some cell has no possible count.
    """
    size = likelihood.domain.size
    single = np.flatnonzero(np.diff(likelihood.starts) == 1)
    cells = likelihood.cells[likelihood.starts[single]]
    kinds = likelihood.kind[single]
    order = np.argsort(cells, kind="stable")
    cells, kinds = cells[order], kinds[order]
    begins = np.searchsorted(cells, cells)
    rank = np.arange(len(cells)) - begins
    alike = [prior.alike(np.arange(size, dtype=np.int64))]
    for turn in range(int(rank.max(initial=-1)) + 1):
        added = np.zeros(size, dtype=np.int64)
        added[cells[rank == turn]] = kinds[rank == turn] + 1
        alike.append(added)
    first, law_of_cell = equal_rows(alike)
    own = [
        tuple(kinds[a:b].tolist())
        for a, b in zip(
            np.searchsorted(cells, first, side="left").tolist(),
            np.searchsorted(cells, first, side="right").tolist(),
            strict=True,
        )
    ]
    low, high = prior.support(first)
    for law, mine in enumerate(own):
        for kind in mine:
            low[law] = max(low[law], likelihood.low[kind])
            high[law] = min(high[law], likelihood.high[kind])
    found = CellLaws(likelihood, prior, law_of_cell, first, tuple(own), low, high)
    impossible = np.flatnonzero(low > high)
    if len(impossible):
        raise found.impossible(int(first[impossible[0]]))
    return found
