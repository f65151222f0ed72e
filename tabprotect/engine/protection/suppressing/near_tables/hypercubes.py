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

import math
from functools import lru_cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.tables.publication import Publication

MOST_BOXES = 50_000
"""Most boxes of a kind; kinds with more are left out."""

MOST_LOOKED = 4_000_000
"""The same in a large table: most of its boxes are ruled out by one of their corners."""

HYPERCUBES_LISTED = 500_000
"""Most boxes times published numbers for which all boxes are listed once."""


FEW = 256
"""Boxes that are weighed without asking first which may be the cheapest."""

FEW_ENDS = 8
"""Ends along a variable that are looked at first."""

ROUNDING = 1e-9


class _Boxes(NamedTuple):
    """Boxes with two categories of the same variables.

    Attributes
    ----------
    corners : int64 (corners, boxes)
    signs : int64 (corners,)
    here, there : int64 (boxes, variables)
        The category of each variable at the first corner, and at its other end.
    at_least : float64 (boxes,)
        What the sums of each cost at least, beside its inner cells.
    """

    twice: tuple[int, ...]
    corners: Ints
    signs: Ints
    here: Ints
    there: Ints
    at_least: Floats

    def some(self, kept: Ints) -> _Boxes:
        """Return the boxes that an index array selects."""
        corners = self.corners[:, kept]
        here, there, at_least = self.here[kept], self.there[kept], self.at_least[kept]
        return self._replace(corners=corners, here=here, there=there, at_least=at_least)


class _Lines(NamedTuple):
    """Along one variable, the other ends that boxes through some cells may have.

    Attributes
    ----------
    at : int64 (cells,)
        The category of each cell.
    along : bool (cells, categories)
    least, cost : float64 (cells, categories)
        What sums cost at least, and the inner cell at that end with them.
    """

    at: Ints
    along: Bools
    least: Floats
    cost: Floats

    def cheapest(self, number: int) -> _Lines:
        """Find so many ends of the first cell that cost least."""
        cost = np.where(self.along[0], self.cost[0], np.inf)
        along = np.zeros_like(self.along)
        along[0, np.argsort(cost, kind="stable")[:number]] = True
        return self._replace(along=along & self.along)

    def up_to(self, most: float) -> _Lines:
        """The ends that do not cost more."""
        return self._replace(along=self.along & (self.cost <= most))


