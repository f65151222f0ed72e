"""Labels without room keep what tells them apart."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tabprotect.gui.grid.headers import elided, shared
from tabprotect.gui.look.lists.listing import ListColumn, RowList

REGIONS = tuple(f"Region {n} of the southern parts of the country" for n in range(20))


def test_what_labels_share_is_whole_words() -> None:
    assert shared(REGIONS) == ("Region ", " of the southern parts of the country")
    assert shared(("15 to 19 years", "15 to 24 years")) == ("15 to ", " years")
    assert shared(("Manager", "Manual work")) == ("", "")
    assert shared(("a b", "a b c")) == ("a ", "")
    assert shared(("alone",)) == shared(()) == ("", "")


@pytest.mark.parametrize("letters", [5, 8, 14, 30])
def test_labels_stay_apart_in_any_room(qapp: QApplication, letters: int) -> None:
    metrics = QFontMetrics(qapp.font())
    room, common = metrics.horizontalAdvance("n" * letters), shared(REGIONS)
    shown = [elided(metrics, text, room, common) for text in REGIONS]
    assert len(set(shown)) == len(REGIONS)
    assert all(metrics.horizontalAdvance(text) <= room for text in shown)
    # A label that is not like the others is cut as any.
    assert elided(metrics, "none", 10 * room, common) == "none"


@pytest.mark.parametrize(
    "last", ["(Region of the southern parts, men)", "(Region of the southern parts, women)"]
)
def test_cells_in_a_list_stay_apart_at_either_end(qtbot: QtBot, last: str) -> None:
    shown = RowList("cells")
    qtbot.addWidget(shown)
    names = ["another", "(Region of the southern parts, men)", last]
    shown.show_rows((ListColumn("cell", names, str, right=False),))
    shown.resize(150, 300)
    with qtbot.waitExposed(shown):
        shown.show()
    picture = shown.viewport().grab().toImage()
    first, second = (picture.copy(shown.visualRect(shown.rows.index(n, 0))) for n in (1, 2))
    assert (first == second) == (last == names[1])
