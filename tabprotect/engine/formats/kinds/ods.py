"""OpenDocument spreadsheets: the first sheet that is not empty, in long form or as a grid.

As LibreOffice saves them. Numbers are taken as they are stored, not as they are shown. Written in
long form, and on a second sheet laid out with totals, title and notes; suppressed counts are `..`, with C
(else F) in a column `CONF_STATUS`.
"""

from __future__ import annotations

import re
from pathlib import Path

from tabprotect.engine.arrays import Bools
from tabprotect.engine.formats.format import RowFormat
from tabprotect.engine.formats.reading_options import LAID_OUT, Reading
from tabprotect.engine.formats.text.rows import RowSource
from tabprotect.engine.formats.workbooks.ods_writing import ods_bytes
from tabprotect.engine.formats.workbooks.sheet_writing import sheets_of
from tabprotect.engine.formats.workbooks.sheets import read_sheet
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.table import Table
from tabprotect.languages.said import say

_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff\ud800-\udfff]")


class Ods(RowFormat):
    label = say("OpenDocument spreadsheet")
    suffixes = (".ods",)
    media = "application/vnd.oasis.opendocument.spreadsheet"
    begins = re.compile(rb"(?s).{0,74}mimetypeapplication/vnd.oasis.opendocument.spreadsheet")
    options = frozenset({"count", "decimal", "sheet", "range", "holds", *LAID_OUT})
    limits = (
        say("Whole numbers are exact below 2^53; larger ones are refused, and written as text."),
        say("Texts with tabs, line ends or other control characters are not written."),
        say("A sheet has at most 1,048,576 rows."),
    )

    def rows(
        self, path: Path, reading: Reading, progress: Progress = SILENT
    ) -> tuple[RowSource, list[str]]:
        return read_sheet(path, sheet=reading.sheet, cells=reading.range)

    def publish(self, table: Table, hidden: Bools | None, title: str) -> bytes:
        return ods_bytes(sheets_of(table, hidden, title, _UNWRITABLE))


PLUGIN = Ods()
