"""Help: what to do on each page, one worked cell of the table, and finding things."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pages_of import page_of
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.help.page import HelpPage, page_label
from tabprotect.gui.pages.help.texts import DO, ON_PAGES

Settle = Callable[[], None]


def helped(window: MainWindow, name: str, settle: Settle) -> HelpPage:
    window.go(name)
    settle()
    window.actions_["help_page"].trigger()
    settle()
    return page_of(window, HelpPage)


def test_every_page_has_three_steps_the_last_of_them_what_comes_next(window: MainWindow) -> None:
    names = set(window.pages.stages) - {"help"}
    assert names == set(DO) == set(ON_PAGES)
    for name, steps in DO.items():
        assert steps.count("<li>") == 3 and "<li>Next: " in steps, name
        assert page_label(name) != name


@pytest.mark.parametrize("name", ["table", "variables", "protect"])
def test_the_pages_own_table_is_worked_through(opened: MainWindow, settle: Settle, name: str) -> None:
    opened.document.select((0, 1))
    page = helped(opened, name, settle)
    text = page._text.toPlainText()
    assert "Next: " in text and "One cell of it" in text
    assert "(v1, w2): the true count is 1" in text
    # The cell stands among its neighbours, and small counts have their colour.
    around = page._text.toHtml().partition("One cell of it")[2]
    assert all(f">{label}<" in around for label in ("v1", "v4", "w1", "w4"))
    assert around.count("bgcolor") == 16
    assert page.shows_original()


def test_what_readers_see_is_no_original(opened: MainWindow, settle: Settle) -> None:
    page = helped(opened, "table", settle)
    opened.document.set_public(True)
    settle()
    assert not page.shows_original()
    assert "the true count" not in page._text.toPlainText()


def test_a_word_is_found_wherever_it_stands(opened: MainWindow, settle: Settle, qtbot: QtBot) -> None:
    page = helped(opened, "table", settle)
    page.finder.setFocus()
    qtbot.keyClicks(page.finder, "first digits")
    text = page._text.toPlainText()
    assert "1 place says that." in text and "Categories" in text
    # No figure of the table is among what is found.
    assert "true count is" not in text and not page.shows_original()
    page.finder.setText("quarks")
    assert "Nothing of that is said here." in page._text.toPlainText()
    qtbot.mouseClick(page._faces["words"], Qt.MouseButton.LeftButton)
    assert page.finder.text() == "" and "Small count" in page._text.toPlainText()
