"""The list of cycles, the table and the proof panel, arranged by the room there is."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from tabprotect.gui.look.theme import GRID, THEME

Place = Literal["beside", "below", "left"]

WIDE = 170
"""Characters from which on all three stand beside each other."""

HIGH = 45 * GRID
"""From which height on six rows of the table and the proof fit below each other."""

LIST = 26
"""The width of the list to begin with, in units: six less where the table has little room."""

WORDS = 4
"""Lines that words below the table take at most: where they gave way, they come back with room for them."""

PROOF, TABLE = 10 * GRID, 54 * GRID
"""Pixels that the proof below the table, and the table, are high at least to begin with."""


class Workbench(QSplitter):
    """The table has what the other two can spare; ``placed`` is told where the proof stands.

    Where it is narrow the proof stands below the table; where it is low too, below the list.
    """

    placed = Signal(str)

    def __init__(self, cycles: QWidget, table: QWidget, proof: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, childrenCollapsible=False)
        self._proof = proof
        self._left, self._right = QSplitter(Qt.Orientation.Vertical), QSplitter()
        self._left.addWidget(cycles)
        self._right.addWidget(table)
        for part in (self._left, self._right):
            part.setChildrenCollapsible(False)
            self.addWidget(part)
        self.setStretchFactor(1, 1)
        self.place: Place | None = None
        self._arrange("beside")

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self.width() >= WIDE * self.fontMetrics().averageCharWidth():
            self._arrange("beside")
        else:
            words = WORDS * self.fontMetrics().lineSpacing() if self.place == "left" else 0
            self._arrange("below" if self.height() >= HIGH + words else "left")
        super().resizeEvent(event)

    def _arrange(self, place: Place) -> None:
        if place == self.place:
            return
        self.place = place
        beside = place == "beside"
        self.setSizes([round((LIST if beside else LIST - 6) * GRID * THEME.scale), 89 * GRID])
        host = self._left if place == "left" else self._right
        host.addWidget(self._proof)
        self._right.setStretchFactor(0, 1)
        if beside:
            self._right.setOrientation(Qt.Orientation.Horizontal)
            self._right.setSizes([52 * GRID, 34 * GRID])
        elif place == "below":
            self._right.setOrientation(Qt.Orientation.Vertical)
            # The table goes on for as long as there is room: two fifths are left to the proof.
            proof = max(min(2 * self.height() // 5, self.height() - TABLE), PROOF)
            self._right.setSizes([max(self.height() - proof, 1), proof])
        else:
            self._left.setSizes([1, 1])
        self.placed.emit(place)
