"""The chances by which categories change, set in a table for each variable: nobody writes them."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDoubleSpinBox,
    QGridLayout,
    QScrollArea,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from tabprotect.engine.arrays import Floats
from tabprotect.engine.errors import InputError
from tabprotect.engine.protection.resampling.category_chances import read_chances, read_matrices
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.look.buttons import Dialog, choice, connected, decision, named, silent
from tabprotect.gui.look.error_strip import ErrorStrip
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

STEP, DIGITS = 0.05, 4


class ChancesDialog(Dialog):
    """A chance for each variable. ``taken`` carries the text: ``0.8``, or ``sex=0.9, age=0.7``."""

    taken = Signal(str)

    def __init__(self, parent: QWidget, domain: Domain, text: str) -> None:
        super().__init__(parent, message("Chance to keep a category"))
        try:
            known = read_chances(domain, text)
        except ValueError:
            known = dict.fromkeys(domain.names, 1.0)
        self.fields: dict[str, QDoubleSpinBox] = {}
        inner = QWidget()
        grid = QGridLayout(inner)
        for row, (name, chance) in enumerate(known.items()):
            field = self.fields[name] = QDoubleSpinBox(
                minimum=0.0, maximum=1.0, singleStep=STEP, decimals=DIGITS, value=chance
            )
            label = Label(name, buddy=field)
            field.setAccessibleName(translate(name))
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.setRowStretch(len(known), 1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setWidget(inner)
        words = Label(message("Every other record changes its category of the variable."), role="quiet")
        in_column(
            words, (scroll, 1), decision(self, message("Take it"))[0], on=self, margins=2 * GRID, spacing=GRID
        )
        self.setMinimumSize(44 * GRID, 36 * GRID)

    def text(self) -> str:
        """Say what is set; one number where all are alike."""
        found = {name: f"{field.value():g}" for name, field in self.fields.items()}
        if len(set(found.values())) == 1:
            return next(iter(found.values()))
        return joined((f"{name}={chance}" for name, chance in found.items()), ", ")

    def accept(self) -> None:
        """Take what is set."""
        self.taken.emit(self.text())
        super().accept()


class MatricesDialog(Dialog):
    """A matrix for those variables that are to have one of their own.

    ``taken`` carries the text: ``sex=[[0.9, 0.1], [0.2, 0.8]]``.
    """

    taken = Signal(str)

    def __init__(self, parent: QWidget, domain: Domain, text: str) -> None:
        super().__init__(parent, message("Matrices"))
        self._domain = domain
        try:
            self._own: dict[str, Floats] = read_matrices(domain, text)
        except ValueError:
            self._own = {}
        self.variable = connected(
            choice(message("Variable"), dict(zip(domain.names, domain.names, strict=True))),
            currentIndexChanged=lambda _: self._show(),
        )
        self.grid = named(QTableWidget(), message("Chances of the published category, by the true one"))
        self.grid.setTabKeyNavigation(False)
        self.errors = ErrorStrip()
        self.sums = Label("", role="quiet", wordWrap=True)
        in_column(
            self.errors,
            in_row(Label(message("Variable"), buddy=self.variable), (self.variable, 1), spacing=GRID),
            Label(message("A row for each true category, a column for each published one."), role="quiet"),
            (self.grid, 1),
            self.sums,
            decision(self, message("Take it"))[0],
            on=self,
            margins=2 * GRID,
            spacing=GRID,
        )
        self.setMinimumSize(64 * GRID, 52 * GRID)
        self.grid.itemChanged.connect(self._edited)
        if self._own:
            self.variable.setCurrentIndex(domain.names.index(next(iter(self._own))))
        self._show()

    def _show(self) -> None:
        name = self.variable.currentData()
        categories = list(self._domain[name].categories)
        matrix = self._own.get(name, np.eye(len(categories)))
        with silent(self.grid):
            self.grid.setRowCount(len(categories))
            self.grid.setColumnCount(len(categories))
            self.grid.setVerticalHeaderLabels(categories)
            self.grid.setHorizontalHeaderLabels(categories)
            for row, column in np.ndindex(*matrix.shape):
                self.grid.setItem(row, column, QTableWidgetItem(f"{matrix[row, column]:g}"))
        self._say()

    def _edited(self, item: QTableWidgetItem) -> None:
        matrix = self._own.setdefault(self.variable.currentData(), np.eye(self.grid.rowCount()))
        try:
            matrix[item.row(), item.column()] = float(item.text().replace(",", "."))
        except ValueError:
            item.setText(tr("{matrix:g}", matrix[item.row(), item.column()]))
        self._say()

    def _say(self) -> None:
        """Say which rows do not add up to 1."""
        name = self.variable.currentData()
        if (matrix := self._own.get(name)) is None:
            self.sums.setText(tr("None of its own: by the chance to keep a category."))
            return
        wrong = [
            message("{category}: {total:g}", category, total)
            for category, total in zip(self._domain[name].categories, matrix.sum(axis=1), strict=True)
            if abs(total - 1.0) > 1e-9
        ]
        self.sums.setText(
            translate(
                message("Rows that do not add up to 1: {wrong}", joined(wrong, ", "))
                if wrong
                else message("Every row adds up to 1.")
            )
        )

    def text(self) -> str:
        """Say what is set."""
        return joined(
            (
                f"{name}={json.dumps(self._own[name].tolist())}"
                for name in self._domain.names
                if name in self._own
            ),
            "; ",
        )

    def accept(self) -> None:
        """Take the matrices, unless a row is no distribution."""
        text = self.text()
        try:
            read_matrices(self._domain, text)
        except ValueError as error:
            self.errors.show_error(InputError(str(error)))
            return
        self.taken.emit(text)
        super().accept()


DIALOGS: dict[str, type[ChancesDialog | MatricesDialog]] = {
    "chances": ChancesDialog,
    "matrices": MatricesDialog,
}
"""By the kind of a parameter."""


def ask_chances(
    parent: QWidget, kind: str, domain: Domain, text: str, then: Callable[[str], object]
) -> QDialog:
    """Ask for what a parameter of that kind says. Nothing waits for the answer."""
    dialog = connected(DIALOGS[kind](parent, domain, text), taken=then)
    dialog.open()
    return dialog
