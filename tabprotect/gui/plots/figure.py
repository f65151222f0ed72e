"""A drawing that can be shown, and written as SVG or PNG."""

from __future__ import annotations

from abc import abstractmethod

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QImage, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QSizePolicy, QWidget

from tabprotect.gui.theme import GRID, LIGHT, THEME, Colours, tabular

EXPORT_SCALE = 2
"""Bitmaps are written with twice the screen's resolution."""


class Figure(QWidget):
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
        """The picture as an SVG document in light colours, with its caption drawn below."""
        size = size or self._file_size()
        target = QBuffer()
        target.open(QIODevice.OpenModeFlag.WriteOnly)
        generator = QSvgGenerator()
        generator.setOutputDevice(target)
        generator.setSize(size)
        generator.setViewBox(QRect(0, 0, size.width(), size.height()))
        generator.setTitle(self.accessibleName())
        generator.setDescription(caption)
        painter = QPainter(generator)
        self._draw_file(painter, size, caption)
        painter.end()
        return bytes(target.data().data())

    def png(self, *, caption: str, size: QSize | None = None) -> bytes:
        """The picture as a PNG in light colours, with its caption drawn below."""
        size = size or self._file_size()
        image = QImage(size * EXPORT_SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(EXPORT_SCALE)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_file(painter, size, caption)
        painter.end()
        data = QByteArray()
        target = QBuffer(data)
        target.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(target, "PNG")
        return bytes(data.data())

    def _file_size(self) -> QSize:
        return self.size().expandedTo(QSize(60 * GRID, 40 * GRID))

    def _draw_file(self, painter: QPainter, size: QSize, caption: str) -> None:
        # Figures for a report: light ground whatever the window's colours.
        painter.setFont(self.figure_font())
        whole = QRectF(0, 0, size.width(), size.height())
        painter.fillRect(whole, LIGHT.base)
        flags = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft)
        inner = whole.adjusted(GRID, GRID, -GRID, -GRID)
        box = painter.boundingRect(inner, flags, caption)
        painter.setPen(LIGHT.text)
        foot = QRectF(inner.left(), inner.bottom() - box.height(), inner.width(), box.height())
        painter.drawText(foot, flags, caption)
        self.draw(painter, inner.adjusted(0, 0, 0, -box.height() - GRID), LIGHT)
