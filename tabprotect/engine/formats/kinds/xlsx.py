"""Excel workbooks: the first sheet that is shown and not empty, in long form, as a grid or a bare matrix.

``.xlsx``, ``.xlsm``, ``.xlsb`` and the older ``.xls``. Numbers are taken as they are stored, not as
they are shown. A hidden sheet is read if it is named; hidden rows and columns with data are asked about. A
label merged over rows stands in each; a failed formula is a mark such as `#DIV/0!`. A workbook is read as a whole: keep very large tables as CSV or Parquet. Written as a
cross table with totals and title, notes that say what was changed, and a list of the cells, which is
read back; suppressed counts are `..`, with C (else F) in a column `CONF_STATUS`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tabprotect.engine.formats.format import RowFormat
from tabprotect.engine.formats.reading_options import LAID_OUT, Reading
from tabprotect.engine.formats.text.rows import RowSource
from tabprotect.engine.formats.workbooks.sheet_writing import sheets_of, title_of_book
from tabprotect.engine.formats.workbooks.xlsx_writing import xlsx_bytes
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import Cube
from tabprotect.languages.messages import message

_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")
"""Characters that spreadsheet programs escape or drop."""


class Xlsx(RowFormat):
    label = message("Excel workbook")
    suffixes = (".xlsx", ".xlsm", ".xlsb", ".xls")
    only_read = (".xlsm", ".xlsb", ".xls")
    media = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    begins = re.compile(rb"(?s)PK\x03\x04.*\[Content_Types\]\.xml|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    options = frozenset({"count", "decimal", "sheet", "range", "hidden", "cells", "holds", *LAID_OUT})
    decimals = True
    book = True
    limits = (
        message("Whole numbers are exact below 2^53; larger ones are refused, and written as text."),
        message("A sheet has at most 1,048,576 rows."),
    )

    def rows(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[RowSource, list[str]]:
        # Late: every format is asked whether a file is its own.
        from tabprotect.engine.formats.workbooks.sheets import read_sheet

        return read_sheet(path, reading, progress)

    def publish(self, cube: Cube) -> bytes:
        return self.publish_all([cube])

    def publish_all(self, cubes: Sequence[Cube]) -> bytes:
        return xlsx_bytes(sheets_of(cubes, _UNWRITABLE), title_of_book(cubes), cubes[-1].decimals)


PLUGIN = Xlsx()
