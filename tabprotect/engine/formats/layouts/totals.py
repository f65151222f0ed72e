"""Total rows among the inner cells of a table file: find them, check that they add up."""

from __future__ import annotations

from itertools import islice

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.tables.table import Counts, exact_sum

TOTAL_WORDS = frozenset(
    {"total", "totals", "grand total", "sum", "all", "_t", "(all)", "insgesamt", "summe",
     "gesamt", "ensemble", "totaal", "i alt", "tot", ""}
)  # fmt: skip
"""Categories (blanks and case aside) taken to be totals; "" only where it adds up."""

MOST_LISTED = 50


def is_total(category: str) -> bool:
    """Whether a category is named like a total."""
    return category.strip().casefold() in TOTAL_WORDS


def total_codes(cells: CellList) -> dict[int, int]:
    """Axis -> the code of its total; variables with nothing but a total have none."""
    found = {}
    for axis, categories in enumerate(cells.categories):
        named = [code for code, category in enumerate(categories) if is_total(category)]
        if named and len(categories) > 1:
            # Of "Total" and "" in one variable the word is the total.
            found[axis] = max(named, key=lambda code: bool(categories[code].strip()))
    return found


def _grouped_sums(keys: Counts, values: Counts, wanted: Counts) -> Counts:
    """The sum of ``values`` over equal ``keys``, looked up for ``wanted``; 0 where none is."""
    unique, inverse = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(unique) + 1, dtype=np.int64)
    np.add.at(sums, inverse, values)
    at = np.searchsorted(unique, wanted)
    hit = (at < len(unique)) & (unique[np.minimum(at, len(unique) - 1)] == wanted)
    return sums[np.where(hit, at, len(unique))]


def check(cells: CellList, totals: dict[int, int]) -> tuple[Bools, list[tuple[int, int]]]:
    """Which entries are totals (bool (entries,)), and those that do not add up.

    A total is compared with the sum of the inner cells it covers, over any number of variables at
    once; cells and totals that the file leaves out are no fault.

    Returns
    -------
    is_total, wrong
        ``wrong`` lists (entry, sum of the inner cells).
    """
    at_total = np.zeros(len(cells.counts), dtype=np.int64)
    for bit, (axis, code) in enumerate(totals.items()):
        at_total |= (cells.code(axis) == code).astype(np.int64) << bit
    inner = at_total == 0
    exact_sum(cells.counts[inner])
    wrong: list[tuple[int, int]] = []
    for mask in np.unique(at_total[~inner]):
        summed = {axis for bit, axis in enumerate(totals) if mask >> bit & 1}
        keys = cells.keys(tuple(a for a in range(len(cells.names)) if a not in summed))
        here = np.flatnonzero(at_total == mask)
        if inner.any():
            sums = _grouped_sums(keys[inner], cells.counts[inner], keys[here])
        else:
            sums = np.zeros(len(here), dtype=np.int64)
        off = np.flatnonzero(sums != cells.counts[here])
        wrong += [(int(here[o]), int(sums[o])) for o in off]
    return ~inner, sorted(wrong)


def strip_totals(cells: CellList, *, strip: bool) -> tuple[CellList, list[str]]:
    """The inner cells, with notes on what was left out.

    Raises
    ------
    InputError
        When totals do not add up (listing them), or add up but ``strip`` is false.
    """
    totals = total_codes(cells)
    notes: list[str] = []
    for axis in [a for a, code in totals.items() if not cells.categories[a][code].strip()]:
        if check(cells, {axis: totals[axis]})[1]:
            del totals[axis]
            notes.append(f"variable {cells.names[axis]!r} has a category without a name")
    if not totals:
        return cells, notes
    is_total_entry, wrong = check(cells, totals)
    number = int(is_total_entry.sum())
    named = ", ".join(
        f"{cells.names[axis]} = {cells.categories[axis][code]!r}" for axis, code in totals.items()
    )
    if wrong:
        lines = [
            f"{cells.place(entry)}, cell {cells.text(entry)}: the total is "
            f"{cells.counts[entry]}, its inner cells add up to {inner_sum}"
            for entry, inner_sum in islice(wrong, MOST_LISTED)
        ]
        if len(wrong) > MOST_LISTED:
            lines.append(f"... and {len(wrong) - MOST_LISTED} more")
        raise InputError(
            f"the table holds totals ({named}), and {len(wrong)} of {number} do not add up",
            line=cells.line(wrong[0][0]),
            cell=cells.text(wrong[0][0]),
            hint="correct the counts, or rename the category if it is not a total",
            detail="\n".join(lines),
        )
    if not strip:
        first = int(np.flatnonzero(is_total_entry)[0])
        raise InputError(
            f"totals are mixed with the inner cells ({named}); all {number} add up",
            line=cells.line(first),
            cell=cells.text(first),
            hint="open the table with its totals stripped (--strip-totals)",
        )
    notes.append(f"{number} totals ({named}) were checked and left out")
    return cells.keep(~is_total_entry), notes
