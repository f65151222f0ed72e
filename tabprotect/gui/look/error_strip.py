"""Errors where they belong, and what was done unseen: a strip on the page, never a dialog."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton

from tabprotect.engine.errors import TabprotectError
from tabprotect.gui.look.after_press import AfterPress
from tabprotect.gui.look.buttons import connected, named, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, show_text
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import capital, joined, message
from tabprotect.languages.translation import tr, translate

_OPTIONS = re.compile(
    r": (?:(?:tabprotect|tabulate|record-keys|protect-set) [^;]*?)?--[^;]*?"
    r"(?=;|\.?$|, (?:and|or|und|oder) (?!--|=))| \(--[^()]*\)"
)


class ErrorStrip(QFrame):
    """Cause, place (a link), remedy (a button where there is one), details to unfold and copy.

    ``place_clicked`` carries the error, for the page to go there.
    """

    place_clicked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.error: TabprotectError | None = None
        self._asking = False
        self._remedy: Callable[[], object] | None = None
        self._other: Callable[[], object] | None = None
        self.setAccessibleName(tr("Error"))
        self._showing = AfterPress(self, self._appear)
        self._picture = Label()
        self._message = Label(wordWrap=True, selectable=True)
        self._place = named(
            QPushButton(flat=True),
            message("Go to the place of the error"),
            clicked=lambda: self.place_clicked.emit(self.error),
        )
        self._button = connected(QPushButton(), clicked=lambda: self._mend(self._remedy))
        self._second = connected(QPushButton(), clicked=lambda: self._mend(self._other))
        self._details = tool_button(
            message("Details"), checkable=True, flat=True, name=message("Show the details of the error")
        )
        self._copy = tool_button(message("Copy"), flat=True, name=message("Copy the error"))
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(translate(self.text)))
        self._close = tool_button(flat=True, name=message("Close the error"), run=self.clear)
        self._detail = named(QPlainTextEdit(readOnly=True), message("Details of the error"))
        self._detail.setMaximumHeight(18 * GRID)
        self._detail.hide()
        self._details.toggled.connect(self._detail.setVisible)
        # The place below the message: beside it, a long one in large letters leaves it no room.
        below = in_row(self._place, margins=0)
        below.addStretch(1)
        said = in_column(self._message, below, margins=0, spacing=0)
        row = in_row((self._picture, 0, Qt.AlignmentFlag.AlignTop), (said, 1), margins=0, spacing=GRID)
        for widget in (self._second, self._button, self._details, self._copy, self._close):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)
        in_column(row, self._detail, on=self, margins=GRID)
        THEME.follow(self, ErrorStrip._paint)
        self.hide()

    def show_error(
        self,
        error: TabprotectError,
        *,
        remedy_label: str = "",
        remedy: Callable[[], object] | None = None,
        other_label: str = "",
        other: Callable[[], object] | None = None,
        asking: bool = False,
    ) -> None:
        """Show an error, with buttons for what mends it where the page knows how.

        ``asking`` where nothing went wrong: it waits for a choice.
        """
        self.error, self._asking = error, asking
        self._remedy, self._other = remedy, other
        said = (_sentence(part) for part in (error.message, error.hint) if part)
        self._message.setText(translate(without_options(translate(joined(said, " ")))))
        show_text(self._place, error.place)
        self._button.setText(translate(remedy_label))
        self._button.setVisible(remedy is not None)
        self._second.setText(translate(other_label))
        self._second.setVisible(other is not None)
        self._detail.setPlainText(error.detail)
        self._details.setChecked(False)
        self._details.setVisible(bool(error.detail))
        self._copy.setVisible(not asking)
        self.setAccessibleName(translate(message("Question") if asking else message("Error")))
        self.setAccessibleDescription(translate(self._message.text()))
        self._showing.go()

    def _appear(self) -> None:
        if self._message.text():
            self.show()
            self._paint()

    def show_note(self, text: str) -> None:
        """Say what was done, where nothing else on the page shows it."""
        self.clear()
        self._message.setText(translate(text))
        for widget in (self._place, self._button, self._second, self._details, self._copy):
            widget.hide()
        self.setAccessibleName(tr("Done"))
        self.setAccessibleDescription(translate(text))
        self._showing.go()

    def clear(self) -> None:
        """Take the error away, and every word of it: it may quote counts and paths."""
        self.error = None
        self._remedy = self._other = None
        self._message.clear()
        self._place.setText("")
        self._button.setText("")
        self._second.setText("")
        self._detail.clear()
        self._details.setChecked(False)
        self.setAccessibleDescription("")
        self.hide()

    @property
    def text(self) -> str:
        """All that the strip says, for the clipboard."""
        if self.error is None:
            return ""
        parts = [str(self.error), self.error.hint, self.error.detail]
        return joined((part for part in parts if part), "\n")

    def _mend(self, remedy: Callable[[], object] | None) -> None:
        self.clear()
        if remedy is not None:
            remedy()

    def _paint(self) -> None:
        if self.isHidden():
            # Every page has one, and most say nothing.
            return
        c = THEME.colours
        done = self.error is None
        fill, ink, mark = c.error_fill, c.error, "cross"
        if done:
            fill, ink, mark = c.released_fill, c.released, "tick"
        elif self._asking:
            fill, ink, mark = c.at_risk_fill, c.at_risk, "warning"
        self.setStyleSheet(
            f"ErrorStrip {{ background: {fill}; border: 1px solid {ink};"
            f" border-radius: 4px; }} ErrorStrip QLabel {{ color: {c.text}; }}"
        )
        self._picture.setPixmap(icons.pixmap(mark, 20, colour=ink))
        self._close.setIcon(icons.icon("close"))


def without_options(text: str) -> str:
    """A remedy without what it says to whoever types: here stand fields and buttons."""
    return _OPTIONS.sub("", text)


def _sentence(text: str) -> str:
    """A cause or a remedy as a sentence; what begins with the name of a file keeps it as it is."""
    begun = text if "." in text.partition(" ")[0] else capital(text)
    return begun if begun.endswith((".", "?")) else f"{begun}."
