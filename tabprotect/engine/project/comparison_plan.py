"""The plan of a comparison on the open table: which methods, how many runs, which cells."""

from __future__ import annotations

from dataclasses import dataclass

RUNS = 20
"""The default number of runs of one setting, as on the command line."""


@dataclass(frozen=True)
class ComparisonPlan:
    """A comparison to be run. Nothing of it has left the house.

    Attributes
    ----------
    runs
        One method with one set of parameters each, as on the command line (``cell_key D=5 V=3``).
    runs_per_method
        The number of seeds for each run.
    margins, groupings
        The published sub-tables as a formula, and groupings of categories for it; empty: the
        sub-tables that each method publishes.
    key, sensitive
        The variables an intruder knows and the one they want to know; if empty, the last variable
        is sensitive and the others are the key.
    """

    runs: tuple[str, ...] = ()
    runs_per_method: int = RUNS
    margins: str = ""
    groupings: str = ""
    key: tuple[str, ...] = ()
    sensitive: str = ""

    @property
    def names_cells(self) -> bool:
        """True if it names the compared cells or the intruder's variables itself."""
        return bool(self.margins or self.groupings or self.key or self.sensitive)
