"""The window's frame: opening, saving, strip, rail, inspector, panels, keys, recovery."""

from __future__ import annotations

import json
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QAbstractListModel, QMimeData, QPoint, QSettings, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTextEdit,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tabprotect.engine.disclosure import policy
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.registered import by_suffix
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.release_verbs import (
    protect,
    set_method,
    set_parameters,
    set_prior,
)
from tabprotect.engine.project.verbs.table_verbs import set_count
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.preferences import Preferences
from tabprotect.gui.frame.app import Autosave, install_hook, main
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.settings_dialog import SettingsDialog
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.table.page import TablePage
from tabprotect.gui.pages.tabulate import TabulatePage
from tabprotect.version import __version__

Settle = Callable[[], None]
RIVER = ("start", "table", "cycles", "perturb", "posterior", "release", "tabulate", "help")
EXAMPLE = "example:duncan-roehrig-4x4"


def grid(window: MainWindow) -> TablePage:
    page = window.pages["table"]
    assert isinstance(page, TablePage)
    return page


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
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


def test_none_is_counted_right(window: MainWindow) -> None:
    # Some PySide6 releases lose a reference to None per call and die some thousands of calls on.
    before = sys.getrefcount(None)
    for _ in range(1000):
        window.setObjectName("main")
    assert sys.getrefcount(None) > before - 100


def test_it_starts_with_nothing_open(window: MainWindow) -> None:
    assert window.page is window.pages["start"]
    assert window.strip.word == ""
    assert window.rail.buttons["cycles"].why
    assert not window.actions_["undo"].isEnabled()
    titles = {card.accessibleName() for card in window.pages["start"]._cards}
    assert "Open a table" in titles
    assert any("4 x 4" in title for title in titles)


