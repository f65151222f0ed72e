"""What the window shows, on paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QColor, QImage
from PySide6.QtPrintSupport import QPrintDialog, QPrinter

from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.printing import print_on
from tabprotect.gui.look.theme import THEME


def test_a_page_is_printed_with_the_strip_that_says_what_it_is(
    opened: MainWindow, settle: Callable[[], None], tmp_path: Path
) -> None:
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setOutputFileName(str(tmp_path / "page.pdf"))
    print_on(opened, printer)
    settle()
    paper = (tmp_path / "page.pdf").read_bytes()
    found = re.findall(rb"/Subtype /Image.*?stream\r?\n(.*?)endstream", paper, re.DOTALL)
    (picture,) = (one for packed in found if not (one := QImage.fromData(packed)).isNull())
    assert picture.width() == opened.width()
    # The strip at the foot, and the button that protects.
    foot, side = picture.height() - 4, QColor(THEME.colours.accent)
    assert near(picture.pixelColor(8, foot), QColor(opened.strip.colours()[0]))
    assert any(near(picture.pixelColor(picture.width() - 160, y), side) for y in range(foot))


def test_a_printer_is_asked_for_while_the_window_stays_alive(opened: MainWindow) -> None:
    opened.actions_["print"].trigger()
    (dialog,) = opened.findChildren(QPrintDialog)
    assert dialog.isVisible()
    dialog.reject()


def near(one: QColor, other: QColor) -> bool:
    """As near as a packed picture keeps it."""
    return all(abs(a - b) < 12 for a, b in zip(one.getRgb(), other.getRgb(), strict=True))
