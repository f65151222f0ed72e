"""One number of the population that a table is of, given releases, with an interval."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.languages.messages import message

LEVEL = 0.95
"""Probability of an interval, if no other is asked for."""


def tails(level: float) -> list[float]:
    """The probabilities below an interval's lower end, its middle and its upper end.

    Raises
    ------
    ParameterError
        When the level is no probability.
    """
    if not 0.0 < level < 1.0:
        raise ParameterError({"level": message("must lie between 0 and 1, is {level}", level)})
    return [(1 - level) / 2, 0.5, (1 + level) / 2]


@dataclass(frozen=True)
class Estimate(Encodable, ABC):
    """An estimate given releases, and what the published counts taken as true would have said.

    Attributes
    ----------
    given
        The interval's lower end, the estimate, and its upper end; ``None`` where the draws are too few.
    taken
        The same three with the published table taken as true; ``None`` where a count is missing.
    level
        The probability of the interval.
    effective
        What the draws that it rests on are worth, as independent ones.
    """

    given: Sequence[float] | None
    taken: Sequence[float] | None
    level: float
    effective: float
    json_keys = "estimate interval level published published_interval effective note"

    @property
    @abstractmethod
    def name(self) -> str:
        """Say what is estimated, in words."""

    @property
    @abstractmethod
    def note(self) -> str:
        """Say what the figures lack, in words; empty for nothing."""

    @property
    def estimate(self) -> float | None:
        """Between the interval's ends; ``None`` where the draws are too few."""
        return None if self.given is None else self.given[1]

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the interval of the population's value, given the releases."""
        return None if self.given is None else (self.given[0], self.given[2])

    @property
    def published(self) -> float | None:
        """The estimate with the published table taken as true; ``None`` where a count is missing."""
        return None if self.taken is None else self.taken[1]

    @property
    def published_interval(self) -> tuple[float, float] | None:
        """The interval that goes with it, which covers too rarely."""
        return None if self.taken is None else (self.taken[0], self.taken[2])

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        """The same as text."""
        if self.given is None:
            out = [f"{self.name}: {self.note}"]
        else:
            low, middle, high = self.given
            out = [
                message(
                    "{name}: {estimate:.3f} ({level:.0f} % interval {low:.3f} to {high:.3f})",
                    self.name,
                    middle,
                    100 * self.level,
                    low,
                    high,
                )
            ]
        if self.taken is not None:
            low, middle, high = self.taken
            out.append(
                message(
                    "With the published counts taken as true it would be {value:.3f} ({low:.3f} to "
                    "{high:.3f}).",
                    middle,
                    low,
                    high,
                )
            )
        return out if self.given is None or not self.note else [*out, self.note]
