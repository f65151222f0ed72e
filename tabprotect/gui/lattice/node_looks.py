"""How a sub-table looks: colour and pattern for its region, a heavy outline on a frontier.

Released: filled. Candidate: hollow. Unreleasable: hatched. Not proved safe: hollow and dashed.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from tabprotect.gui.lattice.space import CANDIDATE, RELEASED, UNKNOWN, UNRELEASABLE
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import FlowLayout, in_row
from tabprotect.gui.look.theme import GRID, THEME, Colours, inked, smooth_painter
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

RADIUS = 5.0


@dataclass(frozen=True)
class NodeLook:
    """One node.

    Attributes
    ----------
    region
        Number of its status.
    frontier
        Whether it is on one of the two frontiers.
    ghost
        The region it would change to, if the node in focus were released.
    faint
        Whether it is not what was searched for.
    fill, ink
        A colour of a scale instead of the region's.
    """

    region: int
    frontier: bool = False
    ghost: int | None = None
    faint: bool = False
    fill: str = ""
    ink: str = ""


def paint_node(painter: QPainter, box: QRectF, text: str, look: NodeLook, colours: Colours) -> None:
    """One rounded box with its letters."""
    painter.setOpacity(0.25 if look.faint else 1.0)
    ink, ground = _ground(painter, box, look, colours)
    width = 3.0 if look.frontier else 1.2
    style = Qt.PenStyle.DashLine if look.region == UNKNOWN else Qt.PenStyle.SolidLine
    edge = colours.text if look.frontier and look.region == RELEASED else _edge(look, colours)
    inked(painter, QPen(QColor(edge), width, style))
    painter.drawRoundedRect(box, RADIUS, RADIUS)
    if look.ghost is not None:
        _ghost(painter, box, look.ghost, colours)
    if text:
        if ground:
            # Letters over hatching stand on a plain ground.
            size = painter.fontMetrics().size(0, text)
            plate = QRectF(0, 0, min(size.width() + 4, box.width() - 4), size.height() - 2)
            plate.moveCenter(box.center())
            inked(painter, Qt.PenStyle.NoPen, QColor(ground))
            painter.drawRoundedRect(plate, 2, 2)
        painter.setPen(QColor(ink))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
    painter.setOpacity(1.0)


def _ground(painter: QPainter, box: QRectF, look: NodeLook, colours: Colours) -> tuple[str, str]:
    """Fill the box; the ink for its letters, and the plain ground they need (or none)."""
    painter.setPen(Qt.PenStyle.NoPen)
    if look.fill:
        painter.setBrush(QColor(look.fill))
        painter.drawRoundedRect(box, RADIUS, RADIUS)
        return look.ink or colours.text, ""
    if look.region == RELEASED:
        painter.setBrush(QColor(colours.released))
        painter.drawRoundedRect(box, RADIUS, RADIUS)
        return colours.base, ""
    painter.setBrush(QColor(colours.base))
    painter.drawRoundedRect(box, RADIUS, RADIUS)
    if look.region == UNRELEASABLE:
        painter.setBrush(QBrush(QColor(colours.unreleasable), Qt.BrushStyle.BDiagPattern))
        painter.drawRoundedRect(box, RADIUS, RADIUS)
        return colours.text, colours.base
    return colours.text if look.region == CANDIDATE else colours.quiet, ""


def _edge(look: NodeLook, colours: Colours) -> str:
    if look.fill:
        return colours.text if look.frontier else colours.border
    return {
        RELEASED: colours.released,
        CANDIDATE: colours.quiet,
        UNRELEASABLE: colours.unreleasable,
        UNKNOWN: colours.unreleasable if look.frontier else colours.quiet,
    }[look.region]


def _ghost(painter: QPainter, box: QRectF, to: int, colours: Colours) -> None:
    """Paint what it would become, translucent."""
    colour = QColor(colours.released if to == RELEASED else colours.unreleasable)
    pen = QPen(colour, 2, Qt.PenStyle.DotLine)
    fill = QColor(colour)
    fill.setAlphaF(0.30)
    pattern = Qt.BrushStyle.SolidPattern if to == RELEASED else Qt.BrushStyle.BDiagPattern
    inked(painter, pen, QBrush(fill, pattern))
    painter.drawRoundedRect(box, RADIUS, RADIUS)


LEGEND: tuple[tuple[str, NodeLook], ...] = (
    (message("planned"), NodeLook(RELEASED)),
    (message("its frontier"), NodeLook(RELEASED, frontier=True)),
    (message("may be released"), NodeLook(CANDIDATE)),
    (message("may not be released"), NodeLook(UNRELEASABLE)),
    (message("its frontier"), NodeLook(UNRELEASABLE, frontier=True)),
    (message("not proved wide enough"), NodeLook(UNKNOWN)),
)


class _Sample(QWidget):
    def __init__(self, look: NodeLook) -> None:
        super().__init__()
        self._look = look
        self.setFixedSize(self.sizeHint())

    def sizeHint(self) -> QSize:
        return QSize(3 * GRID, 2 * GRID)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth_painter(self)
        paint_node(painter, QRectF(self.rect()).adjusted(2, 2, -2, -2), "", self._look, THEME.colours)


class Legend(QWidget):
    """The regions' symbols with their words."""

    def __init__(self) -> None:
        super().__init__(
            accessibleName=tr("Legend"),
            accessibleDescription=translate(joined((translate(words) for words, _ in LEGEND), ", ")),
        )
        flow = FlowLayout(self, gap=GRID)
        for words, look in LEGEND:
            pair = QWidget()
            in_row(_Sample(look), Label(words, role="quiet"), on=pair, margins=0, spacing=GRID // 2)
            flow.addWidget(pair)
