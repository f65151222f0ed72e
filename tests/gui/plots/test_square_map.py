"""Squares of a grid stand where they lie, beside the table they belong to."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.frame.app import application
from tabprotect.gui.look.theme import THEME, chance_number
from tabprotect.gui.plots.heat_map import HeatMap, Scale

CODES = ["1kmN4200E3200", "1kmN4201E3200", "1kmN4200E3202", "1kmN4203E3201"]
SCALE = Scale(chance_number, 1.0)


@pytest.fixture
def shown(qtbot: QtBot) -> HeatMap:
    application()
    THEME.apply(mode="light", zoom=1.0)
    found = HeatMap("map")
    qtbot.addWidget(found)
    found.resize(600, 800)
    with qtbot.waitExposed(found):
        found.show()
    return found


def test_squares_stand_in_their_places_in_the_colour_of_the_chosen_column(
    shown: HeatMap, qtbot: QtBot
) -> None:
    domain = Domain.of({"age": ["young", "old"], "cell": CODES})
    values = np.array([[0.99, 0.0, 0.4, 0.0], [0.0, 0.99, 0.0, 0.4]])
    for placement in (Placement(("age",), ("cell",), ()), Placement(("cell",), (), ("age",))):
        shown.show_values(domain, placement, values, scale=SCALE, selection=(1, 0))
        found = shown.squares
        assert found.isVisible() and set(found.sides) == {1.0}
        assert found.corners.tolist() == [[3200, 4200], [3200, 4201], [3202, 4200], [3201, 4203]]
        old = [brush.color().name() for brush in found.brushes]
        assert len(set(old)) == 3 and old[0] == old[2]
        assert "old" in found.title
        assert found.tip(3201.5, 4203.5).startswith("1kmN4203E3201: 40") and not found.tip(3205, 4200)
        # In another column the same squares have other colours.
        shown.set_selection((0, 0))
        assert "young" in found.title and [brush.color().name() for brush in found.brushes] != old
    with qtbot.waitSignal(shown.chosen) as caught:
        shown.squares.pressed(QPointF(3202.2, 4200.9), twice=False)
    assert caught.args == [(0, 2)]
    # As wide as high on the screen.
    shown.squares.grab()
    assert shown.squares._canvas is not None
    across, up = shown.squares._canvas.unit
    assert across == pytest.approx(up, rel=0.02)


def test_a_table_without_squares_has_no_map(shown: HeatMap) -> None:
    domain = Domain.of({"age": ["young", "old"], "cell": ["north", *CODES[:2]]})
    shown.show_values(
        domain, Placement(("age",), ("cell",), ()), np.zeros((2, 3)), scale=SCALE, selection=None
    )
    assert not shown.squares.isVisible()


def test_merged_squares_are_as_large_as_they_are(shown: HeatMap) -> None:
    domain = Domain.of({"cell": ["2kmN4200E3200", "1kmN4200E3202"]})
    shown.show_values(domain, Placement(("cell",), (), ()), np.zeros(2), scale=SCALE, selection=(0,))
    assert shown.squares.sides.tolist() == [2.0, 1.0]
    assert shown.squares.tip(3201.5, 4201.5).startswith("2km") and not shown.squares.tip(3202.5, 4201.5)
