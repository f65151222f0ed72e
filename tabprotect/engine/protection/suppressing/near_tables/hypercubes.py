"""Changes of a table at the corners of boxes: whole numbers at once, without a solver.

A box takes one or two categories of every variable. Along a variable with two categories the
change alternates in sign, so that sums over it stay as they are; along a variable with one, its
sums change too. The cells that move are the corners, inner ones and sums alike. There are not
more boxes through a cell than the table has inner cells, times two for each variable, and all of
them are looked at together.

Source: Repsilber 1994, *Preservation of confidentiality in aggregated data* (the hypercube
method); Giessing and Repsilber 2002, *Tools and strategies to protect multiple tables with the
GHQUAR cell suppression engine*.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, product

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.tables.publication import Publication

MOST_BOXES = 50_000
"""Most boxes examined together; kinds with more boxes are left out."""

HYPERCUBES_LISTED = 500_000
"""Most boxes times published numbers for which all boxes are listed once."""


class Hypercubes:
    """All boxes of a publication. Confidential: it holds the true counts.

    Parameters
    ----------
    publication
    values : int64 (numbers,)
        The true counts, one for each distinct published number.
    inner : int64 (inner cells,)
        The true inner counts.
    """

    def __init__(self, publication: Publication, values: Ints, inner: Ints) -> None:
        self._values = values
        self._inner = inner
        self._listed = _listed(publication)
        if self._listed is not None:
            return
        self._shape = publication.domain.shape
        self._strides = [
            int(np.prod(self._shape[axis + 1 :], dtype=np.int64))
            for axis in range(len(self._shape))
        ]
        first, inverse = publication.distinct
        incidence = publication.incidence
        self._members = (incidence.indptr, incidence.indices)
        self._first = first
        self._margin = np.searchsorted(publication.starts, first, side="right") - 1
        self._nobody = publication.domain.structural_cells()
        self._numbers: list[Ints] = []
        self._mine: list[Bools] = []
        self._tells: list[list[Ints]] = []
        for m in range(len(publication.margins)):
            keys = publication.keys(m)
            number = inverse[keys + publication.starts[m]]
            self._numbers.append(number)
            # A number that two margins publish costs once.
            self._mine.append(self._margin[number] == m)
            grid = keys.reshape(self._shape)
            self._tells.append(
                [
                    np.moveaxis(grid, axis, 0).reshape(size, -1)[:, 0]
                    for axis, size in enumerate(self._shape)
                ]
            )

    def cheapest(
        self, number: int, sign: int, need: int, price: Floats
    ) -> tuple[float, Ints, Ints] | None:
        """The box of least price that moves one published number by ``sign * need``.

        Parameters
        ----------
        price : float64 (numbers,)
            Of moving each published number; infinite where it must not move.

        Returns
        -------
        The price, the flat inner cells that move, int64, and by how much; None where no box does.
        """
        if self._listed is not None:
            return self._listed.cheapest(number, (sign, need), price, self._values, self._inner)
        begin, end = (
            self._members[0][self._first[number]],
            self._members[0][self._first[number] + 1],
        )
        bases = self._members[1][begin:end].astype(np.int64)
        m = int(self._margin[number])
        axes = [a for a, tells in enumerate(self._tells[m]) if (tells != tells[0]).any()]
        best: tuple[float, Ints, Ints] | None = None
        # Fewer corners first: of two that cost the same the smaller box is taken.
        for size in range(len(axes) + 1):
            for twice in combinations(axes, size):
                found = self._of_kind(m, bases, twice, (sign, need), price)
                if found is not None and (best is None or found[0] < best[0]):
                    best = found
        return best

    def _of_kind(
        self,
        m: int,
        bases: Ints,
        twice: tuple[int, ...],
        by: tuple[int, int],
        price: Floats,
    ) -> tuple[float, Ints, Ints] | None:
        """The best box with two categories of some variables and one of all others."""
        sign, need = by
        others = list(product(*(range(self._shape[a]) for a in twice)))
        if len(bases) * len(others) > MOST_BOXES:
            return None
        there = np.array(others, dtype=np.int64).reshape(len(others), len(twice))
        here = (
            np.stack([bases // self._strides[a] % self._shape[a] for a in twice], axis=1)
            if twice
            else np.zeros((len(bases), 0), dtype=np.int64)
        )
        possible = np.ones((len(bases), len(others)), dtype=np.bool_)
        for k, axis in enumerate(twice):
            tells = self._tells[m][axis]
            possible &= tells[here[:, k], None] != tells[there[:, k]]
        row, column = np.nonzero(possible)
        if not len(row):
            return None
        here, there = here[row], there[column]
        corners = np.empty((2 ** len(twice), len(row)), dtype=np.int64)
        signs = np.empty(len(corners), dtype=np.int64)
        for number, moved in enumerate(product((0, 1), repeat=len(twice))):
            corners[number] = bases[row]
            for k in [k for k, on in enumerate(moved) if on]:
                corners[number] += (there[:, k] - here[:, k]) * self._strides[twice[k]]
            signs[number] = sign if sum(moved) % 2 == 0 else -sign
        falls = signs < 0
        cost = np.where((self._inner[corners[falls]] >= need).all(axis=0), 0.0, np.inf)
        for other, tells_of in enumerate(self._tells):
            if any((tells_of[a] == tells_of[a][0]).all() for a in twice):
                continue
            numbers = self._numbers[other][corners]
            paid = np.where(self._mine[other][corners], price[numbers], 0.0)
            paid[falls] += np.where(self._values[numbers[falls]] >= need, 0.0, np.inf)
            spent = paid.sum(axis=0)
            for k, axis in enumerate(twice):
                same = tells_of[axis][here[:, k]] == tells_of[axis][there[:, k]]
                # Both corners add into the same sum.
                spent[same] = 0.0
            cost += spent
        cost[self._nobody[corners].any(axis=0)] = np.inf
        chosen = int(cost.argmin())
        if not np.isfinite(cost[chosen]):
            return None
        return float(cost[chosen]), corners[:, chosen], signs * need


class _Listed:
    """All boxes of a small table, and which published numbers each moves. Nothing confidential.

    Parameters
    ----------
    inner : int64 (boxes, inner cells)
        The change of each inner cell, -1, 0 or 1; both signs of each box.
    moved : int64 (boxes, numbers)
        The change of each published number.
    """

    def __init__(self, inner: Ints, moved: Ints) -> None:
        # Fewer corners first: of two that cost the same the smaller box is taken.
        order = np.argsort(np.abs(inner).sum(axis=1), kind="stable")
        self._inner, self._moved = inner[order], moved[order]
        self._by_end: dict[tuple[int, int], tuple[Ints, Ints, Floats]] = {}

    def cheapest(
        self, number: int, by: tuple[int, int], price: Floats, values: Ints, inner: Ints
    ) -> tuple[float, Ints, Ints] | None:
        """As :meth:`Hypercubes.cheapest`; ``by`` is the sign and the need."""
        sign, need = by
        if (number, sign) not in self._by_end:
            rows = np.flatnonzero(self._moved[:, number] == sign)
            touched = (self._moved[rows] != 0).astype(np.float64)
            both = np.hstack([self._inner[rows], self._moved[rows]])
            self._by_end[number, sign] = rows, both, touched
        rows, both, touched = self._by_end[number, sign]
        never = np.isinf(price)
        fits = (need * both >= -np.concatenate([inner, values])).all(axis=1)
        fits &= touched @ never == 0
        if not fits.any():
            return None
        cost = np.where(fits, touched @ np.where(never, 0.0, price), np.inf)
        chosen = int(cost.argmin())
        box = self._inner[rows[chosen]]
        cells = np.flatnonzero(box)
        return float(cost[chosen]), cells, box[cells] * need


@lru_cache(maxsize=8)
def _listed(publication: Publication) -> _Listed | None:
    """The list of a small table; None where it would be long."""
    shape = publication.domain.shape
    first = publication.distinct[0]
    number = 2 * int(np.prod([size * size for size in shape], dtype=np.float64))
    if number * (len(first) + publication.domain.size) > HYPERCUBES_LISTED:
        return None
    boxes = np.ones((1, 1), dtype=np.int64)
    for size in shape:
        unit = np.eye(size, dtype=np.int64)
        pairs = (unit[:, None] - unit).reshape(-1, size)
        along = np.vstack([unit, pairs[pairs.any(axis=1)]])
        boxes = np.einsum("ab,cd->acbd", boxes, along).reshape(
            len(boxes) * len(along), boxes.shape[1] * size
        )
    boxes = np.unique(np.vstack([boxes, -boxes]), axis=0)
    boxes = boxes[~boxes[:, publication.domain.structural_cells()].any(axis=1)]
    moved = np.asarray((publication.incidence[first] @ boxes.T).T)
    return _Listed(boxes, moved)
