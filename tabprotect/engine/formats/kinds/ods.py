"""OpenDocument spreadsheets: the first sheet that is not empty, in long form or as a grid.

As LibreOffice saves them. Numbers are taken as they are stored, not as they are shown.
"""

from __future__ import annotations

from pathlib import Path

from tabprotect.engine.formats.format import RowFormat
from tabprotect.engine.formats.reading import LAID_OUT, Reading
from tabprotect.engine.formats.text.rows import RowSource
from tabprotect.engine.formats.workbooks.sheets import read_sheet
from tabprotect.engine.progress import SILENT, Progress


class Ods(RowFormat):
    label = "OpenDocument spreadsheet"
    suffixes = (".ods",)
    options = frozenset({"count", "decimal", "sheet", "range", "holds", *LAID_OUT})
    limits = ("Whole numbers are exact below 2^53; larger ones are refused.",)

    def sniff(self, head: bytes) -> bool:
        return b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet" in head[:128]

    def rows(
        self, path: Path, reading: Reading, progress: Progress = SILENT
    ) -> tuple[RowSource, list[str]]:
        return read_sheet(path, sheet=reading.sheet, cells=reading.range)


PLUGIN = Ods()
