"""Roles of a file's columns, as a person says them: a variable, a label, left out, or a slice.

A column of numbers beside the counts (a weight, a percentage) that the other columns already determine
classifies nothing: as a variable it would give a table of invented zeros. It is asked about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.looks_numeric import looks_numeric
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.table_forms import no_column
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.languages.messages import joined, message


def in_roles(cells: CellList, reading: Reading, *, dropped: bool) -> tuple[CellList, list[str]]:
    """The cells with the roles that the reading gives their columns, and notes.

    Parameters
    ----------
    dropped
        True if the columns to be left out are left out already.

    Raises
    ------
    InputError
        For an unknown column or category, a label that is not one for each category, and columns of
        numbers that nobody explained.
    """
    notes: list[str] = []
    for name, value in (reading.where or {}).items():
        cells = _slice(cells, name, value)
        notes.append(message("only {name} = {value} was read", name, value))
    for name in () if dropped else reading.drop or ():
        cells = cells.without(frozenset({axis_of(cells.names, name)}))
    if reading.drop:
        notes.append(message("left out: {names}", joined(reading.drop, ", ")))
    for name, variable in (reading.label or {}).items():
        cells = _labelled(cells, name, variable)
    for name in reading.variable or ():
        axis_of(cells.names, name)
    return cells, notes


def axis_of(names: Sequence[str], wanted: str) -> int:
    """The number of a column.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    if wanted not in names:
        raise no_column(wanted, names)
    return names.index(wanted)


def code_of(categories: Sequence[str], name: str, value: str) -> int:
    """The number of a category of the column ``name``.

    Raises
    ------
    InputError
        If there is none.
    """
    if value not in categories:
        shown = joined(categories[:8], ", ") + (", ..." if len(categories) > 8 else "")
        raise InputError(
            message("the column {name} has no category {value}", repr(name), repr(value)),
            hint=message("it has {shown}", shown),
        )
    return categories.index(value)


def wanted_cells(names: Sequence[str], where: Mapping[str, str]) -> dict[int, str]:
    """Column -> its category in the slice."""
    return {axis_of(names, name): value for name, value in where.items()}


def _slice(cells: CellList, name: str, value: str) -> CellList:
    axis = axis_of(cells.names, name)
    code = code_of(cells.categories[axis], name, value)
    here = cells.code(axis) == code
    if not here.all() or len(cells.categories[axis]) > 1:
        cells = cells.keep(here)
    return cells.without(frozenset({axis}))


def _labelled(cells: CellList, name: str, variable: str) -> CellList:
    """The cells with a column as labels of a variable."""
    column, axis = axis_of(cells.names, name), axis_of(cells.names, variable)
    texts, codes = cells.categories[column], cells.categories[axis]
    pairs = np.unique(np.stack([cells.code(axis), cells.code(column)]), axis=1)
    twice = np.flatnonzero(np.diff(pairs[0]) == 0)
    if len(twice):
        first, second = (texts[pairs[1, twice[0] + step]] for step in (0, 1))
        raise InputError(
            message(
                "{code} of {variable} has several labels in {name}: {first} and {second}",
                repr(codes[pairs[0, twice[0]]]),
                variable,
                name,
                repr(first),
                repr(second),
            ),
            hint=message("leave the column out (--drop {name}), or have it as a variable", name),
        )
    said = {codes[code]: texts[text] for code, text in pairs.T.tolist() if texts[text]}
    labels = {**cells.labels, variable: said}
    return replace(cells.without(frozenset({column})), labels=labels)


def refuse_measures(cells: CellList, reading: Reading) -> None:
    """Ask about columns of numbers that the other columns determine.

    Raises
    ------
    InputError
        Naming them, with the options that say what they are.
    """
    sizes = [len(known) for known in cells.categories]
    if cells.codes is None or len(cells.counts) == np.prod(sizes, dtype=float):
        return
    kept = list(range(len(sizes)))
    stated = set(reading.variable or ())
    # Whole numbers may be categories of a list with gaps, such as years, once these are explained.
    gaps = reading.without_count is not None
    numbers = [
        axis
        for axis, known in enumerate(cells.categories)
        if sizes[axis] > 1 and cells.names[axis] not in stated and all(map(looks_numeric, known))
        if not gaps or any("." in text or "," in text for text in known)
    ]
    found: list[int] = []
    # What has more values is less of a variable: a weight is left out before an age.
    for axis in sorted(numbers, key=lambda axis: -sizes[axis]):
        rest = [other for other in kept if other != axis]
        if rest and len(np.unique(cells.keys(tuple(rest)))) == len(cells.counts):
            kept, found = rest, [*found, axis]
    if not found:
        return
    names = [cells.names[axis] for axis in sorted(found)]
    raise InputError(
        message(
            "beside the counts ({count}) the other columns determine numbers in {names}: as "
            "variables they would give a table of {size:,} cells, of which {listed:,} are listed",
            cells.counted,
            joined(map(repr, names), ", "),
            int(np.prod(sizes, dtype=float)),
            len(cells.counts),
        ),
        hint=message(
            "leave it out: --drop {name}; or it holds the counts: --count {name2}; or it is a "
            "variable: --variable {name3}",
            *[_word(names[0])] * 3,
        ),
    )


def _word(name: str) -> str:
    return f'"{name}"' if " " in name else name
