"""What is proposed for a table, and the other ways, through the real window: a few methods, a small table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from pages_of import page_of
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from readable import texts, unnamed

from tabprotect.engine.disclosure.choosing import acceptance_probability, method_trials
from tabprotect.engine.disclosure.choosing.method_trials import MethodTrial, ranked, tried_methods
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.verbs.release_verbs import set_method, set_parameters
from tabprotect.engine.project.verbs.table_verbs import set_count
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.buttons import present
from tabprotect.gui.pages.protect.page import ProtectPage
from tabprotect.gui.pages.protect.proposal import ProposalPage
from tabprotect.gui.pages.protect.requirements_asked import RequirementsPage
from tabprotect.gui.pages.protect.ways import EXACT, KEEPS, MORE, Way, ways
from tabprotect.gui.pages.protect.words import known_text

Settle = Callable[[], None]

FEW = ("cyclic_perturbation", "small_count_rounding", "random_rounding", "cell_key", "suppression")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five methods stand for all."""
    registry = methods()
    monkeypatch.setattr(registry, "_found", {name: registry[name] for name in FEW})


@pytest.fixture
def proposal(opened: MainWindow) -> ProposalPage:
    return page_of(opened, ProposalPage)


@pytest.fixture
def page(opened: MainWindow, settle: Settle) -> ProtectPage:
    opened.go("protect")
    settle()
    return page_of(opened, ProtectPage)


def test_one_number_one_proposal_three_facts_one_button(opened: MainWindow, proposal: ProposalPage) -> None:
    assert opened.decision is proposal and opened.page.name == "table"
    assert proposal._heading.text() == "4 small counts"
    assert proposal.sentence == "Published as it is, a reader knows all 4."
    assert proposal.title.text() == "Cyclic perturbation"
    first, second, third = (fact.text() for fact in proposal.facts)
    assert first == "Every total stays exact."
    assert second.startswith("A count moves by ") and second.endswith(" on average.")
    assert third == "A reader would know 0 of 4."
    assert proposal.main_button.text() == "Protect" and not unnamed(proposal)


def test_one_press_protects_and_the_panel_becomes_the_gate(
    opened: MainWindow, proposal: ProposalPage, settle: Settle
) -> None:
    proposal.main_button.click()
    assert proposal.main_button.text() == "Stop"
    settle()
    assert opened.document.has_release and opened.page.name == "table"
    assert opened.decision is opened.pages["release"]
    opened.document.undo()
    settle()
    assert opened.decision is proposal and proposal.main_button.text() == "Protect"


def test_the_ways_are_grouped_by_what_they_promise(
    page: ProtectPage, opened: MainWindow, settle: Settle
) -> None:
    assert {way.method for way in page.ways} == set(FEW)
    assert (page.ways[0].method, page.ways[0].group) == ("cyclic_perturbation", KEEPS)
    of = {way.method: way for way in page.ways}
    assert of["suppression"].group == EXACT and of["suppression"].change.endswith(" hidden")
    # Another tick ranks anew, and tries nothing again.
    before = opened.document.trying.counts
    opened.go("requirements")
    settle()
    asking = page_of(opened, RequirementsPage).asking
    for name in ("margins", "additive", "complete", "exact"):
        asking.ticks[name].click()
    page_of(opened, RequirementsPage).main_button.click()
    assert opened.document.trying.counts is before
    settle()
    assert opened.page.name == "table"
    assert page_of(opened, ProposalPage).title.text() == "Suppression"
    opened.go("protect")
    settle()
    assert "counts are changed" in " ".join(way.why.lower() for way in page.ways)
    assert not unnamed(page)


def test_nobody_is_offered_a_table_that_is_of_no_use(opened: MainWindow) -> None:
    document = opened.document
    project, trying = present(document.project), document.trying
    some = {trial.method: trial for trial in trying.counts}
    worst = replace(some["cyclic_perturbation"], loss=348.7, moved=348.7, mean=200.0)
    assert worst.useless and not some["cyclic_perturbation"].useless
    trying.counts = (worst, some["cell_key"])
    first, second, *untried = ways(project, trying)
    assert first.method == "cell_key" and second.group == MORE and len(untried) == 3
    assert [place.trial.method for place in ranked(trying.counts, (), (), 0.0)][-1] == "cyclic_perturbation"
    # Of two that promise the same, one that changes much more stands behind, whatever else it keeps.
    much = replace(some["cell_key"], method="random_rounding", loss=0.1, moved=50.0, mean=500.0)
    trying.counts = (much, some["cell_key"])
    assert not much.useless
    assert [(way.method, way.group == MORE) for way in ways(project, trying)[:2]] == [
        ("cell_key", False),
        ("random_rounding", True),
    ]


def test_sums_are_chips_that_come_and_go(opened: MainWindow, settle: Settle) -> None:
    opened.go("requirements")
    settle()
    asking = page_of(opened, RequirementsPage).asking
    assert asking.sums == (("v",), ("w",))
    asking.take_out(("v",))
    asking.take_out(("w",))
    # Nothing is asked of sums where none is named.
    assert "margins" not in asking.asked
    asking.add(("v",))
    assert asking.sums == (("v",),) and "margins" in asking.asked
    # What is asked for is not offered again.
    domain = present(asking._domain)
    offers = [a for a in asking._offers(domain, asking).actions() if not a.isSeparator()]
    assert len(offers) == 1
    offers[0].trigger()
    assert asking.sums == (("v",), ("w",))
    # A sum over both says those of each.
    asking.add(("v", "w"))
    assert asking.sums == (("v", "w"),)
    settle()


