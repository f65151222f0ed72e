"""What to do instead of a mechanism that would not protect: other settings, tried on the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OTHERWISE = "merge categories so that fewer cells are small, or take another method"
"""What to do where nothing that was tried helps."""


@dataclass(frozen=True)
class Remedy:
    """Other settings that would protect this table. Confidential, like every figure of a trial.

    Attributes
    ----------
    text
        What it does, in a few words.
    parameters
        What it sets; ``cycles`` is the name of a template. The others stay as they are.
    unchanged_share
        How likely a judged cell is still published unchanged, from trial runs.
    """

    text: str
    parameters: Mapping[str, object]
    unchanged_share: float

    @property
    def reached(self) -> str:
        """How well it protects, in words."""
        return f"unchanged with probability {self.unchanged_share:.2f}"

    def __str__(self) -> str:
        return f"{self.text} ({self.reached})"
