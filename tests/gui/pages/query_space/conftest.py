"""What the tests of this page begin with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tabprotect.gui.frame.main_window import MainWindow

Settle = Callable[[], None]


@pytest.fixture
def czech(window: MainWindow, settle: Settle) -> MainWindow:
    window.files.open("example:czech-autoworkers")
    settle()
    window.go("query_space")
    settle()
    return window
