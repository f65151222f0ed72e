"""The sheets of a workbook that may be published: the cross table, notes on it, the list of its cells.

What a spreadsheet is in Excel's and OpenDocument's words is left to the kinds of files.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import EXACT_FLOAT
from tabprotect.engine.budgets import CROSSTAB_CELLS
from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.workbook_names import LIST_SHEET
from tabprotect.engine.formats.layouts.observations import numbers_shown, refuse_names, refuse_texts
from tabprotect.engine.formats.statuses import CONF, CONF_STATUS, CONFIDENTIAL, COUNT, FREE, SHOWN
from tabprotect.engine.tables.cube import Cube, in_units
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import joined, message

MOST_ROWS = 2**20 - 1
"""The most rows of a sheet below its header."""

Style = Literal[
    "", "text", "head", "across", "title", "note", "number", "total", "whole", "whole_total", "hidden"
]
"""Looks of a cell: a label, a text of several lines, a heading of rows or of columns, ..., a number, a total, the
same without decimals, a sign for a hidden number."""

LONGEST = 32_000
"""The most characters of a text."""
WIDEST = 1000
"""The most columns of a cross table."""
WIDTHS = (6, 42)
"""Least and largest width of a column, in characters."""

TOTAL = "Total"
STATUS = "status"


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A text or a number, with its style."""

    value: str | int | float
    style: Style = ""


@dataclass(frozen=True)
class Sheet:
    """A sheet with how it is looked at and printed.

    Attributes
    ----------
    rows
        Of cells, some of them empty texts; gone through once.
    widths
        Of its columns, in characters.
    heads, labels
        The rows above and the columns left of the numbers, which stay in sight and on every page.
    repeated
        The first of the rows that are printed on every page.
    filtered
        Whether rows can be chosen by what is in them.
    """

    rows: Iterable[Sequence[SheetCell]]
    widths: Sequence[int]
    heads: int = 0
    labels: int = 0
    repeated: int = 0
    filtered: bool = False


def sheets_of(cubes: Sequence[Cube], unwritable: re.Pattern[str]) -> dict[str, Sheet]:
    """The sheets by name: cross tables if there is room, notes if there is something to say, lists.

    Raises
    ------
    InputError
        For a table that is too long, or a text that could not be read back unchanged.
    """
    tables: dict[str, Sheet] = {}
    lists: dict[str, Sheet] = {}
    for number, cube in enumerate(cubes, 1):
        _check_fits(cube.table.domain, unwritable)
        domain = cube.table.domain
        wide = domain.shape[-1] if domain.ndim > 1 else 1
        if domain.ndim >= 1 and domain.size <= CROSSTAB_CELLS and wide < WIDEST:
            named = cube.name or " x ".join(domain.names)
            tables[_sheet_name(named, tables) if len(cubes) > 1 else "Table"] = _cross_table(cube)
        lists[LIST_SHEET if number == 1 else f"{LIST_SHEET} {number}"] = _list(cube)
    notes = {"Notes": _notes(cubes)} if cubes[0].about.facts else {}
    return tables | notes | lists


def _sheet_name(called: str, others: Iterable[str]) -> str:
    """A name as spreadsheets take it; none comes twice."""
    name = re.sub(r"[\[\]:*?/\\']+", " ", called).strip()[:27] or "Table"
    taken = {one.casefold() for one in (*others, "Notes")}
    return next(
        each
        for number in itertools.count(1)
        if (each := name if number == 1 else f"{name} {number}").casefold() not in taken
    )


def _check_fits(domain: Domain, unwritable: re.Pattern[str]) -> None:
    if domain.size > MOST_ROWS:
        raise InputError(
            message("a sheet holds {MOST_ROWS:,} rows, the table has {size:,} cells", MOST_ROWS, domain.size),
            hint=message("write CSV or Parquet"),
        )
    refuse_names(domain, (COUNT, CONF_STATUS, STATUS))
    texts = (text for v in domain.variables for text in (v.name, *v.categories, *v.labels))
    held: Callable[[str], bool] = lambda t: len(t) <= LONGEST and not unwritable.search(t)  # noqa: E731
    refuse_texts(texts, held, message("a sheet"))


def _shown(cube: Cube) -> list[SheetCell]:
    """The numbers in the cube's order, or the sign of hidden ones."""
    found = []
    for shown in numbers_shown(cube):
        if shown is None:
            found.append(SheetCell(SHOWN, "hidden"))
            continue
        number, decimals = shown
        exact = number / 10**decimals if decimals else number
        found.append(
            SheetCell(
                # Larger numbers are not exact in a sheet.
                in_units(number, decimals) if abs(number) >= EXACT_FLOAT else exact,
                "number" if decimals else "whole",
            )
        )
    return found


def _added_up(cube: Cube) -> Cube:
    """With a total of the last variable, and of the first of two, where no totals are told and nothing is hidden."""
    domain = cube.table.domain
    if cube.totals or cube.hidden is not None or cube.decimals or not domain.ndim:
        return cube
    counts, variables, totals = cube.table.counts, list(domain.variables), {}
    for axis in range(domain.ndim) if domain.ndim < 3 else (domain.ndim - 1,):
        one = variables[axis]
        if TOTAL in one.categories:
            return cube
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
        labels = (*one.labels, TOTAL) if one.labels else ()
        variables[axis] = Variable(one.name, (*one.categories, TOTAL), labels=labels)
        totals[one.name] = TOTAL
    return replace(cube, table=Table.dense(Domain(tuple(variables)), counts), totals=totals)


