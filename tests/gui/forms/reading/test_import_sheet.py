"""The import sheet: it opens where a file leaves a doubt, shows what was recognised, and is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
import xlsxwriter
from pages_of import counts
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from tabprotect.engine.agency import FOLDER
from tabprotect.gui.forms.reading.import_sheet import ImportSheet
from tabprotect.gui.forms.reading.mark_choices import MarkChoices
from tabprotect.gui.frame.main_window import MainWindow

MARKED = "Persons by region and sex 2023\n\nregion\\sex,f,m\nnorth,-,5\nsouth,7,9\n\nSource: census\n"


def sheet_of(window: MainWindow, qtbot: QtBot) -> ImportSheet:
    qtbot.waitUntil(lambda: bool(window.findChildren(ImportSheet)))
    (sheet,) = window.findChildren(ImportSheet)
    qtbot.waitUntil(lambda: sheet.seen is not None)
    return sheet


def test_a_doubt_opens_the_sheet_and_the_answer_is_remembered(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "house"))
    path = tmp_path / "persons 2023.csv"
    path.write_text(MARKED)
    window.files.open(str(path))
    sheet = sheet_of(window, qtbot)
    marks = sheet.inputs["marks"]
    assert isinstance(marks, MarkChoices)
    # The likely answer stands there; the sheet shows what comes of it.
    qtbot.waitUntil(lambda: sheet.open_button.isEnabled())
    assert marks.text() == "-=zero"
    assert sheet.sums.text() == "2 region x 2 sex: 4 cells, sum 21"
    last = sheet.lines.columnCount() - 1
    roles = {sheet.lines.item(row, last).text() for row in range(sheet.lines.rowCount())}
    assert {"title", "header", "note"} <= roles
    header = sheet.inputs["header_row"]
    assert isinstance(header, QLineEdit) and header.placeholderText().startswith("3 (")
    # Meanings are chosen, the header is a line that is pointed at.
    marks.setText("-=missing #=suppressed")
    assert marks.text() == "-=missing #=suppressed"
    marks.meanings["#"].setCurrentIndex(0)
    marks.meanings["-"].setCurrentIndex(marks.meanings["-"].findData("zero"))
    sheet.lines.cellDoubleClicked.emit(2, 0)
    assert sheet.given == {"marks": "-=zero", "header_row": "3"}
    qtbot.waitUntil(lambda: not sheet._rest.isActive() and sheet.open_button.isEnabled())
    sheet.open_button.click()
    qtbot.waitUntil(lambda: window.document.original is not None)
    assert window.document.original is not None and window.document.original.total == 21
    qtbot.waitUntil(lambda: not window.findChildren(ImportSheet))

    again = tmp_path / "persons 2024.csv"
    again.write_text(MARKED.replace("2023", "2024").replace("9", "19"))
    window.files.open(str(again))
    qtbot.waitUntil(lambda: window.document.original is not None and window.document.original.total == 31)
    assert not window.findChildren(ImportSheet)


def test_a_choice_is_shown_at_once(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "house"))
    path = tmp_path / "t.csv"
    path.write_text("v,w,count\na,x,1\na,Total,1\nb,x,2\nb,Total,2\n")
    window.files.ask_reading(str(path))
    sheet = sheet_of(window, qtbot)
    qtbot.waitUntil(lambda: sheet.open_button.isEnabled())
    assert sheet.given == {"totals": "auto"}
    assert "equal to the file's own totals" in sheet.sums.text()
    sheet.set_option("totals", "none")
    assert not sheet.open_button.isEnabled()
    qtbot.waitUntil(lambda: sheet.open_button.isEnabled())
    assert sheet.sums.text() == "2 v x 2 w: 4 cells, sum 6"
    sheet.set_option("header_row", "40")
    qtbot.waitUntil(lambda: sheet.errors.error is not None)
    assert not sheet.open_button.isEnabled()
    sheet.reject()


def test_signs_and_names_of_the_file_are_choices(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "house"))
    path = tmp_path / "grid.csv"
    path.write_text("region\\sex;f;m\nnorth;1\u2009234;5\nsouth;7;2.345\n")
    window.files.ask_reading(str(path), thousands="\u2009")
    sheet = sheet_of(window, qtbot)
    thousands, columns = sheet.inputs["thousands"], sheet.inputs["columns"]
    assert isinstance(thousands, QComboBox) and isinstance(columns, QComboBox)
    # Most of them look alike: each is told by its name and by what it makes of the first number.
    assert thousands.currentText() == "a thin space (1\u2009234 \u2192 1234)"
    assert sheet.given["thousands"] == "\u2009"
    sheet.set_option("thousands", ".")
    assert thousands.currentText() == "a point (2.345 \u2192 2345)"
    assert sheet.given["thousands"] == "."
    # A sign that is not among them may have been remembered.
    sheet.set_option("thousands", "_")
    assert sheet.given["thousands"] == "_"
    assert [columns.itemText(row) for row in range(columns.count())] == ["", "sex"]
    sheet.reject()


def test_sheets_and_their_cells_are_choices(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "house"))
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name, rows in (
            ("notes", [["What this is"]]),
            ("counts", [["Persons"], [], ["v", "n"], ["a", 5], ["b", 7], ["Source: census"]]),
        ):
            page = book.add_worksheet(name)
            for number, row in enumerate(rows, 1):
                page.write_row(number, 1, row)
    window.files.ask_reading(str(path))
    sheet = sheet_of(window, qtbot)
    offered = {}
    for name in ("sheet", "range"):
        box = sheet.inputs[name]
        assert isinstance(box, QComboBox)
        offered[name] = [box.itemText(row) for row in range(1, box.count())]
    # All that is in use, and what is left without the title and the note.
    assert offered == {"sheet": ["notes", "counts"], "range": ["B2:C7", "B4:C6"]}
    sheet.set_option("range", "B4:C6")
    qtbot.waitUntil(lambda: sheet.open_button.isEnabled())
    assert sheet.given["range"] == "B4:C6" and sheet.sums.text() == "2 v: 2 cells, sum 12"
    sheet.reject()


def test_the_role_of_a_column_stands_above_it(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "house"))
    path = tmp_path / "shares.csv"
    path.write_text("region,sex,count,share\nn,f,5,0.1\nn,m,7,0.2\ns,f,3,0.3\ns,m,9,0.4\n")
    window.files.ask_reading(str(path))
    sheet = sheet_of(window, qtbot)
    # A refusal has its choices as buttons.
    qtbot.waitUntil(lambda: bool(sheet.choices.buttons))
    sheet.grab().save(str(tmp_path / "refused.png"))
    assert sheet.choices.buttons[0].text() == "Leave out share"
    sheet.choices.buttons[0].click()
    qtbot.waitUntil(lambda: sheet.open_button.isEnabled())
    picks = sheet.roles.picks
    assert [pick.currentText() for pick in picks.values()] == [
        "variable", "variable", "the count", "leave out",
    ]  # fmt: skip
    assert sheet.sums.text() == "2 region x 2 sex: 4 cells, sum 24"
    only = picks["sex"].findData("where f")
    picks["sex"].setCurrentIndex(only)
    picks["sex"].activated.emit(only)
    assert sheet.given == {"drop": ["share"], "where": {"sex": "f"}}
    qtbot.waitUntil(lambda: sheet.open_button.isEnabled())
    assert sheet.sums.text() == "2 region: 2 cells, sum 8"
    sheet.reject()


def settled_sheet(window: MainWindow, qtbot: QtBot) -> ImportSheet:
    sheet = sheet_of(window, qtbot)
    qtbot.waitUntil(lambda: not sheet._rest.isActive() and not sheet._question.running)
    return sheet


def shown_fields(sheet: ImportSheet, row: int) -> list[str]:
    cells = [sheet.lines.item(row, column) for column in range(1, sheet.lines.columnCount() - 1)]
    return ["" if cell is None else cell.text() for cell in cells]


def test_a_file_with_semicolons_in_latin_letters_is_recognised_and_said_so(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    text = "Region;Art;Personen;Anteil\nS\u00fcd;m;12;20,0\nS\u00fcd;w;3;5,0\nOst;m;4;6,6\nOst;w;1;1,7\n"
    path.write_text(text, encoding="latin-1")
    window.files.ask_reading(str(path))
    sheet = settled_sheet(window, qtbot)
    said = sheet.form.written.text()
    assert "semicolon between columns" in said and "Windows 1252" in said
    assert shown_fields(sheet, 1) == ["S\u00fcd", "m", "12", "20,0"]
    # What becomes of what, in one sentence, and above each column.
    assert sheet.finding.text() == (
        "The column \u201cPersonen\u201d says how many there are, by Region and Art."
    )
    roles = [pick.currentText() for pick in sheet.roles.picks.values()]
    assert roles == ["variable", "variable", "the count", "leave out"]
    assert sheet.open_button.isEnabled()


def test_the_question_is_which_column_counts_and_has_its_answers(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "Ort;Jahr;X;Y\n" + "".join(f"{o};{j};{j - 2010};{j % 3 + 1}\n" for o in "ab" for j in (2015, 2016))
    )
    window.files.ask_reading(str(path))
    sheet = settled_sheet(window, qtbot)
    assert "semicolon between columns" in sheet.form.written.text()
    # Nothing else is taken in its place: no answer is likelier than the others.
    assert sheet.given == {} and sheet.errors.isHidden()
    assert sheet.sums.text() == "Which column says how many?"
    words = [button.text() for button in sheet.choices.buttons]
    assert words[:3] == ["Jahr is the count", "X is the count", "Y is the count"]
    assert words[3:] == ["Several columns are counts", "Each row is a person or firm"]
    sheet.choices.buttons[1].click()
    assert sheet.given == {"count": "X"}
    sheet.roles.chosen.emit({"Y": "drop"})
    qtbot.waitUntil(lambda: sheet.open_button.isEnabled())
    assert sheet.roles.picks["X"].currentText() == "the count"
    assert sheet.finding.text().startswith("The column \u201cX\u201d says how many there are, by Ort")


def test_columns_are_seen_even_where_a_row_is_broken(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Ort;Art;Personen\na;m;12;x\na;w\nb;m;44\n")
    window.files.ask_reading(str(path))
    sheet = settled_sheet(window, qtbot)
    assert shown_fields(sheet, 0) == ["Ort", "Art", "Personen", ""]
    assert shown_fields(sheet, 1) == ["a", "m", "12", "x"]
    assert "4 fields" in sheet.errors.text and not sheet.open_button.isEnabled()
    sheet.errors.place_clicked.emit(sheet.errors.error)
    assert sheet.lines.currentRow() == 1


def test_what_a_file_has_nothing_of_is_folded(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("v,w,count\na,x,1\nb,x,2\n")
    window.files.ask_reading(str(path))
    sheet = settled_sheet(window, qtbot)
    totals, marks = sheet.inputs["totals"], sheet.inputs["marks"]
    assert not totals.isVisible() and not marks.isVisible()
    sheet.form.change.click()
    assert totals.isVisible() and marks.isVisible()
    qtbot.waitUntil(sheet.inputs["delimiter"].isVisible)
    sheet.form.change.click()
    assert not totals.isVisible()


def test_all_columns_are_seen_at_200_per_cent(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    rows = [f"a region of a long name {r},group {r},single or not,{r + 3},{r}.5" for r in range(4)]
    path.write_text("\n".join(["region,age group,marital status,persons,percent", *rows]) + "\n")
    window.resize(960, 540)
    window.files.ask_reading(str(path))
    sheet = settled_sheet(window, qtbot)
    qtbot.waitUntil(lambda: sheet.lines.rowCount() == 5)
    assert sheet.lines.horizontalScrollBar().maximum() == 0
    sheet.reject()


def test_what_of_a_file_was_not_read_is_said_beside_the_table(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "shares.csv"
    path.write_text("region,sex,count,percent\nn,f,5,20.8\nn,m,7,29.2\ns,f,3,12.5\ns,m,9,37.5\n")
    window.files.open(str(path))
    qtbot.waitUntil(lambda: window.document.project is not None and window.page.name == "table")
    said = counts(window)._legend.text()
    assert "Not read, as it holds percentages: percent" in said


def test_what_a_file_says_beside_its_counts_is_shown(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "house"))
    path = tmp_path / "t.px"
    path.write_text(
        'CHARSET="ANSI";\nAXIS-VERSION="2013";\nCODEPAGE="utf-8";\nLANGUAGE="en";\nLANGUAGES="en","sv";\n'
        'STUB="sex";\nHEADING="region";\nVALUES("sex")="men","women","both";\nVALUES[sv]("sex")="a","b","c";\n'
        'VALUES("region")="North","South";\nELIMINATION("sex")="both";\nAGGREGALLOWED=NO;\n'
        "DATA=\n5 6\n7 8\n12 14;\n"
    )
    window.files.ask_reading(str(path))
    sheet = sheet_of(window, qtbot)
    qtbot.waitUntil(lambda: sheet.open_button.isEnabled())
    told = sheet.told.text()
    assert "Names and texts in sv were left out" in told and "--" not in told
    assert "AGGREGALLOWED" in told and "2 totals (sex = 'both') were checked and left out" in told
    assert sheet.sums.text().startswith("2 sex x 2 region: 4 cells, sum 26")


@pytest.mark.parametrize(
    ("name", "text", "answer", "total"),
    [
        ("t.csv", "sex,region,count (thousands)\nm,N,5\nm,S,6\nf,N,7\nf,S,8\n", 0, 26_000),
        ("t.csv", "sex,region,count (thousands)\nm,N,5\nm,S,6\nf,N,7\nf,S,8\n", 1, 26),
    ],
)
def test_what_is_refused_is_a_question_with_answers(
    window: MainWindow,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    text: str,
    answer: int,
    total: int,
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "house"))
    path = tmp_path / name
    path.write_text(text)
    window.files.ask_reading(str(path))
    sheet = sheet_of(window, qtbot)
    qtbot.waitUntil(lambda: bool(sheet.choices.buttons))
    assert not sheet.errors.isVisibleTo(sheet)
    sheet.choices.buttons[answer].click()
    qtbot.waitUntil(lambda: not sheet._rest.isActive() and sheet.open_button.isEnabled())
    assert sheet.seen is not None and sheet.seen.table is not None and sheet.seen.table.total == total


def test_a_sign_that_the_totals_told_is_no_open_question(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "house"))
    path = tmp_path / "signs.csv"
    lines = ["a,b,count", "x,p,5", "x,q,:", "x,Total,9", "y,p,..", "y,q,7", "y,Total,9"]
    path.write_text("\n".join([*lines, "Total,p,7", "Total,q,11", "Total,Total,18"]) + "\n")
    window.files.ask_reading(str(path), marks=":=suppressed", strip_totals=True)
    sheet = sheet_of(window, qtbot)
    qtbot.waitUntil(lambda: sheet.open_button.isEnabled())
    marks = sheet.inputs["marks"]
    assert isinstance(marks, MarkChoices) and marks.text() == ":=suppressed ..=suppressed"
    assert sheet.sums.text().endswith("equal to the file's own totals") and not sheet.tick.isHidden()
    assert "2 hidden cells were worked out from the totals, as (x, q) = 4" in sheet.told.text()
    sheet.reject()
