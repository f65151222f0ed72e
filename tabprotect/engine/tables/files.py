"""Table files: reading every form, writing the long one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables import forms, spreadsheets
from tabprotect.engine.tables.cell_list import CellList
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.records import Records, TextRecords
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.totals import strip_totals as without_totals

ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16")
"""Encodings to offer; ``None`` is UTF-8 (or UTF-16 with its mark)."""

_OTHER_KINDS = {
    ".zip": "this is an archive; open a release bundle as a release, not as a table",
    ".parquet": "Parquet files hold records; tabulate them first",
    ".tabprotect": "this is a project; open it as one",
    ".pdf": "export the table as CSV or Excel",
}

FULL_LIMIT = 2**24
"""Sparse tables beyond this many cells are written without their zeros."""

COUNT = "count"

_NEEDS_QUOTES = re.compile('[",;\t|\r\n\ufeff]|^\\s|\\s$')


@dataclass(frozen=True)
class TableFile:
    """A table as it was read, and what a person should know about how it was read."""

    table: Table
    notes: tuple[str, ...] = ()


SPARSE = 0.25
"""Share of cells that a list of the positive ones leaves out at least."""


def read_table(
    path: Path | str,
    *,
    count: str | None = None,
    strip_totals: bool = False,
    fill_missing: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    progress: Progress = SILENT,
) -> TableFile:
    """Read a table of counts: delimited text (also ``.gz``), Excel or OpenDocument.

    In long form every variable has a column and the last column (or the one named ``count``,
    ``freq``, ``frequency``, ``n``) holds the counts. A file that lists no zero and leaves out more
    than a quarter of the cells is a list of the positive ones: the others are zero. Else a
    two-way grid with labels, or a bare matrix of numbers. Codes are opaque text; categories stand
    in order of first appearance.

    Parameters
    ----------
    count
        The column of counts, where its name does not tell.
    strip_totals
        Leave out total rows and columns, after checking that they add up.
    fill_missing
        Take cells that are missing as zero, whatever it looks like.
    delimiter, decimal, encoding
        Found out where ``None`` (the encoding is UTF-8 unless said).

    Raises
    ------
    InputError
        Naming the file, the line (1-based), the cell, the cause and the remedy.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in _OTHER_KINDS:
        raise InputError("not a table file", file=path, hint=_OTHER_KINDS[suffix])
    if decimal not in (None, ".", ","):
        raise InputError(f"the decimal mark cannot be {decimal!r}", hint='it is "." or ","')
    if delimiter is not None and len(delimiter) != 1:
        raise InputError(f"the delimiter cannot be {delimiter!r}", hint="it is one character")
    records: Records
    notes: list[str] = []
    try:
        if suffix in spreadsheets.SUFFIXES:
            records, notes = spreadsheets.read_sheet(path)
        else:
            records = TextRecords(path, encoding=encoding, delimiter=delimiter, progress=progress)
        form = forms.recognise(records, count=count)
        read = forms.read_long if form.kind == "long" else forms.read_grid
        cells, said = read(records, form, decimal=decimal, progress=progress)
        notes += said
        cells, said = without_totals(cells, strip=strip_totals)
        notes += said
        progress.report("building the table", 0.9)
        table, missing = checked_table(cells, fill_missing=fill_missing)
    except InputError as error:
        raise error.in_file(path) from None
    if missing:
        notes.append(
            f"{missing:,} of {table.domain.size:,} cells are not in the file and were taken as 0"
        )
    if table.domain.ndim > 2 and missing > 0.9 * table.domain.size:
        notes.append(
            "if not every column is a variable of the table (some may group others), tabulate the "
            "file by those that are, with the counts as weight"
        )
    return TableFile(table, tuple(notes))


def checked_table(cells: CellList, *, fill_missing: bool) -> tuple[Table, int]:
    """The table of listed cells, and how many cells are not listed.

    Raises
    ------
    InputError
        For a cell listed twice, or holes in a table that is no list of its positive cells.
    """
    table, missing = cells.table()
    if missing and not fill_missing:
        _check_missing(cells, missing, table.domain)
    return table, missing


def _check_missing(cells: CellList, missing: int, domain: Domain) -> None:
    """Refuse a table with holes; a list of the positive cells alone has none.

    Raises
    ------
    InputError
        Naming the first cell that is missing.
    """
    if missing > SPARSE * domain.size and not (cells.counts == 0).any():
        return
    keys = np.sort(cells.keys())
    out_of_step = np.flatnonzero(keys != np.arange(len(keys)))
    first = int(out_of_step[0]) if len(out_of_step) else len(keys)
    verb = "is" if missing == 1 else "are"
    raise InputError(
        f"{missing:,} of {domain.size:,} cells {verb} missing",
        cell=domain.cell_text(domain.unflat(first)),
        hint="list every cell, zeros too; or say that missing cells are 0: --fill-missing",
    )


def _quoted(field: str) -> str:
    """A field in quotation marks where any reader, sniffing its delimiter, might need them."""
    if field and not _NEEDS_QUOTES.search(field):
        return field
    return '"' + field.replace('"', '""') + '"'


def _lines(table: Table) -> Iterator[str]:
    domain = table.domain
    if table.is_sparse and domain.size > FULL_LIMIT:
        keys, counts = table.cells
    else:
        keys, counts = np.arange(domain.size), table.counts.reshape(-1)
    quoted = [
        np.array([_quoted(category) for category in variable.categories], dtype=object)
        for variable in domain.variables
    ]
    for begin in range(0, len(keys), 1 << 18):
        span = slice(begin, begin + (1 << 18))
        # The grand total alone is a table without variables.
        codes = np.unravel_index(keys[span], domain.shape) if domain.ndim else ()
        columns = [labels[code] for labels, code in zip(quoted, codes, strict=True)]
        numbers = map(str, counts[span].tolist())
        yield from map(",".join, zip(*columns, numbers, strict=True))


def _without_count(line: str) -> str:
    """A line with an empty last field; alone it is quoted, since a blank line is no record."""
    labels, comma, _ = line.rpartition(",")
    return labels + comma if comma else '""'


def write_csv(table: Table, *, count: str = COUNT, without: Bools | None = None) -> bytes:
    """The table in long form: UTF-8, commas, ``\\n``, the same bytes for the same table.

    Every cell is written, zeros too, in the table's order, so that reading it back gives the same
    categories; only of sparse tables above 2^24 cells the zeros are left out.

    Parameters
    ----------
    without : bool, shape of the (dense) table, or None
        Cells that are written without their count.
    """
    header = ",".join(map(_quoted, (*table.domain.names, count)))
    lines: Iterable[str] = _lines(table)
    if without is not None:
        lines = (
            _without_count(line) if blank else line
            for line, blank in zip(lines, without.reshape(-1).tolist(), strict=True)
        )
    return ("\n".join(itertools.chain([header], lines)) + "\n").encode("utf-8")
