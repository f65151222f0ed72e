"""The import sheet: the file's first lines left, what was recognised right, what comes of it below."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QGridLayout,
    QHeaderView,
    QLineEdit,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.formats.file_preview import FilePreview, Role, preview
from tabprotect.engine.formats.layouts.count_marks import BLANK, MEANINGS, CountMarks
from tabprotect.engine.formats.reading_options import ANY_FORMAT, Reading, options, takes_number
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.jobs import Jobs
from tabprotect.gui.base.question import Question
from tabprotect.gui.look.buttons import ScrollsDown
from tabprotect.gui.look.error_strip import ErrorStrip
from tabprotect.gui.look.label import Label, heading, tip
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.listing import as_list
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, MARGIN, THEME, Colours
from tabprotect.languages.said import joined, say
from tabprotect.languages.speaking import tell, told

REST = 300
"""Milliseconds of rest before the file is looked at again."""

SHOWN_CELLS = 12
FOUND_OUT = say("Found out from the file")

LABELS = {
    "fill_missing": say("Cells that the file leaves out are 0"),
    "totals": say("Totals"),
    "tolerance": say("Differences of totals that are rounding, up to"),
    "missing": say("Cells without a count are"),
    "drop": say("Columns left out"),
    "variable": say("Numbers that are a variable"),
    "label": say("Columns that name categories"),
    "where": say("Only the rows of"),
    "scale": say("Counts are multiplied by"),
    "metadata": say("File that describes this one"),
    "strict": say("Mend nothing"),
    "count": say("Column of the counts"),
    "labels": say("Names and labels"),
    "form": say("Long or grid"),
    "columns": say("Name of the columns' variable"),
    "sheet": say("Sheet"),
    "range": say("Range of cells"),
    "header_row": say("Header row"),
    "footer": say("Lines below the counts"),
    "comment": say("Lines of comment begin with"),
    "marks": say("Signs in place of counts"),
    "encoding": say("Encoding"),
    "delimiter": say("Separator of columns"),
    "decimal": say("Decimal sign"),
    "thousands": say("Thousands sign"),
    "holds": say("Table or records"),
}
"""What the options are called."""

VALUES = {
    "long": say("One line for each count"),
    "grid": say("Columns of counts"),
    "zero": say("Zero"),
    "structural": say("Nobody can be there"),
    "suppressed": say("Hidden, worked out from the totals"),
    "table": say("Counts of a table"),
    "records": say("One line for each record"),
}
"""What an option may say, in words."""

USUAL = {
    "encoding": ("utf-8", "cp1252", "latin-1", "utf-16"),
    "totals": ("auto", "recompute", "keep", "none"),
    "decimal": (".", ","),
    "delimiter": (";", ",", "|"),
}
"""What is offered where the format has no list of its own."""

GROUPED = {
    ".": say("a point"),
    ",": say("a comma"),
    " ": say("a space"),
    "\u00a0": say("a space that does not break"),
    "\u2009": say("a thin space"),
    "\u202f": say("a thin space that does not break"),
    "'": say("an apostrophe"),
    "\u2019": say("a raised comma"),
}
"""Signs between thousands, by what they are called: most of them are hard to tell by sight."""

LISTED, NAMED = frozenset({"drop", "variable"}), frozenset({"label", "where"})
"""Options of several columns, written ``A; B`` and ``A = B; C = D``."""

FIXED = ("long|grid", "table|records", "zero|structural|suppressed")
"""Options with these choices and no other."""

FROM_FILE = frozenset({"count", "range", "columns"})
"""Options whose choices are in the file, perhaps only once its letters are known."""

SAID: dict[Role, str] = {
    "title": say("Title"),
    "header": say("Header"),
    "body": "",
    "total": say("Total"),
    "note": say("Note"),
    "remark": say("Remark"),
    "": "",
}


class ImportSheet(QDialog):
    """How a file is to be read. ``chosen`` carries its path, the reading, and the look at it."""

    chosen = Signal(str, object, object)

    def __init__(
        self, parent: QWidget, jobs: Jobs, path: Path, given: Mapping[str, object]
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tell("Read {name}", path.name))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.path = path
        self.seen: FilePreview | None = None
        self._given = dict(given)
        self._suggested = set(given)
        self._question: Question[FilePreview] = Question(self, jobs, self._show, self._failed)
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self.look_again)
        self.errors = ErrorStrip()
        self.lines = _table(
            (say("Line"), say("Taken as"), say("Text")), say("First lines of the file")
        )
        self.lines.setToolTip(
            tell("Double-click the line that names the columns to have it as header")
        )
        self.lines.cellDoubleClicked.connect(self._header_chosen)
        self.preview = _table((), say("What the file is read as: the first cells"))
        self.inputs: dict[str, QWidget] = {}
        self._form = QFormLayout()
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        choices = QWidget()
        choices.setLayout(self._form)
        scroll = ScrollsDown()
        scroll.setWidget(choices)
        left = QWidget()
        in_column((self.lines, 2), heading(say("Read as")), (self.preview, 1), on=left, margins=0)
        split = QSplitter()
        split.setChildrenCollapsible(False)
        split.addWidget(left)
        split.addWidget(scroll)
        split.setStretchFactor(0, 1)
        self.sums = Label(wordWrap=True, name=say("Sums"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.open_button = buttons.addButton(tell("Open"), QDialogButtonBox.ButtonRole.AcceptRole)
        dress(self.open_button, "main")
        self.open_button.setEnabled(False)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        in_column(
            self.errors, (split, 1), self.sums, buttons, on=self, margins=MARGIN, spacing=GRID
        )
        self.finished.connect(lambda _: self._question.drop())
        self.resize(min(1100, parent.width()), min(680, parent.height()))
        self.look_again()

    # -- what is chosen -----------------------------------------------------------------------

    @property
    def given(self) -> dict[str, object]:
        """The options as the inputs say them."""
        out = dict(self._given)
        for name, box in self.inputs.items():
            value = said_of(name, _value(box))
            if value in (None, "", False):
                out.pop(name, None)
            else:
                out[name] = value
        return out

    def set_option(self, name: str, value: object) -> None:
        """Set one option, as its input does."""
        _set(self.inputs[name], value)

    def _header_chosen(self, row: int) -> None:
        item = self.lines.item(row, 0)
        if item is not None and "header_row" in self.inputs:
            self.set_option("header_row", item.text())

    def look_again(self) -> None:
        """Ask what the file would be read as."""
        given = self.given
        path = self.path
        self._question.ask(
            say("look into {name}", path.name), lambda p: preview(path, Reading.of(given), p)
        )

    def _changed(self) -> None:
        self.open_button.setEnabled(False)
        self._rest.start()

    # -- what is shown ------------------------------------------------------------------------

    def _show(self, seen: FilePreview) -> None:
        first = self.seen is None
        self.seen = seen
        if first:
            self._build(seen)
        self._placeholders(seen)
        self._show_lines(seen)
        self._show_cells(seen.table)
        self.sums.setText(told(seen.sums or joined(seen.notes, "; ")))
        self.open_button.setText(
            told(say("Choose variables\u2026") if seen.records else say("Open"))
        )
        self.open_button.setEnabled(seen.table is not None or seen.records)
        if seen.error is None or seen.records:
            self.errors.clear()
        else:
            self.errors.show_error(seen.error)
        # A question has one likely answer: it is filled in once, to be seen and changed. That
        # missing cells are 0 is for a person to say.
        for name, value in seen.suggested.items():
            if name in self.inputs and name not in self._suggested | {"missing"}:
                self._suggested.add(name)
                self.set_option(name, value)

    def _failed(self, error: TabprotectError) -> None:
        self.open_button.setEnabled(False)
        self.errors.show_error(error)

    def _build(self, seen: FilePreview) -> None:
        """An input for each option that means something for this format."""
        for option in options():
            # What totals are says all that stripping them does.
            if option.name not in (seen.kind.options | ANY_FORMAT) - {"strip_totals"}:
                continue
            label, said = LABELS[option.name], option.help
            box: QWidget
            listed = self._listed(seen, option.name, option.metavar)
            if isinstance(option.default, bool):
                box = QCheckBox(told(label))
                box.toggled.connect(self._changed)
            elif option.name == "marks":
                box = MarkChoices()
                box.textChanged.connect(self._changed)
            elif listed or option.name in FROM_FILE:
                box = QComboBox(editable=option.name != "thousands" and option.metavar not in FIXED)
                box.addItem("", "")
                for value in listed:
                    box.addItem(
                        told((GROUPED if option.name == "thousands" else VALUES).get(value, value)),
                        value,
                    )
                box.currentTextChanged.connect(self._changed)
            else:
                box = QLineEdit()
                box.textChanged.connect(self._changed)
            box.setAccessibleName(told(label))
            box.setObjectName(option.name)
            box.setAccessibleDescription(told(said))
            box.setToolTip(tip(said))
            self.inputs[option.name] = box
            if option.name in self._given:
                box.blockSignals(True)
                _set(box, self._given[option.name])
                box.blockSignals(False)
            if isinstance(box, QCheckBox):
                self._form.addRow(box)
            else:
                self._form.addRow(label, box)

    def _listed(self, seen: FilePreview, name: str, metavar: str) -> tuple[str, ...]:
        own = {
            "sheet": seen.sheets,
            "count": seen.columns,
            "range": seen.ranges,
            # What stands in the corner of a grid names its columns, too.
            "columns": tuple(re.split(r"\s*[\\/|]\s*", seen.columns[0])[1:])
            if seen.columns
            else (),
            "thousands": tuple(GROUPED),
        }.get(name, ())
        kinds = tuple(metavar.split("|")) if metavar in FIXED else ()
        return own or USUAL.get(name, ()) or kinds

    def _placeholders(self, seen: FilePreview) -> None:
        """What was recognised, in the inputs that say nothing else."""
        for name, box in self.inputs.items():
            found = [p for p in seen.parts if p.option.replace("-", "_") == name]
            text = FOUND_OUT
            if found:
                value, reason = found[0].value, found[0].reason
                text = say("{value} ({reason})", told(VALUES.get(value, value)), told(reason))
            if name in FROM_FILE and isinstance(box, QComboBox) and not box.currentText():
                self._offer(box, self._listed(seen, name, ""))
            if name == "thousands" and isinstance(box, QComboBox):
                _tell_grouped(box, seen)
            if isinstance(box, QComboBox) and not box.isEditable():
                box.blockSignals(True)
                box.setItemText(0, told(text))
                box.blockSignals(False)
            edit = box.lineEdit() if isinstance(box, QComboBox) else box
            if isinstance(edit, QLineEdit):
                edit.setPlaceholderText(told(text))
                if found:
                    box.setToolTip(tip(say("Recognised: {text}", text)))

    def _offer(self, box: QComboBox, choices: tuple[str, ...]) -> None:
        """Other choices, where the file tells others than before."""
        if [box.itemText(row) for row in range(1, box.count())] != list(choices):
            box.blockSignals(True)
            box.clear()
            box.addItem("", "")
            for value in choices:
                box.addItem(value, value)
            box.blockSignals(False)

    def _show_lines(self, seen: FilePreview) -> None:
        self.lines.setRowCount(len(seen.lines))
        grounds = _grounds(THEME.colours)
        for row, line in enumerate(seen.lines):
            for column, text in enumerate((str(line.number), told(SAID[line.role]), line.text)):
                item = QTableWidgetItem(text)
                if line.role in grounds:
                    item.setBackground(QBrush(QColor(grounds[line.role])))
                    item.setForeground(QBrush(QColor(THEME.colours.text)))
                self.lines.setItem(row, column, item)

    def _show_cells(self, table: Table | None) -> None:
        if table is None:
            self.preview.setRowCount(0)
            return
        domain = table.domain
        self.preview.setColumnCount(domain.ndim + 1)
        self.preview.setHorizontalHeaderLabels([*domain.names, tell("count")])
        rows = min(SHOWN_CELLS, domain.size)
        self.preview.setRowCount(rows)
        for row in range(rows):
            index = tuple(int(i) for i in np.unravel_index(row, domain.shape))
            texts = (*domain.labels(index), f"{table[index]:,}")
            for column, text in enumerate(texts):
                self.preview.setItem(row, column, QTableWidgetItem(text))

    def _accept(self) -> None:
        if self.seen is None or self._rest.isActive() or self._question.running:
            return
        try:
            reading = Reading.of(self.given)
        except InputError as error:
            self._failed(error)
            return
        self.chosen.emit(str(self.path), reading, self.seen)
        self.accept()


def _tell_grouped(box: QComboBox, seen: FilePreview) -> None:
    """Say beside each sign how the first number that has it would be read."""
    text = joined((line.text for line in seen.lines if line.role in ("body", "total", "")), "\n")
    box.blockSignals(True)
    for row in range(1, box.count()):
        sign = str(box.itemData(row))
        number = re.search(rf"(?<![\d.,])\d{{1,3}}(?:{re.escape(sign)}\d{{3}})+(?!\d)", text)
        said = told(GROUPED.get(sign, sign))
        if number is not None:
            # As it stands in the file, in no language's way.
            said += say(" ({number} \u2192 {sign})", number[0], number[0].replace(sign, ""))
        box.setItemText(row, told(said))
    box.blockSignals(False)


def _table(titles: tuple[str, ...], name: str) -> QTableWidget:
    table = QTableWidget(0, len(titles))
    table.setHorizontalHeaderLabels(titles)
    as_list(table, name)
    if titles:
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setStretchLastSection(True)
    return table


def _grounds(colours: Colours) -> dict[Role, str]:
    """The ground of a line by what it was taken for; the word beside it says the same."""
    return {
        "title": colours.raised,
        "header": colours.plus_fill,
        "total": colours.at_risk_fill,
        "note": colours.raised,
        "remark": colours.raised,
    }


def _value(box: QWidget) -> object:
    """What an input says; nothing where it says nothing."""
    if isinstance(box, QCheckBox):
        return box.isChecked()
    if isinstance(box, QComboBox) and not box.isEditable():
        return box.currentData()
    text = box.currentText() if isinstance(box, QComboBox) else _text(box)
    number = {o.name for o in options() if takes_number(o)}
    if box.objectName() in number and text.isdecimal():
        return int(text)
    # A blank may be what is meant: the sign between thousands.
    return text if text.strip() or text == " " else None


def said_of(name: str, value: object) -> object:
    """What a text says of several columns: ``year = 2024; sex = f``."""
    if not isinstance(value, str) or name not in LISTED | NAMED:
        return value
    parts = [part.strip() for part in value.split(";") if part.strip()]
    if name in LISTED:
        return parts or None
    named = (part.partition("=") for part in parts)
    return {key.strip(): said.strip() for key, sign, said in named if sign} or None


def _shown(value: object) -> str:
    """A list, or what is said by name, as the text of an input."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name} = {said}" for name, said in value.items())
    return "; ".join(value) if isinstance(value, list | tuple) else str(value)


def _text(box: Any) -> str:
    return str(box.text())


def _set(box: QWidget, value: object) -> None:
    if isinstance(box, QCheckBox):
        box.setChecked(bool(value))
    elif isinstance(box, QComboBox):
        at = box.findText(str(value)) if box.isEditable() else box.findData(str(value))
        if at < 0 and box.isEditable():
            box.setEditText(str(value))
        elif at < 0 and value:
            box.addItem(str(value), str(value))
            box.setCurrentIndex(box.count() - 1)
        else:
            box.setCurrentIndex(max(at, 0))
    elif isinstance(box, QLineEdit | MarkChoices):
        box.setText(_shown(value))


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
