"""The items of the list of cycles: what they say and how they are painted, only where seen."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QAbstractListModel, QByteArray, QMimeData, QModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from tabprotect.engine.arrays import Bools, Ints, Signs
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.lists.listing import AnyIndex
from tabprotect.gui.look.theme import GRID, THEME, colour, count_text, inked
from tabprotect.gui.pages.cycles.cycle_picture import extent, paint_pattern, pattern
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

MIME = "application/x-tabprotect-cycle"
KEPT_PATTERNS = 500


class CycleListModel(QAbstractListModel):
    """The cycles that pass the filter; ``number(row)`` is the cycle's own number."""

    def __init__(self) -> None:
        super().__init__()
        self.moves: MoveSet | None = None
        self.placement: Placement | None = None
        self.blocked: Bools | None = None
        self.broken: Mapping[int, str] = {}
        self.shown = np.zeros(0, dtype=np.int64)
        self._filter = ""
        self._patterns: OrderedDict[int, Signs] = OrderedDict()

    def show_moves(self, moves: MoveSet | None, placement: Placement | None) -> None:
        """Take another cycle set; what is known about it follows."""
        self.beginResetModel()
        self.moves, self.placement = moves, placement
        self.blocked, self.broken = None, {}
        self._patterns.clear()
        self.shown = self._passing()
        self.endResetModel()

    def mark(self, *, blocked: Bools | None, broken: Mapping[int, str]) -> None:
        """Say which cycles are blocked on the table and which sums others break, in small letters."""
        self.blocked, self.broken = blocked, broken
        if self._filter:
            self.set_filter(self._filter)
        elif self.rowCount():
            self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))

    def set_filter(self, text: str) -> None:
        """Numbers, ``blocked``, ``broken`` (and of what), or parts of the categories of a cell.

        Categories with commas between them belong to one cell that the cycle touches.
        """
        self.beginResetModel()
        self._filter = text.strip()
        self.shown = self._passing()
        self.endResetModel()

    def _passing(self) -> Ints:
        moves, text = self.moves, self._filter.casefold()
        if moves is None:
            return np.zeros(0, dtype=np.int64)
        everything = np.arange(len(moves), dtype=np.int64)
        if not text:
            return everything
        if natural(text) is not None:
            return everything[np.char.find((everything + 1).astype(np.str_), text) >= 0]
        if text == "blocked":
            return everything if self.blocked is None else np.flatnonzero(self.blocked)
        if text.startswith("broken"):
            of = text.removeprefix("broken").strip()
            found = [cycle for cycle, names in self.broken.items() if of in names]
            return np.array(sorted(found), dtype=np.int64)
        hit = np.ones(len(moves.cells), dtype=np.bool_)
        for part in filter(None, map(str.strip, text.split(","))):
            hit &= self._touching(moves, part)
        return np.unique(moves.rows[hit])

    @staticmethod
    def _touching(moves: MoveSet, part: str) -> Bools:
        """Entries in a cell that has part of a category's name."""
        hit = np.zeros(len(moves.cells), dtype=np.bool_)
        for axis, variable in enumerate(moves.domain.variables):
            codes = [i for i, c in enumerate(variable.categories) if part in c.casefold()]
            if codes:
                stride = int(np.prod(moves.domain.shape[axis + 1 :], dtype=np.int64))
                hit |= np.isin(moves.cells // stride % len(variable.categories), codes)
        return hit

    def number(self, row: int) -> int:
        """The cycle's number in the set."""
        return int(self.shown[row])

    def row_of(self, cycle: int) -> int:
        """Return where a cycle stands in the list; -1 where the filter hides it."""
        at = int(np.searchsorted(self.shown, cycle))
        return at if at < len(self.shown) and self.shown[at] == cycle else -1

    def pattern(self, cycle: int) -> Signs:
        """The cycle's picture, kept while it is likely to be asked for again."""
        if cycle not in self._patterns:
            assert self.moves is not None and self.placement is not None
            self._patterns[cycle] = pattern(self.moves, cycle, self.placement)
            if len(self._patterns) > KEPT_PATTERNS:
                self._patterns.popitem(last=False)
        return self._patterns[cycle]

    def state(self, cycle: int) -> str:
        """``broken``, ``blocked`` or nothing."""
        if cycle in self.broken:
            return "broken"
        return "blocked" if self.blocked is not None and self.blocked[cycle] else ""

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.shown)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role not in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.AccessibleTextRole,
            Qt.ItemDataRole.ToolTipRole,
        ):
            return None
        assert self.moves is not None
        cycle = self.number(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return tr("Cycle {cycle}", cycle + 1)
        cells = len(self.moves.entries(cycle)[0])
        words = {"broken": message(", breaks a margin"), "blocked": message(", blocked on this table")}
        return translate(
            message(
                "Cycle {cycle} over {cells} cells: {moves}",
                cycle + 1,
                count_text(cells),
                joined(extent(self.moves, cycle), " \u00d7 "),
            )
        ) + translate(words.get(self.state(cycle), ""))

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        both = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return both | Qt.ItemFlag.ItemIsDragEnabled if index.isValid() else Qt.ItemFlag.ItemIsDropEnabled

    def mimeTypes(self) -> list[str]:
        return [MIME]

    def mimeData(self, indexes: list[QModelIndex]) -> QMimeData:  # type: ignore[override]
        data = QMimeData()
        data.setData(MIME, QByteArray(str(self.number(indexes[0].row())).encode()))
        return data

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction | Qt.DropAction.CopyAction


class CycleItem(QStyledItemDelegate):
    """Thumbnail, number, extent, and a symbol where the cycle is broken or blocked."""

    picture = 5 * GRID

    @classmethod
    def height(cls, metrics: QFontMetrics) -> int:
        """Return the height of a row, pixels."""
        return max(cls.picture, 3 * metrics.height()) + 2 * GRID

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        model = index.model()
        assert isinstance(model, CycleListModel) and model.moves is not None
        cycle = model.number(index.row())
        state = model.state(cycle)
        rect = option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, colour("selection"))
            if option.state & QStyle.StateFlag.State_HasFocus:
                painter.setPen(QPen(colour("focus"), 2))
                painter.drawRect(rect.adjusted(1, 1, -2, -2))
        size = self.picture
        area = QRectF(rect.left() + GRID // 2, rect.center().y() - size / 2, size, size)
        paint_pattern(painter, area, model.pattern(cycle))
        x = rect.left() + size + 2 * GRID
        line = option.fontMetrics.height()
        top = rect.center().y() - 3 * line // 2
        wide = rect.right() - x - GRID // 2
        painter.setPen(colour("text"))
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        left = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(QRect(x, top, wide, line), left, f"{cycle + 1}")
        font.setBold(False)
        painter.setFont(font)
        if state:
            self._state(painter, QRect(x, top, wide, line), state, len(f"{cycle + 1}"))
        painter.setPen(colour("quiet"))
        parts = extent(model.moves, cycle, briefly=True)
        half = (len(parts) + 1) // 2
        for number, some in enumerate((parts[:half], parts[half:]), start=1):
            words = translate(joined(some, " \u00d7 "))
            short = option.fontMetrics.elidedText(words, Qt.TextElideMode.ElideRight, wide)
            painter.drawText(QRect(x, top + number * line, wide, line), left, short)
        painter.setPen(colour("border"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    @staticmethod
    def _state(painter: QPainter, box: QRect, state: str, digits: int) -> None:
        """A symbol, and the word where there is room beside the number."""
        metrics = painter.fontMetrics()
        ink = THEME.colours.error if state == "broken" else THEME.colours.unreleasable
        said = tr("broken") if state == "broken" else tr("blocked")
        word, size = metrics.horizontalAdvance(said), 14
        room = box.width() - metrics.horizontalAdvance("8") * (digits + 2)
        left = box.right() - (word + size + 4 if room > word + size + 4 else size)
        where = QRect(left, box.top() + (box.height() - size) // 2, size, size)
        if state == "broken":
            painter.drawPixmap(where, icons.pixmap("cross", size, colour=ink))
        else:
            inked(painter, QPen(QColor(ink), 1), QBrush(QColor(ink), Qt.BrushStyle.BDiagPattern))
            painter.drawRect(where.adjusted(2, 2, -2, -2))
        if room > word + size + 4:
            painter.setPen(QColor(ink))
            text = QRect(where.right() + 4, box.top(), word + 2, box.height())
            painter.drawText(text, int(Qt.AlignmentFlag.AlignVCenter), said)
