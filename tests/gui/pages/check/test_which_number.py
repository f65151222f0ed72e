"""Which number to use, in a reader's window: as brute force says, marked or written."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages_of import beliefs
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from readable import unnamed

from tabprotect.engine.bundle import public
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
