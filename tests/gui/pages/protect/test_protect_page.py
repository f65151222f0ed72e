"""The protect page, through the real window: a few methods, tried on a small table."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot
from readable import texts, unnamed

from tabprotect.engine.disclosure.choosing import acceptance_probability, method_trials
from tabprotect.engine.disclosure.choosing.method_trials import MethodTrial, ranked, tried_methods, untried
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.verbs.release_verbs import set_method
from tabprotect.engine.project.verbs.table_verbs import set_count
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.protect.page import ProtectPage
from tabprotect.gui.pages.protect.words import share_text

Settle = Callable[[], None]

FEW = ("cyclic_perturbation", "small_count_rounding", "random_rounding", "cell_key", "suppression")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five methods stand for all."""
    registry = methods()
    monkeypatch.setattr(registry, "_found", {name: registry[name] for name in FEW})


def shown(window: MainWindow, settle: Settle) -> ProtectPage:
    """The page in front, with every method tried."""
    window.go("protect")
    settle()
    found = window.page
    assert isinstance(found, ProtectPage)
    return found


@pytest.fixture
def page(opened: MainWindow, settle: Settle) -> ProtectPage:
    return shown(opened, settle)


def test_methods_are_ranked_by_what_must_stay_true(page: ProtectPage, settle: Settle) -> None:
    assert set(page.cards.buttons) == set(FEW)
    assert page.sentence.startswith("Cyclic perturbation moves an average count by ")
    assert "Readers would know 0 of " in page.sentence
    assert next(iter(page.cards.buttons)) == "cyclic_perturbation"
    assert page.main_button.text() == "Set up cyclic perturbation"
    assert "current" in page.cards.cards[0].dynamicPropertyNames()
    # Another tick ranks anew, and tries nothing again.
    ones = page.trials
    for name in ("margins", "additive", "complete"):
        page.asking.ticks[name].click()
    page.asking.ticks["exact"].click()
    assert page.trials is ones and not page.document.jobs.running
    assert next(iter(page.cards.buttons)) == "suppression"
    said = " ".join(texts(page.cards.cards[1]))
    assert "counts are changed" in said
    assert not unnamed(page)


def test_what_one_is_about_to_press_stays_the_same_button_while_trials_come(page: ProtectPage) -> None:
    cards, share = page.cards, 0.05
    coming = [untried(name) for name in FEW]
    cards.show_ranked(coming, (), share, current="", running=True)
    button = cards.buttons["cell_key"]
    found = {place.trial.method: place for place in ranked(page.trials, (), (), share)}
    coming[FEW.index("cell_key")] = found["cell_key"]
    cards.show_ranked(coming, (), share, current="", running=True)
    assert cards.buttons["cell_key"] is button
    cards.chosen.disconnect()
    chosen: list[MethodTrial] = []
    cards.chosen.connect(chosen.append)
    button.click()
    assert chosen == [found["cell_key"].trial]
    cards.chosen.disconnect(chosen.append)


def test_sums_are_chips_that_come_and_go(page: ProtectPage) -> None:
    assert page.asking.sums == (("v",), ("w",))
    page.asking.take_out(("v",))
    page.asking.take_out(("w",))
    # Nothing is asked of sums where none is named.
    assert "margins" not in page.asking.asked
    page.asking.add(("v",))
    assert page.asking.sums == (("v",),) and "margins" in page.asking.asked
    # What is asked for is not offered again.
    domain = page.asking._domain
    assert domain is not None
    offers = [a for a in page.asking._offers(domain, page).actions() if not a.isSeparator()]
    assert len(offers) == 1
    offers[0].trigger()
    assert page.asking.sums == (("v",), ("w",))
    # A sum over both says those of each.
    page.asking.add(("v", "w"))
    assert page.asking.sums == (("v", "w"),)


def test_choosing_opens_the_set_up(page: ProtectPage, opened: MainWindow, settle: Settle) -> None:
    page.cards.buttons["random_rounding"].click()
    assert opened.page.name == "methods"
    project = opened.document.project
    assert project is not None and project.method == "random_rounding"
    opened.go("protect")
    # The method that is the project's already is gone to, and nothing is done.
    step = opened.document.history.position
    page.cards.buttons["random_rounding"].click()
    assert opened.page.name == "methods" and opened.document.history.position == step
    opened.go("protect")
    page.main_button.click()
    assert opened.page.name == "perturb"
    settle()


def test_settings_that_were_tried_are_those_that_are_taken(
    page: ProtectPage, opened: MainWindow, settle: Settle
) -> None:
    page.choose(MethodTrial("random_rounding", {"base": 5}, "base 5", known=0.0))
    assert opened.document.project is not None
    assert dict(opened.document.project.parameters) == {"base": 5}
    settle()


