"""What the options of reading a file are called on the import sheet, and what they may say."""

from __future__ import annotations

from tabprotect.engine.formats.file_preview import Role
from tabprotect.languages.messages import message

FOUND_OUT = message("Found out from the file")

OPEN = {"missing": message("not said"), "tolerance": "0"}
"""What stands in an input that says nothing, where nothing is found out."""

LABELS = {
    "fill_missing": message("Cells that the file leaves out are 0"),
    "totals": message("Totals"),
    "tolerance": message("Accept small gaps up to"),
    "missing": message("Cells without a count are"),
    "drop": message("Columns left out"),
    "variable": message("Numbers that are a variable"),
    "label": message("Columns that name categories"),
    "where": message("Only the rows of"),
    "scale": message("Counts are multiplied by"),
    "metadata": message("File that describes this one"),
    "strict": message("Mend nothing"),
    "count": message("Column of the counts"),
    "labels": message("Names and labels"),
    "form": message("Long or grid"),
    "columns": message("Name of the columns' variable"),
    "sheet": message("Sheet"),
    "range": message("Range of cells"),
    "header_row": message("Header row"),
    "footer": message("Lines below the counts"),
    "comment": message("Lines of comment begin with"),
    "marks": message("Signs in place of counts"),
    "encoding": message("Encoding"),
    "delimiter": message("Separator of columns"),
    "decimal": message("Decimal sign"),
    "thousands": message("Thousands sign"),
    "holds": message("Table or records"),
}
"""What the options are called."""

VALUES = {
    "long": message("One line for each count"),
    "grid": message("Columns of counts"),
    "zero": message("Zero"),
    "structural": message("Nobody can be there"),
    "suppressed": message("Hidden, worked out from the totals"),
    "table": message("Counts of a table"),
    "records": message("One line for each record"),
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8",
    "latin-1": "Latin-1",
    "cp1252": "Windows 1252",
    "utf-16": "UTF-16",
    ";": message("semicolon"),
    ",": message("comma"),
    "|": message("bar"),
    "tab": message("tab"),
}
"""What an option may say, in words."""

USUAL = {
    "encoding": ("utf-8", "cp1252", "latin-1", "utf-16"),
    "totals": ("auto", "recompute", "keep", "none"),
    "decimal": (".", ","),
    "delimiter": (";", ",", "|"),
}
"""What is offered where the format has no list of its own."""

GROUPED = {
    ".": message("a point"),
    ",": message("a comma"),
    " ": message("a space"),
    "\u00a0": message("a space that does not break"),
    "\u2009": message("a thin space"),
    "\u202f": message("a thin space that does not break"),
    "'": message("an apostrophe"),
    "\u2019": message("a raised comma"),
}
"""Signs between thousands, by what they are called: most of them are hard to tell by sight."""

LISTED, NAMED = frozenset({"drop", "variable"}), frozenset({"label", "where"})
"""Options of several columns, written ``A; B`` and ``A = B; C = D``."""

FIXED = ("long|grid", "table|records", "zero|structural|suppressed")
"""Options with these choices and no other."""

FROM_FILE = frozenset({"count", "range", "columns"})
"""Options whose choices are in the file, perhaps only once its letters are known."""

SAID: dict[Role, str] = {
    "title": message("title"),
    "header": message("header"),
    "body": "",
    "total": message("total"),
    "note": message("note"),
    "remark": message("remark"),
    "": "",
}

HOLDS = (("table", message("a count")), ("records", message("a person or firm")))
TOTALS = (
    ("auto", message("Check them and take them out")),
    ("recompute", message("Recompute them: the file's are wrong")),
    ("keep", message("Keep the file's totals beside the table")),
    ("none", message("Nothing is a total")),
)

GROUPS = (
    (message("One row is"), ("holds",)),
    (message("Workbook"), ("sheet", "range")),
    (message("Totals in the file"), ("totals", "tolerance")),
    (message("Signs in place of a count"), ("marks", "missing", "fill_missing")),
)
"""What is in sight where the file has it; everything else is how it is written, and folded."""

SOMETIMES = frozenset({"totals", "marks"})
"""The first options of groups that are folded where the file has nothing of the kind."""

WRITTEN = {
    "delimiter": message("{value} between columns"),
    "encoding": "{value}",
    "thousands": message("{value} between thousands"),
    "decimal": message("{value} before decimals"),
    "header_row": message("names in row {value}"),
    "form": "{value}",
}
"""How the line about that says what was recognised."""
