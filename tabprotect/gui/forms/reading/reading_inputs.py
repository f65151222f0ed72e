"""The options of reading a file as inputs: in groups, the rarer ones folded away."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLineEdit,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from tabprotect.engine.formats.file_preview import FilePreview
from tabprotect.engine.formats.reading_options import ANY_FORMAT, GROUPED, Reading
from tabprotect.engine.options import Option, option_named, options_of
from tabprotect.gui.forms.reading.import_words import (
    ALSO_FOUND,
    FOUND_OUT,
    FROM_FILE,
    GROUPS,
    LISTED,
    NAMED,
    OPEN,
    SOMETIMES,
    WRITTEN,
)
from tabprotect.gui.forms.reading.mark_choices import MarkChoices
from tabprotect.gui.look.buttons import connected, named, push_button, silent
from tabprotect.gui.look.label import Label, heading, tip
from tabprotect.gui.look.layouts import held, in_column, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate


class OneOf(QWidget):
    """A choice of which every alternative is in sight, and a field for what is none of them."""

    textChanged = Signal(str)  # noqa: N815 (as Qt's own inputs have it)

    def __init__(self, offered: Mapping[str, str], *, other: str = "", across: bool = False) -> None:
        super().__init__()
        self._said = ""
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QRadioButton] = {}
        for value, words in offered.items():
            button = self.buttons[value] = QRadioButton(translate(words))
            button.clicked.connect(lambda _=False, said=value: self._say(said))
            self._group.addButton(button)
        self.other = named(QLineEdit(placeholderText=translate(other)), other)
        self.other.setVisible(bool(other))
        self.other.textEdited.connect(self._say)
        if across:
            in_row(*self.buttons.values(), 1, on=self, margins=0, spacing=2 * GRID)
        else:
            in_column(*self.buttons.values(), self.other, on=self, margins=0, spacing=GRID // 2)

    def text(self) -> str:
        """Say what was said; nothing where it was found out."""
        return self._said

    def setText(self, text: str) -> None:
        """Say so, as a click does."""
        if text not in self.buttons and self.other.text() != text:
            self.other.setText(text)
        self._say(text)

    def show_found(self, value: str) -> None:
        """Show what was found out, where nothing was said."""
        if not self._said:
            self._check(value)

    def _say(self, text: str) -> None:
        self._check(text)
        if text != self._said:
            self._said = text
            self.textChanged.emit(text)

    def _check(self, value: str) -> None:
        self._group.setExclusive(False)
        for name, button in self.buttons.items():
            button.setChecked(name == value)
        self._group.setExclusive(value in self.buttons)


class ReadingForm(QWidget):
    """An input for each option that means something for a file; ``changed`` at every change."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.inputs: dict[str, QWidget] = {}
        self.written = Label(role="quiet", wordWrap=True, name=message("How it is written"))
        self.change = push_button(message("Change\u2026"), self._unfold)
        dress(self.change, "link")
        self.folded = QWidget()
        self.folded.hide()
        self._groups: dict[str, QWidget] = {}
        """By their first options, those that are not always in sight."""
        self._found: set[str] = set()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, GRID, 0)
        self._column.setSpacing(GRID)

    def _unfold(self) -> None:
        self.folded.setVisible(self.folded.isHidden())
        self.change.setText(translate(message("Change\u2026") if self.folded.isHidden() else message("Less")))
        self._show_groups()

    def _show_groups(self) -> None:
        """Fold the options that the file has nothing of with how it is written."""
        for name, group in self._groups.items():
            said = bool(value_of(self.inputs[name]))
            group.setVisible(said or name in self._found or not self.folded.isHidden())

    def build(self, seen: FilePreview, given: Mapping[str, object]) -> None:
        """The inputs for this format, with what was said."""
        # What totals are says all that stripping them does.
        here = (seen.kind.options | ANY_FORMAT) - {"strip_totals"}
        for option in options_of(Reading):
            if option.name not in here:
                continue
            box = self._input(option, seen)
            box.setAccessibleName(translate(option.label))
            box.setObjectName(option.name)
            box.setAccessibleDescription(translate(option.help))
            box.setToolTip(tip(option.help))
            self.inputs[option.name] = box
            if option.name in given:
                with silent(box):
                    set_value(box, given[option.name])
        self._lay_out()

    def _input(self, option: Option, seen: FilePreview) -> QWidget:
        name = option.name
        listed = _choices(seen, option)
        box: Any
        if isinstance(option.default, bool):
            box = connected(QCheckBox(translate(option.label)), toggled=lambda _: self.changed.emit())
            return box  # type: ignore[no-any-return]
        if name == "marks":
            box = MarkChoices()
        elif name == "holds":
            box = OneOf(option.offered, across=True)
        elif name == "totals":
            box = OneOf(option.offered, other=message("or the word that stands for totals"))
        elif listed or name in FROM_FILE:
            box = QComboBox(editable=name != "thousands" and option.choices is None)
            box.addItem("", "")
            for value in listed:
                # What is editable is written as the option takes it.
                box.addItem(translate(value if box.isEditable() else option.offered[value]), value)
            box.currentTextChanged.connect(lambda _: self.changed.emit())
            return box  # type: ignore[no-any-return]
        else:
            box = QLineEdit()
        box.textChanged.connect(lambda _: self.changed.emit())
        return box  # type: ignore[no-any-return]

    def _lay_out(self) -> None:
        """The groups below each other; what is in none of them is folded."""
        shown = set()
        groups: list[QWidget] = []
        for title, names in GROUPS:
            boxes = {name: self.inputs[name] for name in names if name in self.inputs}
            shown |= set(boxes)
            if not boxes:
                continue
            group = QWidget()
            bare = (names[0],) if len(names) != 2 or names[0] == "totals" else ()
            in_column(heading(title), _rows(boxes, bare=bare), on=group, margins=0, spacing=GRID)
            groups.append(group)
            if names[0] in SOMETIMES:
                self._groups[names[0]] = group
        rest = {name: box for name, box in self.inputs.items() if name not in shown}
        self.folded.setLayout(_rows(rest))
        written = held(
            in_column(
                heading(message("How it is written")),
                in_row((self.written, 1), self.change, margins=0),
                self.folded,
                margins=0,
                spacing=GRID,
            )
        )
        # What is always there stands first: what comes and goes moves nothing.
        always = [group for group in groups if group not in self._groups.values()]
        for group in (*always, written, *self._groups.values()):
            self._column.addWidget(group)
            self._column.addSpacing(GRID)
        self._column.addStretch(1)

    def show_found(self, seen: FilePreview) -> None:
        """Show what was recognised in the inputs that say nothing else."""
        for name, box in self.inputs.items():
            found = [p for p in seen.parts if p.option.replace("-", "_") == name]
            text = OPEN.get(name, FOUND_OUT)
            if found:
                value, reason = found[0].value, found[0].reason
                text = message("{value} ({reason})", translate(_in_words(name, value)), translate(reason))
            if name in FROM_FILE and isinstance(box, QComboBox) and not box.currentText():
                _offer(box, _choices(seen, option_named(Reading, name)))
            if name == "thousands" and isinstance(box, QComboBox):
                _tell_grouped(box, seen)
            if isinstance(box, QComboBox) and not box.isEditable():
                with silent(box):
                    box.setItemText(0, translate(text))
            edit = box.lineEdit() if isinstance(box, QComboBox) else box
            if isinstance(edit, QLineEdit):
                edit.setPlaceholderText(translate(text))
                if found:
                    box.setToolTip(tip(message("Recognised: {text}", text)))
            if isinstance(box, MarkChoices):
                box.show_signs(seen.signs)
            elif name == "holds" and isinstance(box, OneOf):
                box.show_found("records" if seen.records else "table")
            elif name == "totals" and isinstance(box, OneOf):
                box.show_found("" if found or seen.table is None else "none")
        asked = "" if seen.error is None else f"{seen.error.hint} {seen.error.message}"
        self._found = {
            *(
                ("totals",)
                if "--totals" in asked or any(part.option == "totals" for part in seen.parts)
                else ()
            ),
            *(("marks",) if seen.signs or "--marks" in asked or "--missing" in asked else ()),
        }
        self._show_groups()
        self._show_written(seen)

    def _show_written(self, seen: FilePreview) -> None:
        """One line of what was recognised, or said."""
        parts = [message("{format}", seen.kind.label)]
        for name, words in WRITTEN.items():
            box = self.inputs.get(name)
            said = None if box is None else value_of(box)
            found = next((p.value for p in seen.parts if p.option.replace("-", "_") == name), "")
            if value := str(said or found):
                parts.append(message(words, value=translate(_in_words(name, value))))
        self.written.setText(message("Recognised: {parts}", joined(parts, " \u00b7 ")))