def test_trials_come_in_parts_and_stop_when_nobody_looks(
    opened: MainWindow, settle: Settle, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[bool] = []
    every = tried_methods(opened.document.project.problem, method_trials.Gate())  # type: ignore[union-attr]
    # A method may have been tried with several settings.
    first = tuple({trial.method: trial for trial in every}.values())[:2]

    def slow(problem: object, limits: object, progress: Progress) -> tuple[MethodTrial, ...]:
        try:
            while True:
                progress.report("trying", 0.4, first)
                QTest.qSleep(5)
        finally:
            stopped.append(True)

    monkeypatch.setattr(method_trials, "tried_methods", slow)
    opened.go("protect")
    page = opened.page
    assert isinstance(page, ProtectPage)
    qtbot.waitUntil(lambda: len(page.trials) == 2)
    # Whoever knows what they want waits for no trial; nothing is recommended before all have been tried.
    assert page.sentence == "Trying 5 methods, 2 done."
    assert len(page.cards.buttons) == 5
    assert not page.cards.cards and not page.main_button.isEnabled()
    assert page.main_button.text() == "Set up"
    opened.go("table")
    qtbot.waitUntil(lambda: bool(stopped) and not opened.document.jobs.running)
    # Whoever comes back has it tried again.
    monkeypatch.setattr(method_trials, "tried_methods", lambda *_: first)
    opened.go("protect")
    settle()
    assert not page.sentence.startswith("Trying") and page.main_button.isEnabled()
    opened.document.do(set_count, index=[0, 0], count=3)
    assert page._trying.running
    settle()


def test_the_public_view_keeps_nothing(measured: MainWindow, settle: Settle) -> None:
    page = shown(measured, settle)
    assert page.shows_original()
    measured.document.set_public(True)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    said = " ".join(texts(page))
    assert not page.shows_original() and not page.trials and "%" not in said
    assert "public view" in said and not page.main_button.isVisible()


def test_compare_is_the_second_tab(measured: MainWindow, settle: Settle) -> None:
    page = shown(measured, settle)
    bar = page.findChild(QTabBar)
    assert bar is not None
    assert [bar.tabText(n) for n in range(bar.count())] == ["Choose", "Compare"]
    bar.setCurrentIndex(1)
    assert measured.page.name == "compare" and bar.currentIndex() == 0
    assert measured.rail.buttons["protect"].isChecked()
    other = measured.page.findChild(QTabBar)
    assert other is not None and other.currentIndex() == 1
    other.setCurrentIndex(0)
    assert measured.page is page
    settle()


def test_what_was_not_tried_stands_behind_and_can_be_chosen(
    opened: MainWindow, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only rounding, cell keys and cycles are within the budget.
    most = max(methods()[name].trial_work for name in ("random_rounding", "cell_key"))
    project = opened.document.project
    assert project is not None
    monkeypatch.setattr(acceptance_probability, "TRIAL_WORK", most * project.domain.size)
    opened.go("protect")
    settle()
    page = opened.page
    assert isinstance(page, ProtectPage)
    assert page.sentence.endswith("Not tried on so large a table: 2.") and len(page.cards.cards) == 3
    tried = {"cyclic_perturbation", "random_rounding", "cell_key"}
    assert set(list(page.cards.buttons)[:3]) == tried
    button = page.cards.buttons["suppression"]
    assert "too large for a trial" in button.accessibleDescription()
    button.click()
    assert project is not opened.document.project
    assert opened.document.project is not None
    assert opened.document.project.method == "suppression"
    settle()
    monkeypatch.setattr(acceptance_probability, "TRIAL_WORK", 0.0)
    opened.go("protect")
    page.try_again()
    settle()
    assert page.sentence.startswith("The table is too large for trials")


def test_shares_are_said_as_they_are() -> None:
    assert MethodTrial("x").waits and not MethodTrial("x").done
    assert share_text(MethodTrial("x", known=0.0)) == "0\u202f%"
    assert share_text(MethodTrial("x", known=0.004)) == "<1\u202f%"
    assert share_text(MethodTrial("x", known=0.25, at_least=True)).endswith("25\u202f%")
    assert share_text(MethodTrial("x", known=0.25, at_least=True)) != share_text(MethodTrial("x", known=0.25))
    assert "%" not in share_text(MethodTrial("x"))
    # Where nothing is proved, nothing is said.
    assert "%" not in share_text(MethodTrial("x", known=0.0, at_least=True))


def test_the_method_of_the_project_is_marked(page: ProtectPage, opened: MainWindow, settle: Settle) -> None:
    opened.document.do(set_method, method="small_count_rounding")
    settle()
    marked = [card.accessibleName() for card in page.cards.cards if card.property("current")]
    assert marked == ["2. Small count rounding"]
