"""Every state of the window: nothing wider than it, no words cut, none on others, and few of them.

``TABPROTECT_STATES=all`` looks at every state in light and dark, in both languages and sizes of text;
``SCREENS`` names a folder that takes a picture of each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from fitting import faults
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from readable import visible_words
from states import State, states_of_amounts, states_of_counts

from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.app import application, speak_in_window
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME
from tabprotect.languages.translation import ENGLISH, set_language

EVERY = os.environ.get("TABPROTECT_STATES") == "all"

CASES = tuple(product((ENGLISH, "de"), (1.0, 2.0))) if EVERY else ((ENGLISH, 1.0), ("de", 2.0))
"""Languages, and sizes of the text. German at twice the size is what first has no room."""

SIZES = {1.0: ((960, 540), (1366, 768)), 2.0: ((1920, 1080),)}
"""Widths and heights by the size of the text. The first is full HD at 200 %: its pixels are what a layout knows."""

MODES = ("light", "dark") if EVERY else ("light",)

PANEL, PAGE = 60, 120
"""Words that may be read in the panel beside the table, and on a page."""


@pytest.fixture
def spoken(language: str, zoom: float, qtbot: QtBot, firms: Path) -> Iterator[MainWindow]:
    """A window in a language and a size of text; what makes ``firms`` speaks English, and comes before."""
    app, numbers = application(), QLocale()
    THEME.apply(mode="light", zoom=zoom)
    set_language(language, apart=True)
    translator = speak_in_window(app)
    window = MainWindow(Document())
    qtbot.addWidget(window)
    window.resize(*SIZES[zoom][-1])
    with qtbot.waitExposed(window):
        window.show()
    yield window
    window.document.saved = window.document.project
    window.close()
    THEME.apply(mode="light", zoom=1.0)
    if translator is not None:
        app.removeTranslator(translator)
        QLocale.setDefault(numbers)
    set_language(ENGLISH)


def looked_at(
    window: MainWindow, states: Iterator[State], language: str, zoom: float
) -> tuple[list[str], list[str]]:
    """What does not fit, and what says too much, of all states."""
    wrong, wordy = [], []
    for name, front in states:
        for mode in MODES:
            if mode != THEME.mode:
                THEME.apply(mode=mode)
            for wide, high in SIZES[zoom]:
                window.resize(wide, high)
                for _ in range(8):
                    QApplication.processEvents()
                here = f"{name} at {wide} x {high}, {zoom:g}, {mode}, {language}"
                wrong += [f"{here}: {fault}" for fault in faults(window, front)]
                if folder := os.environ.get("SCREENS"):
                    front.grab().save(f"{folder}/{name}-{wide}-{mode}-{language}.png")
        panel = None if front is not window else window.decision
        # What was asked for over the panel is a page.
        decides = panel is not None and panel is not window.page
        part = front if front is not window else panel or window.page
        said, limit = visible_words(part), PANEL if decides else PAGE
        if os.environ.get("SCREENS"):
            print(name, language, len(said))
        if len(said) > limit:
            wordy.append(f"{name}, {language}: {len(said)} words of {limit}: {' '.join(said)}")
    return wrong, wordy


@pytest.mark.parametrize(("language", "zoom"), CASES)
def test_every_state_fits_its_window_and_says_little(
    spoken: MainWindow, qtbot: QtBot, tmp_path: Path, firms: Path, language: str, zoom: float
) -> None:
    document = spoken.document

    def settle() -> None:
        qtbot.waitUntil(lambda: not document.jobs.running)
        for _ in range(2):
            QApplication.processEvents()

    wrong, wordy = looked_at(spoken, states_of_counts(spoken, settle, tmp_path), language, zoom)
    document.saved = document.project
    more = looked_at(spoken, states_of_amounts(spoken, settle, firms), language, zoom)
    assert not [*wrong, *wordy, *more[0], *more[1]], "\n".join([*wrong, *wordy, *more[0], *more[1]])
