"""Connected components, and spanning forests by scipy's sparse graphs.

The one place where the cycles use scipy, which is imported late: it would be a third of the
start-up time, and the start page needs none of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints


def components(left: npt.ArrayLike, right: npt.ArrayLike, nodes: int) -> Ints:
    """The component of each node, (nodes,), of the graph with the edges left - right.

    Components are numbered in the order of their first nodes. Each round hangs the larger of two
    roots below the smaller one and shortens all paths to the root; there are few rounds.
    """
    root = np.arange(nodes, dtype=np.int64)
    a, b = np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64)
    while len(a):
        np.minimum.at(root, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(further := root[root], root):
            root = further
        a, b = root[a], root[b]
        apart = a != b
        a, b = a[apart], b[apart]
    _, label = np.unique(root, return_inverse=True)
    return label.astype(np.int64)


def two_forests(left: Ints, right: Ints, nodes: int) -> list[tuple[Ints, Ints]]:
    """A spanning forest, and a second one of the edges that the first leaves out."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    graph = coo_array((np.ones(len(left)), (left, right)), shape=(nodes, nodes)).tocsr()
    first = minimum_spanning_tree(graph).tocsr()
    second = minimum_spanning_tree(graph - first)
    return [
        (f.row.astype(np.int64), f.col.astype(np.int64)) for f in (first.tocoo(), second.tocoo())
    ]
