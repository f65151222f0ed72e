"""The page of variables, through the real window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.verbs.level_verbs import label_categories
from tabprotect.engine.project.verbs.table_verbs import set_count, tabulate
from tabprotect.gui.forms.mapping_sheet import MappingSheet
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.pages.variables.page import VariablesPage

Settle = Callable[[], None]


@pytest.fixture
def variables(window: MainWindow, tmp_path: Path, settle: Settle) -> VariablesPage:
    path = tmp_path / "people.csv"
    rows = [
        f"{region},{region[0]},{age}"
        for number, region in enumerate(("n1", "n2", "s1"))
        for age in range(20)
        for _ in range(1 + (age * 7 + number) % 4)
    ]
    path.write_text("region,part,age\n" + "\n".join(rows) + "\n")
    window.document.run(tabulate(source=str(path), by=["region", "part", "age"]))
    settle()
    window.go("variables")
    found = window.pages["variables"]
    assert isinstance(found, VariablesPage)
    settle()
    return found


def settled(page: VariablesPage, qtbot: QtBot, settle: Settle) -> None:
    qtbot.waitUntil(lambda: not page._ahead.running)
    settle()


def texts(page: VariablesPage, row: int) -> list[str]:
    cells = [page.list.item(row, column) for column in range(page.list.columnCount())]
    return ["" if cell is None else cell.text() for cell in cells]


def choose(page: VariablesPage, name: str) -> None:
    table = page.document.original
    assert table is not None
    page.list.setCurrentCell(table.domain.axis(name), 0)


def test_a_low_window_shows_the_next_step(
    variables: VariablesPage, window: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    window.resize(960, 540)
    choose(variables, "region")
    settled(variables, qtbot, settle)
    panel = variables.panel
    assert not panel.nest_button.visibleRegion().isEmpty()
    choose(variables, "age")
    settled(variables, qtbot, settle)
    panel.asked.emit({"width": 5})
    settled(variables, qtbot, settle)
    assert panel.take_button.isEnabled()
    qtbot.waitUntil(lambda: not panel.take_button.visibleRegion().isEmpty())


def test_bands_with_live_figures_and_the_tree(
    variables: VariablesPage, qtbot: QtBot, settle: Settle
) -> None:
    table = variables.document.original
    assert table is not None
    assert texts(variables, 2) == ["age", "numbers", "20", "", ""]
    choose(variables, "age")
    variables.panel.width_box.setValue(10)
    settled(variables, qtbot, settle)
    counts = table.counts
    before = int(((counts >= 1) & (counts <= 2)).sum())
    assert f"2 groups. Small counts {before} \u2192 0" in variables.panel.live.text()
    variables.panel._ask("width")
    settled(variables, qtbot, settle)
    changed = variables.document.original
    assert changed is not None
    assert changed.domain["age@band10"].categories == ("0-9", "10-19")
    assert texts(variables, 2)[3] == "band10 \u203a age"
    top = variables.tree.topLevelItem(0)
    assert top is not None and top.text(0) == "0-9" and top.childCount() == 10
    assert int(top.text(1)) == int(changed.margin(["age@band10"]).counts[0])
    # Other pages may name it: the shell's words, kept margins, the query space.
    assert "age@band10" in changed.domain.known_names
    for cut in (15, 0):
        variables.panel.cut.setValue(cut)
        variables.panel.add_cut.click()
    assert variables.panel.cuts.text() == "0, 15"
    settled(variables, qtbot, settle)
    assert variables.panel.live.text().startswith("2 groups.")
    variables.panel.cuts.setText("0, x")
    assert variables.panel.live.text() == ""


def test_groups_by_hand_are_named_by_what_they_hold(
    variables: VariablesPage, qtbot: QtBot, settle: Settle
) -> None:
    choose(variables, "region")
    tree = variables.tree
    n1, n2 = (tree.topLevelItem(0), tree.topLevelItem(1))
    tree.setCurrentItem(n1)
    drop = QDropEvent(
        QPointF(tree.visualItemRect(n2).center()),
        Qt.DropAction.MoveAction,
        tree.mimeData([n1]),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    tree.dropEvent(drop)
    # The tree is drawn anew: Qt moves nothing itself.
    assert drop.dropAction() is Qt.DropAction.IgnoreAction
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None
    assert table.domain["region@groups"].categories == ("n1, n2", "s1")
    # A further one joins the group it is dropped on, which gets another name.
    variables._dropped(["s1"], "n1, n2")
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None and table.domain["region@groups"].categories == ("n1, n2, s1",)
    variables._together(["s1"])
    assert variables.errors.isVisible()
    # Only what can be done is offered: one of several categories, and bands of numbers.
    panel = variables.panel
    assert not panel.together_button.isEnabled()
    variables.tree.selectAll()
    assert panel.together_button.isEnabled()
    assert not any(part.isEnabled() for part in panel.numbered)
    choose(variables, "age")
    assert all(part.isEnabled() for part in panel.numbered)
    choose(variables, "region")
    variables.panel.removed.emit("groups")
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None and not table.domain.has_levels


def test_variables_that_nest_are_offered_and_a_level_can_be_taken(
    variables: VariablesPage, qtbot: QtBot, settle: Settle, tmp_path: Path
) -> None:
    choose(variables, "region")
    assert variables.panel.nest.text() == "part, region nest."
    assert variables.panel.nest.isVisible() and variables.panel.nest_button.isVisible()
    variables.panel.nest_button.click()
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None and table.domain.names == ("region", "age")
    assert [level.name for level in table.domain["region"].levels] == ["part", "region"]
    (tmp_path / "age.hrc").write_text(
        "young\n" + "".join(f"@{n}\n" for n in range(10)) + "old\n"
        + "".join(f"@{n}\n" for n in range(10, 20))
    )  # fmt: skip
    choose(variables, "age")
    variables.panel.take_file(str(tmp_path / "age.hrc"))
    settled(variables, qtbot, settle)
    assert variables.panel.level.currentText() == "age_1"
    assert not variables.panel.nest.isVisible() and not variables.panel.nest_button.isVisible()
    # Who leaves a group that has a name of its own leaves it its name.
    variables._together(["8", "9"])
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None
    assert table.domain["age@age_1"].categories == ("young", "8-9", "old")
    variables.document.undo()
    settled(variables, qtbot, settle)
    variables.panel.take_button.click()
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None and table.domain["age"].categories == ("young", "old")


def test_nothing_of_the_original_stays_in_the_public_view(
    variables: VariablesPage, qtbot: QtBot, settle: Settle
) -> None:
    variables.document.set_public(True)
    settled(variables, qtbot, settle)
    assert variables.list.rowCount() == 0 and variables.tree.topLevelItemCount() == 0
    assert variables.panel.live.text() == "" and variables.sentence == ""


def test_labels_stand_beside_codes(variables: VariablesPage, qtbot: QtBot, settle: Settle) -> None:
    variables.document.run(label_categories(variable="part", labels={"n": "North"}))
    settle()
    choose(variables, "part")
    item = variables.tree.topLevelItem(0)
    assert item is not None and item.text(0) == "n  North"
    item.setSelected(True)
    assert variables.tree.chosen == ["n"]
    domain = variables.document.original.domain  # type: ignore[union-attr]
    layout = Layout(domain, Placement(("part",), ("age",), ("region",)), (0, 0, 0))
    assert layout.words(0, down=True) == "n (North)" and layout.label(0, down=True) == "n"
    settled(variables, qtbot, settle)


def test_structural_zeros_are_stated_by_clicks(
    variables: VariablesPage, qtbot: QtBot, settle: Settle
) -> None:
    menu = variables.zeros.menu()
    variables.document.run(set_count(index=[0, 0, 0], count=0))
    settle()
    for name in ("region", "age"):
        choose(variables, name)
        variables.tree.topLevelItem(0).setSelected(True)  # type: ignore[union-attr]
        menu.aboutToShow.emit()
        menu.actions()[0].trigger()
    menu.aboutToShow.emit()
    assert menu.actions()[1].text() == "Nobody is in: region n1 and age 0"
    menu.actions()[1].trigger()
    settle()
    table = variables.document.original
    assert table is not None and [z.words for z in table.domain.structural] == [
        "region n1 and age 0"
    ]
    assert "nobody can be in region n1 and age 0" in variables._sentence.text()
    menu.aboutToShow.emit()
    menu.actions()[-1].trigger()
    settle()
    assert not variables.document.original.domain.structural  # type: ignore[union-attr]
    settled(variables, qtbot, settle)


def test_codes_that_a_list_lacks_are_asked_for(
    variables: VariablesPage, qtbot: QtBot, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "list.csv"
    path.write_text("region,part\nn1,land\ns1,land\nw9,isles\n")
    choose(variables, "region")
    variables.panel.asked.emit({"files": {"code list": str(path)}})
    settled(variables, qtbot, settle)
    (sheet,) = variables.findChildren(MappingSheet)
    box = sheet.boxes["region", "n2"]
    assert box.currentData() == "n1"
    kept = [box.itemData(row) for row in range(box.count())]
    assert kept == ["n2", "", "n1", "s1", "w9"]
    before = variables.document.original
    assert before is not None
    left = before.margin(["region"]).counts.tolist()[1]
    box.setCurrentIndex(1)
    assert f"{left} records are left out" in sheet.result_line.text()
    box.setCurrentIndex(2)
    assert "All records are kept" in sheet.result_line.text()
    sheet.go_on.click()
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None and table.total == before.total
    assert table.domain["region"].categories == ("n1", "s1")
    assert table.domain["region"].coarser[0].groups == ("land", "land")


def test_a_group_is_called_as_somebody_says(
    variables: VariablesPage, qtbot: QtBot, settle: Settle
) -> None:
    choose(variables, "region")
    settled(variables, qtbot, settle)
    variables.panel.group_name.setText("the north")
    variables._together(["n1", "n2"])
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None
    assert table.domain["region"].coarser[0].groups == ("the north", "the north", "s1")
    assert not variables.panel.group_name.text()


def test_every_category_has_room_for_its_name(variables: VariablesPage) -> None:
    choose(variables, "region")
    tree = variables.tree
    names = [tree.topLevelItem(row).text(0) for row in range(tree.topLevelItemCount())]
    assert names == ["n1", "n2", "s1"]
    widest = max(map(tree.fontMetrics().horizontalAdvance, names))
    assert tree.columnWidth(0) - tree.indentation() > widest
