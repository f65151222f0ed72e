"""The gate of counts and of sums: left the lines, right who signs and what is written."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLayout, QVBoxLayout, QWidget

from tabprotect.gui.look.buttons import Inside, Scrolling
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import message

NARROW = 86 * GRID
"""Pixels of width below which the right column stands under the left one."""

CLOSE = 150 * GRID
"""Pixels of width, at normal text, below which two low groups stand one below the other."""


class GateColumns(Scrolling):
    """Two columns that scroll together, one below the other where it is narrow."""

    def __init__(self) -> None:
        super().__init__(name=message("The gate"), focus=Qt.FocusPolicy.NoFocus)
        self._pair: QBoxLayout | None = None
        inner, self._left, self._right = Inside(), QVBoxLayout(), QVBoxLayout()
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight, inner)
        self._sides.setContentsMargins(0, 0, GRID, 0)
        self._sides.setSpacing(3 * GRID)
        self.setWidget(inner)

    def fill(self, left: list[QWidget | QLayout], right: list[QWidget]) -> None:
        """Put in what stands left and right, once."""
        for side, parts, share in ((self._left, left, 3), (self._right, right, 2)):
            side.setSpacing(2 * GRID)
            for part in parts:
                if isinstance(part, QBoxLayout):
                    # Two that are low stand side by side where each has room for its words.
                    self._pair = part
                if isinstance(part, QLayout):
                    side.addLayout(part)
                else:
                    side.addWidget(part)
            side.addStretch(1)
            self._sides.addLayout(side, share)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow, direction = self.width() < NARROW * THEME.scale, QBoxLayout.Direction
        self._sides.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
        if self._pair is not None:
            close = narrow or self.width() < CLOSE * THEME.scale
            self._pair.setDirection(direction.TopToBottom if close else direction.LeftToRight)
