"""A table in long form as CSV, the same bytes for the same table."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.formats.format import COUNT
from tabprotect.engine.tables.table import Table

FULL_LIMIT = 2**24
"""Sparse tables beyond this many cells are written without their zeros."""

_NEEDS_QUOTES = re.compile('[",;\t|\r\n\ufeff]|^\\s|\\s$')


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


def write_csv(
    table: Table,
    *,
    count: str = COUNT,
    without: Bools | None = None,
    before: Mapping[str, str] = MappingProxyType({}),
    after: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """The table in long form: UTF-8, commas, ``\\n``, the same bytes for the same table.

    Every cell is written, zeros too, in the table's order, so that reading it back gives the same
    categories; only of sparse tables above 2^24 cells the zeros are left out.

    Parameters
    ----------
    without : bool, shape of the (dense) table, or None
        Cells that are written without their count.
    before, after
        Columns that say the same in every line, by name.
    """
    header = ",".join(map(_quoted, (*before, *table.domain.names, count, *after)))
    lines: Iterable[str] = _lines(table)
    if without is not None:
        lines = (
            _without_count(line) if blank else line
            for line, blank in zip(lines, without.reshape(-1).tolist(), strict=True)
        )
    if before or after:
        first = "".join(_quoted(value) + "," for value in before.values())
        last = "".join("," + _quoted(value) for value in after.values())
        lines = (first + line + last for line in lines)
    return ("\n".join(itertools.chain([header], lines)) + "\n").encode("utf-8")
