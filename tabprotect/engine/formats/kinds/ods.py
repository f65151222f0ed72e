"""OpenDocument spreadsheets: the first sheet that is shown and not empty, in long form or as a grid.

As LibreOffice saves them. Numbers are taken as they are stored, not as they are shown. A hidden
sheet is read if it is named; hidden rows and columns with data are asked about. A label merged over rows
stands in each; a failed formula is a mark such as `#DIV/0!`. Written as a
cross table with totals and title, notes that say what was changed, and a list of the cells, which is
read back; suppressed counts are `..`, with C (else F) in a column `CONF_STATUS`.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tabprotect.engine.formats.format import RowFormat
from tabprotect.engine.formats.reading_options import LAID_OUT, Reading
from tabprotect.engine.formats.text.markup import escape, quoteattr
from tabprotect.engine.formats.text.rows import RowSource
from tabprotect.engine.formats.workbooks.sheet_writing import (
    Sheet,
    SheetCell,
    Style,
    sheets_of,
    title_of_book,
)
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import Cube
from tabprotect.languages.messages import message

# XlsxWriter writes Office Open XML alone, and no library among ours writes OpenDocument: what follows is the
# few elements that the sheets take.
MIME = "application/vnd.oasis.opendocument.spreadsheet"
_WHEN = (2000, 1, 1, 0, 0, 0)
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{uri}:1.0"'
    for name, uri in (
        ("office", "office"), ("table", "table"), ("text", "text"), ("style", "style"),
        ("fo", "xsl-fo-compatible"), ("number", "datastyle"),
    )
)  # fmt: skip
_LOOKS: Mapping[Style, str] = {
    "text": '<style:table-cell-properties fo:wrap-option="wrap" style:vertical-align="top"/>',
    "head": '<style:table-cell-properties style:vertical-align="top"/>'
    '<style:text-properties fo:font-weight="bold"/>',
    "across": '<style:table-cell-properties fo:border-bottom="0.5pt solid #000000"/>'
    '<style:paragraph-properties fo:text-align="end"/><style:text-properties fo:font-weight="bold"/>',
    "title": '<style:text-properties fo:font-weight="bold" fo:font-size="13pt"/>',
    "note": '<style:text-properties fo:font-style="italic"/>',
    "number": "",
    "total": '<style:text-properties fo:font-weight="bold"/>',
    "whole": "",
    "whole_total": '<style:text-properties fo:font-weight="bold"/>',
    "hidden": '<style:paragraph-properties fo:text-align="end"/>',
}


def _pages(title: str) -> str:
    """Landscape pages as wide as the table, with the title and the number at their feet."""
    return (
        f'{_HEAD}<office:document-styles {_NAMES} office:version="1.3"><office:automatic-styles>'
        '<style:page-layout style:name="wide"><style:page-layout-properties fo:page-width="29.7cm" '
        'fo:page-height="21cm" style:print-orientation="landscape" style:scale-to-X="1" style:scale-to-Y="0"/>'
        '<style:footer-style><style:header-footer-properties fo:min-height="0.75cm"/></style:footer-style>'
        "</style:page-layout></office:automatic-styles><office:master-styles>"
        '<style:master-page style:name="Default" style:page-layout-name="wide"><style:footer>'
        f"<style:region-left><text:p>{escape(title[:150])}</text:p></style:region-left><style:region-right><text:p>"
        "<text:page-number>1</text:page-number> / <text:page-count>1</text:page-count></text:p>"
        "</style:region-right></style:footer></style:master-page></office:master-styles>"
        "</office:document-styles>\n"
    )


def _styles(decimals: int, widths: Sequence[int]) -> str:
    """Numbers with their thousands apart, texts, columns by width, and the pages."""
    number = "".join(
        f'<number:number-style style:name="apart{n}"><number:number number:decimal-places="{n}" '
        'number:min-integer-digits="1" number:grouping="true"/></number:number-style>'
        for n in sorted({0, decimals})
    )
    apart = {"number": decimals, "total": decimals, "whole": 0, "whole_total": 0}
    digits = {name: f' style:data-style-name="apart{n}"' for name, n in apart.items()}
    cells = "".join(
        f'<style:style style:name="{name}" style:family="table-cell"{digits.get(name, "")}>{look}</style:style>'
        for name, look in _LOOKS.items()
    )
    columns = "".join(
        f'<style:style style:name="w{width}" style:family="table-column">'
        f'<style:table-column-properties style:column-width="{width * 0.22:.2f}cm"/></style:style>'
        for width in sorted(set(widths))
    )
    pages = '<style:style style:name="pages" style:family="table" style:master-page-name="Default"/>'
    return number + cells + columns + pages


_MANIFEST = (
    f'{_HEAD}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" '
    f'manifest:version="1.3"><manifest:file-entry manifest:full-path="/" manifest:media-type="{MIME}"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
    '<manifest:file-entry manifest:full-path="styles.xml" manifest:media-type="text/xml"/>'
    "</manifest:manifest>\n"
)


def ods_bytes(sheets: Mapping[str, Sheet], title: str, decimals: int = 0) -> bytes:
    """The spreadsheet; ``decimals`` are those of its numbers, the title stands below each page."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        # First and uncompressed, so that the kind of file shows from its first bytes.
        book.writestr(zipfile.ZipInfo("mimetype", _WHEN), MIME)
        content = _content(sheets, decimals)
        for name, text in (
            *(("content.xml", content), ("styles.xml", _pages(title))),
            ("META-INF/manifest.xml", _MANIFEST),
        ):
            part = zipfile.ZipInfo(name, _WHEN)
            part.compress_type = zipfile.ZIP_DEFLATED
            book.writestr(part, text)
    return out.getvalue()


