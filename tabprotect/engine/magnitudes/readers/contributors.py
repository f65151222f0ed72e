"""Who contributes to one cell of a magnitude table, and how near the largest of them others come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.magnitudes.tables.largest_only import LargestOnly
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Contributor:
    """One of those who contribute to a cell. Confidential.

    Attributes
    ----------
    name
    own
        What it puts in.
    share
        Of what all put in, whatever the sign.
    units
        Its records in the cell.
    asked, waived
        Whether it asked to be protected, or waived that.
    """

    name: str
    own: int
    share: float
    units: int
    asked: bool
    waived: bool


@dataclass(frozen=True)
class Near:
    """The distance to which another contributor comes to the largest while the sum is published.
    Confidential.

    Attributes
    ----------
    reader, target
        The second largest, who takes his own off the sum, and the largest.
    room
        What all others put in: by so much his estimate is too high.
    needed
        By how much it has to be too high by the rule; ``None`` without a rule of percentages.
    off
        The room as a share of the target.
    """

    reader: str
    target: str
    room: int
    needed: float | None
    off: float


def rows_of_cell(table: MagnitudeTable, number: int) -> Ints:
    """The rows of contributions that a cell adds up."""
    inside = np.ones(len(table.rows.own), dtype=bool)
    for variable, node, codes in zip(
        table.variables, table.cells.nodes[:, number], table.rows.codes, strict=True
    ):
        inside &= (variable.depths == node).any(axis=0)[codes]
    return np.flatnonzero(inside)


def contributors(table: MagnitudeTable, number: int) -> tuple[Contributor, ...]:
    """All who contribute to a cell, the largest first."""
    if table.largest is not None:
        return _named(table.largest, int(table.cells.key[number]), int(table.cells.value[number]))
    rows, at = table.rows, rows_of_cell(table, number)
    holding, place = np.unique(rows.holding[at], return_inverse=True)
    own, units = np.zeros(len(holding), dtype=np.int64), np.zeros(len(holding), dtype=np.int64)
    np.add.at(own, place, rows.own[at])
    np.add.at(units, place, rows.units[at])
    asked, kept = np.zeros(len(holding), dtype=bool), np.zeros(len(holding), dtype=bool)
    np.logical_or.at(asked, place, rows.asked[at])
    np.logical_or.at(kept, place, ~rows.waived[at])
    whole = max(1, int(np.abs(own).sum()))
    return tuple(
        Contributor(
            table.names[int(holding[n])],
            int(own[n]),
            abs(int(own[n])) / whole,
            int(units[n]),
            bool(asked[n]),
            not bool(kept[n]),
        )
        for n in np.lexsort((holding, -np.abs(own))).tolist()
    )


def _named(largest: LargestOnly, key: int, value: int) -> tuple[Contributor, ...]:
    """Those that a table of the largest contributions names, by their rank alone."""
    sizes = largest.top[int(np.searchsorted(largest.key, key))]
    whole = max(1, abs(value))
    return tuple(
        Contributor(message("the {rank}. largest", rank), int(size), int(size) / whole, 1, False, False)
        for rank, size in enumerate(sizes[sizes > 0].tolist(), 1)
    )


def nearest(found: Sequence[Contributor], rules: Sequence[MagnitudeRule]) -> Near | None:
    """Return how near the second largest comes to the largest; ``None`` where there are not two."""
    sizes = [abs(one.own) for one in found if one.own != 0]
    if len(sizes) < 2:
        return None
    by = next((rule for rule in rules if rule.name in ("p", "pq")), None)
    coalition = 1 if by is None else by.coalition
    room = sum(sizes[1 + coalition :])
    needed = None
    if by is not None:
        p, q = by.numbers[0], by.numbers[1] if by.name == "pq" else 100
        needed = float(p * sizes[0] / q)
    return Near(found[1].name, found[0].name, room, needed, room / sizes[0])
