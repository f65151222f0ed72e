"""Frozen headers with one level per nested variable; group labels stay in sight."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from tabprotect.engine.tables.variable import spoken
from tabprotect.gui.grid.folded_levels import FOLDED, OPEN
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.theme import GRID, THEME, colour
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

NARROWEST = 6 * GRID
"""Pixels that a level of the rows keeps where its labels have to give room."""

LABEL_LIMIT = 22
"""Characters of a label that a header takes room from the cells for; the tooltip has all."""


class LevelHeader(QHeaderView):
    """Row or column header of a grid.

    ``rename_asked`` (level, line) asks to rename the category that was double-clicked, ``fold_asked``
    to fold or unfold the group that was clicked.
    """

    rename_asked = Signal(int, int)
    fold_asked = Signal(int, int)

    def __init__(self, orientation: Qt.Orientation, parent: QWidget | None = None) -> None:
        super().__init__(orientation, parent)
        self.down = orientation == Qt.Orientation.Vertical
        self.layout_: Layout | None = None
        self.total = False
        self.limit = LABEL_LIMIT
        self.aside = 0
        """Pixels at the right of each column beside its numbers: its label stands above these."""
        """Characters of a label that room is taken from the cells for."""
        self._rooms = 0, 0
        self._short = self._sizes = [40]
        self._shared: list[Shared] = []
        self.setSectionsClickable(True)
        self.setHighlightSections(True)
        self.setMinimumSectionSize(24)
        self.setSectionResizeMode(
            QHeaderView.ResizeMode.Fixed if self.down else QHeaderView.ResizeMode.Interactive
        )
        self.setAccessibleName(translate(message("Rows") if self.down else message("Columns")))
        THEME.changed.connect(self.viewport().update)

    def take(self, layout: Layout | None) -> None:
        """Take labels from a layout."""
        self.layout_ = layout
        self._wanted = self._widths(self.limit), self._widths(None)
        self.make_room(*self._rooms)
        domain = None if layout is None else layout.domain
        self._shared = [] if domain is None else [shared(domain[n].categories) for n in self.names]
        # Qt asks for the size of a header only now and then; this makes it ask.
        self.updateGeometry()
        self.headerDataChanged(self.orientation(), 0, max(0, self.count() - 1))
        self.viewport().update()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the levels, outermost first."""
        if self.layout_ is None:
            return ()
        placement = self.layout_.placement
        return placement.rows if self.down else placement.columns

    @property
    def heads(self) -> tuple[str, ...]:
        """The variables as people say them: a level by its own name."""
        return tuple(spoken((name,)) for name in self.names)

    def level_sizes(self) -> list[int]:
        """Width (rows) or height (columns) of each level in pixels."""
        return self._sizes

    @property
    def needed(self) -> int:
        """Pixels that the levels take from the cells."""
        return sum(self._short)

    def make_room(self, most: int, spare: int) -> bool:
        """Take note of what room there is, and return whether a level becomes wider or narrower.

        Parameters
        ----------
        most
            Pixels that all levels of the rows may take from the cells; 0 for as many as they need.
        spare
            Pixels that the cells leave: where they are more, labels are as long as these allow.
        """
        before, self._rooms = self._sizes, (most, spare)
        self._short = _narrowed(self._wanted[0], most)
        whole = _narrowed(self._wanted[1], spare) if spare else []
        self._sizes = whole if sum(whole) > self.needed else self._short
        return before != self._sizes

    def _widths(self, limit: int | None) -> list[int]:
        """Pixels of each level with labels of at most so many characters."""
        metrics = self.fontMetrics()
        if not self.down:
            return [metrics.height() + GRID] * max(1, len(self.names))
        if self.layout_ is None or not self.names:
            return [metrics.horizontalAdvance(tr("total")) + 3 * GRID]
        out = []
        for name, head in zip(self.names, self.heads, strict=True):
            longest = max(self.layout_.domain[name].categories, key=len)[:limit]
            wide = max(map(metrics.horizontalAdvance, (longest, message("{name} \u2193", head[:limit]))))
            out.append(max(wide, 4 * GRID) + 3 * GRID)
        return out

    def sizeHint(self) -> QSize:
        size = sum(self._sizes)
        return QSize(size, 100) if self.down else QSize(100, size)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), colour("window"))
        extent = self.viewport().height() if self.down else self.viewport().width()
        if not self.count() or not extent:
            return
        first = max(self.visualIndexAt(0), 0)
        last = self.visualIndexAt(extent - 1)
        last = self.count() - 1 if last < 0 else last
        if self.total or self.layout_ is None:
            self._paint_total(painter, first, last)
            return
        current = self._current()
        depth = max(1, len(self.names))
        labels = [self.layout_.labels(i, down=self.down) for i in range(first, last + 1)]
        across = 0
        for level in range(depth):
            size = self._sizes[level]
            if self.down and level == depth - 1:
                size = self.viewport().width() - across
            start = 0
            for i in range(1, len(labels) + 1):
                inner = level == depth - 1
                same = i < len(labels) and labels[i][: level + 1] == labels[start][: level + 1]
                if same and not inner:
                    continue
                begin = self.sectionViewportPosition(first + start)
                tail = first + i - 1
                end = self.sectionViewportPosition(tail) + self.sectionSize(tail)
                # The label of a group that is cut by the edge stays in sight; that of a cut row
                # stays beside its counts.
                row = self.down and inner
                visible = (begin, end) if row else (max(begin, 0), min(end, extent))
                box = self._box(across, size, *visible)
                here = current is not None and first + start <= current <= tail
                text = labels[start][level] if level < len(labels[start]) else "all"
                common = self._shared[level] if level < len(self._shared) else ("", "")
                self._label(painter, box, text, common, here, inner=inner)
                painter.setPen(QPen(colour("border"), 1))
                edge = self._box(across, size, begin, end)
                if self.down:
                    painter.drawLine(edge.bottomLeft(), edge.bottomRight())
                else:
                    painter.drawLine(edge.topRight(), edge.bottomRight())
                start = i
            across += size
        painter.setPen(QPen(colour("border"), 1))
        whole = self.viewport().rect()
        if self.down:
            painter.drawLine(whole.topRight(), whole.bottomRight())
        else:
            painter.drawLine(whole.bottomLeft(), whole.bottomRight())

    def _paint_total(self, painter: QPainter, first: int, last: int) -> None:
        painter.setPen(colour("quiet"))
        for i in range(first, last + 1):
            begin = self.sectionViewportPosition(i)
            box = (
                QRect(0, begin, self.viewport().width(), self.sectionSize(i))
                if self.down
                else QRect(begin, 0, self.sectionSize(i), self.viewport().height())
            )
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            if not self.down:
                flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
            painter.drawText(box.adjusted(GRID, 4, -GRID, -4), int(flags), tr("total"))

    def _box(self, across: int, size: int, begin: int, end: int) -> QRect:
        if self.down:
            return QRect(across, begin, size, end - begin)
        return QRect(begin, across, end - begin, size)

    def _label(
        self, painter: QPainter, box: QRect, text: str, common: Shared, here: bool, *, inner: bool
    ) -> None:
        if here:
            painter.fillRect(box, colour("selection"))
        painter.setPen(colour("text"))
        # Names that begin or end with blanks are shown as they are, but never as nothing.
        shown = text if text.strip() else f"\u201c{text}\u201d"
        room = box.adjusted(GRID, 0, -GRID, 0)
        above = inner and not self.down and painter.fontMetrics().horizontalAdvance(shown)
        if above and above <= room.width() - self.aside:
            room.setRight(room.right() - self.aside)
        side = Qt.AlignmentFlag.AlignRight if inner and not self.down else Qt.AlignmentFlag.AlignLeft
        words = elided(painter.fontMetrics(), shown, room.width(), common)
        painter.drawText(room, int(side | Qt.AlignmentFlag.AlignVCenter), words)

    def _current(self) -> int | None:
        if (model := self.selectionModel()) is None or not model.currentIndex().isValid():
            return None
        at = model.currentIndex()
        return at.row() if self.down else at.column()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        line = self.logicalIndexAt(event.position().toPoint())
        if self.down and self.cursor().shape() == Qt.CursorShape.SplitVCursor:
            super().mouseDoubleClickEvent(event)
            return
        if line >= 0 and self.names and not self._folds(self._level(event), line):
            self.rename_asked.emit(self._level(event), line)

    def _level(self, event: QMouseEvent) -> int:
        place = event.position().toPoint()
        across, level = place.x() if self.down else place.y(), 0
        for level, size in enumerate(self._sizes):  # noqa: B007
            if across < size:
                break
            across -= size
        return level

    def _folds(self, level: int, line: int) -> bool:
        """Return True if the label there is that of a group that folds."""
        if self.layout_ is None or self.total or not self.names or line < 0:
            return False
        label = self.layout_.labels(line, down=self.down)[level].lstrip()
        return label.startswith((FOLDED, OPEN))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        line, level = self.logicalIndexAt(event.position().toPoint()), self._level(event)
        resizing = self.cursor().shape() == Qt.CursorShape.SplitHCursor
        if self._folds(level, line) and not resizing:
            self.fold_asked.emit(level, line)
            return
        super().mousePressEvent(event)


