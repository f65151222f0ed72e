"""Two panes side by side where there is room, else one above the other."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from tabprotect.gui.look.theme import GRID

WIDE = 64 * GRID
"""From this width on form and preview stand side by side, else one above the other."""


class Sides(QSplitter):
    """A form and what it leads to, both as large as the room allows."""

    def __init__(self, *sides: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setChildrenCollapsible(False)
        for number, side in enumerate(sides):
            self.addWidget(side)
            self.setStretchFactor(number, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        ways = Qt.Orientation
        wanted = ways.Horizontal if self.width() >= WIDE else ways.Vertical
        if wanted != self.orientation():
            self.setOrientation(wanted)
