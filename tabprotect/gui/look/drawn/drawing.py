"""A drawing that can be shown, and written as SVG or PNG."""

from __future__ import annotations

import base64
import html
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QEvent, QIODevice, QMimeData, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QGuiApplication,
    QImage,
    QImageWriter,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QSizePolicy, QWidget

from tabprotect.gui.look.theme import GRID, LIGHT, THEME, Colours, tabular
from tabprotect.languages.translation import translate

LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
CENTRE = int(Qt.AlignmentFlag.AlignCenter)
CAPTION = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft)

EXPORT_SCALE = 2
"""Bitmaps are written with twice the screen's resolution."""


Draw = Callable[[QPainter, QRectF, Colours], None]


def figure_font(font: QFont) -> QFont:
    """The font of a plot among texts in ``font``: a little smaller, figures of one width."""
    out = tabular(font)
    out.setPointSizeF(out.pointSizeF() * 0.92)
    return out


@dataclass(frozen=True)
class Sheet:
    """A picture for a report: in light colours whatever the window's, its caption below.

    It knows no widget: where ``draw`` uses none either, it can be painted beside the window.

    Attributes
    ----------
    size
        Pixels of the picture, without the caption.
    dpi
        What texts were measured with: else they are smaller than the room for them.
    draw
        Draws into a rectangle in the given colours; the painter's font is set.
    """

    name: str
    caption: str
    size: QSize
    font: QFont
    dpi: int
    draw: Draw

    def svg(self) -> bytes:
        """An SVG document."""
        whole, foot = self._whole()
        target = QBuffer()
        target.open(QIODevice.OpenModeFlag.WriteOnly)
        generator = QSvgGenerator()
        generator.setOutputDevice(target)
        generator.setResolution(self.dpi)
        generator.setSize(whole)
        generator.setViewBox(QRect(0, 0, whole.width(), whole.height()))
        generator.setTitle(translate(self.name))
        generator.setDescription(self.caption)
        painter = QPainter(generator)
        self._paint(painter, whole, foot)
        painter.end()
        return bytes(target.data().data())

    def png(self) -> bytes:
        """A PNG bitmap."""
        whole, foot = self._whole()
        image = QImage(whole * EXPORT_SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(EXPORT_SCALE)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint(painter, whole, foot)
        painter.end()
        target = QBuffer()
        target.open(QIODevice.OpenModeFlag.WriteOnly)
        QImageWriter(target, b"png").write(image)
        return bytes(target.data().data())

    def _whole(self) -> tuple[QSize, int]:
        """The size with the caption, and the height of the caption."""
        size = self.size.expandedTo(QSize(60 * GRID, 0))
        room = QRect(0, 0, size.width() - 2 * GRID, 10_000)
        foot = QFontMetrics(self.font).boundingRect(room, CAPTION, self.caption).height()
        return QSize(size.width(), size.height() + foot + 2 * GRID), foot

    def _paint(self, painter: QPainter, whole: QSize, foot: int) -> None:
        painter.setFont(self.font)
        area = QRectF(0, 0, whole.width(), whole.height())
        painter.fillRect(area, LIGHT.base)
        inner = area.adjusted(GRID, GRID, -GRID, -GRID)
        painter.setPen(LIGHT.text)
        below = QRectF(inner.left(), inner.bottom() - foot, inner.width(), foot + GRID)
        painter.drawText(below, CAPTION, translate(self.caption))
        self.draw(painter, inner.adjusted(0, 0, 0, -foot - GRID), LIGHT)


class Drawing(QWidget):
    """Base of the plots: one method draws, for the screen and for files alike."""

    def __init__(self, name: str) -> None:
        super().__init__(accessibleName=translate(name))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(24 * GRID, 18 * GRID)

    @abstractmethod
    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        """Draw into a rectangle in the given colours; the painter's font is set."""

    def say(self, text: str) -> None:
        """The picture in words, for screen readers and as a tooltip."""
        self.setAccessibleDescription(translate(translate(text)[:600]))
        self.update()

    def figure_font(self) -> QFont:
        """The plot's font."""
        return figure_font(self.font())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.figure_font())
        self.draw(painter, QRectF(self.rect()), THEME.colours)

    def sizeHint(self) -> QSize:
        return QSize(44 * GRID, 30 * GRID)

    # -- clipboard ----------------------------------------------------------------------------

    def copy(self) -> None:
        """Put the picture onto the clipboard, and what it says in words as text and as HTML."""
        words = self.accessibleDescription() or self.accessibleName()
        picture = self.png(caption=words)
        data = QMimeData()
        data.setImageData(QImage.fromData(picture))
        data.setText(words)
        shown = base64.b64encode(picture).decode("ascii")
        data.setHtml(f'<p>{html.escape(words)}</p><img src="data:image/png;base64,{shown}">')
        QGuiApplication.clipboard().setMimeData(data)

    def event(self, event: QEvent) -> bool:
        # Before the menu's own copying, which is of cells.
        asked = isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Copy)
        if not asked or event.type() == QEvent.Type.KeyRelease:
            return super().event(event)
        if event.type() == QEvent.Type.KeyPress:
            self.copy()
        event.accept()
        return True

    # -- files --------------------------------------------------------------------------------

    def svg(self, *, caption: str) -> bytes:
        """The picture as an SVG document in light colours, its caption below."""
        return self._sheet(caption).svg()

    def png(self, *, caption: str) -> bytes:
        """The picture as a PNG bitmap in light colours, its caption below."""
        return self._sheet(caption).png()

    def _sheet(self, caption: str) -> Sheet:
        size = self.size().expandedTo(QSize(0, 36 * GRID))
        dpi = self.logicalDpiX()
        return Sheet(self.accessibleName(), caption, size, self.figure_font(), dpi, self.draw)
