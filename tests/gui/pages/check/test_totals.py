"""Totals on the check page: what can be believed of margins, exactly where the engine can."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pages_of import beliefs, counts
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from readable import unnamed

from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.project.verbs.cycle_verbs import set_cycles
from tabprotect.engine.project.verbs.release_verbs import protect, set_parameters
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.tables.publication import Publication
from tabprotect.gui.base.document import Total
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import number_text
from tabprotect.gui.pages.check.beliefs import Beliefs

Settle = Callable[[], None]


@pytest.fixture
def check(opened: MainWindow, settle: Settle, qtbot: QtBot) -> Beliefs:
    """The page of the 4 x 4 example, released so that only rows are kept; its totals are shown."""
    groupings = "half:w=w1>a,w2>a,w3>b,w4>b"
    opened.document.do(set_parameters, keep="v + half", groupings=groupings)
    opened.document.do(protect, seed=3, accept_weak=True)
    settle()
    opened.go("check")
    settle()
    page = beliefs(opened)
    page.tabs.setCurrentWidget(page.totals)
    qtbot.waitUntil(lambda: page.totals.totals is not None)
    return page


def test_a_kept_margin_is_known_and_another_is_told_exactly(
    check: Beliefs, opened: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    panel, release = check.totals, opened.document.release
    assert release is not None and list(panel.picks.names) == ["v", "w", "half"]
    assert "4 totals, computed exactly; 4 known for certain." in panel.said.text()
    panel.picks.names["v"].setChecked(False)
    panel.picks.names["w"].setChecked(True)
    qtbot.waitUntil(lambda: "known for certain" in panel.said.text())
    settle()
    posterior = infer(likelihood_of(release))
    wanted = sums(posterior, Publication(release.domain, (("w",),)))[0]
    assert panel.totals is not None and panel.totals.way == wanted.way
    for row in range(4):
        assert panel.table.rows.data(panel.table.rows.index(row, 0)) == f"w{row + 1}"
    # The selected cell's own total is gone to, and drawn as a histogram.
    opened.document.select((1, 2))
    assert panel.table.currentIndex().row() == 2
    assert panel.histogram.published == wanted.published[(2,)]
    values, chances = wanted.distribution((2,))
    shown = panel.histogram.beliefs[0]
    assert shown.values.tolist() == values.tolist()
    assert abs(shown.chances - chances).max() < 0.02
    assert unnamed(panel) == []


def test_totals_of_another_release_do_not_stay(check: Beliefs, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = check.totals
    assert panel.totals is not None and panel.table.rows.rowCount() == 4
    # Nothing is known yet of a release that has just come.
    monkeypatch.setattr(panel.document, "known_posterior", lambda who="user": None)
    panel.refresh("user")
    assert panel.totals is None and panel.table.rows.rowCount() == 0
    assert not panel.said.text() and panel.histogram.isHidden()


def test_a_total_selected_in_the_table_is_believed_exactly(
    check: Beliefs, opened: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    document = opened.document
    document.do(set_cycles, kind="triangular")
    document.do(protect, seed=3, accept_weak=True)
    settle()
    opened.go("check")
    qtbot.waitUntil(lambda: document.known_posterior() is not None)
    release = document.release
    assert release is not None
    opened.go("table")
    settle()
    grid, inspector = counts(opened).grid, opened.inspector
    document.select((1, 3))
    grid.cells.setFocus()
    # Beyond the last column stands the row's total, below it the grand total.
    QTest.keyClick(grid.cells, Qt.Key.Key_Right)
    assert document.total == Total(("v",), (1, 0))
    qtbot.waitUntil(lambda: "Every reader knows" in inspector.sentence)
    assert inspector.value("on average") == number_text(float(release.table.counts[1].sum()))
    place = grid.bottom.visualRect(grid.bottom.model().index(0, 2)).center()
    QTest.mouseClick(grid.bottom.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert document.total == Total(("w",), (0, 2))
    qtbot.waitUntil(lambda: "thinks this total most likely" in inspector.sentence)
    wanted = sums(infer(likelihood_of(release)), Publication(release.domain, (("w",),)))[0]
    assert inspector.value("on average") == number_text(float(wanted.mean[2]))
    # Check goes to the same total.
    opened.go("check")
    qtbot.waitUntil(lambda: check.totals.totals is not None)
    assert check.tabs.currentWidget() is check.totals and check.totals.chosen == ("w",)
    qtbot.waitUntil(lambda: check.totals.table.currentIndex().row() == 2)
    # The cell that was selected all the time takes the total's place again.
    opened.go("table")
    settle()
    place = grid.cells.visualRect(grid.model.index(1, 3)).center()
    QTest.mouseClick(grid.cells.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert document.total is None and document.selection == (1, 3)


def test_a_total_selected_before_the_posterior_is_known_is_gone_to(
    opened: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    opened.document.do(protect, seed=3, accept_weak=True)
    settle()
    opened.document.select_total(Total(("w",), (0, 2)))
    opened.go("check")
    page = beliefs(opened)
    qtbot.waitUntil(lambda: page.totals.totals is not None)
    assert page.tabs.currentWidget() is page.totals and page.totals.chosen == ("w",)
    assert page.totals.table.currentIndex().row() == 2
