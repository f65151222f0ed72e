"""A drawing that can be shown, and written as SVG or PNG."""

from __future__ import annotations

from abc import abstractmethod

from PySide6.QtCore import QBuffer, QIODevice, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QImageWriter, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QSizePolicy, QWidget

from tabprotect.gui.look.theme import GRID, LIGHT, THEME, Colours, tabular
from tabprotect.languages.speaking import told

LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
CENTRE = int(Qt.AlignmentFlag.AlignCenter)
CAPTION = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft)

EXPORT_SCALE = 2
"""Bitmaps are written with twice the screen's resolution."""


class Drawing(QWidget):
    """Base of the plots: one method draws, for the screen and for files alike."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(24 * GRID, 18 * GRID)

    @abstractmethod
    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        """Draw into a rectangle in the given colours; the painter's font is set."""

    def say(self, text: str) -> None:
        """The picture in words, for screen readers and as a tooltip."""
        self.setAccessibleDescription(text[:600])
        self.update()

    def figure_font(self) -> QFont:
        """The plot's font: a little smaller than text, figures of one width."""
        font = tabular(self.font())
        font.setPointSizeF(font.pointSizeF() * 0.92)
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.figure_font())
        self.draw(painter, QRectF(self.rect()), THEME.colours)

    def sizeHint(self) -> QSize:
        return QSize(44 * GRID, 30 * GRID)

    # -- files --------------------------------------------------------------------------------

    def svg(self, *, caption: str, size: QSize | None = None) -> bytes:
        """The picture of ``size`` as an SVG document in light colours, its caption below."""
        whole, foot = self._whole(size, caption)
        target = QBuffer()
        target.open(QIODevice.OpenModeFlag.WriteOnly)
        generator = QSvgGenerator()
        generator.setOutputDevice(target)
        # The screen's: else texts are smaller than the room that was measured for them.
        generator.setResolution(self.logicalDpiX())
        generator.setSize(whole)
        generator.setViewBox(QRect(0, 0, whole.width(), whole.height()))
        generator.setTitle(self.accessibleName())
        generator.setDescription(caption)
        painter = QPainter(generator)
        self._draw_file(painter, whole, caption, foot)
        painter.end()
        return bytes(target.data().data())

    def png(self, *, caption: str, size: QSize | None = None) -> bytes:
        """The picture of ``size`` as a PNG in light colours, its caption below."""
        whole, foot = self._whole(size, caption)
        image = QImage(whole * EXPORT_SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(EXPORT_SCALE)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_file(painter, whole, caption, foot)
        painter.end()
        target = QBuffer()
        target.open(QIODevice.OpenModeFlag.WriteOnly)
        QImageWriter(target, b"png").write(image)
        return bytes(target.data().data())

    def _whole(self, size: QSize | None, caption: str) -> tuple[QSize, int]:
        """The size of the file's picture with the caption, and the height of the caption."""
        size = self.size().expandedTo(QSize(0, 36 * GRID)) if size is None else size
        size = size.expandedTo(QSize(60 * GRID, 0))
        room = QRect(0, 0, size.width() - 2 * GRID, 10_000)
        foot = QFontMetrics(self.figure_font()).boundingRect(room, CAPTION, caption).height()
        return QSize(size.width(), size.height() + foot + 2 * GRID), foot

    def _draw_file(self, painter: QPainter, whole: QSize, caption: str, foot: int) -> None:
        # Figures for a report: light ground whatever the window's colours.
        painter.setFont(self.figure_font())
        area = QRectF(0, 0, whole.width(), whole.height())
        painter.fillRect(area, LIGHT.base)
        inner = area.adjusted(GRID, GRID, -GRID, -GRID)
        painter.setPen(LIGHT.text)
        below = QRectF(inner.left(), inner.bottom() - foot, inner.width(), foot + GRID)
        painter.drawText(below, CAPTION, told(caption))
        self.draw(painter, inner.adjusted(0, 0, 0, -foot - GRID), LIGHT)
