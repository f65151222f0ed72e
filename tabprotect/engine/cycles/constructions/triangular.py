"""The triangular choice of moves: one per cell that can have one, over cells less rare than it.

The categories of each axis are ordered by expected size, largest first. A cell is a *target* if
some product of differences between it and earlier categories keeps every margin and touches no
public zero. Each target gets one such cycle, in which it is the only last cell in that order, with
coefficient 1. So the cycles are unitriangular: they are independent, and every move that is a
combination of them at all is an integer combination of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.cycles.constructions.differences import Kind, kinds
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.fitting.synthetic_tables import DIGITS
from tabprotect.engine.progress import Progress
from tabprotect.engine.tables.moves import alternating
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

MOST_WORK = 150_000_000
"""Most partner cells examined in all; beyond, fewer choices are examined."""

TRIANGULAR_HELD = 2**22
"""Partner cells examined side by side."""


CROWDED = 1e6
"""Cost of a choice that touches a cell which has reached the cap: all others come first."""

SPREAD = 1.0
"""Cost of each touch there: touches have to be spread, however large the cell."""

MOST_LOOKED = 460
FEWEST_LOOKED = 4
"""Choices of partners examined for one target and one kind of move: the first ones in their order,
or evenly spread ones if these would be few of all, or there are many targets."""

FEW = 8

KINDS_LOOKED = (8, 24)
"""Kinds of moves examined for one target, at least and at most."""

SCATTER = 40_503
"""Multiplier of a scattering (Knuth, volume 3, 6.4), small enough for 64 bits."""


TOGETHER = 2048
"""Most targets that get their partners one by one; of more, several at a time."""

CAPPED = 2**20
"""Added to the load of a cell that has reached the cap: one number holds the load and the crowd."""


@dataclass(frozen=True)
class TriangularSettings:
    """Settings that decide between the partners of a target.

    Attributes
    ----------
    cap
        Number of touches from which on a cell is avoided.
    weight
        Cost of a partner that may be zero relative to one that is touched often (lambda).
    theta
        Shape of the negative binomial law of a count around its expectation.
    """

    cap: int = 4
    weight: float = 4.0
    theta: float = 1.0

    def __post_init__(self) -> None:
        wrong = {}
        if self.cap < 1:
            wrong["cap"] = message("must be at least 1, is {cap}", self.cap)
        if not 0.0 <= self.weight <= 1e6:
            wrong["lambda"] = message("must be between 0 and 1e6, is {weight:g}", self.weight)
        if not 1e-6 <= self.theta <= 1e6:
            wrong["theta"] = message("must be between 1e-6 and 1e6, is {theta:g}", self.theta)
        if wrong:
            raise ParameterError(wrong)

    def stated(self) -> dict[str, object]:
        """The settings that are not the default, as a mechanism states them."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        return {one.name: given[one.name] for one in fields(self) if given[one.name] != one.default}


def axis_orders(mu: Floats) -> list[Ints]:
    """The categories of each axis by expected size, largest first; ties by number."""
    orders = []
    for axis in range(mu.ndim):
        size = mu.sum(axis=tuple(a for a in range(mu.ndim) if a != axis))
        orders.append(np.argsort(-np.round(size, DIGITS - 3), kind="stable").astype(np.int64))
    return orders


@dataclass(frozen=True, eq=False)
class ChosenMoves:
    """One move for each target; cells by number in the table, targets by expected count.

    Attributes
    ----------
    starts : int64 (targets + 1,)
    cells, signs
        The target itself comes first, with +1.
    """

    starts: Ints
    cells: Ints
    signs: npt.NDArray[np.int8]

    @property
    def targets(self) -> Ints:
        """Flat cells (targets,)."""
        return self.cells[self.starts[:-1]]


