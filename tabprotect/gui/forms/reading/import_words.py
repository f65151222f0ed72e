"""What the options of reading a file are called on the import sheet, and how they are shown."""

from __future__ import annotations

from tabprotect.engine.formats.file_preview import Role
from tabprotect.languages.messages import message

FOUND_OUT = message("Found out from the file")

OPEN = {"missing": message("not said"), "tolerance": "0"}
"""What stands in an input that says nothing, where nothing is found out."""

ALSO_FOUND = {"utf-8-sig": "UTF-8", "tab": message("tab")}
"""What may be recognised and is not offered, in words."""

LISTED, NAMED = frozenset({"drop", "variable"}), frozenset({"label", "where"})
"""Options of several columns, written ``A; B`` and ``A = B; C = D``."""

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

GROUPS = (
    (message("One row is"), ("holds",)),
    (message("Workbook"), ("sheet", "range", "hidden")),
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