def test_a_way_is_tuned_or_taken(page: ProtectPage, opened: MainWindow, settle: Settle) -> None:
    page.choose("random_rounding")
    page.tune.click()
    assert opened.page.name == "methods"
    project = present(opened.document.project)
    assert project.method == "random_rounding"
    settle()
    opened.go("protect")
    settle()
    # The way that is the project's already is gone to, and nothing is done.
    step = opened.document.history.position
    assert present(page.chosen).method == "random_rounding"
    page.tune.click()
    assert opened.page.name == "methods" and opened.document.history.position == step
    settle()
    opened.go("protect")
    settle()
    page.choose("small_count_rounding")
    page.main_button.click()
    settle()
    assert present(opened.document.project).method == "small_count_rounding"
    assert opened.page.name == "table" and opened.document.has_release


def test_what_somebody_set_is_what_is_proposed(
    opened: MainWindow, proposal: ProposalPage, settle: Settle
) -> None:
    opened.document.do(set_method, method="random_rounding")
    opened.document.do(set_parameters, base=5)
    settle()
    assert proposal.title.text() == "Random rounding"
    # Its figures were those of other settings.
    assert not any("on average" in fact.text() for fact in proposal.facts)
    proposal.main_button.click()
    settle()
    assert dict(present(opened.document.project).parameters) == {"base": 5}


def test_settings_that_were_tried_are_those_that_are_taken(
    page: ProtectPage, opened: MainWindow, settle: Settle
) -> None:
    trial = MethodTrial("random_rounding", {"base": 5}, "base 5", known=0.0)
    page.ways = [Way("random_rounding", "Random rounding", KEEPS, "0", "1", trial=trial)]
    with_it = present(opened.document.project)
    page._fill(with_it)
    page.choose("random_rounding")
    page.tune.click()
    assert dict(present(opened.document.project).parameters) == {"base": 5}
    settle()


def test_trials_come_in_parts_and_can_be_stopped(
    window: MainWindow, settle: Settle, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[bool] = []

    def slow(problem: object, limits: object, progress: Progress) -> tuple[MethodTrial, ...]:
        every = tried_methods(problem, limits)  # type: ignore[arg-type]
        first = tuple({trial.method: trial for trial in every}.values())[:2]
        try:
            while True:
                progress.report("trying", 0.4, first)
                QTest.qSleep(5)
        finally:
            stopped.append(True)

    monkeypatch.setattr(method_trials, "tried_methods", slow)
    window.files.open("example:duncan-roehrig-4x4")
    trying = window.document.trying
    qtbot.waitUntil(lambda: len(trying.counts) == 2)
    shown = page_of(window, ProposalPage)
    # Nothing is proposed before all have been tried.
    qtbot.waitUntil(lambda: shown._lead.text() == "Trying 2 of 5 ways")
    assert shown.main_button.text() == "Stop" and not shown.title.text()
    shown.main_button.click()
    qtbot.waitUntil(lambda: bool(stopped) and not window.document.jobs.running)
    assert shown.main_button.text() == "Protect" and shown.title.text()
    # Another table is tried anew.
    monkeypatch.setattr(method_trials, "tried_methods", lambda *_: ())
    window.document.do(set_count, index=[0, 0], count=3)
    settle()
    assert trying.counts == () and shown.title.text() == "Cyclic perturbation"


def test_the_public_view_keeps_nothing(measured: MainWindow, settle: Settle) -> None:
    measured.go("protect")
    settle()
    page = page_of(measured, ProtectPage)
    assert page.shows_original() and page.ways
    measured.document.set_public(True)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    said = " ".join(texts(page))
    assert not page.shows_original() and not page.ways and "hidden" not in said
    assert "public view" in said and not page.main_button.isVisible()
    measured.go("table")
    said = " ".join(texts(page_of(measured, ProposalPage), hidden=False))
    assert "4" not in said and "Protect" not in said


def test_what_was_not_tried_stands_behind_and_can_be_tuned(
    opened: MainWindow, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only rounding, cell keys and cycles are within the budget.
    most = max(methods()[name].trial_work for name in ("random_rounding", "cell_key"))
    project = present(opened.document.project)
    monkeypatch.setattr(acceptance_probability, "TRIAL_WORK", most * project.domain.size)
    opened.go("protect")
    page = page_of(opened, ProtectPage)
    page.try_again()
    settle()
    tried = {"cyclic_perturbation", "random_rounding", "cell_key"}
    assert {way.method for way in page.ways if way.group != MORE} <= tried
    page.choose("suppression")
    assert "too large for a trial" in page.why.text()
    page.tune.click()
    assert present(opened.document.project).method == "suppression"
    settle()


def test_what_is_known_is_said_as_it_is() -> None:
    assert MethodTrial("x").waits and not MethodTrial("x").done
    assert known_text(MethodTrial("x", known=0.0, at_risk=8)) == "0"
    assert known_text(MethodTrial("x", known=0.25, at_risk=8, at_least=True)) == "\u2265 2"
    # Where nothing is proved, nothing is said.
    assert known_text(MethodTrial("x", known=0.0, at_least=True)) == "\u2013" == known_text(MethodTrial("x"))
