"""Starting tables for the chains: corners of what the sums allow, far apart from each other."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.factors.components import FactorComponent
from tabprotect.engine.posterior.factors.solved_parts import no_original
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.solver import Entries, Model

NODES = 10
"""Branch-and-bound nodes for one corner in whole numbers: any good one will do."""

PATIENT = 100_000
"""Nodes for a first original when no corner gave one."""

WHOLE = 3
"""Corners sought in whole numbers, which cost more than corners of linear programmes."""


def chain_starts(
    component: FactorComponent,
    number: int,
    generator: np.random.Generator,
    progress: Progress = SILENT,
) -> Ints:
    """Feasible tables, int64 (number, cells), each optimal for random weights of the cells.

    Raises
    ------
    InfeasibleError
        If no table fits the sums, or none is found.
    """
    cells = len(component)
    of_cell: list[list[int]] = [[] for _ in range(cells)]
    for f, one in enumerate(component.sums):
        for cell in one.cells.tolist():
            of_cell[cell].append(f)
    ends = np.concatenate([[0], np.cumsum([len(mine) for mine in of_cell])]).astype(np.int64)
    rows = np.array([f for mine in of_cell for f in mine], dtype=np.int64)
    bounds = (
        np.array([float(s.low) for s in component.sums]),
        np.array([float(s.high) for s in component.sums]),
    )
    columns = (component.low.astype(np.float64), component.high.astype(np.float64))
    entries = Entries(ends, rows, np.ones(len(rows)))
    model = Model.of_entries(entries, rows=bounds, columns=columns)
    whole = Model.of_entries(entries, rows=bounds, columns=columns, integral=True)
    out = []
    integral = 0
    try:
        for k in range(number):
            progress.report("finding originals to start from", k / number)
            cost = generator.integers(-8, 9, cells).astype(np.float64)
            point = _whole(model.weighted(cost, progress=progress).point)
            if not within_bounds(component, point) and integral < WHOLE:
                integral += 1
                point = _whole(whole.weighted(cost, most_nodes=NODES, progress=progress).point)
            if within_bounds(component, point):
                out.append(point)
        if not out:
            nothing = np.zeros(cells)
            found = whole.weighted(nothing, most_nodes=PATIENT, progress=progress)
            out = [p for p in [_whole(found.point)] if within_bounds(component, p)]
    except InfeasibleError:
        raise no_original() from None
    if not out:
        raise InfeasibleError(
            "no original was found that fits the published sums",
            hint="take a prior that knows more",
        )
    return np.array([out[k % len(out)] for k in range(number)])


def _whole(point: Floats) -> Ints:
    return np.rint(point).astype(np.int64)


def within_bounds(component: FactorComponent, point: Ints) -> bool:
    """Return True if a table keeps all bounds."""
    if not len(point) or (point < component.low).any() or (point > component.high).any():
        return False
    return all(one.low <= int(point[one.cells].sum()) <= one.high for one in component.sums)
