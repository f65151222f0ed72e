"""Perturbation tables as files: ptable text (as tau-ARGUS reads it), the ONS table, JSON.

- ptable text: ``i;j;p;v;p_int_ub``, one row for each interval: true count, published count,
  probability, noise, exclusive upper end of the cell keys, perhaps behind the lower one
  (``p_int_lb``). Older files name columns ``p_ij`` and ``p_ij_ub``. The last count's row serves all larger counts.
- ONS: ``pcv,ckey,pvalue``: for each row of the table and each of 256 or 4096 whole cell keys the
  noise. Counts above 750 use the rows 501 to 750 again, ``pcv = (count - 1) mod 250 + 501``.
- JSON: columns ``i``, ``v`` and ``end`` (whole, in units of 10^-8), and ``period``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import PERTURBATION_ROWS
from tabprotect.engine.equal_rows import spread
from tabprotect.engine.errors import InputError, in_file
from tabprotect.engine.paths import read_text
from tabprotect.engine.plain_values.decoding import Between, decoded, parsed_json
from tabprotect.engine.plain_values.encoding import keyed
from tabprotect.engine.protection.cell_keys.perturbation_table import KEYS, PerturbationTable
from tabprotect.languages.messages import joined, message

PTABLE_HEADERS = tuple(("i", "j", p, "v", end) for p in ("p", "p_ij") for end in ("p_int_ub", "p_ij_ub"))
LOWER_ENDS = frozenset({"p_int_lb", "p_ij_lb"})
ONS_HEADER = ("pcv", "ckey", "pvalue")
ONS_ROWS, ONS_PERIOD = 750, 250
Moderate = Annotated[int, Between(1 - 10**9, 10**9 - 1)]
CONTENTS = message("a perturbation table has the columns i;j;p;v;p_int_ub or pcv,ckey,pvalue")


def read(path: Path | str) -> PerturbationTable:
    """Read a perturbation table; the form is recognised by the content.

    Raises
    ------
    InputError
        For anything that is not a perturbation table, naming the line.
    """
    path = Path(path)
    text = read_text(path)
    with in_file(path):
        return from_json(parsed_json(text)) if text.lstrip().startswith("{") else from_text(text)


def from_text(text: str) -> PerturbationTable:
    """A perturbation table from ptable text or the ONS form (``InputError`` naming the line)."""
    lines = text.splitlines()
    if not lines:
        raise InputError(message("the file is empty"), hint=CONTENTS)
    delimiter = max(";,\t", key=lines[0].count)
    header = tuple(name.strip().strip('"').lower() for name in lines[0].split(delimiter))
    header, lines = _of_counts(header, lines, delimiter)
    # The lower end of an interval is the upper one of that before it.
    lower = [k for k, name in enumerate(header) if name in LOWER_ENDS]
    if lower and len(header) == 6:
        header = tuple(name for name in header if name not in LOWER_ENDS)
        lines = [
            delimiter.join(f for k, f in enumerate(line.split(delimiter)) if k != lower[0]) for line in lines
        ]
    if header not in (*PTABLE_HEADERS, ONS_HEADER):
        raise InputError(message("these are the columns {header}", ", ".join(header)), line=1, hint=CONTENTS)
    if delimiter != ",":
        # Some countries' decimal point.
        lines = [line.replace(",", ".") for line in lines]
    numbers = np.array([k for k, line in enumerate(lines) if line.strip()][1 : PERTURBATION_ROWS + 2])
    if not len(numbers):
        raise InputError(message("there is nothing but the first row"), hint=CONTENTS)
    columns = _numbers([lines[k] for k in numbers], len(header), delimiter, numbers + 1)
    whole = (0, 1, 3) if len(header) == 5 else (0, 1, 2)
    broken = ~(
        np.isfinite(columns).all(axis=1)
        & (columns[:, whole] == np.floor(columns[:, whole])).all(axis=1)
        & (np.abs(columns[:, whole]) < 1e9).all(axis=1)
    )
    if broken.any():
        raise InputError(
            message("not whole numbers"), line=int(numbers[np.argmax(broken)]) + 1, hint=CONTENTS
        )
    return _of_ptable(columns, numbers + 1) if len(header) == 5 else _of_ons(columns.astype(np.int64).T)


def _of_counts(
    header: tuple[str, ...], lines: list[str], delimiter: str
) -> tuple[tuple[str, ...], list[str]]:
    """The lines without the column ``type``, in which ptable says "all" of counts."""
    if "type" not in header:
        return header, lines
    at = header.index("type")
    rows = [line.split(delimiter) for line in lines]
    for number, row in enumerate(rows[1:], 2):
        said = row[at].strip().strip('"').lower() if at < len(row) else "all"
        if said != "all" and lines[number - 1].strip():
            raise InputError(
                message("this perturbation table is for magnitudes: {type}", said),
                line=number,
                hint=message("take one for counts"),
            )
    return (*header[:at], *header[at + 1 :]), [delimiter.join(row[:at] + row[at + 1 :]) for row in rows]


def _numbers(rows: list[str], fields: int, delimiter: str, lines: Ints) -> Floats:
    try:
        columns = np.loadtxt(rows, delimiter=delimiter, ndmin=2, comments=None)
    except ValueError:
        columns = np.zeros((0, 0))
    if columns.shape == (len(rows), fields):
        return columns
    for row, line in zip(rows, lines.tolist(), strict=True):
        try:
            good = len([float(field) for field in row.split(delimiter)]) == fields
        except ValueError:
            good = False
        if not good:
            raise InputError(message("not {fields} numbers: {row}", fields, repr(row[:60])), line=line)
    raise InputError(message("the rows cannot be read"), hint=CONTENTS)


def _of_ptable(columns: Floats, lines: Ints) -> PerturbationTable:
    count, target, p, noise, end = columns.T
    for wrong, why in (
        (target - count != noise, message("v is not j - i")),
        (np.diff(count, prepend=0) < 0, message("the counts i are not in order")),
        ((p < 0) | (p > 1) | (end < 0) | (end > 1 + 1e-9), message("a probability outside 0..1")),
    ):
        if wrong.any():
            raise InputError(why, line=int(lines[np.argmax(wrong)]))
    upper = np.rint(end * KEYS).astype(np.int64)
    new = np.diff(count, prepend=-1) != 0
    off = np.abs(np.diff(upper, prepend=0) - p * KEYS)
    off[new] = np.abs(upper - p * KEYS)[new]
    if (off > 1e-5 * KEYS).any():
        raise InputError(
            message("the upper end is not the sum of the probabilities"), line=int(lines[np.argmax(off)])
        )
    return _of_intervals(count.astype(np.int64), noise.astype(np.int64), upper, p)


def _of_intervals(
    count: Ints, noise: Ints, upper: Ints, p: Floats | None = None, period: int = 1
) -> PerturbationTable:
    rows, starts = np.unique(count, return_index=True)
    if not len(rows) or rows.tolist() != list(range(len(rows))):
        missing = next((k for k, row in enumerate(rows.tolist()) if row != k), len(rows))
        raise InputError(message("the count {missing} has no row", missing), hint=CONTENTS)
    if p is None:
        p = (upper - np.where(np.diff(count, prepend=-1) != 0, 0, np.append(0, upper[:-1]))) / KEYS
    return PerturbationTable(
        starts=np.concatenate([starts, [len(count)]]).astype(np.int64),
        upper=upper,
        noise=noise,
        probabilities=p,
        period=period,
    )


def _of_ons(columns: Ints) -> PerturbationTable:
    row, key, noise = columns
    order = np.lexsort((key, row))
    row, key, noise = row[order], key[order], noise[order]
    if not len(key) or row[0] < 0:
        raise InputError(message("the table has no rows"), hint=CONTENTS)
    keys = int(key.max()) + 1
    rows, begins, times = np.unique(row, return_index=True, return_counts=True)
    lacking = (times != keys) | (np.add.reduceat(key != spread(0 * times, times), begins) > 0)
    if lacking.any():
        raise InputError(
            message("pcv {rows} does not list every key 0..{keys} once", rows[np.argmax(lacking)], keys - 1)
        )
    upper = (key + 1) * KEYS // keys
    if rows[0] == 1:
        row = np.concatenate([[0], row])
        noise, upper = np.concatenate([[0], noise]), np.concatenate([[KEYS], upper])
    # Neighbouring keys with one noise are one interval.
    last = np.append((np.diff(noise) != 0) | (np.diff(row) != 0), True)
    row, noise, upper = row[last], noise[last], upper[last]
    period = ONS_PERIOD if int(row[-1]) == ONS_ROWS else 1
    return _of_intervals(row, noise, upper, period=period)


def to_ptable(table: PerturbationTable) -> str:
    """The ptable text; a table that uses several rows in turn cannot be written so."""
    if table.period != 1:
        raise InputError(
            message("this table uses several rows in turn for large counts"),
            hint=message("write it in the ONS form"),
        )
    row = table.row
    lines = [";".join(PTABLE_HEADERS[0])]
    for i, v, p, end in zip(
        row.tolist(), table.noise.tolist(), table.probabilities.tolist(), table.upper.tolist(), strict=True
    ):
        lines.append(f"{i};{i + v};{_decimal(p)};{v};{_decimal(end / KEYS)}")
    return joined(lines, "\n") + "\n"


def _decimal(p: float) -> str:
    # Never an exponent: tau-ARGUS reads none.
    return np.format_float_positional(p, trim="-")


def to_ons(table: PerturbationTable, *, keys: int = 256) -> str:
    """The ONS form, counts 1 to 750. Its cell keys are whole numbers below ``keys`` (256 or
    4096), so that probabilities are rounded to that grid."""
    lines = (f"{count},{key},{v}" for count, key, v in zip(*_ons_columns(table, keys).tolist(), strict=True))
    return "\n".join([",".join(ONS_HEADER), *lines, ""])


def on_keys(table: PerturbationTable, keys: int) -> PerturbationTable:
    """The table as the ONS form holds it."""
    return _of_ons(_ons_columns(table, keys))


def _ons_columns(table: PerturbationTable, keys: int) -> Ints:
    """Counts, cell keys and noise."""
    counts, key = (one.reshape(-1) for one in np.mgrid[1 : ONS_ROWS + 1, :keys])
    return np.stack([counts, key, table.noise_of(counts, ((2 * key + 1) * KEYS) // (2 * keys))])


def to_json(table: PerturbationTable) -> dict[str, object]:
    """The whole table as plain lists, for a public mechanism."""
    return keyed(table, "i=row v=noise end=upper period")


@dataclass(frozen=True)
class _Columns:
    """A perturbation table in JSON."""

    i: tuple[Moderate, ...]
    v: tuple[Moderate, ...]
    end: tuple[Moderate, ...]
    period: int = 1


def from_json(data: object) -> PerturbationTable:
    """The inverse of :func:`to_json` (``InputError`` for anything else)."""
    stated = decoded(data, _Columns)
    if not 0 < len(stated.i) == len(stated.v) == len(stated.end) <= PERTURBATION_ROWS:
        raise InputError(
            message("i, v and end must be of one length, of 1 to {PERTURBATION_ROWS}", PERTURBATION_ROWS)
        )
    count, noise, upper = (np.array(column) for column in (stated.i, stated.v, stated.end))
    if (np.diff(count) < 0).any():
        raise InputError(message("the counts of the perturbation table are not in order"))
    return _of_intervals(count, noise, upper, period=stated.period)