def _cross_table(given: Cube) -> Sheet:
    """The title, the last variable across, the others down; below what the signs mean."""
    cube = _added_up(given)
    variables, about = cube.table.domain.variables, cube.about
    front, last = (variables[:-1], variables[-1]) if len(variables) > 1 else (variables, None)
    across, totals = [cube.content or COUNT], [False]
    if last is not None:
        across = [last.label(n) for n in range(len(last.categories))]
        totals = [code == cube.totals.get(last.name) for code in last.categories]
    title = [SheetCell(title_of(cube), "title")]
    said = [[SheetCell(text, "note")] for text in (about.unit, about.changed) if text]
    above: list[list[SheetCell]] = [title, *said, []]
    first = len(above)
    if last is not None and not cube.figures:
        above.append([*(SheetCell("") for _ in front), SheetCell(last.name, "head")])
    above.append(
        [*(SheetCell(v.name, "head") for v in front), *(SheetCell(text, "across") for text in across)]
    )
    numbers = iter(_shown(cube))
    rows: list[list[SheetCell]] = []
    for index in np.ndindex(*(len(v.categories) for v in front)):
        places = list(zip(front, index, strict=True))
        whole = any(v.categories[n] == cube.totals.get(v.name) for v, n in places)
        look: Style = "head" if whole else ""
        line = [_totalled(next(numbers), whole or total) for total in totals]
        rows.append([*(SheetCell(v.label(n), look) for v, n in places), *line])
    legend = [NOTE] if cube.hidden is not None and cube.hidden.any() else []
    texts = [*legend, *about.notes, *about.origin[bool(about.unit) :]]
    below = [[SheetCell(text, "note")] for text in texts]
    widths = [_width([v.name, *(v.label(n) for n in range(len(v.categories)))]) for v in front]
    for column, text in enumerate(across, len(front)):
        widths.append(_width([text, *(f"{number:,}" for number in _numbers(rows, column))]))
    return Sheet([*above, *rows, *([[], *below] if below else [])], widths, len(above), len(front), first)


def _numbers(rows: Sequence[Sequence[SheetCell]], column: int) -> Iterator[float]:
    return (row[column].value for row in rows if not isinstance(row[column].value, str))  # type: ignore[misc]


NOTE = message("{SHOWN} = not published, to protect respondents", SHOWN)


def _totalled(cell: SheetCell, total: bool) -> SheetCell:
    looks: dict[Style, Style] = {"number": "total", "whole": "whole_total"}
    return SheetCell(cell.value, looks.get(cell.style, cell.style)) if total else cell


def _width(texts: Iterable[str]) -> int:
    return min(max(WIDTHS[0], max(map(len, texts)) + 2), WIDTHS[1])


def _notes(cubes: Sequence[Cube]) -> Sheet:
    """Lay out what was done to the numbers, a row for each fact."""
    facts = cubes[0].about.facts
    rows = [[SheetCell(name, "head"), SheetCell(text, "text")] for name, text in facts]
    if any(cube.hidden is not None for cube in cubes):
        rows.append([SheetCell(SHOWN, "head"), SheetCell(NOTE)])
    return Sheet(rows, (_width(name for name, _ in facts), 100), labels=1)


def _list(cube: Cube) -> Sheet:
    """Every cell by its codes; where some are hidden, with a status and what it says."""
    domain, marked = cube.table.domain, cube.hidden is not None
    named = [*domain.names, COUNT, *([CONF_STATUS, STATUS] if marked else [])]

    def rows() -> Iterator[list[SheetCell]]:
        yield [SheetCell(name, "across" if name == COUNT else "head") for name in named]
        codes = [[SheetCell(code) for code in variable.categories] for variable in domain.variables]
        by_code = {code: [SheetCell(code), SheetCell(CONF[code])] for code in (FREE, CONFIDENTIAL)}
        for labels, number in zip(itertools.product(*codes), _shown(cube), strict=True):
            status = by_code[CONFIDENTIAL if number.style == "hidden" else FREE] if marked else ()
            yield [*labels, number, *status]

    widths = [_width([v.name, *v.categories[:100]]) for v in domain.variables]
    return Sheet(rows(), [*widths, 14, *([14, 16] if marked else [])], 1, filtered=True)


def title_of_book(cubes: Sequence[Cube]) -> str:
    """The title of one table, or the one that its notes say of several."""
    return title_of(cubes[0]) if len(cubes) == 1 else dict(cubes[0].about.facts).get(message("Title"), "")


def title_of(cube: Cube) -> str:
    """The title that was given, else what is counted by which variables."""
    names = joined([name for name in cube.table.domain.names if name != cube.figures], " x ")
    return cube.about.title or (message("{content}: {names}", cube.content, names) if cube.content else names)
