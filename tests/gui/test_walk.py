"""Every page with sets that are ordinary in an agency and seldom tried: nothing breaks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
import pytest
from pages_of import beliefs, page_of
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QScrollArea
from pytestqt.qtbot import QtBot
from readable import unnamed

from tabprotect.engine.bundle import public
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.release.verdict_figures import KeptSum
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.gui.base.document import Document, Total
from tabprotect.gui.forms.parameters.name_chips import NameChips
from tabprotect.gui.frame import main_window
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.protect.requirements_asked import RequirementsPage

Settle = Callable[[], None]

AT_LEVELS = "town*age + town@district*age*sex + town@region*sex"


@pytest.fixture
def mistakes(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BaseException]]:
    """What the program got wrong in the window's thread, and what pages refused."""
    found: list[BaseException] = []

    def caught(kind: type, error: BaseException, trace: TracebackType | None) -> None:
        found.append(error)

    monkeypatch.setattr(sys, "excepthook", caught)
    window.document.error_raised.connect(lambda error, _: found.append(error))
    yield found
    assert not found, found


def table(shape: tuple[int, ...], mean: float = 3) -> Table:
    """Seeded counts."""
    domain = Domain.of_shape(shape)
    return Table.dense(domain, np.random.default_rng(5).poisson(mean, domain.shape))


def at_levels() -> Table:
    """Towns in districts in regions, by age and sex."""
    towns = tuple(f"t{n}" for n in range(8))
    levels = (
        Level("district", tuple(f"d{n // 2}" for n in range(8))),
        Level("region", tuple(f"r{n // 4}" for n in range(8))),
    )
    domain = Domain(
        (Variable("town", towns, levels), Variable("age", ("young", "old")), Variable("sex", ("f", "m")))
    )
    counts = np.random.default_rng(3).poisson(6, domain.shape)
    counts[0, 0, 0] = 1
    return Table.dense(domain, counts)


def bring(
    window: MainWindow, settle: Settle, what: Table, folder: Path, then: Callable[[], object] = lambda: None
) -> None:
    """Open a table, ``then`` doing something at once before."""
    file = folder / f"{len(list(folder.iterdir()))}.tabprotect"
    storage.save(History.of(what), file)
    window.document.saved = window.document.project
    busy = then()
    window.files.open(str(file))
    if busy is None:
        settle()


def endless(progress: Progress) -> History:
    while True:
        progress.report("going on", 0.5)
        QTest.qSleep(5)


def walk(window: MainWindow, settle: Settle) -> None:
    for name in list(window.pages):
        window.go(name)
        settle()


ORDINARY = {
    "one cell": table((1,)),
    "empty": Table.dense(Domain.of_shape((2, 2)), np.zeros((2, 2), dtype=np.int64)),
    "eight variables": table((2,) * 8, 1),
    "many categories": table((200, 2)),
}


def test_no_page_takes_the_keys_away_or_has_a_control_without_a_name(
    measured: MainWindow, settle: Settle, mistakes: list[BaseException]
) -> None:
    measured.activateWindow()
    measured.document.do(protect)
    settle()
    for name in measured.pages:
        measured.go(name)
        settle()
        # A button that is shown before it has its place is a window for a moment.
        assert measured.isActiveWindow() and not unnamed(measured.page), name


@pytest.mark.parametrize("what", list(ORDINARY))
def test_every_page_takes_every_table(
    window: MainWindow, settle: Settle, tmp_path: Path, mistakes: list[BaseException], what: str
) -> None:
    bring(window, settle, ORDINARY[what], tmp_path)
    walk(window, settle)


def test_a_set_at_levels_is_shown_table_by_table_and_another_follows_it(
    window: MainWindow, settle: Settle, tmp_path: Path, mistakes: list[BaseException], qtbot: QtBot
) -> None:
    document = window.document
    bring(window, settle, at_levels(), tmp_path)
    document.do(set_method, method="cell_key")
    document.do(set_parameters, margins=AT_LEVELS)
    document.do(protect, draft=True, seed=4)
    settle()
    release = document.release
    assert release is not None
    window.go("check")
    settle()
    page = beliefs(window)
    texts = [page.table.box.itemText(n) for n in range(page.table.box.count())]
    assert {"district × age × sex", "town × age", "region × sex"} <= set(texts)
    for number in map(texts.index, ("region × sex", "town × age")):
        page.table.box.setCurrentIndex(number)
        settle()
        view, domain = page.view(), release.tables[page.table.number].table.domain
        assert view is not None and view.posterior.domain == domain
        assert view.original is not None and view.original.domain == domain
        last = tuple(n - 1 for n in domain.shape)
        page.map.chosen.emit(last)
        assert page.cell_shown == last and document.selection is None
        total = document.total
        assert isinstance(total, Total) and set(total.names) == set(domain.names)
        true = view.original[last]
        assert str(true) in page.cell.sentence
        assert page.exposed.view is view and len(page.exposed.cells) == domain.size
    walk(window, settle)
    # Another table comes while the posterior of this one is on its way.
    document.ask_again("user")
    page.tabs.setCurrentWidget(page.which)
    bring(window, settle, table((3, 2)), tmp_path, then=lambda: document.load("x", endless, int))
    assert "still running" in window.page.errors.text and document.original is not None
    window.page.errors._button.click()
    qtbot.waitUntil(lambda: document.original is not None and document.original.domain.ndim == 2)
    settle()
    assert document.total is None
    page.refresh(frozenset({"everything"}))


