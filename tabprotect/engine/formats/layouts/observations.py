"""Observations: the values of cells listed in a file, turned into cells of a table and back.

Formats whose files list dimensions, codes and a value for each cell (PX, JSON-stat, SDMX, Parquet,
statistics programs) only parse and assemble their files; the values are interpreted here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType

import numpy as np

from tabprotect.engine.arrays import Bools, Codes, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.blank_labels import fill_down
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.column_roles import code_of, wanted_cells
from tabprotect.engine.formats.layouts.count_marks import CountMarks, count_in
from tabprotect.engine.formats.layouts.stated_trees import StatedTree
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.numerals import NotACountError, parse_counts
from tabprotect.engine.tables.cube import Cube, in_units
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.table import INT64_MAX, Table
from tabprotect.languages.messages import message


@dataclass(frozen=True, eq=False)
class Observations:
    """One value for each listed cell.

    Attributes
    ----------
    names, categories
        The dimensions and, for each, its categories (codes, if the file has codes and labels).
    codes
        One int32 array (entries,) per dimension; ``None`` if every cell is listed once, in the
        table's order.
    values
        Numbers, texts or ``None`` (entries,); int64 (entries,) if all are known to be counts.
    in_place
        A function of an entry and its text: the mark in place of the count, and how the file
        states that the count is suppressed, if it does.
    marks
        The meanings of marks in this format, unless the reading says otherwise.
    explained
        The file's own explanation of its marks, for people.
    line, stated, labels, trees
        As in :class:`CellList`.
    """

    names: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    codes: tuple[Codes, ...] | None
    values: Sequence[object] | Ints
    in_place: Callable[[int, str], tuple[str, str]] = lambda entry, text: (text, "")
    marks: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    explained: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    line: Callable[[int], int | None] = lambda entry: None
    stated: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    trees: Mapping[str, StatedTree] = field(default_factory=lambda: MappingProxyType({}))

    def cells(self, reading: Reading, measures: Sequence[int] | None = None) -> tuple[CellList, list[str]]:
        """The entries that have a count, the others being gaps; and notes on what was left out.

        Parameters
        ----------
        measures
            The dimensions of measures (persons, per cent), of which one category is read: the one
            named by ``count``, or the only one. They are variables of the table if there are no other
            dimensions; ``None`` if ``count`` means something else in this format.

        Raises
        ------
        InputError
            With the cell, and the line if there is one, of a suppressed count, an unexplained mark or
            a value that is no count; with the measures if it is unclear which is the count.
        """
        categories, codes, filled = fill_down(self.names, self.categories, self.codes, reading)
        if filled:
            cells, notes = replace(self, categories=categories, codes=codes).cells(reading, measures)
            return cells, [*filled, *notes]
        chosen: dict[int, int] = {}
        if measures is not None:
            apart = measures if len(measures) < len(self.names) else ()
            chosen = self._measure(apart, reading.count)
        notes = [
            message(
                "left out: {names}, of which {categories} was read",
                self.names[axis],
                repr(self.categories[axis][code]),
            )
            for axis, code in chosen.items()
        ]
        rows: Ints | None = None
        sliced = chosen | {
            axis: code_of(self.categories[axis], self.names[axis], value)
            for axis, value in wanted_cells(self.names, reading.where or {}).items()
        }
        if any(len(self.categories[axis]) > 1 for axis in sliced):
            of = [self._listed.code(axis) == code for axis, code in sliced.items()]
            rows = np.flatnonzero(np.logical_and.reduce(of))
        counts, kept = self._counts(reading, rows)
        found = replace(self._listed, counts=counts)
        if kept is not None:
            codes = tuple(found.code(axis)[kept] for axis in range(len(self.names)))
            at, every = kept, len(self.values) if rows is None else len(rows)
            found = replace(
                found, codes=codes, line=lambda entry: self.line(int(at[entry])), gaps=len(kept) < every
            )
        return found.without(frozenset(chosen)).called(instead=reading.labels), notes

    @cached_property
    def _listed(self) -> CellList:
        """The entries as cells, before their counts are read."""
        none: Ints = np.empty(0, dtype=np.int64)
        return CellList(
            self.names,
            self.categories,
            self.codes,
            none,
            self.line,
            self.stated,
            self.labels,
            trees=self.trees,
        )

    def _measure(self, axes: Sequence[int], wanted: str | None) -> dict[int, int]:
        """Dimension of measures -> the category that is read."""
        chosen = {}
        for axis in axes:
            known = self.categories[axis]
            if wanted in known:
                chosen[axis] = known.index(wanted)
            elif len(known) == 1:
                chosen[axis] = 0
            else:
                shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
                raise InputError(
                    message(
                        "the variable {names} holds {known} measures: {shown}",
                        repr(self.names[axis]),
                        len(known),
                        shown,
                    ),
                    hint=message("say which of them is the count: --count NAME"),
                )
        if wanted is not None and all(wanted not in self.categories[axis] for axis in axes):
            raise InputError(
                message("there is no measure {wanted}", repr(wanted)),
                hint=message("leave the option count out"),
            )
        return chosen

    def _counts(self, reading: Reading, rows: Ints | None) -> tuple[Ints, Ints | None]:
        """The counts of some entries, and the entries that have one; ``None`` if all have one."""
        if isinstance(self.values, np.ndarray) and reading.scale in (None, 1):
            return (self.values, None) if rows is None else (self.values[rows], rows)
        entries: Sequence[int] = range(len(self.values)) if rows is None else rows.tolist()
        if reading.marks is None:
            # Any text can be a mark, even a number.
            values: Sequence[object] = (
                list(self.values) if rows is None else [self.values[entry] for entry in entries]
            )
            counts = _plain(values, reading)
            if counts is not None:
                return counts, rows
        marks = CountMarks.parse(reading.marks, own=self.marks)
        found = [(entry, self._count(entry, marks, reading)) for entry in entries]
        kept = [(entry, count) for entry, count in found if count is not None]
        counts = np.array([count for _, count in kept], dtype=np.int64)
        if len(kept) == len(self.values):
            return counts, None
        return counts, np.array([entry for entry, _ in kept], dtype=np.int64)

    def _count(self, entry: int, marks: CountMarks, reading: Reading) -> int | None:
        text = _text(self.values[entry])
        try:
            return count_in(
                text,
                marks,
                partial(self.in_place, entry),
                decimal=reading.decimal,
                missing_are=reading.without_count,
                scale=reading.scale,
            )
        except NotACountError as error:
            means = self.explained.get(text, "")
            why = (
                message("{text} means {means}: ", text, repr(means))
                if means and means not in str(error)
                else ""
            )
            raise InputError(
                message("{why}{error}", why, error),
                line=self.line(entry),
                cell=self._listed.text(entry),
                hint=error.hint,
            ) from None


def _plain(values: Sequence[object], reading: Reading) -> Ints | None:
    """The counts (entries,), if there are no marks."""
    numbers = [value for value in values if type(value) is int]
    if reading.scale in (None, 1) and len(numbers) == len(values) and _are_counts(numbers):
        return np.array(numbers, dtype=np.int64)
    texts = [_text(value) for value in values]
    try:
        scale = reading.scale
        return parse_counts(texts, decimal=reading.decimal, scale=scale)[0] if all(texts) else None
    except NotACountError:
        return None


def _are_counts(numbers: list[int]) -> bool:
    return min(numbers, default=0) >= 0 and max(numbers, default=0) <= INT64_MAX


def _text(value: object) -> str:
    """A value as text: empty for none, ``7`` for ``7.0``."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value)


