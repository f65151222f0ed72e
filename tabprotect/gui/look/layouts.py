"""Rows, columns and stacks of widgets, each laid out in one call, and the tab order that follows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QScrollArea,
    QSizePolicy,
    QSplitter,
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


def tab_follows_layout(widget: QWidget) -> None:
    """Have Tab visit the controls in a widget as one reads: in the order in which they are laid out."""
    for first, second in pairwise(reading_order(widget)):
        if first.nextInFocusChain() is not second:
            QWidget.setTabOrder(first, second)


def reading_order(widget: QWidget) -> Iterator[QWidget]:
    """The controls in a widget that take Tab, hidden ones too, as its layouts have them."""
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    for part in _parts(widget):
        yield from reading_order(part)


def _parts(widget: QWidget) -> Iterator[QWidget]:
    """What a widget is laid out from, in order."""
    if isinstance(widget, QTabWidget) and not widget.focusPolicy():
        # Else it hands the focus on to its bar itself.
        yield widget.tabBar()
    if isinstance(widget, QSplitter | QTabWidget | QStackedWidget):
        found = [widget.widget(at) for at in range(widget.count())]
    elif isinstance(widget, QScrollArea):
        found = [widget.widget()]
    elif (layout := widget.layout()) is not None:
        yield from _laid_out(layout)
        return
    else:
        return
    yield from (part for part in found if part is not None)


def _laid_out(layout: QLayout) -> Iterator[QWidget]:
    places = list(range(layout.count()))
    if isinstance(layout, QGridLayout):
        # A cell may have been filled before one above it.
        found = {at: cast(tuple[int, ...], layout.getItemPosition(at))[:2] for at in places}
        places.sort(key=found.__getitem__)
    for place in places:
        item = layout.itemAt(place)
        if item is None:
            continue
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            yield widget
        elif inner is not None:
            yield from _laid_out(inner)


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
