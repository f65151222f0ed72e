"""The query-space page, through the real window: lattice, keyboard, release, undo, public view."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pages_of import page_of
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from tabprotect.engine.bundle import public
from tabprotect.engine.project.verbs.query_verbs import release_margin, set_release_plan
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.lattice.space import CANDIDATE, RELEASED, UNKNOWN, UNRELEASABLE
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.query_space.page import QuerySpacePage
from tabprotect.gui.pages.release.page import ReleasePage
from tabprotect.gui.pages.run.page import PerturbPage

Settle = Callable[[], None]


def page(window: MainWindow) -> QuerySpacePage:
    return page_of(window, QuerySpacePage)


def status(window: MainWindow, names: str) -> int:
    regions = page(window).space.regions
    assert regions is not None
    return int(regions.status[regions.letters.lattice.query(names)])


def focus(window: MainWindow, names: str, settle: Settle) -> None:
    regions = page(window).space.regions
    assert regions is not None
    page(window).space.set_focus(regions.letters.lattice.query(names))
    settle()


def margins(window: MainWindow) -> tuple[tuple[str, ...], ...]:
    project = window.document.project
    assert project is not None
    return project.plan.margins


def shown_text(window: MainWindow) -> str:
    """Everything that can be read on the page, accessible texts included."""
    parts = []
    for label in page(window).findChildren(QLabel):
        if label.isVisible():
            parts.append(label.text())
    return " ".join(parts)


def test_it_stands_below_the_rail_and_needs_an_original(window: MainWindow) -> None:
    button = window.rail.buttons["query_space"]
    assert button.why == "Open a table first."
    window.go("query_space")
    assert window.page is not page(window)


def test_all_sub_tables_are_drawn_with_their_regions(czech: MainWindow) -> None:
    regions, view = page(czech).space.regions, page(czech).lattice.view
    assert regions is not None
    assert sorted(view.drawn) == list(range(64))
    boxes = [view.box_of(query) for query in view.drawn]
    assert not any(a.intersects(b) for n, a in enumerate(boxes) for b in boxes[n + 1 :])
    assert all(view.rect().contains(box.toAlignedRect()) for box in boxes)
    assert status(czech, "") == RELEASED
    assert status(czech, "ABCDE") == CANDIDATE
    assert status(czech, "ABCDEF") == UNRELEASABLE
    assert "Nothing but the grand total is planned yet; 62 may go out next" in page(czech).sentence


def test_the_focus_says_what_would_follow_a_click_pins_and_the_button_adds(
    czech: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    view = page(czech).lattice.view
    query = 0b000111
    qtbot.mouseMove(view, view.box_of(query).center().toPoint())
    settle()
    panel = page(czech).focus
    assert panel.title == "A × B × C"
    assert "7 tables join the plan; none is lost" in panel.sentence
    found = page(czech).space.foresight()
    assert found is not None
    assert set(np.flatnonzero(found.newly_released)) == {1, 2, 3, 4, 5, 6, 7}
    assert margins(czech) == ()
    assert page(czech).main_button.text() == "Add ABC to the plan"
    middle = view.box_of(query).center().toPoint()
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=middle)
    settle()
    # A click only holds what is looked at: on the way to the button other nodes may be crossed.
    assert margins(czech) == () and view.pinned
    qtbot.mouseMove(view, view.box_of(0b111000).center().toPoint())
    settle()
    assert page(czech).main_button.text() == "Add ABC to the plan"
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=middle)
    assert not view.pinned
    page(czech).main_button.click()
    settle()
    assert margins(czech) == (("A", "B", "C"),)
    assert status(czech, "BC") == RELEASED
    assert czech.actions_["undo"].text() == "&Undo: release A × B × C"
    czech.actions_["undo"].trigger()
    settle()
    assert margins(czech) == () and status(czech, "BC") == CANDIDATE


def test_what_may_not_go_out_names_its_cells_and_is_not_released(
    czech: MainWindow, qtbot: QtBot, settle: Settle
) -> None:
    focus(czech, "ABCDEF", settle)
    panel = page(czech).focus
    assert panel.sentence == (
        "ABCDEF may not go out: with what is planned it would leave a width of 0, and the threshold is 3."
    )
    cells = panel.cells.rows
    shown = [
        [cells.data(cells.index(row, column)) for column in range(cells.columnCount())]
        for row in range(cells.rowCount())
    ]
    assert ["no, yes, yes, <140, <3, pos", "1", "1 to 1"] in shown and len(shown) == 3
    panel.cells.setFocus()
    qtbot.keyClick(panel.cells, Qt.Key.Key_Down)
    found = page(czech).space.foresight()
    assert found is not None
    assert czech.document.selection == found.judgement.tight[1].index
    assert not page(czech).main_button.isEnabled()
    view = page(czech).lattice.view
    qtbot.keyClick(view, Qt.Key.Key_Return)
    settle()
    assert margins(czech) == ()


def test_the_keyboard_alone_walks_and_releases(czech: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    view, space = page(czech).lattice.view, page(czech).space
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert space.focus == 63
    qtbot.keyClick(view, Qt.Key.Key_Up)
    assert space.focus.bit_count() == 5
    five_way = set()
    for _ in range(6):
        five_way.add(space.focus)
        qtbot.keyClick(view, Qt.Key.Key_Left)
    for _ in range(6):
        five_way.add(space.focus)
        qtbot.keyClick(view, Qt.Key.Key_Right)
    assert len(five_way | {space.focus}) == 6
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert space.focus == 0
    for key in (Qt.Key.Key_C, Qt.Key.Key_E, Qt.Key.Key_D):
        qtbot.keyClick(view, key)
    qtbot.keyClick(view, Qt.Key.Key_C)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    settle()
    assert margins(czech) == (("D", "E"),)
    assert "D × E: planned, on the frontier" in view.accessibleDescription()
    qtbot.keyClick(view, Qt.Key.Key_Down)
    settle()
    qtbot.keyClick(view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle()
    assert len(margins(czech)[0]) == 3


def test_a_drag_pans_and_does_not_release(czech: MainWindow, qtbot: QtBot) -> None:
    view = page(czech).lattice.view
    before = view.box_of(1)
    start = before.center().toPoint()
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(view, start + QPoint(0, 40))
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=start + QPoint(0, 40))
    assert margins(czech) == ()
    assert view.box_of(1).top() > before.top()
    qtbot.keyClick(view, Qt.Key.Key_0)
    assert view.box_of(1) == before


def test_threshold_rule_and_bounds_are_commands(czech: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    settings = page(czech).settings
    settings.threshold.setValue(50)
    settle()
    project = czech.document.project
    assert project is not None and project.plan.threshold == 50
    # Its own critical width decides what may be the first release.
    regions = page(czech).space.regions
    assert regions is not None
    widths = regions.state.evidence.widths.values
    assert ((regions.status == CANDIDATE) | (regions.status == RELEASED)).sum() >= (widths >= 50).sum()
    settings.threshold.setValue(1000)
    settle()
    assert "forbids even the one-way tables" in page(czech).errors.text
    assert "(no, yes, yes, <140, <3, pos)" in page(czech).errors.text
    settings.threshold.setValue(3)
    settle()
    assert not page(czech).errors.isVisible()
    settings.at_risk.high.setValue(3)
    qtbot.keyClick(settings.at_risk.high, Qt.Key.Key_Return)
    settle()
    project = czech.document.project
    assert project is not None and str(project.at_risk) == "1..3"
    settings.at_risk.low.setValue(5000)
    qtbot.keyClick(settings.at_risk.low, Qt.Key.Key_Return)
    settle()
    assert "no small counts" in page(czech).errors.text
    assert page(czech).space.regions is None
    czech.actions_["undo"].trigger()
    settle()
    assert page(czech).space.regions is not None


def test_finding_dims_what_lacks_the_variables(czech: MainWindow, qtbot: QtBot) -> None:
    panel = page(czech).lattice
    qtbot.keyClicks(panel.finder, "d, b")
    bright = {query for query in panel.view.drawn if not panel.view.look(query).faint}
    assert bright == {query for query in range(64) if query & 0b1010 == 0b1010}
    qtbot.keyClick(panel.finder, Qt.Key.Key_Return)
    assert page(czech).space.focus == 0b1010


def test_public_view_hides_every_figure(czech: MainWindow, settle: Settle) -> None:
    focus(czech, "ABCDEF", settle)
    czech.document.do(release_margin, variables=list("ABCDEF"))
    settle()
    assert "count 1, bounds 1 to 1" in page(czech).errors.text
    assert czech.strip.word == "CONFIDENTIAL"
    assert "values possible" in shown_text(czech)
    czech.actions_["public"].trigger()
    settle()
    said = shown_text(czech)
    assert not page(czech).errors.isVisible()
    assert "that is for staff only" in said
    assert "width of" not in said and "ABCDEF" not in said
    assert not page(czech).lattice.view.isVisible() and not page(czech).main_button.isVisible()
    assert czech.strip.word == "PUBLIC VIEW"
    page(czech).files.copy.trigger()
    assert "nothing to export" in page(czech).errors.text
    czech.actions_["public"].trigger()
    settle()
    assert page(czech).lattice.view.isVisible()


def test_widths_are_listed_sorted_and_filtered(czech: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    page(czech).tabs.setCurrentWidget(page(czech).numbers)
    settle()
    panel = page(czech).numbers
    assert "ABCDF 3 \u2192 ABCDEF 0" in panel.said.text()
    rows = panel.list.rows
    assert rows.data(rows.index(0, 0)) == "ABCDEF" and rows.rowCount() == 64
    shown = {rows.data(rows.index(row, 0)): rows.data(rows.index(row, 2)) for row in range(64)}
    assert shown["ABCEF"] == "6"  # printed in the report as ABDEF, reversed letters
    panel.list.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    names = panel.list
    assert names.columnViewportPosition(0) == 0 and names.columnWidth(0) >= names.sizeHintForColumn(0)
    widths = [rows.data(rows.index(row, 2)) for row in range(64)]
    assert widths == [str(w) for w in sorted(map(int, widths), reverse=True)]
    panel.most.setValue(12)
    assert rows.rowCount() == sum(int(w) <= 12 for w in widths)
    qtbot.keyClicks(panel.finder, "F")
    assert all("F" in rows.data(rows.index(row, 0)) for row in range(rows.rowCount())) and rows.rowCount()
    panel.list.selectRow(0)
    assert page(czech).space.focus == panel.list.rows.rows[0]


def test_the_numbers_say_whether_the_plan_is_decomposable(czech: MainWindow, settle: Settle) -> None:
    plan = [["A", "B"], ["B", "C"], ["C", "D"], ["A", "D"]]
    page(czech).tabs.setCurrentWidget(page(czech).numbers)
    said = page(czech).numbers.graph
    assert said.isHidden()
    czech.document.do(set_release_plan, margins=plan[:3])
    settle()
    assert said.text().startswith("Decomposable")
    czech.document.do(set_release_plan, margins=plan)
    settle()
    assert said.text() == "Not decomposable: the graph has a cycle without a chord."


def wide_table(path: Path, variables: int) -> None:
    generator = np.random.default_rng(5)
    records = generator.integers(0, 2, size=(400, variables)) * generator.integers(
        0, 2, size=(400, variables)
    )
    cells, counts = np.unique(records, axis=0, return_counts=True)
    names = [f"question {n + 1}" for n in range(variables)]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "count"])
        for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
            writer.writerow([*(f"c{code}" for code in cell), count])


def test_widths_keep_their_mark_and_tabs_their_edges(czech: MainWindow, settle: Settle) -> None:
    panel, tabs = page(czech).numbers, page(czech).tabs
    tabs.setCurrentWidget(panel)
    focus(czech, "AB", settle)
    panel.most.setValue(panel.most.maximum())
    marked = panel.list.currentIndex()
    assert panel.list.rows.data(marked.siblingAtColumn(0)) == "AB"
    # What another tab shows begins where this one's does.
    laid = [tabs.widget(n).layout() for n in range(tabs.count())]
    edges = [layout.contentsMargins() for layout in laid if layout is not None]
    assert len(edges) == tabs.count() and all(edge == edges[0] for edge in edges)


def test_above_eight_variables_frontiers_stand_for_the_lattice(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "wide.csv"
    wide_table(path, 9)
    window.files.open(str(path))
    settle()
    window.go("query_space")
    settle()
    large, space = page(window).lattice.large, page(window).space
    assert large.isVisible() and not page(window).lattice.view.isVisible()
    assert "9 variables have 512 tables" in shown_text(window)
    assert "A\u00a0question 1" in shown_text(window)
    regions = space.regions
    assert regions is not None
    assert sorted(large.unreleasable.queries) == sorted(regions.state.unreleasable.members)
    assert large.bars.counts.sum() == 512
    assert large.bars.counts.sum(axis=0).tolist() == [1, 9, 36, 84, 126, 126, 84, 36, 9, 1]
    qtbot.keyClick(large.unreleasable, Qt.Key.Key_Home)
    settle()
    assert space.focus == large.unreleasable.queries[0]
    assert set(large.view.drawn) == {
        space.focus,
        *(q for q in range(512) if (q ^ space.focus).bit_count() == 1),
    }
    assert status(window, "") == RELEASED
    # A sub-table stands between those of one variable less and of one more.
    assert [size for size, _ in large.view._levels] == [
        space.focus.bit_count() + step for step in (-1, 0, 1) if 0 <= space.focus.bit_count() + step <= 9
    ]
    assert int(regions.status[space.focus]) in (UNRELEASABLE, UNKNOWN)
    qtbot.keyClick(large.view, Qt.Key.Key_Home)  # the nearest drawn one, then up to the total
    allowed = [int(q) for q in regions.state.allowed if int(q).bit_count() == 2]
    space.set_focus(allowed[0])
    qtbot.keyClick(large.view, Qt.Key.Key_Return)
    settle()
    assert margins(window) == (regions.letters.lattice.names_of(allowed[0]),)
    assert list(large.released.queries) == [allowed[0]]


def test_nodes_are_copied_and_written_with_the_mark(
    czech: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    files = page(czech).files
    files.copy.trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 65
    assert lines[-1].split("\t") == ["A,B,C,D,E,F", "6", "unreleasable", "1", "0"]
    files.write("csv", tmp_path / "nodes.csv")
    settle()
    written = tmp_path / "nodes-CONFIDENTIAL.csv"
    assert len(written.read_text().splitlines()) == 65
    files.write("csv", tmp_path / "nodes.csv")
    settle()
    assert page(czech).errors.isVisible() and str(written) in page(czech).errors.text
    files.write("svg", tmp_path / "lattice.svg")
    settle()
    assert b"CONFIDENTIAL" in (tmp_path / "lattice-CONFIDENTIAL.svg").read_bytes()


def test_the_command_line_follows_the_tab(czech: MainWindow, settle: Settle) -> None:
    assert czech.page.command_line() == ("tabprotect widths example:czech-autoworkers --at-risk 1..2")
    czech.document.do(release_margin, variables=["A", "B"])
    settle()
    assert czech.page.command_line().startswith("tabprotect frontier example:czech")


def test_a_low_window_has_the_lattice_and_the_main_action(czech: MainWindow, settle: Settle) -> None:
    czech.resize(960, 540)
    settle()
    assert page(czech).main_button.isVisible()
    for bar in (czech.area.horizontalScrollBar(), czech.area.verticalScrollBar()):
        assert bar.maximum() == 0


def test_a_cancelled_look_is_offered_again(window: MainWindow, settle: Settle) -> None:
    window.files.open("example:czech-autoworkers")
    settle()
    window.go("query_space")
    window.document.jobs.cancel_all()
    settle()
    assert page(window).space.regions is None
    assert page(window).sentence == "Nothing is known of the tables yet."
    again = page(window).again
    assert again.isVisible()
    again.click()
    settle()
    assert page(window).space.regions is not None and not again.isVisible()


def test_it_fits_when_dark_and_twice_as_large(czech: MainWindow, settle: Settle) -> None:
    THEME.apply(mode="dark", zoom=2.0)
    try:
        for number in range(page(czech).tabs.count()):
            page(czech).tabs.setCurrentIndex(number)
            settle()
            assert czech.width() <= 1280 and czech.height() <= 720
            seen = czech.grab().toImage()
            assert np.median([seen.pixelColor(x, 300).lightness() for x in range(100, 1200, 9)]) < 128
    finally:
        THEME.apply(mode="light", zoom=1.0)


def test_an_answer_beyond_the_plan_is_one_bundle(opened: MainWindow, settle: Settle, tmp_path: Path) -> None:
    opened.document.do(set_release_plan, margins=[["v"], ["w"]])
    opened.go("query_space")
    settle()
    assert page(opened).beyond.isVisible()
    page(opened).beyond.click()
    settle()
    # The cycles are designed for exactly the planned margins; one press perturbs.
    assert opened.page is page_of(opened, PerturbPage)
    page_of(opened, PerturbPage).main_button.click()
    settle()
    opened.go("release")
    settle()
    gate = page_of(opened, ReleasePage)
    gate.form.set_destination(tmp_path / "release.zip", None)
    gate.main_button.click()
    assert gate._question is not None
    gate._question.publish.click()
    settle()
    found = public.read(tmp_path / "release.zip")
    original = opened.document.original
    assert original is not None and found.table != original
    shown = {one.table.domain.names: one.table for one in found.tables}
    for names in (("v",), ("w",)):
        assert shown[names] == original.margin(names)
