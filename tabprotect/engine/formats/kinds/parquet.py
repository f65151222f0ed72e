"""Parquet: a table in long form, one column for each variable and one of counts; or records.

The column of counts is named ``count`` (``counts``, ``freq``, ``frequency``, ``n``) or said by its
name; a file without one holds records. Categories are the values as text, in order of first
appearance, or of the levels of a categorical column (with the extra `frames`): whole numbers without
decimals, dates as 2024-12-31; a null is a blank label. The
line of a fault is the number of the row. Written with text columns and 64-bit counts; suppressed
counts are null, with C (else F) in a column `CONF_STATUS`. The levels
of variables, labels of categories and structural zeros stand in the file's metadata
(`tabprotect.levels`, `tabprotect.structural_zeros`).
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import EXACT_FLOAT, Bools, Codes, Ints
from tabprotect.engine.budgets import MAX_CATEGORIES
from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.answers import rows_of, text, texts
from tabprotect.engine.foreign.reader import RefusedFileError, asked, watched
from tabprotect.engine.formats.format import Format, RecordsFile
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.observations import Observations, refuse_names
from tabprotect.engine.formats.layouts.table_forms import count_column
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.rows.figures import FigureRows
from tabprotect.engine.formats.rows.sql import Connection, QueryError, connected
from tabprotect.engine.formats.rows.sql_text import file_literal, literal, quoted
from tabprotect.engine.formats.statuses import COLUMNS, CONF_STATUS, CONFIDENTIAL, COUNT, FREE, withheld
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.engine.tables.domain import DOMAIN_KEYS, Domain, domain_json
from tabprotect.engine.tables.table import INT64_MAX
from tabprotect.languages.messages import message, some_of

_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "VARIANT")
_REALS = ("FLOAT", "DOUBLE", "DECIMAL")
_ROW = "file_row_number"
OURS = "tabprotect."
"""The prefix of this program's metadata keys, which describe the variables."""


class Parquet(Format):
    label = message("Parquet")
    suffixes = (".parquet", ".pq")
    media = "application/vnd.apache.parquet"
    begins = re.compile(b"PAR1")
    holds = frozenset({"table", "records"})
    decimals = True
    options = frozenset({"count", "decimal", "marks"})
    levels = True
    labels = True
    limits = (message("Long form only."), message("Columns of lists or structures are refused."))

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        with connected(path, ordered=True) as connection:
            try:
                return watched(
                    lambda: _Columns(path, connection, reading).cells(reading),
                    lambda: progress.report(message("reading the table"), connection.query_progress() / 100),
                    connection.interrupt,
                )
            except QueryError as error:
                raise InputError(
                    message("the Parquet file is damaged, cut off, or not Parquet at all"),
                    hint=message("copy or export it again"),
                    detail=str(error).partition("\n")[0],
                ) from None

    def records(self, path: Path, progress: Progress = SILENT) -> RecordsFile:
        known: dict[str, list[str]] = {}
        with connected(path) as connection, suppress(QueryError):
            # A damaged file is told of where its records are read.
            refuse_twice(path, connection)
            known = levels_of(path, connection)
        declared = {
            name: {level: str(code) for code, level in enumerate(levels)} for name, levels in known.items()
        }
        return RecordsFile(f"read_parquet({file_literal(path)})", declared=declared)

    def publish(self, cube: Cube) -> bytes:
        table, hidden = cube.table, cube.hidden
        # Late: DuckDB costs a tenth of the program's start.
        import duckdb

        domain, names = cube.across if cube.figures else (table.domain, ())
        refuse_names(domain, (COUNT, *names) if hidden is None else (COUNT, *names, CONF_STATUS))
        numbers = [COUNT, *names]
        cells: dict[str, Ints | Bools] = {}
        columns = []
        for place, (name, decimals) in enumerate(zip(numbers, cube.decimals_across, strict=False)):
            figure = (..., place) if cube.figures else ...
            cells[f"n{place}"] = table.counts[figure].reshape(-1)
            unit = 10 ** (cube.decimals - decimals)
            number = f"n{place}" if unit == 1 else f"n{place} // {unit}"
            if decimals:
                number = f"n{place} / {10**cube.decimals}"
            if hidden is not None:
                cells[f"hidden{place}"] = np.asarray(hidden[figure]).reshape(-1)
                number = f"CASE WHEN NOT hidden{place} THEN {number} END"
            columns.append(f"{number} AS {quoted(name)}")
        if hidden is not None:
            columns.append(f"CASE WHEN hidden0 THEN '{CONFIDENTIAL}' ELSE '{FREE}' END AS {CONF_STATUS}")
        keys = np.arange(domain.size)
        codes = np.unravel_index(keys, domain.shape) if domain.ndim else ()
        with tempfile.TemporaryDirectory() as folder, duckdb.connect(":memory:") as connection:
            chosen = []
            for axis, (variable, code) in enumerate(zip(domain.variables, codes, strict=True)):
                # One more than the number: SQL counts from 1.
                cells[f"v{axis}"] = code + 1
                connection.execute(f"SET VARIABLE labels{axis} = $1", [list(variable.categories)])
                chosen.append(f"getvariable('labels{axis}')[v{axis}] AS {quoted(variable.name)}")
            out = Path(folder) / "table.parquet"
            connection.register("cells", cells)
            connection.execute(
                f"COPY (SELECT {', '.join([*chosen, *columns])} FROM cells) TO "
                f"{literal(str(out))} (FORMAT parquet{_metadata(domain, cube.about)})"
            )
            return out.read_bytes()

    def figures(self, figures: FigureRows) -> Iterator[bytes]:
        return figures.copied("FORMAT parquet, COMPRESSION zstd")


