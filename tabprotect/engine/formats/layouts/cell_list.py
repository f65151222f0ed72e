"""Cells as listed in a file, before they are known to form a table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from tabprotect.engine.arrays import Bools, Codes, Ints, Letters
from tabprotect.engine.budgets import DENSE_LIMIT, MAX_CATEGORIES
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.stated_trees import StatedTree
from tabprotect.engine.tables.domain import Domain, domain_from_json
from tabprotect.engine.tables.structural import of_cells
from tabprotect.engine.tables.table import ROOMY, Table
from tabprotect.engine.tables.variable import TotalCode, Variable
from tabprotect.languages.messages import message

SMALL = 2**24
"""Tables of up to this many cells are laid out in full, however empty they are (128 MiB)."""


def check_categories(name: str, number: int) -> None:
    """Refuse a variable whose values cannot be categories.

    Raises
    ------
    InputError
        Naming the variable.
    """
    if number > MAX_CATEGORIES:
        raise InputError(
            message(
                "variable {name} has more than {MAX_CATEGORIES:,} categories", repr(name), MAX_CATEGORIES
            ),
            hint=message("leave out identifiers; group fine categories"),
        )


@dataclass(frozen=True, repr=False)
class CellList:
    """One entry per listed cell.

    Attributes
    ----------
    names, categories
        The variables and, for each, its categories in order of first appearance.
    codes
        One int32 array (entries,) per variable; ``None`` if every cell is listed once, in the
        table's order.
    counts : int64 (entries,)
    line
        The line of each entry in the file; ``None`` if there are no lines.
    stated
        The levels, labels and structural zeros stated in the file, as ``tables.levels`` writes them.
    labels
        The labels of categories that are codes, by variable, then by category.
    nobody : bool (entries,) or None
        The entries that are structural zeros.
    gaps
        True if the file lists cells without a count, and so is no list of the positive cells.
    counted
        The column of the counts.
    totals
        What the file listed totals by, by variable, where they were taken out.
    letters : str (entries,) or None
        What the file calls the entries: U (unsafe), P (protected), M (hidden to protect others), or nothing.
    trees
        What the file states of the codes of a variable: which are parts of others, which is the total.
    """

    names: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    codes: tuple[Codes, ...] | None
    counts: Ints
    line: Callable[[int], int | None]
    stated: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    nobody: Bools | None = None
    gaps: bool = False
    counted: str = "count"
    totals: Mapping[str, TotalCode] = field(default_factory=lambda: MappingProxyType({}))
    trees: Mapping[str, StatedTree] = field(default_factory=lambda: MappingProxyType({}))
    letters: Letters | None = None

    def refuse_negative(self) -> None:
        """Refuse counts that no number of records can be.

        Raises
        ------
        InputError
            With the first cell.
        """
        below = np.flatnonzero(self.counts < 0)
        if len(below):
            first = int(below[0])
            raise InputError(
                message("the count {counts} is negative", self.counts[first]),
                line=self.line(first),
                cell=self.text(first),
                hint=message("counts are 0 or more"),
            )

    def code(self, axis: int) -> Codes:
        """The category numbers (entries,) of one variable."""
        if self.codes is not None:
            return self.codes[axis]
        sizes = [len(known) for known in self.categories]
        block = math.prod(sizes[axis + 1 :])
        return np.tile(np.repeat(np.arange(sizes[axis], dtype=np.int32), block), math.prod(sizes[:axis]))

    def place(self, entry: int) -> str:
        """The place of an entry in words: its line, else its cell."""
        line = self.line(entry)
        return message("cell {entry}", self.text(entry)) if line is None else message("line {line}", line)

    def text(self, entry: int) -> str:
        """The cell of an entry for people: ``(v1, w2)``."""
        return f"({', '.join(self.cell(entry))})"

    def cell(self, entry: int) -> tuple[str, ...]:
        """The categories of an entry."""
        return tuple(known[int(self.code(axis)[entry])] for axis, known in enumerate(self.categories))

    def domain(self) -> Domain:
        """The variables with the categories found, and what the file states about them."""
        known = [
            Variable(name, categories, total=self.totals.get(name)).labelled(
                [self.labels.get(name, {}).get(category, category) for category in categories]
            )
            for name, categories in zip(self.names, self.categories, strict=True)
        ]
        domain = domain_from_json(self.stated, Domain(tuple(known)))
        if self.nobody is None or not self.nobody.any():
            return domain
        rows = np.flatnonzero(self.nobody)
        cells = np.stack([self.code(axis)[rows] for axis in range(domain.ndim)], axis=1)
        found = of_cells(cells.tolist(), domain.categories)
        return domain.with_structural([*domain.structural, *found])

    def keys(self, axes: tuple[int, ...] | None = None) -> Ints:
        """Mixed-radix keys (entries,) over some variables, all by default."""
        out = np.zeros(len(self.counts), dtype=np.int64)
        for axis in range(len(self.names)) if axes is None else axes:
            out *= len(self.categories[axis])
            out += self.code(axis)
        return out

    def keep(self, wanted: Bools) -> CellList:
        """The chosen entries (bool (entries,)); categories without an entry are dropped."""
        rows = np.flatnonzero(wanted)
        categories, codes = [], []
        for axis, known in enumerate(self.categories):
            code = self.code(axis)[rows]
            used = np.zeros(len(known), dtype=np.bool_)
            used[code] = True
            number = np.cumsum(used, dtype=np.int32) - 1
            categories.append(tuple(np.array(known, dtype=object)[used]))
            codes.append(number[code].astype(np.int32))
        return replace(
            self,
            categories=tuple(categories),
            codes=tuple(codes),
            counts=self.counts[rows],
            line=lambda entry: self.line(int(rows[entry])),
            stated=MappingProxyType({}),
            nobody=None if self.nobody is None else self.nobody[rows],
            letters=None if self.letters is None else self.letters[rows],
        )

    def without(self, axes: frozenset[int]) -> CellList:
        """The entries without some variables, each of which has the same category in all of them."""
        if not axes:
            return self
        kept = [axis for axis in range(len(self.names)) if axis not in axes]
        names = tuple(self.names[axis] for axis in kept)
        return replace(
            self,
            names=names,
            categories=tuple(self.categories[axis] for axis in kept),
            codes=None if self.codes is None else tuple(self.codes[axis] for axis in kept),
            labels={name: texts for name, texts in self.labels.items() if name in names},
        )

    def called(self, *, instead: bool) -> CellList:
        """The cells with labels in place of the codes of their categories, if that is wanted."""
        if not instead:
            return self
        named = zip(self.names, self.categories, strict=True)
        categories = tuple(labelled(codes, self.labels.get(name, {})) for name, codes in named)
        trees = {
            name: self.trees[name].called(dict(zip(codes, texts, strict=True)))
            for name, codes, texts in zip(self.names, self.categories, categories, strict=True)
            if name in self.trees
        }
        return replace(self, categories=categories, labels={}, trees=trees)

    def keep_letters(self, wanted: Bools) -> CellList:
        """The cells with letters at the chosen entries alone (bool (entries,))."""
        return self if self.letters is None else replace(self, letters=np.where(wanted, self.letters, ""))

    def given_statuses(self, totals: Mapping[int, Collection[int]] = MappingProxyType({})) -> str:
        """What the file calls its entries, as lines of an a priori file: a category each, then the letter.

        Parameters
        ----------
        totals
            By axis the codes that stand for all, for which nothing is written.
        """
        lines = []
        for entry in () if self.letters is None else np.flatnonzero(self.letters != "").tolist():
            codes = [
                "" if int(self.code(axis)[entry]) in totals.get(axis, ()) else text
                for axis, text in enumerate(self.cell(entry))
            ]
            lines.append(";".join([*(f'"{code}"' for code in codes), self.letters[entry].lower()]) + "\n")  # type: ignore[index]
        return "".join(lines)

    def leveled(self) -> CellList:
        """The cells with the levels that their trees state, beside those that are stated in full."""
        trees = zip(self.names, self.categories, strict=True)
        found = {
            name: {"coarser": coarser}
            for name, codes in trees
            if name in self.trees and (coarser := self.trees[name].levels(name, codes))
        }
        stated = self.stated.get("levels")
        levels = {**found, **(stated if isinstance(stated, Mapping) else {})}
        return replace(self, stated={**self.stated, "levels": levels}) if found else self

    def table(self) -> tuple[Table, int]:
        """The table, and the number of its cells that are not listed (and are zero).

        Raises
        ------
        InputError
            For a cell listed twice, or too large a table.
        """
        domain = self.domain()
        if self.codes is None:
            return Table.dense(domain, self.counts.reshape(domain.shape)), 0
        keys = self.keys()
        self._refuse_twice(keys, domain.size)
        missing = domain.size - len(keys)
        if domain.size > SMALL and (domain.size > DENSE_LIMIT or domain.size > 4 * len(keys)):
            return Table.sparse(domain, keys, self.counts), missing
        counts = np.zeros(domain.size, dtype=np.int64)
        counts[keys] = self.counts
        del keys
        return Table.dense(domain, counts.reshape(domain.shape)), missing

    def _refuse_twice(self, keys: Ints, size: int) -> None:
        if size <= max(SMALL, ROOMY * len(keys)):
            # Marking every cell is many times faster than sorting.
            listed = np.zeros(size, dtype=np.bool_)
            listed[keys] = True
            if np.count_nonzero(listed) == len(keys):
                return
        order = np.argsort(keys, kind="stable")
        twice = np.flatnonzero(np.diff(keys[order]) == 0)
        if not len(twice):
            return
        # The earliest repetition in the file, not the smallest cell.
        at = twice[np.argmin(order[twice + 1])]
        first, second = int(order[at]), int(order[at + 1])
        hint = message("remove one of them or add them up; or a variable is missing")
        if len(twice) > 1:
            hint += message(
                "; where each row is a person with a key, name the column of keys: --record-key NAME"
            )
        raise InputError(
            message("the cell occurs twice (first in {first})", self.place(first))
            + (message(", and other cells do too") if len(twice) > 1 else ""),
            line=self.line(second),
            cell=self.text(second),
            hint=hint,
        )


def labelled(codes: Sequence[str], labels: Mapping[str, str]) -> tuple[str, ...]:
    """The labels of codes; codes without one stay as they are.

    Labels shared by several codes get the code appended: ``Other (9)``.
    """
    texts = [labels.get(code, "").strip() or code for code in codes]
    times = Counter(texts)
    return tuple(
        text if times[text] == 1 else message("{text} ({code})", text, code)
        for code, text in zip(codes, texts, strict=True)
    )
