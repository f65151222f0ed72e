"""What signs in place of counts mean: one choice for each sign that the file has."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.count_marks import BLANK, MEANINGS, CountMarks
from tabprotect.gui.look.buttons import choice
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_grid
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.languages.messages import joined, message, plural

MEANT = {
    "zero": message("a true zero"),
    "missing": message("not known"),
    "suppressed": message("hidden: worked out from totals"),
    "structural": message("impossible: always 0"),
}
UNSAID = message("what is it?")


class MarkChoices(QWidget):
    """``textChanged`` carries ``-=zero ..=missing``, which nobody has to write."""

    textChanged = Signal(str)  # noqa: N815 (as Qt's own inputs have it)

    def __init__(self) -> None:
        super().__init__()
        self.meanings: dict[str, QComboBox] = {}
        self._numbers: dict[str, Label] = {}
        self._grid = in_grid(on=self, margins=0, across=GRID, wide=2)
        self._none = Label(message("none"), role="quiet")
        self._grid.addWidget(self._none, 0, 0, 1, 3)

    def show_signs(self, signs: Mapping[str, int]) -> None:
        """A choice for each sign of the file, with the number of cells that have it."""
        for mark, cells in signs.items():
            if mark not in self.meanings:
                self._add(mark)
            self._numbers[mark].setText(plural(cells, "{n} cell", "{n} cells", count_text(cells)))

    def take_rest(self, meaning: str) -> None:
        """Choose what the signs mean of which nothing is said."""
        for box in self.meanings.values():
            if not box.currentData():
                box.setCurrentIndex(box.findData(meaning))

    def _add(self, mark: str) -> QComboBox:
        meaning = self.meanings[mark] = choice(
            message("What {value} means", mark or BLANK),
            {"": UNSAID} | {one: MEANT[one] for one in MEANINGS},
            lambda: self.textChanged.emit(self.text()),
        )
        label = Label(mark or message("Blank"), role="section", alignment=Qt.AlignmentFlag.AlignCenter)
        label.setMinimumWidth(4 * GRID)
        label.setBuddy(meaning)
        self._numbers[mark] = Label(role="quiet")
        row = self._grid.rowCount()
        self._grid.addWidget(label, row, 0)
        self._grid.addWidget(self._numbers[mark], row, 1)
        self._grid.addWidget(meaning, row, 2)
        self._none.hide()
        return meaning

    def text(self) -> str:
        """Say what is chosen, as ``--marks`` takes it."""
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
