"""Opening, saving, leaving and recovering a document through the window."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from tabprotect.engine.agency import FOLDER
from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.reader import Reader
from tabprotect.engine.formats.registered import by_suffix
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_prior
from tabprotect.engine.project.verbs.table_verbs import set_count, tabulate
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.document import Document
from tabprotect.gui.forms.reading.import_sheet import ImportSheet
from tabprotect.gui.frame.app import Autosave
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.protect.proposal import ProposalPage
from tabprotect.gui.pages.start import Card
from tabprotect.gui.pages.tabulate.page import TabulatePage

Settle = Callable[[], None]


EXAMPLE = "example:duncan-roehrig-4x4"


def drop(window: MainWindow, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPoint(10, 10),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)


@pytest.fixture
def other(qtbot: QtBot) -> Iterator[MainWindow]:
    """A second window: the program started anew."""
    window = MainWindow(Document())
    qtbot.addWidget(window)
    window.show()
    yield window
    window.document.saved = window.document.project
    window.close()


def test_a_failed_open_leaves_everything_as_it_was(
    opened: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    before = opened.document.history
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b,count\nx,y,1\nx,z,two\n")
    drop(opened, bad)
    settle()
    assert opened.document.history is before
    sheet = opened.findChild(ImportSheet)
    assert sheet is not None and "line 3" in sheet.errors.text
    sheet.reject()
    strip = opened.page.errors
    assert strip.isVisible()
    assert "line 3" in strip.text
    assert isinstance(strip.error, InputError)
    strip._copy.click()
    assert "line 3" in QApplication.clipboard().text()


def test_a_file_that_ends_its_reader_is_said_and_the_window_goes_on(
    opened: MainWindow, settle: Settle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = opened.document.history
    table = Table.dense(Domain.of({"v": ["a", "b"]}), np.array([3, 4], dtype=np.int64))
    path = tmp_path / "t.sav"
    path.write_bytes(by_suffix(path).write(table))
    ask = Reader.ask

    def ended(self: Reader, *asked: Any, **limits: Any) -> object:
        # As by a fault in a native library.
        self.end()
        return ask(self, *asked, **limits)

    with monkeypatch.context() as patched:
        patched.setattr(Reader, "ask", ended)
        opened.files.open(str(path))
        settle()
    strip = opened.page.errors
    assert strip.isVisible() and "made its reader stop" in strip.text
    assert opened.document.history is before
    opened.files.open(str(path))
    settle()
    found = opened.document.original
    assert found is not None and found.counts.tolist() == [3, 4]


def test_a_file_without_a_doubt_opens_at_once_with_its_title(
    window: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path, rows = tmp_path / "totals.csv", "r,x,y,Total\na,1,2,3\nb,4,5,9\nTotal,5,7,12\n"
    path.write_text(f"Table 3: Firms by r,,,\n{rows}")
    window.files.open(str(path))
    document = window.document
    qtbot.waitUntil(lambda: document.project is not None and bool(document.project.title))
    table, project = window.document.original, window.document.project
    assert table is not None and table.counts.tolist() == [[1, 2], [4, 5]]
    assert project is not None and project.title == "Table 3: Firms by r"
    assert not window.document.modified and not window.page.errors.isVisible()
    # A total that does not hold is a doubt, and is asked about.
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(rows.replace("12", "13"))
    window.files.open(str(wrong))
    settle()
    assert window.document.project is project
    assert window.page.errors.isVisible()
    # Of a sign the sheet asks; nothing is told behind it before it is left.
    window.page.errors.clear()
    wrong.write_text(rows.replace("12", "?"))
    window.files.open(str(wrong))
    settle()
    sheet = window.findChild(ImportSheet)
    assert sheet is not None and sheet.isVisible() and not window.page.errors.isVisible()
    sheet.reject()
    assert window.page.errors.isVisible()


SIGNS = "a,b,count\nx,p,5\nx,q,:\nx,Total,9\ny,p,2\ny,q,7\ny,Total,9\nTotal,p,7\nTotal,q,11\nTotal,Total,18\n"


def test_a_sign_that_the_totals_tell_is_asked_about_beside_the_table(
    window: MainWindow, settle: Settle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "house"))
    path = tmp_path / "signs.csv"
    path.write_text(SIGNS)
    document = window.document
    window.files.open(str(path))
    settle()
    settle()
    assert document.original is not None and document.original.counts.tolist() == [[5, 4], [2, 7]]
    panel = window.decision
    assert isinstance(panel, ProposalPage) and panel._heading.text() == "What does \u201c:\u201d mean?"
    assert panel.facts[0].text() == "x, q: 4" and panel.main_button.text() == "Use 4"
    # Another meaning is said in the sheet; nothing is protected by the key of the next step.
    panel.otherwise.click()
    settle()
    sheet = window.findChild(ImportSheet)
    assert sheet is not None and sheet.isVisible()
    sheet.reject()
    panel.main_button.click()
    assert document.release is None and document.asked is None and not panel.otherwise.isVisible()
    assert panel.main_button.text() == "Protect"
    # A file of this look asks nothing the next time.
    again = tmp_path / "next.csv"
    again.write_text(
        SIGNS.replace("5", "6").replace("9", "10", 1).replace("7\nTotal,q", "8\nTotal,q").replace("18", "19")
    )
    window.files.open(str(again))
    settle()
    settle()
    assert document.original.counts.tolist() == [[6, 4], [2, 7]] and document.asked is None


def test_a_sign_that_no_total_tells_is_asked_by_the_sheet(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "signs.csv"
    path.write_text("a,b,count\nx,p,5\nx,q,:\ny,p,2\ny,q,7\n")
    window.files.open(str(path))
    settle()
    settle()
    sheet = window.findChild(ImportSheet)
    assert sheet is not None and sheet.isVisible() and window.document.project is None
    sheet.reject()
    assert window.page.errors.isVisible()


def test_a_project_is_saved_and_comes_back_with_its_history(
    opened: MainWindow, settle: Settle, tmp_path: Path, other: MainWindow, qtbot: QtBot
) -> None:
    opened.document.do(set_count, index=[0, 0], count=99)
    assert opened.document.modified
    path = tmp_path / "work.tabprotect"
    opened.files.save_to(path)
    settle()
    assert not opened.document.modified
    assert not opened.isWindowModified()
    # The first window has it: who, since when, and a copy are offered; nothing is opened twice.
    other.files.open(str(path))
    strip = other.page.errors
    assert "open in another window" in strip.text and strip._button.text() == "Open a copy"
    assert other.document.project is None
    opened.files.close()
    other.files.open(str(path))
    qtbot.waitUntil(lambda: not other.document.jobs.running)
    assert other.files.path == path
    table = other.document.original
    assert table is not None
    assert table[(0, 0)] == 99
    assert other.actions_["undo"].text() == "&Undo: set (v1, w1) to 99"
    other.actions_["undo"].trigger()
    assert other.document.original == opened.document.history.steps[0].project.table  # type: ignore[union-attr]


def test_a_full_disk_while_saving_is_said_and_nothing_is_lost(
    opened: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    opened.document.do(set_count, index=[0, 0], count=99)
    opened.files.save_to(tmp_path / "no-such-folder" / "work.tabprotect")
    settle()
    assert opened.page.errors.isVisible()
    assert opened.document.modified


def test_leaving_unsaved_work_takes_a_second_word(opened: MainWindow) -> None:
    opened.document.do(set_count, index=[0, 0], count=99)
    opened.close()
    assert opened.isVisible()
    assert "unsaved" in opened.page.errors.text
    opened.page.errors._button.click()
    assert not opened.isVisible()


def saved_project(folder: Path) -> Path:
    path = folder / "other.tabprotect"
    history, _ = History().apply("open_table", {"source": "example:langsrud-lupp"})
    storage.save(history, path)
    return path


def test_opening_asks_before_unsaved_work_is_lost(
    opened: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    other = saved_project(tmp_path)
    opened.document.do(set_count, index=[0, 0], count=99)
    before = opened.document.history
    for source in (str(other), "example:langsrud-lupp"):
        opened.files.open(source)
        settle()
        assert opened.document.history is before
        strip = opened.page.errors
        # Nothing went wrong: it asks.
        assert strip.accessibleName() == "Question"
        assert "unsaved work; the last step was: set (v1, w1) to 99" in strip.text
        assert (strip._button.text(), strip._second.text()) == ("Open without saving", "Save first")
    # Going on with the work is an answer too.
    opened.document.do(set_count, index=[0, 0], count=98)
    assert not strip.isVisible()

    opened.files.save_to(tmp_path / "mine.tabprotect")
    settle()
    opened.document.do(set_count, index=[0, 0], count=97)
    opened.files.open(str(other))
    strip._second.click()
    qtbot.waitUntil(lambda: opened.document.history.steps[0] is not before.steps[0])
    settle()
    assert not opened.document.modified
    mine = storage.load(tmp_path / "mine.tabprotect").project.original
    assert mine[(0, 0)] == 97
    assert opened.document.project is not None
    assert opened.document.project.domain.shape == (3, 3, 2)

    opened.document.do(set_prior, who="user", prior="positive")
    assert opened.document.modified
    opened.files.open(str(tmp_path / "mine.tabprotect"))
    opened.page.errors._button.click()
    settle()
    assert not opened.document.modified
    assert opened.document.project is not None
    assert opened.document.project.priors["user"] == "uniform"


def test_a_document_begins_with_its_own_table_and_holds_no_other(
    opened: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    opened.document.do(set_count, index=[0, 0], count=9081726354)
    opened.files.open("example:langsrud-lupp")
    opened.page.errors._button.click()
    settle()
    document = opened.document
    assert document.project is not None and document.project.domain.shape == (3, 3, 2)
    assert [step.label for step in document.history.steps] == ["open example:langsrud-lupp"]
    for count in (5, 7261524334):
        document.do(set_count, index=[0, 0, 0], count=count)
    document.undo()
    opened.files.save_to(tmp_path / "mine.tabprotect")
    settle()
    with zipfile.ZipFile(tmp_path / "mine.tabprotect") as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    # Neither another survey's count nor what was undone is in the file.
    for count in (9081726354, 7261524334):
        assert str(count).encode() not in content
        assert np.int64(count).tobytes() not in content
    assert b"duncan" not in content


def test_tabulated_records_ask_as_a_table_does(opened: MainWindow, settle: Settle) -> None:
    opened.document.do(set_count, index=[0, 0], count=99)
    before = opened.document.project
    opened.go("tabulate")
    page = opened.page
    assert isinstance(page, TabulatePage)
    page.choose("example:adult-census")
    settle()
    page.chosen = [page._columns[0].name, page._columns[1].name]
    page.main_action()
    settle()
    assert opened.document.project is before and "unsaved" in page.errors.text
    page.errors._button.click()
    settle()
    assert opened.document.project is not before and opened.page is opened.pages["table"]
    # Drawn keys and chosen columns are in no file: the table is work to be saved.
    assert opened.document.modified
    assert len(opened.document.history.steps) == 1


@pytest.mark.parametrize("front", ["tabulate", "help"])
def test_what_was_opened_comes_to_the_front(
    opened: MainWindow, settle: Settle, tmp_path: Path, front: str
) -> None:
    opened.go(front)
    opened.files.open(str(saved_project(tmp_path)))
    settle()
    assert opened.page is opened.pages["table"]
    opened.go(front)
    opened.files.open(EXAMPLE)
    settle()
    assert opened.page is opened.pages["table"]


def test_quitting_can_save_first(opened: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    opened.document.do(set_count, index=[0, 0], count=99)
    opened.files.path = tmp_path / "mine.tabprotect"
    opened.close()
    assert opened.isVisible()
    opened.page.errors._second.click()
    qtbot.waitUntil(lambda: not opened.isVisible())
    assert storage.load(tmp_path / "mine.tabprotect").project.original[(0, 0)] == 99


def test_work_of_a_killed_program_is_offered_again(
    opened: MainWindow, settle: Settle, tmp_path: Path, other: MainWindow, qtbot: QtBot
) -> None:
    folder = tmp_path / "autosave"
    first = Autosave(opened, folder)
    opened.document.do(set_count, index=[0, 0], count=99)
    first.save()
    settle()
    # A killed program closes nothing, but the system lets go of its lock.
    assert first._session is not None
    first._session._lock.close()
    second = Autosave(other, folder)
    offers = [b for b in other.pages["start"].findChildren(QAbstractButton) if b.text() == "Recover"]
    assert len(offers) == 1
    offers[0].click()
    table = other.document.original
    assert table is not None
    assert table[(0, 0)] == 99
    assert other.document.modified
    second.close()
    assert list(folder.glob("*.tabprotect")) == []


def test_parquet_opens_as_a_table_or_goes_to_the_tabulate_page(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "t.parquet"
    table = Table.dense(Domain.of({"v": ["a", "b"]}), [3, 4])
    path.write_bytes(by_suffix(path).write(table))  # type: ignore[union-attr]
    window.files.open(str(path))
    settle()
    assert window.document.original == table
    # The same columns, none of them counts: records.
    path.write_bytes(path.read_bytes().replace(b"count", b"years"))
    window.files.open(str(path))
    settle()
    assert window.page.name == "tabulate"
    assert not window.page.errors.isVisible()
    assert window.document.original == table


def test_the_card_of_records_asks_for_them(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "tabprotect.gui.pages.tabulate.page.ask_file", lambda _, title, *__, **___: asked.append(title)
    )
    (card,) = (c for c in window.page.findChildren(Card) if c.accessibleName() == "Count records")
    card.click()
    assert window.page is window.pages["tabulate"] and asked == ["Records"]


def test_records_go_to_the_tabulate_page(window: MainWindow, settle: Settle, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,age,w,people,half\nf,old,2,1.5,1\nm,old,1,3,1\nf,young,3,2,2\nf,old,1,2,2\n")
    window.go("tabulate")
    window.pages["tabulate"].choose(str(path))
    settle()
    assert not window.pages["tabulate"].main_button.isEnabled()
    assert window.pages["tabulate"].sentence.startswith("4 records.")
    assert window.strip.word == "CONFIDENTIAL"  # variables of records that nobody published
    names = [window.pages["tabulate"]._list.item(r, 0).text() for r in range(3)]  # type: ignore[union-attr]
    assert names == ["sex", "age", "w"]
    for row in (1, 0):
        item = window.pages["tabulate"]._list.item(row, 0)
        assert item is not None
        item.setCheckState(Qt.CheckState.Checked)
    assert "2 \u00d7 2 = 4 cells" in window.pages["tabulate"].sentence
    settle()
    corner = window.pages["tabulate"].so_far.corner
    shown = [[corner.item(r, c).text() for c in range(2)] for r in range(2)]  # type: ignore[union-attr]
    heads = [corner.horizontalHeaderItem(c).text() for c in range(2)]  # type: ignore[union-attr]
    sides = [corner.verticalHeaderItem(r).text() for r in range(2)]  # type: ignore[union-attr]
    counts = {(s, h): shown[r][c] for r, s in enumerate(sides) for c, h in enumerate(heads)}
    assert sorted(counts.items())[:2] == [(("f", "old"), "2"), (("f", "young"), "1")]
    # Texts are neither keys nor weights; what has half as many values as records may be a key.
    keys_box = window.pages["tabulate"]._key
    assert [keys_box.itemText(n) for n in range(2, keys_box.count())] == ["w", "people", "half"]
    window.pages["tabulate"]._key.setCurrentText("w")
    window.pages["tabulate"]._design.setCurrentText("people")
    window.pages["tabulate"].main_button.click()
    settle()
    assert window.page is window.pages["table"]
    table = window.document.original
    assert table is not None
    assert table.domain.names == ("age", "sex")
    keys = window.document.project.record_keys
    assert keys is not None and keys.counts.tolist() == [[3, 1], [3, 0]]
    weights = window.document.project.weights
    assert weights is not None and (weights.low, weights.high) == (1_500_000, 3_000_000)
    assert weights.sums.counts.tolist() == [[3_500_000, 3_000_000], [2_000_000, 0]]
    assert table.counts.tolist() == [[2, 1], [1, 0]]


def test_record_keys_can_be_drawn_for_this_table(window: MainWindow, settle: Settle, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,age\nf,old\nm,old\nf,young\nf,old\n")
    window.go("tabulate")
    window.pages["tabulate"].choose(str(path))
    settle()
    item = window.pages["tabulate"]._list.item(0, 0)
    assert item is not None
    item.setCheckState(Qt.CheckState.Checked)
    assert window.pages["tabulate"]._key.currentText() == "none"
    assert "will not agree" not in window.pages["tabulate"].sentence
    window.pages["tabulate"]._key.setCurrentText("drawn now, kept with this table")
    assert "will not agree with other tabulations" in window.pages["tabulate"].sentence
    window.pages["tabulate"].main_button.click()
    settle()
    keys = window.document.project.record_keys
    assert keys is not None and len(keys.cells[0]) == 2
    seed = window.document.history.trail[-1].seed
    assert seed is not None
    window.docks["recipe"].show()
    assert "draw_keys = true" in window.recipe.text and str(seed) not in window.recipe.text


def test_keys_are_made_where_a_column_is_only_a_running_number(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    lines = [f"{'fm'[n % 2]},{'old' if n % 3 else 'young'},{n}" for n in range(200)]
    path.write_text("\n".join(["sex,age,person", *lines, ""]))
    window.go("tabulate")
    order = tabulate(source=str(path), by=["sex", "age"], record_key="person")
    window.document.begins.emit(order)
    settle()
    strip = window.page.errors
    assert "person is only a running number" in strip._message.text()
    assert "record-keys" not in strip._message.text()
    assert strip._button.text() == "Make keys from the house key"
    strip._button.click()
    settle()
    first = window.document.project.record_keys
    assert first is not None and len(first.cells[0]) == 4
    # The house key gives the same ones again.
    window.document.saved = window.document.project
    window.document.begins.emit(order)
    settle()
    window.page.errors._button.click()
    settle()
    again = window.document.project.record_keys
    assert again is not first and np.array_equal(again.counts, first.counts)


def test_a_file_that_is_opened_comes_to_the_front(opened: MainWindow, settle: Settle) -> None:
    opened.go("query_space")
    settle()
    opened.files.open("example:langsrud-lupp")
    settle()
    assert opened.page.name == "table"


def test_a_recipe_that_is_opened_asks_for_its_data(window: MainWindow, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("")
    drop(window, recipe)
    (asked,) = window.findChildren(QFileDialog)
    assert asked.windowTitle() == "New data for recipe.toml"
    asked.reject()
    assert window.page.errors.isHidden() and window.document.project is None


def test_nothing_of_the_former_document_stays_selected(
    opened: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    opened.document.select((0, 1))
    opened.document.select_cycle(0)
    other = tmp_path / "other.csv"
    other.write_text("a,b,count\nx,y,1\nx,z,2\nw,y,3\nw,z,4\n")
    drop(opened, other)
    settle()
    assert opened.document.selection is None and opened.document.selected_cycle is None
    # A method without cycles leaves none selected, where none was chosen either.
    opened.document.select_cycle(0)
    opened.document.do(set_method, method="suppression")
    assert opened.document.selected_cycle is None


def test_an_error_names_a_broken_file_as_it_is_called(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    for name, said in (("broken.zip", "broken.zip: this is no"), ("b.tabprotect", "project file?")):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        window.files.open(str(tmp_path / name))
        settle()
        text = window.page.errors.accessibleDescription()
        assert said in text and "?." not in text


def test_a_remedy_names_no_option_of_the_command_line(window: MainWindow) -> None:
    hint = "say which: --count COLUMN; or that it is a grid: --form grid"
    window.page.show_error(InputError("no counts", hint=hint))
    said = window.page.errors.accessibleDescription()
    assert said == "No counts. Say which; or that it is a grid."


def test_each_of_several_dropped_files_has_a_window(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    made: list[MainWindow] = []
    window.made.connect(made.append)
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("a,b,count\nx,y,1\nx,z,2\nw,y,3\nw,z,4\n")
    drop(window, tmp_path / "one.csv", tmp_path / "two.csv")
    (second,) = made
    windows = (window, second)
    qtbot.waitUntil(lambda: all(w.document.project is not None for w in windows))
    names = [w.document.project.name for w in windows if w.document.project]
    second.close()
    assert names == ["one.csv", "two.csv"]


def test_a_file_may_be_dropped_anywhere(opened: MainWindow, settle: Settle, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,count\nx,p,1\nx,q,2\ny,p,3\ny,q,4\n")
    mime, at = QMimeData(), QPoint(2, 2)
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    takers = set()
    opened.document.run(protect(seed=7, accept_weak=True))
    settle()
    for name in ("start", "table", "protect", "release", "check", "register"):
        opened.go(name)
        settle()
        for widget in opened.findChildren(QWidget):
            if widget.isVisible() and widget.acceptDrops():
                enter = QDragEnterEvent(at, copy, mime, left, none)
                enter.ignore()
                QApplication.sendEvent(widget, enter)
                if enter.isAccepted():
                    takers.add(f"{name}: {type(widget).__name__} {widget.accessibleName()}")
    # Fields that ask for a file take its name.
    assert not {one for one in takers if "File of the" not in one}, takers
    opened.document.saved = opened.document.project
    opened.dropEvent(QDropEvent(QPointF(at), copy, mime, left, none))
    settle()
    assert opened.document.project is not None and opened.document.project.source == str(path)


def test_records_of_another_survey_are_forgotten_and_firms_are_named(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    records, table = tmp_path / "firms.csv", tmp_path / "t.csv"
    records.write_text("firm,nace,turnover\nNordmetall,10,900\nSydow,10,60\nHansa,20,40\n")
    table.write_text("a,b,count\nx,p,1\nx,q,2\ny,p,3\ny,q,4\n")
    window.go("tabulate")
    shown = window.page
    assert isinstance(shown, TabulatePage)
    shown.choose(str(records))
    settle()
    assert shown._list.rowCount() == 3 and shown.measure.boxes["holding"].currentData() == "firm"
    window.files.open(str(table))
    settle()
    window.go("tabulate")
    settle()
    assert shown.source == "" and shown._list.rowCount() == 0
    shown.choose(str(records))
    settle()
    assert shown.source == str(records) and shown._list.rowCount() == 3
