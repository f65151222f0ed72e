"""The check page of magnitudes that go out with their numbers of records: the page for counts, as it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pages_of import beliefs, page_of
from pytestqt.qtbot import QtBot
from readable import unnamed

from tabprotect.engine.project.verbs.release_verbs import protect, set_parameters, set_prior
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.check.beliefs import Beliefs
from tabprotect.gui.pages.check.contributors_tried import ContributorsTried
from tabprotect.gui.pages.check.page import CheckPage

Settle = Callable[[], None]

pytestmark = pytest.mark.parametrize("measured", ["magnitudes"], indirect=True)


def shown(window: MainWindow, settle: Settle) -> CheckPage:
    """The page of a release with numbers and means, the measure that is offered last in front."""
    window.document.do(set_parameters, choice="cheapest", publish="n,mean")
    window.document.do(protect)
    settle()
    window.go("check")
    settle()
    page = page_of(window, CheckPage)
    page.measure.setCurrentIndex(page.measure.count() - 1)
    settle()
    return page


def test_counts_are_a_measure_with_the_page_of_counts(
    measured: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    document, page = measured.document, shown(measured, settle)
    assert [page.measure.itemText(at) for at in range(2)] == ["turnover", "Number of records"]
    part = beliefs(measured)
    assert page.sentence.startswith("A reader would know 0 of about 1 small count (limit 0).")
    assert "gate" not in part._way.text() and not unnamed(page) and not page.without_work() >= {"table_csv"}
    # Of 7 in the row and in the column, each has a record in every cell: 2 to 6 of the first.
    document.select((0, 0))
    (belief,) = part.cell.histogram.beliefs
    assert belief.values.tolist() == [2, 3, 4, 5, 6] and np.allclose(belief.chances, 0.2)
    assert part.cell.histogram.published is None and part.cell.histogram.true == 4
    # The sum beside it: its row has 1100, and at most the 127 of the other column are not in it.
    sums = part.magnitude
    qtbot.waitUntil(lambda: sums.filled)
    assert sums.label == "turnover" and [mark.value for mark in sums.marks] == [1010.0]
    assert np.allclose(sums.values, np.linspace(973, 1100, 400), atol=0.2)
    # A cell of counts is that of the magnitudes, and a total is asked about.
    part._go_to((1, 0))
    assert document.selection == (1, 0) and part.cell_shown == (1, 0)
    document.select((1, 2))
    assert part.tabs.currentWidget() is part.which and part.which.first.text() == "nace=20"
    qtbot.waitUntil(lambda: part.which.best is not None)
    assert part.cell_shown is None and part.which.best is not None and part.which.best.estimate == 6
    # What is assumed is taken in, and a reader's view shows nothing of the original.
    document.do(set_prior, who="user", prior="positive")
    document.set_public(True)
    settle()
    assert part.view() is not None and part.cell.histogram.true is None and not sums.marks
    document.set_public(False)
    page.measure.setCurrentIndex(0)
    settle()
    assert isinstance(page.part, ContributorsTried) and page.part.tried and not page.sentence
    assert page.part.isVisible() and not part.isVisible() and not part.around[0].isVisible()


def test_magnitudes_alone_have_no_other_measure(measured: MainWindow, settle: Settle) -> None:
    page = shown(measured, settle)
    assert isinstance(page.part, Beliefs)
    for _ in range(2):
        measured.document.undo()
    measured.document.do(protect)
    settle()
    measured.go("check")
    settle()
    assert isinstance(page.part, ContributorsTried) and page.part.isVisible()
    assert not page.measure.isVisible()
