"""What the tests of this page begin with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pages_of import page_of

from tabprotect.engine.project.history import History
from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
from tabprotect.engine.project.verbs.release_verbs import protect, set_method
from tabprotect.engine.project.verbs.table_verbs import open_table, set_title
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
def ready(
    window: MainWindow, protected: History, settle: Settle, tmp_path: Path, request: pytest.FixtureRequest
) -> MainWindow:
    """A release that may leave with the release page in front: that example, or magnitudes with noise."""
    if getattr(request, "param", "counts") == "counts":
        window.document.take(protected)
    else:
        window.files.open(str(request.getfixturevalue("firms")))
        settle()
        for order in (
            set_rules(rules=["p=10"]),
            set_method(method="multiplicative_noise"),
            protect(),
            set_title(title="Turnover by branch"),
        ):
            window.document.run(order)
            settle()
    window.go("release")
    settle()
    page(window).form.set_destination(tmp_path / "release.zip", tmp_path / "dossier.zip")
    return window
