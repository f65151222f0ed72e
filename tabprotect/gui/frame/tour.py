"""A guided tour of the window, told with the open table's own figures."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget

from tabprotect.gui.frame.window import Window
from tabprotect.gui.look.buttons import named, push_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import message, plural
from tabprotect.languages.translation import translate

Stop = tuple[QWidget, str]
"""What is shown, and what is said of it."""

WIDE = 40 * GRID
"""Pixels of the tour's card, in letters of the usual size."""


class Tour(QFrame):
    """A card that goes from one part of the window to the next; Esc ends it."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        named(self, message("Guided tour"), role="card")
        self.setAutoFillBackground(True)
        self.window_ = window
        self.stops = list(_stops(window))
        self.at = 0
        self.ring = _Ring(window)
        self.text = Label(wordWrap=True, name=message("Guided tour"))
        self.place = Label(role="quiet")
        self.back = push_button(message("Back"), lambda: self.go(self.at - 1), flat=True)
        self.on = push_button(message("Next"), lambda: self.go(self.at + 1))
        leave = push_button(message("End the tour"), self.leave, flat=True)
        row = in_row(self.place, 1, leave, self.back, self.on, margins=0, spacing=GRID)
        in_column(self.text, row, on=self, margins=2 * GRID, spacing=GRID)
        window.installEventFilter(self)
        window.document.project_changed.connect(self.leave)
        self.go(0)

    def go(self, at: int) -> None:
        """Go to a stop; behind the last one the tour ends."""
        if not 0 <= at < len(self.stops):
            self.leave()
            return
        self.at = at
        self.text.setText(self.stops[at][1])
        self.place.setText(translate(message("{n} of {all}", at + 1, len(self.stops))))
        self.back.setVisible(at > 0)
        self.on.setText(translate(message("Next") if at + 1 < len(self.stops) else message("Done")))
        self._lie()
        self.on.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave(self, *_: object) -> None:
        """End it, wherever it is."""
        self.window_.removeEventFilter(self)
        for part in (self.ring, self):
            part.hide()
            part.deleteLater()

    def _lie(self) -> None:
        """Lie beside what is shown, wholly inside the window."""
        window, shown = self.window_, self.stops[self.at][0]
        room = window.rect().adjusted(GRID, GRID, -GRID, -GRID)
        target = QRect(shown.mapTo(window, QPoint(0, 0)), shown.size()).intersected(window.rect())
        self.setFixedWidth(min(round(WIDE * THEME.scale), room.width()))
        self.adjustSize()
        own = self.rect()
        beside = (
            QPoint(target.right() + GRID, target.top()),
            QPoint(target.left() - own.width() - GRID, target.top()),
            QPoint(target.left(), target.bottom() + GRID),
            QPoint(target.left(), target.top() - own.height() - GRID),
        )
        free = (at for at in beside if room.contains(own.translated(at)))
        self.move(next(free, room.center() - own.center()))
        self.ring.setGeometry(target)
        for part in (self.ring, self):
            part.show()
            part.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._lie()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
            return
        super().keyPressEvent(event)


class _Ring(QWidget):
    """A frame around what is shown, which takes no mouse."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(QColor(THEME.colours.accent), 3))
        painter.drawRect(self.rect().adjusted(1, 1, -2, -2))


def _stops(window: Window) -> Iterator[Stop]:
    """The stops, as far as this view shows what they are about."""
    document, rail = window.document, window.rail.buttons
    project = document.project
    if project is None:
        yield (
            window.page,
            message("Open a file, or take an example. Begin the tour again beside your own table."),
        )
        return
    if document.in_house and not document.of_magnitudes:
        n = document.at_risk_cells
        yield (
            window.pages["table"],
            plural(
                n,
                "{cells} cells; {n} is small: {rule}. It is amber. F8 goes to it.",
                "{cells} cells; {n} are small: {rule}. They are amber. F8 goes from one to the next.",
                count_text(project.domain.size),
                count_text(n),
                project.at_risk.words,
            ),
        )
    if (panel := window.decision) is not None:
        yield (
            panel,
            message(
                "The gate: what readers would know, who comes closest, and what is still open. {said}",
                panel.sentence,
            )
            if document.has_release
            else message(
                "One way is proposed, with what it keeps, changes and leaves known. Nothing is changed yet."
            ),
        )
        if panel.main_button.isVisible():
            yield (
                panel.main_button,
                message(
                    "Ctrl+Enter presses this button: it is always the next step. Ctrl+Z takes a step back."
                ),
            )
    for name, words in (
        ("check", message("What readers can believe of every cell, alone and with other tables.")),
        ("register", message("What left the house, so that no table leaves twice unseen.")),
        ("query_space", message("Which margins of the table may leave together.")),
    ):
        if name in rail and rail[name].isVisible():
            yield rail[name], words
    yield window.statusBar(), message("Amber: confidential. F9 shows what readers will see, F9 goes back.")
    yield window.menuBar(), message("Ctrl+K finds every action, setting, cell and help text by its name.")
