"""The table page, through the real window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pages_of import counts, page_of, result
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QLineEdit, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import place, set_at_risk, tabulate
from tabprotect.engine.sensitivity.rules.groups import GroupDisclosure
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.grid import clipboard
from tabprotect.gui.grid.grid_view import GridView
from tabprotect.gui.look.buttons import present
from tabprotect.gui.pages.table.counts_part import CountsPart
from tabprotect.gui.pages.table.page import TablePage

Settle = Callable[[], None]


def page(window: MainWindow) -> CountsPart:
    return counts(window)


def grid_texts(window: MainWindow) -> list[list[str]]:
    model = page(window).grid.model
    return [
        [str(model.data(model.index(r, c))) for c in range(model.columnCount())]
        for r in range(model.rowCount())
    ]


def write_table(path: Path, shape: tuple[int, ...], names: list[str]) -> np.ndarray:
    counts = np.arange(int(np.prod(shape))).reshape(shape)
    lines = [",".join([*names, "count"])]
    for index in np.ndindex(*shape):
        labels = [f"{n}{i}" for n, i in zip(names, index, strict=True)]
        lines.append(",".join([*labels, str(counts[index])]))
    path.write_text("\n".join(lines) + "\n")
    return counts


def test_an_example_opens_with_its_margins(opened: MainWindow) -> None:
    table = opened.document.original
    assert table is not None
    assert opened.page is page(opened).page
    # No variable has levels, so there is nothing to fold.
    assert page(opened).folds.isHidden()
    assert grid_texts(opened) == [[str(v) for v in row] for row in table.counts.tolist()]
    grid = page(opened).grid
    assert grid.right.model().data(grid.right.model().index(0, 0)) == str(table.counts[0].sum())
    assert grid.both.model().data(grid.both.model().index(0, 0)) == str(table.total)
    assert np.array_equal(grid.delegate.mark, (table.counts >= 1) & (table.counts <= 2))


class Writing(QPainter):
    """A painter that remembers what it wrote."""

    def __init__(self, device: QPixmap) -> None:
        super().__init__(device)
        self.written: list[object] = []

    def drawText(self, *given: object) -> object:
        self.written.append(given[-1])
        return super().drawText(*given)  # type: ignore[call-overload]


def written(grid: GridView) -> list[tuple[int, str, str]]:
    """Of each visible cell of the first row: its right edge, what was written, its text."""
    out = []
    for column in range(grid.model.columnCount()):
        index = grid.model.index(0, column)
        option = QStyleOptionViewItem()
        grid.cells.initViewItemOption(option)
        place = grid.cells.visualRect(index)
        option.rect = place  # type: ignore[assignment]
        if not place.intersects(grid.cells.viewport().rect()):
            continue
        picture = QPixmap(grid.cells.viewport().size())
        painter = Writing(picture)
        painter.setFont(grid.cells.font())
        grid.delegate.paint(painter, option, index)
        painter.end()
        [text] = painter.written
        out.append((place.right(), str(text), str(index.data())))
    return out


def test_a_number_is_shown_whole_or_not_at_all(window: MainWindow, settle: Settle, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    lines = ["a,b,count", *(f"r{r},c{c},{1234567 + 80 * c}" for r in (0, 1) for c in range(60))]
    path.write_text("\n".join(lines) + "\n")
    window.files.open(str(path))
    settle()
    grid = page(window).grid
    cells, bar = grid.cells, grid.bottom.horizontalScrollBar()
    assert bar.maximum() > 0
    cut = 0
    for at in range(0, 2 * cells.columnWidth(0), 7):
        bar.setValue(at)
        for right, text, whole in written(grid):
            end = right - 8
            begin = end + 1 - cells.fontMetrics().horizontalAdvance(whole)
            in_sight = begin >= 0 and end < cells.viewport().width()
            assert text == (whole if in_sight else "\u2026")
            cut += not in_sight
    assert cut > 0
    bar.setValue(0)
    # A column that somebody made too narrow.
    cells.setColumnWidth(0, 30)
    first, second, *_ = written(grid)
    assert first[1] == "\u2026"
    assert second[1] == second[2]


def test_nothing_selected_is_shown_as_nothing(opened: MainWindow, qtbot: QtBot) -> None:
    grid = page(opened).grid
    opened.document.select((0, 1))
    assert grid.current() == (0, 1)
    opened.document.select(None)
    assert grid.current() is None and grid.block() is None
    # The same cell can be chosen again.
    place = grid.cells.visualRect(grid.model.index(0, 1)).center()
    qtbot.mouseClick(grid.cells.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened.document.selection == (0, 1)


def test_typing_a_count_keeps_margins_and_undo_names_it(opened: MainWindow, qtbot: QtBot) -> None:
    cells = page(opened).grid.cells
    before = opened.document.original
    assert before is not None
    opened.document.select((0, 1))
    cells.setFocus()
    qtbot.keyClick(cells, Qt.Key.Key_7)
    editor = cells.findChild(QLineEdit)
    assert editor is not None
    qtbot.keyClick(editor, Qt.Key.Key_3)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: opened.document.original is not before)
    after = opened.document.original
    assert after is not None
    assert after[(0, 1)] == 73
    assert grid_texts(opened)[0][1] == "73"
    right = page(opened).grid.right.model()
    assert right.data(right.index(0, 0)) == str(after.counts[0].sum())
    assert opened.actions_["undo"].text() == "&Undo: set (v1, w2) to 73"
    qtbot.waitUntil(lambda: opened.document.selection == (1, 1))  # Return goes down
    opened.actions_["undo"].trigger()
    assert opened.document.original is before
    assert grid_texts(opened)[0][1] == str(before[(0, 1)])
    opened.actions_["redo"].trigger()
    assert grid_texts(opened)[0][1] == "73"


@pytest.mark.parametrize("text", ["1.5", "1,5", "-3", "two", "", "99999999999999999999"])
def test_bad_counts_go_to_the_strip_and_change_nothing(opened: MainWindow, text: str) -> None:
    before = opened.document.history
    page(opened).grid.model.typed.emit(0, 1, text)
    assert opened.document.history is before
    strip = page(opened).page.errors
    assert strip.isVisible()
    assert "(v1, w2)" in strip.text
    opened.document.select((3, 3))
    strip.place_clicked.emit(strip.error)
    assert opened.document.selection == (0, 1)


def test_f8_walks_all_at_risk_cells_in_every_layer(
    window: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "three.csv"
    counts = write_table(path, (2, 3, 2), ["a", "b", "c"])
    window.files.open(str(path))
    settle()
    window.document.do(set_at_risk, rule="1..8")
    window.document.do(place, rows=["b"], columns=["a"], layers=["c"])
    seen = []
    for _ in range(8):
        page(window).go_at_risk(1)
        index = window.document.selection
        assert index is not None
        seen.append(index)
        assert page(window).grid.current() == index  # its layer has come up
    expected = {tuple(map(int, i)) for i in np.argwhere((counts >= 1) & (counts <= 8))}
    assert set(seen) == expected
    page(window).go_at_risk(1)
    assert window.document.selection == seen[0]
    page(window).go_at_risk(-1)
    assert window.document.selection == seen[-1]
    assert window.rail.buttons["table"].badge == 8


def test_a_paste_is_previewed_before_it_happens(opened: MainWindow) -> None:
    table_page = page(opened)
    opened.document.select((1, 1))
    QApplication.clipboard().setText("w2\tw3\n5\t10\n1 234\t7\n")
    table_page.paste()
    assert table_page.paste_bar.isVisible()
    assert "(v2, w2)" in table_page.paste_bar.words
    assert "\u2192 5" in table_page.paste_bar.words
    before = opened.document.original
    assert before is not None
    assert before[(1, 1)] != 5
    assert grid_texts(opened)[1][1] == "5"  # the preview shows it
    table_page.paste_bar.cancel.click()
    assert grid_texts(opened)[1][1] == str(before[(1, 1)])
    table_page.paste()
    table_page.paste_bar.accept.click()
    after = opened.document.original
    assert after is not None
    assert after.counts[1:3, 1:3].tolist() == [[5, 10], [1234, 7]]
    assert "paste" in opened.document.history.undo_label


def test_a_block_that_does_not_fit_is_refused(opened: MainWindow) -> None:
    opened.document.select((3, 3))
    QApplication.clipboard().setText("1\t2\n3\t4\n")
    before = opened.document.history
    page(opened).paste()
    assert opened.document.history is before
    assert "does not fit" in page(opened).page.errors.text


def test_copy_with_headers_comes_back_as_the_same_block(opened: MainWindow) -> None:
    table_page = page(opened)
    table_page.grid.cells.selectAll()
    table_page.page.copy(with_headers=True)
    data = QApplication.clipboard().mimeData()
    lines = [line.split("\t") for line in data.text().splitlines()]
    assert lines[0] == ["v", "w1", "w2", "w3", "w4"]
    assert [line[0] for line in lines[1:]] == ["v1", "v2", "v3", "v4"]
    assert "<th>w1</th>" in data.html()
    opened.document.select((0, 0))
    table_page.paste()
    assert "no cell would change" in table_page.paste_bar.words
    table_page.paste_bar.cancel.click()


def test_a_large_block_is_copied_beside_the_window(
    opened: MainWindow, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_page = page(opened)
    table_page.grid.cells.selectAll()
    table_page.page.copy(with_headers=True)
    data = QApplication.clipboard().mimeData()
    wanted = data.text(), data.html()
    QApplication.clipboard().setText("something else")
    monkeypatch.setattr(clipboard, "AT_ONCE", 15)
    table_page.page.copy(with_headers=True)
    assert QApplication.clipboard().text() == "something else"
    settle()
    data = QApplication.clipboard().mimeData()
    assert (data.text(), data.html()) == wanted
    monkeypatch.setattr(clipboard, "CLIPBOARD_CELLS", 15)
    table_page.page.copy(with_headers=True)
    assert "too large" in table_page.page.errors.text


def test_what_is_seen_is_what_is_copied(measured: MainWindow, settle: Settle) -> None:
    table, document = page_of(measured, TablePage), measured.document
    document.run(protect() if document.of_magnitudes else protect(seed=7, accept_weak=True))
    settle()
    measured.go("table")
    view = result(measured).table
    view.grid.cells.selectAll()
    clip = QApplication.clipboard()
    copied = {}
    for name, face in table.faces.items():
        if face.isVisible():
            face.click()
            measured.actions_["table_copy"].trigger()
            copied[name] = clip.text()
    released = present(document.project).release
    assert released is not None and copied["original"] != copied["published"]
    if released.magnitudes:
        assert "x" in copied["published"] and "x" not in copied["original"]
        return
    rows = [[int(value) for value in line.split("\t")] for line in copied["changed"].splitlines()]
    assert rows == released.table.counts.tolist() and copied["published"] == copied["changed"]
    table.faces["published"].click()
    measured.actions_["table_copy_table"].trigger()
    lines = [line.split("\t") for line in clip.text().splitlines()]
    assert lines[0] == ["v", "w1", "w2", "w3", "w4", "Total"] and lines[-1][0] == "Total"
    assert lines[-1][-1] == str(released.table.total)
    assert clip.mimeData().hasImage() and clip.mimeData().hasHtml()


def test_what_the_panel_says_is_copied(opened: MainWindow) -> None:
    opened.actions_["copy_said"].trigger()
    assert QApplication.clipboard().text().splitlines()[0] == "4 small counts"


def test_placement_moves_by_key_and_keeps_the_cell(
    window: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "three.csv"
    counts = write_table(path, (2, 3, 4), ["a", "b", "c"])
    window.files.open(str(path))
    settle()
    window.document.select((1, 2, 3))
    chip = page(window).placement.chip("a")
    chip.setFocus()
    qtbot.keyClick(chip, Qt.Key.Key_L)
    project = window.document.project
    assert project is not None
    assert project.placement is not None
    assert project.placement.layers == ("a",)
    assert sorted(project.placement.rows + project.placement.columns) == ["b", "c"]
    grid = page(window).grid
    assert grid.current() == (1, 2, 3)
    at = grid.cells.currentIndex()
    assert grid.model.values[at.row(), at.column()] == counts[1, 2, 3]
    assert grid.model.values.sum() == counts[1].sum()  # one layer only
    assert page(window).placement.chip("a").hasFocus()


def test_only_at_risk_rows_and_columns(opened: MainWindow) -> None:
    table = opened.document.original
    assert table is not None
    mask = (table.counts >= 1) & (table.counts <= 2)
    page(opened).show_only_at_risk(True)
    model = page(opened).grid.model
    assert (model.rowCount(), model.columnCount()) == (
        int(mask.any(axis=1).sum()),
        int(mask.any(axis=0).sum()),
    )
    right = page(opened).grid.right.model()
    row = int(np.flatnonzero(mask.any(axis=1))[0])
    assert right.data(right.index(0, 0)) == str(table.counts[row].sum())  # the true margin


@pytest.mark.parametrize("figure", ["row %", "column %", "residuals"])
def test_figures(opened: MainWindow, figure: str) -> None:
    page(opened).show_figure(figure)
    values = page(opened).grid.model.values
    if figure == "residuals":
        counts = page(opened).document.original.counts  # type: ignore[union-attr]
        expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
        assert np.allclose(values, (counts - expected) / np.sqrt(expected))
    else:
        assert np.allclose(values.sum(axis=1 if figure == "row %" else 0), 100)
    assert not page(opened).grid.model.editable


def test_find_by_labels_and_by_count(opened: MainWindow, qtbot: QtBot) -> None:
    table = opened.document.original
    assert table is not None
    page(opened).open_find()
    edit = page(opened).find_bar.findChild(QLineEdit)
    assert edit is not None
    edit.setText("w3, v4")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert opened.document.selection == (3, 2)
    value = int(table.counts[2, 0])
    edit.setText(f"= {value}")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    index = opened.document.selection
    assert index is not None
    assert table[index] == value
    edit.setText("nowhere")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert page(opened).find_bar.result == "not found"
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    assert not page(opened).find_bar.isVisible()


def test_delete_empties_the_chosen_cells(opened: MainWindow, qtbot: QtBot) -> None:
    cells, table = page(opened).grid.cells, opened.document.original
    assert table is not None and table[0, 1] and table[2, 2]
    for index in ((0, 1), (2, 2)):
        opened.document.select(index)
        qtbot.keyClick(cells, Qt.Key.Key_Delete)
        table = opened.document.original
        assert table is not None and table[index] == 0
    assert table.counts.astype(bool).sum() == 14


def test_public_view_without_a_release_shows_nothing(opened: MainWindow) -> None:
    assert opened.strip.word == "CONFIDENTIAL"
    opened.actions_["public"].trigger()
    assert opened.strip.word == "PUBLIC VIEW"
    assert not page(opened).grid.isVisible()
    assert page(opened).empty.isVisible()
    opened.actions_["public"].trigger()
    assert page(opened).grid.isVisible()


def test_public_view_shows_the_published_table_read_only(opened: MainWindow, settle: Settle) -> None:
    opened.document.do(protect, seed=5)
    settle()
    opened.actions_["public"].trigger()
    published = opened.document.published
    assert published is not None
    assert grid_texts(opened) == [[str(v) for v in row] for row in published.counts.tolist()]
    assert not page(opened).grid.model.editable
    assert page(opened).grid.delegate.mark is None
    assert "small" not in page(opened).page.sentence
    page(opened).paste()
    assert not page(opened).paste_bar.isVisible()


def test_the_risk_list_holds_the_cells_of_all_layers(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "three.csv"
    counts = write_table(path, (2, 3, 4), ["a", "b", "c"])
    window.files.open(str(path))
    settle()
    window.document.do(set_at_risk, rule="1..8")
    shown, mask = page(window), (counts >= 1) & (counts <= 8)
    window.actions_["table_risks"].trigger()
    risks = shown.risks
    model = risks.list.rows
    assert shown.risks.isVisible() and model.rowCount() == mask.sum()
    assert all(part.isVisible() for part in (risks.kind, risks.search, risks.rule))
    assert {risks.index_of(row) for row in model.rows} == {tuple(map(int, at)) for at in np.argwhere(mask)}
    # By its count; then only some of it; a line is the cell everywhere.
    shown.risks.list.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    said = [int(model.data(model.index(row, 3))) for row in range(model.rowCount())]
    assert said == sorted(counts[mask].tolist(), reverse=True)
    category = window.document.project.domain["c"].categories[1]  # type: ignore[union-attr]
    shown.risks.search.setText(category)
    assert model.rowCount() == mask[:, :, 1].sum()
    shown.risks.list.selectRow(0)
    assert window.document.selection == risks.index_of(model.rows[0])
    other = risks.index_of(model.rows[-1])
    window.document.select(other)
    assert shown.risks.list.currentIndex().row() == model.rowCount() - 1
    shown.risks.search.clear()
    # The rule is edited where its consequence is seen.
    shown.risks.rule.high.setValue(4)
    shown.risks.rule.high.editingFinished.emit()
    assert str(window.document.project.at_risk) == "1..4"  # type: ignore[union-attr]
    assert model.rowCount() == ((counts >= 1) & (counts <= 4)).sum()
    shown.risks.rule.zeros.click()
    assert str(window.document.project.at_risk) == "0..4"  # type: ignore[union-attr]
    # What holds a row alone is listed by a rule of its own.
    shown.risks.kind.setCurrentIndex(shown.risks.kind.findData("group"))
    assert model.rowCount() == GroupDisclosure().mask(counts).sum()
    shown.risks.share.setValue(60)
    assert model.rowCount() == GroupDisclosure(0.6).mask(counts).sum() > 0
    # A file of counts does not say whose they are.
    one = shown.risks.kind.findData("one")
    assert not shown.risks.kind.model().flags(shown.risks.kind.model().index(one, 0))
    # Nothing of it is left for a reader's eyes.
    window.document.set_public(True)
    assert model.rowCount() == 0 and not shown.risks.isVisible()


def test_cells_of_one_contributor_are_known_of_records(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "records.csv"
    path.write_text("a,b\nx,p\nx,q\nx,q\ny,q\n")
    window.document.do(tabulate, source=str(path), by=["a", "b"])
    settle()
    window.go("table")
    window.actions_["table_risks"].trigger()
    risks = page(window).risks
    risks.kind.setCurrentIndex(risks.kind.findData("one"))
    cells = {risks.index_of(row) for row in risks.list.rows.rows}
    assert cells == {(0, 0), (1, 1)}


def test_layers_say_how_many_risky_cells_each_holds(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "three.csv"
    counts = write_table(path, (2, 3, 4), ["a", "b", "c"])
    window.files.open(str(path))
    settle()
    window.document.do(set_at_risk, rule="1..8")
    window.document.do(place, rows=["b"], columns=["a"], layers=["c"])
    (combo,) = page(window).placement.layers.lists.values()
    mask = (counts >= 1) & (counts <= 8)
    for code in range(4):
        number = int(mask[:, :, code].sum())
        assert combo.itemText(code).endswith(f"\u2022{number}") == bool(number)
    window.document.set_public(True)
    assert not any("\u2022" in combo.itemText(code) for code in range(combo.count()))


def test_another_table_opens_at_its_first_column(window: MainWindow, settle: Settle, tmp_path: Path) -> None:
    window.resize(820, 600)
    for number in (30, 40):
        path = tmp_path / f"wide{number}.csv"
        write_table(path, (number, number), ["a", "b"])
        window.files.open(str(path))
        settle()
        cells = page(window).grid.cells
        bars = cells.horizontalScrollBar(), cells.verticalScrollBar()
        assert all(bar.maximum() > 0 and bar.value() == 0 for bar in bars)
        window.document.saved = window.document.project
        for bar in bars:
            bar.setValue(bar.maximum())
