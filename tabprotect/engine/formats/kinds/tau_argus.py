"""tau-ARGUS: tables (.tab) and records (.asc), each with its description (.rda) beside it.

A table has a line for each cell: its codes, its numbers, its status, apart by `;`. Counts are the
variable marked `<FREQUENCY>`, else the first `<NUMERIC>` one, with decimal points or commas. Cells
with a total code (`<TOTCODE>`) are checked and left out. Statuses are S (safe), U (unsafe), P
(protected: must be published), M (unsafe, secondary), E (empty); they are told, and not kept. Records have
fixed columns or a separator; codes declared missing are missing. Written with the description;
suppressed counts are `x` with the status U. Hierarchies (.hrc) go with code lists and groupings, a
priori files (.hst) with suppression.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Bools, Codes
from tabprotect.engine.budgets import MOST_TEXT as MOST_BYTES
from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.formats.format import COUNT, Format, RecordsFile
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.forms import Form
from tabprotect.engine.formats.layouts.long_form import read_long
from tabprotect.engine.formats.layouts.totals import without_totals
from tabprotect.engine.formats.reading import Reading
from tabprotect.engine.formats.sql import file_literal, literal, quoted
from tabprotect.engine.formats.statuses import EMPTY, SAFE, UNSAFE
from tabprotect.engine.formats.statuses import TAU as STATUSES
from tabprotect.engine.formats.tau.metadata import (
    TauMetadata,
    TauVariable,
    decoded,
    description,
    read_metadata,
)
from tabprotect.engine.formats.text.rows import SheetRows
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

STATUS = "status"
TOTAL = "Total"
ALL = "everybody"
"""The variable, and the code, of a table that has none."""
_LINE = re.compile(
    rb'(\xef\xbb\xbf)?\s*("[^"\r\n]*"\s*;\s*)+([-+0-9.,]+;)+"?[SUPMEZsupmezv]"?(;[-+0-9.,]*)*\r?\n'
)
_HIDDEN = "x"


class TauArgus(Format):
    label = "tau-ARGUS"
    suffixes = (".tab", ".asc")
    holds = frozenset({"table", "records"})
    options = frozenset({"count", "decimal", "delimiter", "encoding"})
    limits = (
        "Names and codes cannot hold quotation marks or line ends, nor a code be Total.",
        "Labels of codes (.cdl), shadow and cost variables and largest contributions are left out.",
        "A table is read as a whole, at most 512 MiB.",
    )

    def sniff(self, head: bytes) -> bool:
        return _LINE.match(head) is not None

    def accepts(self, path: Path, head: bytes) -> bool:
        # Tab-separated text is called .tab, too.
        return self.sniff(head) or path.with_suffix(".rda").is_file()

    def cells(
        self, path: Path, reading: Reading, progress: Progress = SILENT
    ) -> tuple[CellList, list[str]]:
        meta = read_metadata(path)
        if path.suffix.lower() == ".asc" or any("RECORDKEY" in v.options for v in meta.variables):
            raise RecordsError(
                f"{path.name} holds records, not a table", hint="tabulate them first"
            )
        separator = reading.delimiter or meta.separator or ";"
        source = _rows(path, meta, separator, reading.encoding)
        value = _response(meta, reading.count)
        axes = [at for at, v in enumerate(meta.variables) if v.classifies]
        left_out = frozenset(range(len(meta.variables))) - {value, *axes}
        cells, notes = read_long(
            source,
            Form("long", value, left_out=left_out),
            decimal=reading.decimal,
            progress=progress,
        )
        codes = [(n, meta.variables[at].total) for n, at in enumerate(axes)]
        totals: dict[int, dict[int, Codes | None]] = {
            axis: {cells.categories[axis].index(code): None}
            for axis, code in codes
            if code in cells.categories[axis] and len(cells.categories[axis]) > 1
        }
        cells, said = without_totals(cells, totals)
        return cells, [*notes, *said, *_told_statuses(meta, source)]

    def records(self, path: Path, progress: Progress = SILENT) -> RecordsFile:
        meta = read_metadata(path)
        fixed = not meta.separator
        columns = []
        for number, variable in enumerate(meta.variables):
            value = f"c{number}"
            if fixed:
                if len(variable.place) < 2:
                    raise InputError(
                        f"the description gives no place of {variable.name!r}",
                        file=path,
                        hint="Name start width",
                    )
                start, width = variable.place[:2]
                value = f"substr(line, {start}, {width})"
            columns.append(f"{_value(variable, value)} AS {quoted(variable.name)}")
        names = ["line"] if fixed else [f"c{n}" for n in range(len(meta.variables))]
        types = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
        with path.open("rb") as file:
            text = decoded(file.read(2**20)).isascii()
        encoding = "utf-8" if text or _is_utf8(path) else "latin-1"
        # Of fixed columns a line is one field: none of its characters may part it.
        parted = literal(meta.separator) if meta.separator else "chr(1)"
        quote = "quote='', escape=''" if fixed else "quote='\"', escape='\"'"
        if fixed:
            parted = "'\x01'"
        return RecordsFile(
            f"(SELECT {', '.join(columns)} FROM read_csv({file_literal(path)}, auto_detect=false, "
            f"header=false, columns={{{types}}}, delim={parted}, {quote}, strict_mode=true, "
            f"encoding='{encoding}'))"
        )

    def write(self, table: Table) -> bytes:
        return self._written(table, None)

    def publish(self, table: Table, hidden: Bools | None, title: str) -> bytes:
        if not table.domain.ndim:
            # The grand total alone: tau-ARGUS has no table without a variable.
            table = Table.dense(Domain.of({ALL: [ALL]}), table.counts.reshape(1))
        return self._written(table, hidden)

    def beside(self, table: Table, path: Path) -> dict[str, bytes]:
        text = description(table.domain.names or (ALL,), count=COUNT, status=STATUS, total=TOTAL)
        return {path.with_suffix(".rda").name: text.encode("utf-8")}

    def _written(self, table: Table, hidden: Bools | None) -> bytes:
        domain = table.domain
        _check(domain)
        counts = [str(count) for count in table.counts.reshape(-1).tolist()]
        marks = [EMPTY if count == "0" else SAFE for count in counts]
        for cell in () if hidden is None else np.flatnonzero(hidden).tolist():
            counts[cell], marks[cell] = _HIDDEN, UNSAFE
        lines = [
            ";".join([*(f'"{label}"' for label in domain.labels(index)), count, mark])
            for index, count, mark in zip(np.ndindex(*domain.shape), counts, marks, strict=True)
        ]
        return ("\n".join(lines) + "\n").encode("utf-8")


def _check(domain: Domain) -> None:
    for name in domain.names:
        if not re.fullmatch(r"[^\W\d][\w .-]*", name) or name in (COUNT, STATUS):
            raise InputError(
                f"tau-ARGUS has no place for a variable named {name[:40]!r}", hint="rename it first"
            )
    for code in (c for v in domain.variables for c in v.categories):
        if re.search(r'["\r\n\t\0]', code) or code != code.strip() or code in ("", TOTAL):
            raise InputError(
                f"tau-ARGUS cannot hold the code {code[:40]!r}", hint="rename it, or write CSV"
            )
    if not domain.ndim:
        raise InputError("tau-ARGUS needs a variable", hint="write CSV")


def _is_utf8(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            while file.read(2**20):
                pass
    except UnicodeDecodeError:
        return False
    return True


def _value(variable: TauVariable, value: str) -> str:
    """A value as SQL: blanks around it do not count, missing codes are missing."""
    text = f"trim({value})"
    if {"NUMERIC", "WEIGHT"} & set(variable.options):
        text = f"replace({text}, ',', '.')"
    gone = ", ".join(literal(code.strip()) for code in ("", *variable.missing))
    return f"CASE WHEN {text} IN ({gone}) THEN NULL ELSE {text} END"


def _response(meta: TauMetadata, wanted: str | None) -> int:
    names = [v.name for v in meta.variables]
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                f"there is no variable {wanted!r}", hint=f"there are {', '.join(names)}"
            )
        return names.index(wanted)
    for option in ("FREQUENCY", "NUMERIC"):
        for at, variable in enumerate(meta.variables):
            if option in variable.options:
                return at
    raise InputError(
        "the description names no counts (FREQUENCY or NUMERIC)", hint="say which: --count NAME"
    )


def _rows(path: Path, meta: TauMetadata, separator: str, encoding: str | None) -> SheetRows:
    if path.stat().st_size > MOST_BYTES:
        raise InputError("the table is too large to be held", hint="take it as CSV or Parquet")
    data = path.read_bytes()
    try:
        text = decoded(data) if encoding is None else data.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        raise InputError(f"the file is not {encoding}", hint="leave the encoding out") from None
    rows, lines = [[v.name for v in meta.variables]], [0]
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if any(row):
                rows.append([field.strip() for field in row])
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"the quotation marks are wrong: {error}", line=reader.line_num) from None
    return SheetRows(str(path), rows, lines)


def _told_statuses(meta: TauMetadata, source: SheetRows) -> list[str]:
    """What the cells' statuses are, counted."""
    at = next((n for n, v in enumerate(meta.variables) if "STATUS" in v.options), None)
    if at is None:
        return []
    found = Counter(row[at].upper() for row in list(source.rows())[1:])
    told = [f"{n:,} {s} ({STATUSES.get(s, 'unknown')})" for s, n in sorted(found.items())]
    return [f"statuses in the file, totals included: {', '.join(told)}"]


PLUGIN = TauArgus()
