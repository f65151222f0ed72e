"""What the window shows, on paper: the page, the panel beside it, and the strip that says what it is."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QImage, QPageLayout, QPainter
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtWidgets import QDialog

from tabprotect.engine.progress import Progress
from tabprotect.gui.base.background.jobs import Job
from tabprotect.gui.frame.window import Window
from tabprotect.gui.look.buttons import connected, present
from tabprotect.languages.messages import message


def ask_print(window: Window) -> None:
    """Ask for a printer, and print; the window stays alive meanwhile."""
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setPageOrientation(QPageLayout.Orientation.Landscape)
    dialog = connected(QPrintDialog(printer, window), accepted=lambda: print_on(window, printer))
    # Its own open() wants a slot of before.
    QDialog.open(dialog)


def print_on(window: Window, printer: QPrinter) -> Job:
    """Print a picture of the window without its menus, as large as the paper, beside the window."""
    menus = present(window.menuBar()).height()
    picture = window.grab(window.rect().adjusted(0, menus, 0, 0)).toImage()

    def work(progress: Progress) -> None:
        _paint(picture, printer)

    return window.document.jobs.command(message("printing the page"), work)


def _paint(picture: QImage, printer: QPrinter) -> None:
    room = printer.pageRect(QPrinter.Unit.DevicePixel)
    size = QSizeF(picture.size())
    scale = min(room.width() / size.width(), room.height() / size.height())
    painter = QPainter(printer)
    painter.drawImage(QRectF(0, 0, size.width() * scale, size.height() * scale), picture)
    painter.end()
