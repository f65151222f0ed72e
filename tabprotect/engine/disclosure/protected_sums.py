"""A magnitude table with what was chosen for it, and what a run gave, as a project keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tabprotect.engine.arrays import Bools
from tabprotect.engine.disclosure.magnitude_verdict import MagnitudeVerdict
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums


@dataclass(frozen=True, eq=False)
class ProtectedSums:
    """A release of sums with what only the house knows of it. Confidential.

    Attributes
    ----------
    release
        What readers get.
    verdict
        With what was tried with the contributions.
    primary : bool (cells,)
        The sums that are hidden because they are unsafe; the other hidden ones protect these.
    figures
        For programs, and for the dossier.
    decisions
        Taken against the program's advice.
    """

    release: ReleasedSums
    verdict: MagnitudeVerdict
    primary: Bools = field(repr=False)
    figures: Mapping[str, object] = field(repr=False)
    decisions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ChosenSums:
    """A magnitude table, the rules that judge it, and the result of the last run. Confidential.

    Attributes
    ----------
    table
    rules
        As they are written: ``p=10``.
    weights
        How weights are read.
    like
        Last year's bundle; empty for none.
    protected
        ``None`` before a run, and after a change.
    """

    table: MagnitudeTable = field(repr=False)
    rules: tuple[str, ...] = field(default=(), repr=False)
    weights: str = "sample"
    like: str = ""
    protected: ProtectedSums | None = None

    def without_result(self) -> ChosenSums:
        """Without the result, which does not belong to changed choices."""
        return self if self.protected is None else replace(self, protected=None)
