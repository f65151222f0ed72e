"""Priors as text: what the command line, the library and a project's file call them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.paths import check_file
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.posterior.prior import (
    CellTable,
    Exchangeable,
    Factorial,
    Flat,
    Member,
    NegativeBinomial,
    Poisson,
    Positive,
    Prior,
    Uniform,
)
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message, plural

MAX_COUNT = 2**53
"""Larger counts in a prior's file are taken for typing errors."""

MODEL, LAST = "model", "last"
"""Kinds of prior text that rest on releases: they are made where these can be read."""


_ALONE: Mapping[str, Callable[[], Prior]] = {
    "uniform": Uniform,
    "exchangeable": Exchangeable,
    "flat": Flat,
    "positive": Positive,
    "member": Member,
}
"""Priors that take nothing."""


def parse_prior(text: str, domain: Domain) -> Prior:
    """A prior as written on the command line.

    ``uniform``; ``factorial`` or ``factorial(0.5)`` (no association beyond the margins, which
    the rule ``reversible`` draws exactly); ``positive`` (all cells) or ``positive:0,1;2,3`` (the
    cells with these category numbers, from 0); ``member``, likewise (a member weighs a count by how
    many it is); ``exchangeable`` (of swapped records: every assignment of places as likely) and
    ``flat`` (then of one count: every count as likely); ``poisson:FILE``, ``negative_binomial:FILE`` or
    ``negative_binomial(2.5):FILE`` (with its dispersion) around the counts of a file, which may be
    fractions;
    ``table:FILE`` with a ``count`` and a ``weight`` column. Files are long CSV: one column per
    variable, then these.

    Raises
    ------
    ParameterError
        For anything else.
    InputError
        If a file cannot be used, with its line.
    """
    kind, colon, name = text.partition(":")
    if kind in _ALONE and not colon:
        return _ALONE[kind]()
    if kind.startswith("factorial") and not colon:
        theta = kind.removeprefix("factorial").strip("()") or "1"
        try:
            return Factorial(float(theta))
        except ValueError:
            raise ParameterError({"prior": message("not a number: {theta}", repr(theta))}) from None
    if kind in ("positive", "member") and name:
        return (Positive if kind == "positive" else Member)(_chosen(name, domain))
    if kind == "table" and name:
        return _cell_table(Path(name), domain)
    if kind == "poisson" and name:
        return Poisson(_means(Path(name), domain))
    if kind.startswith("negative_binomial") and name:
        dispersion = kind.removeprefix("negative_binomial").strip("()") or "1"
        try:
            return NegativeBinomial(_means(Path(name), domain), float(dispersion))
        except ValueError:
            raise ParameterError(
                {"prior": message("not a dispersion: {dispersion}", repr(dispersion))}
            ) from None
    raise ParameterError(
        {"prior": message("unknown: {text}", repr(text))},
        hint=message(
            "uniform, exchangeable, flat, factorial, positive, positive:CELLS, member, member:CELLS, poisson:FILE, negative_binomial:FILE, table:FILE, last:RELEASE.zip or model:FORMULA"
        ),
    )


def check_prior(text: str, domain: Domain) -> None:
    """Refuse the text of a prior that makes no sense for a table.

    Raises
    ------
    ParameterError, InputError
        As :func:`parse_prior`, or as the model's formula.
    """
    kind, _, rest = text.partition(":")
    if kind == MODEL and rest:
        LogLinear.of(domain, rest)
    elif kind != LAST or not rest:
        parse_prior(text, domain)


def _chosen(text: str, domain: Domain) -> Ints:
    """Flat cells from text such as ``0,1;2,3``."""
    try:
        indices = [[int(i) for i in cell.split(",")] for cell in text.split(";")]
        return np.array(sorted({domain.flat(index) for index in indices}), dtype=np.int64)
    except (ValueError, InputError):
        raise ParameterError(
            {"prior": message("not cells of this table: {text}", repr(text))},
            hint=message("{ndim} category numbers from 0 per cell, cells apart by a semicolon", domain.ndim),
        ) from None


