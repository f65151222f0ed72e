"""Progress and cancellation of long work, independent of who watches."""

from __future__ import annotations

import math
from typing import Protocol

from tabprotect.engine.errors import Interrupted
from tabprotect.languages.messages import Forecast, message

LONG = 5.0
"""Seconds from which on it is said beforehand how long a stage takes."""

IN_MINUTES, SHORTEST = 600, 60
"""Seconds from which on minutes are said: at most, and at least."""


def foretold(stage: str, low: float, high: float) -> str:
    """A stage with the seconds that it takes, to one digit, or the minutes; alone below ``LONG``.

    What is said of the whole takes the place of what was said of a part.
    """
    if high < LONG:
        return stage
    least, most = (max(1, int(round(s, -math.floor(math.log10(max(s, 1.0)))))) for s in (low, high))
    unit = message("s")
    if most >= IN_MINUTES and least >= SHORTEST:
        least, most, unit = round(least / 60), round(most / 60), message("min")
    about = message("about {most:,} {unit}", most, unit)
    if least < most:
        about = message("about {least:,} to {most:,} {unit}", least, most, unit)
    return Forecast(stage.stage if isinstance(stage, Forecast) else stage, about)


class Progress(Protocol):
    """Receives reports of long work, and may cancel it.

    ``report`` may be called thousands of times; implementations throttle.
    """

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Report the stage, the fraction done in 0..1, and a partial result worth showing.

        Raises
        ------
        Interrupted
            If the user has cancelled.
        """


class Silent:
    """Progress that nobody watches and nobody cancels."""

    def __repr__(self) -> str:
        return "SILENT"

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Do nothing."""


class Cancellable:
    """Progress that only cancels: call :meth:`cancel` from any thread."""

    def __init__(self) -> None:
        self.cancelled = False

    def cancel(self) -> None:
        """Make the next report raise."""
        self.cancelled = True

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Raise ``Interrupted`` once cancelled."""
        if self.cancelled:
            raise Interrupted()


class PartialProgress:
    """The progress of one of several equal parts, as a share of the whole.

    Parameters
    ----------
    number, parts
        The number of the part, from 0, and how many there are.
    stage
        Reported in place of the part's own stages.
    known
        The partial result of every report, in place of the part's own: watchers may skip reports,
        so it must be in all of them.
    """

    def __init__(
        self, whole: Progress, number: int, parts: int, stage: str = "", known: object = None
    ) -> None:
        self._whole, self._number, self._parts = whole, number, parts
        self._stage, self._known = stage, known

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Pass on the fraction of the whole."""
        done = (self._number + fraction) / self._parts
        known = partial if self._known is None else self._known
        self._whole.report(self._stage or stage, done, known)


class Announced:
    """Progress that says with every stage how long all of it will take.

    Parameters
    ----------
    low, high
        Seconds of a usual core; where they are few nothing is said.
    """

    def __init__(self, progress: Progress, low: float, high: float) -> None:
        self._progress, self._low, self._high = progress, low, high

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Pass it on."""
        self._progress.report(foretold(stage, self._low, self._high), fraction, partial)


SILENT: Progress = Silent()
