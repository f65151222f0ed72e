"""The window in German, and in a language two fifths longer, at 1366 x 768."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fitting import cut
from pages_of import counts
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QListView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import set_count
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.app import application, speak_in_window
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.lists.listing import RowList
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.gui.pages.protect.page import ProtectPage
from tabprotect.gui.pages.query_space.page import QuerySpacePage
from tabprotect.languages.messages import message
from tabprotect.languages.translation import ENGLISH, PSEUDO, set_language, tr, translate


@pytest.fixture
def speaking(qtbot: QtBot) -> Iterator[Callable[[str], MainWindow]]:
    """Opens a window in a language, and leaves English behind."""
    undo: list[Callable[[], object]] = []
    numbers = QLocale()

    def opened(language: str) -> MainWindow:
        app = application()
        THEME.apply(mode="light", zoom=1.0)
        set_language(language, apart=True)
        translator = speak_in_window(app)
        if translator is not None:
            undo.append(lambda: QLocale.setDefault(numbers))
            undo.append(lambda: app.removeTranslator(translator))
        window = MainWindow(Document())
        qtbot.addWidget(window)
        window.resize(1366, 768)
        with qtbot.waitExposed(window):
            window.show()
        window.files.open("example:duncan-roehrig-4x4")
        qtbot.waitUntil(lambda: window.document.project is not None)
        QApplication.processEvents()
        undo.append(window.close)
        return window

    yield opened
    for step in reversed(undo):
        step()
    set_language(ENGLISH)


def test_longer_words_are_not_cut(speaking: Callable[[str], MainWindow], qtbot: QtBot) -> None:
    window = speaking(PSEUDO)
    faults = []
    for name in window.pages:
        if window.pages.why_not(name):
            continue
        window.go(name)
        with contextlib.suppress(qtbot.TimeoutError):
            # Words that a job brings are laid out a moment later.
            qtbot.waitUntil(lambda: not cut(window), timeout=60_000)
        faults += [f"{name}: {fault}" for fault in cut(window)]
        if (window.width(), window.height()) != (1366, 768):
            faults.append(f"{name}: the window grew to {window.size()}")
    window.document.jobs.cancel_all()
    assert not faults, "\n".join(faults)


def test_the_window_speaks_german_and_leaves_names_alone(speaking: Callable[[str], MainWindow]) -> None:
    window = speaking("de")
    window.go("table")
    assert [a.text() for a in window.menuBar().actions()][:2] == ["&Datei", "&Bearbeiten"]
    assert window.decision is not None and window.decision._heading.text() == "4 kleine Fallzahlen"
    assert window.page.sentence.startswith("135 gezählt in 16 Zellen (4 × 4)")
    assert window.strip.word == "VERTRAULICH"
    number = QDoubleSpinBox(decimals=3, value=0.95)
    assert number.text() == "0,950"
    window.document.jobs.cancel_all()


ENGLISH_WORDS = re.compile(
    r"\b(?:believes|posterior|width|verdict|sub-table|letters|now|at|"
    r"the|of|and|are|is|to|from|with|by|not|this|that|chosen|user|intruder|cells?)\b"
)


def quiet(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until a page has asked its questions and has the answers."""
    qtbot.wait(300)
    qtbot.waitUntil(lambda: not window.document.jobs.running)
    QApplication.processEvents()


def words(window: MainWindow) -> set[str]:
    """All that labels, buttons, lists and menus of the window say, and say of themselves."""
    said = {action.text() for menu in window.actions_.menus.values() for action in menu.actions()}
    for widget in window.findChildren(QWidget):
        if not widget.isVisible():
            continue
        beside = (widget.accessibleName(), widget.accessibleDescription(), widget.toolTip())
        said |= {re.sub("<[^>]*>", " ", text) for text in beside}
        if isinstance(widget, QListView) and widget.model() is not None:
            first = widget.model().index(0, 0)
            said.add(str(first.data(Qt.ItemDataRole.AccessibleTextRole) or ""))
        if isinstance(widget, QLabel | QAbstractButton):
            said.add(widget.text())
        if isinstance(widget, QComboBox):
            said |= {widget.itemText(number) for number in range(widget.count())}
        if isinstance(widget, RowList):
            across, rows = Qt.Orientation.Horizontal, widget.rows
            said |= {str(rows.headerData(n, across)) for n in range(rows.columnCount())}
    return said


def untold(window: MainWindow) -> set[str]:
    """What a window of the pseudo-language says in English: all of its words are longer."""
    project = window.document.project
    assert project is not None
    found = {text for text in words(window) if ENGLISH_WORDS.search(text)}
    return {text for text in found if project.name not in text}