def _rows(boxes: Mapping[str, QWidget], *, bare: tuple[str, ...] = ()) -> QFormLayout:
    """Inputs below each other; the ``bare`` ones without the words that their heading says."""
    form = QFormLayout()
    form.setContentsMargins(0, 0, 0, 0)
    form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    for name, box in boxes.items():
        if isinstance(box, QCheckBox) or name in bare:
            form.addRow(box)
        else:
            form.addRow(translate(option_named(Reading, name).label), box)
    return form


def _in_words(name: str, value: str) -> str:
    """What an option says, in words."""
    return (option_named(Reading, name).offered | ALSO_FOUND).get(value, value)


def _choices(seen: FilePreview, option: Option) -> tuple[str, ...]:
    own = {
        "sheet": seen.sheets,
        "count": seen.columns,
        "range": seen.ranges,
        # What stands in the corner of a grid names its columns, too.
        "columns": tuple(re.split(r"\s*[\\/|]\s*", seen.columns[0])[1:]) if seen.columns else (),
    }.get(option.name, ())
    return own or tuple(option.offered)


def _offer(box: QComboBox, choices: tuple[str, ...]) -> None:
    """Other choices, where the file tells others than before."""
    if [box.itemText(row) for row in range(1, box.count())] != list(choices):
        with silent(box):
            box.clear()
            box.addItem("", "")
            for value in choices:
                box.addItem(value, value)


