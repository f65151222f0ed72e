"""The walk of a cycle: how units travel from cell to cell when it is added."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QTableView, QWidget

from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.theme import colour, inked, smooth_painter

MOST_ENTRIES = 400
"""Longer cycles are not drawn as arrows: the picture would be a scribble."""

Step = tuple[Index, Index]


def walk_steps(moves: MoveSet, cycle: int) -> list[Step]:
    """The closed walk of a cycle as steps from cell to cell; empty for very long cycles.

    Along the last axis a step goes from - to +, along the one before from + to -, and so on in
    turn, so that in a two-way table the steps chain into closed walks.
    """
    cells, signs = moves.entries(cycle)
    if len(cells) > MOST_ENTRIES:
        return []
    index = np.stack(np.unravel_index(cells, moves.domain.shape), axis=1).tolist()
    ndim = moves.domain.ndim
    steps: list[Step] = []
    for axis in range(ndim):
        lines: dict[tuple[int, ...], list[int]] = {}
        for entry, at in enumerate(index):
            lines.setdefault((*at[:axis], *at[axis + 1 :]), []).append(entry)
        backward = (ndim - axis) % 2 == 0
        for line in lines.values():
            # A kept line adds up to zero: as many of each sign, paired in order.
            plus = [e for e in line if signs[e] > 0]
            for p, m in zip(plus, [e for e in line if signs[e] < 0], strict=False):
                start, end = (p, m) if backward else (m, p)
                steps.append((tuple(index[start]), tuple(index[end])))
    return steps


class WalkOverlay(QWidget):
    """Arrows over the cells of a grid; the mouse passes through."""

    def __init__(self, view: QTableView) -> None:
        super().__init__(view.viewport())
        self._view = view
        self._layout: Layout | None = None
        self._steps: list[Step] = []
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        for bar in (view.horizontalScrollBar(), view.verticalScrollBar()):
            bar.valueChanged.connect(lambda _: self.update())
        self.hide()

    def show_steps(self, layout: Layout, steps: list[Step]) -> None:
        """Draw the steps that lie in one layer."""
        self._layout, self._steps = layout, steps
        self.setGeometry(self._view.viewport().rect())
        self.setVisible(bool(steps))
        self.raise_()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._layout is None:
            return
        painter = smooth_painter(self)
        ink = colour("text")
        ink.setAlpha(130)
        inked(painter, QPen(ink, 1.5), ink)
        model = self._view.model()
        for step in self._steps:
            places = [self._layout.position(index) for index in step]
            if places[0] is None or places[1] is None:
                continue
            boxes = [QRectF(self._view.visualRect(model.index(*at))) for at in places if at]
            _arrow(painter, *boxes, bent=self._is_outer(*step))

    def _is_outer(self, start: Index, end: Index) -> bool:
        """Return True if the step changes an outer variable: it would run over steps of the inner one."""
        assert self._layout is not None
        placement, domain = self._layout.placement, self._layout.domain
        inner = {*placement.rows[-1:], *placement.columns[-1:]}
        return any(a != b and name not in inner for name, a, b in zip(domain.names, start, end, strict=True))


def _arrow(painter: QPainter, start: QRectF, end: QRectF, *, bent: bool) -> None:
    a, b = start.center(), end.center()
    along = b - a
    length = max((along.x() ** 2 + along.y() ** 2) ** 0.5, 1.0)
    unit = along / length
    side = QPointF(-unit.y(), unit.x())
    trim = min(start.width() / max(abs(unit.x()), 1e-9), start.height() / max(abs(unit.y()), 1e-9))
    a, b = a + unit * (0.3 * trim), b - unit * (0.3 * trim)
    path = QPainterPath(a)
    if bent:
        middle = (a + b) / 2 + side * min(0.6 * start.width(), 0.25 * length)
        path.quadTo(middle, b)
        unit = b - middle
        unit /= max((unit.x() ** 2 + unit.y() ** 2) ** 0.5, 1.0)
        side = QPointF(-unit.y(), unit.x())
    else:
        path.lineTo(b)
    painter.strokePath(path, painter.pen())
    painter.drawPolygon(QPolygonF([b, b - unit * 8 + side * 4, b - unit * 8 - side * 4]))
