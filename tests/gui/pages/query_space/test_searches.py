"""Searches on the query space page, a session of answers, and the plan that they end in."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pages_of import page_of
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tabprotect.engine.progress import Progress
from tabprotect.engine.project.verbs.query_verbs import set_release_criterion
from tabprotect.engine.query_space.registered import rules
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.lattice.space import RELEASED
from tabprotect.gui.pages.query_space import optimal_panel
from tabprotect.gui.pages.query_space.page import QuerySpacePage

Settle = Callable[[], None]


def page(window: MainWindow) -> QuerySpacePage:
    return page_of(window, QuerySpacePage)


def margins(window: MainWindow) -> tuple[tuple[str, ...], ...]:
    project = window.document.project
    assert project is not None
    return project.plan.margins


def test_searches_are_compared_and_one_is_planned(czech: MainWindow, settle: Settle) -> None:
    page(czech).tabs.setCurrentWidget(page(czech).optimal)
    settle()
    panel = page(czech).optimal
    # Before anything is chosen, the plan as it is stands beside all sub-tables of an order.
    assert panel.chosen == ""
    assert [title.text() for title in panel._titles] == ["As planned now", "All 3-way tables"]
    for method in ("annealing", "heuristic", "exhaustive"):
        panel.method.setCurrentIndex(panel.method.findData(method))
        assert f"--method {method}" in czech.page.command_line()
        panel.search()
        settle()
    sizes = {name: found.plan.released.size for name, found in panel.found.items()}
    assert sizes["annealing"] == sizes["exhaustive"] == 48
    assert sizes["all 3-way tables"] == 42 and sizes["as planned now"] == 1
    assert panel.chosen == "exhaustive"
    rows, at = panel.list.rows, panel.list.currentIndex().row()
    share = panel.found["exhaustive"].rebuilt
    assert share is not None
    assert rows.data(rows.index(at, 5)) == f"{100 * share:.1f}\u202f%"
    page(czech).main_button.click()
    settle()
    regions = page(czech).space.regions
    assert regions is not None and (regions.status == RELEASED).sum() == 48
    assert panel.found["as planned now"].plan.released.size == 48


class Endless:
    """The progress of a search that goes on after its first find until it is stopped."""

    def __init__(self, inner: Progress) -> None:
        self.inner = inner

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        self.inner.report(stage, fraction, partial)
        while partial:
            time.sleep(0.01)
            self.inner.report(stage, fraction, partial)


def test_a_stopped_search_keeps_its_best(
    czech: MainWindow, qtbot: QtBot, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = optimal_panel.search
    monkeypatch.setattr(optimal_panel, "search", lambda p, m, progress: searched(p, m, Endless(progress)))
    page(czech).tabs.setCurrentWidget(page(czech).optimal)
    settle()
    panel = page(czech).optimal
    panel.method.setCurrentIndex(panel.method.findData("annealing"))
    panel.search()
    qtbot.waitUntil(lambda: panel.live.startswith("Best so far"))
    panel.stop.click()
    settle()
    found = panel.found["annealing"]
    assert found.safe and found.verdict.endswith("best so far")
    assert found.plan.released.size >= 7
    assert panel.live == ""


def ask(window: MainWindow, query: str, settle: Settle) -> str:
    panel = page(window).session
    panel.names.choose(query.split(","))
    panel.asking.click()
    settle()
    return panel.answer.text()


def test_a_session_answers_records_and_replays(czech: MainWindow, settle: Settle, tmp_path: Path) -> None:
    page(czech).tabs.setCurrentWidget(page(czech).session)
    panel = page(czech).session
    assert not panel.asking.isEnabled()
    panel.begin.click()
    settle()
    assert "needs a place" in page(czech).errors.text and panel.serving is None
    panel._browse()
    (dialog,) = panel.findChildren(QFileDialog)
    # A history that is there is gone on with: nothing is written over.
    assert dialog.testOption(QFileDialog.Option.DontConfirmOverwrite)
    dialog.fileSelected.emit(str(tmp_path / "history.sqlite"))
    dialog.reject()
    assert panel.place.text() == str(tmp_path / "history.sqlite")
    panel.rule.setCurrentIndex(panel.rule.findData("simulatable"))
    assert {name: field.text() for name, field in panel.values.items()} == {
        parameter.name: str(parameter.default) for parameter in rules()["simulatable"].parameters
    }
    panel.rule.setCurrentIndex(panel.rule.findData("one_step"))
    panel.begin.click()
    settle()
    panel.user.setText(" ")
    assert ask(czech, "B", settle) == "The history is open: ask."
    assert "nobody is named as asking" in page(czech).errors.text
    assert "say who asks" in page(czech).errors.text
    panel.user.setText("anna")
    assert ask(czech, "A,B", settle).startswith("Put off")
    assert ask(czech, "B", settle).startswith("The table itself: B")
    cells = panel.cells.rows
    assert [cells.data(cells.index(row, 1)) for row in range(2)] == ["1\u202f063", "778"]
    assert ask(czech, "B,A", settle).startswith("The table itself: AB")
    assert ask(czech, "A,B,C,D,E,F", settle).startswith("Not the table, but what of it is")
    log = panel.log.rows
    answers = [log.data(log.index(row, 4)) for row in range(log.rowCount())]
    assert answers == ["deferral", "table", "table", "projection"]
    assert {log.data(log.index(row, 2)) for row in range(4)} == {"anna"}
    released = []
    for point in range(5):
        panel.slider.setValue(point)
        released.append(panel.margins())
    assert released == [[], [], [["B"]], [["A", "B"]], [["A", "B"]]]
    assert margins(czech) == ()
    page(czech).main_button.click()
    settle()
    assert margins(czech) == (("A", "B"),)
    assert panel.serving is not None  # a plan is no other server
    panel.begin.click()  # another session on the same history finds all of it
    settle()
    assert panel.served is not None and len(panel.served.entries) == 4
    # What is stopped may be in the history all the same: it is read again.
    panel.asking.click()
    for job in czech.document.jobs.running:
        job.cancel()
    settle()
    assert panel.asking.isEnabled() and len(panel.served.entries) in (4, 5)
    czech.document.do(set_release_criterion, threshold=9)
    settle()
    assert panel.serving is None and panel.log.rows.rowCount() == 0


def test_wishes_that_may_go_together_become_the_plan(czech: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    panel = page(czech).wishes
    page(czech).tabs.setCurrentWidget(panel)
    assert not page(czech).main_button.isEnabled()
    panel.pairs.click()
    settle()
    assert len(panel.wishes) == 15
    assert panel.said.text().startswith("The 15 ticked tables may go out together. Every small")
    assert not panel.adding.isEnabled()
    for button in panel.names.names.values():
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    panel.adding.click()
    assert not panel.names.chosen
    settle()
    assert "15 tables of the 16 ticked tables may go out" in panel.said.text()
    assert "ABCDEF may not join them." in panel.said.text()
    assert page(czech).space.focus != 0b111111
    shown = panel.list.topLevelItem(15)
    assert shown is not None
    assert [shown.text(column) for column in range(3)] == [
        "A × B × C × D × E × F",
        "may not be released, on the frontier",
        "no",
    ]
    panel.list.setCurrentItem(shown)
    assert page(czech).space.focus == 0b111111
    # A wish without its tick waits; one that is put down twice is one.
    first = panel.list.topLevelItem(0)
    assert first is not None
    first.setCheckState(0, Qt.CheckState.Unchecked)
    panel.pairs.click()
    settle()
    assert len(panel.wishes) == 16 and len(panel.ticked) == 15
    assert page(czech).main_button.text() == "Plan this release"
    page(czech).main_button.click()
    settle()
    assert len(margins(czech)) == 14
    # What is planned is published next.
    assert page(czech).main_button.text() == "Publish the 14 planned margins"
    panel.removing.click()
    settle()
    assert panel.said.text().startswith("The 14 ticked tables may go out together")
