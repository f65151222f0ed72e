"""Printed tables: one variable across the page, the others down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.report.svg_figures import count_text
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.variable import Variable, spoken
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

MOST_CELLS = 600
"""The most cells of a printed table; larger ones are in the files."""


HALF = message("{half:.1f}", half=0.5)
"""Tells which decimal point the language has."""

ACROSS = 8
"""The most columns of counts on a page."""


@dataclass(frozen=True)
class GridCell:
    """A printed cell: its text, and a style class."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class PrintedPart:
    """A part of a table as wide as the page.

    Attributes
    ----------
    across
        The variable over the columns; empty for a single column of counts.
    columns
        Their headings.
    rows
        The labels of each row and its cells.
    """

    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[GridCell, ...]], ...]


@dataclass(frozen=True)
class Grid:
    """A printed table.

    Attributes
    ----------
    title
        Its variables.
    down
        The variables of the rows.
    panels
        Its parts; empty if it is too large to print.
    cells
        Number of its cells, as print writes it.
    """

    title: str
    down: tuple[str, ...]
    panels: tuple[PrintedPart, ...]
    cells: str


def published_grid(published: PublishedTable) -> Grid:
    """A published table; a cross stands for a suppressed count. Public."""
    domain = published.table.domain
    if domain.size > MOST_CELLS:
        return _unprinted(domain)
    counts, hidden = published.table.counts, published.hidden

    def cell(index: Index) -> GridCell:
        if hidden[index]:
            return GridCell("\N{MULTIPLICATION SIGN}", "hidden")
        return GridCell(count_text(int(counts[index])))

    return grid(domain, cell)


def magnitude_grid(
    published: PublishedMagnitudes, original: MagnitudeTable | None = None, unsafe: Bools | None = None
) -> Grid:
    """The sums, totals and levels among rows and columns.

    Parameters
    ----------
    original
        For staff: each sum as "true → published", one number where both are the same.
    unsafe : bool (cells of the original,)
        What is hidden because it is unsafe itself; marked. Confidential, as the original is.
    """
    number = {key: n for n, key in enumerate(published.key.tolist())}
    true = {} if original is None else {key: n for n, key in enumerate(original.cells.key.tolist())}

    def cell(index: Index) -> GridCell:
        key = int(np.ravel_multi_index(index, published.shape))
        at, own = number.get(key), true.get(key)
        if at is None:
            return GridCell("0")
        hidden = bool(published.hidden[at])
        after = "\N{MULTIPLICATION SIGN}" if hidden else _apart(published.written(at))
        if original is None or own is None:
            return GridCell(after, "hidden" if hidden else "")
        before = _apart(published.text(int(original.cells.value[own])))
        kind = "risk" if unsafe is not None and unsafe[own] else ""
        if before == after:
            return GridCell(before, f"{kind} same".strip())
        return GridCell(f"{before} → {after}", kind)

    domain = Domain(
        tuple(Variable(variable.name, tuple(variable.written)) for variable in published.variables)
    )
    return grid(domain, cell)


def _apart(text: str) -> str:
    """A sum with its thousands apart; decimals as the language has them."""
    whole, _, part = text.partition(".")
    return f"{count_text(int(whole))}{translate(HALF)[1]}{part}" if part else count_text(int(whole))


def grid(domain: Domain, cell: Callable[[Index], GridCell]) -> Grid:
    """Lay out a table.

    Parameters
    ----------
    cell
        The printed cell at an index.
    """
    if domain.size > MOST_CELLS:
        return _unprinted(domain)
    names = domain.names
    across = _across(domain.shape)
    down = tuple(name for axis, name in enumerate(names) if axis != across)
    every = range(1) if across is None else range(domain.shape[across])
    panels = []
    for start in range(0, len(every), ACROSS):
        places = every[start : start + ACROSS]
        rows = []
        for others in product(*(range(size) for axis, size in enumerate(domain.shape) if axis != across)):
            indices = [
                others if across is None else (*others[:across], place, *others[across:]) for place in places
            ]
            labels = domain.labels(indices[0])
            head = tuple(label for axis, label in enumerate(labels) if axis != across)
            rows.append((head, tuple(cell(index) for index in indices)))
        columns = (
            (message("count"),)
            if across is None
            else tuple(domain.labels(_at(domain, across, place))[across] for place in places)
        )
        panels.append(PrintedPart("" if across is None else names[across], columns, tuple(rows)))
    return Grid(_title(domain), down, tuple(panels), count_text(domain.size))


def _title(domain: Domain) -> str:
    return spoken(domain.names) or message("grand total")


def _unprinted(domain: Domain) -> Grid:
    return Grid(_title(domain), domain.names, (), count_text(domain.size))


def _across(shape: tuple[int, ...]) -> int | None:
    """The axis across the page: the longest that fits, the last of equals."""
    if len(shape) < 2:
        return None
    fitting = [axis for axis, size in enumerate(shape) if size <= ACROSS]
    if not fitting:
        return min(range(len(shape)), key=lambda axis: (shape[axis], -axis))
    return max(fitting, key=lambda axis: (shape[axis], axis))


def _at(domain: Domain, axis: int, place: int) -> Index:
    return tuple(place if a == axis else 0 for a in range(len(domain.shape)))