def _metadata(domain: Domain, about: About) -> str:
    """The option of COPY that writes levels, labels, structural zeros and notes, if there are any."""
    pairs = [
        message("{OURS}: {value}", quoted(OURS + key), literal(json.dumps(value, ensure_ascii=False)))
        for key, value in domain_json(domain).items()
    ]
    note = " ".join(about.sentences)
    metadata = {"note": note, "unit": about.unit, "source": about.source, "date": about.date}
    metadata |= about.metadata
    if any(metadata.values()):
        metadata = {"title": about.title, **metadata}
    pairs += [f"{quoted(key)}: {literal(text)}" for key, text in metadata.items() if text]
    return f", KV_METADATA {{{', '.join(pairs)}}}" if pairs else ""


def levels_of(path: Path, connection: Connection) -> dict[str, list[str]]:
    """The levels of categorical columns, used or not, in their order; none without pyarrow, which reads them."""
    rows = connection.execute(
        f"SELECT count(*) FROM parquet_kv_metadata({file_literal(path)}) WHERE key IN ('ARROW:schema', 'pandas')"
    ).fetchone()
    if not rows or not rows[0] or find_spec("pyarrow") is None:
        return {}
    try:
        found, _ = asked("levels", {}, path=path)
    except RefusedFileError:
        # What is damaged is told of where its columns are read.
        return {}
    return {text(name, path): texts(known, path) for name, known in rows_of(found, 0, 2, path)}


def refuse_twice(path: Path, connection: Connection) -> None:
    """Refuse a file with two columns of one name: the reader would give the second another.

    Raises
    ------
    InputError
        Naming it.
    """
    rows = connection.execute(
        f"SELECT name, num_children FROM parquet_schema({file_literal(path)})"
    ).fetchall()[1:]
    if any(children for _, children in rows):
        # Columns of parts are refused where they are read.
        return
    seen: set[str] = set()
    for name, _ in rows:
        if name.casefold() in seen:
            raise InputError(
                message("the column {name} occurs twice", repr(name)),
                file=path,
                hint=message("give each column a name of its own: capitals make no other name"),
            )
        seen.add(name.casefold())


