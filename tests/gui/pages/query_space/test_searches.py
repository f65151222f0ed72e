"""Wishes on the query space page, the search for the most tables, and the plan that they end in."""

from __future__ import annotations

from collections.abc import Callable

from pages_of import page_of
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.lattice.space import RELEASED
from tabprotect.gui.pages.query_space.page import QuerySpacePage

Settle = Callable[[], None]


def page(window: MainWindow) -> QuerySpacePage:
    return page_of(window, QuerySpacePage)


def margins(window: MainWindow) -> tuple[tuple[str, ...], ...]:
    project = window.document.project
    assert project is not None
    return project.plan.margins


def test_the_most_tables_are_found_and_planned(czech: MainWindow, settle: Settle) -> None:
    panel = page(czech).wishes
    page(czech).tabs.setCurrentWidget(panel)
    panel.names.choose(["A", "B", "C", "D", "E", "F"])
    panel.add()
    settle()
    assert panel.ticked == [0b111111]
    panel.most.click()
    settle()
    # What was wished for before waits.
    assert 0b111111 in panel.wishes and 0b111111 not in panel.ticked
    assert panel.found is not None and set(panel.found.kept) == set(panel.ticked)
    page(czech).main_button.click()
    settle()
    regions = page(czech).space.regions
    assert regions is not None and (regions.status == RELEASED).sum() == 48


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
