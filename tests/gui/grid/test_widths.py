"""One width of columns for tables beside each other, worked out without laying any of them out."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.variable import Variable
from tabprotect.gui.grid.grid_view import GridView
from tabprotect.gui.grid.layout import Layout


@pytest.mark.parametrize(
    ("counts", "label"),
    [([[1, 2], [3, 4]], "x"), ([[1_000_000, 2], [3, 123]], "x"), ([[1, 2], [3, 4]], "a long one")],
)
def test_the_natural_width_is_the_one_it_takes_when_it_is_told_none(
    qtbot: QtBot, counts: list[list[int]], label: str
) -> None:
    domain = Domain((Variable("a", ("u", "v")), Variable("b", (label, "y"))))
    values = np.array(counts)
    grid = GridView("a table")
    qtbot.addWidget(grid)
    grid.resize(700, 400)
    grid.show()
    layout = Layout(domain, Placement(("a",), ("b",)), (0, 0))
    margins = values.sum(axis=1), values.sum(axis=0), values.sum()
    grid.show_grid(layout, values, margins=margins)
    alone = grid.natural_widths
    qtbot.waitUntil(lambda: grid.widths == alone)
    grid.be_as_wide((300, 400))
    qtbot.waitUntil(lambda: grid.widths == (300, 400))
    # What it was told does not change what it needs.
    assert grid.natural_widths == alone


def test_labels_of_rows_are_as_long_as_the_room_beside_the_cells_allows(qtbot: QtBot) -> None:
    words = "works at sea, on land or in the air, for others or alone"
    whole = []
    for columns in (2, 40):
        domain = Domain((Variable("a", (words, "v")), Variable("b", tuple(map(str, range(columns))))))
        values = np.arange(2 * columns).reshape(2, columns)
        grid = GridView("a table")
        qtbot.addWidget(grid)
        grid.resize(900, 400)
        grid.show()
        grid.show_grid(Layout(domain, Placement(("a",), ("b",)), (0, 0)), values)
        rows = grid.cells.rows
        need = rows.fontMetrics().horizontalAdvance(words)
        whole.append(rows.width() > need)
        # Narrower, they give way before a column does; wider again, they are whole again.
        for width in (300, 900):
            grid.resize(width, 400)
            bar, fits = grid.cells.horizontalScrollBar(), columns == 2
            qtbot.waitUntil(lambda b=bar, f=fits: (b.maximum() == 0) == f)
        assert (rows.width() > need) == whole[-1]
    assert whole == [True, False]
