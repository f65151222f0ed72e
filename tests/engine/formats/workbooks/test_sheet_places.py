"""Hidden and merged places and failed formulas, in workbooks by openpyxl and odfpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import openpyxl
import pytest
from odf.opendocument import OpenDocumentSpreadsheet
from odf.style import Style, TableProperties
from odf.table import CoveredTableCell, Table, TableCell, TableRow
from odf.text import P
from openpyxl.worksheet.worksheet import Worksheet

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.tables.table import Table as Counts

ROWS = [
    ["region", "sex", "count"],
    ["North", "m", 5],
    ["North", "f", 6],
    ["South", "m", 7],
    ["South", "f", 8],
]


def book(path: Path, rows: Sequence[Sequence[object]], change: Callable[[Worksheet], object]) -> Path:
    made = openpyxl.Workbook()
    sheet = made.active
    for row in rows:
        sheet.append(list(row))
    change(sheet)
    made.save(path)
    return path


def read(path: Path, **options: object) -> Counts:
    return read_table(path, Reading.of(options)).table


def test_merged_labels_of_a_list_stand_in_each_of_their_rows(tmp_path: Path) -> None:
    def merged(sheet: Worksheet) -> None:
        sheet.merge_cells("A2:A3")
        sheet.merge_cells("A4:A5")

    rows = [ROWS[0], ["North", "m", 5], [None, "f", 6], ["South", "u", 7], [None, "x", 8]]
    table = read(book(tmp_path / "t.xlsx", rows, merged))
    assert table.domain["region"].categories == ("North", "South")
    assert table.counts.tolist() == [[5, 6, 0, 0], [0, 0, 7, 8]]


def test_a_merged_label_stands_beside_counts_with_their_shares(tmp_path: Path) -> None:
    rows = [ROWS[0], ["North", "m", 5], [None, "f", 6], ["South", "m", 7], [None, "f", "3 (1.7%)"]]

    def merged(sheet: Worksheet) -> None:
        sheet.merge_cells("A2:A3")
        sheet.merge_cells("A4:A5")

    path = book(tmp_path / "t.xlsx", rows, merged)
    assert read(path, cells="n (%)").counts.tolist() == [[5, 6], [7, 3]]


def test_a_merged_count_is_nobodys(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ROWS, lambda sheet: sheet.merge_cells("C2:C3"))
    with pytest.raises(InputError, match="the count is empty") as caught:
        read(path)
    assert caught.value.line == 3


def test_a_head_merged_over_rows_stays_one_head(tmp_path: Path) -> None:
    rows = [
        ["region", "2023", None, "2024", None],
        [None, "m", "f", "m", "f"],
        ["North", 1, 2, 3, 4],
        ["South", 5, 6, 7, 8],
    ]

    def merged(sheet: Worksheet) -> None:
        for cells in ("A1:A2", "B1:C1", "D1:E1"):
            sheet.merge_cells(cells)

    table = read(book(tmp_path / "t.xlsx", rows, merged))
    assert table.domain.names[0] == "region" and table.domain.shape == (2, 2, 2)
    assert table.counts.tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_read_only_if_named(tmp_path: Path, state: str) -> None:
    made = openpyxl.Workbook()
    made.active.title = "Secret"
    made.active.append(["secret", "n"])
    made.active.append(["x", 99])
    made.active.sheet_state = state
    data = made.create_sheet("Data")
    for row in (["month", "sex", "count"], *([date(2024, m, 1), s, m] for m in (1, 2) for s in "mf")):
        data.append(row)
    made.active = 1
    made.save(tmp_path / "t.xlsx")
    found = read_table(tmp_path / "t.xlsx")
    assert found.table.counts.tolist() == [[1, 1], [2, 2]]
    assert found.notes == ("hidden sheets are not read unless named: Secret",)
    named = read_table(tmp_path / "t.xlsx", Reading(sheet="Secret"))
    assert named.table.counts.tolist() == [99] and "the sheet 'Secret' is hidden" in named.notes
    data.delete_rows(1, 9)
    made.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="no data") as caught:
        read(tmp_path / "t.xlsx")
    assert "Secret" in caught.value.hint and "--sheet" in caught.value.hint


def hide_row(sheet: Worksheet) -> None:
    sheet.row_dimensions[4].hidden = True


def hide_column(sheet: Worksheet) -> None:
    sheet.column_dimensions["B"].hidden = True


def test_hidden_rows_and_columns_are_asked_about(tmp_path: Path) -> None:
    rows = book(tmp_path / "rows.xlsx", ROWS, hide_row)
    with pytest.raises(InputError, match="hides rows 4, which hold data") as caught:
        read(rows)
    assert "--hidden read" in caught.value.hint
    assert read(rows, hidden="read").counts.tolist() == [[5, 6], [7, 8]]
    assert read(rows, hidden="leave-out", missing="zero").counts.tolist() == [[5, 6], [0, 8]]
    assert read(rows, range="A1:C3").counts.tolist() == [[5, 6]]
    columns = book(
        tmp_path / "columns.xlsx", [["region", "note", "count"], ["a", "u", 1], ["b", "v", 2]], hide_column
    )
    with pytest.raises(InputError, match="hides columns B"):
        read(columns)
    assert read(columns, hidden="leave-out").counts.tolist() == [1, 2]


def test_hidden_places_without_data_hide_nothing(tmp_path: Path) -> None:
    def aside(sheet: Worksheet) -> None:
        sheet.row_dimensions[9].hidden = True
        sheet.column_dimensions["F"].hidden = True

    assert read(book(tmp_path / "t.xlsx", ROWS, aside)).counts.tolist() == [[5, 6], [7, 8]]


@pytest.mark.parametrize("shown", ["#DIV/0!", "#N/A", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"])
def test_failed_formulas_are_named(tmp_path: Path, shown: str) -> None:
    def fail(sheet: Worksheet) -> None:
        sheet["C3"].value, sheet["C3"].data_type = shown, "e"

    path = book(tmp_path / "t.xlsx", ROWS, fail)
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.message == f"a formula failed: {shown}" and caught.value.line == 3
    marks = caught.value.hint.partition('--marks "')[2].rstrip('"')
    assert read(path, marks=marks, missing="zero").counts.tolist() == [[5, 0], [7, 8]]


def test_a_formula_that_nobody_worked_out_is_no_empty_cell(tmp_path: Path) -> None:
    def formula(sheet: Worksheet) -> None:
        sheet["C3"] = "=SUM(C2,1)"

    with pytest.raises(InputError, match="a formula without its result"):
        read(book(tmp_path / "t.xlsx", ROWS, formula), missing="zero")


def of_odf(path: Path, shown: str, *, row: str | None = None) -> Path:
    """A hidden sheet, then one with merged labels, a failed formula and perhaps a hidden row."""
    made = OpenDocumentSpreadsheet()
    style = Style(name="gone", family="table")
    style.addElement(TableProperties(display="false"))
    made.automaticstyles.addElement(style)
    for name, rows, look in (
        ("Secret", [["secret", "n"], ["x", 99]], {"stylename": style}),
        (
            "Data",
            [ROWS[0], [("North",), "m", 5], [None, "f", 6], [("South",), "m", 7], [None, "f", shown or 8]],
            {},
        ),
    ):
        sheet = Table(name=name, **look)
        for number, fields in enumerate(rows):
            line = TableRow(**({"visibility": row} if row and number == 3 else {}))
            for field in fields:
                line.addElement(cell(field))
            sheet.addElement(line)
        made.spreadsheet.addElement(sheet)
    made.save(path)
    return path


def cell(field: object) -> TableCell | CoveredTableCell:
    if field is None:
        return CoveredTableCell()
    if isinstance(field, int):
        made = TableCell(valuetype="float", value=field)
    elif isinstance(field, tuple):
        (field,), made = field, TableCell(valuetype="string", numberrowsspanned=2, numbercolumnsspanned=1)
    elif str(field).startswith("#"):
        made = TableCell(valuetype="string", stringvalue="", formula="of:=1/0")
    else:
        made = TableCell(valuetype="string")
    made.addElement(P(text=str(field)))
    return made


def test_open_document_sheets_say_the_same(tmp_path: Path) -> None:
    found = read_table(of_odf(tmp_path / "t.ods", ""))
    assert found.table.counts.tolist() == [[5, 6], [7, 8]]
    assert found.notes == ("hidden sheets are not read unless named: Secret",)
    with pytest.raises(InputError, match="a formula failed: #DIV/0!"):
        read(of_odf(tmp_path / "f.ods", "#DIV/0!"))
    for how in ("collapse", "filter"):
        hidden = of_odf(tmp_path / f"{how}.ods", "", row=how)
        with pytest.raises(InputError, match="hides rows 4"):
            read(hidden)
        assert read(hidden, hidden="read").counts.tolist() == [[5, 6], [7, 8]]
