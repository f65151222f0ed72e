"""Words that do not fit where they stand."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QTabBar, QWidget

from tabprotect.gui.look.label import ElidedLabel

ARROW = 20
"""Pixels of a choice's arrow and borders."""


def cut(window: QWidget) -> list[str]:
    """Words of buttons, labels of one line, choices, tabs and fields to find in that are cut."""
    wrong = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible():
            continue
        letters = widget.fontMetrics()
        text, least = "", 0
        if isinstance(widget, QPushButton) or (
            isinstance(widget, QLabel) and not widget.wordWrap() and not isinstance(widget, ElidedLabel)
        ):
            text, least = widget.text(), widget.minimumSizeHint().width()
        elif isinstance(widget, QComboBox) and not widget.isEditable():
            text = widget.currentText()
            least = letters.horizontalAdvance(text) + ARROW
        elif isinstance(widget, QTabBar):
            # One that scrolls hides its last tabs.
            text, least = widget.accessibleName(), widget.tabRect(widget.count() - 1).right()
        elif isinstance(widget, QLineEdit) and widget.isClearButtonEnabled():
            text = widget.placeholderText()
            least = letters.horizontalAdvance(text)
        if widget.width() < least:
            wrong.append(f"{text!r} is cut: {widget.width()} of {least}")
    return wrong
