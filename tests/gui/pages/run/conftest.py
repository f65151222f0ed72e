"""What the tests of the set-up pages wait for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from tabprotect.gui.frame.main_window import MainWindow

Settle = Callable[[], None]


@pytest.fixture
def tried(window: MainWindow, qtbot: QtBot, settle: Settle, request: pytest.FixtureRequest) -> Settle:
    """Wait until the ``page`` of the tests' module was tried and nothing runs."""

    def wait() -> None:
        settle()
        shown = request.module.page(window)
        # Whoever leaves the page stops what it tries.
        qtbot.waitUntil(
            lambda: (
                not shown.isVisible() or (not shown._trial.running and "Trying" not in shown.preview.state)
            )
        )
        settle()

    return wait
