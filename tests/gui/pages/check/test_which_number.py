"""Which number to use, in a reader's window: as brute force says, marked or written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pages_of import beliefs, counts
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from readable import unnamed

import tabprotect as tp
from tabprotect.engine.bundle import public
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.gui.base.document import Document, Total
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.check.which_panel import WhichPanel
from tests.engine.belief.test_which_number import QUESTIONS, by_hand, release_of


@pytest.fixture
def which(reader: MainWindow, qtbot: QtBot) -> WhichPanel:
    page = beliefs(reader)
    page.tabs.setCurrentWidget(page.which)
    assert not unnamed(page.which)
    return page.which


def test_the_window_answers_as_brute_force(tmp_path: Path, qtbot: QtBot) -> None:
    release = release_of("random_rounding", base=3)
    public.write(release, tmp_path / "r.zip")
    window = MainWindow(Document())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.files.open(str(tmp_path / "r.zip"))
    qtbot.waitUntil(lambda: not window.document.jobs.running)
    window.go("check")
    qtbot.waitUntil(lambda: not window.document.jobs.running)
    page = beliefs(window)
    page.tabs.setCurrentWidget(page.which)
    which = page.which
    for text in QUESTIONS:
        kind, sign = (
            ("difference", " - ") if " - " in text else ("rate", " / ") if " / " in text else ("sum", "")
        )
        first, _, others = text.partition(sign) if sign else (text, "", "")
        which.kind.setCurrentIndex(which.kind.findData(kind))
        which.first.setText(first)
        which.others.setText(others)
        which.refresh("user")
        qtbot.waitUntil(lambda: which.best is not None)
        best = which.best
        assert best is not None and which.answer.text() == best.text
        assert (best.estimate, best.low, best.high) == pytest.approx(by_hand(release, text)), text
    assert which.right.text().startswith("Published counts that are true: 3: ")
    which.copy.click()
    assert QApplication.clipboard().text() == which.answer.text()
    window.document.saved = window.document.project


def test_counts_and_totals_are_marked(which: WhichPanel, reader: MainWindow, qtbot: QtBot) -> None:
    reader.document.select((0, 1))
    which.mark.click()
    assert which.first.text() == "v=v1; w=w2"
    reader.document.select_total(Total(("w",), (0, 2)))
    which.mark.click()
    assert which.asked == "v=v1; w=w2 + w=w3"
    which.mark.click()
    assert which.asked == "v=v1; w=w2"
    which.kind.setCurrentIndex(which.kind.findData("rate"))
    which.into.setCurrentIndex(1)
    assert which.asked == ""
    reader.document.select_total(Total((), (0, 0)))
    which.mark.click()
    assert which.asked == "v=v1; w=w2 / v=v1,v2,v3,v4"
    qtbot.waitUntil(lambda: which.best is not None)
    assert which.best is not None and which.best.kind == "share"
    which.first.setText("v=nobody")
    which.refresh("user")
    qtbot.waitUntil(lambda: "nobody" in which.answer.text())
    assert not which.copy.isEnabled()


def test_a_total_selected_in_the_table_is_asked_about(
    opened: MainWindow, qtbot: QtBot, settle: Callable[[], None]
) -> None:
    document = opened.document
    document.do(protect, seed=3, accept_weak=True)
    settle()
    opened.go("table")
    settle()
    grid = counts(opened).grid
    document.select((1, 3))
    grid.cells.setFocus()
    # Beyond the last column stands the row's total, below it the grand total.
    QTest.keyClick(grid.cells, Qt.Key.Key_Right)
    assert document.total == Total(("v",), (1, 0))
    place = grid.bottom.visualRect(grid.bottom.model().index(0, 2)).center()
    QTest.mouseClick(grid.bottom.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert document.total == Total(("w",), (0, 2))
    # Readers go to the same total, also before it is known what they believe.
    opened.go("check")
    page = beliefs(opened)
    assert page.tabs.currentWidget() is page.which and page.which.first.text() == "w=w3"
    qtbot.waitUntil(lambda: page.which.best is not None)
    release = document.release
    assert release is not None
    assert page.which.best == tp.infer(release).sum("w=w3")
    # The cell that was selected all the time takes the total's place again.
    opened.go("table")
    settle()
    place = grid.cells.visualRect(grid.model.index(1, 3)).center()
    QTest.mouseClick(grid.cells.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert document.total is None and document.selection == (1, 3)
