"""What is to be protected, and what is remembered of doing it. All of it confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tabprotect.engine.errors import InputError
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table


@dataclass(frozen=True)
class Problem:
    """An original table of counts and the rule that says which cells are at risk."""

    table: Table
    at_risk: SmallCount = field(default_factory=SmallCount)
    title: str = ""

    def __post_init__(self) -> None:
        if self.table.has_negative:
            keys, values = self.table.cells
            cell = self.table.domain.unflat(int(keys[values < 0][0]))
            raise InputError(
                "an original count is negative", cell=self.table.domain.cell_text(cell)
            )


@dataclass(frozen=True)
class Remedy:
    """Other settings that would protect this table: what, as parameters, and how well."""

    text: str
    parameters: Mapping[str, object]
    unchanged_share: float

    def __str__(self) -> str:
        return f"{self.text} (unchanged with probability {self.unchanged_share:.2f})"


@dataclass(frozen=True)
class Preview:
    """What a mechanism would do to this table, before any coin is flipped. Confidential.

    Attributes
    ----------
    at_risk_cells
        Number of at-risk cells.
    judged_cells
        Number of cells the probabilities below are averaged over: the at-risk cells, or all
        positive cells where none is at risk.
    unchanged_share
        Mean probability that a judged cell is published unchanged.
    blocked_share
        Expected share of the moves the coins ask for that are blocked.
    mean_absolute_deviation
        Expected |published - original| per judged cell.
    change
        Probability of each change of a judged cell (published - original).
    blocked_by_cycle
        The same by cycle, (cycles,).
    unchanged_by_cell
        Probability that each cell is unchanged, shape of the table.
    immovable
        Positive cells (index tuples) that no cycle of the set can move.
    runs
        Number of simulated runs behind the figures.
    weak
        Why the mechanism is refused on this table; empty when it is not.
    remedies
        What to do instead, tried on this table, best first.
    """

    at_risk_cells: int
    judged_cells: int
    unchanged_share: float
    blocked_share: float
    mean_absolute_deviation: float
    change: dict[int, float]
    blocked_by_cycle: npt.NDArray[np.float64]
    unchanged_by_cell: npt.NDArray[np.float64]
    immovable: list[tuple[int, ...]]
    runs: int
    weak: str
    remedies: tuple[Remedy, ...]


@dataclass(frozen=True)
class Record:
    """What the house keeps: the original, the seed, the coins, the decisions. Confidential.

    Attributes
    ----------
    coins : int8 (passes, cycles)
        What the coin said: +1 add, -1 subtract, 0 leave.
    effective : int8 (passes, cycles)
        What was done: 0 also where the step was blocked.
    blocked : bool (passes, cycles)
        Steps that no coin could have taken (any_zero), or whose coin was refused (negative).
    decisions
        Explicit decisions, for example to accept a weak mechanism.
    """

    problem: Problem
    seed: int = field(repr=False)
    seed_given: bool
    coins: npt.NDArray[np.int8]
    effective: npt.NDArray[np.int8]
    blocked: npt.NDArray[np.bool_]
    preview: Preview
    decisions: tuple[str, ...] = ()

    @property
    def blocked_share(self) -> float:
        """Share of the moves the coins asked for that were blocked in this run."""
        asked = int((self.coins != 0).sum())
        return float(((self.coins != 0) & (self.effective == 0)).sum() / asked) if asked else 0.0


@dataclass(frozen=True)
class Protected:
    """The result of protecting: what may leave the house, and what may not."""

    release: Release
    record: Record
