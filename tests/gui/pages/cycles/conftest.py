"""What the tests of this page begin with."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pages_of import page_of
from pytestqt.qtbot import QtBot

from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.cycles.page import CyclesPage

Settle = Callable[[], None]


def page(window: MainWindow) -> CyclesPage:
    return page_of(window, CyclesPage)


@pytest.fixture
def designer(opened: MainWindow, examined: Settle) -> MainWindow:
    """The window on the cycles page of the 4 x 4 example, its cycles examined."""
    opened.go("cycles")
    examined()
    return opened


@pytest.fixture
def examined(window: MainWindow, qtbot: QtBot, settle: Settle) -> Settle:
    """Wait until the proof panel is up to date."""

    def wait() -> None:
        settle()
        qtbot.waitUntil(lambda: bool(page(window).proof.texts) and not page(window).examination.pending)
        settle()

    return wait