class Hypercubes:
    """All boxes of a publication. Confidential: it holds the true counts.

    Parameters
    ----------
    publication
    values : int64 (numbers,)
        The true counts, one for each distinct published number.
    inner : int64 (inner cells,)
        The true inner counts.
    most
        Boxes of a kind, beyond which it is left out.
    """

    def __init__(self, publication: Publication, values: Ints, inner: Ints, most: int = MOST_BOXES) -> None:
        self._values = values
        self._inner = inner
        self._most = most
        self._listed = _listed(publication)
        if self._listed is not None:
            return
        self._shape = publication.domain.shape
        self._strides = [
            int(np.prod(self._shape[axis + 1 :], dtype=np.int64)) for axis in range(len(self._shape))
        ]
        self._first, inverse = publication.distinct
        incidence = publication.incidence
        self._members = (incidence.indptr, incidence.indices)
        self._margin = np.searchsorted(publication.starts, self._first, side="right") - 1
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
                [np.moveaxis(grid, axis, 0).reshape(size, -1)[:, 0] for axis, size in enumerate(self._shape)]
            )
        # The variables whose categories a margin tells apart, if only some of them.
        self._apart = [
            {axis for axis, one in enumerate(tells) if (one != one[0]).any()} for tells in self._tells
        ]
        self._number, self._owns = np.stack(self._numbers), np.stack(self._mine)
        # By the variables of a kind: the margins that tell all of them apart, and how.
        self._told: dict[tuple[int, ...], tuple[Ints, list[Ints]]] = {}
        for size in range(len(self._shape) + 1):
            for twice in combinations(range(len(self._shape)), size):
                which = [m for m, apart in enumerate(self._apart) if apart.issuperset(twice)]
                codes = [np.array([self._tells[m][a] for m in which]) for a in twice]
                self._told[twice] = np.array(which, dtype=np.int64), codes
        # Of a kind and one of its variables: the margins whose sums only that variable keeps as they are.
        self._alone = {
            (twice, axis): [
                m
                for m in which.tolist()
                if all(self._all_apart(m, a) for a in twice if a != axis) and not self._all_apart(m, axis)
            ]
            for twice, (which, _) in self._told.items()
            for axis in twice
        }
        # The margin that is the inner table, where that is published.
        self._finest = next(
            (
                m
                for m in range(len(self._tells))
                if all(self._all_apart(m, axis) for axis in range(len(self._shape)))
            ),
            None,
        )

    def cheapest(self, number: int, sign: int, need: int, price: Floats) -> tuple[float, Ints, Ints] | None:
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
        begin, end = (self._members[0][self._first[number]], self._members[0][self._first[number] + 1])
        bases = self._members[1][begin:end].astype(np.int64)
        m = int(self._margin[number])
        axes = sorted(self._apart[m])
        best: tuple[float, Ints, Ints] | None = None
        # Fewer corners first: of two that cost the same the smaller box is taken.
        for size in range(len(axes) + 1):
            for twice in combinations(axes, size):
                below = np.inf if best is None else best[0]
                found = self._of_kind(m, bases, twice, (sign, need), price, below)
                if found is not None and (best is None or found[0] < best[0]):
                    best = found
        return best

    def _of_kind(
        self, m: int, bases: Ints, twice: tuple[int, ...], by: tuple[int, int], price: Floats, below: float
    ) -> tuple[float, Ints, Ints] | None:
        """The best box with two categories of some variables and one of all others, if below a price."""
        sign, need = by
        if len(bases) * math.prod(self._shape[a] for a in twice) > self._most:
            return None
        bases = bases[self._may_move(bases, sign, need, price)]
        lines = [self._lines(m, bases, twice, axis, by, price) for axis in twice]
        if len(twice) > 1 and self._finest is not None and len(bases) == 1:
            own = float(self._paid(self._finest, bases, price)[0])
            # The cheapest ends first: what is found there rules out most others.
            first = [one.cheapest(FEW_ENDS) for one in lines]
            found = self._boxes(bases, twice, by, price, first)
            if found is not None:
                below = min(below, float(self._costs(found, need, price).min()))
            lines = [one.up_to(below * (1 + ROUNDING) + ROUNDING - own) for one in lines]
        boxes = self._boxes(bases, twice, by, price, lines)
        kept = None if boxes is None else self._hopeful(boxes, need, price, below)
        if boxes is None or kept is None or not len(kept):
            return None
        cost = self._costs(boxes.some(kept), need, price)
        chosen = int(cost.argmin())
        if not np.isfinite(cost[chosen]):
            return None
        return float(cost[chosen]), boxes.corners[:, kept[chosen]], boxes.signs * need

    def _lines(
        self, m: int, bases: Ints, twice: tuple[int, ...], axis: int, by: tuple[int, int], price: Floats
    ) -> _Lines:
        """The other ends that boxes through some cells may have along one of their variables."""
        sign, need = by
        tells, at = self._tells[m][axis], bases // self._strides[axis] % self._shape[axis]
        to = np.arange(self._shape[axis])
        line = bases[:, None] + (to - at[:, None]) * self._strides[axis]
        along = (tells[at, None] != tells) & self._may_move(line, -sign, need, price)
        least = np.zeros(line.shape)
        for other in self._alone[twice, axis]:
            own = self._tells[other][axis]
            ends = self._counted(other, bases, by, price)[:, None]
            ends = ends & self._counted(other, line, (-sign, need), price)
            apart = own[at, None] != own
            along &= ends | ~apart
            sums = self._paid(other, bases, price)[:, None] + self._paid(other, line, price)
            least += np.where(apart, sums, 0.0)
        inner = 0.0 if self._finest is None else self._paid(self._finest, line, price)
        return _Lines(at, along, least, inner + least)

    def _boxes(
        self, bases: Ints, twice: tuple[int, ...], by: tuple[int, int], price: Floats, lines: list[_Lines]
    ) -> _Boxes | None:
        """The boxes with such ends; None where there is none."""
        sign, need = by
        possible = np.ones((len(bases), *[1] * len(twice)), dtype=np.bool_)
        for k, one in enumerate(lines):
            shape = [1] * len(twice)
            shape[k] = one.along.shape[1]
            possible = possible & one.along.reshape(len(bases), *shape)
        row, *places = np.nonzero(possible)
        there = np.stack(places, axis=1) if twice else np.zeros((len(row), 0), dtype=np.int64)
        here = np.zeros_like(there)
        at_least = np.zeros(len(row))
        for k, one in enumerate(lines):
            here[:, k] = one.at[row]
            at_least += one.least[row, places[k]]
        ways = list(product((0, 1), repeat=len(twice)))
        corners = np.empty((len(ways), len(row)), dtype=np.int64)
        signs = np.array([sign if sum(way) % 2 == 0 else -sign for way in ways], dtype=np.int64)
        for number, way in enumerate(ways):
            corners[number] = bases[row]
            for k in [k for k, on in enumerate(way) if on]:
                corners[number] += (there[:, k] - here[:, k]) * self._strides[twice[k]]
        may = np.ones(len(row), dtype=np.bool_)
        # The corners with one category moved may all move by now.
        for number in [number for number, way in enumerate(ways) if sum(way) > 1]:
            may &= self._may_move(corners[number], int(signs[number]), need, price)
        boxes = _Boxes(twice, corners, signs, here, there, at_least)
        return boxes.some(np.flatnonzero(may)) if may.any() else None

    def _hopeful(self, boxes: _Boxes, need: int, price: Floats, below: float) -> Ints:
        """The boxes that may be the cheapest one, by what each costs at least."""
        rows = boxes.corners.shape[1]
        if self._finest is None or rows <= FEW:
            return np.arange(rows)
        paid = boxes.at_least + self._paid(self._finest, boxes.corners, price).sum(axis=0)
        near = np.argpartition(paid, FEW)[:FEW]
        bound = min(below, float(self._costs(boxes.some(near), need, price).min()))
        # Sums in another order differ by rounding.
        return np.flatnonzero(paid <= bound * (1 + ROUNDING) + ROUNDING)

    def _paid(self, margin: int, cells: Ints, price: Floats) -> Floats:
        """The price of moving the numbers of a margin that inner cells add into."""
        return np.where(self._mine[margin][cells], price[self._numbers[margin][cells]], 0.0)

    def _costs(self, boxes: _Boxes, need: int, price: Floats) -> Floats:
        corners, falls = boxes.corners, boxes.signs < 0
        margins, tells = self._told[boxes.twice]
        # All margins at once: margins x corners x boxes.
        numbers = self._number[margins[:, None, None], corners]
        paid = np.where(self._owns[margins[:, None, None], corners], price[numbers], 0.0)
        paid[:, falls] += np.where(self._values[numbers[:, falls]] >= need, 0.0, np.inf)
        spent = paid.sum(axis=1)
        for k, codes in enumerate(tells):
            # Both corners add into the same sum.
            spent[codes[:, boxes.here[:, k]] == codes[:, boxes.there[:, k]]] = 0.0
        cost = spent.sum(axis=0)
        cost[(self._inner[corners[falls]] < need).any(axis=0)] = np.inf
        cost[self._nobody[corners].any(axis=0)] = np.inf
        return np.asarray(cost)

    def _all_apart(self, margin: int, axis: int) -> bool:
        tells = self._tells[margin][axis]
        return len(np.unique(tells)) == len(tells)

    def _counted(self, margin: int, cells: Ints, by: tuple[int, int], price: Floats) -> Bools:
        """Tell whether the numbers of a margin that inner cells add into may move."""
        sign, need = by
        number = self._numbers[margin][cells]
        may = np.isfinite(price[number]) | ~self._mine[margin][cells]
        return np.asarray(may & (self._values[number] >= need) if sign < 0 else may)

    def _may_move(self, cells: Ints, sign: int, need: int, price: Floats) -> Bools:
        """Tell whether inner cells may be corners: nothing else of a box makes up for one that may not."""
        if self._finest is None:
            return np.ones(cells.shape, dtype=np.bool_)
        number = self._numbers[self._finest][cells]
        may = np.isfinite(price[number]) & ~self._nobody[cells]
        if sign < 0:
            may &= (self._inner[cells] >= need) & (self._values[number] >= need)
        return may


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
        """Do as :meth:`Hypercubes.cheapest` does; ``by`` is the sign and the need."""
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
        boxes = np.einsum("ab,cd->acbd", boxes, along).reshape(len(boxes) * len(along), boxes.shape[1] * size)
    boxes = np.unique(np.vstack([boxes, -boxes]), axis=0)
    boxes = boxes[~boxes[:, publication.domain.structural_cells()].any(axis=1)]
    moved = np.asarray((publication.incidence[first] @ boxes.T).T)
    return _Listed(boxes, moved)
