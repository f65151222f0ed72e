"""The river at the left: the stages in order, what each still needs, how many problems it has."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import Stage
from tabprotect.gui.look import icons
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.theme import GRID, THEME, colour


class StageButton(QToolButton):
    """One stage: number, icon, label, badge. Focusable even where it cannot be used yet."""

    focused = Signal(str)

    def __init__(self, number: int, page: type[Stage]) -> None:
        super().__init__()
        self.page = page
        self.number = number
        self.why = ""
        self.badge = 0
        self.setCheckable(True)
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{number} {page.label}")

    def sizeHint(self) -> QSize:
        font = self.font()
        font.setBold(True)
        metrics = QFontMetrics(font)
        # Icon, number and label in their boldest, and room for a badge.
        words = metrics.horizontalAdvance(f"{self.number}  {self.page.label}")
        width = metrics.height() + words + metrics.horizontalAdvance("99+") + 4 * GRID
        return QSize(width, max(5 * GRID, metrics.height() + 2 * GRID))

    def set_state(self, *, why: str, badge: int) -> None:
        """Why the stage cannot be used (empty: it can) and its number of problems."""
        self.why, self.badge = why, badge
        parts = [why or self.page.hint]
        if badge:
            parts.append(f"{badge} to look at.")
        self.setToolTip(tip(" ".join(p for p in parts if p)))
        self.setAccessibleDescription(" ".join(p for p in parts if p))
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(self.why)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focused.emit("")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        if self.isChecked():
            painter.setBrush(colour("selection"))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRoundedRect(area, 4, 4)
        elif self.underMouse():
            painter.setBrush(colour("raised"))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRoundedRect(area, 4, 4)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour("focus"), 2))
            painter.drawRoundedRect(area, 4, 4)
        ink = colour("quiet" if self.why else "text")
        middle = self.height() // 2
        size = self.fontMetrics().height() + 4
        picture = icons.pixmap(
            self.page.icon, round(size * self.devicePixelRatioF()), colour=ink.name()
        )
        painter.drawPixmap(QRectF(GRID, middle - size / 2, size, size).toRect(), picture)
        font = self.font()
        font.setBold(self.isChecked())
        painter.setFont(font)
        painter.setPen(ink)
        text = area.adjusted(2 * GRID + size, 0, -3 * GRID, 0)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(text, int(flags), f"{self.number}  {self.page.label}")
        if self.badge and not self.why:
            label = str(self.badge) if self.badge < 100 else "99+"
            width = painter.fontMetrics().horizontalAdvance(label) + GRID
            pill = QRectF(area.right() - width - 4, middle - 9, width, 18)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour("at_risk_fill"))
            painter.drawRoundedRect(pill, 9, 9)
            painter.setPen(colour("on_at_risk"))
            painter.drawText(pill, int(Qt.AlignmentFlag.AlignCenter), label)


class Rail(QWidget):
    """The stages; ``chosen`` carries the name of the page to go to."""

    chosen = Signal(str)

    def __init__(self, document: Document, pages: Sequence[type[Stage]]) -> None:
        super().__init__()
        self.document = document
        self.setAccessibleName("Stages")
        self.buttons: dict[str, StageButton] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(4)
        for number, page in enumerate(pages, 1):
            button = StageButton(number, page)
            button.clicked.connect(lambda _=False, name=page.name: self._clicked(name))
            button.focused.connect(self._explain)
            self.buttons[page.name] = button
            if page.aside and not any(b.page.aside for b in list(self.buttons.values())[:-1]):
                line = QFrame(frameShape=QFrame.Shape.HLine, frameShadow=QFrame.Shadow.Plain)
                line.setForegroundRole(QPalette.ColorRole.Mid)
                column.addWidget(line)
            column.addWidget(button)
        self._why = Label(wordWrap=True)
        self._why.setProperty("role", "quiet")
        self._why.setAccessibleName("Why the stage cannot be used")
        column.addWidget(self._why)
        column.addStretch(1)
        document.project_changed.connect(lambda _: self.refresh())
        document.view_changed.connect(lambda _: self.refresh())
        document.posterior_ready.connect(lambda *_: self.refresh())
        document.judging.changed.connect(self.refresh)
        THEME.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Ask every page whether it can be used and how many problems it has."""
        for button in self.buttons.values():
            why = button.page.why_not(self.document)
            badge = 0 if why else button.page.problems(self.document)
            button.set_state(why=why, badge=badge)
        width = max(b.sizeHint().width() for b in self.buttons.values()) + 2 * GRID
        self.setFixedWidth(width)

    def show_current(self, name: str) -> None:
        """Mark the page that is shown; none for the start page."""
        for key, button in self.buttons.items():
            button.setChecked(key == name)
        self._why.clear()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        buttons = list(self.buttons.values())
        focused = [i for i, b in enumerate(buttons) if b.hasFocus()]
        if step is None or not focused:
            super().keyPressEvent(event)
            return
        buttons[(focused[0] + step) % len(buttons)].setFocus(Qt.FocusReason.TabFocusReason)

    def _clicked(self, name: str) -> None:
        button = self.buttons[name]
        if button.why:
            # An unusable stage is not grey and mute: it says what it needs.
            button.setChecked(False)
            self._explain(button.why)
            return
        self.chosen.emit(name)

    def _explain(self, why: str) -> None:
        self._why.setText(why)
