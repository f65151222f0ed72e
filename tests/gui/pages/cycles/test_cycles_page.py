"""The cycles page, through the real window."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pages_of import page_of
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton
from pytestqt.qtbot import QtBot
from readable import texts, unnamed

from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.cycles.designs import DESIGNS, design
from tabprotect.engine.project.history import History
from tabprotect.engine.project.verbs.cycle_verbs import add_cycle, remove_cycle, set_cycles
from tabprotect.engine.project.verbs.publish_verbs import open_bundle, publish
from tabprotect.engine.project.verbs.release_verbs import protect, set_parameters
from tabprotect.engine.project.verbs.table_verbs import new_table, place, set_count
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.cycles.page import CyclesPage
from tabprotect.gui.pages.cycles.proof_panel import functional_text
from tabprotect.gui.pages.stages import COMPARE

Settle = Callable[[], None]


def page(window: MainWindow) -> CyclesPage:
    return page_of(window, CyclesPage)


def click_cell(window: MainWindow, row: int, column: int) -> None:
    cells = page(window).grid.grid.cells
    place = cells.visualRect(cells.model().index(row, column)).center()
    QTest.mouseClick(cells.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_template_is_proved_to_keep_all_margins(designer: MainWindow, examined: Settle) -> None:
    page(designer)._tools["templates"].click()
    cards = page(designer).choosing.templates.cards
    assert set(cards) == {"design for me", *DESIGNS}
    assert page(designer).stack.currentWidget() is page(designer).choosing
    QTest.keyClick(cards["bidiagonal"], Qt.Key.Key_Return)
    examined()
    proof = page(designer).proof
    assert proof.texts["margins"] == "All margins are preserved."
    assert proof.verdict("margins") == "ok"
    assert "6 more sums stay exact" in proof.texts["rank"]
    assert "width 2" in proof.texts["width"]
    assert "keep every margin" in page(designer).sentence
    assert page(designer).list.model.rowCount() == 4
    assert designer.document.history.undo_label == "take cycles: Bidiagonal (Lenz)"
    page(designer).main_button.click()
    assert designer.page.name == "perturb"
    examined()


def test_a_template_that_cannot_be_says_why(window: MainWindow, settle: Settle, examined: Settle) -> None:
    window.files.open("example:duncan-roehrig-4x4x3")
    settle()
    window.go("cycles")
    examined()
    page(window)._tools["templates"].click()
    cards = page(window).choosing.templates.cards
    assert "two-way" in cards["bidiagonal"].why
    before = window.document.project
    page(window)._tools["templates"].click()
    QTest.mouseClick(cards["bidiagonal"], Qt.MouseButton.LeftButton)
    assert window.document.project is before
    QTest.mouseClick(cards["order-1"], Qt.MouseButton.LeftButton)
    examined()
    assert window.document.project is not None
    assert window.document.project.margins == (("v",), ("w",), ("x",))


def test_a_click_breaks_a_margin_that_glows_with_its_sum_and_undo_mends(
    designer: MainWindow, examined: Settle
) -> None:
    document = designer.document
    before = document.project
    assert before is not None
    sign = int(before.cycles.array(0)[1, 0])
    assert sign == 0
    # 0 becomes +: the row and the column gain one.
    click_cell(designer, 1, 0)
    examined()
    assert document.project is not None
    assert int(document.project.cycles.array(0)[1, 0]) == 1
    assert page(designer).grid.glowing == {"rows": {1: 1}, "columns": {0: 1}, "grand": {0: 1}}
    said = [b.text() for b in page(designer).broken.findChildren(QPushButton)]
    assert {"v2: +1", "w1: +1"} <= set(said)
    assert "break 2 sums and cannot be used" in page(designer).sentence
    assert page(designer).proof.verdict("margins") == "bad"
    assert page(designer).list.model.state(0) == "broken"
    assert not page(designer).main_button.isEnabled()
    assert CyclesPage.stage.problems(document) == 1
    assert document.history.undo_label == "set (v2, w1) of cycle 1 to +"
    document.undo()
    examined()
    assert document.project.cycles == before.cycles
    assert page(designer).grid.glowing == {"rows": {}, "columns": {}, "grand": {}}
    assert page(designer).broken.isHidden()
    assert page(designer).proof.verdict("margins") == "ok"


def test_a_broken_cycle_is_mended_by_a_button_and_by_a_key(designer: MainWindow, examined: Settle) -> None:
    document = designer.document
    document.do(set_cycles, kind="elementary")
    examined()
    for way in ("button", "key"):
        click_cell(designer, 2, 2)
        examined()
        assert page(designer).broken.isVisible()
        if way == "button":
            page(designer).broken.mend.click()
        else:
            QTest.keyClicks(page(designer).grid.grid.cells, "m")
        examined()
        assert document.history.undo_label == "mend cycle 1", (way, page(designer).errors.text)
        assert page(designer).broken.isHidden()
        assert document.project is not None and not document.project.cycles.violations()
        assert int(document.project.cycles.array(0)[2, 2]) == 1
        document.undo()
        document.undo()
        examined()
    # In a row of four there is no room against three: it says so, and leaves no step.
    document.do(add_cycle, plus=[[0, 0], [0, 1], [0, 2]], at=0)
    document.select_cycle(0)
    examined()
    page(designer).broken.mend.click()
    assert "no further signs near cycle 1 keep every sum" in page(designer).errors.text
    assert document.history.undo_label == "add a cycle"


def test_clicks_and_keys_go_through_the_signs(designer: MainWindow, examined: Settle) -> None:
    cells = page(designer).grid.grid.cells

    def sign() -> int:
        assert designer.document.project is not None
        return int(designer.document.project.cycles.array(0)[2, 0])

    seen = []
    for _ in range(3):
        click_cell(designer, 2, 0)
        seen.append(sign())
    assert seen == [1, -1, 0]
    assert designer.document.selection == (2, 0)
    for key, wanted in (("-", -1), ("+", 1), (" ", -1), ("0", 0)):
        QTest.keyClicks(cells, key)
        assert sign() == wanted
    examined()


def test_jump_goes_to_the_broken_margin(designer: MainWindow, examined: Settle) -> None:
    designer.document.select_cycle(2)
    click_cell(designer, 3, 3)
    examined()
    designer.document.select_cycle(0)
    designer.document.select((0, 0))
    page(designer).proof.findChild(QToolButton, "proof-margins").click()
    assert designer.document.selected_cycle == 2
    row, column = designer.document.selection or (-1, -1)
    assert 3 in (row, column)


def test_a_cycle_file_of_another_shape_leaves_everything(designer: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "three.json"
    cycle_files.write(design(Domain.of_shape((3, 3)), "bidiagonal"), path)
    before = designer.document.history
    page(designer).editor.import_file(str(path))
    strip = page(designer).errors
    assert strip.isVisible()
    assert "3 x 3" in strip.text and "4 x 4" in strip.text and "three.json" in strip.text
    assert designer.document.history is before


@pytest.mark.parametrize("name", ["cycles.json", "cycles.mat"])
def test_export_and_import_give_the_same_cycles(
    designer: MainWindow, tmp_path: Path, name: str, qtbot: QtBot
) -> None:
    path = tmp_path / name
    page(designer).editor.export_file(str(path))
    qtbot.waitUntil(path.exists)
    assert designer.document.project is not None
    cycles = designer.document.project.cycles
    designer.document.do(set_cycles, kind="elementary")
    page(designer).editor.import_file(str(path))
    assert designer.document.project.cycles == cycles
    if name.endswith(".json"):
        assert json.loads(path.read_text())["shape"] == [4, 4]
    page(designer).editor.export_file(str(tmp_path / "nowhere" / name))
    qtbot.waitUntil(lambda: "nowhere" in page(designer).errors.text)


def test_what_stays_exactly_known_is_named_with_its_value(
    designer: MainWindow, examined: Settle, qtbot: QtBot
) -> None:
    proof = page(designer).proof
    proof.findChild(QToolButton, "proof-rank").click()
    qtbot.waitUntil(lambda: proof.functionals.count() > 0)
    assert designer.document.original is not None and designer.document.project is not None
    listed = [proof.functionals.item(i).text() for i in range(proof.functionals.count())]
    counts = designer.document.original.counts
    assert len(listed) == 6
    assert f"(v1, w1) \u2212 (v2, w2) = {counts[0, 0] - counts[1, 1]}" in listed
    proof.functionals.setCurrentRow(0)
    weight = page(designer).grid.cell_delegate.weight
    assert weight is not None
    # What is published exactly is orthogonal to every cycle.
    for i in range(4):
        assert int((weight * designer.document.project.cycles.array(i)).sum()) == 0
    assert proof.functionals.isVisible()
    proof.findChild(QToolButton, "proof-rank").click()
    assert page(designer).grid.cell_delegate.weight is None


def test_a_long_combination_says_how_many_cells_it_has() -> None:
    domain = Domain.of({"v": ["a", "b", "c", "d"], "w": ["x", "y"]})
    weights = dict.fromkeys(np.ndindex(4, 2), 1) | {(0, 1): -2}
    assert functional_text(domain, dict(list(weights.items())[:2]), 5) == ("(a, x) \u2212 2\u2009(a, y) = 5")
    said = functional_text(domain, weights, None)
    assert said.endswith("+ (c, y) \u2026 (8 cells)")


def test_chances_are_shown_as_a_heat_map(designer: MainWindow, examined: Settle) -> None:
    designer.document.do(set_cycles, kind="elementary")
    designer.document.do(remove_cycle, cycle=0)
    examined()
    page(designer)._tools["chances"].click()
    model = page(designer).grid.grid.model
    shown = [[str(model.data(model.index(r, c))) for c in range(4)] for r in range(4)]
    assert designer.document.project is not None
    touched = sum(np.abs(designer.document.project.cycles.array(i)).astype(int) for i in range(15))
    assert shown == [[f"{n}\u00d7" for n in row] for row in touched.tolist()]
    assert "3 to 4 times" in page(designer)._legend.text()


def test_nothing_to_split_is_said_and_leaves_no_step(designer: MainWindow, examined: Settle) -> None:
    designer.document.do(set_cycles, kind="elementary")
    examined()
    before = designer.document.project
    page(designer)._tools["split"].trigger()
    assert designer.document.project is before
    assert "nothing to split" in page(designer).errors.text
    # Nor is it offered, until a cycle has two parts.
    page(designer)._offer_split()
    assert not page(designer)._tools["split"].isEnabled()
    designer.document.do(
        add_cycle, plus=[[0, 0], [1, 1], [2, 2], [3, 3]], minus=[[0, 1], [1, 0], [2, 3], [3, 2]]
    )
    examined()
    page(designer)._offer_split()
    assert page(designer)._tools["split"].isEnabled()


def test_blockers_are_hatched(window: MainWindow, settle: Settle, examined: Settle) -> None:
    window.files.open("example:sparse-10x10")
    settle()
    window.document.do(set_parameters, blocking="any_zero")
    window.go("cycles")
    examined()
    document = window.document
    assert document.project is not None and document.original is not None
    assert page(window).examination.blocked is not None
    cycle = int(np.flatnonzero(page(window).examination.blocked)[0])
    document.select_cycle(cycle)
    stuck = page(window).grid.cell_delegate.stuck
    wanted = (document.project.cycles.array(cycle) != 0) & (document.original.counts == 0)
    assert np.array_equal(stuck, wanted) and wanted.any()
    document.do(set_parameters, blocking="none")
    examined()
    assert page(window).grid.cell_delegate.stuck is None


def test_public_view_shows_no_original_count(designer: MainWindow, examined: Settle, settle: Settle) -> None:
    document = designer.document
    designer.document.do(set_cycles, kind="bidiagonal")
    # Counts that nothing else on the window could be mistaken for.
    for r in range(4):
        for c in range(4):
            document.do(set_count, index=[r, c], count=70_000 + 1000 * r + 10 * c + 7)
    examined()
    page(designer)._tools["chances"].setChecked(False)
    original = document.original
    assert original is not None
    secret = {f"{n:,}".replace(",", "\u202f") for n in original.counts.reshape(-1).tolist()}
    assert secret <= set(texts(page(designer)))
    document.set_public(True)
    examined()
    assert not secret & set(texts(page(designer)))
    assert not page(designer).shows_original()
    assert "blocked" not in page(designer).proof.texts
    assert "Nothing is published yet" in page(designer).sentence
    assert page(designer).grid.cell_delegate.mark is None
    before = document.project
    click_cell(designer, 0, 0)
    assert document.project is before
    document.set_public(False)
    examined()
    assert secret <= set(texts(page(designer)))


def test_layers_follow_the_selection(window: MainWindow, settle: Settle, examined: Settle) -> None:
    window.files.open("example:duncan-roehrig-4x4x3")
    settle()
    window.go("cycles")
    window.document.do(place, rows=["v"], columns=["w"], layers=["x"])
    examined()
    assert window.document.project is not None and window.document.original is not None
    window.document.select((1, 2, 2))
    grid = page(window).grid
    assert np.array_equal(grid.grid.model.values, window.document.original.counts[:, :, 2])
    assert np.array_equal(grid.cell_delegate.sign, window.document.project.cycles.array(0)[:, :, 2])
    click_cell(window, 0, 0)
    at = window.document.project.cycles.array(0)[0, 0, 2]
    assert grid.cell_delegate.sign is not None and grid.cell_delegate.sign[0, 0] == at
    assert grid.glowing["rows"] and grid.glowing["columns"]
    examined()


def test_a_table_without_cycles_says_why(window: MainWindow, settle: Settle) -> None:
    window.document.do(new_table, variables={"a": ["x", "y"], "b": ["only"]})
    window.go("cycles")
    settle()
    assert page(window).stack.currentWidget() is page(window).empty
    assert "one category" in page(window).empty.text()


def test_a_broken_sum_inside_the_table_is_outlined(
    window: MainWindow, settle: Settle, examined: Settle
) -> None:
    window.files.open("example:duncan-roehrig-4x4x3")
    settle()
    window.go("cycles")
    examined()
    assert window.document.project is not None
    before = int(window.document.project.cycles.array(0)[1, 2, 0])
    page(window).editor.flip((1, 2, 0), 1 if before < 1 else 0)
    grid = page(window).grid
    wanted = np.zeros((4, 4, 3), dtype=bool)
    # Rows hold v and x: their sums stand at the edge; those over v and over x do not.
    wanted[1, 2, :] = wanted[:, 2, 0] = True
    shown = grid.cell_delegate.unbalanced
    assert grid.grid.layout_ is not None and np.array_equal(shown, grid.grid.layout_.flat(wanted))
    assert "dashed" in page(window)._legend.text()
    examined()


def test_a_reader_can_look_but_not_edit(
    designer: MainWindow, examined: Settle, settle: Settle, tmp_path: Path
) -> None:
    document = designer.document
    document.do(protect, seed=3)
    settle()
    published, cycles = document.published, document.project.cycles if document.project else None
    bundle, dossier = tmp_path / "r.zip", tmp_path / "d-CONFIDENTIAL.zip"
    document.do(publish, release=str(bundle), dossier=str(dossier))
    settle()
    # As in a window of the reader's own.
    designer.files.arrived(History().do(open_bundle(path=str(bundle)))[0], str(bundle))
    assert "nothing to compare" in COMPARE.why_not(designer.document)
    settle()
    designer.go("cycles")
    examined()
    assert document.public and document.project is not None and document.project.cycles == cycles
    assert published is not None
    assert np.array_equal(page(designer).grid.grid.model.values, published.counts)
    before = document.project
    click_cell(designer, 0, 0)
    page(designer).editor.add()
    page(designer).editor.remove()
    assert document.project is before
    assert not page(designer)._tools["import"].isEnabled()
    assert not page(designer).list.buttons["remove"].isEnabled()
    assert page(designer).main_button.isHidden()
    designer.go("perturb")
    settle()
    assert not designer.page.shows_original()


def test_every_control_has_a_name(designer: MainWindow, examined: Settle) -> None:
    assert unnamed(page(designer)) == []
    page(designer)._tools["templates"].click()
    assert unnamed(page(designer)) == []


def test_what_was_known_of_another_table_is_not_drawn(
    window: MainWindow, settle: Settle, examined: Settle
) -> None:
    window.files.open("example:sparse-10x10")
    settle()
    window.document.do(set_parameters, blocking="any_zero")
    window.go("cycles")
    examined()
    window.document.select_cycle(7)
    assert window.page is page(window) and page(window).examination.report is not None
    assert page(window).examination.report.immovable
    window.document.saved = window.document.project  # nothing is asked about unsaved work
    window.files.open("example:duncan-roehrig-4x4")
    settle()
    assert page(window).grid.cell_delegate.lock is None
    examined()
    assert page(window).list.model.rowCount() == 4


def test_the_proof_stands_where_there_is_room(designer: MainWindow, examined: Settle) -> None:
    examined()
    bench = page(designer)._work
    for size, where in (
        ((1366, 768), "beside"),
        ((1024, 700), "below"),
        ((960, 540), "left"),
        ((1366, 768), "beside"),
    ):
        designer.resize(*size)
        QApplication.processEvents()
        assert bench.place == where and page(designer).proof.isVisible()
        assert page(designer)._legend.isVisible() == (where != "left")
    # With and without the words the same place is found, at every height.
    for height in (*range(500, 700, 4), *range(700, 500, -4)):
        designer.resize(960, height)
        QApplication.processEvents()
        place = bench.place
        bench.resizeEvent(QResizeEvent(bench.size(), bench.size()))
        QApplication.processEvents()
        assert bench.place == place
        assert page(designer)._legend.isVisible() is not page(designer)._legend.isHidden()
        assert page(designer)._legend.isVisible() == (place != "left")
