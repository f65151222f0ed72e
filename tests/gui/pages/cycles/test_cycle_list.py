"""The list of cycles, and the patterns that stand in it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pages_of import page_of
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.verbs.release_verbs import set_parameters
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.cycles.cycle_picture import BOTH, pattern
from tabprotect.gui.pages.cycles.page import CyclesPage

Settle = Callable[[], None]


def page(window: MainWindow) -> CyclesPage:
    return page_of(window, CyclesPage)


def test_the_list_adds_duplicates_moves_and_removes(designer: MainWindow, examined: Settle) -> None:
    document, listed = designer.document, page(designer).list
    assert document.project is not None
    first = document.project.cycles.array(0)
    second = document.project.cycles.array(1)
    listed.buttons["duplicate"].click()
    assert len(document.project.cycles) == 5 and document.selected_cycle == 1
    assert np.array_equal(document.project.cycles.array(1), first)
    QTest.keyClick(listed.view, Qt.Key.Key_Delete)
    assert len(document.project.cycles) == 4
    document.select_cycle(0)
    QTest.keyClick(listed.view, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert document.selected_cycle == 1
    assert np.array_equal(document.project.cycles.array(0), second)
    listed.buttons["add"].click()
    # It is empty until a cell has a sign, and no step before that.
    assert len(document.project.cycles) == 4 and document.selected_cycle is None
    assert not page(designer).grid.cell_delegate.sign.any()
    page(designer).editor.flip((1, 2), -1)
    page(designer).editor.flip((1, 3), 1)
    assert len(document.project.cycles) == 5 and document.selected_cycle == 4
    assert document.project.cycles.array(4).tolist()[1] == [0, 0, -1, 1]
    examined()


def test_dropping_a_cycle_moves_it(designer: MainWindow, examined: Settle) -> None:
    view = page(designer).list.view
    assert designer.document.project is not None
    first = designer.document.project.cycles.array(0)
    data = view.cycles.mimeData([view.cycles.index(0)])
    place = view.visualRect(view.cycles.index(2)).center()

    class Drop(QDropEvent):
        def source(self) -> object:
            return view

    event = Drop(
        QPointF(place),
        Qt.DropAction.MoveAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    view.dropEvent(event)
    assert np.array_equal(designer.document.project.cycles.array(2), first)
    assert view.cycles.rowCount() == 4
    examined()


def test_the_list_filters(window: MainWindow, settle: Settle, examined: Settle) -> None:
    window.files.open("example:sparse-10x10")
    settle()
    window.document.do(set_parameters, blocking="any_zero")
    window.go("cycles")
    examined()
    listed, document = page(window).list, window.document
    assert document.project is not None and document.original is not None
    moves = document.project.cycles
    zero = (document.original.counts == 0).reshape(-1)
    blocked = [i for i in range(len(moves)) if zero[moves.entries(i)[0]].any()]
    listed.filter.setText("blocked")
    assert listed.model.shown.tolist() == blocked
    page(window).proof.findChild(QToolButton, "proof-blocked").click()
    assert listed.filter.text() == "blocked"
    listed.filter.setText("row10")
    touching = [i for i in range(len(moves)) if moves.array(i)[9].any()]
    assert listed.model.shown.tolist() == touching
    listed.filter.setText("row10, column2")
    both = [i for i in range(len(moves)) if moves.array(i)[9, 1]]
    assert listed.model.shown.tolist() == both
    listed.filter.setText("13")
    assert listed.model.shown.tolist() == [12]
    assert document.selected_cycle == 0
    page(window).proof.findChild(QToolButton, "proof-immovable").click()
    assert (
        page(window).examination.report is not None and page(window).examination.report.immovable is not None
    )
    assert document.selection == page(window).examination.report.immovable[0]


@pytest.mark.parametrize("shape", [(4, 4), (40, 12), (300, 300), (3, 3, 2)])
def test_patterns_are_small_and_true(shape: tuple[int, ...]) -> None:
    domain = Domain.of_shape(shape)
    moves = design(domain, "balanced")
    drawn = pattern(moves, 0, Placement.of(domain))
    assert max(drawn.shape) <= 20
    signs = {int(v) for v in np.unique(drawn)} - {0, BOTH}
    assert signs <= {1, -1}
    if len(shape) == 2 and max(shape) <= 14:
        assert np.array_equal(drawn, moves.array(0))


def test_thousands_of_cycles_are_drawn_only_where_they_are_seen(
    window: MainWindow, settle: Settle, examined: Settle
) -> None:
    window.files.open("example:social-assistance")
    settle()
    window.go("cycles")
    examined()
    window.document.select_cycle(1200)
    window.grab()
    model = page(window).list.model
    assert model.rowCount() > 1500
    assert 1200 in model._patterns and len(model._patterns) < 100
    cells = page(window).grid.grid.cells
    assert window.document.project is not None
    row, column = page(window)._layout().position(
        window.document.project.domain.unflat(int(window.document.project.cycles.entries(1200)[0][0]))
    ) or (-1, -1)
    assert (
        cells.viewport()
        .rect()
        .contains(cells.visualRect(cells.model().index(row, column)).center() + QPoint(0, 0))
    )
