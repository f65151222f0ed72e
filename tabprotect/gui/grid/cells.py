"""What the cells of a grid say and how they are painted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QRect, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from tabprotect.engine.arrays import Arrays, Bools, Ints
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.buttons import named
from tabprotect.gui.look.drawn.drawing import RIGHT
from tabprotect.gui.look.label import tip
from tabprotect.gui.look.lists.listing import AnyIndex
from tabprotect.gui.look.theme import THEME, Written, colour, count_text, inked, signed_text
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

# Combined once: flags are asked for, and tested, for every cell of every frame.
READ_ONLY = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
EDITABLE = READ_ONLY | Qt.ItemFlag.ItemIsEditable
SELECTED = QStyle.StateFlag.State_Selected.value
FOCUSED = QStyle.StateFlag.State_HasFocus.value
PADDING = (4, 0, -8, 0)

NO_CHANGE = 2**61
"""From here on a number stands for what has no change: a count that is not published."""

HEADER_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)


def room_for_letter(metrics: QFontMetrics) -> int:
    """Pixels at the right of a cell for a letter."""
    return metrics.horizontalAdvance("M") + 4


def room_for_change(metrics: QFontMetrics, change: Ints, text: Written = signed_text) -> int:
    """The same for what any of the cells changed by."""
    moved = change[np.abs(change) < NO_CHANGE]
    ends = (moved.min(), moved.max()) if moved.size else (0, 0)
    wide = max(metrics.horizontalAdvance(translate(text(int(end)))) for end in ends)
    return max(wide, metrics.horizontalAdvance("+1")) + 10


class GridModel(QAbstractTableModel):
    """A flat array of values with a layout.

    ``typed`` carries (row, column, text) when somebody has typed into a cell: the model never
    changes its values itself.
    """

    typed = Signal(int, int, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.layout_: Layout | None = None
        self.values: Arrays = np.zeros((0, 0), dtype=np.int64)
        self.text: Written = count_text
        self.editable = False
        self.describe: Callable[[int, int], str] | None = None

    def show(self, layout: Layout | None, values: Arrays, text: Written = count_text) -> None:
        """Show other values; a layout of the same size keeps scroll position and selection."""
        reset = values.shape != self.values.shape
        if reset:
            self.beginResetModel()
        self.layout_, self.values, self.text = layout, values, text
        if reset:
            self.endResetModel()
        elif values.size:
            self.dataChanged.emit(self.index(0, 0), self.index(values.shape[0] - 1, values.shape[1] - 1))
            for orientation, size in zip(
                (Qt.Orientation.Vertical, Qt.Orientation.Horizontal), values.shape, strict=True
            ):
                self.headerDataChanged.emit(orientation, 0, size - 1)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else int(self.values.shape[0])

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else int(self.values.shape[1])

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(self.values[index.row(), index.column()].item())
        if role == Qt.ItemDataRole.EditRole:
            return str(self.values[index.row(), index.column()].item())
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and self.describe is not None:
            return translate(self.describe(index.row(), index.column()))
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if self.layout_ is None or role not in HEADER_ROLES:
            return None
        down = orientation == Qt.Orientation.Vertical
        if section < self.layout_.shape[0 if down else 1]:
            if role == Qt.ItemDataRole.ToolTipRole:
                return tip(self.layout_.words(section, down=down))
            return self.layout_.label(section, down=down)
        return tr("total")

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        return EDITABLE if self.editable else READ_ONLY

    def setData(self, index: AnyIndex, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role == Qt.ItemDataRole.EditRole:
            self.typed.emit(index.row(), index.column(), str(value))
        return False


class CellDelegate(QStyledItemDelegate):
    """Paints cells straight from arrays: no role is asked per cell, so a screen is a few ms.

    Arrays of the grid's shape, all optional:

    ``mark``
        Cells with the at-risk ground and dot.
    ``ground``
        Number of the ground colour in ``grounds``, 0 for none.
    ``hatch``
        Cells that are hatched (blocked, suppressed).
    ``hidden``
        Cells without a published count: an x stands for it.
    ``aside``
        What each cell changed by, written at its right where it did, in ``beside`` pixels.
    ``letters``
        A letter at the right of each cell, empty for none.

    ``draw`` (painter, rect, row, column, selected) is called after the ground and before the
    text of each visible cell, for pages that draw more.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.mark: Bools | None = None
        self.ground: npt.NDArray[np.uint8] | None = None
        self.grounds: Sequence[tuple[QColor, QColor]] = []
        self.hatch: Bools | None = None
        self.hidden: Bools | None = None
        self.aside: Ints | None = None
        self.beside = 0
        self.aside_text: Written = signed_text
        self.letters: npt.NDArray[np.str_] | None = None
        self.draw: Callable[[QPainter, QRect, int, int, bool], None] | None = None
        self.quiet_zeros = True
        self.quiet = False
        self.bold = False
        THEME.changed.connect(self.take_colours)
        self.take_colours()

    def take_colours(self) -> None:
        """Read the theme's colours once, not per cell."""
        self._base = colour("base")
        self._total = colour("raised")
        self._text = colour("text")
        self._quiet = colour("quiet")
        self._fill = colour("at_risk_fill")
        self._on_fill = colour("on_at_risk")
        self._dot = colour("at_risk")
        self._selection = colour("selection")
        self._focus = QPen(colour("focus"), 2)
        self._line = colour("border")

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        row, column = index.row(), index.column()
        model: GridModel = index.model()  # type: ignore[assignment]
        if row >= model.values.shape[0] or column >= model.values.shape[1]:
            return
        value = model.values[row, column].item()
        # A copy: the rectangle of the option is narrowed where something stands beside the number.
        rect = QRect(option.rect)
        state = option.state.value
        selected = bool(state & SELECTED)
        marked = self.mark is not None and self.mark[row, column]
        ink = self._quiet if self.quiet or (self.quiet_zeros and value == 0) else self._text
        if marked:
            painter.fillRect(rect, self._fill)
            ink = self._on_fill
        elif self.ground is not None and self.ground[row, column]:
            fill, ink = self.grounds[self.ground[row, column] - 1]
            painter.fillRect(rect, fill)
        elif selected:
            painter.fillRect(rect, self._selection)
        elif self.quiet:
            painter.fillRect(rect, self._total)
        if self.hatch is not None and self.hatch[row, column]:
            painter.fillRect(rect, QBrush(self._line, Qt.BrushStyle.BDiagPattern))
        if selected and (marked or self.ground is not None):
            veil = QColor(self._selection)
            veil.setAlpha(120)
            painter.fillRect(rect, veil)
        if self.draw is not None:
            self.draw(painter, rect, row, column, selected)
        if marked:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
            inked(painter, Qt.PenStyle.NoPen, self._dot)
            painter.drawEllipse(rect.left() + 4, rect.top() + 4, 6, 6)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(ink)
        missing = self.hidden is not None and self.hidden[row, column]
        if self.aside is not None:
            if (change := int(self.aside[row, column])) and not missing and abs(change) < NO_CHANGE:
                painter.drawText(rect.adjusted(0, 0, -4, 0), RIGHT, translate(self.aside_text(change)))
            painter.setPen(self._text)
            option.rect = rect.adjusted(0, 0, -self.beside, 0)
        if self.letters is not None:
            painter.drawText(rect.adjusted(0, 0, -6, 0), RIGHT, str(self.letters[row, column]))
            option.rect = rect.adjusted(0, 0, -room_for_letter(painter.fontMetrics()), 0)
        self.write(painter, option, "x" if missing else translate(model.text(value)))
        if state & FOCUSED:
            inked(painter, self._focus)
            painter.drawRect(rect.adjusted(1, 1, -2, -2))

    def room_aside(self, metrics: QFontMetrics) -> int:
        """Pixels at the right of each number: for what it changed by, or for a letter."""
        if self.letters is not None:
            return room_for_letter(metrics)
        return self.beside if self.aside is not None else 0

    @staticmethod
    def write(painter: QPainter, option: QStyleOptionViewItem, text: str) -> None:
        """Write a number, or an ellipsis where not all of it is in sight: 80 must not read 8."""
        rect: QRect = option.rect
        room = rect.adjusted(*PADDING)
        left, right = room.left(), room.right()
        wide = painter.fontMetrics().horizontalAdvance(text)
        view = option.widget
        end = view.viewport().width() - 1 if isinstance(view, QAbstractItemView) else right
        if right + 1 - wide >= max(left, 0) and right <= end:
            painter.drawText(room, RIGHT, text)
        else:
            seen = QRect(rect)
            seen.setLeft(max(rect.left(), 0))
            seen.setRight(min(rect.right(), end))
            # At the right, where a sign at the left leaves room.
            painter.drawText(seen.adjusted(0, 0, -3, 0), RIGHT, "\u2026")

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: AnyIndex) -> QWidget:
        return named(QLineEdit(parent, alignment=Qt.AlignmentFlag.AlignRight, frame=False), message("Count"))
