"""Remedies for a mechanism that would not protect: other settings, tried beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import Suggestion
from tabprotect.languages.messages import message, percent

OTHERWISE = message("merge categories so that fewer cells are small, or take another method")
"""Advice where no setting that was tried helps."""


@dataclass(frozen=True)
class Remedy(Suggestion):
    """Other settings whose releases pass the gate more often.

    Its parameter ``cycles`` is the name of a template; parameters that it does not name stay.

    Attributes
    ----------
    chance
        The share that passed on synthetic tables with the same kept margins, from public data only.
    known
        The mean share of the expected at-risk cells that readers of those releases would know.
    """

    chance: float
    known: float

    @property
    def reached(self) -> str:
        return message(
            "passed on this table, and on {chance} of synthetic tables, where {known} of the small counts "
            "were known",
            percent(self.chance),
            percent(self.known),
        )

    def __str__(self) -> str:
        return message("{text} ({reached})", self.text, self.reached)


@dataclass(frozen=True)
class Mending(Suggestion):
    """Other settings to which the method has no objection; tried on the table itself.

    Attributes
    ----------
    whole
        Whether its release was judged whole; else it still takes a reason.
    """

    whole: bool = True

    @property
    def takes_reason(self) -> bool:
        return not self.whole

    @property
    def reached(self) -> str:
        if not self.whole:
            return message(
                "tried on this table: it meets the method's own criterion, and as far as it is "
                "judged the limits; it takes a reason"
            )
        return message("tried on this table: it meets the method's own criterion and the limits")

    def __str__(self) -> str:
        return message("{text} ({reached})", self.text, self.reached)


@dataclass(frozen=True, eq=False)
class Otherwise:
    """What takes the place of a method's default settings where these would not pass.

    Attributes
    ----------
    parameters
        What is set otherwise.
    expected : float64 (cells,)
        The count expected in each cell from the sums that both settings keep.
    sums : int64
        These sums.
    """

    parameters: Mapping[str, object]
    expected: Floats
    sums: Ints
