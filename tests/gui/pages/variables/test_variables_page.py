"""The page of variables, through the real window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.verbs.level_verbs import label_categories
from tabprotect.engine.project.verbs.table_verbs import set_count, tabulate
from tabprotect.gui.forms.mapping_sheet import MappingSheet
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.pages.table.counts_part import CountsPart
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
    panel = variables.levels_there
    assert not panel.nest_button.visibleRegion().isEmpty()
    choose(variables, "age")
    settled(variables, qtbot, settle)
    variables.panel.asked.emit({"width": 5})
    settled(variables, qtbot, settle)
    assert panel.take_button.isEnabled()
    qtbot.waitUntil(lambda: not panel.take_button.visibleRegion().isEmpty())


def test_bands_with_live_figures_and_the_tree(variables: VariablesPage, qtbot: QtBot, settle: Settle) -> None:
    table = variables.document.original
    assert table is not None
    assert texts(variables, 2) == ["age", "20", "numbers", "", ""]
    choose(variables, "age")
    variables.panel.width_box.setValue(10)
    settled(variables, qtbot, settle)
    counts = table.counts
    before = int(((counts >= 1) & (counts <= 2)).sum())
    assert f"2 groups. Small counts {before} \u2192 0" in variables.panel.live.text()
    variables.panel.add_button.click()
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
    variables.panel.cuts.setText("0, 15")
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
    variables.tree.dropped.emit(["s1"], "n1, n2")
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
    assert not panel.faces["bands"].isEnabled() and panel.way == "hand"
    choose(variables, "age")
    assert panel.faces["bands"].isEnabled() and panel.way == "bands"
    choose(variables, "region")
    variables.levels_there.removed.emit("groups")
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None and not table.domain.has_levels


def test_variables_that_nest_are_offered_and_a_level_can_be_taken(
    variables: VariablesPage, qtbot: QtBot, settle: Settle, tmp_path: Path
) -> None:
    choose(variables, "region")
    assert variables.levels_there.nest.text() == "part, region nest."
    assert variables.levels_there.nest.isVisible() and variables.levels_there.nest_button.isVisible()
    variables.levels_there.nest_button.click()
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
    assert variables.levels_there.level.currentText() == "age_1"
    assert not variables.levels_there.nest.isVisible() and not variables.levels_there.nest_button.isVisible()
    # Who leaves a group that has a name of its own leaves it its name.
    variables._together(["8", "9"])
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None
    assert table.domain["age@age_1"].categories == ("young", "8-9", "old")
    variables.document.undo()
    settled(variables, qtbot, settle)
    variables.levels_there.take_button.click()
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
    assert table is not None and [z.words for z in table.domain.structural] == ["region n1 and age 0"]
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


def test_a_group_is_called_as_somebody_says(variables: VariablesPage, qtbot: QtBot, settle: Settle) -> None:
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


@pytest.fixture
def coded(window: MainWindow, tmp_path: Path, settle: Settle) -> VariablesPage:
    """Codes of three digits, which files and people take for numbers."""
    path = tmp_path / "places.csv"
    codes = [f"{a}{b}{c}" for a in "12" for b in "123" for c in "1234"]
    path.write_text(
        "code,sex,count\n" + "".join(f"{c},{s},{n % 4 + 1}\n" for n, c in enumerate(codes) for s in "fm")
    )
    window.files.open(str(path))
    settle()
    window.go("variables")
    settle()
    found = window.pages["variables"]
    assert isinstance(found, VariablesPage)
    return found


def test_codes_have_levels_by_their_first_digits_with_one_button(
    coded: VariablesPage, qtbot: QtBot, settle: Settle
) -> None:
    settled(coded, qtbot, settle)
    assert texts(coded, 0)[2] == "codes of 3 digits" and coded.panel.way == "digits"
    # What would be made is seen before: the tree, and what becomes of the small counts.
    preview = coded.panel.preview
    top = preview.topLevelItem(0)
    assert top is not None and (top.text(0), top.childCount()) == ("1", 3)
    before = coded.document.original
    assert before is not None and not before.domain.has_levels
    assert f"code_2: 6 groups, small counts {24} \u2192 0." in coded.panel.live.text()
    coded.panel.add_button.click()
    settled(coded, qtbot, settle)
    table = coded.document.original
    assert table is not None
    assert table.domain["code@code_1"].categories == ("1", "2")
    assert table.domain["code@code_2"].categories == ("11", "12", "13", "21", "22", "23")
    assert (table.counts == before.counts).all()


def test_levels_by_digits_take_keys_alone(coded: VariablesPage, qtbot: QtBot, settle: Settle) -> None:
    settled(coded, qtbot, settle)
    tick, name, _ = coded.panel.digits.rows[0]
    tick.setFocus()
    qtbot.keyClick(tick, Qt.Key.Key_Space)
    assert not tick.isChecked() and not name.isEnabled()
    name = coded.panel.digits.rows[1][1]
    name.setFocus()
    name.selectAll()
    qtbot.keyClicks(name, "district")
    coded.panel.add_button.setFocus()
    qtbot.keyClick(coded.panel.add_button, Qt.Key.Key_Space)
    settled(coded, qtbot, settle)
    table = coded.document.original
    assert table is not None
    assert [level.name for level in table.domain["code"].levels] == ["district", "code"]


def test_groups_are_typed_and_a_level_is_written_out_to_be_changed(
    coded: VariablesPage, qtbot: QtBot, settle: Settle
) -> None:
    panel = coded.panel
    panel.faces["hand"].click()
    panel.written.setPlainText("here 111; 112")
    assert "line 1 is no group" in panel.live.text().lower() and not panel.add_button.isEnabled()
    panel.written.setPlainText("here: 111; nowhere")
    assert "no category 'nowhere'" in panel.live.text() and not panel.add_button.isEnabled()
    panel.written.setPlainText("here: 111; 112\nthere: 113; 114")
    panel.name.setText("mine")
    settled(coded, qtbot, settle)
    panel.add_button.click()
    settled(coded, qtbot, settle)
    table = coded.document.original
    assert table is not None
    assert table.domain["code@mine"].categories[:3] == ("here", "there", "121")
    panel.write_button.click()
    text = panel.written.toPlainText()
    assert text.startswith("here: 111; 112\nthere: 113; 114\n121: 121\n")
    assert panel.name.text() == "mine"
    panel.written.setPlainText(text.replace("113; ", "").replace("112", "112; 113"))
    panel.add_button.click()
    settled(coded, qtbot, settle)
    table = coded.document.original
    assert table is not None
    assert table.domain["code"].coarser[0].groups[:4] == ("here", "here", "here", "there")


def test_categories_are_moved_and_merged_where_they_stand(
    coded: VariablesPage, qtbot: QtBot, settle: Settle
) -> None:
    settled(coded, qtbot, settle)
    tree, order = coded.tree, coded.order
    assert not order.merge.isEnabled() and not order.buttons["up"].isEnabled()
    tree.setCurrentItem(tree.topLevelItem(1))
    order.buttons["up"].click()
    settled(coded, qtbot, settle)
    table = coded.document.original
    assert table is not None and table.domain["code"].categories[:3] == ("112", "111", "113")
    # What was moved stays selected; at the end there is nothing to move past.
    assert tree.chosen == ["112"]
    order.buttons["up"].click()
    settled(coded, qtbot, settle)
    assert coded.document.original is table
    for row in (0, 1):
        tree.topLevelItem(row).setSelected(True)  # type: ignore[union-attr]
    coded.panel.group_name.setText("both")
    order.merge.click()
    settled(coded, qtbot, settle)
    merged = coded.document.original
    assert merged is not None and merged.domain["code"].categories[:2] == ("both", "113")
    assert merged.total == table.total
    # A group moves with all that it holds.
    coded.panel.digits.show_codes("code", merged.domain["code"].categories, (1,))
    coded.panel.turn("digits")
    coded.panel.add_button.click()
    settled(coded, qtbot, settle)
    tree.setCurrentItem(tree.topLevelItem(tree.topLevelItemCount() - 1))
    order.buttons["up"].click()
    settled(coded, qtbot, settle)
    last = coded.document.original
    assert last is not None and last.domain["code"].categories[:2] == ("both", "211")


def typed(view: QAbstractItemView, text: str, qtbot: QtBot) -> None:
    """Write into the field that is open in a list, and leave it."""
    fields = [edit for edit in view.findChildren(QLineEdit) if edit.isVisible()]
    assert len(fields) == 1
    fields[0].setText(text)
    qtbot.keyClick(fields[0], Qt.Key.Key_Return)
    for _ in range(5):
        QApplication.processEvents()


def test_categories_are_added_renamed_moved_and_removed(
    opened: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    # From the table's head, the field of the category that was meant is open.
    counts = opened.pages["table"].findChild(CountsPart)
    assert counts is not None
    counts._rename(0, 2, down=True)
    settle()
    page = opened.page
    assert isinstance(page, VariablesPage) and page.variable == "v"

    def known() -> tuple[str, ...]:
        table = opened.document.original
        assert table is not None
        return table.domain.variables[0].categories

    typed(page.tree, "third", qtbot)
    assert known() == ("v1", "v2", "third", "v4")
    page.rename("v", "third")
    typed(page.tree, "v1", qtbot)  # a name that is taken
    assert known() == ("v1", "v2", "third", "v4") and page.errors.isVisible()
    page.order.buttons["add"].click()
    typed(page.tree, "v5", qtbot)
    assert known() == ("v1", "v2", "third", "v4", "v5")
    page.tree.choose(["v5"])
    page.order.buttons["up"].click()
    settle()
    assert known() == ("v1", "v2", "third", "v5", "v4")
    page.tree.choose(["v1"])
    page.order.buttons["remove"].click()  # it is not empty
    settle()
    assert len(known()) == 5 and page.errors.isVisible()
    page.tree.choose(["v5"])
    page.order.buttons["remove"].click()
    settle()
    assert known() == ("v1", "v2", "third", "v4")
    page.list.editItem(page.list.item(0, 0))
    typed(page.list, "person", qtbot)
    assert opened.document.original is not None
    assert opened.document.original.domain.names == ("person", "w")
    opened.document.undo()
    assert opened.document.original.domain.names == ("v", "w")


def test_squares_are_merged_by_a_list_of_public_counts(
    variables: VariablesPage, qtbot: QtBot, settle: Settle, tmp_path: Path
) -> None:
    panel = variables.panel
    panel.turn("files")
    assert not panel.merging.isVisible()
    codes = [f"1kmN{north}E{east}" for north in range(2) for east in (0, 1, 4)]
    (tmp_path / "people.csv").write_text("cell\n" + "\n".join(codes) + "\n")
    (tmp_path / "last.csv").write_text(
        "cell,people\n" + "".join(f"{c},{9 * (c[-1] > '1')}\n" for c in codes[1:])
    )
    variables.document.run(tabulate(source=str(tmp_path / "people.csv"), by=["cell"]))
    settle()
    choose(variables, "cell")
    panel.turn("files")
    assert panel.merging.isVisible()
    panel.least.setValue(10)
    panel.take_file(str(tmp_path / "last.csv"))
    settled(variables, qtbot, settle)
    table = variables.document.original
    assert table is not None
    assert table.domain["cell@merged"].categories == ("1kmN0E0", "1kmN0E1", "2kmN0E4", "1kmN1E0", "1kmN1E1")
