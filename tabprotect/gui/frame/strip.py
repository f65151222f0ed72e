"""The confidentiality strip: what the window shows, in one word; the running jobs behind a button."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolButton

from tabprotect.gui.base.background.job_view import JobView
from tabprotect.gui.base.background.jobs import Job, Jobs
from tabprotect.gui.look.buttons import connected, named
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import ElidedLabel, Label, tip
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

DELAY = 200
"""Milliseconds until a job is shown."""


class JobsButton(QToolButton):
    """A button with the number of jobs; pressed, a list of them comes up, each with its way to cancel."""

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self.views: dict[Job, JobView] = {}
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.list = named(
            QFrame(self, Qt.WindowType.Popup, frameShape=QFrame.Shape.StyledPanel), message("Running work")
        )
        self._column = in_column(on=self.list, margins=GRID, spacing=GRID // 2)
        # What is done at once does not flash by.
        self._soon = connected(QTimer(self, singleShot=True, interval=DELAY), timeout=self._tell)
        self.clicked.connect(self.open)
        connected(jobs, started=self._add, ended=self._remove)
        self.hide()

    def open(self) -> None:
        """Show the list above the button."""
        # The strip's ink is for the strip's ground.
        self.list.setStyleSheet(f"QLabel {{ color: {THEME.colours.text}; }}")
        self.list.adjustSize()
        corner = self.mapToGlobal(self.rect().topRight())
        self.list.move(corner.x() - self.list.width(), corner.y() - self.list.height() - 4)
        self.list.show()
        self.list.setFocus()

    @Slot()
    def _tell(self) -> None:
        number = len(self.views)
        words = message("{number} running", number)
        self.setText(translate(words))
        self.setAccessibleName(tr("{words}: show what runs", words))
        self.setToolTip(tip(joined((job.label for job in self.views), "; ")))
        self.setVisible(number > 0)
        self.list.adjustSize()
        if not number:
            self.list.hide()

    @Slot(object)
    def _add(self, job: Job) -> None:
        self.views[job] = JobView(job)
        self._column.addWidget(self.views[job])
        if self.isVisible():
            self._tell()
        elif not self._soon.isActive():
            self._soon.start()

    @Slot(object)
    def _remove(self, job: Job) -> None:
        if (view := self.views.pop(job, None)) is not None:
            self._column.removeWidget(view)
            view.hide()
            view.deleteLater()
            if self.isVisible() or not self.views:
                self._soon.stop()
                self._tell()


class Strip(QFrame):
    """CONFIDENTIAL or PUBLIC VIEW, the facts beside it, and at the right one button for the jobs."""

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self.confidential: bool | None = None
        self._painted = ("", "")
        self.setAccessibleName(tr("Confidentiality"))
        self._picture = Label()
        self._word = Label(name=message("Confidentiality of what is shown"))
        self._facts = ElidedLabel(name=message("Facts"))
        self._facts.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.jobs = JobsButton(jobs)
        self._tag = QFrame()
        self._tag.setObjectName("tag")
        in_row(*(self._picture, self._word), on=self._tag, margins=(2 * GRID, 0, 2 * GRID, 0), spacing=GRID)
        self._row = in_row(
            self._tag, (self._facts, 1), self.jobs, on=self, margins=(0, 0, GRID, 0), spacing=GRID + 4
        )
        self.setMinimumHeight(28)
        THEME.changed.connect(self._paint)

    def show_state(self, confidential: bool | None, facts: str) -> None:
        """``None`` when nothing is open."""
        # Words alone begin where those of the pages do.
        self._row.setContentsMargins(2 * GRID if confidential is None else 0, 0, GRID, 0)
        self.confidential = confidential
        words = {True: message("CONFIDENTIAL"), False: message("PUBLIC VIEW"), None: ""}
        self._word.setText(translate(words[confidential]))
        self._facts.setText(translate(facts))
        self._facts.setToolTip(tip(facts))
        self.setAccessibleDescription(tr("{words} \u2502 {facts}", words[confidential], facts))
        self._paint()

    @property
    def word(self) -> str:
        """Say what it says."""
        return self._word.text()

    @property
    def facts(self) -> str:
        """Say what it says beside the word."""
        return self._facts.text()

    def colours(self) -> tuple[str, str]:
        """Ground and text of the tag."""
        c = THEME.colours
        if self.confidential is None:
            return c.raised, c.text
        if self.confidential:
            return c.confidential, c.on_confidential
        return c.public, c.on_public

    def _paint(self) -> None:
        (ground, ink), c = self.colours(), THEME.colours
        if (ground, ink) == self._painted:
            return
        self._painted = ground, ink
        self.setStyleSheet(
            f"Strip {{ background: {c.raised}; }}"
            f" Strip QLabel {{ color: {c.text}; }}"
            f" Strip #tag {{ background: {ground}; }} Strip #tag QLabel {{ color: {ink}; }}"
            f" Strip JobsButton {{ color: {c.text}; background: transparent; padding: 2px 8px;"
            f" border: 1px solid {c.border}; border-radius: 4px; }}"
            f" Strip JobsButton:focus {{ border: 2px solid {c.focus}; padding: 1px 7px; }}"
        )
        font = self._word.font()
        font.setBold(True)
        self._word.setFont(font)
        self._tag.setVisible(self.confidential is not None)
        self._picture.setPixmap(icons.pixmap("shield" if self.confidential else "open-eye", 18, colour=ink))
