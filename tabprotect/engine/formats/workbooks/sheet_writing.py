"""The sheets of a workbook: the table in long form, and laid out as an office prints it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

import numpy as np

from tabprotect.engine.arrays import EXACT_FLOAT, Bools
from tabprotect.engine.budgets import CROSSTAB_CELLS
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.observations import counts_shown, refuse_names, refuse_texts
from tabprotect.engine.formats.statuses import CONF_STATUS, CONFIDENTIAL, COUNT, FREE, SHOWN
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_ROWS = 2**20 - 1
"""The most rows of a sheet below its header."""


Style = Literal["", "head", "title", "note"]

LONGEST = 32_000
"""The most characters of a text."""
WIDEST = 1000
"""The most columns of a laid-out table."""

TOTAL = "Total"
NOTE = message("{SHOWN} = not published, to protect respondents", SHOWN)

Margins = Mapping[tuple[str, ...], tuple[Table, Bools | None]]
"""Published margins by their variables, each with its hidden cells."""


@dataclass(frozen=True)
class SheetCell:
    """A text or a whole number, with its style."""

    value: str | int
    style: Style = ""


Markup = Callable[[SheetCell, int], str]
"""What a file has for a cell in a column; a NUL stands for the number of its row."""


class Sheet(Protocol):
    """The rows of a sheet, each with its cells."""

    def rows(self, markup: Markup) -> Iterator[str]:
        """The markup of the cells of each row, in order."""


@dataclass(frozen=True)
class LaidOutSheet:
    """A sheet as people print it: rows of cells, some of them empty."""

    cells: Sequence[Sequence[SheetCell]]

    def rows(self, markup: Markup) -> Iterator[str]:
        for row in self.cells:
            yield "".join(markup(cell, column) for column, cell in enumerate(row))


@dataclass(frozen=True)
class LongSheet:
    """Every cell of a table with its categories; the markup of a category is made once."""

    table: Table
    hidden: Bools | None

    def rows(self, markup: Markup) -> Iterator[str]:
        domain, marked = self.table.domain, self.hidden is not None
        header = [*domain.names, COUNT, *([CONF_STATUS] if marked else [])]
        yield "".join(markup(SheetCell(name, "head"), at) for at, name in enumerate(header))
        labels = (
            [markup(SheetCell(category), at) for category in variable.categories]
            for at, variable in enumerate(domain.variables)
        )
        at = domain.ndim
        gone = markup(SheetCell(SHOWN), at)
        statuses = [markup(SheetCell(code), at + 1) if marked else "" for code in (FREE, CONFIDENTIAL)]
        shown = counts_shown(self.table, self.hidden)
        for row, count in zip(itertools.product(*labels), shown, strict=True):
            number = gone if count is None else markup(_number(count), at)
            yield "".join(row) + number + statuses[count is None]


def sheets_of(
    table: Table,
    hidden: Bools | None,
    title: str,
    unwritable: re.Pattern[str],
    *,
    margins: Margins | None = MappingProxyType({}),
) -> dict[str, Sheet]:
    """The sheets by name: the long form, then rows by columns if there is room.

    Parameters
    ----------
    margins
        The published margins, which stand as totals as they were published; others are added up.
        ``None`` for a cube, whose totals are categories.

    Raises
    ------
    InputError
        For a table that is too long, or a text that could not be read back unchanged.
    """
    domain = table.domain
    if domain.size > MOST_ROWS:
        raise InputError(
            message("a sheet holds {MOST_ROWS:,} rows, the table has {size:,} cells", MOST_ROWS, domain.size),
            hint=message("write CSV or Parquet"),
        )
    refuse_names(domain, (COUNT, CONF_STATUS))
    texts = (text for v in domain.variables for text in (v.name, *v.categories))
    held: Callable[[str], bool] = lambda t: len(t) <= LONGEST and not unwritable.search(t)  # noqa: E731
    refuse_texts(texts, held, message("a sheet"))
    sheets: dict[str, Sheet] = {"table": LongSheet(table, hidden)}
    wide = domain.shape[-1] if domain.ndim > 1 else 1
    if domain.ndim >= 1 and domain.size <= CROSSTAB_CELLS and wide < WIDEST:
        sheets["crosstab"] = _laid_out(table, hidden, title, margins)
    return sheets


def _number(count: int) -> SheetCell:
    # Larger numbers are not exact in a sheet.
    return SheetCell(count if count < EXACT_FLOAT else str(count))


def _sums(margins: Margins, table: Table, gone: Bools, names: Sequence[str]) -> list[tuple[int, bool]]:
    """The totals over some variables, and which are hidden: as published, else added up.

    A total that was not published is hidden where one of its cells is.
    """
    if tuple(names) in margins:
        margin, out = margins[tuple(names)]
        counts = margin.counts.reshape(-1)
        hidden = np.zeros(counts.shape, np.bool_) if out is None else np.asarray(out).reshape(-1)
    else:
        over = tuple(n for n, name in enumerate(table.domain.names) if name not in names)
        counts = table.counts.sum(axis=over).reshape(-1)
        hidden = gone.any(axis=over).reshape(-1)
    return list(zip(counts.tolist(), hidden.tolist(), strict=True))


def _laid_out(table: Table, hidden: Bools | None, title: str, margins: Margins | None) -> LaidOutSheet:
    """The title, header, rows with their totals, row of totals, and notes."""
    domain = table.domain
    gone = np.zeros(domain.shape, np.bool_) if hidden is None else np.asarray(hidden)
    last = domain.variables[-1] if domain.ndim > 1 else None
    front = domain.variables[:-1] if last is not None else domain.variables
    wide = len(last.categories) if last is not None else 1
    cells = list(zip(table.counts.reshape(-1).tolist(), gone.reshape(-1).tolist(), strict=True))
    rows: list[list[SheetCell]] = []
    if title:
        rows += [[SheetCell(title, "title")], []]
    if last is not None:
        rows.append([*(SheetCell("") for _ in front), SheetCell(last.name, "head")])
    more = [TOTAL] if margins is not None else []
    heads = [*last.categories, *more] if last is not None else [COUNT]
    rows.append([SheetCell(text, "head") for text in (*(v.name for v in front), *heads)])
    across: list[tuple[int, bool]] = []
    if margins is not None and last is not None:
        across = _sums(margins, table, gone, [v.name for v in front])
    for number, index in enumerate(np.ndindex(*(len(v.categories) for v in front))):
        labels = [v.categories[i] for v, i in zip(front, index, strict=True)]
        line = [*cells[number * wide : (number + 1) * wide], *across[number : number + 1]]
        rows.append([*map(SheetCell, labels), *(_shown(n, out) for n, out in line)])
    below: list[tuple[int, bool]] = []
    if margins is not None:
        if last is not None:
            below = _sums(margins, table, gone, [last.name])
        below += _sums(margins, table, gone, [])
        blank = [SheetCell("") for _ in front[1:]]
        rows.append([SheetCell(TOTAL, "head"), *blank, *(_shown(n, out) for n, out in below)])
    if any(out for _, out in (*cells, *across, *below)):
        rows += [[], [SheetCell(NOTE, "note")]]
    return LaidOutSheet(rows)


def _shown(count: int, hidden: bool) -> SheetCell:
    return SheetCell(SHOWN) if hidden else _number(count)