def counts_shown(table: Table, hidden: Bools | None) -> list[int | None]:
    """The counts in the table's order; ``None`` for suppressed ones."""
    shown: list[int | None] = [*table.counts.reshape(-1).tolist()]
    for cell in () if hidden is None else np.flatnonzero(hidden).tolist():
        shown[cell] = None
    return shown


def numbers_shown(cube: Cube) -> Iterator[tuple[int, int] | None]:
    """Every number in the table's order, in units of its decimals, and these; ``None`` for hidden ones."""
    counts = counts_shown(cube.table, cube.hidden)
    for count, decimals in zip(counts, itertools.cycle(cube.decimals_across), strict=False):
        yield None if count is None else (count // 10 ** (cube.decimals - decimals), decimals)


def texts_shown(cube: Cube, hidden: str = "") -> list[str]:
    """Every number in the table's order as text, a count among the figures without decimals."""
    return [hidden if shown is None else in_units(*shown) for shown in numbers_shown(cube)]


DIGITS = 15
"""Digits that every reader of JSON keeps of a number with decimals."""


def number_shown(number: int, decimals: int) -> int | float:
    """A whole number of units of 10^-decimals as JSON holds it: written, it is the same decimals.

    Raises
    ------
    InputError
        Where readers would round it.
    """
    if not decimals:
        return number
    if abs(number) >= 10**DIGITS:
        raise InputError(
            message("JSON holds numbers with decimals of {n} digits only", DIGITS),
            hint=message("write CSV, or sum the measure in larger units"),
        )
    return number / float(10**decimals)


def cells_shown(
    table: Table, hidden: Bools | None = None
) -> Iterator[tuple[Index, tuple[str, ...], int | None]]:
    """The index, categories and count of every cell in the table's order, as in :func:`counts_shown`."""
    domain = table.domain
    shown = counts_shown(table, hidden)
    for index, count in zip(np.ndindex(*domain.shape), shown, strict=True):
        yield index, domain.labels(index), count


def with_a_variable(
    table: Table, hidden: Bools | None, name: str, category: str
) -> tuple[Table, Bools | None]:
    """Turn a grand total alone into a table of one cell, for formats that need a variable.

    Other tables, with their suppressed cells, are returned as they are.
    """
    if table.domain.ndim:
        return table, hidden
    alone = Table.dense(Domain.of({name: [category]}), table.counts.reshape(1))
    return alone, None if hidden is None else np.asarray(hidden).reshape(1)


def refuse_names(domain: Domain, taken: Collection[str]) -> None:
    """Refuse variables named like something else in the file.

    Raises
    ------
    InputError
        With the first.
    """
    for name in domain.names:
        if name in taken:
            raise InputError(
                message("a variable is named {name}", repr(name)), hint=message("rename it before writing")
            )


def refuse_texts(
    texts: Iterable[str],
    sound: Callable[[str], object],
    label: str,
    hint: str = message("rename it first, or write CSV"),
) -> None:
    """Refuse texts that the format ``label`` cannot hold.

    Raises
    ------
    InputError
        With the first that is not ``sound``.
    """
    for text in texts:
        if not sound(text):
            raise InputError(
                message("{label} cannot hold the text {text}", label, repr(text[:40])), hint=hint
            )
