"""Levels by the first digits of codes, or by larger squares of a grid: a tick for each number of digits, with what it would make."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from tabprotect.engine.tables.groupings.digits import first_characters
from tabprotect.engine.tables.groupings.squares import squares_of
from tabprotect.gui.look.buttons import named, silent
from tabprotect.gui.look.label import ElidedLabel
from tabprotect.gui.look.layouts import in_grid, set_visible
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import translate

ROWS = 5
"""Numbers of digits that are offered."""

SHOWN = 4
"""Groups that are named."""


class DigitRows(QWidget):
    """``changed`` when another number is ticked, or a level gets another name."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[QCheckBox, QLineEdit, ElidedLabel]] = []
        self.numbers: list[int] = []
        """The number of digits of each row that is in sight."""
        grid = in_grid(on=self, margins=0, across=GRID, down=GRID // 2, wide=2)
        for number in range(ROWS):
            tick, name = QCheckBox(), QLineEdit()
            name.setFixedWidth(16 * GRID)
            about = ElidedLabel(role="quiet")
            tick.toggled.connect(name.setEnabled)
            tick.toggled.connect(lambda _: self.changed.emit())
            name.textChanged.connect(lambda _: self.changed.emit())
            for column, part in enumerate((tick, name, about)):
                grid.addWidget(part, number, column)
            self.rows.append((tick, name, about))
        self._none = ElidedLabel(message("The categories are too short to have levels."), role="quiet")
        grid.addWidget(self._none, ROWS, 0, 1, 3)

    def show_codes(self, variable: str, categories: Sequence[str], ticked: Sequence[int]) -> None:
        """Offer the numbers of digits that put codes together, ``ticked`` those that are likely."""
        squares = bool(squares_of(categories))
        numbers = ticked if squares else range(1, max(map(len, categories), default=0))
        made = {number: tuple(dict.fromkeys(first_characters(categories, number))) for number in numbers}
        self.numbers, before = [], 0
        for number, groups in made.items():
            # The same groups once more say nothing, and neither do as many as there are codes.
            if before < len(groups) < len(categories) and len(self.numbers) < ROWS:
                self.numbers.append(number)
                before = len(groups)
        with silent(self):
            for row, (tick, name, about) in enumerate(self.rows):
                here = row < len(self.numbers)
                set_visible(here, tick, name, about)
                if not here:
                    tick.setChecked(False)
                    continue
                number = self.numbers[row]
                groups = made[number]
                side = message("{number:g} km", number / 1000)
                digits = plural(number, "{number} digit", "{number} digits", number)
                tick.setText(translate(side if squares else digits))
                tick.setChecked(number in ticked)
                name.setEnabled(tick.isChecked())
                name.setText(f"{variable}_{number}")
                named(name, message("Name of the level of {number} digits", number))
                more = message(" \u2026") if len(groups) > SHOWN else ""
                about.setText(
                    translate(
                        plural(
                            len(groups),
                            "{number} group: {names}{more}",
                            "{number} groups: {names}{more}",
                            count_text(len(groups)),
                            joined(groups[:SHOWN], ", "),
                            more,
                        )
                    )
                )
            self._none.setVisible(not self.numbers)

    def levels(self) -> dict[str, int]:
        """Return what each level is called -> its number of digits, for those that are ticked."""
        return {
            name.text().strip(): number
            for number, (tick, name, _) in zip(self.numbers, self.rows, strict=False)
            if tick.isChecked() and name.text().strip()
        }
