"""Published counts in one long list, in which the code ``Total`` marks variables summed over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError, ParameterError, in_file
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.grouping_files import unchecked_groupings
from tabprotect.engine.formats.layouts.blank_labels import name_blanks, refuse_blanks
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import TEXT, format_of
from tabprotect.engine.formats.table_reading import listed_cells
from tabprotect.engine.formats.totals.settled_totals import stated_totals
from tabprotect.engine.formats.totals.total_rows import is_total, lettered_totals
from tabprotect.engine.options import Options, option_field
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import joined, message, plural

TOTAL = "Total"

Missing = Literal["refuse", "unknown", "zero"]


@dataclass(frozen=True, kw_only=True)
class PublishedReading(Options):
    """How a file of published counts is read."""

    count: str | None = option_field(None, metavar="COLUMN", help=message("the column of the counts"))
    total: str | None = option_field(
        None,
        shell="--total --totals",
        metavar="CODE",
        help=message("the code of a variable that is summed over; else Total, or what usually stands for it"),
    )
    groupings: str = option_field(
        "",
        metavar="TEXT",
        help=message("columns that group the codes of others: eu:geo=Spain>EU,Iceland>no, or a file"),
    )


_MARKS = ("..", "...", ".", "x", "X", "*", "**", "c", "C", "s", "S", ":", ":c", "#", "n/a", "NA", "blank")
HIDDEN = " ".join(f"{mark}=suppressed" for mark in _MARKS)
"""Marks with which offices show that a count is hidden."""

NOT_PUBLISHED = ("totals", "strip_totals", "tolerance", "missing", "fill_missing", "order")
"""Options of reading that say nothing of published tables: what these leave out is unknown."""

USUAL = PublishedReading()
"""With the usual names of counts and totals."""


@dataclass(frozen=True, eq=False)
class PublishedRows:
    """The contents of a list of published counts.

    Attributes
    ----------
    publication
        The variables with every code that occurs, and the margins of the rows.
    cells : int64 (rows,)
        The published cell of each row.
    counts : int64 (rows,)
    known : bool (published,)
        The published cells that have a row (or count as zero).
    labels
        The codes of a row as in the file, by its number.
    notes
        How the file was read, for people.
    """

    publication: Publication
    cells: Ints
    counts: Ints
    known: Bools
    labels: Callable[[int], tuple[str, ...]]
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> Ints:
        """The counts by published cell, int64 (published,); 0 if there is none."""
        values = np.zeros(self.publication.size, dtype=np.int64)
        values[self.cells] = self.counts
        return values


def read_published(
    path: Path | str,
    asked: PublishedReading = USUAL,
    reading: Reading | None = None,
    *,
    missing: Missing = "refuse",
    progress: Progress = SILENT,
) -> PublishedRows:
    """Read published counts: a column for each variable, and one of counts.

    The rows themselves determine the published margins: a row with the total code in every variable
    except A and B belongs to the margin of A and B.

    Parameters
    ----------
    reading
        How its file is read, as any table's.
    missing
        The meaning of a cell of a published margin without a row: a fault, not published, or 0.

    Raises
    ------
    InputError
        Naming the line, the cell or the margin, and the remedy.
    """
    path, reading = Path(path), reading or Reading()
    if idle := [name for name in reading.given if name in NOT_PUBLISHED]:
        raise ParameterError(dict.fromkeys(idle, message("says nothing of published tables")))
    stated = replace(reading, count=asked.count or reading.count)
    if missing == "unknown":
        # What an office hides is what somebody looks for: its usual marks are no fault.
        stated = replace(stated, marks=f"{HIDDEN} {reading.marks or ''}", missing="suppressed")
    _, _, listed, notes = _listed(path, stated, progress)
    with in_file(path):
        listed = name_blanks(listed, stated)
        codes = "-" if asked.total is None else asked.total
        if all(code.rpartition("=")[2].strip() for code in codes.split(",")):
            refuse_blanks(listed)
        found = arranged(listed, asked, missing=missing)
        return replace(found, notes=(*notes, *found.notes))


def _listed(path: Path, reading: Reading, progress: Progress) -> tuple[Format, Reading, CellList, list[str]]:
    """The cells of a file; a text with marks in place of counts is a list with its header first, if it can be."""
    if (
        reading.marks is None
        or reading.header_row is not None
        or format_of(path, reading.metadata).name != TEXT
    ):
        return listed_cells(path, reading, progress=progress)
    try:
        return listed_cells(path, replace(reading, header_row="1"), progress=progress)
    except InputError as error:
        try:
            return listed_cells(path, reading, progress=progress)
        except InputError:
            raise error from None


def arranged(
    listed: CellList, asked: PublishedReading = USUAL, *, missing: Missing = "refuse"
) -> PublishedRows:
    """Published counts from a list of cells: see :func:`read_published`."""
    listed.refuse_negative()
    _refuse_twice(listed)
    marks, notes = _marks(listed, asked.total)
    columns = {}
    for name, known, mark in zip(listed.names, listed.categories, marks, strict=True):
        codes = tuple(code for k, code in enumerate(known) if k != mark)
        if not codes:
            raise InputError(
                message("the variable {name} has no code but {known}", repr(name), repr(known[mark])),
                hint=message("leave the column out: it says nothing"),
            )
        columns[name] = Variable(name, codes)
    grouped = unchecked_groupings(asked.groupings, Domain(tuple(columns.values())))
    for grouping in grouped:
        if grouping.name not in columns:
            raise InputError(
                message("there is no column {name}", repr(grouping.name)),
                hint=message("name the grouping as its column"),
            )
        for code in columns[grouping.name].categories:
            grouping.variable.code(code)
    names = {grouping.name for grouping in grouped}
    domain = Domain(tuple(v for name, v in columns.items() if name not in names))
    detail = np.zeros((len(listed.counts), len(marks)), dtype=np.bool_)
    for axis, mark in enumerate(marks):
        detail[:, axis] = listed.code(axis) != mark
    kinds, first, kind = np.unique(detail, axis=0, return_index=True, return_inverse=True)
    order = sorted(range(len(kinds)), key=lambda k: (kinds[k].sum(), first[k]))
    margins = [tuple(n for n, d in zip(listed.names, kinds[k], strict=True) if d) for k in order]
    publication = Publication(domain, tuple(margins), grouped)
    if len(publication.margins) < len(margins):
        raise InputError(
            message("a row details a grouping beside its own variable"),
            hint=message(
                "write {total} for the grouping there", repr(TOTAL if asked.total is None else asked.total)
            ),
        )
    cells = np.empty(len(listed.counts), dtype=np.int64)
    for m, k in enumerate(order):
        rows = np.flatnonzero(kind.reshape(-1) == k)
        cells[rows] = _cells(publication, m, listed, rows, marks)
    there = np.zeros(publication.size, dtype=np.bool_)
    there[cells] = True
    if missing == "refuse":
        _refuse_holes(publication, there)
    if missing == "zero":
        there[:] = True
    return PublishedRows(publication, cells, listed.counts, there, listed.cell, notes)


def _marks(listed: CellList, total: str | None) -> tuple[list[int], tuple[str, ...]]:
    """The number of each variable's code of what is summed over, -1 for none; and what else than usual it is."""
    if total is not None and all("=" in part for part in total.split(",")):
        by_name = stated_totals(listed, total)
        return [next(iter(by_name.get(axis, {-1: None}))) for axis in range(len(listed.names))], ()
    marks = [
        _mark(name, known, listed.labels.get(name, {}), total)
        for name, known in zip(listed.names, listed.categories, strict=True)
    ]
    if total is None and max(marks, default=-1) < 0:
        for axis, (code,) in lettered_totals(listed).items():
            marks[axis] = code
    found = {
        name: known[mark]
        for name, known, mark in zip(listed.names, listed.categories, marks, strict=True)
        if mark >= 0 and known[mark].strip().casefold() != (TOTAL if total is None else total).casefold()
    }
    said = joined((f"{name} = {code!r}" for name, code in found.items()), ", ")
    return marks, (message("taken as totals: {said} (--total CODE says another)", said),) if found else ()


