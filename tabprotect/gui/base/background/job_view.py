"""One running job as it is shown: its stage, how far it is, the time left, and the way to stop it."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QProgressBar, QWidget

from tabprotect.gui.base.background.jobs import Job
from tabprotect.gui.look.buttons import named, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate


def time_text(seconds: float | None) -> str:
    """Time left, for people."""
    if seconds is None:
        return ""
    if seconds < 1.0:
        return message("almost done")
    return (
        message("{seconds:.0f} s left", seconds)
        if seconds < 90
        else message("{seconds:.0f} min left", seconds / 60)
    )


class JobView(QWidget):
    """One job: stage, fraction, time left, cancel."""

    def __init__(self, job: Job) -> None:
        super().__init__(accessibleName=translate(job.label))
        self.job = job
        self._label = Label(job.label)
        self._label.setMinimumWidth(40 * GRID)
        self._bar = named(
            QProgressBar(maximum=1000, textVisible=False), message("Progress of: {label}", job.label)
        )
        self._bar.setFixedWidth(10 * GRID)
        self._bar.setMaximumHeight(12)
        self._bar.setRange(0, 0)
        self._cancel = tool_button(
            icons.icon("close"),
            self._stop,
            flat=True,
            name=message("Cancel: {label}", job.label),
            tip=message("Cancel (Esc)"),
        )
        in_row((self._label, 1), self._bar, self._cancel, on=self, margins=0)
        job.progressed.connect(self._show)

    @Slot(str, float, object)
    def _show(self, stage: str, fraction: float, partial: object) -> None:
        if fraction > 0:
            self._bar.setRange(0, 1000)
            self._bar.setValue(round(1000 * fraction))
        left = time_text(self.job.seconds_left)
        self._label.setText(translate(joined((p for p in (self.job.label, stage, left) if p), " \u00b7 ")))

    def _stop(self) -> None:
        self.job.cancel()
        self._label.setText(tr("{label} \u00b7 cancelling", self.job.label))
        self._cancel.setEnabled(False)
