"""Draws of the people of several releases, some of them by moves: chains over who is in which group.

Of a release by moves independent originals are at hand, which no draw of another release by itself fits to.
Chains walk over the people of all groups instead: an original of a release by moves gives way to another one,
the difference going to one of its groups, or one person more or less is taken to be in a group, as the laws
of all other releases weigh it. Who does not fit is weighed by how much, and left out of the draws: the law of
the others in the long run is the posterior given all releases, with an even belief over all groups.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Arrays, Bools, Floats, Ints
from tabprotect.engine.belief.effort import LEAST_EFFECTIVE
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.progress import Progress
from tabprotect.engine.register.people.fitting import people_steps
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

CHAINS = 256
"""Chains that know nothing of each other."""

ROUNDS = 320
"""Rounds of each: others for the originals by moves, then steps of single people."""

FINDING = 60
"""The first of them, in which people are looked for who fit; as many again are left out."""

EVERY = 2
"""Rounds from one draw of a chain to the next."""

OFFERED = 4
"""Others that each release by moves is offered in a round."""

STEPS = 32
"""Steps of single people in a round."""

SIZES = (-5, -2, -1, -1, -1, 1, 1, 1, 2, 5)
"""How many people change at a time."""

FEW = 4
"""Counts whose shares are compared between chains."""

FAR = 6
"""Standard errors that the first half of the draws may be from the second."""

SETTLED_CHAINS = 24
"""Chains that have to have found people who fit."""

REST = 12
"""How many people of the rest of a cell a guess looks at."""

TINY = 1e-6
"""The least weight of a guess."""

WIDE = 2**20
"""More people than a rough count is put between."""

PENALTY = 0.25, 4.0
"""What one person too many or too few takes from the log weight, in the first round and at last."""


@dataclass(frozen=True, eq=False)
class Laws:
    """The law of the count of each of some cells.

    Attributes
    ----------
    first : int64 (cells,)
    chances : float64 (cells, width)
        Of ``first + column``; each row adds up to 1.
    """

    first: Ints
    chances: Floats

    @classmethod
    def of(cls, tables: Ints, weights: Floats) -> Laws:
        """The laws of the cells of weighted tables, int64 (tables, cells).

        Raises
        ------
        InputError
            Where none of them has a weight.
        """
        if not weights.sum() > 0:
            raise InputError(message("no people fit all these releases"))
        first = tables.min(axis=0)
        chances = np.zeros((tables.shape[1], int((tables - first).max()) + 1))
        for cell, column in enumerate((tables - first).T):
            chances[cell] = np.bincount(column, weights, chances.shape[1])
        return cls(first, chances / weights.sum())

    def wide(self, width: int) -> Floats:
        """The chances with columns of nothing up to a width."""
        return np.pad(self.chances, [(0, 0), (0, width - self.chances.shape[1])])


@dataclass(frozen=True, eq=False)
class Drawn:
    """Independent originals of a release by moves.

    Attributes
    ----------
    groups : int64 (groups,)
        1 for the groups whose people it counts, else 0.
    tables : int64 (originals, cells)
    guess : float64 (originals,)
        Log chances with which they are proposed: roughly as the other releases weigh them.
    """

    groups: Ints
    tables: Ints
    guess: Floats

    @cached_property
    def chances(self) -> Floats:
        """The chance of each to be proposed, added up."""
        weight = np.exp(self.guess - self.guess.max())
        return np.cumsum(weight / weight.sum())

    def some(self, number: int, chance: np.random.Generator) -> Ints:
        """The places of so many of them."""
        found = np.searchsorted(self.chances, chance.random(number))
        return np.asarray(np.minimum(found, len(self.tables) - 1), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class FittingPeople:
    """The people of several releases.

    Attributes
    ----------
    factors
        P(releases | groups), over the shared cells with a variable that tells the groups apart, the last.
    drawn
        The releases by moves.
    start : int64 (cells, groups, chains)
        People to begin with, of ``places``.
    places : int64 (releases by moves, chains)
        Which original of each release by moves they have.
    """

    factors: CellFactors
    drawn: Sequence[Drawn]
    start: Ints
    places: Ints

    @property
    def _shared(self) -> Domain:
        return self.factors.domain.project(self.factors.domain.names[:-1])

    @cached_property
    def _ways(self) -> tuple[list[Ints], list[list[Ints]]]:
        """How a person can change groups and no release by moves be told; and how each can be told something
        else alone, int64 (groups,) each."""
        groups = self.start.shape[1]
        every = [np.array(way, dtype=np.int64) for way in itertools.product((-1, 0, 1), repeat=groups)]
        told = [tuple(int(way @ one.groups) for one in self.drawn) for way in every]
        units = [np.eye(len(self.drawn), dtype=np.int64)[n] for n in range(len(self.drawn))]
        single = [w for w, t in zip(every, told, strict=True) if not any(t) and tuple(w) > (0,) * groups]
        moved = [[w for w, t in zip(every, told, strict=True) if t == tuple(unit)] for unit in units]
        return single, moved

    def draws(self, chance: np.random.Generator, progress: Progress) -> WhoFit:
        """Walk, and keep who fits."""
        walk = _Walk(self, chance)
        kept, of, places = list[Ints](), list[Ints](), list[Ints]()
        for number in range(ROUNDS):
            progress.report(message("drawing people who fit all releases"), number / ROUNDS)
            share = min(number / FINDING, 1.0)
            walk.penalty = PENALTY[0] ** (1 - share) * PENALTY[1] ** share
            walk.round()
            if number >= 2 * FINDING and number % EVERY == 0:
                fits = walk.fits()
                kept.append(walk.people[:, :, fits].transpose(2, 0, 1))
                of.append(np.flatnonzero(fits))
                places.append(walk.places[:, fits])
        return WhoFit(np.concatenate(kept), np.concatenate(of), np.concatenate(places, axis=1))


class _Walk:
    """All chains at one time."""

    def __init__(self, asked: FittingPeople, chance: np.random.Generator) -> None:
        from scipy.sparse import csr_matrix

        known = asked.factors
        self._asked, self._chance = asked, chance
        self.people, self.places = asked.start.copy(), asked.places.copy()
        self.penalty = PENALTY[0]
        cells, groups, chains = self.people.shape
        size = cells * groups
        ones = np.ones(len(known.cells), dtype=np.int64)
        rows = csr_matrix((ones, known.cells, known.starts), (known.factors, size))
        of_cell = rows.tocsc()
        self._of_cell = of_cell.indptr.astype(np.int64), of_cell.indices.astype(np.int64)
        # What a way of all cells adds to each sum, (factors, cells).
        self._by_group = [rows[:, group::groups] for group in range(groups)]
        self._sums = np.asarray(rows @ self.people.reshape(size, -1), dtype=np.int64)
        form = known.kind, known.low, known.high, known.log_starts, known.logs
        self._form = tuple(np.ascontiguousarray(one) for one in form)
        self._room = (
            *(np.zeros(number, dtype=np.int64) for number in (known.factors, known.factors + 1, chains)),
            np.zeros(2 * chains),
        )

    def _law(self, steps: int = 0) -> tuple[Arrays, ...]:
        """What the compiled steps know of the law of sums."""
        return np.array([*self._sums.shape, steps]), *self._form, np.array([self.penalty])

    def fits(self) -> Bools:
        """Which chains have people who fit, bool (chains,)."""
        low, high = self._asked.factors.ends
        wrong = ((self._sums < low[:, None]) | (self._sums > high[:, None])).any(axis=0)
        return np.asarray(~wrong & (self.people >= 0).all(axis=(0, 1)))

    def round(self) -> None:
        """Every release by moves is offered another original, then single people change."""
        single, moved = self._asked._ways
        for number, ways in enumerate(moved):
            for way in self._chance.choice(np.array(ways), OFFERED):
                self._other(number, way)
        self._step(single)

    def _other(self, number: int, way: Ints) -> None:
        """Another original of a release by moves, the difference going to groups."""
        one = self._asked.drawn[number]
        new = one.some(self.people.shape[2], self._chance)
        change = (one.tables[new] - one.tables[self.places[number]]).T
        people = self.people + change[:, None] * way[:, None]
        sums = self._sums + sum(
            int(way[g]) * (self._by_group[g] @ change) for g in np.flatnonzero(way).tolist()
        )
        gain = np.zeros(len(new))
        people_steps.gains((*self._law(), self._sums, sums, gain))
        gain += self._negative(self.people).sum(axis=(0, 1)) - self._negative(people).sum(axis=(0, 1))
        gain += one.guess[self.places[number]] - one.guess[new]
        taken = np.log(self._chance.random(len(gain))) < gain
        self.people[:, :, taken], self._sums[:, taken] = people[:, :, taken], sums[:, taken]
        self.places[number, taken] = new[taken]

    def _negative(self, people: Ints) -> Floats:
        return np.asarray(self.penalty * np.maximum(-people, 0))

    def _steps(self, ways: int) -> Iterator[tuple[Ints, Ints]]:
        """Cells and signs of steps: one cell, two of a line, four that keep the sums of two variables."""
        shape = self._asked._shared.shape
        for kind in self._chance.choice(3, STEPS * bool(ways), p=(0.6, 0.25, 0.15)):
            one = [int(self._chance.integers(size)) for size in shape]
            cells = [(tuple(one), 1)]
            axes = [axis for axis, size in enumerate(shape) if size > 1]
            for axis in self._chance.permutation(axes)[:kind].tolist():
                other = int(self._chance.integers(shape[axis] - 1))
                other += other >= one[axis]
                cells += [((*cell[:axis], other, *cell[axis + 1 :]), -sign) for cell, sign in cells]
            flat = np.ravel_multi_index(tuple(np.array([cell for cell, _ in cells]).T), shape)
            yield np.asarray(flat, dtype=np.int64), np.array([sign for _, sign in cells], dtype=np.int64)

    def _step(self, single: Sequence[Ints]) -> None:
        drawn = list(self._steps(len(single)))
        if not drawn:
            return
        number, chains = len(drawn), self.people.shape[2]
        flat, each = list[Ints](), list[Ints]()
        for (cells, signs), chosen in zip(
            drawn, self._chance.integers(len(single), size=number), strict=True
        ):
            groups = np.flatnonzero(single[chosen])
            flat.append((cells[:, None] * len(single[chosen]) + groups).reshape(-1))
            each.append((signs[:, None] * single[chosen][groups]).reshape(-1))
        asked = np.cumsum([0, *map(len, flat)]), np.concatenate(flat), np.concatenate(each)
        by = self._chance.choice(SIZES, (number, chains))
        chance = np.log(self._chance.random((number, chains)))
        people_steps.steps(
            (*self._law(number), *asked, by, chance, *self._of_cell, self.people, self._sums, *self._room)
        )


@dataclass(frozen=True, eq=False)
class Told:
    """A release of a whole, or of a part of it.

    Attributes
    ----------
    factors
    places : int64 (cells,)
        Its cells among the shared ones.
    ends : int64 (cells,) each
        The fewest and the most people of its cells.
    originals : int64 (originals, shared cells)
        Independent ones of a release by moves; else ``None``.
    """

    factors: CellFactors
    places: Ints
    ends: tuple[Ints, Ints]
    originals: Ints | None


@dataclass(frozen=True, eq=False)
class WhoFit:
    """Draws of the people of several releases.

    Attributes
    ----------
    people : int64 (draws, shared cells, groups)
        The last group is the rest.
    chain : int64 (draws,)
    places : int64 (releases by moves, draws)
        The originals that they have.
    """

    people: Ints
    chain: Ints
    places: Ints

    @property
    def error(self) -> float:
        """The largest standard error of the share of a count.

        Raises
        ------
        InfeasibleError
            Where the chains have not settled, or are worth too few independent draws.
        """
        met = [self.people == count for count in range(FEW)]
        error = max(error_of_shares(one, self.chain) for one in met)
        for one in self.places:
            # Chains that have the same original know of each other.
            shares = np.bincount(one) / len(one)
            error = max(error, math.sqrt(0.25 * float((shares**2).sum())))
        half = len(self.people) // 2
        moved = max(float(np.abs(one[:half].mean(axis=0) - one[half:].mean(axis=0)).max()) for one in met)
        if error**2 * LEAST_EFFECTIVE > 0.25 or moved > FAR * error:
            raise InfeasibleError(message("the simulated posterior has not settled: nothing to judge by"))
        return max(error, 1e-9)


def people_who_fit(
    factors: CellFactors, told: Sequence[Told], chance: np.random.Generator, progress: Progress
) -> WhoFit:
    """Draw the people of a whole and of its parts.

    Parameters
    ----------
    factors
        P(releases | parts and rest), over the shared cells with a variable that tells these apart, the last.
    told
        The releases: of the whole, then of each part.

    Raises
    ------
    InfeasibleError
        Where few chains find people who fit.
    """
    groups = len(told)
    size = factors.domain.size // groups
    others = [one for one in told if one.originals is None]
    drawn, places, people = list[Drawn](), list[Ints](), list[Ints]()
    for number, one in enumerate(told):
        own = np.zeros((size, CHAINS), dtype=np.int64)
        if one.originals is None:
            low, high = one.ends
            own[one.places] = np.where(high - low < WIDE, (low + high) // 2, low)[:, None]
        else:
            guess = np.zeros(len(one.originals))
            for other in others if groups == 2 else ():
                guess += guessed(one.originals, not number, other.factors, other.places)
            mine = np.arange(groups) == number - 1 if number else np.ones(groups)
            drawn.append(Drawn(mine.astype(np.int64), one.originals, guess))
            places.append(drawn[-1].some(CHAINS, chance))
            own = one.originals[places[-1]].T
        people.append(own)
    whole, *parts = people
    start = np.stack([*parts, whole - np.sum(parts, axis=0)], axis=1)
    for part, one in enumerate(told[1:]):
        if one.originals is None:
            # Of whom no release by moves tells, they give way.
            less = np.minimum(np.maximum(-start[:, -1], 0), start[:, part])
            start[:, part] -= less
            start[:, -1] += less
    if told[0].originals is None:
        start[:, -1] = np.maximum(start[:, -1], 0)
    chosen = np.array(places, dtype=np.int64).reshape(len(places), CHAINS)
    found = FittingPeople(factors, drawn, start, chosen).draws(chance, progress)
    if len(np.unique(found.chain)) < SETTLED_CHAINS:
        raise InfeasibleError(message("too few of the drawn people fit all these releases"))
    return found


def error_of_shares(met: Bools, chain: Ints) -> float:
    """The largest standard error of shares of draws: chains know nothing of each other."""
    order = np.argsort(chain, kind="stable")
    starts = np.flatnonzero(np.diff(chain[order], prepend=-1))
    hits = np.add.reduceat(met[order].astype(np.float64), starts, axis=0)
    sizes = np.diff(np.append(starts, len(chain))).reshape(-1, *[1] * (met.ndim - 1))
    return float(np.sqrt(((hits - met.mean(axis=0) * sizes) ** 2).sum(axis=0)).max()) / len(chain)


def guessed(drawn: Ints, of_whole: bool, factors: CellFactors, places: Ints) -> Floats:
    """Log chances to propose originals with, by what another release says of single cells.

    Parameters
    ----------
    drawn : int64 (originals, cells)
        Of the whole, or of a part.
    factors
        Of the other release: of a part of the whole, or of the whole of the part.
    places
        Its cells among the shared ones.
    """
    out = np.zeros(len(drawn))
    sizes = np.diff(factors.starts)
    for factor in np.flatnonzero(sizes == 1).tolist():
        kind = factors.kind[factor]
        column = drawn[:, places[factors.cells[factors.starts[factor]]]]
        low, high = int(factors.low[kind]), int(factors.high[kind])
        logs = factors.logs[factors.log_starts[kind] : factors.log_starts[kind + 1]]
        values, where = np.unique(column, return_inverse=True)
        other = values[:, None] + np.arange(REST) * (-1 if of_whole else 1)
        inside = np.clip(other, low, high)
        law = np.exp(logs)[inside - low] if len(logs) else np.ones(other.shape)
        law = law * np.where(other < 0, 0.0, 0.5 ** (np.abs(other - inside) * 2.0)) * 0.5 ** np.arange(REST)
        out += np.log(np.maximum(law.sum(axis=1), TINY))[where]
    return out
