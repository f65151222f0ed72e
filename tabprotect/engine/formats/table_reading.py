"""Reading a table from a file of any format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError, ParameterError, RecordsError, in_file
from tabprotect.engine.formats.format import Format, RowFormat
from tabprotect.engine.formats.layouts.blank_labels import name_blanks, refuse_blanks
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.column_roles import in_roles, refuse_measures
from tabprotect.engine.formats.layouts.stated_multipliers import check_unit_variables
from tabprotect.engine.formats.reading_options import ANY_FORMAT, Reading
from tabprotect.engine.formats.registered import format_of
from tabprotect.engine.formats.text.numerals import NO_COUNT
from tabprotect.engine.formats.totals.hidden_cells import worked_out
from tabprotect.engine.formats.totals.settled_totals import settle_totals
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.category_order import reordered
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_total import KeptTotal
from tabprotect.engine.tables.structural import of_cells
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message, plural

SPARSE = 0.25
"""The least share of cells missing from a list of the positive ones."""


@dataclass(frozen=True)
class TableFile:
    """A table as read, with notes for people on how it was read, and the totals kept beside it.

    ``statuses`` is what the file calls its cells, as lines of an a priori file.
    """

    table: Table
    notes: tuple[str, ...] = ()
    kept: tuple[KeptTotal, ...] = ()
    statuses: str = ""


def read_table(
    path: Path | str, reading: Reading | None = None, *, signed: bool = False, progress: Progress = SILENT
) -> TableFile:
    """Read a table of counts in any registered format.

    In long form every variable has a column and the last column (or the one named ``count``,
    ``freq``, ``frequency``, ``n``) holds the counts. A file that lists no zero and leaves out more
    than a quarter of the cells is a list of the positive ones: the others are zero. Other forms are
    a two-way grid with labels, and a bare matrix of numbers. Codes are opaque text; categories are in
    order of first appearance.

    Parameters
    ----------
    signed
        True if counts may be negative, as published by a mechanism.

    Raises
    ------
    InputError
        Naming the file, the line (1-based), the cell, the cause and the remedy.
    RecordsError
        For a file that holds records rather than counts.
    """
    path, reading = Path(path), reading or Reading()
    kind, reading, cells, notes = listed_cells(path, reading, signed=signed, progress=progress)
    named = list[str]()
    with in_file(path):
        if reading.missing == "suppressed":
            cells, found = worked_out(cells, reading)
            named += found
        settled = settle_totals(name_blanks(cells, reading), reading)
        refuse_blanks(settled.cells)
        progress.report(message("building the table"), 0.9)
        table, missing = checked_table(settled.cells, missing_are=reading.without_count)
        table = reordered(table, reading.order, but=kind.orders_codes)
    said = (*notes, *named, *settled.notes, *_on_missing(missing, table.domain, reading))
    statuses = settled.statuses + settled.cells.given_statuses()
    return TableFile(table, said, settled.kept, statuses)


def listed_cells(
    path: Path, reading: Reading, *, signed: bool = False, progress: Progress = SILENT
) -> tuple[Format, Reading, CellList, list[str]]:
    """The format of a file, the reading with what stands beside it, the cells in their roles, and notes.

    Raises
    ------
    InputError, RecordsError
        As of :func:`read_table`.
    """
    kind = format_of(path, reading.metadata)
    _check_options(kind, reading)
    reading = kind.described(path, reading)
    if reading.holds == "records":
        raise RecordsError(
            message("{name} holds records, not a table", path.name), hint=message("tabulate them")
        )
    with in_file(path):
        try:
            cells, notes = kind.cells(path, reading, progress)
        except InputError as error:
            if error.hint == NO_COUNT:
                _refuse_units(kind, path, reading)
            if isinstance(error, RecordsError) and "records" not in kind.holds:
                error.hint = message("save the sheet of records as CSV, and tabulate that")
            raise
        if not signed:
            cells.refuse_negative()
        cells, roles = in_roles(cells, reading, dropped=isinstance(kind, RowFormat))
        if not len(cells.counts):
            raise InputError(message("the table has no counts"), hint=message("export it again"))
        check_unit_variables(cells, reading)
        cells, named = without_names(cells)
        refuse_measures(cells, reading)
    return kind, reading, cells, [*notes, *roles, *named, *_on_decimals(cells.counts, reading)]


_MOST_DECIMALS = 10**9
"""The multiplier of figures of which only the units are read: it makes those with decimals whole."""


def _refuse_units(kind: Format, path: Path, reading: Reading) -> None:
    """Refuse figures with decimals by the unit that a variable says, which is the better cause."""
    if reading.scale is not None:
        return
    try:
        cells, _ = kind.cells(path, replace(reading, scale=_MOST_DECIMALS), SILENT)
    except InputError:
        return
    check_unit_variables(cells, reading)


def _on_decimals(counts: Ints, reading: Reading) -> Iterator[str]:
    """Return what is to be said of figures that are whole only because a person multiplied them."""
    scale = reading.scale or 1
    broken = int(np.count_nonzero(counts % scale))
    if broken:
        yield message(
            "figures with decimals, multiplied by {scale:,} as --scale says: {broken:,} of {n:,}; means, shares "
            "and rates are no counts",
            scale,
            broken,
            len(counts),
        )


def _on_missing(missing: int, domain: Domain, reading: Reading) -> Iterator[str]:
    """Return what is to be said of cells that were not listed."""
    if missing and reading.without_count == "structural":
        yield plural(
            missing,
            "{missing:,} of {size:,} cells is not in the file: nobody can be there",
            "{missing:,} of {size:,} cells are not in the file: nobody can be there",
            missing,
            domain.size,
        )
        return
    if missing == 1:
        yield message("1 of {size:,} cells is not in the file and was taken as 0", domain.size)
    elif missing:
        yield message(
            "{missing:,} of {size:,} cells are not in the file and were taken as 0", missing, domain.size
        )
    if domain.ndim > 2 and missing > 0.9 * domain.size:
        yield message(
            "if not every column is a variable of the table (some may group others), tabulate the "
            "file by those that are, with the counts as weight"
        )


def _check_options(kind: Format, reading: Reading) -> None:
    idle = [name for name in reading.given if name not in kind.options | ANY_FORMAT]
    if idle:
        raise ParameterError(
            dict.fromkeys(idle, message("says nothing about this format: {label}", kind.label)),
            hint=message("leave the option out"),
        )


def checked_table(cells: CellList, *, missing_are: str | None) -> tuple[Table, int]:
    """The table of listed cells, and the number of cells not listed.

    Parameters
    ----------
    missing_are
        ``zero`` or ``structural``; ``None`` if it is not said.

    Raises
    ------
    InputError
        For a cell listed twice, or gaps in a table that is no list of its positive cells.
    """
    table, missing = cells.table()
    if missing and missing_are is None:
        _check_missing(cells, missing, table.domain)
    if missing and missing_are == "structural":
        table = _nobody(cells, table)
    return table, missing


MOST_STRUCTURAL = 2**20
"""The most cells of a table in which those without a count become structural zeros."""


def _nobody(cells: CellList, table: Table) -> Table:
    """The table with its cells that are not listed as structural zeros."""
    domain = table.domain
    if domain.size > MOST_STRUCTURAL:
        raise InputError(
            message("the table is too large for structural zeros cell by cell"),
            hint=message("name them in a file of structural zeros, or take them for zeros (--missing zero)"),
        )
    listed = np.zeros(domain.size, dtype=np.bool_)
    listed[cells.keys()] = True
    nobody = np.stack(np.unravel_index(np.flatnonzero(~listed), domain.shape), axis=1)
    found = of_cells(nobody.tolist(), domain.categories)
    return table.on(domain.with_structural([*domain.structural, *found]))


def _check_missing(cells: CellList, missing: int, domain: Domain) -> None:
    """Refuse a table with gaps, except a list of only the positive cells.

    Raises
    ------
    InputError
        Naming the first missing cell.
    """
    if not cells.gaps and missing > SPARSE * domain.size and not (cells.counts == 0).any():
        return
    keys = np.sort(cells.keys())
    out_of_step = np.flatnonzero(keys != np.arange(len(keys)))
    first = int(out_of_step[0]) if len(out_of_step) else len(keys)
    raise InputError(
        plural(
            missing,
            "{missing:,} of {size:,} cells is missing",
            "{missing:,} of {size:,} cells are missing",
            missing,
            domain.size,
        ),
        cell=domain.cell_text(domain.unflat(first)),
        hint=message(
            "list every cell, zeros too; or say what they are: --missing zero, or structural, or "
            "suppressed where the totals tell them"
        ),
    )


FEWEST = 3
"""The number of categories from which on a one-to-one pair of columns is no accident."""


def without_names(cells: CellList) -> tuple[CellList, list[str]]:
    """Turn every one-to-one pair of columns into one variable with labels.

    The shorter texts are the categories. Each must occur at least twice: a list with one row for each
    category is no evidence.
    """
    notes: list[str] = []
    if cells.codes is None:
        return cells, notes
    dropped: set[int] = set()
    labels = dict(cells.labels)
    for a, b in combinations(range(len(cells.names)), 2):
        if dropped & {a, b} or not _same(cells, a, b):
            continue
        code, name = sorted((a, b), key=lambda axis: sum(map(len, cells.categories[axis])))
        pairs = dict(zip(cells.code(code).tolist(), cells.code(name).tolist(), strict=True))
        codes, texts = cells.categories[code], cells.categories[name]
        labels[cells.names[code]] = {codes[one]: texts[other] for one, other in pairs.items()}
        notes.append(
            message(
                "the column {names} names the categories of {names2}",
                repr(cells.names[name]),
                repr(cells.names[code]),
            )
        )
        dropped.add(name)
    if not dropped:
        return cells, notes
    axes = [axis for axis in range(len(cells.names)) if axis not in dropped]
    found = replace(
        cells,
        names=tuple(cells.names[axis] for axis in axes),
        categories=tuple(cells.categories[axis] for axis in axes),
        codes=tuple(cells.code(axis) for axis in axes),
        labels=labels,
    )
    return found, notes


FEW_PAIRS = 8
"""Pairs of categories for each cell, up to which each pair has a place of its own."""


def _same(cells: CellList, a: int, b: int) -> bool:
    size = len(cells.categories[a])
    if size != len(cells.categories[b]) or size < FEWEST or len(cells.counts) < 2 * size:
        return False
    if len(cells.names) < 3:
        return False
    pairs = cells.code(a).astype(np.int64) * size + cells.code(b)
    if size * size > FEW_PAIRS * len(pairs):
        return len(np.unique(pairs)) == size
    # Counting is ten times as fast as sorting where there is room to count.
    there = np.zeros(size * size, dtype=np.bool_)
    there[pairs] = True
    return int(np.count_nonzero(there)) == size
