"""The guided tour: of one's own table, by keys, and gone without a trace."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.tour import Tour

Settle = Callable[[], None]


def begun(window: MainWindow) -> Tour:
    window.actions_["tour"].trigger()
    found = [tour for tour in window.findChildren(Tour) if tour.isVisible()]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("size", [(960, 540), (1366, 768)])
def test_it_tells_of_this_table_and_stays_inside_the_window(
    opened: MainWindow, size: tuple[int, int]
) -> None:
    opened.resize(*size)
    tour = begun(opened)
    assert tour.text.text().startswith("16 cells; 4 are small")
    assert len(tour.stops) > 5
    for number in range(len(tour.stops)):
        assert tour.at == number and opened.rect().contains(tour.geometry())
        shown = tour.stops[number][0]
        assert shown.isVisible() and tour.ring.geometry().intersects(opened.rect())
        QTest.keyClick(tour.on, Qt.Key.Key_Space)
    assert not tour.isVisible() and not tour.ring.isVisible()


def test_it_ends_by_esc_and_with_its_table(opened: MainWindow, settle: Settle) -> None:
    tour = begun(opened)
    QTest.keyClick(tour.on, Qt.Key.Key_Escape)
    assert not tour.isVisible()
    tour = begun(opened)
    opened.document.run(protect(seed=7, accept_weak=True))
    settle()
    assert not [one for one in opened.findChildren(Tour) if one.isVisible()]
    opened.document.set_public(True)
    tour = begun(opened)
    assert not any("are small" in words for _, words in tour.stops)
    tour.leave()


def test_without_a_table_it_says_how_to_begin(window: MainWindow) -> None:
    tour = begun(window)
    assert len(tour.stops) == 1 and "example" in tour.text.text()
    tour.leave()
