"""The job of a new statistician by clicks alone: records, levels, bands, three tables, one set.

The only text that is written is a reason, which nobody else can give. Clicks are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from tabprotect.engine.attack import chain
from tabprotect.engine.bundle.set_bundles import verify_set
from tabprotect.engine.project.verbs.release_verbs import set_method
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.release.page import ReleasePage
from tabprotect.gui.pages.run.page import RunPage
from tabprotect.gui.pages.table.counts_part import CountsPart
from tabprotect.gui.pages.table.page import TablePage
from tabprotect.gui.pages.tabulate.page import DRAWN, TabulatePage
from tabprotect.gui.pages.variables.page import VariablesPage

Settle = Callable[[], None]
P = TypeVar("P")

RECORDS = 20_000


@pytest.fixture
def people(tmp_path: Path) -> Path:
    draw = np.random.default_rng(5)
    names = [f"{a}{b}{c}" for a in "AB" for b in "12" for c in "123"]
    lines = ["nuts1,nuts2,nuts3,age,sex,work"]
    for nuts, age, sex, work in zip(
        draw.integers(len(names), size=RECORDS), draw.integers(0, 80, RECORDS),
        draw.integers(2, size=RECORDS), draw.integers(4, size=RECORDS), strict=True,
    ):  # fmt: skip
        name = names[nuts]
        lines.append(f"{name[0]},{name[:2]},{name},{age},{'fm'[sex]},w{work}")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


class Hand:
    """A hand with a mouse that counts its clicks."""

    def __init__(self, window: MainWindow, qtbot: QtBot, settle: Settle) -> None:
        self.window, self.qtbot, self.settle = window, qtbot, settle
        self.clicks = 0

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        self.qtbot.waitUntil(lambda: widget.isVisible() and widget.isEnabled())
        self.clicks += 1
        self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at or QPoint())
        self.settle()

    def row(self, table: QTableWidget, text: str) -> None:
        (item,) = table.findItems(text, Qt.MatchFlag.MatchExactly)
        self.click(table.viewport(), table.visualItemRect(item).center())

    def button(self, name: str) -> None:
        found = [
            b
            for b in self.window.page.findChildren(QAbstractButton)
            if name in (b.text(), b.accessibleName()) and b.isVisible()
        ]
        self.click(found[0])

    def page(self, kind: type[P]) -> P:
        assert isinstance(self.window.page, kind)
        return self.window.page


def test_from_records_to_a_coded_set_of_three_tables(
    window: MainWindow,
    people: Path,
    tmp_path: Path,
    qtbot: QtBot,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What three tables with noise of their own say together would take half a minute here.
    monkeypatch.setattr(chain, "MOST_CELLS", 0)
    hand = Hand(window, qtbot, settle)
    window.go("tabulate")
    # The file dialog is the system's: the card opens it; the file, "Open".
    hand.clicks += 3
    records = hand.page(TabulatePage)
    records.choose(str(people))
    settle()
    hand.click(records.all)
    assert records.chosen == ["nuts1", "nuts2", "nuts3", "age", "sex", "work"]
    # Two clicks into a list of choices.
    records._key.setCurrentText(DRAWN)
    hand.clicks += 2
    hand.click(records.main_button)
    window.go("variables")
    hand.clicks += 1
    settle()
    variables = hand.page(VariablesPage)
    hand.click(variables.levels_there.nest_button)
    hand.row(variables.list, "age")
    hand.button("Add this level")
    hand.click(variables.levels_there.take_button)
    table = window.document.original
    assert table is not None and table.domain.names == ("nuts", "age", "sex", "work")
    assert table.domain["age"].categories[:2] == ("0-4", "5-9")
    hand.click(variables._back)
    grid = hand.page(TablePage).part
    assert isinstance(grid, CountsPart)
    grid.folds.show_way("folded")
    hand.clicks += 2
    assert grid.grid.layout_ is not None
    assert grid.grid.layout_.labels(0, down=True)[0] == "\u25b8 A"
    # A card of the page Protect, and "Set up".
    window.document.run(set_method(method="cell_key"))
    settle()
    window.go("methods")
    hand.clicks += 2
    settle()
    form = hand.page(RunPage).form
    chips = form.fields["margins"].chips
    assert chips is not None
    # A click opens the boxes, and one beside them closes them.
    chips.pairs._build()
    hand.clicks += 2
    for pair in (("nuts@nuts2", "age"), ("age", "sex"), ("nuts@nuts1", "work")):
        chips.pairs.boxes[pair].click()
        hand.clicks += 1
    form.flush()
    hand.click(hand.page(RunPage).main_button)
    qtbot.waitUntil(lambda: window.document.release is not None)
    settle()
    window.go("release")
    hand.clicks += 1
    settle()
    release = hand.page(ReleasePage)
    release.form.set_destination(tmp_path / "set.zip", None)
    # What three tables with noise of their own say together is not judged: that takes a reason.
    assert release.banner.line.state == "mind"
    qtbot.keyClicks(release.signing.reason, "a trial")
    hand.click(release.form.apart)
    qtbot.waitUntil(release.main_button.isEnabled)
    hand.click(release.main_button)
    qtbot.waitUntil(lambda: release._question is not None)
    assert release._question is not None
    hand.click(release._question.publish)
    qtbot.waitUntil(lambda: (tmp_path / "set" / "manifest.json").exists())
    settle()
    found = verify_set(tmp_path / "set")
    assert list(found.releases) == ["1-nuts-nuts2-age", "2-age-sex", "3-nuts-nuts1-work"]
    assert found.common_cells > 0
    assert release.seal.isVisible()
    assert hand.clicks <= 27, hand.clicks