def _rows(path: Path, domain: Domain, columns: tuple[str, ...]) -> list[tuple[int, int, tuple[float, ...]]]:
    """(line, flat cell, numbers of the given columns) of every row of a long CSV file."""
    check_file(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            return _parse(csv.reader(stream), domain, columns)
    except OSError as error:
        raise InputError(
            message("the file cannot be read ({strerror})", error.strerror),
            file=path,
            hint=message("check its name"),
        ) from None
    except UnicodeDecodeError:
        raise InputError(
            message("the file is not UTF-8 text"), file=path, hint=message("save it as UTF-8")
        ) from None
    except csv.Error as error:
        raise InputError(message("not a CSV file ({error})", error), file=path) from None
    except InputError as error:
        raise error.in_file(path) from None


def _parse(
    reader: csv._reader,  # type: ignore[name-defined, unused-ignore]
    domain: Domain,
    columns: tuple[str, ...],
) -> list[tuple[int, int, tuple[float, ...]]]:
    header = next(reader, None)
    needed = (*domain.names, *columns)
    if header is None or sorted(header) != sorted(needed):
        raise InputError(
            message("the columns are not the ones of this table"),
            line=1,
            hint=message("the first line must name {needed}", ", ".join(needed)),
        )
    at = [header.index(name) for name in needed]
    out = []
    for row in reader:
        if not row:
            continue
        line = reader.line_num
        if len(row) != len(header):
            raise InputError(
                message("{row} fields instead of {header}", len(row), len(header)),
                line=line,
                hint=message("quote labels that contain a comma"),
            )
        fields = [row[a] for a in at]
        try:
            index = domain.index(fields[: domain.ndim])
        except InputError as error:
            raise InputError(error.message, line=line, hint=error.hint) from None
        numbers = []
        for name, number in zip(columns, fields[domain.ndim :], strict=True):
            try:
                value = float(number)
            except ValueError:
                value = np.nan
            # Among weights it is a count that could be true; by itself the mean of one.
            whole = name == "count" and len(columns) > 1
            if not 0 <= value <= MAX_COUNT or (whole and value != int(value)):
                raise InputError(
                    (
                        message("{name} must be a whole number from 0 up, is {number}", name, repr(number))
                        if whole
                        else message("{name} must be a number from 0 up, is {number}", name, repr(number))
                    ),
                    line=line,
                    cell=domain.cell_text(index),
                )
            numbers.append(value)
        out.append((line, domain.flat(index), tuple(numbers)))
    if not out:
        raise InputError(
            message("the file lists no cell"), hint=message("one line per cell, after the first line")
        )
    return out


def _means(path: Path, domain: Domain) -> Floats:
    means = np.full(domain.size, np.nan)
    for line, key, (count,) in _rows(path, domain, ("count",)):
        if not np.isnan(means[key]):
            raise InputError(
                message("the cell is listed twice"),
                file=path,
                line=line,
                cell=domain.cell_text(domain.unflat(key)),
            )
        means[key] = count
    missing = np.flatnonzero(np.isnan(means))
    if len(missing):
        raise InputError(
            plural(
                len(missing), "{missing} cell is not listed", "{missing} cells are not listed", len(missing)
            ),
            file=path,
            cell=domain.cell_text(domain.unflat(int(missing[0]))),
            hint=message("list every cell; a count of 0 says that the true count is certainly 0"),
        )
    return means


def _cell_table(path: Path, domain: Domain) -> CellTable:
    rows = _rows(path, domain, ("count", "weight"))
    seen: set[tuple[int, float]] = set()
    for line, key, (count, _) in rows:
        if (key, count) in seen:
            raise InputError(
                message("the count {count} is listed twice for the cell", int(count)),
                file=path,
                line=line,
                cell=domain.cell_text(domain.unflat(key)),
            )
        seen.add((key, count))
    return CellTable(
        np.array([key for _, key, _ in rows], dtype=np.int64),
        np.array([int(count) for _, _, (count, _) in rows], dtype=np.int64),
        np.array([weight for _, _, (_, weight) in rows]),
        message("the weights of {name}", path.name),
    )
