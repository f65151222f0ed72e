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


SILENT: Progress = Silent()