class _Columns:
    """The columns of a file in long form."""

    def __init__(self, path: Path, connection: Connection, reading: Reading) -> None:
        self.path = path
        self.connection = connection
        self.relation = f"read_parquet({file_literal(path)}, {_ROW}=true)"
        refuse_twice(path, connection)
        self.types = {
            row[0]: row[1]
            for row in connection.execute(f"DESCRIBE SELECT * FROM {self.relation}").fetchall()
            if row[0] != _ROW
        }
        self.count = count_column(self.types, reading.count, path)
        self.levels = levels_of(path, connection)
        self.keep = reading.without_count is not None
        self.idle: list[str] = []
        self.statuses = tuple(n for n in self.types if n in COLUMNS and n != self.count)
        self.names = tuple(n for n in self.types if n not in (self.count, *self.statuses))
        for name in self.names:
            if self.types[name].endswith("]") or self.types[name].startswith(_NESTED):
                raise InputError(
                    message("column {name} holds {types}, no categories", repr(name), self.types[name]),
                    hint=message("leave it out, or write it as text"),
                )
        if not self.names:
            raise InputError(
                message("there is only one column"),
                hint=message("a table has one column per variable and a column count"),
            )

    def cells(self, reading: Reading) -> tuple[CellList, list[str]]:
        """The cells, and notes."""
        found, notes = self.observations().cells(reading)
        if self.idle:
            notes.append(message("declared, and without a row: {categories}", some_of(self.idle)))
        return found, notes

    def observations(self) -> Observations:
        """All rows."""
        values = self._values()
        if not len(values):
            raise InputError(message("the file has no rows"), hint=message("export the table again"))
        categories, codes = [], []
        for number, name in enumerate(self.names):
            found, code = self._variable(number, name)
            categories.append(found)
            codes.append(code)
        return Observations(
            self.names,
            tuple(categories),
            tuple(codes),
            values,
            self._in_place,
            line=lambda row: row + 1,
            stated=self._stated(),
        )

    def _stated(self) -> dict[str, object]:
        rows = self.connection.execute(
            f"SELECT hex(key), hex(value) FROM parquet_kv_metadata({file_literal(self.path)})"
        ).fetchall()
        found: dict[str, object] = {}
        for key, value in (map(bytes.fromhex, row) for row in rows):
            for name in DOMAIN_KEYS:
                if key != (OURS + name).encode():
                    continue
                try:
                    found[name] = json.loads(value.decode())
                except (UnicodeDecodeError, ValueError, RecursionError):
                    raise InputError(
                        message("the metadata {OURS} are no JSON", repr(OURS + name)), file=self.path
                    ) from None
        return found

    def _text(self, name: str) -> str:
        """A value as a category."""
        value = quoted(name)
        text = f"CAST({value} AS VARCHAR)"
        if self.types[name].startswith(_REALS):
            # As spreadsheets' numbers: 2024.0 is the category 2024.
            whole = f"{value} = floor({value}) AND abs({value}) < 9007199254740992"
            text = f"CASE WHEN {whole} THEN CAST(CAST({value} AS BIGINT) AS VARCHAR) ELSE {text} END"
        return f"coalesce({text}, '')"

    def _variable(self, number: int, name: str) -> tuple[tuple[str, ...], Codes]:
        text = self._text(name)
        # Only the few distinct values are turned into text, not every row.
        found = self.connection.execute(
            f"SELECT {text} AS label, min(first) FROM (SELECT {quoted(name)}, min({_ROW}) AS first "
            f"FROM {self.relation} GROUP BY 1) GROUP BY 1 ORDER BY 2 LIMIT {MAX_CATEGORIES + 1}"
        ).fetchall()
        check_categories(name, len(found))
        there = {row[0]: None for row in found}
        levels = [level for level in self.levels.get(name, ()) if level in there or self.keep]
        self.idle += [f"{name} = {level}" for level in self.levels.get(name, ()) if level not in levels]
        labels = tuple(dict.fromkeys([*levels, *there]))
        self.connection.execute(f"CREATE TYPE kind{number} AS ENUM ({', '.join(map(literal, labels))})")
        codes = self.connection.execute(
            f"SELECT enum_code(CAST({text} AS kind{number})) AS code FROM {self.relation}"
        ).fetchnumpy()["code"]
        return labels, np.asarray(codes, dtype=np.int32)

    def _values(self) -> Ints | list[str | None]:
        """The counts, if all are whole numbers; else the values as text."""
        count, kind = quoted(self.count), self.types[self.count]
        exact = INT64_MAX
        if kind.startswith(("FLOAT", "DOUBLE")):
            # Beyond 2^53 such numbers are not exact.
            exact = EXACT_FLOAT
            labels = "".join(f", {self._text(name)}" for name in self.names)
            row = self.connection.execute(
                f"SELECT {_ROW}, CAST({count} AS VARCHAR){labels} FROM {self.relation} "
                f"WHERE isfinite({count}) AND abs({count}) > {exact} ORDER BY 1 LIMIT 1"
            ).fetchone()
            if row is not None:
                raise InputError(
                    message("the count {row} is not exact", row[1]),
                    line=row[0] + 1,
                    cell=f"({', '.join(row[2:])})",
                    hint=message("write counts as whole numbers"),
                )
        whole = "NULL"
        if "INT" in kind or kind.startswith(_REALS):
            real = f" AND {count} = floor({count})" if kind.startswith(_REALS) else ""
            sound = f"{count} BETWEEN -{exact} AND {exact}{real}"
            whole = f"CASE WHEN {sound} THEN CAST({count} AS BIGINT) END"
            found = self.connection.execute(f"SELECT {whole} AS n FROM {self.relation}").fetchnumpy()["n"]
            if not np.ma.is_masked(found):
                return np.asarray(found, dtype=np.int64)
        rows = self.connection.execute(
            f"SELECT coalesce(CAST({whole} AS VARCHAR), CAST({count} AS VARCHAR)) FROM {self.relation}"
        ).fetchall()
        return [text for (text,) in rows]

    def _in_place(self, row: int, text: str) -> tuple[str, str]:
        if not self.statuses:
            return text, ""
        return text, withheld(dict(zip(self.statuses, self._said[row], strict=True)))

    @cached_property
    def _said(self) -> list[tuple[str, ...]]:
        """The statuses of every row."""
        said = ", ".join(map(self._text, self.statuses))
        return self.connection.execute(f"SELECT {said} FROM {self.relation}").fetchall()


PLUGIN = Parquet()