def test_a_stage_that_cannot_be_used_says_why(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.mouseClick(window.rail.buttons["posterior"], Qt.MouseButton.LeftButton)
    assert window.page is window.pages["start"]
    assert window.rail._why.text() == window.rail.buttons["posterior"].why != ""


def test_the_strip_tells_what_is_shown(opened: MainWindow, settle: Settle) -> None:
    assert opened.strip.word == "CONFIDENTIAL"
    assert "4 at-risk cells" in opened.strip.facts
    opened.go("help")
    opened.document.select(None)
    opened.docks["inspector"].hide()
    # The strip itself and the rail's badge still count the cells at risk.
    assert opened.strip.word == "CONFIDENTIAL" and "at-risk" in opened.strip.facts
    opened.document.set_public(True)
    assert opened.strip.word == "PUBLIC VIEW" and "at-risk" not in opened.strip.facts
    assert not opened.rail.buttons["table"].badge
    opened.document.set_public(False)
    opened.go("table")
    assert opened.strip.word == "CONFIDENTIAL"


def test_what_is_narrow_folds_and_keeps_the_table(opened: MainWindow, settle: Settle) -> None:
    opened.resize(1400, 768)
    wide = opened.rail.width()
    opened.document.select((0, 1))
    assert opened.docks["inspector"].isVisible()
    opened.document.select(None)
    assert not opened.docks["inspector"].isVisible()
    opened.resize(1024, 700)
    assert opened.rail.width() < wide / 2
    button = opened.rail.buttons["protect"]
    assert button.accessibleName() == "2  Protect" and "Protect" in button.toolTip()
    opened.document.select((0, 1))
    assert not opened.docks["inspector"].isVisible()
    opened.edge.click()
    assert opened.docks["inspector"].isVisible() and not opened.edge.isVisible()


def test_the_steps_of_the_method_stand_under_protect(opened: MainWindow) -> None:
    rail = opened.rail

    def steps() -> list[str]:
        return [
            n for n, b in rail.buttons.items() if b.page.under == "protect" and not b.isHidden()
        ]

    assert steps() == ["cycles", "perturb"]
    opened.document.do(set_method, method="random_rounding")
    assert steps() == ["methods"]
    opened.go("compare")
    assert rail.buttons["protect"].isChecked()
    numbered = [b.words for b in rail.buttons.values() if b.number]
    assert [words[:2] for words in numbered] == ["1 ", "2 ", "3 ", "4 "]


def test_running_work_is_behind_one_button(opened: MainWindow, qtbot: QtBot) -> None:
    go_on = threading.Event()

    def work(progress: Progress) -> None:
        while not go_on.wait(0.01):
            progress.report("waiting", 0.5)

    jobs = [opened.document.jobs.question(f"wait {n}", work) for n in range(5)]
    button = opened.strip.jobs
    qtbot.waitUntil(button.isVisible)
    assert button.text() == "5 running" and len(button.views) == 5
    assert opened.strip._facts.width() > opened.strip.width() / 2
    button.click()
    assert button.list.isVisible()
    cancel = button.views[jobs[0]].findChild(QToolButton)
    assert isinstance(cancel, QToolButton)
    cancel.click()
    qtbot.waitUntil(lambda: button.text() == "4 running")
    go_on.set()
    qtbot.waitUntil(lambda: not opened.document.jobs.running)
    assert button.isHidden() and not button.list.isVisible()


def test_help_is_about_the_page_in_front_and_goes_back_to_it(opened: MainWindow) -> None:
    opened.actions_["help_page"].trigger()
    page, text = opened.page, opened.page.findChild(QTextEdit)
    assert page.name == "help" and text is not None
    # With the figures of this very table, as long as its page may be seen.
    assert "4 cells are at risk" in text.toPlainText() and page.shows_original()
    opened.actions_["help_keys"].trigger()
    assert "Ctrl+Return" in text.toPlainText() and not page.shows_original()
    opened.actions_["help_about"].trigger()
    assert __version__ in text.toPlainText() and "MIT" in text.toPlainText()
    opened.actions_["help_page"].trigger()
    opened.document.set_public(True)
    assert "at risk (a count" not in text.toPlainText()
    opened.document.set_public(False)
    page.main_button.click()
    assert opened.page.name == "table"


def test_menus_offer_what_can_be_done_now(window: MainWindow, settle: Settle) -> None:
    actions = window.actions_
    assert not actions["page_protect"].isEnabled() and not actions["compare_csv"].isEnabled()
    window.files.open(EXAMPLE)
    settle()
    assert actions["page_protect"].isEnabled() and actions["perturb_run"].isEnabled()
    # A key that runs a method runs that of the page, and no other.
    assert not actions["methods_run"].isEnabled() and not actions["release_publish"].isEnabled()
    window.document.do(set_method, method="random_rounding")
    assert actions["methods_run"].isEnabled() and not actions["perturb_run"].isEnabled()
    assert actions["table_find"].isEnabled()
    window.go("protect")
    assert not actions["table_find"].isEnabled()
    settle()


def test_f9_hides_the_original_everywhere(opened: MainWindow, settle: Settle, qtbot: QtBot) -> None:
    opened.document.do(set_count, index=[0, 1], count=87654)
    opened.document.do(protect, seed=3)
    settle()
    opened.document.select((0, 1))
    for dock in opened.docks.values():
        dock.show()
    opened.document.posterior()
    settle()
    # The original must differ from what is published, or there is nothing to hide.
    published = opened.document.published
    assert published is not None
    opened.actions_["public"].trigger()
    settle()
    assert opened.strip.word == "PUBLIC VIEW"
    hidden = {"87654", "87\u2009654"} - {str(published[(0, 1)])}
    for name in opened.pages:
        if opened.pages[name].why_not(opened.document):
            continue
        opened.go(name)
        settle()
        assert opened.strip.word == "PUBLIC VIEW", name
        for text in everything_said(opened):
            assert "set (v1, w2)" not in text, (name, text)
            if published[(0, 1)] != 87654:
                assert not any(h in text for h in hidden), (name, text)
    assert opened.inspector.value("original") == ""
    assert opened.inspector.value("status") == ""


def everything_said(window: MainWindow) -> list[str]:
    said = [window.windowTitle()]
    for action in window.actions_._by_name.values():
        said += [action.text(), action.toolTip()]
    for widget in window.findChildren(QWidget):
        if not widget.isVisibleTo(window):
            continue
        said += [widget.toolTip(), widget.accessibleName(), widget.accessibleDescription()]
        for attribute in ("text", "toPlainText", "currentText"):
            read = getattr(widget, attribute, None)
            if callable(read) and not isinstance(widget, QScrollBar):
                said.append(str(read()))
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            model = widget.model()
            root = widget.rootIndex()
            wide = 1 if isinstance(model, QAbstractListModel) else min(model.columnCount(root), 50)
            for row in range(min(model.rowCount(root), 50)):
                for column in range(wide):
                    said.append(str(model.index(row, column, root).data()))
    return said


def test_the_inspector_follows_the_selection(opened: MainWindow, settle: Settle) -> None:
    opened.document.select((0, 1))
    assert opened.inspector.value("original") == "1  [staff only]"
    assert opened.inspector.value("status") == "at risk (U)"
    assert opened.inspector.value("of total") == "0.7 % of 135"
    opened.document.select((0, 0))
    assert opened.inspector.value("status") == "safe (S)"
    opened.document.do(protect, seed=11)
    settle()
    opened.document.posterior()
    settle()
    posterior, table = opened.document.known_posterior(), opened.document.original
    assert posterior is not None
    assert table is not None
    chance = float(posterior.probability(table.counts)[0, 0])
    assert float(f"0{opened.inspector.value('P(true)')}") == pytest.approx(chance, abs=6e-4)
    assert f"{posterior.mean[0, 0]:.2f}" == opened.inspector.value("expected")
    low, high = posterior.interval(0.9)
    text = opened.inspector.value("90 % interval")
    assert text in (f"{low[0, 0]} to {high[0, 0]}", str(low[0, 0]))
    # It opens on a selection where there is room; below, its edge does.
    assert not opened.docks["inspector"].isVisible() and opened.edge.isVisible()
    opened.resize(1400, 768)
    assert opened.inspector.histogram.isVisible() and not opened.edge.isVisible()


def test_a_failed_open_leaves_everything_as_it_was(
    opened: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    before = opened.document.history
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b,count\nx,y,1\nx,z,two\n")
    drop(opened, bad)
    settle()
    assert opened.document.history is before
    strip = opened.page.errors
    assert strip.isVisible()
    assert "line 3" in strip.text
    assert isinstance(strip.error, InputError)
    strip._copy.click()
    assert "line 3" in QApplication.clipboard().text()


def test_totals_are_offered_to_be_stripped(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "totals.csv"
    path.write_text("r,x,y,Total\na,1,2,3\nb,4,5,9\nTotal,5,7,12\n")
    window.files.open(str(path))
    settle()
    assert window.document.project is None
    strip = window.page.errors
    assert strip._button.isVisible()
    strip._button.click()
    settle()
    table = window.document.original
    assert table is not None
    assert table.counts.tolist() == [[1, 2], [4, 5]]


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
        assert "unsaved" in strip.text
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


def test_settings_are_kept_and_judge_at_once(
    opened: MainWindow, settle: Settle, tmp_path: Path, house_folder: Path
) -> None:
    opened.settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    opened.document.do(protect, seed=2**127)
    settle()
    assert opened.document.project is not None and opened.document.project.against == ""
    dialog = SettingsDialog(opened)
    dialog.open()
    dialog.name.setText("Karin Lund")
    dialog.public.field.setText(str(tmp_path / "nowhere"))
    dialog.save.click()
    assert dialog.isVisible() and "no such folder" in dialog.errors.text
    for folder in (dialog.public, dialog.confidential):
        folder.field.setText(str(tmp_path))
    dialog.save.click()
    assert "one folder" in dialog.errors.text and not (house_folder / "policy.toml").exists()
    (tmp_path / "inside").mkdir()
    dialog.confidential.field.setText(str(tmp_path / "inside"))
    dialog.policy.belief.setValue(0.9)
    dialog.policy.two.setChecked(True)
    dialog.save.click()
    assert policy.in_force() == policy.HousePolicy(belief_limit=0.9, two_signatures=True)
    kept = Preferences.load(opened.settings)
    assert (kept.name, kept.public_folder) == ("Karin Lund", tmp_path)
    assert kept == opened.document.preferences
    assert "other limits" in opened.document.project.against
    opened.go("release")
    settle()
    form = opened.pages["release"].form
    assert Path(form.dossier.text()).parent == tmp_path / "inside"
    assert Path(form.release.text()).parent == tmp_path


def test_a_policy_that_the_environment_names_is_shown_and_not_changed(
    opened: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("share = 0.01\n")
    monkeypatch.setenv(policy.VARIABLE, str(path))
    dialog = SettingsDialog(opened)
    dialog.open()
    assert dialog.policy.share.value() == 1.0 and not dialog.policy.share.isEnabled()
    dialog.save.click()
    assert path.read_text() == "share = 0.01\n"


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
    offers = [
        b for b in other.pages["start"].findChildren(QAbstractButton) if b.text() == "Recover"
    ]
    assert len(offers) == 1
    offers[0].click()
    table = other.document.original
    assert table is not None
    assert table[(0, 0)] == 99
    assert other.document.modified
    second.close()
    assert list(folder.glob("*.tabprotect")) == []


def test_the_history_panel_goes_to_any_step(opened: MainWindow, settle: Settle) -> None:
    for count in (21, 22, 23):
        opened.document.do(set_count, index=[0, 0], count=count)
    opened.docks["history"].show()
    steps = opened.history._list
    assert [steps.item(i).text() for i in range(1, 4)] == [
        f"set (v1, w1) to {count}" for count in (21, 22, 23)
    ]
    steps.itemActivated.emit(steps.item(1))
    table = opened.document.original
    assert table is not None
    assert table[(0, 0)] == 21
    assert opened.actions_["redo"].text() == "&Redo: set (v1, w1) to 22"


def test_the_recipe_panel_shows_the_steps_without_a_seed(
    opened: MainWindow, settle: Settle
) -> None:
    opened.document.do(set_parameters, alpha=0.3)
    opened.document.do(protect, seed=424242)
    settle()
    opened.docks["recipe"].show()
    assert "set_parameters" in opened.recipe.text
    assert "0.3" in opened.recipe.text
    assert "424242" not in opened.recipe.text


def test_copy_as_command_says_the_page_in_front(opened: MainWindow, settle: Settle) -> None:
    opened.document.do(set_parameters, alpha=0.3)
    opened.go("perturb")
    opened.actions_["copy_command"].trigger()
    text = QApplication.clipboard().text()
    assert text.startswith(f"tabprotect protect {EXAMPLE}")
    assert "alpha=0.3" in text


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


def test_records_go_to_the_tabulate_page(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,age,w,people\nf,old,2,1.5\nm,old,1,3\nf,young,3,2\nf,old,1,2\n")
    window.go("tabulate")
    window.pages["tabulate"].choose(str(path))
    settle()
    assert not window.pages["tabulate"].main_button.isEnabled()
    assert window.strip.word == "CONFIDENTIAL"  # variables of records that nobody published
    names = [window.pages["tabulate"]._list.item(r, 0).text() for r in range(3)]  # type: ignore[union-attr]
    assert names == ["sex", "age", "w"]
    for row in (1, 0):
        item = window.pages["tabulate"]._list.item(row, 0)
        assert item is not None
        item.setCheckState(Qt.CheckState.Checked)
    assert "2 \u00d7 2 = 4 cells" in window.pages["tabulate"].sentence
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


def test_record_keys_can_be_drawn_for_this_table(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
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


def test_every_control_has_an_accessible_name(opened: MainWindow, settle: Settle) -> None:
    opened.document.do(protect, seed=1)
    settle()
    opened.document.select((0, 1))
    kinds = (
        QAbstractButton,
        QLineEdit,
        QComboBox,
        QAbstractSpinBox,
        QPlainTextEdit,
        QTextEdit,
        QAbstractItemView,
    )
    nameless = set()
    for name in opened.pages:
        opened.go(name)
        settle()
        for widget in opened.findChildren(QWidget):
            inside = isinstance(
                widget.parent(), (QComboBox, QAbstractSpinBox, QLineEdit, QHeaderView)
            )
            internal = widget.objectName().startswith("qt_") or inside
            if not isinstance(widget, kinds) or not widget.isVisible() or internal:
                continue
            if isinstance(widget, QHeaderView):
                continue
            if isinstance(widget, QToolButton) and widget.parent() in opened.menuBar().children():
                continue
            said = widget.accessibleName() or getattr(widget, "text", str)()
            if not said:
                nameless.add(f"{name}: {type(widget).__name__} in {type(widget.parent()).__name__}")
    assert not nameless, nameless


def test_shortcuts_are_unique(opened: MainWindow) -> None:
    seen: dict[str, str] = {}
    for menu in opened.actions_.menus.values():
        for action in menu.actions():
            for keys in action.shortcuts():
                text = keys.toString()
                assert text not in seen, f"{text}: {seen.get(text)} and {action.text()}"
                seen[text] = action.text()
    for needed in ("Ctrl+O", "Ctrl+S", "Ctrl+Shift+S", "Ctrl+Z", "Ctrl+Y", "Ctrl+C", "Ctrl+V"):
        assert needed in seen
    for needed in ("Ctrl+F", "Ctrl+Q", "F1", "F9", "F8", "Shift+F8"):
        assert needed in seen


def test_the_window_fits_a_small_screen(opened: MainWindow, settle: Settle) -> None:
    opened.document.do(protect, seed=1)
    settle()
    opened.resize(1280, 720)
    for name in opened.pages:
        opened.go(name)
        settle()
        assert (opened.width(), opened.height()) == (1280, 720), name
        assert opened.area.horizontalScrollBar().maximum() == 0, name
        if name in RIVER:
            assert opened.area.verticalScrollBar().maximum() == 0, name


def test_theme_and_zoom_from_the_menu(opened: MainWindow) -> None:
    opened.actions_["mode_dark"].trigger()
    assert THEME.dark
    height = opened.pages["table"].fontMetrics().height()
    for _ in range(4):
        opened.actions_["zoom_in"].trigger()
        QApplication.processEvents()
    assert opened.pages["table"].fontMetrics().height() > height
    opened.actions_["zoom_reset"].trigger()
    opened.actions_["mode_light"].trigger()
    assert not THEME.dark


def test_window_state_and_recent_files_are_remembered(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window.settings = settings
    path = tmp_path / "t.csv"
    path.write_text("a,b,count\nx,y,1\nx,z,2\nu,y,3\nu,z,4\n")
    window.files.open(str(path))
    settle()
    window.files.open(EXAMPLE)
    settle()
    assert window.files.recent() == [str(path)]
    path.unlink()
    assert window.files.recent() == []


def test_a_fault_of_the_program_is_shown_with_its_traceback(
    opened: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    swallowed: list[object] = []
    monkeypatch.setattr(sys, "excepthook", lambda *what: swallowed.append(what))
    install_hook(opened)
    try:
        raise ZeroDivisionError("planted")
    except ZeroDivisionError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    assert swallowed
    assert "ZeroDivisionError" in opened.page.errors.text


def test_a_smoke_picture(tmp_path: Path, qapp: QApplication) -> None:
    path = tmp_path / "window.png"
    assert main([EXAMPLE, "--smoke", str(path)]) == 0
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_short_commands_wait_for_a_long_one(opened: MainWindow, settle: Settle) -> None:
    opened.document.do(protect, seed=1)
    assert opened.document.do(set_count, index=[0, 0], count=77) is None
    table = opened.document.original
    assert table is not None
    assert table[(0, 0)] != 77  # not yet
    settle()
    table = opened.document.original
    assert table is not None
    assert table[(0, 0)] == 77
    labels = [step.label for step in opened.document.history.steps]
    assert labels[-1] == "set (v1, w1) to 77"
    assert opened.document.release is None  # the result belonged to the old table


def test_an_empty_document_has_nothing_to_undo(window: MainWindow) -> None:
    assert isinstance(window.document.history, History)
    window.document.undo()
    assert window.page.errors.isVisible()
    assert json.dumps(window.page.errors.text)
