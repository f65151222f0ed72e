"""A layout that goes on in the next row where a row is full."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


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
