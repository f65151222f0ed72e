"""Least change that passes: the tick on the set-up, through the real window."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from readable import unnamed

from tabprotect.engine.disclosure.choosing import tuning
from tabprotect.engine.project.verbs.release_verbs import set_method
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.run.page import RunPage

Settle = Callable[[], None]


@pytest.fixture(autouse=True)
def few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, number in (("TABLES", 4), ("LEAST_TABLES", 4), ("CONFIRMING", 1)):
        monkeypatch.setattr(tuning, name, number)


def test_the_set_up_takes_the_least_change(window: MainWindow, settle: Settle) -> None:
    window.files.open("example:langsrud-lupp")
    settle()
    window.go("perturb")
    settle()
    page = window.page
    assert isinstance(page, RunPage)
    assert "a reader would find the same" in page.tune.said.text()
    page.tune.tick.setChecked(True)
    settle()
    found = page.tune.found
    assert found is not None and found.use == "changes"
    said = page.tune.said.text()
    assert said.startswith(f"Takes alpha {found.parameters['alpha']}") and "instead of" in said
    assert "--tune" in page.command_line() and not unnamed(page.tune)
    page.protect()
    settle()
    project = window.document.project
    assert project is not None and project.release is not None
    stated = project.release.mechanism.tuned
    assert stated is not None and stated.agrees(found)
    assert project.parameters["alpha"] == found.parameters["alpha"]
    # What has nothing to tune does not offer it.
    window.document.do(set_method, method="suppression")
    window.go("methods")
    settle()
    shown = window.page
    assert isinstance(shown, RunPage) and not shown.tune.isVisible() and not shown.tune.wanted
