"""A table of magnitudes as it leaves the house: its values, what is hidden, what stands beside. Public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.tables.cube import in_units
from tabprotect.engine.tables.table import INT64_MAX
from tabprotect.engine.tables.variable import Variable, cell_at

PLACES = 6
"""Most decimals of a measure that are kept."""

BESIDE = ("n", "mean")
"""What may be published beside sums, by the names of its columns."""

MOST_EMPTY = 200_000
"""Up to this many cells, with those without records, all are listed."""


def numbers_between(total: int, mean: int) -> tuple[int, int]:
    """The least and the most numbers of contributors of a sum with this mean, halves rounded away from 0.

    The most is ``INT64_MAX`` where there is no end.
    """
    total, mean = abs(total), abs(mean)
    # mean - 1/2 <= total / n < mean + 1/2.
    return 2 * total // (2 * mean + 1) + 1, 2 * total // (2 * mean - 1) if mean else INT64_MAX


@dataclass(frozen=True, eq=False)
class PublishedMagnitudes:
    """A published magnitude table: nothing in it tells primaries from secondaries.

    Attributes
    ----------
    variables
    measure
        What is summed.
    decimals
        Values are whole numbers of units of 10^-decimals.
    key : int64 (cells,)
        The cells with records, rising, in mixed radix over the nodes of the variables.
    value : int64 (cells,)
        0 where hidden.
    hidden : bool (cells,)
    weighted
        Whether contributors stand for others, who are not in the records.
    units, means : int64 (cells,)
        How many contribute, and the means in units of 10^-decimals, where they are published;
        ``None`` where they are not.
    """

    variables: tuple[Variable, ...]
    measure: str
    decimals: int
    key: Ints
    value: Ints
    hidden: Bools
    weighted: bool = False
    units: Ints | None = None
    means: Ints | None = None

    @cached_property
    def beside(self) -> dict[str, Ints]:
        """Return what is published beside the values, by column."""
        every = {"n": self.units, "mean": self.means}
        return {name: column for name, column in every.items() if column is not None}

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of nodes of each variable."""
        return tuple(len(variable.nodes) for variable in self.variables)

    @cached_property
    def nodes(self) -> Ints:
        """The node of each cell, by variable, int64 (variables, cells)."""
        return np.array(np.unravel_index(self.key, self.shape), dtype=np.int64)

    def at_nodes(self, nodes: Sequence[int]) -> int | None:
        """The cell at a node of each variable; ``None`` for one that everybody knows to be 0."""
        return cell_at(self.key, self.variables, nodes)

    @cached_property
    def numbers(self) -> tuple[Ints, Ints]:
        """The least and the most records that each cell can be of, by what is published of it, int64 (cells,).

        At least one, as every cell that is listed has records; ``INT64_MAX`` where nothing bounds them.
        """
        least, most = np.ones_like(self.key), np.full_like(self.key, INT64_MAX)
        shown = np.flatnonzero(~self.hidden)
        if self.units is not None:
            least[shown] = most[shown] = self.units[shown]
        elif self.means is not None:
            for cell in shown.tolist():
                least[cell], most[cell] = numbers_between(int(self.value[cell]), int(self.means[cell]))
        return least, most

    def index(self, number: int) -> dict[str, str]:
        """A cell by its variables, levels as ``variable@level``."""
        return dict(
            variable.entries[int(node)]
            for variable, node in zip(self.variables, self.nodes[:, number], strict=True)
        )

    def written(self, number: int) -> str:
        """A value as the public table has it; empty where hidden."""
        return "" if self.hidden[number] else self.text(int(self.value[number]))

    def figures(self, number: int) -> list[str]:
        """Return what is published beside a value, in the order of the columns; empty where it is hidden."""
        if self.hidden[number]:
            return [""] * len(self.beside)
        every = {name: int(column[number]) for name, column in self.beside.items()}
        return [str(n) if name == "n" else self.text(n) for name, n in every.items()]

    def text(self, value: int) -> str:
        """A value in the unit of the measure, with its decimals."""
        return in_units(value, self.decimals)
