"""Sums as they leave the house: values, what is hidden, and the method in words. Public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.magnitudes.tables.axis import Axis, cell_at
from tabprotect.engine.tables.cube import in_units
from tabprotect.engine.tables.variable import Variable

HIDDEN = "hidden"
"""The status of a sum that is not published; why it is hidden is never told."""


@dataclass(frozen=True)
class SumsGate:
    """What a release of sums was judged by, and what came of it. Public.

    Attributes
    ----------
    within
        How near a guess of a contribution comes that counts, in percent of it.
    belief_limit
        The probability of such a guess above which a contribution is known.
    passed
        ``None`` where it was not judged whole.
    left_out
        The kinds of what was not judged.
    reason
        Whether there is a reason for what is beyond the limits or was not judged.
    """

    within: float
    belief_limit: float
    passed: bool | None = True
    left_out: tuple[str, ...] = ()
    reason: bool = False


@dataclass(frozen=True, eq=False)
class ReleasedSums:
    """A published magnitude table: nothing in it tells primaries from secondaries.

    Attributes
    ----------
    variables
    measure
    decimals
        Values are whole numbers of units of 10^-decimals.
    key : int64 (cells,)
        The cells with records, rising, in mixed radix over the nodes of the variables' axes.
    value : int64 (cells,)
        0 where hidden.
    hidden : bool (cells,)
    method
    parameters
        Of the method, those that are public; the rules' are not.
    title
    weighted
        Whether contributors stand for others, who are not in the records.
    gate
        ``None`` before it is judged.
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
    method: str
    parameters: Mapping[str, float | str | bool]
    title: str = ""
    weighted: bool = False
    gate: SumsGate | None = None
    units: Ints | None = None
    means: Ints | None = None

    @cached_property
    def beside(self) -> dict[str, Ints]:
        """What is published beside the sums, by column."""
        every = {"n": self.units, "mean": self.means}
        return {name: column for name, column in every.items() if column is not None}

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The variables as axes."""
        return tuple(map(Axis, self.variables))

    @cached_property
    def nodes(self) -> Ints:
        """The node of each cell on each axis, int64 (variables, cells)."""
        sizes = tuple(axis.size for axis in self.axes)
        return np.array(np.unravel_index(self.key, sizes), dtype=np.int64)

    def at_nodes(self, nodes: Sequence[int]) -> int | None:
        """The cell at a node of each axis; ``None`` for one that everybody knows to be 0."""
        return cell_at(self.key, self.axes, nodes)

    def index(self, number: int) -> dict[str, str]:
        """A cell by its variables, levels as ``variable@level``."""
        return dict(axis.key(int(node)) for axis, node in zip(self.axes, self.nodes[:, number], strict=True))

    def written(self, number: int) -> str:
        """A value as the public table has it; empty where hidden."""
        return "" if self.hidden[number] else self.text(int(self.value[number]))

    def figures(self, number: int) -> list[str]:
        """What is published beside a sum, in the order of the columns; empty where it is hidden."""
        if self.hidden[number]:
            return [""] * len(self.beside)
        every = {name: int(column[number]) for name, column in self.beside.items()}
        return [str(n) if name == "n" else self.text(n) for name, n in every.items()]

    def text(self, value: int) -> str:
        """A value in the unit of the measure, with its decimals."""
        return in_units(value, self.decimals)
