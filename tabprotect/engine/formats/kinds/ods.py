"""OpenDocument spreadsheets: the first sheet that is not empty, in long form or as a grid.

As LibreOffice saves them. Numbers are taken as they are stored, not as they are shown. Written in
long form, and on a second sheet laid out with totals, title and notes; suppressed counts are `..`, with C
(else F) in a column `CONF_STATUS`.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tabprotect.engine.arrays import Bools
from tabprotect.engine.formats.format import RowFormat
from tabprotect.engine.formats.reading_options import LAID_OUT, Reading
from tabprotect.engine.formats.text.markup import escape, quoteattr
from tabprotect.engine.formats.text.rows import RowSource
from tabprotect.engine.formats.workbooks.sheet_writing import Margins, Sheet, SheetCell, sheets_of
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MIME = "application/vnd.oasis.opendocument.spreadsheet"
_WHEN = (2000, 1, 1, 0, 0, 0)
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{uri}:1.0"'
    for name, uri in (
        ("office", "office"), ("table", "table"), ("text", "text"), ("style", "style"),
        ("fo", "xsl-fo-compatible"),
    )
)  # fmt: skip
_STYLES = "".join(
    f'<style:style style:name="{name}" style:family="table-cell"><style:text-properties {look}/>'
    "</style:style>"
    for name, look in (
        ("head", 'fo:font-weight="bold"'),
        ("title", 'fo:font-weight="bold" fo:font-size="13pt"'),
        ("note", 'fo:font-style="italic"'),
    )
)
_MANIFEST = (
    f'{_HEAD}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" '
    f'manifest:version="1.3"><manifest:file-entry manifest:full-path="/" manifest:media-type="{MIME}"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
    "</manifest:manifest>\n"
)


def ods_bytes(sheets: Mapping[str, Sheet]) -> bytes:
    """The spreadsheet."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        # First and uncompressed, so that the kind of file shows from its first bytes.
        book.writestr(zipfile.ZipInfo("mimetype", _WHEN), MIME)
        for name, text in (("content.xml", _content(sheets)), ("META-INF/manifest.xml", _MANIFEST)):
            part = zipfile.ZipInfo(name, _WHEN)
            part.compress_type = zipfile.ZIP_DEFLATED
            book.writestr(part, text)
    return out.getvalue()


def _content(sheets: Mapping[str, Sheet]) -> str:
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>{''.join(_rows(sheet))}</table:table>"
        for name, sheet in sheets.items()
    )
    return (
        f'{_HEAD}<office:document-content {_NAMES} office:version="1.3">'
        f"<office:automatic-styles>{_STYLES}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>\n"
    )


def _rows(sheet: Sheet) -> Iterator[str]:
    for cells in sheet.rows(_cell):
        yield f"<table:table-row>{cells or '<table:table-cell/>'}</table:table-row>"


def _cell(cell: SheetCell, _: int) -> str:
    style = f' table:style-name="{cell.style}"' if cell.style else ""
    if isinstance(cell.value, int):
        return (
            f'<table:table-cell{style} office:value-type="float" office:value="{cell.value}">'
            f"<text:p>{cell.value}</text:p></table:table-cell>"
        )
    if not cell.value:
        return f"<table:table-cell{style}/>"
    # Blanks that XML would collapse are separate elements.
    text = re.sub(r"(?<= ) |^ | $", '<text:s text:c="1"/>', escape(cell.value))
    return f'<table:table-cell{style} office:value-type="string"><text:p>{text}</text:p></table:table-cell>'


_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff\ud800-\udfff]")


class Ods(RowFormat):
    label = message("OpenDocument spreadsheet")
    suffixes = (".ods",)
    media = "application/vnd.oasis.opendocument.spreadsheet"
    begins = re.compile(rb"(?s).{0,74}mimetypeapplication/vnd.oasis.opendocument.spreadsheet")
    options = frozenset({"count", "decimal", "sheet", "range", "holds", *LAID_OUT})
    limits = (
        message("Whole numbers are exact below 2^53; larger ones are refused, and written as text."),
        message("Texts with tabs, line ends or other control characters are not written."),
        message("A sheet has at most 1,048,576 rows."),
    )

    def rows(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[RowSource, list[str]]:
        # Late: every format is asked whether a file is its own.
        from tabprotect.engine.formats.workbooks.sheets import read_sheet

        return read_sheet(path, sheet=reading.sheet, cells=reading.range, progress=progress)

    def publish(self, table: Table, hidden: Bools | None, title: str) -> bytes:
        return ods_bytes(sheets_of(table, hidden, title, _UNWRITABLE))

    def publish_among(self, table: Table, hidden: Bools | None, title: str, margins: Margins) -> bytes:
        return ods_bytes(sheets_of(table, hidden, title, _UNWRITABLE, margins=margins))

    def publish_cube(self, cube: Cube, title: str) -> bytes:
        return ods_bytes(sheets_of(cube.table, cube.hidden, title, _UNWRITABLE, margins=None))


PLUGIN = Ods()
