"""Everything by its name, with one key."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.palette import Palette
from tabprotect.gui.frame.settings_dialog import SettingsDialog

Settle = Callable[[], None]


def opened_palette(window: MainWindow) -> Palette:
    window.actions_["palette"].trigger()
    found = window.findChild(Palette)
    assert found is not None
    return found


def rows(palette: Palette) -> list[str]:
    items = (palette.list.topLevelItem(n) for n in range(palette.list.topLevelItemCount()))
    return [item.text(0) for item in items if item is not None]


def test_an_action_a_cell_and_the_help_are_found_by_their_words(opened: MainWindow, settle: Settle) -> None:
    palette = opened_palette(opened)
    QTest.keyClicks(palette.field, "other ways")
    assert rows(palette)[0] == "Other ways"
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert opened.page.name == "protect"
    settle()
    palette = opened_palette(opened)
    QTest.keyClicks(palette.field, "v1, w2")
    assert rows(palette)[0] == "(v1, w2)"
    palette.take()
    assert opened.page.name == "table" and opened.document.selection == (0, 1)
    palette = opened_palette(opened)
    QTest.keyClicks(palette.field, "first digits")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert opened.page.name == "help"


def test_the_public_view_offers_nothing_of_the_house(opened: MainWindow) -> None:
    opened.document.set_public(True)
    palette = opened_palette(opened)
    assert not any("(v1, w2)" in row for row in rows(palette))
    palette.reject()


def test_settings_and_every_part_of_the_help_are_found(opened: MainWindow) -> None:
    palette = opened_palette(opened)
    QTest.keyClicks(palette.field, "fixed seed could be")
    assert rows(palette)[0] == "If a fixed seed could be guessed"
    palette.take()
    dialog = opened.findChild(SettingsDialog)
    assert dialog is not None and dialog.isVisible()
    field = dialog.policy.choices["short_seed"]
    assert field.isVisibleTo(dialog) and dialog.tabs.tabText(dialog.tabs.currentIndex()) == "Releases"
    dialog.reject()
    palette = opened_palette(opened)
    # What the help says is found by its words, behind what is called so.
    told = [(title, text.casefold()) for title, text in opened.pages["help"].texts()]
    titles = " ".join(title for title, _ in told).casefold()
    word = next(w for _, text in told for w in text.split() if len(w) > 9 and w.isalpha() and w not in titles)
    wanted = {title for title, text in told if word in text}
    palette.field.setText(word)
    assert wanted <= set(rows(palette))
    palette.reject()
