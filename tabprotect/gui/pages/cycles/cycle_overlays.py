"""What is drawn over the table: a cycle, the chances of all cells, or an exact combination."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.cycles.cycle_report import CycleReport
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.grid.cycle_grid import Overlay, blocking_cells
from tabprotect.languages.messages import joined, message

MOST_NAMED = 4
"""Layers of a cycle that are named."""


def of_chances(moves: MoveSet, counts: Ints | None) -> Overlay:
    """Return how many cycles touch each cell."""
    plus, minus = moves.touches
    return Overlay(counts=counts, touches=(plus + minus).reshape(moves.domain.shape))


def of_combination(moves: MoveSet, weights: Mapping[Index, int], counts: Ints | None) -> Overlay:
    """A combination of cells that every outcome publishes exactly."""
    weight = np.zeros(moves.domain.shape, dtype=np.int64)
    for index, factor in weights.items():
        weight[index] = factor
    return Overlay(counts=counts, weight=weight)


def of_cycle(
    moves: MoveSet, cycle: int, counts: Ints | None, *, rule: str, report: CycleReport | None
) -> Overlay:
    """One cycle, with the cells that block it and those that no cycle can move."""
    return Overlay(
        counts=counts,
        sign=moves.array(cycle),
        stuck=blocking_cells(moves, cycle, counts, rule),
        immovable=_immovable(moves, report),
    )


def _immovable(moves: MoveSet, report: CycleReport | None) -> Bools | None:
    if report is None or not report.immovable:
        return None
    out = np.zeros(moves.domain.shape, dtype=np.bool_)
    out[tuple(np.array(report.immovable).T)] = True
    return out


def layers(moves: MoveSet, cycle: int, placement: Placement) -> str:
    """Say which layers a cycle runs through, as a sentence; empty where there is one table only.

    Of several layers the variables are named that tell them apart.
    """
    if not placement.layers:
        return ""
    cells, _ = moves.entries(cycle)
    index = np.unravel_index(cells, moves.domain.shape)
    codes = np.stack([index[moves.domain.axis(name)] for name in placement.layers], axis=1)
    varying = (codes != codes[0]).any(axis=0)
    if not varying.any():
        varying[:] = True
    found = np.unique(codes[:, varying], axis=0).tolist()
    variables = [moves.domain[placement.layers[n]] for n in np.flatnonzero(varying)]
    names = [
        joined((v.categories[code] for v, code in zip(variables, layer, strict=True)), ", ")
        for layer in found[:MOST_NAMED]
    ]
    more = message(" and {found} more", len(found) - MOST_NAMED) if len(found) > MOST_NAMED else ""
    return message(" The cycle runs through {names}{more}.", joined(names, "; "), more)


def legend(overlay: Overlay, *, editable: bool) -> str:
    """Say what the signs over the table mean, in a line."""
    if overlay.touches is not None:
        low, high = int(overlay.touches.min()), int(overlay.touches.max())
        span = message("{low} times", low) if low == high else message("{low} to {high} times", low, high)
        return message("Chances per cell: each is touched {span} in one pass. The darker, the more.", span)
    if overlay.weight is not None:
        return message("Outlined: the cells of a combination that every outcome publishes exactly.")
    parts = [message("+ raised, \u2212 lowered")]
    if editable:
        parts.append(message("click, or press + \u2212 0, to change a sign"))
    if overlay.unbalanced is not None:
        parts.append(message("dashed: cells of a broken sum"))
    if overlay.counts is not None:
        parts.append(message("hatched: a zero that blocks the cycle"))
        parts.append(message("padlock: no cycle can move the cell"))
    return joined(parts, "; ") + "."
