"""Rows, columns and stacks of widgets, each laid out in one call."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLayout,
    QSizePolicy,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

Margins = int | tuple[int, int, int, int]
"""On all sides, or left, top, right and bottom; in pixels."""

Item = (
    QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
)
"""A widget or a layout, with its stretch if it has one, a widget also with its place; a stretch."""


def in_column(
    *items: Item,
    on: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Items below each other, on a widget if one is given; by default as the style has it."""
    layout = QVBoxLayout() if on is None else QVBoxLayout(on)
    _fill(layout, items, margins, spacing)
    return layout


def in_row(
    *items: Item,
    on: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QHBoxLayout:
    """The same side by side."""
    layout = QHBoxLayout() if on is None else QHBoxLayout(on)
    _fill(layout, items, margins, spacing)
    return layout


def front_sets_height(stack: QStackedWidget | QTabWidget) -> None:
    """Have only the widget in front say how high a stack must be; all of them are in it."""

    def turned(front: int) -> None:
        for number in range(stack.count()):
            widget = stack.widget(number)
            if widget is not None:
                policy = widget.sizePolicy()
                policy.setVerticalPolicy(
                    QSizePolicy.Policy.Preferred if number == front else QSizePolicy.Policy.Ignored
                )
                widget.setSizePolicy(policy)

    stack.currentChanged.connect(turned)
    turned(stack.currentIndex())


def _fill(
    layout: QBoxLayout, items: tuple[Item, ...], margins: Margins | None, spacing: int | None
) -> None:
    if margins is not None:
        sides = (margins,) * 4 if isinstance(margins, int) else margins
        layout.setContentsMargins(*sides)
    if spacing is not None:
        layout.setSpacing(spacing)
    for item in items:
        if isinstance(item, int):
            layout.addStretch(item)
        elif not isinstance(item, tuple):
            _add(layout, item)
        elif len(item) == 2:
            _add(layout, *item)
        else:
            layout.addWidget(*item)


def _add(layout: QBoxLayout, item: QWidget | QLayout, stretch: int = 0) -> None:
    if isinstance(item, QLayout):
        layout.addLayout(item, stretch)
    else:
        layout.addWidget(item, stretch)