def test_main_pages_say_nothing_in_english(speaking: Callable[[str], MainWindow], qtbot: QtBot) -> None:
    window = speaking("de")
    faults = []
    for name in ("start", "table", "variables", "protect", "cycles", "perturb", "query_space"):
        window.go(name)
        quiet(window, qtbot)
        faults += [f"{name}: {text}" for text in words(window) if ENGLISH_WORDS.search(text)]
    page = window.page
    assert isinstance(page, QuerySpacePage)
    for tab in range(page.tabs.count()):
        page.tabs.setCurrentIndex(tab)
        quiet(window, qtbot)
        faults += [f"tab {tab}: {text}" for text in words(window) if ENGLISH_WORDS.search(text)]
    document = window.document
    document.run(protect(seed=7, accept_weak=True))
    for name in ("perturb", "check", "release"):
        window.go(name)
        quiet(window, qtbot)
        faults += [f"{name}: {text}" for text in words(window) if ENGLISH_WORDS.search(text)]
    document.saved = document.project
    assert document.project is not None
    faults = [fault for fault in faults if document.project.name not in fault]
    assert not faults, "\n".join(faults)


def test_totals_are_wide_enough_for_their_head_in_german(speaking: Callable[[str], MainWindow]) -> None:
    window = speaking("de")
    head = counts(window).grid.right.columns
    assert tr("total") == "Summe"
    assert head.sectionSize(0) >= head.fontMetrics().horizontalAdvance("Summe") + 2 * GRID
    window.document.jobs.cancel_all()


@pytest.mark.parametrize("language", [ENGLISH, "de"])
def test_ways_have_room_for_their_figures(
    speaking: Callable[[str], MainWindow], qtbot: QtBot, language: str
) -> None:
    window = speaking(language)
    window.go("protect")
    quiet(window, qtbot)
    page = window.page
    assert isinstance(page, ProtectPage)
    # The second is what 200 % leaves of full HD.
    for size in ((1366, 768), (960, 540)):
        window.resize(*size)
        QApplication.processEvents()
        assert page.list.header().length() <= page.list.viewport().width(), size


def test_english_changes_nothing_in_qt() -> None:
    set_language(ENGLISH)
    assert speak_in_window(application()) is None


def test_two_windows_keep_their_own_words(
    speaking: Callable[[str], MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    # Names that are words of the program's as well, each in one of two tables.
    windows = []
    for name in ("Release", "Cycles"):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"{name},Sex,count\n{name},m,3\n{name},f,4\nb,m,5\nb,f,1\n")
        window = speaking("de")
        document = window.document
        window.files.open(str(path))
        qtbot.waitUntil(
            lambda document=document, name=name: (
                document.project is not None and name in document.project.domain.names
            ),
            timeout=60_000,
        )
        windows.append((window, name))
    for changed in (0, 1):
        # Whichever changed last.
        windows[changed][0].document.run(set_count(index=(0, 0), count=7 + changed))
        for window, name in windows:
            window.go("table")
            window.page.refresh(frozenset({"everything"}))
            quiet(window, qtbot)
            said = words(window)
            assert name in said
            assert {"Leser", "Veröffentlichungen"} <= {w.split(". ")[0] for w in said}
            assert not {"Readers", "Releases"} - {name} & said
    for window, _ in windows:
        window.document.saved = window.document.project


def test_a_text_that_is_not_told_is_found(speaking: Callable[[str], MainWindow], qtbot: QtBot) -> None:
    window = speaking(PSEUDO)
    window.go("table")
    quiet(window, qtbot)
    assert not untold(window)
    planted = QLabel("The cells of this table")
    window.page.body.addWidget(planted)
    qtbot.waitUntil(planted.isVisible)
    assert untold(window) == {"The cells of this table"}


def test_words_that_come_by_signals_and_models_are_told(
    speaking: Callable[[str], MainWindow], qtbot: QtBot
) -> None:
    window = speaking("de")
    assert [dock.windowTitle() for dock in window.docks.values()] == ["Beitragende", "Verlauf", "Rezept"]
    assert window.docks["history"].toggleViewAction().text() == "Verlauf"
    assert window.actions_["settings"].text() == "&Einstellungen\u2026"
    # What a killed program left, what a job does: text alone would stay English.
    found: list[str] = []
    window.document.work_found.connect(lambda words, *_: found.append(translate(words)))
    said = message("{name}, as it was at {when}, when the program ended unexpectedly.", "t", "12:00")
    window.document.work_found.emit(said, lambda: None, lambda: None)
    jobs = window.document.jobs
    job = jobs.question("", lambda progress: progress.report(message("trying the gate"), 0.5))
    job.progressed.connect(lambda stage, *_: found.append(translate(stage)))
    qtbot.waitUntil(lambda: len(found) == 2)
    assert found == [
        "t mit Stand 12:00, als das Programm unerwartet endete.",
        "die Freigabepr\u00fcfung wird erprobt",
    ]
    model = counts(window).grid.model
    role = Qt.ItemDataRole.AccessibleDescriptionRole
    assert {model.data(model.index(0, n), role) for n in range(4)} >= {"klein"}
