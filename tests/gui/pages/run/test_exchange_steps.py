"""Exchange steps in the window: a rule of cyclic perturbation that takes no cycles."""

from __future__ import annotations

from collections.abc import Callable

from pages_of import page_of
from readable import texts

from tabprotect.engine.project.verbs.release_verbs import protect, set_parameters
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.run.page import PerturbPage

Settle = Callable[[], None]


def page(window: MainWindow) -> PerturbPage:
    return page_of(window, PerturbPage)


def test_every_stage_shows_a_rule_without_cycles(opened: MainWindow, tried: Settle, settle: Settle) -> None:
    document = opened.document
    opened.go("perturb")
    tried()
    document.do(set_parameters, blocking="exchange")
    tried()
    assert document.project is not None and not document.project.takes_cycles
    shown = " ".join(texts(page(opened)))
    assert "Split of the variables" in shown and "Steps a person" in shown
    document.do(protect, accept="a test")
    for stage in ("cycles", "perturb", "methods", "check", "release", "table"):
        opened.go(stage)
        settle()
    assert document.project.release is not None
    assert document.project.release.mechanism.parameters["blocking"] == "exchange"
    document.undo()
    document.undo()
    assert document.project is not None and document.project.takes_cycles
