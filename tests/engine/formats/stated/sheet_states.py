"""Workbooks by openpyxl and odfpy, and text as pandas and offices write it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import openpyxl
import pandas as pd
from odf.office import Annotation
from odf.opendocument import OpenDocumentSpreadsheet
from odf.style import Style, TableProperties
from odf.table import CoveredTableCell, Table, TableCell, TableColumn, TableRow
from odf.text import P
from openpyxl.comments import Comment
from openpyxl.worksheet.worksheet import Worksheet
from stated import Said, opened, put, states

Rows = Sequence[Sequence[object]]
HEAD = ["sex", "region", "count"]
ROWS = [HEAD, ["m", "North", 5], ["m", "South", 6], ["f", "North", 7], ["f", "South", 8]]
CELLS = {("m", "North"): 5, ("m", "South"): 6, ("f", "North"): 7, ("f", "South"): 8}
MERGED = [HEAD, [("m",), "North", 5], [None, "South", 6], [("f",), "North", 7], [None, "South", 8]]
TOTALS = [*ROWS, ["Total", "North", 12], ["Total", "South", 14]]
DATED = [["day", "sex", "count"], *([date(2024, m, 1), s, m] for m in (1, 2) for s in "mf")]
DAYS = {(f"2024-0{m}-01", s): m for m in (1, 2) for s in "mf"}
TITLED = [["Persons by region (thousands)"], [], *ROWS]
NOTED = [*ROWS, [], ["Source: the office, provisional figures."]]
SHARES = [
    HEAD,
    ["m", "North", "5 (19%)"],
    ["m", "South", "6 (23%)"],
    ["f", "North", "7 (27%)"],
    ["f", "South", "8 (31%)"],
]
HIDDEN_COUNT = [*ROWS[:4], ["f", "South", ".."]]
STATUS = [[*HEAD, "CONF_STATUS"], *([*row, "F"] for row in ROWS[1:4]), ["f", "South", None, "C"]]
FLAGS = [["sex", "region", "n", "flag"], *([*row, "p"] for row in ROWS[1:])]
NAMED = [
    ["code", "name", "sex", "count"],
    *([code, name, sex, n] for n, (code, name, sex) in enumerate(
        ((c, t, s) for c, t in (("1", "North"), ("2", "South"), ("3", "West")) for s in "mf"), 1
    )),
]  # fmt: skip
LABELLED = {(c, s): 2 * k + n + 1 for k, c in enumerate("123") for n, s in enumerate("mf")}


def xlsx(
    folder: Path, rows: Rows, change: Callable[[Worksheet], object] = lambda sheet: None, first: str = ""
) -> Path:
    made = openpyxl.Workbook()
    sheet = made.active
    if first:
        sheet.title, sheet.sheet_state = "Secret", first
        sheet.append(["secret", "n"])
        sheet.append(["x", 99])
        sheet = made.create_sheet("Data")
        made.active = 1
    for at, row in enumerate(rows, 1):
        sheet.append([field[0] if isinstance(field, tuple) else field for field in row])
        for n, field in enumerate(row, 1):
            if isinstance(field, tuple):
                sheet.merge_cells(start_row=at, end_row=at + 1, start_column=n, end_column=n)
    change(sheet)
    made.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def ods(
    folder: Path, rows: Rows, *, first: bool = False, row: int = -1, column: int = -1, remark: bool = False
) -> Path:
    made = OpenDocumentSpreadsheet()
    style = Style(name="gone", family="table")
    style.addElement(TableProperties(display="false"))
    made.automaticstyles.addElement(style)
    sheets = [("Secret", [["secret", "n"], ["x", 99]], {"stylename": style})] if first else []
    for name, of, look in (*sheets, ("Data", rows, {})):
        sheet = Table(name=name, **look)
        for n in range(max(map(len, of))):
            sheet.addElement(TableColumn(**({"visibility": "collapse"} if n == column else {})))
        for at, fields in enumerate(of):
            line = TableRow(**({"visibility": "filter"} if at == row else {}))
            for field in fields:
                line.addElement(cell(field, remark=remark and field == 5))
            sheet.addElement(line)
        made.spreadsheet.addElement(sheet)
    made.save(folder / "t.ods")
    return folder / "t.ods"


def cell(field: object, *, remark: bool) -> object:
    if field is None:
        return CoveredTableCell()
    if isinstance(field, date):
        made = TableCell(valuetype="date", datevalue=field.isoformat())
    elif isinstance(field, int):
        made = TableCell(valuetype="float", value=field)
    elif isinstance(field, tuple):
        (field,), made = field, TableCell(valuetype="string", numberrowsspanned=2, numbercolumnsspanned=1)
    elif str(field).startswith("#"):
        made = TableCell(valuetype="string", stringvalue="", formula="of:=1/0")
    else:
        made = TableCell(valuetype="string")
    if remark:
        note = Annotation()
        note.addElement(P(text="estimated"))
        made.addElement(note)
    made.addElement(P(text=str(field)))
    return made


def csv(folder: Path, rows: Rows) -> Path:
    frame = pd.DataFrame(
        [[f[0] if isinstance(f, tuple) else f for f in row] for row in rows[1:]], columns=rows[0]
    )
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def fail(sheet: Worksheet) -> None:
    sheet["C5"].value, sheet["C5"].data_type = "#DIV/0!", "e"


def hide_row(sheet: Worksheet) -> None:
    sheet.row_dimensions[3].hidden = True


def hide_column(sheet: Worksheet) -> None:
    sheet.column_dimensions["B"].hidden = True


def remark(sheet: Worksheet) -> None:
    sheet["C2"].comment = Comment("estimated", "office")


def shown_in_thousands(sheet: Worksheet) -> None:
    for at in range(2, 6):
        sheet[f"C{at}"].number_format = '#,##0.0,"k"'


WORKBOOKS = {"xlsx": xlsx, "ods": ods}
for _form, _made in WORKBOOKS.items():
    states(_form, "a column named `count`")(lambda folder, m=_made: opened(m(folder, ROWS), CELLS))
    states(_form, "a row `Total`")(lambda folder, m=_made: opened(m(folder, TOTALS)))
    states(_form, "a title `... (thousands)`")(lambda folder, m=_made: opened(m(folder, TITLED)))
    states(_form, "a title `Percentage of ...`")(
        lambda folder, m=_made: opened(m(folder, [["Percentage of persons"], *TITLED[1:]]))
    )
    states(_form, "a line `Figures are in thousands` below")(
        lambda folder, m=_made: opened(m(folder, [*ROWS, [], ["Figures are in thousands."]]))
    )
    states(_form, "`<5` in place of a count")(
        lambda folder, m=_made: opened(m(folder, [["", "a", "b"], ["x", "<5", 5], ["y", 2, 12]]))
    )
    states(_form, "`..` in place of a count")(lambda folder, m=_made: opened(m(folder, HIDDEN_COUNT)))
    states(_form, "`C` in a column `CONF_STATUS`")(
        lambda folder, m=_made: opened(m(folder, [[f or "" for f in r] for r in STATUS]))
    )
    states(_form, "a column `flag` behind the counts")(
        lambda folder, m=_made: opened(m(folder, FLAGS), CELLS)
    )
    states(_form, "lines below the table")(lambda folder, m=_made: opened(m(folder, NOTED), CELLS))
    states(_form, "the order of rows")(lambda folder, m=_made: opened(m(folder, ROWS), CELLS))
    states(_form, "a column of names beside codes")(
        lambda folder, m=_made: opened(m(folder, NAMED), LABELLED)
    )
    states(_form, "cells of dates")(lambda folder, m=_made: opened(m(folder, DATED), DAYS))
    states(_form, "labels merged over rows")(lambda folder, m=_made: opened(m(folder, MERGED), CELLS))
    states(_form, "`5 (19%)` in a cell")(lambda folder, m=_made: opened(m(folder, SHARES)))

states("xlsx", "a number format that shows thousands")(
    lambda folder: opened(xlsx(folder, ROWS, shown_in_thousands), CELLS)
)
states("xlsx", "comments on cells")(lambda folder: opened(xlsx(folder, ROWS, remark), CELLS))
states("xlsx", "a failed formula, `#DIV/0!`")(lambda folder: opened(xlsx(folder, ROWS, fail)))
states("xlsx", "hidden rows")(lambda folder: opened(xlsx(folder, ROWS, hide_row)))
states("xlsx", "hidden columns")(lambda folder: opened(xlsx(folder, ROWS, hide_column)))
states("xlsx", "a hidden sheet before the others")(
    lambda folder: opened(xlsx(folder, ROWS, first="hidden"), CELLS)
)
states("xlsx", "a very hidden sheet before the others")(
    lambda folder: opened(xlsx(folder, ROWS, first="veryHidden"), CELLS)
)
states("ods", "comments on cells")(lambda folder: opened(ods(folder, ROWS, remark=True), CELLS))
states("ods", "a failed formula, `#DIV/0!`")(
    lambda folder: opened(ods(folder, [*ROWS[:4], ["f", "South", "#DIV/0!"]]))
)
states("ods", "hidden rows")(lambda folder: opened(ods(folder, ROWS, row=2)))
states("ods", "hidden columns")(lambda folder: opened(ods(folder, ROWS, column=1)))
states("ods", "a hidden sheet before the others")(lambda folder: opened(ods(folder, ROWS, first=True), CELLS))

states("csv", "a column named `count`")(lambda folder: opened(csv(folder, ROWS), CELLS))
states("csv", "a row `Total`")(lambda folder: opened(csv(folder, TOTALS)))
states("csv", "a column `count (thousands)`")(
    lambda folder: opened(csv(folder, [["sex", "region", "count (thousands)"], *ROWS[1:]]))
)
states("csv", "a column `share (%)`")(
    lambda folder: opened(csv(folder, [["sex", "region", "share (%)"], *ROWS[1:]]))
)
states("csv", "`<5` in place of a count")(
    lambda folder: opened(csv(folder, [*ROWS[:4], ["f", "South", "<5"]]))
)
states("csv", "`1-9` in place of a count")(
    lambda folder: opened(
        csv(folder, [["age", "M", "F"], ["0-9", "1-9", 4], ["10-19", 12, 13], ["20-29", 1, 2]])
    )
)
states("csv", "5.5 and `--scale 10`")(
    lambda folder: opened(
        csv(folder, [HEAD, ["m", "North", 5.5], ["f", "North", 7.0]]),
        {("m", "North"): 55, ("f", "North"): 70},
        scale=10,
    )
)
states("csv", "5.5")(lambda folder: opened(csv(folder, [HEAD, ["m", "North", 5.5], ["f", "North", 7]])))
states("csv", "`5.0`")(
    lambda folder: opened(csv(folder, [HEAD, *([*row[:2], float(str(row[2]))] for row in ROWS[1:])]), CELLS)
)
states("csv", "`C` in a column `CONF_STATUS`")(lambda folder: opened(csv(folder, STATUS)))
states("csv", "a column `flag` behind the counts")(lambda folder: opened(csv(folder, FLAGS), CELLS))
states("csv", "lines below the table")(
    lambda folder: opened(
        put(folder, "t.csv", csv(folder, ROWS).read_text() + "\nSource: the office, provisional figures.\n"),
        CELLS,
    )
)
states("csv", "the order of rows")(lambda folder: opened(csv(folder, ROWS), CELLS))
states("csv", "a column of names beside codes")(lambda folder: opened(csv(folder, NAMED), LABELLED))
states("csv", "`2024-01-01`")(lambda folder: opened(csv(folder, DATED), DAYS))
states("csv", "labels written once, blank below")(lambda folder: opened(csv(folder, MERGED), CELLS))
states("csv", "a blank label that may be a category")(
    lambda folder: opened(csv(folder, [*ROWS, [None, "North", 9]]))
)
states("csv", "`5 (19%)` in a cell")(lambda folder: opened(csv(folder, SHARES)))


@states("csv", "a column of weights beside the counts")
def weights(folder: Path) -> Said:
    return opened(
        csv(
            folder,
            [
                ["sex", "region", "weight", "count"],
                *([*r[:2], f"{k}.5", r[2]] for k, r in enumerate(ROWS[1:])),
            ],
        )
    )
