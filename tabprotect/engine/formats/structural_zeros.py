"""Structural zeros from a file: cells that are empty whatever the data are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.text.rows import TextRows
from tabprotect.engine.tables.domain import Domain

EVERY = ("", "*")


def read_zeros(path: Path, domain: Domain) -> Bools:
    """Cells that a file of columns names as empty, bool (cells,).

    The header names variables of the table. Every row names one category of each; an empty field or
    ``*`` stands for all of them, as does a variable without a column.

    Raises
    ------
    InputError
        For an unknown variable or category, with its line.
    """
    found = TextRows(path)
    rows = list(found.rows())
    header = [name.strip() for name in rows[0]] if rows else []
    unknown = [name for name in header if name not in domain.names]
    if unknown or not header or len(set(header)) != len(header):
        raise InputError(
            "the first row must name variables of the table, each once"
            + (f"; {unknown[0]!r} is none" if unknown else ""),
            file=path,
            hint=f"there are {', '.join(domain.names)}",
        )
    zeros = np.zeros(domain.shape, dtype=np.bool_)
    for number, row in enumerate(rows[1:], 1):
        line = found.line(number)
        if len(row) != len(header):
            raise InputError("a row has another number of fields", file=path, line=line)
        index: list[int | slice] = [slice(None)] * domain.ndim
        for name, field in zip(header, row, strict=True):
            if field.strip() in EVERY:
                continue
            try:
                index[domain.axis(name)] = domain[name].code(field)
            except InputError as error:
                raise InputError(str(error), file=path, line=line, hint=error.hint) from None
        zeros[tuple(index)] = True
    return zeros.reshape(-1)
