"""Which sums are hidden, chosen by letters: a plan of the contributions, drawn by a public law.

Of each finest sum three letters are drawn: the class of its size, that of what lies beyond its largest
contribution, and that of what lies beyond its two largest; of every cell, totals among them, whether it
counts as unsafe: surely where the rules say so, else with a chance that halves with its distance from
that. The plan is the table of contributions that these letters stand for, with the same contributors in
the same order of size. The pattern is chosen for the plan, and tried on the contributions themselves;
where it tells too much, letters are drawn again, and what lies beyond the largest is planned more
carefully. No pattern is mended by looking.

So whoever knows who contributes to what, in which order, and all letters, learns of the contributions
what the letters say and no more: what the choice does with them has not to do with contributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.equal_rows import starts_of_runs
from tabprotect.engine.magnitudes.methods.multipliers import keyed_numbers
from tabprotect.engine.magnitudes.patterns.decided import Decided
from tabprotect.engine.magnitudes.patterns.pattern import Pattern, SuppressionRequest, audited, suppress
from tabprotect.engine.magnitudes.readers.size_letters import NO_LETTER, drawn_classes, finest, middles
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, most_ranks
from tabprotect.engine.sensitivity.rule import CellContributions

DRAWS = 3
"""How often letters are drawn at most."""

CAREFUL = 2.0
"""At every further draw contributions beyond the largest are planned as smaller by this factor."""

NEXT, HALF, REACH = 0.9, 0.1, 5
"""Chance to count as unsafe at the edge of the rules, the distance over which it halves, and how often
before it is nothing. The distance is 1 where a cell has the room that its largest alone would need once more."""


def has_letters(table: MagnitudeTable) -> bool:
    """Return True if letters can stand for the contributions: all known, none negative or weighted."""
    rows = table.rows
    return table.largest is None and not table.weighted and not table.signed and rows.shadow is rows.own


def suppress_by_letters(
    table: MagnitudeTable, wanted: SuppressionRequest, key: bytes, draw: int, progress: Progress = SILENT
) -> Pattern:
    """Choose the cells to hide for a plan, and try the contributions themselves; nothing is mended.

    Parameters
    ----------
    table
        One that :func:`has_letters`.
    key
        That of the letters: the same cell and contributions draw the same.
    draw
        Its number, from 1: where one tells too much, the next plans more carefully.

    Raises
    ------
    InputError
        For costs that the table does not have, and for decisions that the rules contradict.
    """
    decided = wanted.decided or Decided.nothing(len(table.cells))
    unsafe = sensitive_cells(table, wanted.rules, weights=wanted.weights).unsafe
    decided.primaries(unsafe)
    numbers = _numbers(table, key, draw)
    sizes, plan = planned(table, numbers, CAREFUL ** (draw - 1))
    counts = _counted_unsafe(table, wanted.rules, unsafe, numbers[:, 3])
    asked = replace(wanted, decided=_decided(decided, unsafe, counts))
    hidden = suppress(plan, asked, progress).hidden
    return replace(audited(table, wanted, hidden, progress), letters=sizes)


def _numbers(table: MagnitudeTable, key: bytes, draw: int) -> Floats:
    """Four numbers in [0, 1) for every cell, from its labels alone, float64 (cells, 4)."""
    columns = [
        [f"{variable.entries[node][0]}={variable.entries[node][1]}" for node in nodes.tolist()]
        for variable, nodes in zip(table.variables, table.cells.nodes, strict=True)
    ]
    out = [
        (*keyed_numbers(key, f"letters:{draw}:{said}"), *keyed_numbers(key, f"parts:{draw}:{said}"))
        for said in map("\0".join, zip(*columns, strict=True))
    ]
    return np.array(out).reshape(-1, 4)


def planned(table: MagnitudeTable, numbers: Floats, careful: float) -> tuple[Ints, MagnitudeTable]:
    """The letter of size of each cell, int64 (cells,), and the table that all letters stand for.

    Parameters
    ----------
    numbers : float64 (cells, 4)
        In [0, 1).
    careful
        By what factor contributions beyond the largest are planned as smaller.
    """
    # The first of the cells of a row is its finest.
    cell = np.searchsorted(table.cells.key, next(table.row_keys(table.rows.codes)))
    pair, row, of_pair = np.unique(
        cell * len(table.names) + table.rows.holding, return_index=True, return_inverse=True
    )
    own = np.zeros(len(pair), dtype=np.int64)
    np.add.at(own, of_pair, table.rows.own)
    order = np.lexsort((pair, -own, cell[row]))
    at = cell[row][order]
    start = starts_of_runs(at)
    parts, sizes = _parts(own[order], start, numbers[at[start]], careful)
    number = np.diff(np.append(start, len(at)))
    rank = np.arange(len(at)) - np.repeat(start, number)
    # What lies beyond the two largest is spread evenly, and nobody there is larger than the second.
    rest = parts[2] // np.maximum(number - 2, 1)
    parts[1] = np.maximum(parts[1], rest)
    values = np.choose(np.minimum(rank, 2), [np.repeat(part, number) for part in (*parts[:2], rest)])
    own_planned = np.zeros(len(table.rows.own), dtype=np.int64)
    own_planned[row[order]] = values
    letters = np.full(len(table.cells), NO_LETTER, dtype=np.int64)
    letters[at[start]] = sizes
    rows = table.rows
    cost = own_planned if rows.cost is rows.own else rows.cost
    new = replace(rows, own=own_planned, weighted=own_planned, shadow=own_planned, cost=cost)
    return letters, replace(table, rows=new)


def _parts(own: Ints, start: Ints, numbers: Floats, careful: float) -> tuple[list[Ints], Ints]:
    """The largest planned contribution, the second and all beyond, int64 (cells,) each, and letters of size.

    ``own`` are contributions by cell, falling, those of each cell from ``start`` on.
    """
    whole = np.add.reduceat(own, start)
    number = np.diff(np.append(start, len(own)))
    second = np.where(number > 1, own[np.minimum(start + 1, len(own) - 1)], 0)
    beyond = whole - own[start]
    letters = drawn_classes(whole, numbers[:, 0])
    size = middles(letters)
    more = np.minimum(middles(drawn_classes(beyond, numbers[:, 1])), size)
    rest = np.minimum(middles(drawn_classes(beyond - second, numbers[:, 2])), more)
    # Of one contributor nothing lies beyond, and of two nothing beyond both: that is no secret.
    more, rest = np.where(number > 1, more / careful, 0), np.where(number > 2, rest / careful, 0)
    rest = np.minimum(rest, more)
    largest = np.where(whole > 0, np.maximum(size - more, more - rest), 0)
    some = [np.where(whole > 0, part, 0) for part in (largest, more - rest, rest)]
    return [np.rint(part).astype(np.int64) for part in some], letters


def _counted_unsafe(
    table: MagnitudeTable, rules: Sequence[MagnitudeRule], unsafe: Bools, numbers: Floats
) -> Bools:
    """The cells whose letter says unsafe, bool (cells,): all that are, and some that nearly are."""
    cells = table.judged(most_ranks(rules))
    alone = np.zeros_like(cells.top)
    alone[:, 0] = cells.top[:, 0]
    single = CellContributions(cells.top[:, 0], alone, cells.nonzero, cells.asked, cells.waived)
    far = np.full(len(unsafe), np.inf)
    for rule in rules:
        # How few contribute, and who asked, is no secret: there is nothing between safe and unsafe.
        room, needs = -rule.excess(cells)[0].astype(float), rule.excess(single)[0].astype(float)
        graded = (room > 0) & (needs > 0)
        far[graded] = np.minimum(far[graded], room[graded] / needs[graded])
    chance = np.where(far < REACH * HALF, NEXT * 2.0 ** -(far / HALF), 0.0)
    return np.asarray(unsafe | (numbers < chance))


def _decided(decided: Decided, unsafe: Bools, counted: Bools) -> Decided:
    """What is decided of the plan: unsafe is what counts as that, unless it is to be published and may be."""
    published = decided.published & ~unsafe
    sensitive = decided.sensitive | (counted & ~decided.safe & ~published)
    return replace(decided, sensitive=sensitive, safe=decided.safe | published | ~counted)


def hidden_letters(table: MagnitudeTable, pattern: Pattern) -> Ints:
    """The letters of the hidden finest sums, in the order of the cells."""
    assert pattern.letters is not None
    shape = tuple(len(variable.nodes) for variable in table.variables)
    inner = finest(shape, tuple(len(v.categories) for v in table.variables), table.cells.key)
    return np.asarray(pattern.letters[inner & pattern.hidden])
