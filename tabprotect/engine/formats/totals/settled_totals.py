"""Totals among the cells of a file: checked and taken out, recomputed, or kept beside.

Totals that add up say nothing that the inner cells do not say. Of totals that do not, a person says
which count: the inner cells (``recompute``), each for itself (``keep``), or all of them as categories
(``none``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Codes, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.reading_options import ALL_ADD_UP, Reading
from tabprotect.engine.formats.totals.total_rows import (
    Totals,
    WrongTotal,
    check_totals,
    inner_sums,
    names_of,
    refuse_wrong,
    with_blanks,
)
from tabprotect.engine.formats.totals.totals_by_arithmetic import find_totals, lonely, may_be_totals
from tabprotect.engine.tables.kept_total import KeptTotal
from tabprotect.engine.tables.variable import TotalCode
from tabprotect.languages.messages import message

ARITHMETIC = message(", found by arithmetic,")

AUTO, NONE, RECOMPUTE, KEEP = "auto", "none", "recompute", "keep"
"""Values of the option ``totals`` besides a code; the last two also before one, as ``keep:T``."""

_WORDS = ("", AUTO, RECOMPUTE, KEEP)

Found = dict[int, dict[int, Codes | None]]
"""Axis -> code of a total -> the codes that it covers, as found so far."""


@dataclass(frozen=True)
class SettledTotals:
    """The inner cells, notes on what was left out, the totals kept beside, and what totals are called."""

    cells: CellList
    notes: tuple[str, ...] = ()
    kept: tuple[KeptTotal, ...] = ()
    statuses: str = ""


def settle_totals(cells: CellList, reading: Reading) -> SettledTotals:
    """Settle what becomes of totals, as ``totals``, ``strip_totals`` and ``tolerance`` say.

    Raises
    ------
    InputError
        When totals do not add up (listing them), or add up but it is not settled what to do.
    """
    totals, code = _asked(reading)
    if totals == NONE:
        return SettledTotals(cells)
    stated = of_trees(cells)
    if code or totals not in _WORDS:
        named = stated_totals(cells, code or totals)
        done = _Settling(cells, {**stated, **named}, reading, totals).settled()
        return replace(done, cells=done.cells.leveled())
    asked = totals or reading.strip_totals or reading.tolerance is not None
    first = SettledTotals(cells)
    if stated and not asked:
        # What the file states is not asked about where it adds up.
        first, stated = _Settling(cells, alike(cells, stated), reading, AUTO).settled(), {}
    rest = _found(first.cells, reading, totals, stated)
    notes, kept = (*first.notes, *rest.notes), (*first.kept, *rest.kept)
    return SettledTotals(rest.cells.leveled(), notes, kept, first.statuses + rest.statuses)


def _found(cells: CellList, reading: Reading, totals: str, stated: Found) -> SettledTotals:
    """Settle the totals of which a file says nothing but their names and counts, and those that it states."""
    found, by_name = find_totals(cells)
    found, by_name = {**found, **stated}, by_name | stated.keys()
    notes = may_be_totals(cells, found)
    if found:
        found = alike(cells, found)
        how = "" if by_name == set(found) else ARITHMETIC
        done = _Settling(cells, found, reading, totals, how).settled()
        return replace(done, notes=(*notes, *done.notes))
    if totals in (RECOMPUTE, KEEP):
        notes.append(message("no totals were found; if there are any, name them: --totals {t}:CODE", totals))
    else:
        _refuse_lonely(cells)
    return SettledTotals(cells, tuple(notes))


def of_trees(cells: CellList) -> Found:
    """The totals that the file states."""
    listed = (
        (axis, cells.trees[name].totals(cells.categories[axis]))
        for axis, name in enumerate(cells.names)
        if name in cells.trees
    )
    return {axis: found for axis, found in listed if found}


def alike(cells: CellList, found: Mapping[int, Mapping[int, Codes | None]]) -> Found:
    """The totals with the same code in other variables, where it adds up there.

    Raises
    ------
    InputError
        Where it does not: whether it is a total there cannot be told.
    """
    taken: Found = {axis: dict(codes) for axis, codes in found.items()}
    known = {cells.categories[axis][code] for axis, of in taken.items() for code in of if of[code] is None}
    more: Found = {
        axis: {codes.index(code): None}
        for axis, codes in enumerate(cells.categories)
        for code in sorted(known)
        if axis not in taken and code.strip() and code in codes and len(codes) > 1
    }
    before = len(check_totals(cells, taken)[1]) if more else 0
    if not more or len(check_totals(cells, {**taken, **more})[1]) <= before:
        return {**taken, **more}
    for axis, of in more.items():
        if len(check_totals(cells, {**taken, axis: of})[1]) > before:
            raise _unlike(cells, taken, axis, of)
        taken[axis] = of
    return taken


def _unlike(cells: CellList, found: Totals, axis: int, more: Mapping[int, Codes | None]) -> InputError:
    of_all = {
        a: next(c for c, of in codes.items() if of is None)
        for a, codes in found.items()
        if None in codes.values()
    }
    sure = ",".join(f"{cells.names[a]}={cells.categories[a][code]}" for a, code in of_all.items())
    return InputError(
        message(
            "{totals} adds up, {same} does not: is it a total as well?",
            names_of(cells, found),
            names_of(cells, {axis: more}),
        ),
        hint=message(
            "say where totals are: --totals {sure} (only there); where they do not add up, take them out "
            "everywhere: --totals recompute:{code}",
            sure,
            cells.categories[axis][next(iter(more))],
        ),
    )


def stated_or_found(cells: CellList, reading: Reading) -> Totals:
    """Return where totals stand: as a person says, else as they are found.

    Raises
    ------
    InputError
        For a code that is not there.
    """
    totals, code = _asked(reading)
    if totals == NONE:
        return {}
    named = code or totals
    stated = of_trees(cells)
    more = find_totals(cells)[0] if named in _WORDS else stated_totals(cells, named)
    return {**more, **stated}


def _asked(reading: Reading) -> tuple[str, str]:
    """The word of the option ``totals``, and the code behind it."""
    word, _, code = (reading.totals or "").partition(":")
    return (word, code) if word in (RECOMPUTE, KEEP) else (reading.totals or "", "")


@dataclass(frozen=True)
class _Settling:
    """Totals of which it is known where they stand, and what is to become of them."""

    cells: CellList
    totals: Totals
    reading: Reading
    wanted: str
    how: str = ""

    def settled(self) -> SettledTotals:
        is_total, sums = inner_sums(self.cells, self.totals)
        number = int(is_total.sum())
        gap = np.abs(sums - self.cells.counts)
        off = np.flatnonzero(is_total & (gap > 0))
        most = int(gap[off].max(initial=0))
        free = self.wanted in (RECOMPUTE, KEEP)
        rounding = self.reading.tolerance is not None and most <= self.reading.tolerance
        if len(off) and not free and not rounding:
            wrong = [WrongTotal(int(entry), int(sums[entry])) for entry in off]
            raise refuse_wrong(self.cells, self.totals, number, wrong)
        asked = self.wanted or self.reading.strip_totals or self.reading.tolerance is not None
        if not asked:
            raise self._mixed(is_total, number)
        whole = {axis: [c for c, of in codes.items() if of is None] for axis, codes in self.totals.items()}
        called = self.cells.keep_letters(is_total).given_statuses(whole)
        inner = replace(self.cells.keep(~is_total), totals={**self.cells.totals, **dict(self._codes())})
        if self.wanted == KEEP:
            said = self._note(number, len(off), most, message("stand beside the table"))
            return SettledTotals(inner, (said,), tuple(self._kept(is_total, sums)), called)
        if len(off) or self.wanted == RECOMPUTE:
            said = self._note(number, len(off), most, message("were left out: the inner cells count"))
        else:
            said = self._left_out(number)
        return SettledTotals(inner, (said,), statuses=called)

    def _codes(self) -> Iterator[tuple[str, TotalCode]]:
        """The category of all of each variable, where there is one that has a name."""
        for axis, codes in self.totals.items():
            name, known = self.cells.names[axis], self.cells.categories[axis]
            found = (known[code] for code, of in codes.items() if of is None and known[code].strip())
            code = next(found, "")
            if code:
                yield name, (code, self.cells.labels.get(name, {}).get(code, ""))

    def _left_out(self, number: int) -> str:
        named = names_of(self.cells, self.totals)
        return (
            message("one total ({cells}){how} was checked and left out", named, self.how)
            if number == 1
            else message("{number} totals ({cells}){how} were checked and left out", number, named, self.how)
        )

    def _note(self, number: int, off: int, most: int, outcome: str) -> str:
        named = names_of(self.cells, self.totals)
        return message(
            "{number:,} totals ({named}){how} {outcome}; {off:,} differ from the sum of their inner "
            "cells, by at most {most:,}",
            number, named, self.how, outcome, off, most,
        )  # fmt: skip

    def _mixed(self, is_total: Bools, number: int) -> InputError:
        first = int(np.flatnonzero(is_total)[0])
        return InputError(
            message(
                "totals are mixed with the inner cells ({cells}); all {number} add up",
                names_of(self.cells, self.totals),
                number,
            ),
            line=self.cells.line(first),
            cell=self.cells.text(first),
            hint=ALL_ADD_UP,
        )

    def _kept(self, is_total: Bools, sums: Ints) -> list[KeptTotal]:
        found = []
        for entry in np.flatnonzero(is_total).tolist():
            where = {
                self.cells.names[axis]: category
                for axis, category in enumerate(self.cells.cell(entry))
                if not self._sums(axis, entry)
            }
            found.append(KeptTotal(where, int(self.cells.counts[entry]), int(sums[entry])))
        return found

    def _sums(self, axis: int, entry: int) -> bool:
        """Return True if an entry is summed over all of a variable."""
        code = int(self.cells.code(axis)[entry])
        return code in self.totals.get(axis, {}) and self.totals[axis][code] is None


def stated_totals(cells: CellList, text: str) -> Totals:
    """The totals named by a person."""
    found: dict[int, dict[int, Codes | None]] = {}
    if all("=" in part for part in text.split(",")):
        for part in text.split(","):
            name, _, code = part.partition("=")
            if name.strip() not in cells.names:
                raise InputError(
                    message("there is no variable {strip}", repr(name.strip())),
                    hint=message("there are {names}", ", ".join(cells.names)),
                )
            axis = cells.names.index(name.strip())
            if code.strip() not in cells.categories[axis]:
                raise InputError(
                    message("{strip} has no category {strip2}", name.strip(), repr(code.strip()))
                )
            found[axis] = {cells.categories[axis].index(code.strip()): None}
        return found
    for axis, known in enumerate(cells.categories):
        if text in known and len(known) > 1:
            found[axis] = {known.index(text): None}
    if not found:
        raise InputError(
            message("no variable has the category {text}", repr(text)),
            hint=message("say the code of totals as it stands there"),
        )
    return with_blanks(cells, found)


def _refuse_lonely(cells: CellList) -> None:
    """Ask about categories that occur only with each other, since filling missing cells with 0 is no answer.

    Raises
    ------
    InputError
        With their count, and the sum of the other cells.
    """
    rare = lonely(cells)
    if not rare or len(rare) < len(cells.names):
        return
    is_rare, wrong = check_totals(cells, rare)
    first = int(np.flatnonzero(is_rare)[0])
    other = int(cells.counts[~is_rare].sum())
    raise InputError(
        message(
            "{cells} occur with each other only, as totals do; they hold {sum:,}, all other cells {other:,}",
            names_of(cells, rare),
            int(cells.counts[is_rare].sum()),
            other,
        ),
        line=cells.line(first),
        cell=cells.text(first),
        hint=message(
            "correct the counts if it is a total; if it is a cell, say that there are no totals: --totals none"
        ),
        detail=message(
            "{wrong} sum does not hold: the difference is {sum:,}",
            len(wrong),
            int(cells.counts[is_rare].sum()) - other,
        ),
    )
