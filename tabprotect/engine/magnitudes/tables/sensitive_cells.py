"""Which cells of a magnitude table tell too much, as rows for people and programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.release.published_magnitudes import MOST_EMPTY
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, Sensitivity, judge, most_ranks


def sensitive_cells(
    table: MagnitudeTable, rules: Sequence[MagnitudeRule], *, weights: str = "sample"
) -> Sensitivity:
    """Return what the rules say of every cell, totals among them.

    Parameters
    ----------
    weights
        How weights are read: ``sample``, ``replicate`` or ``known``.

    Raises
    ------
    InputError
        For another reading of weights.
    """
    return judge(rules, table.judged(most_ranks(rules), weights))


def cell_rows(
    table: MagnitudeTable, rules: Sequence[MagnitudeRule], found: Sensitivity
) -> Iterator[dict[str, object]]:
    """A row for each cell: index, value, n, holdings, unsafe, rule, upper_level."""
    cells = table.cells
    for number in range(len(cells)):
        rule = None if found.rule[number] < 0 else rules[int(found.rule[number])]
        yield {
            "index": table.index(number),
            "value": table.shown(int(cells.value[number])),
            "n": int(cells.units[number]),
            "holdings": int(cells.holdings[number]),
            "unsafe": bool(found.unsafe[number]),
            "rule": None if rule is None else rule.name,
            "status": "" if rule is None else rule.letter,
            "upper_level": table.shown(int(found.upper[number])),
        }
    yield from _empty(table)


def _empty(table: MagnitudeTable) -> Iterator[dict[str, object]]:
    """The cells without records: 0, which everybody knows."""
    size = math.prod(len(variable.nodes) for variable in table.variables)
    if size > MOST_EMPTY:
        return
    there = set(table.cells.key.tolist())
    for key in range(size):
        if key in there:
            continue
        left, index = key, {}
        for variable, stride in zip(table.variables, table.strides.tolist(), strict=True):
            node, left = divmod(left, stride)
            entry, name = variable.entries[node]
            index[entry] = name
        yield {
            "index": index,
            "value": 0,
            "n": 0,
            "holdings": 0,
            "unsafe": False,
            "rule": None,
            "status": "",
            "upper_level": 0,
        }
