"""The four places at the left: Table, Readers, Releases, Plan; badges, reasons."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import Stage, Standings
from tabprotect.gui.frame.stages import PAGES
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import filled, in_column
from tabprotect.gui.look.theme import GRID, THEME, colour, count_text, inked, smooth_painter
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

WIDE = 76
"""Pixels, at normal text, that an entry is wide at least."""


class StageButton(QToolButton):
    """One entry: icon above label, badge. Focusable even where it cannot be used yet.

    Folded, the icon and its badge are left.
    """

    focused = Signal(object)

    def __init__(self, page: Stage) -> None:
        super().__init__(autoRaise=True)
        self.page = page
        self.why = ""
        self.badge = 0
        self.folded = False
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(translate(page.label))

    def sizeHint(self) -> QSize:
        font = self.font()
        font.setBold(True)
        metrics = QFontMetrics(font)
        if self.folded:
            return QSize(metrics.height() + 3 * GRID, metrics.height() + 3 * GRID)
        # Icon and label in its boldest.
        wide = metrics.horizontalAdvance(translate(self.page.label)) + GRID
        return QSize(max(wide, round(WIDE * THEME.scale)), 2 * metrics.height() + 4 + 3 * GRID)

    def fold(self, folded: bool) -> None:
        """Show the icon alone, or all again."""
        if folded != self.folded:
            self.folded = folded
            self.updateGeometry()
            self._say()

    def set_state(self, *, why: str, badge: int) -> None:
        """Set why the entry cannot be used (empty: it can) and its number of problems."""
        self.why, self.badge = why, badge
        self._say()

    def _say(self) -> None:
        parts = [self.why or self.page.hint]
        if self.badge:
            parts.append(message("To look at: {badge}.", count_text(self.badge)))
        said = joined((p for p in parts if p), " ")
        self.setAccessibleDescription(translate(said))
        self.setToolTip(
            tip(message("{label}. {said}", translate(self.page.label), said) if self.folded else said)
        )
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(self.why)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focused.emit("")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth_painter(self)
        area = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        if self.isChecked() or self.underMouse():
            inked(painter, Qt.PenStyle.NoPen, colour("selection" if self.isChecked() else "raised"))
            painter.drawRoundedRect(area, 6, 6)
        if self.hasFocus():
            inked(painter, QPen(colour("focus"), 2))
            painter.drawRoundedRect(area, 6, 6)
        ink = colour("quiet" if self.why else "text")
        high = self.fontMetrics().height()
        size = high + 4
        top = (self.height() - size) / 2 if self.folded else GRID
        left = (self.width() - size) / 2
        picture = icons.pixmap(self.page.icon, size, colour=ink.name())
        painter.drawPixmap(QRectF(left, top, size, size).toRect(), picture)
        if not self.folded:
            font = self.font()
            font.setBold(self.isChecked())
            painter.setFont(font)
            painter.setPen(ink)
            text = QRectF(area.left(), top + size + 2, area.width(), high + 2)
            painter.drawText(text, int(Qt.AlignmentFlag.AlignCenter), translate(self.page.label))
        if self.badge and not self.why:
            self._paint_badge(painter, area, left + size)

    def _paint_badge(self, painter: QPainter, area: QRectF, left: float) -> None:
        """The number of problems at the icon's upper right."""
        font = self.font()
        font.setBold(True)
        font.setPointSizeF(font.pointSizeF() * 10 / 12)
        painter.setFont(font)
        label = badge_text(self.badge)
        width = max(painter.fontMetrics().horizontalAdvance(label) + GRID, 18)
        pill = QRectF(min(left - GRID, area.right() - width), area.top() + 3, width, 18)
        inked(painter, Qt.PenStyle.NoPen, colour("at_risk_fill"))
        painter.drawRoundedRect(pill, 9, 9)
        painter.setPen(colour("on_at_risk"))
        painter.drawText(pill, int(Qt.AlignmentFlag.AlignCenter), label)


def badge_text(count: int) -> str:
    """A count in the room of a badge: ``74``, ``1 k``, ``10 k``, ``2 M``."""
    for least, unit in ((10**6, "M"), (10**3, "k")):
        if count >= least:
            return f"{count // least}\u202f{unit}"
    return str(count)


class Rail(QWidget):
    """The entries; ``chosen`` carries the name of the page to go to."""

    chosen = Signal(str)

    def __init__(self, document: Document, standings: Standings) -> None:
        super().__init__(accessibleName=tr("Stages"))
        self._standings = standings
        self.buttons: dict[str, StageButton] = {}
        column = in_column(on=self, margins=(6, GRID, 6, GRID), spacing=4)
        self._folded = False
        self._places = {page.name: page.under or page.name for page in PAGES}
        for page in PAGES:
            if not page.under:
                column.addWidget(self._button(page))
        self._why = Label(wordWrap=True, role="quiet", name=message("Why the stage cannot be used"))
        filled(column, self._why, 1)
        connected(document, project_changed=lambda _: self.refresh(), view_changed=lambda _: self.refresh())
        document.judging.changed.connect(self.refresh)
        document.judged_magnitudes.changed.connect(self.refresh)
        THEME.changed.connect(self.refresh)
        self.refresh()

    def _button(self, page: Stage) -> StageButton:
        button = connected(
            StageButton(page),
            clicked=lambda _=False, name=page.name: self._clicked(name),
            focused=self._explain,
        )
        self.buttons[page.name] = button
        return button

    def refresh(self) -> None:
        """Show of every entry whether it can be used and how many problems it has."""
        for button in self.buttons.values():
            standing = self._standings[button.page]
            button.set_state(why=standing.why, badge=standing.problems)
            button.setVisible(standing.applies or button.page.name != "register")
        self._take_width()

    def fold(self, folded: bool) -> None:
        """Icons only, or all again."""
        if folded == self._folded:
            return
        self._folded = folded
        for button in self.buttons.values():
            button.fold(folded)
        self._why.setVisible(not folded)
        self._take_width()

    def _take_width(self) -> None:
        # The widest of all, shown or not.
        width = max(b.sizeHint().width() for b in self.buttons.values()) + 12
        self.setFixedWidth(width)

    def show_current(self, name: str) -> None:
        """Mark the entry of the page that is shown; none for the start page."""
        place = self._places.get(name, name)
        for key, button in self.buttons.items():
            button.setChecked(key == place)
        self._why.clear()

    def refuse(self, name: str, why: str) -> None:
        """Say at the stage, or without it, why it cannot be used."""
        button = self.buttons.get(self._places.get(name, name))
        if button is not None and not button.isHidden():
            button.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._explain(why)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        buttons = [b for b in self.buttons.values() if b.isVisible()]
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
        self._why.setText(translate(why))
