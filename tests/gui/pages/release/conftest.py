"""What the tests of this page begin with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pages_of import page_of

from tabprotect.engine.project.history import History
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import open_table
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.release.page import ReleasePage

Settle = Callable[[], None]


def page(window: MainWindow) -> ReleasePage:
    return page_of(window, ReleasePage)


@pytest.fixture(scope="session")
def protected() -> History:
    """The 4 x 4 example, protected with a seed: once for all tests."""
    history, _ = History().do(open_table(source="example:duncan-roehrig-4x4"))
    return history.do(protect(seed=7))[0]


@pytest.fixture
def ready(window: MainWindow, protected: History, settle: Settle, tmp_path: Path) -> MainWindow:
    """That example with the release page in front."""
    window.document.take(protected)
    window.go("release")
    settle()
    page(window).form.set_destination(tmp_path / "release.zip", tmp_path / "dossier.zip")
    return window
