"""Excel workbooks (ECMA-376, SpreadsheetML): texts once in a list, cells by their numbers in it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from itertools import count
from typing import IO

from tabprotect.engine.formats.text.markup import escape, quoteattr
from tabprotect.engine.formats.workbooks.sheet_writing import LaidOutSheet, Sheet, SheetCell, Style

_WHEN = (2000, 1, 1, 0, 0, 0)
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml"

_STYLES: Mapping[Style, tuple[int, str]] = {
    "": (0, '<sz val="11"/>'),
    "head": (1, '<b/><sz val="11"/>'),
    "title": (2, '<b/><sz val="13"/>'),
    "note": (3, '<i/><sz val="11"/>'),
}
"""Of each style its number and its font."""

_FROZEN = (
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft"/>'
)
_NO_PLACE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ROWS_AT_ONCE = 20_000
"""Rows that are compressed together."""


def xlsx_bytes(sheets: Mapping[str, Sheet], title: str) -> bytes:
    """The bytes of the workbook; the last sheet is the one shown first.

    Without the time and without a name: the same bytes for the same table.
    """
    out = io.BytesIO()
    texts: dict[str, int] = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in _fixed(list(sheets), title).items():
            book.writestr(_part(name), content)
        for number, sheet in enumerate(sheets.values(), 1):
            shown = number == len(sheets)
            with book.open(_part(f"xl/worksheets/sheet{number}.xml"), "w") as part:
                _write_sheet(part, sheet, texts, shown=shown)
        with book.open(_part("xl/sharedStrings.xml"), "w") as part:
            part.write(f'{_HEAD}<sst xmlns="{_MAIN}" uniqueCount="{len(texts)}">'.encode())
            said = (f'<si><t xml:space="preserve">{escape(_plain(text))}</t></si>' for text in texts)
            part.write("".join(said).encode())
            part.write(b"</sst>")
    return out.getvalue()


def _part(name: str) -> zipfile.ZipInfo:
    part = zipfile.ZipInfo(name, _WHEN)
    part.compress_type = zipfile.ZIP_DEFLATED
    return part


def _write_sheet(part: IO[bytes], sheet: Sheet, texts: dict[str, int], *, shown: bool) -> None:
    laid_out = isinstance(sheet, LaidOutSheet)
    selected = ' tabSelected="1"' if shown else ""
    view = "" if laid_out else _FROZEN
    part.write(
        f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView{selected} workbookViewId="0">'
        f"{view}</sheetView></sheetViews><sheetData>".encode()
    )

    def markup(cell: SheetCell, column: int) -> str:
        style = f' s="{_STYLES[cell.style][0]}"' if cell.style else ""
        place = f'<c r="{_letters(column)}\0"{style}'
        if isinstance(cell.value, int):
            return f"{place}><v>{cell.value}</v></c>"
        if not cell.value and laid_out:
            return ""
        return f'{place} t="s"><v>{texts.setdefault(cell.value, len(texts))}</v></c>'

    rows = _numbered(sheet.rows(markup))
    while chunk := "".join(row for _, row in zip(range(_ROWS_AT_ONCE), rows, strict=False)):
        part.write(chunk.encode())
    part.write(b"</sheetData></worksheet>")


def _numbered(rows: Iterator[str]) -> Iterator[str]:
    for number, cells in zip(map(str, count(1)), rows, strict=False):
        yield f'<row r="{number}">{cells.replace(chr(0), number)}</row>'


def _letters(column: int) -> str:
    """The name of a column, from 0: A, B, ..., Z, AA."""
    name = ""
    while column >= 0:
        column, letter = divmod(column, 26)
        name, column = chr(ord("A") + letter) + name, column - 1
    return name


def _fixed(names: list[str], title: str) -> dict[str, str]:
    """The parts that tell what is in the package, by name."""
    numbers = range(1, len(names) + 1)
    fonts = "".join(f'<font>{font}<name val="Calibri"/></font>' for _, font in _STYLES.values())
    formats = "".join(
        f'<xf numFmtId="0" fontId="{number}" fillId="0" borderId="0" xfId="0" applyFont="1"/>'
        for number, _ in _STYLES.values()
    )
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="rId{number}"/>'
        for number, name in zip(numbers, names, strict=True)
    )
    media = {
        "xl/workbook.xml": "sheet.main",
        "xl/styles.xml": "styles",
        "xl/sharedStrings.xml": "sharedStrings",
        **{f"xl/worksheets/sheet{number}.xml": "worksheet" for number in numbers},
    }
    types = "".join(
        f'<Override PartName="/{part}" ContentType="{_SHEET_MEDIA}.{kind}+xml"/>'
        for part, kind in media.items()
    )
    core = "application/vnd.openxmlformats-package.core-properties+xml"
    targets = [(f"worksheets/sheet{number}.xml", "worksheet") for number in numbers]
    targets += [("styles.xml", "styles"), ("sharedStrings.xml", "sharedStrings")]
    return {
        "[Content_Types].xml": f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
        f'{types}<Override PartName="/docProps/core.xml" ContentType="{core}"/></Types>',
        "_rels/.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        f'<Relationship Id="rId2" Type="{_PACKAGE}/relationships/metadata/core-properties" '
        'Target="docProps/core.xml"/></Relationships>',
        "docProps/core.xml": f'{_HEAD}<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/'
        'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(_plain(title))}</dc:title>"
        '<dcterms:created xsi:type="dcterms:W3CDTF">2000-01-01T00:00:00Z</dcterms:created>'
        "</cp:coreProperties>",
        "xl/workbook.xml": f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><bookViews>'
        f'<workbookView activeTab="{len(names) - 1}"/></bookViews>'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
            for number, (target, kind) in enumerate(targets, 1)
        )
        + "</Relationships>",
        "xl/styles.xml": f'{_HEAD}<styleSheet xmlns="{_MAIN}"><fonts count="{len(_STYLES)}">{fonts}'
        '</fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill>'
        '<patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/>'
        "<right/><top/><bottom/><diagonal/></border></borders>"
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'
        f'</cellStyleXfs><cellXfs count="{len(_STYLES)}">{formats}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
        "</styleSheet>",
    }


def _plain(text: str) -> str:
    """Without the characters that XML has no place for."""
    return _NO_PLACE.sub("\ufffd", text)
