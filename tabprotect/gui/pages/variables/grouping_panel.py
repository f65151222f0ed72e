"""The ways to group a variable: by width, at cut points, by a file, or the chosen categories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QFrame,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QWidget,
)

from tabprotect.gui.look.buttons import named, push_button
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.said import joined, say
from tabprotect.languages.speaking import tell, told


class GroupingPanel(QFrame):
    """What a person says; ``changed`` when another grouping is meant, the other signals on demand.

    ``asked`` carries the arguments of ``group_categories`` but the variable.
    """

    changed = Signal()
    asked = Signal(dict)
    together = Signal()
    removed = Signal(str)
    taken = Signal(str)
    nested = Signal(list)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tell("Group the categories"))
        self.setMinimumWidth(34 * GRID)
        self.width_box = QSpinBox(minimum=1, maximum=10**6, value=5)
        self.width_box.setAccessibleName(tell("Width of the bands"))
        self.width_box.valueChanged.connect(lambda _: self._means("width"))
        self.cuts = named(QLineEdit(placeholderText=told("0, 15, 65")), say("Where bands begin"))
        self.cuts.textChanged.connect(lambda _: self._means("cuts"))
        self.cuts.returnPressed.connect(lambda: self._ask("cuts"))
        self.cut = QSpinBox(minimum=-(10**6), maximum=10**6, value=0)
        self.cut.setAccessibleName(tell("Where one more band begins"))
        self.add_cut = push_button(say("Add"), self._add_cut, name=say("Add the cut"))
        self.name = QLineEdit(placeholderText=tell("name of the level (optional)"))
        self.name.setAccessibleName(tell("Name of the level"))
        self.meant = "width"
        """Which way the live figures are about."""
        self.bands = QWidget()
        form = QFormLayout(self.bands)
        form.setContentsMargins(0, 0, 0, 0)
        form.setSpacing(GRID)
        by_width = self._button(self.width_box, say("Group"), lambda: self._ask("width"))
        by_cuts = self._button(self.cuts, say("Group"), lambda: self._ask("cuts"))
        form.addRow(tell("Bands of"), in_row((self.width_box, 1), by_width, spacing=GRID))
        form.addRow(tell("Cut at"), in_row((self.cut, 1), self.add_cut, spacing=GRID))
        form.addRow("", in_row((self.cuts, 1), by_cuts, spacing=GRID))
        self.numbered = (self.width_box, by_width, self.cut, self.add_cut, self.cuts, by_cuts)
        """What takes categories that are numbers."""
        self.file_button = push_button(say("Code list from a file\u2026"), self._ask_file)
        self.group_name = named(
            QLineEdit(placeholderText=tell("name of the group (optional)")),
            say("Name of the group"),
        )
        self.together_button = push_button(say("Group the selected categories"), self.together)
        self.live = Label(wordWrap=True, name=say("Small counts that the grouping would leave"))
        self.level = named(QComboBox(), say("A level of the variable"))
        self.take_button = QPushButton(tell("Count at this level"))
        self.take_button.setToolTip(
            tell("The categories become these groups; coarser levels stay.")
        )
        self.take_button.clicked.connect(lambda: self.taken.emit(self.level.currentText()))
        self.remove_button = QPushButton(tell("Remove this level"))
        self.remove_button.clicked.connect(lambda: self.removed.emit(self.level.currentText()))
        self.nest = Label(wordWrap=True, name=say("Variables that nest"))
        self.nest_button = QPushButton(tell("Make them one variable"))
        self.nest_button.clicked.connect(lambda: self.nested.emit(self._chain))
        self._chain: list[str] = []
        # What belongs together stands close, with room above it.
        self._by_hand = Label(say("By hand, selected at the left"), role="quiet")
        self._name_of = Label(say("Name of the level that comes of it"), role="quiet")
        self._levels = heading(say("Levels"))
        for part in (self._by_hand, self._name_of, self._levels):
            part.setContentsMargins(0, GRID, 0, 0)
        column = in_column(
            self.nest,
            (self.nest_button, 0, Qt.AlignmentFlag.AlignLeft),
            heading(say("Group")),
            self.file_button,
            self.bands,
            self.live,
            self._by_hand,
            self.group_name,
            self.together_button,
            self._name_of,
            self.name,
            self._levels,
            self.level,
            on=self,
            margins=2 * GRID,
            spacing=GRID,
        )
        dress(self, "card")
        buttons = in_row(self.take_button, self.remove_button, spacing=GRID)
        column.addLayout(buttons)
        column.addStretch(1)

    @staticmethod
    def _button(field: QLineEdit | QSpinBox, words: str, run: Callable[[], object]) -> QPushButton:
        button = QPushButton(told(words))
        button.setAccessibleName(tell("{words}: {accessibleName}", words, field.accessibleName()))
        button.clicked.connect(lambda: run())
        return button

    def show_possible(self, *, numbers: bool, chosen: int) -> None:
        """Offer what can be done: bands of ``numbers``, one group of several ``chosen``."""
        for part in self.numbered:
            part.setEnabled(numbers)
        self.bands.setVisible(numbers)
        self.live.setVisible(numbers)
        self.group_name.setEnabled(chosen > 1)
        self.together_button.setEnabled(chosen > 1)

    def show_levels(self, coarser: list[str], chain: list[str]) -> None:
        """Offer the levels there are, and variables that nest."""
        before, more = self.level.currentText(), len(coarser) > self.level.count()
        self.level.clear()
        self.level.addItems(coarser)
        self.level.setCurrentText(before)
        for part in (self._levels, self.level, self.take_button, self.remove_button):
            part.setVisible(bool(coarser))
        self._chain = chain
        self.nest.setText(told(say("{chain} nest.", joined(chain, ", ")) if chain else ""))
        self.nest.setVisible(bool(chain))
        self.nest_button.setVisible(bool(chain))
        if more:
            # What was grouped can be counted at once, on a low screen too.
            QTimer.singleShot(0, self, self._show_taking)

    def _show_taking(self) -> None:
        around = self.parentWidget()
        while around is not None and not isinstance(around, QScrollArea):
            around = around.parentWidget()
        if around is not None:
            around.ensureWidgetVisible(self.take_button)

    def given(self, way: str) -> dict[str, object] | None:
        """The arguments that one way means; ``None`` while it is not written out."""
        name = self.name.text().strip()
        out: dict[str, object] = {"level": name} if name else {}
        if way == "width":
            return out | {"width": self.width_box.value()}
        cuts = self._cuts()
        return out | {"cuts": cuts} if cuts else None

    def _cuts(self) -> list[int] | None:
        """Where bands begin; ``None`` while that is not written out."""
        try:
            return [int(part) for part in self.cuts.text().replace(";", ",").split(",")]
        except ValueError:
            return None

    def _add_cut(self) -> None:
        cuts = sorted({*(self._cuts() or ()), self.cut.value()})
        self.cuts.setText(told(joined(map(str, cuts), ", ")))

    def _means(self, way: str) -> None:
        self.meant = way
        self.changed.emit()

    def _ask(self, way: str) -> None:
        given = self.given(way)
        if given is not None:
            self.asked.emit(given)
            self.name.clear()

    def _ask_file(self) -> None:
        dialog = QFileDialog(
            self, say("Code list"), "", say("Code lists (*.hrc *.csv *.tsv *.txt)")
        )
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.take_file)
        dialog.open()

    def take_file(self, path: str) -> None:
        """Group by a code list."""
        self.asked.emit({"files": {say("code list"): str(Path(path).absolute())}})
