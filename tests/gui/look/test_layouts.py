"""Rows, columns and file dialogs are what their arguments say."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QFileDialog, QGridLayout, QLabel, QPushButton, QSpacerItem, QWidget, QWidgetItem
from pytestqt.qtbot import QtBot
from shiboken6 import getAllValidWrappers

from tabprotect.gui.look.file_dialogs import ask_export, ask_file, ask_folder, ask_place
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row, placed, reading_order


def test_items_stand_in_order_with_stretch_and_place(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    first, second, third = QLabel("1"), QLabel("2"), QLabel("3")
    row = in_row(first, 2, (second, 3), spacing=5)
    right = Qt.AlignmentFlag.AlignRight
    column = in_column((row, 1), (third, 0, right), on=page, margins=(1, 2, 3, 4))
    assert page.layout() is column
    sides = column.contentsMargins()
    assert (sides.left(), sides.top(), sides.right(), sides.bottom()) == (1, 2, 3, 4)
    assert row.spacing() == 5 and [row.stretch(i) for i in range(3)] == [0, 2, 3]
    assert placed(row) == [first, second] and placed(column) == [row, third]
    assert row.count() == 3 and column.stretch(0) == 1
    page.resize(400, 200)
    column.activate()
    assert third.geometry().right() == column.contentsRect().right() > third.width()
    assert in_column(margins=7).contentsMargins().top() == 7


def test_asking_for_the_parts_of_layouts_holds_no_items_of_qt(qtbot: QtBot) -> None:
    """Qt deletes items without a word to Python; a timer made at one's address ends the program."""
    page, first, second = QWidget(), QPushButton("1"), QPushButton("2")
    qtbot.addWidget(page)
    grid = QGridLayout()
    grid.addWidget(second, 1, 0)
    grid.addWidget(first, 0, 0)
    in_column(grid, QPushButton("3"), on=page)
    held = items_held()
    assert [w.text() for w in reading_order(page) if isinstance(w, QPushButton)] == ["1", "2", "3"]
    assert items_held() == held


def items_held() -> int:
    """How many items of layouts Python holds addresses of."""
    return sum(isinstance(w, QWidgetItem | QSpacerItem) for w in getAllValidWrappers())


def test_a_label_says_its_role_and_its_name(qtbot: QtBot) -> None:
    label = Label("<b>x</b>", role="quiet", name="What it is", wordWrap=True)
    qtbot.addWidget(label)
    assert label.property("role") == "quiet" and label.accessibleName() == "What it is"
    assert label.text() == "<b>x</b>" and label.wordWrap()
    assert Label("x").property("role") is None


def test_words_that_wrap_are_shown_as_they_are_written(qtbot: QtBot) -> None:
    # Their lines are set apart by markup, in which nothing of theirs may be markup.
    written = "<b>x</b> &amp;  <img src='a'>\n1 < 2"
    label = Label(written, wordWrap=True)
    qtbot.addWidget(label)
    shown = QTextDocument()
    shown.setHtml(QLabel.text(label))
    assert shown.toPlainText() == written and "<img" not in QLabel.text(label)
    assert "line-height" in QLabel.text(label)
    plain = Label("<b>x</b>")
    assert plain.textFormat() is Qt.TextFormat.PlainText


def test_dialogs_hand_on_what_is_chosen(qtbot: QtBot, tmp_path: Path) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    taken: list[object] = []
    opened = ask_file(page, "Open", "CSV (*.csv)", taken.append)
    folder = ask_folder(page, "Where", str(tmp_path), taken.append)
    place = ask_place(page, "Save", "a.zip", "Zip (*.zip)", taken.append)
    again = ask_place(page, "Save", "a.zip", "Zip (*.zip)", taken.append, confirm=False)
    export = ask_export(page, "figures.svg", "svg", taken.append)
    assert opened.fileMode() is QFileDialog.FileMode.ExistingFile
    assert folder.fileMode() is QFileDialog.FileMode.Directory
    assert place.acceptMode() is QFileDialog.AcceptMode.AcceptSave and place.defaultSuffix() == "zip"
    quiet = QFileDialog.Option.DontConfirmOverwrite
    assert again.testOption(quiet) and not place.testOption(quiet)
    assert export.nameFilters()[0] == "SVG (*.svg)"
    for dialog in (opened, folder, place, again, export):
        dialog.fileSelected.emit(str(tmp_path / "x"))
        dialog.reject()
    assert taken == [str(tmp_path / "x")] * 4 + [tmp_path / "x"]
