"""What the tests of this page begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tabprotect.engine.bundle import public
from tabprotect.engine.project.verbs.release_verbs import protect, set_prior
from tabprotect.engine.project.verbs.table_verbs import set_at_risk
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.main_window import MainWindow

Settle = Callable[[], None]


CELL = (0, 1)


@pytest.fixture
def protected(opened: MainWindow, settle: Settle, request: pytest.FixtureRequest) -> MainWindow:
    """The 4 x 4 example, protected with a seed, cell (v1, w2) selected, the page in front.

    A parameter is the at-risk rule of the house.
    """
    if hasattr(request, "param"):
        opened.document.do(set_at_risk, rule=request.param)
    opened.document.do(protect, seed=7)
    opened.document.do(set_prior, who="intruder", prior="positive")
    settle()
    opened.go("check")
    settle()
    opened.document.select(CELL)
    return opened


@pytest.fixture
def reader(qtbot: QtBot, protected: MainWindow, tmp_path: Path) -> Iterator[MainWindow]:
    """A second window that opened the bundle of the first one."""
    release = protected.document.release
    assert release is not None
    public.write(release, tmp_path / "release.zip")
    window = MainWindow(Document())
    qtbot.addWidget(window)
    window.resize(1280, 720)
    with qtbot.waitExposed(window):
        window.show()
    window.files.open(str(tmp_path / "release.zip"))
    qtbot.waitUntil(lambda: not window.document.jobs.running)
    window.document.do(set_prior, who="intruder", prior="positive")
    window.go("check")
    qtbot.waitUntil(lambda: not window.document.jobs.running)
    window.document.select(CELL)
    QApplication.processEvents()
    yield window
    window.document.saved = window.document.project
    window.close()