def _content(sheets: Mapping[str, Sheet], decimals: int) -> str:
    tables = "".join(
        f'<table:table table:name={quoteattr(name)} table:style-name="pages">'
        f"{_columns(sheet)}{''.join(_rows(sheet))}</table:table>"
        for name, sheet in sheets.items()
    )
    widths = [width for sheet in sheets.values() for width in sheet.widths]
    return (
        f'{_HEAD}<office:document-content {_NAMES} office:version="1.3">'
        f"<office:automatic-styles>{_styles(decimals, widths)}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>\n"
    )


def _columns(sheet: Sheet) -> str:
    """Widths, and which columns stand on every page."""
    made = [f'<table:table-column table:style-name="w{width}"/>' for width in sheet.widths]
    left = "".join(made[: sheet.labels])
    head = f"<table:table-header-columns>{left}</table:table-header-columns>" if left else ""
    return head + "".join(made[sheet.labels :])


def _rows(sheet: Sheet) -> Iterator[str]:
    """The rows; those that stand on every page in a group of their own."""
    for number, row in enumerate(sheet.rows):
        if number == sheet.repeated and sheet.heads:
            yield "<table:table-header-rows>"
        cells = "".join(map(_cell, row)) or "<table:table-cell/>"
        yield f"<table:table-row>{cells}</table:table-row>"
        if number == sheet.heads - 1:
            yield "</table:table-header-rows>"


def _cell(cell: SheetCell) -> str:
    style = f' table:style-name="{cell.style}"' if cell.style else ""
    if not isinstance(cell.value, str):
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
    options = frozenset({"count", "decimal", "sheet", "range", "hidden", "cells", "holds", *LAID_OUT})
    decimals = True
    book = True
    limits = (
        message("Whole numbers are exact below 2^53; larger ones are refused, and written as text."),
        message("Texts with tabs, line ends or other control characters are not written."),
        message("A sheet has at most 1,048,576 rows."),
    )

    def rows(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[RowSource, list[str]]:
        # Late: every format is asked whether a file is its own.
        from tabprotect.engine.formats.workbooks.sheets import read_sheet

        return read_sheet(path, reading, progress)

    def publish(self, cube: Cube) -> bytes:
        return self.publish_all([cube])

    def publish_all(self, cubes: Sequence[Cube]) -> bytes:
        return ods_bytes(sheets_of(cubes, _UNWRITABLE), title_of_book(cubes), cubes[-1].decimals)


PLUGIN = Ods()
