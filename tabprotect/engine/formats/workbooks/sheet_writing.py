"""The sheets of a workbook: the table in long form, and laid out as an office prints it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from tabprotect.engine.arrays import EXACT_FLOAT, Bools
from tabprotect.engine.budgets import CROSSTAB_CELLS
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import COUNT
from tabprotect.engine.formats.layouts.observations import counts_shown, refuse_names, refuse_texts
from tabprotect.engine.formats.statuses import CONF_STATUS, CONFIDENTIAL, FREE, SHOWN
from tabprotect.engine.tables.table import Table
from tabprotect.languages.said import say

MOST_ROWS = 2**20 - 1
"""The most rows of a sheet below its header."""


Style = Literal["", "head", "title", "note"]

LONGEST = 32_000
"""The most characters of a text."""
WIDEST = 1000
"""The most columns of a laid-out table."""

TOTAL = "Total"
NOTE = say(
    "{SHOWN} = not published, to protect respondents; totals that they are part of are left out",
    SHOWN,
)
NOTE_HIDDEN = say("{SHOWN} = not published, to protect respondents", SHOWN)


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
        statuses = [
            markup(SheetCell(code), at + 1) if marked else "" for code in (FREE, CONFIDENTIAL)
        ]
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
    totals: bool = True,
) -> dict[str, Sheet]:
    """The sheets by name: the long form, then rows by columns if there is room.

    Parameters
    ----------
    totals
        Whether rows and columns are added up; not of a cube, whose totals are categories.

    Raises
    ------
    InputError
        For a table that is too long, or a text that could not be read back unchanged.
    """
    domain = table.domain
    if domain.size > MOST_ROWS:
        raise InputError(
            say(
                "a sheet holds {MOST_ROWS:,} rows, the table has {size:,} cells",
                MOST_ROWS,
                domain.size,
            ),
            hint=say("write CSV or Parquet"),
        )
    refuse_names(domain, (COUNT, CONF_STATUS))
    texts = (text for v in domain.variables for text in (v.name, *v.categories))
    held: Callable[[str], bool] = lambda t: len(t) <= LONGEST and not unwritable.search(t)  # noqa: E731
    refuse_texts(texts, held, say("a sheet"))
    sheets: dict[str, Sheet] = {"table": LongSheet(table, hidden)}
    wide = domain.shape[-1] if domain.ndim > 1 else 1
    if domain.ndim >= 1 and domain.size <= CROSSTAB_CELLS and wide < WIDEST:
        sheets["crosstab"] = _laid_out(table, hidden, title, totals)
    return sheets


def _number(count: int) -> SheetCell:
    # Larger numbers are not exact in a sheet.
    return SheetCell(count if count < EXACT_FLOAT else str(count))


def _laid_out(table: Table, hidden: Bools | None, title: str, totals: bool) -> LaidOutSheet:
    """The title, header, rows with their totals, row of totals, and notes."""
    domain = table.domain
    counts = table.counts.reshape(-1, domain.shape[-1] if domain.ndim > 1 else 1)
    gone = np.zeros(counts.shape, dtype=np.bool_)
    if hidden is not None:
        gone = np.asarray(hidden).reshape(counts.shape)
    last = domain.variables[-1] if domain.ndim > 1 else None
    front = domain.variables[:-1] if last is not None else domain.variables
    rows: list[list[SheetCell]] = []
    if title:
        rows += [[SheetCell(title, "title")], []]
    if last is not None:
        rows.append([*(SheetCell("") for _ in front), SheetCell(last.name, "head")])
    heads = [*last.categories, *([TOTAL] if totals else [])] if last is not None else [COUNT]
    rows.append([SheetCell(text, "head") for text in (*(v.name for v in front), *heads)])
    shown: Callable[[int, bool], SheetCell] = lambda n, without: (  # noqa: E731
        SheetCell(SHOWN) if without else _number(n)
    )
    for number, index in enumerate(np.ndindex(*(len(v.categories) for v in front))):
        labels = [v.categories[i] for v, i in zip(front, index, strict=True)]
        line = [shown(int(c), bool(g)) for c, g in zip(counts[number], gone[number], strict=True)]
        if last is not None and totals:
            line.append(shown(int(counts[number].sum()), bool(gone[number].any())))
        rows.append([*map(SheetCell, labels), *line])
    if not totals:
        return LaidOutSheet([*rows, [], [SheetCell(NOTE_HIDDEN, "note")]] if gone.any() else rows)
    sums = [
        (int(c), bool(g))
        for c, g in zip(counts.sum(axis=0), np.logical_or.reduce(gone), strict=True)
    ]
    if last is not None:
        sums.append((int(counts.sum()), bool(gone.any())))
    blank = [SheetCell("") for _ in front[1:]]
    rows.append([SheetCell(TOTAL, "head"), *blank, *(shown(n, g) for n, g in sums)])
    if gone.any():
        rows += [[], [SheetCell(NOTE, "note")]]
    return LaidOutSheet(rows)
