"""What is chosen and planned on the open table: rules, margins to release, methods to compare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.project.options import WeightsReading
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet, maximal_margins
from tabprotect.engine.ways_to_bound import BoundsWay


@dataclass(frozen=True, eq=False)
class ChosenMagnitudes:
    """A magnitude table and the rules that judge it. Confidential.

    Attributes
    ----------
    table
    rules
        As they are written: ``p=10``.
    weights
        How weights are read.
    like
        Last year's bundle; empty for none.
    """

    table: MagnitudeTable = field(repr=False)
    rules: tuple[str, ...] = field(default=(), repr=False)
    weights: WeightsReading = "sample"
    like: str = ""


@dataclass(frozen=True)
class ReleasePlan:
    """The margins planned for release. Nothing of it has left the house.

    Attributes
    ----------
    margins
        The released frontier by variable names, in the order of release.
    threshold
        Beta: a release is allowed if the criterion's figure is proved to be at least this.
    criterion, bounds
        The names of the risk criterion and of the method for bounds, as in the query space.
    """

    margins: MarginSet = ()
    threshold: int = 3
    criterion: str = "width"
    bounds: BoundsWay = "auto"

    def with_margin(self, domain: Domain, margin: Iterable[str]) -> MarginSet:
        """The margins with one more added, without those inside another one."""
        names = domain.project(margin).names
        kept = set(maximal_margins(domain, (*self.margins, names)))
        return tuple(m for m in (*self.margins, names) if m in kept)

    def fits(self, domain: Domain) -> bool:
        """Return True if every margin is over variables of the table, in its order."""
        known = set(domain.known_names)
        return all(known.issuperset(m) and domain.project(m).names == m for m in self.margins)


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
