"""Everything a person, or a screen reader, can read off a widget."""

from __future__ import annotations

import re

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)

from tabprotect.gui.look.layouts import tab_follows_layout

WORD, TAG = re.compile(r"[^\W\d_]{2,}"), re.compile("<[^>]*>")
"""A word, of two letters or more, and what a text says of its look."""

ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)


def model_texts(model: QAbstractItemModel, parent: QModelIndex | None = None) -> list[str]:
    """All that a model says, children included."""
    parent = QModelIndex() if parent is None else parent
    out = []
    # A list model keeps its number of columns to itself.
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)
    for row in range(model.rowCount(parent)):
        for column in range(columns):
            index = model.index(row, column, parent)
            out += [str(value) for role in ROLES if (value := model.data(index, role)) is not None]
            if column == 0 and model.rowCount(index):
                out += model_texts(model, index)
    return out


def texts(widget: QWidget, *, hidden: bool = True) -> list[str]:
    """Texts, tooltips and accessible texts of a widget and all its children.

    ``hidden`` includes what is not shown now: left-over text could come back.
    """
    out = []
    for child in (widget, *widget.findChildren(QWidget)):
        if not hidden and not child.isVisibleTo(widget):
            continue
        out += [child.accessibleName(), child.accessibleDescription(), child.toolTip()]
        if isinstance(child, QLabel | QAbstractButton | QLineEdit):
            out.append(child.text())
        elif isinstance(child, QPlainTextEdit):
            out.append(child.toPlainText())
        elif isinstance(child, QComboBox):
            out += [child.itemText(i) for i in range(child.count())]
        elif isinstance(child, QAbstractItemView) and child.model() is not None:
            out += model_texts(child.model())
    return [text for text in out if text]


def tab_order(widget: QWidget) -> list[QWidget]:
    """The controls that Tab goes to, in its order, from the first one inside ``widget``."""
    tab_follows_layout(widget)
    chain, here = [], widget.nextInFocusChain()
    while here is not widget and here is not None:
        chain.append(here)
        here = here.nextInFocusChain()
    return [
        child
        for child in chain
        if widget.isAncestorOf(child)
        and child.isVisibleTo(widget)
        and child.isEnabled()
        and child.focusPolicy() & Qt.FocusPolicy.TabFocus
        # The arrows that a bar of tabs shows where it is narrow: its own keys do the same.
        and not child.objectName().startswith("Scroll")
    ]


def unnamed(widget: QWidget) -> list[str]:
    """Visible controls that a screen reader could not name."""
    controls = (QAbstractButton, QLineEdit, QComboBox, QAbstractItemView, QPlainTextEdit)
    return [
        type(child).__name__
        for child in widget.findChildren(QWidget)
        if isinstance(child, controls)
        and child.isVisibleTo(widget)
        and child.focusPolicy() != Qt.FocusPolicy.NoFocus
        # The field inside a spin box is spoken with the box's name.
        and not child.objectName().startswith("qt_")
        and not (child.accessibleName() or (isinstance(child, QAbstractButton) and child.text()))
    ]


def visible_words(widget: QWidget) -> list[str]:
    """The words that are read off a widget now: not those of cells, rows of lists and fields."""
    found: list[str] = []
    for child in (widget, *widget.findChildren(QWidget)):
        if not child.isVisibleTo(widget) or child.visibleRegion().isEmpty():
            continue
        text = ""
        if isinstance(child, QLabel | QAbstractButton):
            text = child.text()
        elif isinstance(child, QTabBar):
            text = " ".join(child.tabText(n) for n in range(child.count()))
        elif isinstance(child, QComboBox):
            text = child.currentText()
        found += WORD.findall(TAG.sub(" ", text))
    return found
