"""The program's own SVG icons, in the colour of the text they stand beside."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from tabprotect.gui.look.theme import THEME
from tabprotect.version import RESOURCES

SIZES = (16, 24, 32, 48)


@cache
def _source(name: str) -> str:
    return (RESOURCES / "icons" / f"{name}.svg").read_text("utf-8")


def pixmap(name: str, size: int, *, colour: str = "") -> QPixmap:
    """An icon as a pixmap of ``size`` pixels, drawn in ``colour`` (default: the text's).

    It has as many dots as the finest screen shows in that size.
    """
    ratio = QGuiApplication.instance().devicePixelRatio()  # type: ignore[union-attr]
    return _pixmap(name, size, colour or THEME.colours.text, ratio)


@cache
def _pixmap(name: str, size: int, colour: str, ratio: float = 1.0) -> QPixmap:
    # Once: it is asked for whenever something is painted.
    source = _source(name).replace("currentColor", colour)
    dots = round(size * ratio)
    out = QPixmap(dots, dots)
    out.fill(Qt.GlobalColor.transparent)
    painter = QPainter(out)
    QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(0, 0, dots, dots))
    painter.end()
    out.setDevicePixelRatio(ratio)
    return out


def icon(name: str, *, colour: str = "") -> QIcon:
    """An icon in all sizes, with a quiet form for what is disabled."""
    return _icon(name, colour or THEME.colours.text, THEME.colours.quiet)


@cache
def _icon(name: str, colour: str, quiet: str) -> QIcon:
    out = QIcon()
    for size in SIZES:
        out.addPixmap(_pixmap(name, size, colour))
        out.addPixmap(_pixmap(name, size, QColor(quiet).name()), QIcon.Mode.Disabled)
    return out
