"""Total rows among the inner cells of a table file: check that they add up, and remove them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from tabprotect.engine.arrays import Bools, Codes, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.tables.table import exact_sum
from tabprotect.languages.messages import joined, message

TOTAL_WORDS = frozenset(
    {"total", "totals", message("grand total"), "sum", "all", "_t", "(all)", "insgesamt", "summe",
     "gesamt", "ensemble", "totaal", message("i alt"), "tot", "totalt", "totale", "samtliga", "summa",
     "celkem", "spolu", "razem", "og\u00f3\u0142em", "ogolem", "yhteens\u00e4", "kaikki",
     "\u00f6sszesen", "toplam", message("both sexes"), message("total general"), "skupaj", "ukupno", "kokku",
     "kop\u0101", message("i\u0161 viso"), "\u0438\u0442\u043e\u0433\u043e", "\u0441\u03cd\u03bd\u03bf\u03bb\u03bf",
     "\u03c3\u03cd\u03bd\u03bf\u03bb\u03bf", "\u0432\u0441\u0435\u0433\u043e", "\u043e\u0431\u0449\u043e",
     "\u5408\u8ba1", "\u7dcf\u6570", "\u8a08", ""}
)  # fmt: skip
"""Categories (blanks and case aside) taken to be totals; "" only where it adds up. Others are found
by arithmetic, whatever they are called."""

LETTER = "T"
"""The code of totals in SDMX and in this program's exports; in one variable alone it may be another's."""

MOST_LISTED = 50

Totals = Mapping[int, Mapping[int, Codes | None]]
"""Axis -> code of a total -> the codes that it covers, ``None`` if it covers all inner ones."""


@dataclass(frozen=True)
class WrongTotal:
    """A total that does not add up: its entry, with the sum of its inner cells."""

    entry: int
    inner: int


def is_total(category: str) -> bool:
    """Return True if a category is named like a total."""
    return category.strip().casefold() in TOTAL_WORDS


def named_totals(cells: CellList) -> dict[int, dict[int, Codes | None]]:
    """The totals found by name; variables whose only category is a total have none."""
    found: dict[int, dict[int, Codes | None]] = {}
    for axis, categories in enumerate(cells.categories):
        labels = cells.labels.get(cells.names[axis], {})
        named = [
            code
            for code, category in enumerate(categories)
            if is_total(category) or (is_total(labels.get(category, category)) and labels[category].strip())
        ]
        if named:
            here = np.bincount(cells.code(axis), minlength=len(categories)) > 0
            named = [code for code in named if here[code]]
        if named and len(categories) > 1:
            # If one variable has both "Total" and "", the word is the total.
            best = max(named, key=lambda code: bool(categories[code].strip()))
            if categories[best].strip():
                found[axis] = {best: None}
    return with_blanks(cells, found)


def lettered_totals(cells: CellList) -> dict[int, dict[int, Codes | None]]:
    """The totals called ``T``, where several variables have one."""
    found: dict[int, dict[int, Codes | None]] = {
        axis: {known.index(LETTER): None}
        for axis, known in enumerate(cells.categories)
        if LETTER in known and len(known) > 2
    }
    return found if len(found) > 1 else {}


def with_blanks(
    cells: CellList, found: dict[int, dict[int, Codes | None]]
) -> dict[int, dict[int, Codes | None]]:
    """The totals with those whose label is left blank, if they add up.

    Beside a total of one variable the label of another may be blank: both are tried at once.
    """
    blank: dict[int, dict[int, Codes | None]] = {}
    for axis, categories in enumerate(cells.categories):
        bare = [text.strip() for text in categories]
        if axis not in found and len(bare) > 1 and "" in bare:
            code = bare.index("")
            if (cells.code(axis) == code).any():
                blank[axis] = {code: None}
    for more in (blank, *({axis: of} for axis, of in blank.items())):
        if more and not (more.keys() & found.keys()):
            wrong = len(check_totals(cells, {**found, **more})[1])
            if not wrong or (found and wrong < len(check_totals(cells, found)[1])):
                found = {**found, **more}
    return found


def grouped_sums(keys: Ints, values: Ints, wanted: Ints) -> Ints:
    """The sum of ``values`` over equal ``keys``, looked up for ``wanted``; 0 if there is none."""
    unique, inverse = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(unique) + 1, dtype=np.int64)
    np.add.at(sums, inverse, values)
    at = np.searchsorted(unique, wanted)
    hit = np.zeros(len(wanted), dtype=np.bool_)
    if len(unique):
        hit = (at < len(unique)) & (unique[np.minimum(at, len(unique) - 1)] == wanted)
    return sums[np.where(hit, at, len(unique))]


def check_totals(cells: CellList, totals: Totals) -> tuple[Bools, list[WrongTotal]]:
    """Find the entries that are totals (bool (entries,)), and those that do not add up.

    A total is compared with the sum of the inner cells it covers, over any number of variables at
    once; cells and totals that the file leaves out are no fault.
    """
    is_total_entry, sums = inner_sums(cells, totals)
    off = np.flatnonzero(is_total_entry & (sums != cells.counts))
    return is_total_entry, [WrongTotal(int(entry), int(sums[entry])) for entry in off]


def inner_sums(cells: CellList, totals: Totals) -> tuple[Bools, Ints]:
    """The entries that are totals (bool (entries,)), and the sum of the inner cells of each entry.

    An inner cell is its own sum.
    """
    axes = sorted(totals)
    listed = {axis: list(totals[axis]) for axis in axes}
    kinds = np.zeros((len(cells.counts), len(axes)), dtype=np.int64)
    for column, axis in enumerate(axes):
        place = np.zeros(len(cells.categories[axis]), dtype=np.int64)
        place[listed[axis]] = np.arange(1, len(listed[axis]) + 1)
        kinds[:, column] = place[cells.code(axis)]
    is_inner: Bools = np.logical_not(kinds.any(axis=1))
    inner = np.flatnonzero(is_inner)
    exact_sum(cells.counts[inner])
    found: Ints = cells.counts.copy()
    shapes, kind = np.unique(kinds, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    every = cells.keys()
    for number, shape in enumerate(shapes.tolist()):
        if not any(shape):
            continue
        here = np.flatnonzero(kind == number)
        covered, kept = inner, list(range(len(cells.names)))
        for axis, place in zip(axes, shape, strict=True):
            if not place:
                continue
            kept.remove(axis)
            cover = totals[axis][listed[axis][place - 1]]
            if cover is not None:
                mask = np.zeros(len(cells.categories[axis]), dtype=np.bool_)
                mask[cover] = True
                covered = covered[mask[cells.code(axis)[covered]]]
        keys = every if len(kept) == len(cells.names) else cells.keys(tuple(kept))
        found[here] = grouped_sums(keys[covered], cells.counts[covered], keys[here])
    return np.logical_not(is_inner), found


def names_of(cells: CellList, totals: Totals) -> str:
    """The names of totals for people: ``region = 'Total'``."""
    parts = []
    for axis, codes in totals.items():
        shown = [repr(cells.categories[axis][code]) for code in islice(codes, 5)]
        more = message(" and {codes} more", len(codes) - 5) if len(codes) > 5 else ""
        parts.append(message("{names} = {shown}{more}", cells.names[axis], ", ".join(shown), more))
    return joined(parts, ", ")


WORST = 3
"""The number of totals that a refusal names."""


def refuse_wrong(cells: CellList, totals: Totals, number: int, wrong: list[WrongTotal]) -> InputError:
    """The error for totals that do not add up: the worst in words, then all of them."""
    ranked = sorted(wrong, key=lambda w: -abs(int(cells.counts[w.entry]) - w.inner))
    lines = [
        message(
            "{place}: the total is {counts}, its inner cells add up to {inner}",
            joined(dict.fromkeys((cells.place(w.entry), message("cell {entry}", cells.text(w.entry)))), ", "),
            cells.counts[w.entry],
            w.inner,
        )
        for w in ranked[:MOST_LISTED]
    ]
    if len(wrong) > MOST_LISTED:
        lines.append(message("... and {wrong} more", len(wrong) - MOST_LISTED))
    return InputError(
        message(
            "the table holds totals ({cells}), and {wrong} of {number} do not add up. The worst: {worst}",
            names_of(cells, totals),
            len(wrong),
            number,
            joined(lines[:WORST], "; "),
        ),
        line=cells.line(ranked[0].entry),
        cell=cells.text(ranked[0].entry),
        hint=message(
            "correct the counts, or choose: --totals recompute (inner cells count), --totals keep (totals "
            "are numbers of their own), --totals none (nothing is a total), --tolerance {most} (rounding), "
            "--drop COLUMN (it holds percentages)",
            abs(int(cells.counts[ranked[0].entry]) - ranked[0].inner),
        ),
        detail=joined(lines, "\n"),
    )
