"""What the tests of this page begin with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pages_of import page_of

from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.release.page import ReleasePage

Settle = Callable[[], None]


def page(window: MainWindow) -> ReleasePage:
    return page_of(window, ReleasePage)


@pytest.fixture
def ready(opened: MainWindow, settle: Settle, tmp_path: Path) -> MainWindow:
    """The 4 x 4 example, protected with a seed, the release page in front."""
    opened.document.do(protect, seed=7)
    settle()
    opened.go("release")
    settle()
    page(opened).form.set_destination(tmp_path / "release.zip", tmp_path / "dossier.zip")
    return opened
