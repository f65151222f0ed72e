"""Rows, columns and stacks of widgets, each laid out in one call, and the tab order that follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeVar, cast

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)


class FlowLayout(QLayout):
    """Items from left to right, then from top to bottom, each in its own size."""

    def __init__(self, parent: QWidget | None = None, *, gap: int = 0) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        """All in one row."""
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        wide = sum(size.width() for size in sizes) + self._gap * max(len(sizes) - 1, 0)
        margins = self.contentsMargins()
        return QSize(
            wide + margins.left() + margins.right(),
            max((size.height() for size in sizes), default=0) + margins.top() + margins.bottom(),
        )

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        """Place the items, or only find out how high they would be."""
        margins = self.contentsMargins()
        area = rect.marginsRemoved(margins)
        x, y, row = area.x(), area.y(), 0
        line: list[tuple[QLayoutItem, QRect]] = []

        def place() -> None:
            # In the middle of their row, whatever its highest item is.
            for item, box in line if move else ():
                item.setGeometry(box.translated(0, (row - box.height()) // 2))
            line.clear()

        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if size.width() > area.width() and area.width() > 0:
                size.setWidth(area.width())
                if item.hasHeightForWidth():
                    size.setHeight(item.heightForWidth(area.width()))
            if x > area.x() and x + size.width() > area.x() + area.width():
                place()
                x, y, row = area.x(), y + row + self._gap, 0
            line.append((item, QRect(QPoint(x, y), size)))
            x += size.width() + self._gap
            row = max(row, size.height())
        place()
        return y + row - rect.y() + margins.bottom()


Margins = int | tuple[int, int, int, int]
"""On all sides, or left, top, right and bottom; in pixels."""

Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
"""A widget or a layout, with its stretch if it has one, a widget also with its place; a stretch."""


def in_column(
    *items: Item, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Items below each other, on a widget if one is given; by default as the style has it."""
    return filled(QVBoxLayout() if on is None else QVBoxLayout(on), *items, margins=margins, spacing=spacing)


def in_row(
    *items: Item, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """The same side by side."""
    return filled(QHBoxLayout() if on is None else QHBoxLayout(on), *items, margins=margins, spacing=spacing)


def in_grid(
    *,
    on: QWidget | None = None,
    margins: Margins | None = None,
    across: int | None = None,
    down: int | None = None,
    wide: int | None = None,
) -> QGridLayout:
    """Rows and columns to be filled.

    Parameters
    ----------
    across, down
        Pixels between columns and between rows.
    wide
        The column that has the room the others leave.
    """
    grid = filled(QGridLayout() if on is None else QGridLayout(on), margins=margins)
    if across is not None:
        grid.setHorizontalSpacing(across)
    if down is not None:
        grid.setVerticalSpacing(down)
    if wide is not None:
        grid.setColumnStretch(wide, 1)
    return grid


def held(layout: QLayout) -> QWidget:
    """A widget that is laid out so."""
    widget = QWidget()
    widget.setLayout(layout)
    return widget


def split(*parts: QWidget | tuple[QWidget, int], down: bool = False, sizes: Sequence[int] = ()) -> QSplitter:
    """Widgets side by side, or one ``down`` from the other, with a handle between that moves their border.

    Parameters
    ----------
    parts
        Each with its share of what room there is more, 0 where none is given.
    sizes
        Their pixels at first.
    """
    holder = QSplitter(
        Qt.Orientation.Vertical if down else Qt.Orientation.Horizontal, childrenCollapsible=False
    )
    for number, part in enumerate(parts):
        widget, room = part if isinstance(part, tuple) else (part, 0)
        holder.addWidget(widget)
        holder.setStretchFactor(number, room)
    if sizes:
        holder.setSizes(list(sizes))
    return holder


Holder = TypeVar("Holder", bound=QLayout | QSplitter | QStackedWidget)


def filled(
    holder: Holder, *items: Item, margins: Margins | None = None, spacing: int | None = None
) -> Holder:
    """Return what holds widgets, with more of them behind those that it has."""
    if isinstance(holder, QLayout):
        if margins is not None:
            holder.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
        if spacing is not None:
            holder.setSpacing(spacing)
    for item in items:
        match item:
            case int():
                cast(QBoxLayout, holder).addStretch(item)
            case tuple():
                (cast(QBoxLayout, holder).addLayout if isinstance(item[0], QLayout) else holder.addWidget)(
                    *item
                )
            case QLayout():
                cast(QBoxLayout, holder).addLayout(item)
            case _:
                holder.addWidget(item)
    return holder


def set_visible(visible: bool, *widgets: QWidget) -> None:
    """Show widgets, or hide them."""
    for widget in widgets:
        widget.setVisible(visible)


def set_enabled(enabled: bool, *widgets: QWidget | QAction) -> None:
    """Let widgets be used, or not."""
    for widget in widgets:
        widget.setEnabled(enabled)


def front_sets_height(stack: QStackedWidget | QTabWidget) -> None:
    """Have only the widget in front say how high a stack must be; all of them are in it."""

    def turned(front: int) -> None:
        for number in range(stack.count()):
            if (widget := stack.widget(number)) is not None:
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
    """Return what a widget is laid out from, in order."""
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
    for part in placed(layout):
        if isinstance(part, QLayout):
            yield from _laid_out(part)
        else:
            yield part


def placed(layout: QLayout) -> list[QWidget | QLayout]:
    """The widgets and layouts in a layout, in order; those in a grid by row.

    Asked of the parts, not by ``itemAt``: Qt deletes its items without a word to Python, which goes
    on to hold their addresses for theirs, and the program ends when a timer made there is deleted.
    """
    owner = layout.parentWidget()
    parts: list[QWidget | QLayout] = [p for p in layout.children() if isinstance(p, QLayout)]
    if owner is not None:
        parts += owner.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    found = {at: part for part in parts if (at := layout.indexOf(part)) >= 0}
    places = sorted(found)
    if isinstance(layout, QGridLayout):
        # A cell may have been filled before one above it.
        places.sort(key=lambda at: cast(tuple[int, ...], layout.getItemPosition(at))[:2])
    return [found[at] for at in places]