def _narrowed(sizes: list[int], most: int) -> list[int]:
    """Levels in so many pixels (0 for as they are): the widest gives way first."""
    out = list(sizes)
    while most and sum(out) > most and max(out) > NARROWEST:
        widest = out.index(max(out))
        out[widest] = max(NARROWEST, out[widest] - (sum(out) - most), out[widest] - GRID)
    return out


class Corner(QWidget):
    """Says which variables stand in the rows and in the columns."""

    def __init__(self, rows: LevelHeader, columns: LevelHeader, parent: QWidget) -> None:
        super().__init__(parent)
        self._rows, self._columns = rows, columns
        self.setToolTip(tr("Select all"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        view = self._rows.parentWidget()
        assert isinstance(view, QTableView)
        view.selectAll()
        view.setFocus(Qt.FocusReason.MouseFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), colour("window"))
        font = self.font()
        font.setItalic(True)
        painter.setFont(font)
        painter.setPen(colour("quiet"))
        metrics = painter.fontMetrics()
        tall = metrics.height() + GRID
        # Column variables stand above the line of the row variables, right beside their level;
        # with one level only they share it, and an arrow says which is which.
        names, levels = self._columns.heads, self._columns.level_sizes()
        down = 0
        beside = self.beside()
        for name, size in zip(names, levels, strict=False):
            last = name == names[-1]
            box = self.rect().adjusted(beside if last else GRID, down, -GRID, 0)
            box.setHeight(size)
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, int(flags), self._cut(name, "\u2192", box.width()))
            down += size
        left = 0
        for name, size in zip(self._rows.heads, self._rows.level_sizes(), strict=False):
            room = size - GRID
            if name == self._rows.heads[-1]:
                room = beside - left - GRID
            box = QRect(left + GRID, self.height() - tall, room, tall)
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, int(flags), self._cut(name, "\u2193", room))
            left += size
        painter.setPen(QPen(colour("border"), 1))
        painter.drawLine(self.rect().bottomLeft(), self.rect().bottomRight())
        painter.drawLine(self.rect().topRight(), self.rect().bottomRight())

    def beside(self) -> int:
        """Return where on the line that both share the rows' names end and the columns' begins.

        Where both do not fit, neither takes more than half from the other.
        """
        if not self._columns.heads:
            return min(self._row_names_width(), self.width())
        before = sum(self._rows.level_sizes()[:-1])
        room, rows = self.width() - before, self._row_names_width() - before
        columns = (
            self.fontMetrics().horizontalAdvance(
                message("{names} \u2192", self._columns.heads[-1][: self._columns.limit])
            )
            + 2 * GRID
        )
        return before + max(min(rows, room - columns), min(rows, room // 2), 0)

    def needed(self) -> int:
        """Pixels that the names take beside each other."""
        metrics = self.fontMetrics()
        across = [
            metrics.horizontalAdvance(message("{n} \u2192", n[: self._columns.limit]))
            for n in self._columns.heads
        ]
        beside = self._row_names_width() + (across[-1] if across else 0) + 2 * GRID
        return max(beside, max(across, default=0) + 2 * GRID)

    def _row_names_width(self) -> int:
        before = sum(self._rows.level_sizes()[:-1])
        last = (self._rows.heads or ("",))[-1]
        return (
            before
            + self.fontMetrics().horizontalAdvance(message("{last} \u2193", last[: self._rows.limit]))
            + 2 * GRID
        )

    def _cut(self, name: str, arrow: str, room: int) -> str:
        metrics, names = self.fontMetrics(), self._rows.heads + self._columns.heads
        words = elided(
            metrics, name, room - metrics.horizontalAdvance(message(" {arrow}", arrow)), shared(names)
        )
        return message("{words} {arrow}", words, arrow)


DOTS = "\u2026"

ASKED = 500
"""Labels of one variable that are compared; any others are looked at one by one."""

FEW = 8
"""Letters up to which the beginning of a label says more than its two ends."""

Shared = tuple[str, str]
"""What all labels begin and end with, in whole words."""


def shared(texts: Sequence[str]) -> Shared:
    """Return what all labels begin and end with; nothing of a single one."""
    asked = texts[:ASKED]
    if len(asked) < 2:
        return "", ""
    begin = _begin(asked)
    begin = begin[: begin.rfind(" ") + 1]
    end = _begin([text[len(begin) :][::-1] for text in asked])[::-1]
    return begin, end[end.find(" ") :] if " " in end else ""


def _begin(texts: Sequence[str]) -> str:
    """The signs that all texts begin with."""
    alike = takewhile(lambda signs: len(set(signs)) == 1, zip(*texts, strict=False))
    return joined(signs[0] for signs in alike)


def elided(metrics: QFontMetrics, text: str, room: int, common: Shared = ("", "")) -> str:
    """A label in so many pixels: what it shares with the others gives way first."""
    room = max(room, 0)
    begin, end = common
    if not (text.startswith(begin) and text.endswith(end) and len(begin) + len(end) < len(text)):
        begin, end = "", ""
    own = text[len(begin) : len(text) - len(end)]
    # Long labels often differ at their end; of a few letters the first say most.
    few = room < FEW * metrics.averageCharWidth()
    otherwise = Qt.TextElideMode.ElideRight if few else Qt.TextElideMode.ElideMiddle
    if metrics.horizontalAdvance(text) <= room or not begin + end:
        return metrics.elidedText(text, otherwise, room)
    if metrics.horizontalAdvance(begin + own + DOTS) <= room:
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
    before = DOTS if begin else ""
    if metrics.horizontalAdvance(before + own + DOTS) <= room:
        return metrics.elidedText(before + own + end, Qt.TextElideMode.ElideRight, room)
    return metrics.elidedText(own, otherwise, room)