def _mark(name: str, codes: tuple[str, ...], labels: Mapping[str, str], total: str | None) -> int:
    """The position of the total among a variable's codes; -1 if it is never summed over."""
    found = [
        k
        for k, code in enumerate(codes)
        if code.strip().casefold() == (TOTAL if total is None else total).casefold()
    ]
    if total is None and not found:
        texts = [(code, labels.get(code, code)) for code in codes]
        found = [k for k, both in enumerate(texts) if any(text.strip() and is_total(text) for text in both)]
    if len(found) > 1:
        raise InputError(
            message("the total of {name} is written in several ways: ", repr(name))
            + ", ".join(repr(codes[k]) for k in found),
            hint=message("write it in one way"),
        )
    return found[0] if found else -1


def _cells(publication: Publication, m: int, listed: CellList, rows: Ints, marks: list[int]) -> Ints:
    """The published cells (rows,) of the rows of one margin."""
    cells = np.zeros(len(rows), dtype=np.int64)
    for variable in publication.domains[m].variables:
        axis = listed.names.index(variable.name)
        place = np.array(
            [-1 if k == marks[axis] else variable.code(c)
             for k, c in enumerate(listed.categories[axis])], dtype=np.int64
        )  # fmt: skip
        cells = cells * len(variable.categories) + place[listed.code(axis)[rows]]
    cells += publication.starts[m]
    return cells


def _refuse_twice(listed: CellList) -> None:
    keys = listed.keys()
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(np.diff(keys[order]) == 0)
    if len(twice):
        at = twice[np.argmin(order[twice + 1])]
        one, other = int(order[at]), int(order[at + 1])
        raise InputError(
            message("the count occurs twice (first in {one})", listed.place(one)),
            line=listed.line(other),
            cell=listed.text(other),
            hint=message("remove one of them; or a variable is missing"),
        )


def _refuse_holes(publication: Publication, known: Bools) -> None:
    for m, margin in enumerate(publication.margins):
        holes = np.flatnonzero(~known[publication.starts[m] : publication.starts[m + 1]])
        if len(holes):
            raise InputError(
                plural(
                    len(holes),
                    "the margin {margin} is published in part: {holes:,} of {size:,} counts is missing",
                    "the margin {margin} is published in part: {holes:,} of {size:,} counts are missing",
                    ":".join(margin),
                    len(holes),
                    publication.domains[m].size,
                ),
                cell=publication.cell_text(int(holes[0] + publication.starts[m])),
                hint=message(
                    "list every count; or say what missing ones are: --missing unknown (not "
                    "published) or --missing zero"
                ),
            )
