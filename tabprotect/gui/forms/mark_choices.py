"""What signs in place of counts mean: one choice for each sign."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QWidget

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.count_marks import BLANK, MEANINGS, CountMarks
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.said import joined, say
from tabprotect.languages.speaking import tell, told

OFFERED = ("", "-", ".", "..", ":", "x")
MEANT = {
    "zero": say("Zero"),
    "missing": say("Missing"),
    "suppressed": say("Suppressed"),
    "structural": say("Nobody can be there"),
}


class MarkChoices(QWidget):
    """``textChanged`` carries ``-=zero ..=missing``, which nobody has to write."""

    textChanged = Signal(str)  # noqa: N815 (as Qt's own inputs have it)

    def __init__(self) -> None:
        super().__init__()
        self.meanings: dict[str, QComboBox] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setColumnStretch(1, 1)
        for mark in OFFERED:
            self._add(mark)

    def _add(self, mark: str) -> QComboBox:
        choice = self.meanings[mark] = QComboBox()
        choice.setAccessibleName(tell("What {value} means", mark or BLANK))
        choice.addItem("", "")
        for meaning in MEANINGS:
            choice.addItem(told(MEANT[meaning]), meaning)
        choice.currentIndexChanged.connect(lambda _: self.textChanged.emit(self.text()))
        label = Label(mark or say("Blank"))
        label.setBuddy(choice)
        row = self._grid.rowCount()
        self._grid.addWidget(label, row, 0)
        self._grid.addWidget(choice, row, 1)
        return choice

    def text(self) -> str:
        """What is chosen, as ``--marks`` takes it."""
        return joined(
            (
                f"{mark or BLANK}={choice.currentData()}"
                for mark, choice in self.meanings.items()
                if choice.currentData()
            ),
            " ",
        )

    def setText(self, text: str) -> None:
        """Choose what a text says; further marks get a row of their own."""
        try:
            said = CountMarks.parse(text).meanings
        except InputError:
            return
        for mark in (*self.meanings, *said):
            choice = self.meanings.get(mark) or self._add(mark)
            choice.setCurrentIndex(choice.findData(said.get(mark, "")))
