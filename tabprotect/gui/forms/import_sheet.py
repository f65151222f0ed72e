"""The import sheet: the file's first lines left, what was recognised right, what comes of it below."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHeaderView,
    QLineEdit,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.formats.file_preview import FilePreview, Role, preview
from tabprotect.engine.formats.layouts.table_forms import count_columns
from tabprotect.engine.formats.reading_options import ANY_FORMAT, Reading, options
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.jobs import Jobs
from tabprotect.gui.base.question import Question
from tabprotect.gui.forms.column_roles import LEAST_WIDTH, RoleHeader, role_of, with_role
from tabprotect.gui.forms.import_words import (
    FIXED,
    FOUND_OUT,
    FROM_FILE,
    GROUPED,
    LABELS,
    SAID,
    USUAL,
    VALUES,
)
from tabprotect.gui.forms.mark_choices import MarkChoices
from tabprotect.gui.forms.reading_inputs import said_of, set_value, value_of
from tabprotect.gui.forms.refusal_choices import RefusalChoices
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
BEFORE = 2
"""The columns of the first lines that stand before those of the file."""


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
        self.roles = RoleHeader(self.lines, BEFORE)
        self.lines.setHorizontalHeader(self.roles)
        self.roles.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.roles.setStretchLastSection(True)
        self.roles.show()
        self.roles.chosen.connect(self._role_chosen)
        self.choices = RefusalChoices(self._take)
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
            self.errors,
            self.choices,
            (split, 1),
            self.sums,
            buttons,
            on=self,
            margins=MARGIN,
            spacing=GRID,
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
            value = said_of(name, value_of(box))
            if value in (None, "", False):
                out.pop(name, None)
            else:
                out[name] = value
        return out

    def set_option(self, name: str, value: object) -> None:
        """Set one option, as its input does."""
        set_value(self.inputs[name], value)

    def _header_chosen(self, row: int) -> None:
        item = self.lines.item(row, 0)
        if item is not None and "header_row" in self.inputs:
            self.set_option("header_row", item.text())

    def _role_chosen(self, chosen: dict[str, str]) -> None:
        for name, role in chosen.items():
            self._take(with_role(self.given, name, role))

    def _take(self, options: Mapping[str, object]) -> None:
        """Set several options, as their inputs do."""
        for name, value in options.items():
            if name in self.inputs:
                self.set_option(name, value)

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
        self.choices.show_choices(None if seen.records else seen.error)
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
                set_value(box, self._given[option.name])
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
        header = next((line for line in reversed(seen.lines) if line.role == "header"), None)
        names = header.fields if header is not None and len(set(header.fields)) > 1 else ()
        names = names if len(set(names)) == len(names) and all(names) else ()
        width = max((len(line.fields) for line in seen.lines if line.role == "body"), default=0)
        named = bool(names) and width <= len(names)
        texts = [
            (line.fields if named and line.role in ("header", "body", "total") else (line.text,))
            for line in seen.lines
        ]
        titles = [tell("Line"), tell("Taken as"), *(names if named else [tell("Text")])]
        self.lines.clearSpans()
        self.lines.setColumnCount(len(titles))
        self.lines.setHorizontalHeaderLabels(["" if named else t for t in titles])
        self.lines.setRowCount(len(seen.lines))
        grounds = _grounds(THEME.colours)
        for row, (line, cells) in enumerate(zip(seen.lines, texts, strict=True)):
            fields = (*cells, *[""] * (len(titles) - BEFORE - len(cells)))
            for column, text in enumerate((str(line.number), told(SAID[line.role]), *fields)):
                item = QTableWidgetItem(text)
                if line.role in grounds:
                    item.setBackground(QBrush(QColor(grounds[line.role])))
                    item.setForeground(QBrush(QColor(THEME.colours.text)))
                self.lines.setItem(row, column, item)
            if named and len(cells) < len(names):
                self.lines.setSpan(row, BEFORE, 1, len(names))
        self._show_roles(seen, names if named else ())

    def _show_roles(self, seen: FilePreview, names: Sequence[str]) -> None:
        """What each column is, above it."""
        bodies = [line.fields for line in seen.lines if line.role == "body"]
        values = {
            name: tuple(dict.fromkeys(f[n] for f in bodies if n < len(f)))
            for n, name in enumerate(names)
        }
        left = {str(name) for name in seen.table.domain.names} if seen.table is not None else set()
        said = self.given
        gone = [n for n in names if n not in left and role_of(n, said, "") == "variable"]
        counted = gone[-1] if gone and seen.table is not None else ""
        if (named := count_columns(names)) and not counted:
            counted = named[0]
        grid = seen.kind.name not in ("px",) and any(p.value == "grid" for p in seen.parts)
        self.roles.show_roles(() if grid else names, values, self.given, counted)
        self.lines.resizeColumnsToContents()
        for column in range(BEFORE, self.lines.columnCount()):
            self.lines.setColumnWidth(column, max(self.lines.columnWidth(column), LEAST_WIDTH))

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
