"""The arcs of hidden cells as a graph, for one maximum flow after the other."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.budgets import LARGEST_FLOW
from tabprotect.engine.protection.suppressing.near_tables.deviation import ENDLESS


class HiddenNetwork:
    """The arcs of hidden cells as a graph, kept between maximum flows.

    Parameters
    ----------
    forward, back : int64 (rows, columns)
        What can go from a row to a column, and back.
    """

    def __init__(self, forward: Ints, back: Ints) -> None:
        # A third of the program's start, and few need it.
        from scipy.sparse import csr_array

        rows, columns = forward.shape
        self._rows = rows
        self._forward = forward
        self._out = forward.sum(axis=1, dtype=np.float64)
        self._into = forward.sum(axis=0, dtype=np.float64)
        self.endless = bool((forward >= ENDLESS).any())
        finite = sum(float(side[side < ENDLESS].sum(dtype=np.float64)) for side in (forward, back))
        self.fits = finite < LARGEST_FLOW // 2
        down, up = np.nonzero(forward), np.nonzero(back.T)
        # By tails, then heads: as a compressed matrix has them.
        capacity = np.concatenate([forward[down], back.T[up]])
        ends = np.concatenate(
            [np.bincount(down[0], minlength=rows), np.bincount(up[0], minlength=columns)]
        )
        self._graph = csr_array(
            (
                np.minimum(capacity, min(int(finite) + 1, LARGEST_FLOW)).astype(np.int32),
                np.concatenate([down[1] + rows, up[1]]).astype(np.int32),
                np.concatenate([[0], np.cumsum(ends)]).astype(np.int32),
            ),
            shape=(rows + columns, rows + columns),
        )

    def most(self, i: int, j: int) -> int:
        """No more can go from row i to column j beside their own arc."""
        own = float(self._forward[i, j])
        return int(min(self._out[i] - own, self._into[j] - own))

    def flow(self, i: int, j: int) -> tuple[int, tuple[Ints, Ints, Ints]]:
        """The largest flow from row i to column j beside their own arc; rows, columns, amounts."""
        from scipy.sparse.csgraph import maximum_flow

        graph = self._graph
        own = self._arcs(i, self._rows + j) + self._arcs(self._rows + j, i)
        before = graph.data[own]
        graph.data[own] = 0
        found = maximum_flow(graph, i, self._rows + j)
        graph.data[own] = before
        flow = found.flow.tocoo()
        used = (flow.data != 0) & (flow.row < self._rows)
        amounts = flow.data[used].astype(np.int64)
        at = flow.row[used].astype(np.int64), flow.col[used].astype(np.int64) - self._rows
        return int(found.flow_value), (*at, amounts)

    def _arcs(self, tail: int, head: int) -> list[int]:
        """Where an arc stands among the graph's entries, if there is one."""
        begin, end = self._graph.indptr[tail], self._graph.indptr[tail + 1]
        at = int(begin + np.searchsorted(self._graph.indices[begin:end], head))
        return [at] if at < end and self._graph.indices[at] == head else []
