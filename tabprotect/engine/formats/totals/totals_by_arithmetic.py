"""Totals found by arithmetic, whatever their names.

A category is a total if in every slice of the table it equals the sum of others (in a few slices the
sum may fail, which is reported): of all others or, for the levels of a hierarchy, of a run of
categories beside it or of those whose codes begin with its own. Equations that could hold by chance
are not enough. It takes three slices with at least two positive addends each, or one with at least
five, or one with numbers of a million and more (in units of their common divisor), or two whose sums
are large enough for the number of categories, or one if the category's name or label is like that of a
total. What holds without being enough is remarked. A grand total alone is found as the only line whose
categories occur only with each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Codes, Ints
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.totals.total_rows import (
    LETTER,
    Totals,
    check_totals,
    lettered_totals,
    named_totals,
)
from tabprotect.languages.messages import message

MOST_CELLS = 2**23
"""The most cells of a table searched for totals by arithmetic, laid out by one variable."""


MOST_TREE = 1000
"""The most categories of a variable among which levels are searched for."""

EQUATIONS = 3
ADDENDS = 5
WRONG = 4
"""The number of slices that must hold for each one that does not, for a total to be accepted."""
LARGE = 10**6
CHANCE = 200
"""How many times as many tables as those tried must fail the equations of two slices."""
_NAMED = re.compile(
    r"\s*total|\s*(all|alle|insgesamt|gesamt|ensemble|tous|toutes|todos|todas|ambos|both|tutti|tutte)\b",
    re.IGNORECASE,
)
_CODES = frozenset({LETTER, "TOT", "_T"})
"""Codes of totals in agencies' code lists."""


def find_totals(cells: CellList) -> tuple[Totals, frozenset[int]]:
    """Totals by name and by arithmetic, and the axes of those known by name."""
    found = named_totals(cells)
    by_name = frozenset(found)
    _add_found(cells, found)
    if not found and (found := lettered_totals(cells)):
        by_name = frozenset(found)
    return found, by_name


def _add_found(cells: CellList, found: dict[int, dict[int, Codes | None]]) -> None:
    """Add the totals found by arithmetic to those known by name."""
    for axis, known in enumerate(cells.categories):
        others = len(cells.counts) // max(len(known), 1) + 1
        if len(known) < 3 or len(known) * others > MOST_CELLS:
            continue
        parents = _parents(cells, axis, found.get(axis, {}))
        if parents:
            found[axis] = {**parents, **found.get(axis, {})}
    if not found:
        corner = lonely(cells)
        if corner and not check_totals(cells, corner)[1] and len(cells.counts) > 2 + len(corner):
            found.update({axis: dict(codes) for axis, codes in corner.items()})


def _parents(cells: CellList, axis: int, named: Totals | dict[int, Codes | None]) -> dict[int, Codes | None]:
    """Codes of one axis that are sums of others -> the codes at the lowest level that they cover."""
    rest = tuple(a for a in range(len(cells.names)) if a != axis)
    _, column = equal_rows([cells.keys(rest)])
    shape = (len(cells.categories[axis]), int(column.max()) + 1)
    if shape[0] * shape[1] > MOST_CELLS:
        return {}
    values, there = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    code = cells.code(axis)
    if int(cells.counts.max()) > 2**62 // shape[0]:
        return {}
    values[code, column], there[code, column] = cells.counts, True
    labels = cells.labels.get(cells.names[axis], {})
    known = cells.categories[axis]
    named_so = frozenset(c for c, code in enumerate(known) if _like_a_total(code, labels.get(code, "")))
    order = [c for c in range(shape[0]) if c not in named]
    slices = _Slices(values, there, known, named_so, len(order) - 1, cells.gaps)
    if len(order) > MOST_TREE:
        # Only the first and the last are tried as the sum of all others.
        ends = [(order[0], order[1:]), (order[-1], order[:-1])]
        ways = [{code: tuple(rest)} for code, rest in ends if _run(slices, code, rest) == len(rest)]
    else:
        ways = [_runs(slices, way) for way in (order, order[::-1])]
        ways.append(_by_prefix(slices, order))
    children = max(ways, key=len, default={})
    out: dict[int, Codes | None] = {}
    for parent in children:
        bottom: list[int] = []
        open_ = [*children[parent]]
        while open_:
            child = open_.pop()
            open_ += children.get(child, ())
            bottom += [child] * (child not in children)
        leaves = shape[0] - len(named) - len(children)
        out[parent] = None if len(bottom) == leaves else np.array(sorted(bottom), dtype=np.int32)
    return out


