"""Small sums that are published exactly: named before they are asked for, decided on at the gate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pages_of import page_of
from readable import texts, unnamed

from tabprotect.engine.project.verbs.release_verbs import protect, set_parameters
from tabprotect.engine.project.verbs.table_verbs import set_title
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.buttons import present
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.protect.requirements_asked import RequirementsPage
from tabprotect.gui.pages.release.page import ReleasePage

Settle = Callable[[], None]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = methods()
    name = "cyclic_perturbation"
    monkeypatch.setattr(registry, "_found", {name: registry[name]})


def test_small_kept_sums_take_a_decision(window: MainWindow, settle: Settle, tmp_path: Path) -> None:
    window.files.open("example:langsrud-lupp")
    settle()
    window.go("requirements")
    settle()
    asking = page_of(window, RequirementsPage).asking
    said = asking.small.text()
    assert said.startswith("2 of 2 small counts of party × age") and "B, young: 1" in said
    asking.take_out(("party", "age"))
    settle()
    assert asking.small.text().startswith("1 of 1 small counts of age × sex is published")
    # The split that is found by itself keeps other sums, of which none is small.
    window.document.do(set_parameters, blocking="exchange", split="party, age | sex")
    window.document.do(protect, draft=True, seed=10**40)
    settle()
    window.go("release")
    settle()
    shown = page_of(window, ReleasePage)
    line = shown.banner.line
    assert line.state == "mind" and line.text.startswith("One question open. Readers would know")
    assert THEME.colours.undecided_fill in shown.banner.styleSheet()
    assert not shown.main_button.isEnabled()
    assert "a decision on the small kept sums" in shown.missing
    assert "B, young: 1" in " ".join(texts(shown.kept)) and not unnamed(shown.kept)
    shown.kept.keep.click()
    # What is left is the seed that the test gave.
    assert shown.banner.line.text.endswith(
        "Limit 0. A fixed seed was used. Nothing of this table has left before."
    )
    assert shown.main_button.isEnabled()
    # Another title is the same release of the same sums.
    window.document.do(set_title, title="Another title")
    settle()
    assert not shown.kept.open and shown.main_button.isEnabled()
    shown.form.set_destination(tmp_path / "release.zip", None)
    shown.main_button.click()
    present(shown._question).publish.click()
    settle()
    done = present(present(window.document.project).protected)
    assert [one for one in done.record.decisions if "published as" in one] == [
        "2 of 2 small counts of party × age are published as they are: decided for this release"
    ]
    # Another run is another decision.
    window.document.do(protect, draft=True, seed=10**40 + 1)
    settle()
    assert shown.kept.open and not shown.main_button.isEnabled()
    window.document.set_public(True)
    assert "young" not in " ".join(texts(shown.kept)) and not shown.kept.isVisible()