class TriangularSearch:
    """The greedy choice of partners, in places (ranks of categories) instead of numbers."""

    def __init__(
        self, publication: Publication, mu: Floats, settings: TriangularSettings, progress: Progress
    ) -> None:
        shape = publication.domain.shape
        self._orders = axis_orders(mu.reshape(shape))
        self._mu = mu.reshape(shape)[np.ix_(*self._orders)].reshape(-1)
        self._shape = shape
        self._strides = [int(np.prod(shape[a + 1 :], dtype=object)) for a in range(len(shape))]
        self.kinds = kinds(publication, self._orders)
        self._settings = settings
        self._progress = progress
        self._load = np.zeros(len(self._mu), dtype=np.int64)
        theta = settings.theta
        with np.errstate(divide="ignore"):
            present = -np.expm1(-theta * np.log1p(self._mu / theta))
            # Whoever designs the cycles again must find the same ones: logarithms differ by processor.
            rare = np.round(-settings.weight * np.log(present), DIGITS)
            self._rare = np.where(self._mu > 0, rare, np.inf)
        # Cost of touching a cell, with the crowd as imaginary part: both are summed together.
        self._cost = np.empty(len(self._mu), dtype=np.complex128)
        self._cost.real = self._rare + 1.0 / (self._mu + 1.0)
        self._cost.imag = 1.0

    def _touch(self, cells: Ints) -> None:
        """Count the touches of the chosen moves."""
        np.add.at(self._load, cells, 1)
        load = self._load[cells]
        self._cost.real[cells] = self._rare[cells] + (load + 1) / (self._mu[cells] + 1.0)
        self._cost.imag[cells] = load + 1 + CAPPED * (load >= self._settings.cap)

    def numbers(self, places: Ints) -> Ints:
        """Flat cells of the table at places in the order of the axes."""
        out = np.zeros(places.shape, dtype=np.int64)
        for order, stride, size in zip(self._orders, self._strides, self._shape, strict=True):
            out += order[(places // stride) % size] * stride
        return out

    def _cells(self) -> tuple[Ints, list[Bools]]:
        """Places that some kind of move can have as its last cell, smallest expectation first."""
        place = np.flatnonzero(self._mu > 0)
        fits = []
        for kind in self.kinds:
            fit = np.ones(len(place), dtype=np.bool_)
            for way in kind:
                at = (place // self._strides[way.axis]) % self._shape[way.axis]
                fit &= way.earlier[at] > 0
            fits.append(fit)
        some = np.logical_or.reduce(fits) if fits else np.zeros(len(place), dtype=np.bool_)
        place = place[some]
        order = np.argsort(self._mu[place], kind="stable")
        return place[order], [fit[some][order] for fit in fits]

    def run(self) -> ChosenMoves:
        """Every target with its move, in the order of expected counts."""
        places, fits = self._cells()
        sizes = [2 ** len(kind) for kind in self.kinds]
        work = sum(int(fit.sum()) * (size - 1) for fit, size in zip(fits, sizes, strict=True))
        looked = int(np.clip(MOST_WORK // max(work, 1), FEWEST_LOOKED, MOST_LOOKED))
        share = int(np.clip(MOST_WORK * len(sizes) // max(work * looked, 1), *KINDS_LOOKED))
        widest = looked * max(sizes, default=1)
        calls = TOGETHER * 8 // max(min(share, len(sizes)), 8)
        step = int(np.clip(-(-len(places) // calls), 1, max(TRIANGULAR_HELD // widest, 1)))
        if len(places) <= TOGETHER:
            step = 1
        moves = np.full((len(places), max(sizes, default=1)), -1, dtype=np.int64)
        for number, first in enumerate(range(0, len(places), step)):
            if number % 64 == 0:
                self._progress.report(message("designing cycles"), first / len(places))
            batch = slice(first, min(first + step, len(places)))
            found = self._batch(places[batch], [fit[batch] for fit in fits], looked, share, number)
            moves[batch] = found
            self._touch(found[found >= 0])
        used = moves >= 0
        moves, used = moves[used[:, 0]], used[used[:, 0]]
        lengths = used.sum(axis=1)
        signs = np.broadcast_to(alternating(moves.shape[1]).astype(np.int8), moves.shape)
        return ChosenMoves(np.r_[0, np.cumsum(lengths)], self.numbers(moves[used]), signs[used])

    def _batch(self, places: Ints, fits: list[Bools], looked: int, share: int, number: int) -> Ints:
        """The best move of each target, (targets, longest), padded with -1.

        If there are many kinds, each batch looks at its share of them, and at the others for
        targets still without a move.
        """
        if len(self.kinds) == 1:
            score, cells = self._look(self.kinds[0], places, looked)
            cells[np.isinf(score)] = -1
            return cells
        widest = max((2 ** len(kind) for kind in self.kinds), default=1)
        moves = np.full((len(places), widest), -1, dtype=np.int64)
        best = np.full(len(places), np.inf)
        some = [k for k, fit in enumerate(fits) if fit.any()]
        turn = number * share % max(len(some), 1)
        for place, k in enumerate(some[turn:] + some[:turn]):
            at = (fits[k] if place < share else fits[k] & np.isinf(best)).nonzero()[0]
            if not len(at):
                continue
            score, cells = self._look(self.kinds[k], places[at], looked)
            better = score < best[at]
            at = at[better]
            best[at] = score[better]
            moves[at] = -1
            moves[at, : cells.shape[1]] = cells[better]
        return moves

    def _look(self, kind: Kind, places: Ints, looked: int) -> tuple[Floats, Ints]:
        """The best choice of partners for each place: its score, and the cells of the move.

        Returns
        -------
        scores : float64 (places,)
            Infinite if every choice touches a public zero.
        cells : int64 (places, 2^axes)
            The place itself first.
        """
        cells, off = self._moves(kind, places, looked)
        cost = self._cost[cells[1]]
        for cell in cells[2:]:
            cost += self._cost[cell]
        score, crowd = cost.real, cost.imag
        if crowd.max() >= CAPPED:
            capped = np.floor(crowd / CAPPED)
            dearer = CROWDED + SPREAD * (crowd - capped * CAPPED)
            score = score + np.where(capped > 0, dearer, 0.0)
        if off is not None:
            score[off] = np.inf
        best = score.argmin(axis=1)
        row = np.arange(len(places))
        return score[row, best] / (len(cells) - 1), cells[:, row, best].T

    def _moves(self, kind: Kind, places: Ints, looked: int) -> tuple[Ints, Bools | None]:
        """The moves to examine, and a mask of those that do not exist.

        Returns
        -------
        cells : int64 (2^axes, places, choices looked at)
            The places themselves first.
        off : bool (places, choices looked at)
            True beyond the choices that a place has; ``None`` if there are none such.
        """
        few = looked * (FEW if looked == MOST_LOOKED else 1)
        at = [(places // self._strides[w.axis]) % self._shape[w.axis] for w in kind]
        if len(places) == 1:
            # Most of the time goes here: what many targets share is cached.
            own = [w.partners[int(a[0])] * self._strides[w.axis] for w, a in zip(kind, at, strict=True)]
            total = prod(map(len, own))
            if total <= few:
                digits = _digits(tuple(map(len, own[:0:-1])), looked)
                shifts = [s[d[:, :total]] for s, d in zip(reversed(own), digits, strict=True)]
                return _corners(places[:, None], shifts), None
        choices = [w.earlier[a] for w, a in zip(kind, at, strict=True)]
        totals = np.multiply.reduce(choices)
        code = np.arange(min(looked, int(totals.max())))[None, :]
        if int(totals.max()) > few:
            # Spread choices start elsewhere for each target, so that equally good ones differ.
            spread = (code * (totals[:, None] / looked)).astype(np.int64)
            spread = (spread + (places * SCATTER)[:, None]) % totals[:, None]
            code = np.where((totals > few)[:, None], spread, code)
        off = code >= totals[:, None]
        shifts = []
        for w, a, n in zip(reversed(kind), reversed(at), reversed(choices), strict=True):
            partner = w.members[w.begin[a][:, None] + code % n[:, None]]
            shifts.append((partner - a[:, None]) * self._strides[w.axis])
            code = code // n[:, None]
        return _corners(places[:, None], shifts), off


@lru_cache(maxsize=256)
def _digits(sizes: tuple[int, ...], choices: int) -> list[Ints]:
    """The first choices of partners: the partner on each axis, int64 (1, choices).

    Parameters
    ----------
    sizes
        Number of partners on each axis but the slowest, quickest first.
    """
    code = np.arange(choices)[None, :]
    digits = []
    for size in sizes:
        digits.append(code % size)
        code = code // size
    return [*digits, code]


def _corners(places: Ints, shifts: list[Ints]) -> Ints:
    """The cells of moves, (2^axes, ...), by the distance of the partner on each axis."""
    cells = np.empty((2 ** len(shifts), *shifts[0].shape), dtype=np.int64)
    cells[0] = places
    for axis, shift in enumerate(shifts):
        np.add(cells[: 2**axis], shift, out=cells[2**axis : 2 ** (axis + 1)])
    return cells