@dataclass(frozen=True)
class _Slices:
    """The counts of one variable's categories in every slice of the table.

    Attributes
    ----------
    values, there : int64 and bool (categories, slices)
        The counts, and a mask of those that exist.
    names
    like_totals
        The categories that are named like totals.
    others
        The number of categories beside any one.
    gaps
        True if counts are missing: a slice then cannot test sums with missing parts.
    """

    values: Ints
    there: Bools
    names: Sequence[str]
    like_totals: frozenset[int]
    others: int
    gaps: bool

    def largest(self, code: int, parts: Sequence[int]) -> list[int]:
        """The two informative slices in which a code's count is largest; only positive counts."""
        if not self.gaps:
            first = self._two_largest[code].tolist()
            return [best for best in first if self.values[code, best] > 0]
        ranks = np.where(self.known(code, parts), self.values[code], -1)
        return [int(best) for best in np.argsort(-ranks, kind="stable")[:2] if ranks[best] > 0]

    @cached_property
    def _two_largest(self) -> Ints:
        ranks = np.where(self.there, self.values, -1)
        best = np.argmax(ranks, axis=1)
        ranks[np.arange(len(ranks)), best] = -2
        return np.stack([best, np.argmax(ranks, axis=1)], axis=1)

    def known(self, code: int, parts: Sequence[int]) -> Bools:
        """The slices that can test whether a code is the sum of others."""
        known: Bools = self.there[code]
        return known & self.there[list(parts)].all(axis=0) if self.gaps else known


