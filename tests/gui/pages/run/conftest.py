"""What the tests of the set-up pages wait for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.run.page import RunPage

Settle = Callable[[], None]


@pytest.fixture
def tried(window: MainWindow, qtbot: QtBot, settle: Settle) -> Settle:
    """Wait until the set-up in front was tried and nothing runs."""

    def up_to_date() -> bool:
        pages = [p for p in window.pages.built.values() if isinstance(p, RunPage)]
        return not any(p._trial.running or "Trying" in p.preview.state for p in pages)

    def wait() -> None:
        settle()
        qtbot.waitUntil(up_to_date, timeout=100_000)
        settle()

    return wait
