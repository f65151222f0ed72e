"""Lists of rows: who needs less than an equal share leaves the rest to those that are cut."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tabprotect.gui.frame.app import application
from tabprotect.gui.look.lists.listing import ListColumn, RowList


def test_a_long_column_has_the_room_that_short_ones_leave(qtbot: QtBot) -> None:
    application()
    shown = RowList("rows")
    qtbot.addWidget(shown)
    shown.resize(260, 200)
    shown.show()
    long, short = ["A Agriculture and forestry"] * 3, ["f", "m", "f"]
    shown.show_rows((ListColumn("a", long, str), ListColumn("b", short, str)), stretch=(0, 1))
    QApplication.processEvents()
    wide = [shown.columnWidth(n) for n in (0, 1)]
    assert wide[0] >= shown.sizeHintForColumn(0) and wide[1] < 100
    # Nobody is cut here, and the row is full.
    assert sum(wide) >= shown.viewport().width()
    # Two that are long share alike.
    shown.show_rows((ListColumn("a", long, str), ListColumn("b", long, str)), stretch=(0, 1))
    assert abs(shown.columnWidth(0) - shown.columnWidth(1)) <= 1
