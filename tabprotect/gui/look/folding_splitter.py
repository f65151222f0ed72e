"""A splitter whose parts stand side by side where there is room, else one below the other."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget


class FoldingSplitter(QSplitter):
    """Side by side from so many characters of width on; no part is ever hidden."""

    def __init__(self, *parts: QWidget, characters: int) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._characters = characters
        self.setChildrenCollapsible(False)
        for number, part in enumerate(parts):
            self.addWidget(part)
            self.setStretchFactor(number, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self.width() >= self._characters * self.fontMetrics().averageCharWidth()
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if wanted != self.orientation():
            self.setOrientation(wanted)
        super().resizeEvent(event)
