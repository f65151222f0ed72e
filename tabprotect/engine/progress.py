"""Progress and cancellation of long work, without knowing who watches."""

from __future__ import annotations

from typing import Protocol

from tabprotect.engine.errors import Interrupted


class Progress(Protocol):
    """What long work reports to, and asks whether to go on.

    ``report`` may be called thousands of times; whoever implements it throttles.
    """

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Say the stage, the fraction done in 0..1, and a partial result worth showing.

        Raises
        ------
        Interrupted
            When the user has cancelled.
        """


class Silent:
    """Progress that nobody watches and nobody cancels."""

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


class Part:
    """The progress of one part of several alike, as a share of all.

    Parameters
    ----------
    number, parts
        Which part it is, from 0 up, and of how many.
    stage
        What is said in place of the part's own stages.
    known
        The partial result of every report, in place of the part's own: whoever watches may skip
        reports, so none is the only one with it.
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


SILENT: Progress = Silent()
