"""Independence by peeling: what alone touches some place is independent of all the rest.

Take away everything that touches a place which nothing else touches, then look again. What goes is
independent, with coefficient +-1 at a place of its own; nothing is computed modulo anything. For
unitriangular sets everything goes.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools, Ints


def core(items: Ints, places: Ints, *, count: int) -> Bools:
    """Which of the items stay when peeling has come to its end, (count,).

    Time and memory grow with the number of touches.

    Parameters
    ----------
    items, places : int64 (touches,)
        Which item touches which place (with a coefficient that is +-1); no pair comes twice.
    count
        Number of items.
    """
    _, place = np.unique(places, return_inverse=True)
    place = place.reshape(-1)
    size = int(place.max(initial=-1)) + 1
    degree = np.bincount(place, minlength=size)
    # Where one item is left it is the sum of those that are left.
    left = np.zeros(size, dtype=np.int64)
    np.add.at(left, place, items)
    order = np.argsort(items, kind="stable")
    begin = np.searchsorted(items[order], np.arange(count + 1))
    by_item = place[order]
    stays = np.ones(count, dtype=np.bool_)
    lonely = np.flatnonzero(degree == 1)
    while len(lonely):
        gone = np.unique(left[lonely])
        stays[gone] = False
        spans = begin[gone + 1] - begin[gone]
        at = np.arange(spans.sum()) - np.repeat(np.cumsum(spans) - spans, spans)
        touched = by_item[np.repeat(begin[gone], spans) + at]
        np.subtract.at(degree, touched, 1)
        np.subtract.at(left, touched, np.repeat(gone, spans))
        touched = np.unique(touched)
        lonely = touched[degree[touched] == 1]
    return stays
