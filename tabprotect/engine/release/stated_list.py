"""A list of settings that are tried one after the other, with the chance to begin at each. Public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.plain_values.decoding import AsWritten
from tabprotect.engine.release.limits import ROUNDING
from tabprotect.languages.messages import message

KEY = "list"
"""The name under which a gate states it."""


@dataclass(frozen=True)
class StatedList(AsWritten):
    """Settings of which one is drawn after the other until a draw passes, the first by chance.

    With q_k(x) the chance that a draw of entry k from an original x is refused, what leaves by entry k
    weighs x by W_k = s_k + q_{k-1} W_{k-1}, which is between s_k and S_k = s_1 + .. + s_k: no odds
    move by more than a factor of S_k / s_k, and nothing is ruled out.

    Attributes
    ----------
    entries
        What is set otherwise in each than in the first.
    start
        The chance s_k to begin at each.
    entry
        The one whose draw passed, from 1; 0 where none did. Where it began is told nowhere.
    """

    entries: tuple[Mapping[str, object], ...]
    start: tuple[float, ...]
    entry: int = 0
    key = KEY

    def __post_init__(self) -> None:
        fine = len(self.entries) == len(self.start) >= 2 and min(self.start) > 0
        if not fine or abs(sum(self.start) - 1.0) > ROUNDING or not 0 <= self.entry <= len(self.entries):
            raise ParameterError({KEY: message("is not a list of settings with the chance to begin at each")})

    @property
    def factor(self) -> float:
        """The factor by which it moves any odds at most."""
        at = self.entry
        return sum(self.start[:at]) / self.start[at - 1] if at else 1.0

    @property
    def sentence(self) -> str:
        """What it tells, in words."""
        return message(
            "This is entry {entry} of a stated list of {number} settings, begun at one of them by "
            "chance: that others may have been refused moves no odds by more than a factor of "
            "{factor:.3g}.",
            self.entry,
            len(self.entries),
            self.factor,
        )
