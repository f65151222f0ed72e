"""What the options of reading a file are called on the import sheet, and what they may say."""

from __future__ import annotations

from tabprotect.engine.formats.file_preview import Role
from tabprotect.languages.said import say

FOUND_OUT = say("Found out from the file")

OPEN = {"missing": say("not said"), "tolerance": "0"}
"""What stands in an input that says nothing, where nothing is found out."""

LABELS = {
    "fill_missing": say("Cells that the file leaves out are 0"),
    "totals": say("Totals"),
    "tolerance": say("Accept small gaps up to"),
    "missing": say("Cells without a count are"),
    "drop": say("Columns left out"),
    "variable": say("Numbers that are a variable"),
    "label": say("Columns that name categories"),
    "where": say("Only the rows of"),
    "scale": say("Counts are multiplied by"),
    "metadata": say("File that describes this one"),
    "strict": say("Mend nothing"),
    "count": say("Column of the counts"),
    "labels": say("Names and labels"),
    "form": say("Long or grid"),
    "columns": say("Name of the columns' variable"),
    "sheet": say("Sheet"),
    "range": say("Range of cells"),
    "header_row": say("Header row"),
    "footer": say("Lines below the counts"),
    "comment": say("Lines of comment begin with"),
    "marks": say("Signs in place of counts"),
    "encoding": say("Encoding"),
    "delimiter": say("Separator of columns"),
    "decimal": say("Decimal sign"),
    "thousands": say("Thousands sign"),
    "holds": say("Table or records"),
}
"""What the options are called."""

VALUES = {
    "long": say("One line for each count"),
    "grid": say("Columns of counts"),
    "zero": say("Zero"),
    "structural": say("Nobody can be there"),
    "suppressed": say("Hidden, worked out from the totals"),
    "table": say("Counts of a table"),
    "records": say("One line for each record"),
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8",
    "latin-1": "Latin-1",
    "cp1252": "Windows 1252",
    "utf-16": "UTF-16",
    ";": say("semicolon"),
    ",": say("comma"),
    "|": say("bar"),
    "tab": say("tab"),
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
    ".": say("a point"),
    ",": say("a comma"),
    " ": say("a space"),
    "\u00a0": say("a space that does not break"),
    "\u2009": say("a thin space"),
    "\u202f": say("a thin space that does not break"),
    "'": say("an apostrophe"),
    "\u2019": say("a raised comma"),
}
"""Signs between thousands, by what they are called: most of them are hard to tell by sight."""

LISTED, NAMED = frozenset({"drop", "variable"}), frozenset({"label", "where"})
"""Options of several columns, written ``A; B`` and ``A = B; C = D``."""

FIXED = ("long|grid", "table|records", "zero|structural|suppressed")
"""Options with these choices and no other."""

FROM_FILE = frozenset({"count", "range", "columns"})
"""Options whose choices are in the file, perhaps only once its letters are known."""

SAID: dict[Role, str] = {
    "title": say("title"),
    "header": say("header"),
    "body": "",
    "total": say("total"),
    "note": say("note"),
    "remark": say("remark"),
    "": "",
}

HOLDS = (("table", say("a count")), ("records", say("a person or firm")))
TOTALS = (
    ("auto", say("Check them and take them out")),
    ("recompute", say("Recompute them: the file's are wrong")),
    ("keep", say("Keep the file's totals beside the table")),
    ("none", say("Nothing is a total")),
)

GROUPS = (
    (say("One row is"), ("holds",)),
    (say("Workbook"), ("sheet", "range")),
    (say("Totals in the file"), ("totals", "tolerance")),
    (say("Signs in place of a count"), ("marks", "missing", "fill_missing")),
)
"""What is in sight where the file has it; everything else is how it is written, and folded."""

SOMETIMES = frozenset({"totals", "marks"})
"""The first options of groups that are folded where the file has nothing of the kind."""

WRITTEN = {
    "delimiter": say("{value} between columns"),
    "encoding": "{value}",
    "thousands": say("{value} between thousands"),
    "decimal": say("{value} before decimals"),
    "header_row": say("names in row {value}"),
    "form": "{value}",
}
"""How the line about that says what was recognised."""
