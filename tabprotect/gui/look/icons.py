"""The program's own SVG icons, in the colour of the text they stand beside."""

from __future__ import annotations

from functools import cache
from importlib import resources

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from tabprotect.gui.look.theme import THEME

SIZES = (16, 24, 32, 48)


@cache
def _source(name: str) -> str:
    return (resources.files("tabprotect.resources") / "icons" / f"{name}.svg").read_text("utf-8")


def pixmap(name: str, size: int, *, colour: str = "") -> QPixmap:
    """An icon as a pixmap of ``size`` pixels, drawn in ``colour`` (default: the text's)."""
    return _pixmap(name, size, colour or THEME.colours.text)


@cache
def _pixmap(name: str, size: int, colour: str) -> QPixmap:
    # Once: it is asked for whenever something is painted.
    source = _source(name).replace("currentColor", colour)
    out = QPixmap(size, size)
    out.fill(Qt.GlobalColor.transparent)
    painter = QPainter(out)
    QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return out


def icon(name: str, *, colour: str = "") -> QIcon:
    """An icon in all sizes, with a quiet form for what is disabled."""
    return _icon(name, colour or THEME.colours.text, THEME.colours.quiet)


@cache
def _icon(name: str, colour: str, quiet: str) -> QIcon:
    out = QIcon()
    for size in SIZES:
        out.addPixmap(pixmap(name, size, colour=colour))
        out.addPixmap(pixmap(name, size, colour=QColor(quiet).name()), QIcon.Mode.Disabled)
    return out
