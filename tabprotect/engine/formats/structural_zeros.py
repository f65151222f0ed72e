"""Structural zeros, as text or from a file: cells that are empty whatever the data are."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.engine.formats.text.rows import DELIMITERS
from tabprotect.engine.paths import read_text
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

EVERY = ("", "*")


def zeros_of(given: str, domain: Domain) -> tuple[str, Bools]:
    """The structural zeros in a text of columns, or in a file that holds it.

    The header names variables of the table. Every row names one category of each; an empty field or
    ``*`` stands for all of them, as does a variable without a column.

    Returns
    -------
    text
        The same with commas, each category by its own name; nothing else of a file is kept.
    zeros : bool (cells,)

    Raises
    ------
    InputError
        For an unknown variable or category, with its line.
    """
    path = None if "\n" in given else Path(given)
    return _parsed(given if path is None else read_text(path), domain, path)


def _parsed(text: str, domain: Domain, path: Path | None) -> tuple[str, Bools]:
    try:
        return _of_rows(text, domain, path)
    except csv.Error as error:
        raise InputError(
            message("the rows cannot be read"), file=path, hint=message("export it again"), detail=str(error)
        ) from None


def _of_rows(text: str, domain: Domain, path: Path | None) -> tuple[str, Bools]:
    first = text.partition("\n")[0]
    delimiter = next((sign for sign in DELIMITERS if sign in first), ",")
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    header = [name.strip() for name in next(rows, [])]
    unknown = [name for name in header if name not in domain.names]
    if unknown or not header or len(set(header)) != len(header):
        raise InputError(
            message("the first row must name variables of the table, each once")
            + (message("; {unknown} is none", repr(unknown[0])) if unknown else ""),
            file=path,
            hint=message("there are {names}", ", ".join(domain.names)),
        )
    zeros = np.zeros(domain.shape, dtype=np.bool_)
    written: list[list[str]] = []
    for row in rows:
        if not any(map(str.strip, row)):
            continue
        if len(row) != len(header):
            raise InputError(message("a row has another number of fields"), file=path, line=rows.line_num)
        index: list[int | slice] = [slice(None)] * domain.ndim
        fields = []
        for name, field in zip(header, row, strict=True):
            if field.strip() in EVERY:
                fields.append("*")
                continue
            try:
                code = domain[name].code(field)
            except InputError as error:
                raise InputError(str(error), file=path, line=rows.line_num, hint=error.hint) from None
            index[domain.axis(name)] = code
            fields.append(domain[name].categories[code])
        zeros[tuple(index)] = True
        written.append(fields)
    return csv_rows(header, written), zeros.reshape(-1)