def _runs(slices: _Slices, order: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Parents that stand before the run of their parts; tops are the codes without a parent so far."""
    children: dict[int, tuple[int, ...]] = {}
    tops: list[int] = []
    for code in reversed(order):
        run = _run(slices, code, tops)
        if run:
            children[code] = tuple(tops[:run])
        tops = [code, *tops[run:]]
    if len(tops) > 2 and (whole := _run(slices, tops[-1], tops[:-1])) == len(tops) - 1:
        children[tops[-1]] = tuple(tops[:whole])
    return children


def _run(slices: _Slices, code: int, tops: Sequence[int]) -> int:
    """The number of tops that add up to a code; 0 if none do, or if it may be by chance."""
    values = slices.values
    if len(tops) < 2:
        return 0
    # The largest slice, then the next, because a count may be wrong in one of them.
    for best in slices.largest(code, tops):
        goal, so_far = int(values[code, best]), 0
        for last, top in enumerate(tops):
            so_far += int(values[top, best])
            if so_far > goal:
                break
            if so_far == goal and last and _equal(slices, tops, code, tops[: last + 1]):
                return last + 1
    return 0


def _equal(slices: _Slices, others: Sequence[int], code: int, run: Sequence[int]) -> bool:
    """Return True if a code is the sum of a run of others in all slices but a few, which are reported."""
    values, names, known = slices.values, slices.names, slices.known(code, others)
    own = values[code]
    few = np.flatnonzero(known & (own > 0))[:16]
    if 2 * int((values[np.ix_(np.asarray(run), few)].sum(axis=0) != own[few]).sum()) > len(few):
        # A check of some slices, before all are added up.
        return False
    holds = (values[run].sum(axis=0) == own)[known]
    wrong = len(holds) - int(holds.sum())
    # Slices with nothing to add up are no evidence.
    if wrong and int((holds & (own[known] > 0)).sum()) < max(EQUATIONS, WRONG * wrong):
        return False
    known = known.copy()
    known[np.flatnonzero(known)[~holds]] = False
    part = values[run][:, known]
    addends = (part > 0).sum(axis=0)
    if wrong and int((addends >= 2).sum()) < max(EQUATIONS, WRONG * wrong):
        return False
    # Proportional rows give the same equation in every slice: it counts as one.
    rows = part[:, addends >= 2][:, :64]
    apart = rows.shape[1] >= 2 and int(np.linalg.matrix_rank(rows.astype(float))) >= 2
    some = np.flatnonzero(addends >= 2)[:64]
    sure = (apart and rows.shape[1] >= EQUATIONS) or bool((addends >= ADDENDS).any())
    sure |= len(some) > 0 and code in slices.like_totals
    sure |= apart and len(run) == slices.others and _rare(own[known][some], len(names))
    sure |= bool((own[known][some] // _units(values[:, known][:, some]) >= LARGE).any())
    prefix = all(names[c].startswith(names[code]) and names[code] for c in run)
    return sure or (prefix and bool((addends >= 2).any()))


def _rare(sums: Ints, categories: int) -> bool:
    """Return True if so large sums in several slices hardly add up by chance."""
    return math.prod(1.0 + sums.astype(float)) >= CHANCE * categories


def _like_a_total(code: str, label: str) -> bool:
    return code in _CODES or any(_NAMED.match(text) is not None for text in (code, label))


def may_be_totals(cells: CellList, found: Totals) -> list[str]:
    """Remarks on categories that equal the sum of all others in every slice, beside the totals found."""
    remarks = []
    for axis, known in enumerate(cells.categories):
        code = cells.code(axis)
        sums = np.bincount(code, cells.counts, len(known))
        half = np.flatnonzero((2 * sums == sums.sum()) & (sums > 0))
        if axis in found or len(known) < 3 or not len(half):
            continue
        rest = tuple(a for a in range(len(cells.names)) if a != axis)
        _, column = equal_rows([cells.keys(rest)])
        whole, own = np.bincount(column, cells.counts), np.zeros(int(column.max()) + 1)
        own[column[code == half[0]]] = cells.counts[code == half[0]]
        addends = np.bincount(column, cells.counts > 0)
        if (2 * own == whole).all() and addends.max() > 2 and len(whole) > 1:
            name, one = cells.names[axis], known[int(half[0])]
            remarks.append(
                message(
                    "{one} of {name} equals the sum of the others in all {n:,} places: is it a total? Then: "
                    "--totals {name}={code}",
                    repr(one),
                    name,
                    len(whole),
                    one,
                )
            )
    return remarks


def _units(values: Ints) -> Ints:
    """The largest common divisor of a slice's counts, because rounded counts agree by chance."""
    units: Ints = np.maximum(np.gcd.reduce(values, axis=0), 1)
    return units


def _by_prefix(slices: _Slices, order: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Parents whose code is a prefix of the codes of their parts, wherever those stand."""
    children: dict[int, tuple[int, ...]] = {}
    names = slices.names
    # In alphabetical order, codes follow directly on their prefix.
    by_text = sorted(order, key=names.__getitem__)
    texts = [names[code] for code in by_text] + [""]
    for at, code in enumerate(by_text):
        if not names[code]:
            continue
        end = at + 1
        while end < len(by_text) and texts[end].startswith(names[code]):
            end += 1
        bottom = sorted(by_text[k] for k in range(at + 1, end) if not texts[k + 1].startswith(texts[k]))
        if len(bottom) >= 2 and _equal(slices, bottom, code, bottom):
            children[code] = tuple(bottom)
    return children


def lonely(cells: CellList) -> dict[int, dict[int, Codes | None]]:
    """One category of each of several variables that occur only with each other; else nothing.

    They look like totals: nothing that one of them covers is listed beside them.
    """
    if len(cells.names) < 2 or len(cells.counts) < 3:
        return {}
    rare: dict[int, int] = {}
    for axis, known in enumerate(cells.categories):
        number = np.bincount(cells.code(axis), minlength=len(known))
        code = int(np.argmin(number))
        if len(known) > 1 and 2 * number[code] < np.median(number):
            rare[axis] = code
    touches = np.zeros(len(cells.counts), dtype=np.int64)
    for axis, code in rare.items():
        touches += cells.code(axis) == code
    marked = touches > 0
    if len(rare) < 2 or not marked.any() or not (touches[marked] == len(rare)).all():
        return {}
    return {axis: {code: None} for axis, code in rare.items()}
