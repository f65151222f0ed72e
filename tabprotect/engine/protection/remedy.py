"""What to do instead of a mechanism that would not protect: other settings, tried on the table."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.errors import Suggestion

OTHERWISE = "merge categories so that fewer cells are small, or take another method"
"""What to do where nothing that was tried helps."""


@dataclass(frozen=True)
class Remedy(Suggestion):
    """Other settings that would protect this table. Confidential, like every figure of a trial.

    Among its parameters ``cycles`` is the name of a template; what it does not name stays.

    Attributes
    ----------
    unchanged_share
        How likely a judged cell is still published unchanged, from trial runs.
    """

    unchanged_share: float

    @property
    def reached(self) -> str:
        return f"unchanged with probability {self.unchanged_share:.2f}"

    def __str__(self) -> str:
        return f"{self.text} ({self.reached})"
