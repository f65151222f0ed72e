"""What a mechanism will do to this table, before any coin is flipped; refusal and remedies."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.protection.problem import Preview
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.look import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.theme import GRID, THEME, chance_text, count_text, number_text
from tabprotect.gui.pages.run.preview_figures import BlockedFigure, ChangeFigure

MOST_NAMED = 4

Remedy = tuple[str, str]
"""What the button says, and the key the page knows it by."""


class RefusalStrip(QFrame):
    """Why the mechanism is refused, what to do instead, and going on all the same."""

    remedy_chosen = Signal(str)
    accepted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Refused: readers would know too much")
        self._picture = Label()
        self._reason = Label(wordWrap=True)
        self._reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._instead = Label("Instead:")
        self.remedies: dict[str, QPushButton] = {}
        self._grid = QGridLayout()
        self._grid.setSpacing(GRID // 2)
        self.accept = QPushButton("Go on all the same (is recorded)")
        self.accept.setAccessibleDescription(
            "An explicit decision that goes into the dossier and the audit trail"
        )
        self.accept.clicked.connect(lambda: self.accepted.emit())
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._reason, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID // 2)
        column.addLayout(row)
        column.addWidget(self._instead)
        column.addLayout(self._grid)
        column.addWidget(self.accept, 0, Qt.AlignmentFlag.AlignLeft)
        THEME.changed.connect(self._take_colours)
        self._take_colours()
        self.hide()

    @property
    def text(self) -> str:
        """The reason shown; empty when nothing is refused."""
        return "" if self.isHidden() else self._reason.text()

    def refuse(self, reason: str, remedies: tuple[Remedy, ...]) -> None:
        """Show a refusal."""
        self.clear()
        self._reason.setText(f"{reason[0].upper()}{reason[1:].rstrip('.')}.")
        self.setAccessibleDescription(self._reason.text())
        for number, (label, key) in enumerate(remedies):
            button = QPushButton(label)
            button.setAccessibleName(f"Remedy: {label}")
            button.clicked.connect(lambda _=False, k=key: self.remedy_chosen.emit(k))
            self.remedies[key] = button
            self._grid.addWidget(button, number // 2, number % 2)
        self._instead.setVisible(bool(remedies))
        self.show()

    def clear(self) -> None:
        """Take the refusal away, and every word of it."""
        self._reason.clear()
        self.setAccessibleDescription("")
        while self._grid.count():
            widget = self._grid.takeAt(0).widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.remedies = {}
        self.hide()

    def _take_colours(self) -> None:
        c = THEME.colours
        self.setStyleSheet(
            f"RefusalStrip {{ background: {c.error_fill}; border: 1px solid {c.error};"
            f" border-radius: 4px; }} RefusalStrip QLabel {{ color: {c.text}; }}"
        )
        self._picture.setPixmap(icons.pixmap("warning", 20, colour=c.error))


class PreviewPanel(QScrollArea):
    """The refusal strip, four figures with their words, two plots."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("What will happen")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        inner = QWidget()
        self.setWidget(inner)
        self.title = title = Label("What will happen, before it happens", wordWrap=True)
        title.setProperty("role", "section")
        self._state = Label(wordWrap=True)
        self._state.setProperty("role", "quiet")
        self.refusal = RefusalStrip()
        self.go_mend = QPushButton("Go to Cycles")
        self._figures: dict[str, QLabel] = {}
        numbers = QGridLayout()
        numbers.setHorizontalSpacing(2 * GRID)
        numbers.setVerticalSpacing(0)
        for column, (name, words) in enumerate(
            (
                ("unchanged", "stays unchanged"),
                ("deviation", "mean |change|"),
                ("blocked", "coins blocked"),
                ("immovable", "cells cannot move"),
            )
        ):
            value, label = Label(), Label(words, wordWrap=True)
            value.setProperty("role", "section")
            value.setAccessibleName(words)
            label.setProperty("role", "quiet")
            numbers.addWidget(value, 0, column)
            numbers.addWidget(label, 1, column, Qt.AlignmentFlag.AlignTop)
            numbers.setColumnStretch(column, 1)
            self._figures[name] = value
        self.change = ChangeFigure()
        self.blocked = BlockedFigure()
        self._stuck = Label(wordWrap=True)
        self._stuck.setProperty("role", "quiet")
        self._content = QWidget()
        column = QVBoxLayout(self._content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addLayout(numbers)
        self.change.setMaximumHeight(28 * GRID)
        column.addWidget(self.change, 1)
        column.addWidget(self.blocked)
        column.addWidget(self._stuck)
        column.addStretch(0)
        outer = QVBoxLayout(inner)
        outer.setContentsMargins(GRID, 0, GRID, 0)
        outer.setSpacing(GRID)
        outer.addWidget(title)
        outer.addWidget(self._state)
        outer.addWidget(self.refusal)
        outer.addWidget(self.go_mend, 0, Qt.AlignmentFlag.AlignLeft)
        outer.addWidget(self._content, 1)
        outer.addStretch(0)
        self.show_state("")

    def figure(self, name: str) -> str:
        """One of the figures as shown: unchanged, deviation, blocked, immovable."""
        return "" if self._content.isHidden() else self._figures[name].text()

    @property
    def state(self) -> str:
        """What the panel says instead of figures."""
        return self._state.text()

    def show_state(self, text: str) -> None:
        """Say what is going on; figures that no longer hold are taken away."""
        self._state.setText(text)
        self._state.setVisible(bool(text))
        self.refusal.clear()
        self.go_mend.hide()
        self._content.hide()
        for value in self._figures.values():
            value.clear()
        self._stuck.clear()
        self.change.show_change({})

    def show_error(self, error: TabprotectError) -> None:
        """The mechanism cannot even be tried."""
        said = [f"{part[0].upper()}{part[1:]}." for part in (error.message, error.hint) if part]
        self.show_state(" ".join(said))
        self.go_mend.show()

    def show_preview(self, preview: Preview, domain: Domain, chance: str) -> None:
        """Show the figures, and in words how likely the gate is to let a release through."""
        self.show_state("")
        whose = "at-risk cell" if preview.at_risk_cells else "positive cell"
        self._figures["unchanged"].setText(chance_text(preview.unchanged_share))
        self._figures["deviation"].setText(number_text(preview.mean_absolute_deviation))
        self._figures["blocked"].setText(f"{preview.blocked_share:.0%}".replace("%", " %"))
        self._figures["immovable"].setText(count_text(len(preview.immovable)))
        self.change.show_change(preview.change)
        self.blocked.show_shares(preview.blocked_by_cycle)
        named = ", ".join(domain.cell_text(i) for i in preview.immovable[:MOST_NAMED])
        more = len(preview.immovable) - MOST_NAMED
        if more > 0:
            named += f" and {count_text(more)} more"
        stuck = f" Cannot move: {named}." if named else " Every positive cell can move."
        self._stuck.setText(
            f"Averages over {count_text(preview.judged_cells)} {whose}"
            f"{'' if preview.judged_cells == 1 else 's'}, from {count_text(preview.runs)} "
            f"trial runs.{stuck} {chance}".strip()
        )
        self._content.show()
