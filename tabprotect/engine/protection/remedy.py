"""What to do instead of a mechanism that would not protect: other settings, tried beforehand."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.errors import Suggestion
from tabprotect.engine.percent import percent
from tabprotect.languages.said import say

OTHERWISE = say("merge categories so that fewer cells are small, or take another method")
"""What to do where nothing that was tried helps."""


@dataclass(frozen=True)
class Remedy(Suggestion):
    """Other settings whose releases pass the gate more often.

    Among its parameters ``cycles`` is the name of a template; what it does not name stays.

    Attributes
    ----------
    chance
        How often they passed on synthetic tables with the same kept margins: public things only.
    known
        The share of the expected at-risk cells that readers of those would know, on average.
    """

    chance: float
    known: float

    @property
    def reached(self) -> str:
        return say(
            "passed on {chance} of synthetic tables, where {known} of the at-risk cells were known",
            chance=percent(self.chance),
            known=percent(self.known),
        )

    def __str__(self) -> str:
        return say("{text} ({reached})", text=self.text, reached=self.reached)


@dataclass(frozen=True)
class Mending(Suggestion):
    """Other settings with which the method itself objects no more; tried on the very table."""

    @property
    def reached(self) -> str:
        return say("tried on this table: it meets the method's own criterion and the limits")

    def __str__(self) -> str:
        return say("{text} ({reached})", text=self.text, reached=self.reached)