def _tell_grouped(box: QComboBox, seen: FilePreview) -> None:
    """Say beside each sign how the first number that has it would be read."""
    text = joined((line.text for line in seen.lines if line.role in ("body", "total", "")), "\n")
    with silent(box):
        for row in range(1, box.count()):
            sign = str(box.itemData(row))
            number = re.search(rf"(?<![\d.,])\d{{1,3}}(?:{re.escape(sign)}\d{{3}})+(?!\d)", text)
            said = translate(GROUPED.get(sign, sign))
            if number is not None:
                # As it stands in the file, in no language's way.
                said += message(" ({number} \u2192 {sign})", number[0], number[0].replace(sign, ""))
            box.setItemText(row, translate(said))


def value_of(box: QWidget) -> object:
    """Return what an input says; nothing where it says nothing."""
    if isinstance(box, QCheckBox):
        return box.isChecked()
    if isinstance(box, QComboBox) and not box.isEditable():
        return box.currentData()
    text = box.currentText() if isinstance(box, QComboBox) else str(cast(Any, box).text())
    if text.isdecimal() and int in option_named(Reading, box.objectName()).kinds:
        return int(text)
    # A blank may be what is meant: the sign between thousands.
    return text if text.strip() or text == " " else None


def said_of(name: str, value: object) -> object:
    """Return what a text says of several columns: ``year = 2024; sex = f``."""
    if not isinstance(value, str) or name not in LISTED | NAMED:
        return value
    parts = [part.strip() for part in value.split(";") if part.strip()]
    if name in LISTED:
        return parts or None
    named = (part.partition("=") for part in parts)
    return {key.strip(): said.strip() for key, sign, said in named if sign} or None


def shown(value: object) -> str:
    """A list, or what is said by name, as the text of an input."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name} = {said}" for name, said in value.items())
    return "; ".join(value) if isinstance(value, list | tuple) else str(value)


def set_value(box: QWidget, value: object) -> None:
    """Have an input say something."""
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
    elif isinstance(box, QLineEdit | MarkChoices | OneOf):
        box.setText(shown(value))
