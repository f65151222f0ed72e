"""Sheets as an OpenDocument spreadsheet (ODF 1.3), the same bytes for the same sheets."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from tabprotect.engine.formats.workbooks.sheet_writing import SheetCell, SheetData

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


def ods_bytes(sheets: Mapping[str, SheetData]) -> bytes:
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


def _content(sheets: Mapping[str, SheetData]) -> str:
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>{''.join(_rows(rows))}</table:table>"
        for name, rows in sheets.items()
    )
    return (
        f'{_HEAD}<office:document-content {_NAMES} office:version="1.3">'
        f"<office:automatic-styles>{_STYLES}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>\n"
    )


def _rows(rows: SheetData) -> Iterator[str]:
    for row in rows:
        cells = "".join(map(_cell, row)) or "<table:table-cell/>"
        yield f"<table:table-row>{cells}</table:table-row>"


def _cell(cell: SheetCell) -> str:
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
    return (
        f'<table:table-cell{style} office:value-type="string"><text:p>{text}</text:p>'
        "</table:table-cell>"
    )
