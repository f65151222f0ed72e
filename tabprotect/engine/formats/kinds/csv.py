"""Delimited text (CSV): one row a line, fields apart by comma, semicolon, tab or bar.

In long form every variable has a column, and one more column holds the counts; or a two-way grid
with labels; or a bare matrix of numbers. Encoding UTF-8 (or UTF-16 with its mark) unless said,
fields with separators in quotation marks, packed with gzip or not. All values are text: the
category ``01`` is not ``1``. Written with commas, every cell, zeros too, in the table's order;
of tables above 2^24 cells that are mostly empty only the cells that are not zero. A published table
with suppressed cells has one more column, `CONF_STATUS`: F (free), or C beside a field without count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.agencies.csvw import SUFFIX, about, beside, described, description
from tabprotect.engine.formats.agencies.frictionless import SUFFIX as PACKAGE
from tabprotect.engine.formats.agencies.frictionless import package
from tabprotect.engine.formats.csv_text import write_csv
from tabprotect.engine.formats.format import RecordsFile, RowFormat
from tabprotect.engine.formats.layouts.laid_out import text_rows
from tabprotect.engine.formats.layouts.laid_out_columns import LaidOutRow
from tabprotect.engine.formats.layouts.observations import texts_shown
from tabprotect.engine.formats.reading_options import LAID_OUT, Reading
from tabprotect.engine.formats.rows.figures import FigureRows
from tabprotect.engine.formats.rows.sql_text import file_literal, literal, quoted
from tabprotect.engine.formats.statuses import CONF_STATUS, CONFIDENTIAL, COUNT, FREE
from tabprotect.engine.formats.text.rows import RowSource, SheetRows, TextRows, check_width
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.engine.tables.table import Table
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


class Csv(RowFormat):
    label = message("delimited text")
    suffixes = (".csv", ".tsv", ".txt", ".gz")
    only_read = (".tsv",)
    media = "text/csv; charset=utf-8"
    holds = frozenset({"table", "records"})
    packed = True
    decimals = True
    options = frozenset(
        {"count", "encoding", "delimiter", "decimal", "holds", "metadata", "cells", *LAID_OUT}
    )
    described_by = (".json",)
    limits = (
        message("No title, notes, units or hierarchies: names, categories and counts alone."),
        message("Of a very large sparse table the categories without any count are lost."),
    )

    def described(self, path: Path, reading: Reading) -> Reading:
        file = beside(path) if reading.metadata is None else Path(reading.metadata)
        return reading if file is None else described(path, reading, file)

    def about(self, path: Path, reading: Reading) -> About:
        return about(path)

    def rows(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[RowSource, list[str]]:
        text = TextRows(path, encoding=reading.encoding, delimiter=reading.delimiter, progress=progress)
        if (cells := eurostat_rows(text)) is not None:
            return cells, [message("read as Eurostat's TSV; flags behind counts were left out")]
        return text, []

    def apart(self, path: Path, reading: Reading) -> list[LaidOutRow]:
        rows = TextRows(path, encoding=reading.encoding, delimiter=reading.delimiter)
        if eurostat_rows(rows) is not None:
            return super().apart(path, reading)
        return text_rows(rows, reading.delimiter)

    def records(self, path: Path, progress: Progress = SILENT) -> RecordsFile:
        text = TextRows(path, progress=progress)
        header = next(text.rows(), None)
        if header is None:
            raise InputError(message("the file has no rows"), file=path)
        for number, name in enumerate(header, 1):
            if not name or name in header[: number - 1]:
                raise InputError(
                    message("column {number} has no name", number)
                    if not name
                    else message("the name {name} stands over two columns", repr(name)),
                    file=path,
                    line=text.line(0),
                    hint=message("the first row must name every variable once"),
                )
        if any(mark in name for name in header for mark in "\r\n"):
            # The engine takes the first line end, which stands within a name, for that of all rows.
            return _read_here(text, header)
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
        names = ", ".join(f"c{i} AS {quoted(name)}" for i, name in enumerate(header))
        packed = "gzip" if path.suffix.lower() == ".gz" else "none"
        encoding = "utf-16" if text.encoding == "utf-16" else "utf-8"
        relation = (
            f"(SELECT {names} FROM read_csv({file_literal(path)}, auto_detect=false, header=true, "
            f"columns={{{types}}}, delim={literal(text.delimiter)}, quote='\"', escape='\"', "
            f"strict_mode=true, null_padding=false, compression='{packed}', "
            f"encoding='{encoding}', skip={int(text.skipped)}))"
        )
        return RecordsFile(relation, text)

    def publish(self, cube: Cube) -> bytes:
        if cube.figures:
            return _in_columns(cube)
        if cube.hidden is None:
            return write_csv(cube.table)
        return write_csv(cube.table, without=cube.hidden, after={CONF_STATUS: (FREE, CONFIDENTIAL)})

    def beside(self, cube: Cube, path: Path, *, published: bool = False) -> dict[str, bytes]:
        if not published or not cube.about.says_anything:
            return {}
        marks = () if cube.hidden is None else (CONF_STATUS,)
        if not cube.figures:
            return {path.name + SUFFIX: description(path.name, cube, COUNT, marks)}
        domain, beside = cube.across
        front = replace(cube, table=Table.dense(domain, np.zeros(domain.shape, dtype=np.int64)), decimals=0)
        return {
            path.name + SUFFIX: description(path.name, front, COUNT, marks, beside),
            path.name.partition(".")[0] + PACKAGE: package(path.name, cube, COUNT, beside),
        }

    def figures(self, figures: FigureRows) -> Iterator[bytes]:
        return figures.copied("FORMAT csv, HEADER")


def _read_here(text: TextRows, header: list[str]) -> RecordsFile:
    """The records of a text, read row by row."""
    rows = list(text.rows())[1:]
    check_width(text, rows, at=1, width=len(header))
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    arrays = {name: np.array(column, dtype=object) for name, column in zip(header, columns, strict=True)}
    return RecordsFile("records", text, columns=arrays)


def _in_columns(cube: Cube) -> bytes:
    """The figures of a cell in a row."""
    domain, beside = cube.across
    width = len(beside) + 1
    shown = texts_shown(cube)
    texts = [",".join(shown[at : at + width]) for at in range(0, len(shown), width)]
    marks = () if cube.hidden is None else (CONF_STATUS,)
    if cube.hidden is not None:
        status = np.where(cube.hidden[..., 0].reshape(-1), CONFIDENTIAL, FREE)
        texts = [f"{text},{one}" for text, one in zip(texts, status.tolist(), strict=True)]
    zeros = Table.dense(domain, np.zeros(domain.shape, dtype=np.int64))
    return write_csv(zeros, beside=(*beside, *marks), texts=texts)


PLUGIN = Csv()
