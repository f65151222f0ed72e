"""Levels folded and unfolded in the grid: totals at every level, and what a click chooses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pages_of import counts
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.verbs.level_verbs import group_categories, nest_variables
from tabprotect.engine.project.verbs.table_verbs import place, tabulate
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.grid.headers import LevelHeader
from tabprotect.gui.pages.table.counts_part import CountsPart

Settle = Callable[[], None]


@pytest.fixture
def page(window: MainWindow, tmp_path: Path, settle: Settle) -> CountsPart:
    path = tmp_path / "people.csv"
    rows = [
        f"{geo[0]},{geo},{age},{number % 2}"
        for geo in ("a1", "a2", "b1", "b2")
        for age in range(6)
        for number in range(1 + (age * 7 + ord(geo[1])) % 4)
    ]
    path.write_text("n1,n2,age,sex\n" + "\n".join(rows) + "\n")
    window.document.run(tabulate(source=str(path), by=["n1", "n2", "age", "sex"]))
    settle()
    window.document.run(nest_variables(variables=["n1", "n2"], name="geo"))
    window.document.run(group_categories(variable="age", width=3))
    settle()
    window.go("table")
    return counts(window)


def labels(page: CountsPart, *, down: bool) -> list[str]:
    layout = page.grid.layout_
    assert layout is not None
    return [layout.label(n, down=down).strip() for n in range(layout.shape[0 if down else 1])]


def press(qtbot: QtBot, header: LevelHeader, line: int) -> None:
    at = header.sectionViewportPosition(line) + header.sectionSize(line) // 2
    place = QPoint(header.width() // 3, at) if header.down else QPoint(at, header.height() - 8)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_folded_levels_show_totals_and_open_by_a_click(page: CountsPart, qtbot: QtBot) -> None:
    table = page.document.original
    assert table is not None
    page.document.run(place(rows=["geo"], columns=["age"], layers=["sex"]))
    page.folds.show_way("folded")
    assert labels(page, down=True) == ["\u25b8 a", "\u25b8 b"]
    assert labels(page, down=False) == ["\u25b8 0-2", "\u25b8 3-5"]
    first = table.counts[:, :, 0]
    sums = np.add.reduceat(np.add.reduceat(first, [0, 2], axis=0), [0, 3], axis=1)
    assert (page.grid.model.values == sums).all()
    press(qtbot, page.grid.cells.rows, 0)
    assert labels(page, down=True) == ["\u25be a", "a1", "a2", "\u25b8 b"]
    whole = page.grid._margin_models
    assert whole[2].values.item() == first.sum()
    assert whole[0].values.reshape(-1).tolist() == [
        sums[0].sum(), *first[:2].sum(axis=1).tolist(), sums[1].sum()
    ]  # fmt: skip
    assert not page.grid.model.editable
    # A sum is no cell; a cell is the table's own, wherever it stands.
    page.grid.cells.setCurrentIndex(page.grid.model.index(0, 0))
    assert page.document.selection is None and page.grid.cells.currentIndex().isValid()
    press(qtbot, page.grid.cells.columns, 1)
    page.grid.cells.setCurrentIndex(page.grid.model.index(2, 3))
    assert page.document.selection == (1, 4, 0)
    # What is chosen elsewhere comes into sight.
    page.document.select((3, 0, 1))
    assert "b2" in labels(page, down=True) and "\u25be 0-2" in labels(page, down=False)
    assert page.grid.model.values[
        page.grid.cells.currentIndex().row(), page.grid.cells.currentIndex().column()
    ] == table[(3, 0, 1)]  # fmt: skip
    page.folds.show_way("unfolded")
    marks = page.grid.delegate.mark
    assert marks is not None
    assert int(marks.sum()) == int(page.document.at_risk[:, :, 1].sum())  # type: ignore[index]
    page.folds.show_way("categories")
    assert page.grid.layout_ is not None and page.grid.layout_.shape == (4, 6)
    assert page.grid.model.editable
