"""A table in long form as CSV, the same bytes for the same table."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.budgets import FULL_LIMIT
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.statuses import COUNT
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

BLOCK = 64
"""The least number of lines that are written together."""


_NEEDS_QUOTES = re.compile('[",;\t|\r\n\ufeff]|^\\s|\\s$')


def _quoted(field: str) -> str:
    """Quote a field if any reader that sniffs the delimiter might need it."""
    return field if field and not _NEEDS_QUOTES.search(field) else '"' + field.replace('"', '""') + '"'


def _blocks(
    table: Table, without: Bools | None, around: tuple[str, str, str], texts: Sequence[str]
) -> Iterator[str]:
    """Lines of a dense table, many at a time: labels are joined once for many cells."""
    domain, (first, last, hidden_last) = table.domain, around
    if texts:
        counts = np.array([text + last for text in texts], dtype=object)
    else:
        counts = _texts(table.counts.reshape(-1), last)
    if without is not None:
        # An empty field alone in its line is quoted, since a blank line is no record.
        counts[without.reshape(-1)] = ("" if domain.ndim or hidden_last else '""') + hidden_last
    quoted = [[_quoted(category) + "," for category in v.categories] for v in domain.variables]
    inner = [""]
    while quoted and len(inner) < BLOCK:
        labels = quoted.pop()
        inner = [label + rest for label in labels for rest in inner]
    fields = np.empty((len(inner), 3), dtype=object)
    fields[:, 1] = inner
    for outer, part in zip(
        map("".join, itertools.product([first], *quoted)), counts.reshape(-1, max(len(inner), 1)), strict=True
    ):
        # The lines, without the line break before the first one.
        fields[:, 0], fields[0, 0] = f"\n{outer}", outer
        fields[:, 2] = part
        yield "".join(fields.reshape(-1).tolist())


def _texts(counts: Ints, last: str) -> npt.NDArray[np.object_]:
    """Each count with the end of its line; one object for equal counts, if that pays."""
    low, high = int(counts.min(initial=0)), int(counts.max(initial=0))
    if high - low < len(counts):
        made = np.array([f"{count}{last}" for count in range(low, high + 1)], dtype=object)
        return made[counts - low]
    return np.array([f"{count}{last}" for count in counts.tolist()], dtype=object)


def _listed(table: Table, first: str, last: str) -> Iterator[str]:
    """Lines of the nonzero cells of a sparse table."""
    keys, counts = table.cells
    quoted = [
        np.array([_quoted(category) for category in variable.categories], dtype=object)
        for variable in table.domain.variables
    ]
    for begin in range(0, len(keys), 1 << 18):
        span = slice(begin, begin + (1 << 18))
        codes = np.unravel_index(keys[span], table.domain.shape)
        columns = [labels[code] for labels, code in zip(quoted, codes, strict=True)]
        numbers = map(str, counts[span].tolist())
        for line in map(",".join, zip(*columns, numbers, strict=True)):
            yield first + line + last


def write_csv(
    table: Table,
    *,
    count: str = COUNT,
    beside: Sequence[str] = (),
    texts: Sequence[str] = (),
    without: Bools | None = None,
    before: Mapping[str, str] = MappingProxyType({}),
    after: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> bytes:
    """Write the table in long form: UTF-8, commas, ``\\n``, the same bytes for the same table.

    Every cell is written, zeros too, in the table's order, so that reading it back gives the same
    categories; only sparse tables above 2^24 cells are written without zeros.

    Parameters
    ----------
    beside
        The names of further columns, whose fields are in ``texts``.
    texts
        What stands for each cell of a dense table in place of its count.
    without : bool, shape of the (dense) table, or None
        The cells written without their count.
    before
        Columns with the same value in every line, by name.
    after
        Columns with one value in lines with a count and another in those without, by name.

    Raises
    ------
    InputError
        For a variable named like one of the other columns.
    """
    for name in table.domain.names:
        if name in {**before, **after} or name in beside:
            raise InputError(
                message("a variable is named {name}", repr(name)), hint=message("rename it before writing")
            )
    header = ",".join(map(_quoted, (*before, *table.domain.names, count, *beside, *after)))
    first = "".join(_quoted(value) + "," for value in before.values())
    last = "".join("," + _quoted(shown) for shown, _ in after.values())
    hidden_last = "".join("," + _quoted(hidden) for _, hidden in after.values())
    listed = not texts and table.is_sparse and table.domain.size > FULL_LIMIT
    lines = (
        _listed(table, first, last) if listed else _blocks(table, without, (first, last, hidden_last), texts)
    )
    return ("\n".join(itertools.chain([header], lines)) + "\n").encode("utf-8")