def test_a_reader_has_a_readers_pages(
    window: MainWindow, settle: Settle, tmp_path: Path, mistakes: list[BaseException], qtbot: QtBot
) -> None:
    document = window.document
    bring(window, settle, at_levels(), tmp_path)
    document.do(set_method, method="cell_key")
    document.do(set_parameters, margins="town@region*sex + town@district")
    document.do(protect, draft=True, seed=4)
    settle()
    assert document.release is not None
    public.write(document.release, tmp_path / "release.zip")
    reader = MainWindow(Document())
    qtbot.addWidget(reader)
    reader.show()

    def still() -> None:
        qtbot.waitUntil(lambda: not reader.document.jobs.running)

    reader.files.open(str(tmp_path / "release.zip"))
    still()
    walk(reader, still)
    assert reader.rail.buttons["register"].isHidden()
    assert "readers" in reader.windowTitle() and reader.windowTitle() != window.windowTitle()
    reader.go("check")
    still()
    view = beliefs(reader).view()
    assert view is not None and view.original is None
    # It is left without a question.
    assert reader.close()


def test_a_window_made_beside_a_large_one_is_wholly_on_the_screen(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The screen that tests have is smaller than the smallest window.
    monkeypatch.setattr(main_window, "SMALLEST", (600, 480))
    room = window.screen().availableGeometry()
    window.resize(room.size())
    window.move(room.topLeft())
    other = window.another()
    qtbot.addWidget(other)
    assert room.contains(other.frameGeometry())
    other.close()


def test_a_table_more_moves_no_button_of_a_form(opened: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    opened.resize(1366, 768)
    opened.document.do(set_method, method="cell_key")
    opened.go("methods")
    settle()
    chips = next(c for c in opened.page.findChildren(NameChips) if c.isVisible())
    watched = [*chips.names.values(), chips.add]

    def places() -> list[QPoint]:
        return [button.mapTo(opened, QPoint(0, 0)) for button in watched]

    # What is clicked is in sight.
    (area,) = (a for a in opened.page.findChildren(QScrollArea) if a.isAncestorOf(chips))
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    area.ensureWidgetVisible(chips.pairs, 0, 40)
    settle()
    before = places()
    for name in (*chips.names, None):
        # One by one, then all of them together: a further entry each time.
        for button in chips.names.values() if name is None else (chips.names[name],):
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.mouseClick(chips.add, Qt.MouseButton.LeftButton)
        settle()
        assert places() == before
    assert len(chips.entries) == len(chips.names) + 1


@pytest.mark.parametrize("name", ["table", "variables", "protect", "cycles", "query_space"])
def test_nothing_moves_between_press_and_release(
    opened: MainWindow, qtbot: QtBot, settle: Settle, name: str
) -> None:
    opened.resize(1600, 800)
    opened.go(name)
    settle()
    page = opened.page

    def places() -> dict[int, QPoint]:
        shown = [b for b in opened.findChildren(QAbstractButton) if b.isVisible()]
        return {id(b): b.mapTo(opened, QPoint(0, 0)) for b in shown}

    before = places()
    QTest.mousePress(page, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    opened.document.select((0, 1))
    page.show_error(TabprotectError("no"))
    qtbot.wait(60)
    held = places()
    assert {k: v for k, v in held.items() if k in before} == before
    QTest.mouseRelease(page, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    qtbot.waitUntil(page.errors.isVisible)


def test_small_sums_that_are_found_late_move_no_tick_that_is_being_pressed(
    opened: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    opened.resize(1366, 768)
    opened.go("requirements")
    settle()
    asking = page_of(opened, RequirementsPage).asking

    def places() -> dict[str, QPoint]:
        shown = [b for b in asking.findChildren(QAbstractButton) if b.isVisible()]
        return {b.text(): b.mapTo(opened, QPoint(0, 0)) for b in shown}

    tick, before = asking.ticks["zeros_kept"], places()
    assert {"Add sums", tick.text()} <= before.keys()
    QTest.mousePress(tick, Qt.MouseButton.LeftButton, pos=QPoint(6, 6))
    asking.show_small([KeptSum(("v",), ("v1",), 1)])
    qtbot.wait(60)
    assert places() == before and not asking.small.isVisible()
    QTest.mouseRelease(tick, Qt.MouseButton.LeftButton, pos=QPoint(6, 6))
    assert tick.isChecked()
    qtbot.waitUntil(asking.small.isVisible)
    # A sum less, with room in its row: nothing but the chips after it moves.
    asking.show_small(())
    qtbot.waitUntil(lambda: places()[tick.text()] == before[tick.text()])
    first = {text: at for text, at in places().items() if text != "Add sums"}
    asking.take_out(("w",))
    settle()
    assert {text: at for text, at in places().items() if text in first}.items() <= first.items()
