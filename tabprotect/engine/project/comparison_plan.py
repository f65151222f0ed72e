"""Which methods are to be compared on the open table, how often, and by what."""

from __future__ import annotations

from dataclasses import dataclass

RUNS = 20
"""Runs of one setting until another number is chosen: that of the command line."""


@dataclass(frozen=True)
class ComparisonPlan:
    """A comparison that can be run. Nothing of it has left the house.

    Attributes
    ----------
    runs
        A method with one set of parameters each, as on the command line (``cell_key D=5 V=3``).
    runs_per_method
        Seeds for each of them.
    margins, groupings
        The published sub-tables as a formula, and groupings of categories for it; empty: what
        each method publishes.
    key, sensitive
        What an intruder knows and what they want to know; empty: the last variable is sensitive
        and the others are the key.
    """

    runs: tuple[str, ...] = ()
    runs_per_method: int = RUNS
    margins: str = ""
    groupings: str = ""
    key: tuple[str, ...] = ()
    sensitive: str = ""

    @property
    def names_cells(self) -> bool:
        """Whether it says itself what is compared and what an intruder knows."""
        return bool(self.margins or self.groupings or self.key or self.sensitive)
