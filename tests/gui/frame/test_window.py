"""The window's frame: opening, saving, strip, rail, panels, keys, recovery."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pages_of import page_of
from PySide6.QtCore import QAbstractListModel, QSettings, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QScrollBar,
    QTableView,
    QTextEdit,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot
from readable import texts

from tabprotect.engine.disclosure import policy
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.history import History
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.project.verbs.table_verbs import open_table, set_count, set_title
from tabprotect.gui.base.preferences import Preferences
from tabprotect.gui.base.recent_files import RecentFiles
from tabprotect.gui.frame.app import install_hook, main
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.settings_dialog import SettingsDialog
from tabprotect.gui.grid.cell_texts import FIGURES
from tabprotect.gui.look.choice_card import ChoiceCard
from tabprotect.gui.look.layouts import reading_order
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.release.page import ReleasePage
from tabprotect.gui.pages.start import RecentRow, StartPage, day_text
from tabprotect.languages.messages import in_100
from tabprotect.version import __version__

Settle = Callable[[], None]


NO_FOCUS = Qt.FocusPolicy.NoFocus

RIVER = ("start", "table", "cycles", "perturb", "check", "release", "tabulate", "help")


EXAMPLE = "example:duncan-roehrig-4x4"


def test_none_is_counted_right(window: MainWindow) -> None:
    # Some PySide6 releases lose a reference to None per call and die some thousands of calls on.
    before = sys.getrefcount(None)
    for _ in range(1000):
        window.setObjectName("main")
    assert sys.getrefcount(None) > before - 100


def test_it_starts_with_nothing_open(window: MainWindow) -> None:
    assert window.page is window.pages["start"]
    assert window.strip.word == ""
    assert window.rail.buttons["check"].why
    assert not window.actions_["undo"].isEnabled()
    start = window.pages["start"]
    assert isinstance(start, StartPage)
    titles = {card.accessibleName() for card in start.findChildren(ChoiceCard)}
    assert "Open a table" in titles
    assert any("4 x 4" in title for title in titles)


def test_a_stage_that_cannot_be_used_says_why(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.mouseClick(window.rail.buttons["check"], Qt.MouseButton.LeftButton)
    assert window.page is window.pages["start"]
    assert window.rail._why.text() == window.rail.buttons["check"].why != ""


def test_the_strip_tells_what_is_shown(opened: MainWindow, settle: Settle) -> None:
    assert opened.strip.word == "CONFIDENTIAL"
    assert "4 small counts" in opened.strip.facts
    opened.go("help")
    opened.document.select(None)
    # The strip itself and the rail's badge still count the cells at risk.
    assert opened.strip.word == "CONFIDENTIAL" and "small counts" in opened.strip.facts
    opened.document.set_public(True)
    assert opened.strip.word == "PUBLIC VIEW" and "small counts" not in opened.strip.facts
    assert not opened.rail.buttons["table"].badge
    opened.document.set_public(False)
    opened.go("table")
    assert opened.strip.word == "CONFIDENTIAL"


def test_what_is_narrow_folds_and_keeps_the_table(opened: MainWindow, settle: Settle) -> None:
    opened.resize(1366, 768)
    settle()
    wide, panel = opened.rail.width(), opened.beside
    assert panel.isVisible() and panel.width() == 400 and opened.stack.isVisible()
    opened.resize(1024, 700)
    settle()
    assert opened.rail.width() < wide
    button = opened.rail.buttons["table"]
    assert button.accessibleName() == "Table" and "Table" in button.toolTip()
    assert panel.isVisible() and panel.width() == 344 and opened.stack.isVisible()
    # What has no room beside the table takes turns with it.
    opened.resize(800, 480)
    settle()
    assert opened.stack.isVisible() and not panel.isVisible()
    opened._turn.setCurrentIndex(1)
    assert panel.isVisible() and not opened.stack.isVisible()
    opened.go("perturb")
    assert panel.isVisible() and not opened.stack.isVisible() and not opened._turn.isVisible()
    settle()


def test_large_words_of_the_system_fold_it_earlier(
    opened: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.resize(1366, 768)
    assert THEME.scale == 1.0 and not opened.rail.buttons["table"].folded
    monkeypatch.setattr(THEME, "system", 16 / 9)
    THEME.changed.emit()
    assert opened.rail.buttons["table"].folded


def test_four_places_and_what_opens_over_the_panel_comes_back_by_esc(opened: MainWindow) -> None:
    labels = [button.accessibleName() for button in opened.rail.buttons.values()]
    assert labels == ["Table", "Readers", "Releases", "Plan"]
    opened.go("protect")
    assert opened.rail.buttons["table"].isChecked() and opened.stack.currentWidget() is not None
    assert opened.decision is opened.pages["protect"] and opened.stack.isVisible()
    for over, below in (("cycles", "perturb"), ("perturb", "table"), ("compare", "protect")):
        opened.go(over)
        assert opened.rail.buttons["table"].isChecked()
        QTest.keyClick(opened.page, Qt.Key.Key_Escape)
        assert opened.page.name == below


def test_the_next_step_is_one_key_from_the_table_to_the_question(
    opened: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    document = opened.document
    assert opened.decision is opened.pages["proposal"]

    def next_step() -> None:
        QTest.keyClick(opened.page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        settle()

    next_step()
    gate = opened.decision
    assert document.has_release and opened.page.name == "table" and gate is opened.pages["release"]
    next_step()
    qtbot.waitUntil(lambda: gate._question is not None)  # type: ignore[union-attr]
    gate._question.back.click()  # type: ignore[union-attr]
    assert not document.history.project.published


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


def test_help_is_about_the_page_in_front_and_goes_back_to_it(opened: MainWindow, qtbot: QtBot) -> None:
    opened.actions_["help_page"].trigger()
    page, text = opened.page, opened.page.findChild(QTextEdit)
    assert page.name == "help" and text is not None
    # With the figures of this very table, as long as its page may be seen.
    assert "4 small counts" in text.toPlainText() and page.shows_original()
    opened.actions_["help_keys"].trigger()
    assert "Ctrl+Return" in text.toPlainText() and not page.shows_original()
    opened.actions_["help_about"].trigger()
    assert __version__ in text.toPlainText() and "MIT" in text.toPlainText()
    qtbot.waitUntil(lambda: bool(page.licences.toPlainText()), timeout=60_000)
    said = page.licences.toPlainText()
    assert page.licences.isVisible() and "GNU LESSER GENERAL" in said and "PySide6" in said
    opened.actions_["help_page"].trigger()
    assert not page.licences.isVisible()
    opened.document.set_public(True)
    assert "small counts (a count" not in text.toPlainText()
    opened.document.set_public(False)
    page.main_button.click()
    assert opened.page.name == "table"


def test_menus_offer_what_can_be_done_now(window: MainWindow, settle: Settle) -> None:
    actions = window.actions_
    assert not actions["page_protect"].isEnabled() and not actions["compare_csv"].isEnabled()
    assert not actions["save_recipe"].isEnabled()
    window.files.open(EXAMPLE)
    settle()
    assert actions["save_recipe"].isEnabled()
    assert actions["page_protect"].isEnabled() and actions["perturb_run"].isEnabled()
    # A key that runs a method runs that of the page, and no other.
    assert not actions["methods_run"].isEnabled() and not actions["release_publish"].isEnabled()
    window.document.do(set_method, method="random_rounding")
    assert actions["methods_run"].isEnabled() and not actions["perturb_run"].isEnabled()
    assert actions["table_find"].isEnabled()
    window.go("variables")
    assert not actions["table_find"].isEnabled()
    settle()
    # Nothing was compared; what another method does is not listed.
    assert not actions["compare_csv"].isEnabled()
    assert actions["methods_run"].isVisible() and not actions["perturb_run"].isVisible()
    window.document.do(protect, seed=3, accept_weak=True)
    settle()
    window.go("check")
    settle()
    window.actions_.menus["Readers"].aboutToShow.emit()
    assert actions["check_map_svg"].isEnabled() and not actions["check_cell_svg"].isEnabled()
    assert window.actions_.menus["File"].actions()[-1] is actions["quit"]
    window.document.set_public(True)
    window.go("table")
    of_the_house = ("table_edit", "table_paste", "table_risks", "table_only", "release_publish")
    assert not any(actions[name].isEnabled() for name in (*of_the_house, "compare_compare"))
    assert actions["table_copy"].isEnabled()


def test_a_right_click_offers_what_the_page_can_do(opened: MainWindow) -> None:
    (cells,) = (
        view for view in opened.page.findChildren(QTableView)
        if view.accessibleName() == "Table of counts"
    )  # fmt: skip
    place = cells.visualRect(cells.model().index(1, 2)).center()
    QTest.mouseClick(cells.viewport(), Qt.MouseButton.RightButton, pos=place)
    assert opened.document.selection == (1, 2)
    anew = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, cells.viewport().mapToGlobal(place))
    QApplication.sendEvent(cells.viewport(), anew)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    offered = menu.actions()
    assert opened.actions_["table_copy"] in offered and all(a.isEnabled() for a in offered)
    menu.close()
    opened.actions_["help_keys"].trigger()
    QTest.keyClick(opened.page, Qt.Key.Key_Escape)
    assert opened.page.name == "table"


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
    hidden = {"87654", "87\u202f654"} - {str(published[(0, 1)])}
    for name in opened.pages:
        if opened.pages[name].stage.why_not(opened.document):
            continue
        opened.go(name)
        settle()
        assert opened.strip.word == "PUBLIC VIEW", name
        for text in everything_said(opened):
            assert "set (v1, w2)" not in text, (name, text)
            if published[(0, 1)] != 87654:
                assert not any(h in text for h in hidden), (name, text)


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


def test_the_panel_follows_the_selection(opened: MainWindow, settle: Settle) -> None:
    opened.document.do(protect, seed=11)
    settle()
    opened.go("table")
    opened.document.select((0, 0))
    settle()
    posterior, table = opened.document.known_posterior(), opened.document.original
    assert posterior is not None and table is not None
    shown = page_of(opened, ReleasePage).cell
    assert shown.title.text() == table.domain.cell_text((0, 0))
    assert shown.chance.text() == in_100(float(posterior.probability(table.counts)[0, 0]))
    # Counts have no contributors beside them.
    assert not opened.actions_["panel_contributors"].isVisible()


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
    dialog.policy.signatures.setCurrentIndex(2)
    dialog.save.click()
    assert policy.in_force() == policy.AgencyPolicy(belief_limit=0.9, two_signatures=True)
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
    assert dialog.policy.shares["share"].value() == 1.0 and not dialog.policy.shares["share"].isEnabled()
    dialog.save.click()
    assert path.read_text() == "share = 0.01\n"


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


def test_the_recipe_panel_shows_the_steps_without_a_seed(opened: MainWindow, settle: Settle) -> None:
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


def test_every_page_fits_a_small_screen_and_its_controls_have_names(
    measured: MainWindow, settle: Settle
) -> None:
    measured.document.do(protect)
    settle()
    measured.document.select((0, 1))
    measured.resize(1280, 720)
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
    for name in measured.pages:
        measured.go(name)
        settle()
        assert (measured.width(), measured.height()) == (1280, 720), name
        assert measured.area.horizontalScrollBar().maximum() == 0, name
        if name in RIVER:
            assert measured.area.verticalScrollBar().maximum() == 0, name
        for widget in measured.findChildren(QWidget):
            if isinstance(widget, QAbstractItemView):
                # Tab goes on to the next control from every table: arrows walk its cells.
                assert not widget.tabKeyNavigation(), widget.accessibleName()
            inside = isinstance(widget.parent(), (QComboBox, QAbstractSpinBox, QLineEdit, QHeaderView))
            internal = widget.objectName().startswith("qt_") or inside
            stops = isinstance(widget, QScrollArea) and widget.focusPolicy() != NO_FOCUS
            if not (stops or isinstance(widget, kinds)) or not widget.isVisible() or internal:
                continue
            if isinstance(widget, QHeaderView):
                continue
            if isinstance(widget, QToolButton) and widget.parent() in measured.menuBar().children():
                continue
            said = widget.accessibleName() or getattr(widget, "text", str)()
            if not said:
                nameless.add(f"{name}: {type(widget).__name__} in {type(widget.parent()).__name__}")
    assert not nameless, nameless


def test_the_layout_of_every_page_leads_tab_to_all_its_controls(measured: MainWindow, settle: Settle) -> None:
    missed = set()
    for name, page in measured.pages.items():
        measured.go(name)
        settle()
        order = set(reading_order(page))
        for widget in page.findChildren(QWidget):
            keyed = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
            # What lies inside a control (the field of a box, the arrows of a bar) is Qt's.
            inside = any(widget is not one and one.isAncestorOf(widget) for one in order)
            reached = widget in order or widget.focusProxy() in order
            if keyed and widget.isVisibleTo(page) and not reached and not inside:
                missed.add(f"{name}: {type(widget).__name__} {widget.accessibleName()}")
    assert not missed, missed


def test_tab_goes_through_the_whole_page_as_the_eye_does(opened: MainWindow) -> None:
    opened.activateWindow()
    handle, reached = opened.windowHandle(), list[str]()
    for _ in range(40):
        QTest.keyClick(handle, Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused.accessibleName() == "Table of counts" and "Table of counts" in reached:
            break
        reached.append(focused.accessibleName() or getattr(focused, "text", str)())
    else:
        pytest.fail(f"the table keeps Tab: {reached}")
    after = reached[reached.index("Table of counts") :] + reached[: reached.index("Table of counts")]
    order = ["Table of counts", "Other ways", "Protect", "Show the risk list", "v, 4 categories, in rows"]
    assert sorted(order, key=after.index) == order


def test_shortcuts_are_unique(opened: MainWindow) -> None:
    seen: dict[str, str] = {}
    for menu in opened.actions_.menus.values():
        # What another method does is not listed, and has no key.
        for action in (a for a in menu.actions() if a.isVisible()):
            for keys in action.shortcuts():
                text = keys.toString()
                assert text not in seen, f"{text}: {seen.get(text)} and {action.text()}"
                seen[text] = action.text()
    for needed in ("Ctrl+O", "Ctrl+S", "Ctrl+Shift+S", "Ctrl+Z", "Ctrl+Y", "Ctrl+C", "Ctrl+V"):
        assert needed in seen
    for needed in ("Ctrl+F", "Ctrl+Q", "F1", "F9", "F8", "Shift+F8"):
        assert needed in seen
    for letter in "CFKLMPRT":
        assert f"Ctrl+Shift+{letter}" in seen
    assert {f"Alt+{number}" for number in range(1, 1 + len(FIGURES))} <= set(seen)
    # Whichever method is chosen, the same keys run it.
    runs = [opened.actions_[f"{page}_run"].shortcut() for page in ("methods", "perturb")]
    assert runs[0] == runs[1]
    # The keys of a page are those of the page in front.
    assert opened.actions_.of_page("table")
    opened.go("variables")
    assert opened.actions_.of_page("table") == []


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
    assert [one.path for one in window.files.recent.files()] == [str(path)]
    (known,) = window.files.recent.files()
    # The example that came after it says nothing of it.
    assert known.shape == (2, 2) and known.opened and not known.released
    window.go("start")
    row = window.page.findChild(RecentRow)
    assert row is not None and {"2 \u00d7 2", "not released yet", "t.csv"} <= set(texts(row))
    window.document.set_public(True)
    assert all(row.isHidden() for row in window.page.findChildren(RecentRow))
    path.unlink()
    assert window.files.recent.files() == []


def test_a_recent_file_keeps_what_was_made_of_it(tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    recent, path = RecentFiles(lambda: settings), tmp_path / "t.csv"
    path.write_text("")
    history, _ = History().do(open_table(source=EXAMPLE))
    recent.remember(str(path), history)
    named, _ = history.do(set_title(title="Persons"))
    recent.follow(named)
    other, _ = History().do(open_table(source="example:langsrud-lupp"))
    recent.follow(other)
    (known,) = RecentFiles(lambda: settings).files()
    assert (known.title, known.shape) == ("Persons", (4, 4))
    settings.setValue("recent_about", "no JSON")
    assert recent.files()[0].title == ""
    assert [day_text(s) for s in (0.0, time.time() - 86400)] == ["", "yesterday"]


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
    # What is open can be put in a safe place first.
    buttons = opened.page.errors.findChildren(QPushButton)
    assert "Save a copy\u2026" in [button.text() for button in buttons if not button.isHidden()]


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


def test_three_entries_alone_go_into_the_menu_of_the_program(opened: MainWindow) -> None:
    # On macOS Qt guesses from words such as "setup" and "about" where nobody says.
    roles = {
        action.menuRole()
        for menu in opened.menuBar().findChildren(QMenu)
        for action in menu.actions()
        if not action.isSeparator() and action.menu() is None
    }
    role = QAction.MenuRole
    assert {role.PreferencesRole, role.AboutRole, role.QuitRole} <= roles
    assert role.TextHeuristicRole not in roles
