r"""Eurostat's TSV: keys in one field apart by commas (``freq,sex,geo\TIME_PERIOD``), a column for each period.

A count may have flags behind it (``110 p``), which are left out; ``:`` stands in place of one that is
not available, ``: c`` of one that is confidential.
"""

from __future__ import annotations

import re

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.text.rows import SheetRows, TextRows
from tabprotect.languages.messages import message

_CORNER = re.compile(r"[^\t\"]*\\[A-Za-z_]+\s*")
_COUNT = re.compile(r"([0-9][0-9. ]*?)\s*[a-z]+")


def eurostat_rows(text: TextRows) -> SheetRows | None:
    """The cells of such a file, one each row, with its count last; ``None`` for another file.

    Raises
    ------
    InputError
        With the line of a row whose keys are not those of the header.
    """
    rows = text.rows()
    header = next(rows, [])
    if text.delimiter != "\t" or len(header) < 2 or not _CORNER.fullmatch(header[0]):
        return None
    keys, _, time = header[0].strip().rpartition("\\")
    if "," not in keys:
        return None
    names = [name.strip() for name in keys.split(",")]
    periods = [period.strip() for period in header[1:]]
    found, lines = [[*names, time.strip(), "count"]], [text.line(0)]
    for number, row in enumerate(rows, 1):
        codes = [code.strip() for code in row[0].split(",")]
        if len(codes) != len(names) or len(row) != len(header):
            raise InputError(
                message("the row has not the keys and periods of the header"),
                file=text.name,
                line=text.line(number),
                hint=message("download the file again"),
            )
        for period, value in zip(periods, row[1:], strict=True):
            found.append([*codes, period, _value(value.strip())])
            lines.append(text.line(number))
    return SheetRows(text.name, found, lines)


def _value(text: str) -> str:
    """A count without its flags, or the sign in its place."""
    if text.startswith(":"):
        return "c" if "c" in text[1:] else ":"
    flagged = _COUNT.fullmatch(text)
    return flagged[1] if flagged else text
