"""The values of the import sheet's inputs, as the options of reading take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from tabprotect.engine.formats.reading_options import options, takes_number
from tabprotect.gui.forms.import_words import LISTED, NAMED
from tabprotect.gui.forms.mark_choices import MarkChoices


def value_of(box: QWidget) -> object:
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


def shown(value: object) -> str:
    """A list, or what is said by name, as the text of an input."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name} = {said}" for name, said in value.items())
    return "; ".join(value) if isinstance(value, list | tuple) else str(value)


def _text(box: Any) -> str:
    return str(box.text())


def set_value(box: QWidget, value: object) -> None:
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
        box.setText(shown(value))
