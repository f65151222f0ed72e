"""Record keys: a permanent random number for each record.

The sum of the keys of the records in a cell determines its noise: the same records get the same
noise in every table. Keys are whole numbers below 10^8 (eight decimals) or below a smaller usual
range (256 as ONS has them), added exactly and modulo that range, so that the order of adding does not matter. They are confidential: anyone who knows the keys
and the perturbation table can remove the noise. They never come from a default seed.

Keys in a file serve all its tabulations. Keys for one table alone need no file: the sum of uniform
keys is uniform, so that ``protection.cell_noise.drawn`` draws one for each cell.

Checking that record keys are random numbers: otherwise the noise could be told.

Keys that number the records, take few values, or crowd into a part of their range give biased sums,
and noise that can be removed. The checks reject what uniform keys hardly ever show.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import shutil
import tempfile
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.atomic import replacing
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.rows.sql import connected
from tabprotect.engine.formats.rows.sql_text import literal, quoted
from tabprotect.engine.formats.text.rows import TextRows
from tabprotect.engine.microdata.places import files_of
from tabprotect.engine.microdata.record_files import MicrodataFile, open_microdata
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import KEY_MODULUS, Randomness
from tabprotect.languages.messages import joined, message, plural

BINS = 16
"""The number of equal parts of the range."""

ENOUGH = 100
"""The least number of records for which keys are checked."""

CHI_SQUARE = 90.0
"""The critical value for 16 parts: uniform keys exceed it once in 10^12 times."""

FEW = 100
"""A number of different keys that is too few, whatever the range."""

RANGES = (256, 512, 1000, 1024, 4096, 10_000, 65_536, 10**5, 10**6, 10**7, KEY_MODULUS)
"""Usual upper ends of whole keys: the first above the largest key is taken as their range."""

ODDS = 1e-9
"""The chance below which keys of a range are not believed to stay below the largest seen."""

BAR = 40


def key_range(column: str, records: int, ends: tuple[int, int]) -> int:
    """The range of whole keys: they lie below it, and their sums are taken modulo it.

    Parameters
    ----------
    ends
        The smallest and the largest key.

    Raises
    ------
    InputError
        Where so many keys of a usual range would hardly all lie between them.
    """
    least, most = ends
    found = next(end for end in RANGES if end > most)
    if records >= ENOUGH and records * math.log((most - least + 1) / found) < math.log(ODDS):
        raise InputError(
            message(
                "{column}: the record keys run from {least:,} to {most:,}, which is no range that is read",
                column,
                least,
                most,
            ),
            hint=message(
                "whole keys begin at 0 and end below {ranges}; else make keys from the house key: "
                "record-keys FILE --out KEYED",
                ", ".join(f"{end:,}" for end in RANGES),
            ),
        )
    return found


def examine(column: str, records: int, distinct: int, ends: tuple[int, int], parts: Ints) -> None:
    """Check the keys of many records.

    Parameters
    ----------
    distinct
        The number of different keys, within a few per cent.
    ends
        Smallest and largest key, as whole numbers.
    parts : int64 (BINS,)
        Keys in each of the equal parts of the range.

    Raises
    ------
    InputError
        When they are not random numbers, with a picture of them.
    """
    if records < ENOUGH:
        return
    span = ends[1] - ends[0] + 1
    expected = records / BINS
    crowded = float(((parts - expected) ** 2).sum()) / expected > CHI_SQUARE
    if span <= 2 * records and distinct >= 0.9 * records:
        why = message("{column} is only a running number", column)
    elif distinct < min(FEW, records / 2):
        why = message("{column} has only a few different keys", column)
    elif crowded:
        why = message("the keys of {column} crowd into a part of their range", column)
    else:
        return
    raise InputError(
        message("{why}: the noise could be taken off again", why),
        hint=message("make keys from the house key: record-keys FILE --out KEYED"),
        detail=picture(parts),
    )


def picture(parts: Ints) -> str:
    """The parts of the range as bars."""
    longest = max(int(parts.max(initial=0)), 1)
    bars = np.ceil(parts / longest * BAR).astype(int)
    return joined((f"{k / BINS:5.3f} {'#' * int(bar)}".rstrip() for k, bar in enumerate(bars.tolist())), "\n")


COLUMN = "record_key"
PARQUET = ".parquet"
DIGITS = 8
BLOCK = 65_536


def key_measure(source: MicrodataFile, column: str, progress: Progress = SILENT) -> tuple[str, int]:
    """The SQL of a cell's key sum, after a check of all keys; and the range modulo which it is to be taken.

    Raises
    ------
    InputError
        As of :func:`key_of_record`.
    """
    scaled, end = key_of_record(source, column, progress)
    return f"CAST(sum({scaled}) AS BIGINT)", end


def key_of_record(source: MicrodataFile, column: str, progress: Progress = SILENT) -> tuple[str, int]:
    """The SQL of a record's key as a whole number, after a check of all keys; and the range that it is below.

    A column of fractions from 0 up to below 1 is rounded to eight decimals; a column of whole
    numbers must fill a usual range, of 10^8 at most.

    Raises
    ------
    InputError
        For keys that are missing, outside their range, or not random numbers: all the same, a
        running number, few, or crowded into a part of their range.
    """
    # Through concat: DuckDB would push a bare cast down into its CSV reader, which then guesses
    # another type and fails on values that are no number.
    # A comma is some countries' decimal point.
    key = f"TRY_CAST(replace(concat({quoted(column)}), ',', '.') AS DECIMAL(38, 19))"
    sql = (
        f"SELECT count(*), count({key}), min({key}), max({key}), "
        f"max({key} - floor({key})) FROM {source.relation}"
    )
    row = source.run(lambda c: c.execute(sql).fetchone(), message("looking at the record keys"), progress)
    assert row is not None
    records, read, least, most, broken = row
    hint = message("record keys are fractions from 0 up to below 1, or whole numbers below 10^8")
    if read < records:
        raise InputError(
            plural(
                records - read,
                "{column}: {records:,} record has no key",
                "{column}: {records:,} records have no key",
                column,
                records - read,
            ),
            hint=hint,
        )
    if records and (least < 0 or most >= (KEY_MODULUS if not broken else 1)):
        raise InputError(message("{column}: a record key lies outside its range", column), hint=hint)
    if records > 1 and least == most:
        raise InputError(
            message("{column}: all record keys are the same", column),
            hint=message("record keys are random numbers; let the program draw them"),
        )
    scaled = f"CAST(round({key} * {KEY_MODULUS}) AS BIGINT)" if broken else f"CAST({key} AS BIGINT)"
    end = KEY_MODULUS
    if records:
        scale = KEY_MODULUS if broken else 1
        ends = int(least * scale), int(most * scale)
        _examined(source, column, scaled, (records, ends, bool(broken)), progress)
        end = end if broken else key_range(column, records, ends)
    return scaled, end


def _examined(
    source: MicrodataFile, column: str, key: str, seen: tuple[int, tuple[int, int], bool], progress: Progress
) -> None:
    records, ends, broken = seen
    end = KEY_MODULUS if broken else next(end for end in RANGES if end > ends[1])
    part = f"CAST(floor({key} * {BINS} / {end}) AS BIGINT)"
    sql = f"SELECT {part}, count(*), approx_count_distinct({key}) FROM {source.relation} GROUP BY 1"
    rows = source.run(lambda c: c.execute(sql).fetchall(), message("looking at the record keys"), progress)
    parts = np.zeros(BINS, dtype=np.int64)
    for number, count, _ in rows:
        parts[min(int(number), BINS - 1)] += count
    examine(column, records, sum(row[2] for row in rows), ends, parts)


def add_record_keys(
    path: Path | str,
    out: Path | str,
    *,
    column: str = COLUMN,
    randomness: Randomness,
    progress: Progress = SILENT,
) -> int:
    """Write a copy of a file of records with one more column: a key for every record.

    CSV and Parquet are read and written, by the name of each file. The copy is for its owner
    alone (mode 0600).

    Returns
    -------
    int
        Number of records.

    Raises
    ------
    InputError
        For a file that already has such a column, is of another kind, or cannot be written.
    """
    path, out = Path(path), Path(out)
    generator = randomness.generator()
    with open_microdata(path, progress) as source:
        if source.text is None and path.suffix != PARQUET:
            raise InputError(
                message("keys are added to CSV and Parquet files only"),
                file=path,
                hint=message("save the records as CSV or Parquet"),
            )
        if column in [c.name for c in source.columns]:
            raise InputError(
                message("the file has a column {column} already", repr(column)),
                file=path,
                hint=message("record keys are given once and kept"),
            )
        if source.text is None or out.suffix == PARQUET:
            return _by_columns(source, out, column, generator, progress)
        return _by_rows(source.text, out, column, generator, progress)


def _by_rows(
    source: TextRows, out: Path, column: str, generator: np.random.Generator, progress: Progress
) -> int:
    """Add the keys row by row; fields stay as they are."""
    rows = source.rows()
    header = next(rows)
    records = 0
    with replacing(out, private=True) as file:
        packed = gzip.GzipFile(fileobj=file, mode="wb") if out.suffix == ".gz" else None
        text = io.TextIOWrapper(packed or file, encoding="utf-8", newline="")
        delimiter = source.delimiter if len(header) > 1 else ","
        writer = csv.writer(text, lineterminator="\n", delimiter=delimiter)
        writer.writerow([*header, column])
        keys: Ints = np.zeros(0, dtype=np.int64)
        for row in rows:
            if records % BLOCK == 0:
                keys = generator.integers(0, KEY_MODULUS, BLOCK)
                progress.report(message("giving every record its key"), source.fraction)
            writer.writerow([*row, f"0.{keys[records % BLOCK]:0{DIGITS}d}"])
            records += 1
        # The file written here has still to be flushed to the disk and renamed.
        text.detach()
        if packed is not None:
            packed.close()
    return records


def _by_columns(
    source: MicrodataFile, out: Path, column: str, generator: np.random.Generator, progress: Progress
) -> int:
    """Add the keys with DuckDB, if a Parquet file is read or written; columns stay as they are."""
    count = source.run(
        lambda c: c.execute(f"SELECT count(*) FROM {source.relation}").fetchone(),
        message("counting the records"),
        progress,
    )
    assert count is not None
    records = int(count[0])
    keys = generator.integers(0, KEY_MODULUS, records)
    form = "PARQUET" if out.suffix == PARQUET else "CSV, HEADER"
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "keyed"
        # Rows and keys are matched by position.
        key = f"CAST(c0 / {KEY_MODULUS} AS DECIMAL(9, {DIGITS})) AS {quoted(column)}"
        files = files_of(str(source.path))[0]
        with connected(*files, ordered=True, written=written) as connection:
            connection.register("keys", [keys])
            connection.execute(
                f"COPY (SELECT records.*, {key} FROM (SELECT * FROM {source.relation}) AS records "
                f"POSITIONAL JOIN keys) TO {literal(str(written))} (FORMAT {form}, USE_TMP_FILE false)"
            )
        progress.report(message("giving every record its key"), 1.0)
        with replacing(out, private=True) as file, written.open("rb") as made:
            shutil.copyfileobj(made, file)
    return records
