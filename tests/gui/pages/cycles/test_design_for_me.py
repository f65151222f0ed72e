"""Design for me: candidates judged on synthetic tables, one of them taken as one step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot
from readable import unnamed

from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.cycles.page import CyclesPage
from tabprotect.gui.pages.cycles.templates.design_for_me import DesignForMe

Settle = Callable[[], None]


@pytest.fixture
def form(opened: MainWindow, settle: Settle, qtbot: QtBot) -> DesignForMe:
    """The form on the 4 x 4 example, its candidates found."""
    opened.go("cycles")
    settle()
    page = opened.pages["cycles"]
    assert isinstance(page, CyclesPage)
    page._tools["templates"].click()
    page.choosing.templates.cards["design for me"].chosen.emit()
    qtbot.waitUntil(lambda: "judged on synthetic" in page.choosing.design.state.text())
    return page.choosing.design


def test_candidates_go_from_useful_to_protected(form: DesignForMe) -> None:
    assert 2 <= len(form.offers) <= 8 and form.slider.maximum() == len(form.offers) - 1
    change = [offer.figures.change for offer in form.offers]
    risk = [offer.figures.unchanged for offer in form.offers]
    assert change == sorted(change) and risk == sorted(risk, reverse=True)
    form.slider.setValue(0)
    assert form.offer is form.offers[0] and form.offers[0].words in form.leaks.text().lower()
    assert unnamed(form) == []
    # From "useful" at its left to "protected" at its right.
    assert form.slider.orientation() == Qt.Orientation.Horizontal
    # What is hovered over is drawn over the table; what is chosen stays chosen.
    form.curve.hovered.emit(len(form.offers) - 1)
    moves = form.offers[-1].moves
    touches = sum(moves.touches).reshape(4, 4)
    shown = form.grid.grid.model
    assert str(shown.data(shown.index(0, 0))) == f"{touches[0, 0]}\u00d7"
    assert form.offer is form.offers[0]
    # A click on a point of the curve chooses it.
    last = form.offers[-1].figures
    form.curve.pressed(QPointF(last.change, last.unchanged), twice=False)
    assert form.offer is form.offers[-1]


def test_what_is_asked_for_is_what_is_offered(form: DesignForMe, qtbot: QtBot) -> None:
    form.zeros.setCurrentIndex(1)
    form.posterior.setCurrentIndex(form.posterior.findData("formula"))
    form.most.setValue(2)
    qtbot.waitUntil(lambda: "judged on synthetic" in form.state.text())
    assert form.offers
    for offer in form.offers:
        assert (offer.rule, offer.posterior) == ("any_zero", "formula")
        assert offer.largest_change <= 2
    form.most.setValue(1)
    qtbot.waitUntil(lambda: "no design does all of this" in form.state.text().lower())
    assert not form.take.isEnabled()


def test_other_margins_are_kept(form: DesignForMe, qtbot: QtBot) -> None:
    next(iter(form.chips.chips.values())).click()
    assert [list(margin) for margin in form.chips.margins] == [["w"]]
    qtbot.waitUntil(lambda: "judged on synthetic" in form.state.text())
    assert {offer.kind for offer in form.offers} == {"triangular"}
    form.take.click()
    qtbot.waitUntil(lambda: not form.document.jobs.running)
    project = form.document.project
    assert project is not None and project.parameters["keep"] == "`w`"
    assert len(project.cycles) == 12 and project.cycles.margins == (("w",),)


def test_a_design_is_taken_as_one_step_and_a_look_at_the_table_is_recorded(
    form: DesignForMe, settle: Settle
) -> None:
    document = form.document
    steps = len(document.history.steps)
    form.staff.setChecked(True)
    settle()
    assert "staff only, on this table: never change" in form.leaks.text().lower()
    offer = form.offer
    assert offer is not None
    form.take.click()
    settle()
    project = document.project
    assert project is not None and project.cycles == offer.moves
    assert len(document.history.steps) == steps + 1
    assert {name: project.parameters[name] for name in offer.parameters} == offer.parameters
    document.do(protect, seed=1, accept_weak=True)
    settle()
    project = document.project
    assert project is not None and project.protected is not None
    recorded = project.protected.record.decisions
    assert any("chosen by figures of this table" in decision for decision in recorded)
    assert np.array_equal(
        project.original.margin(["v"]).counts, project.protected.release.table.margin(["v"]).counts
    )
