"""Originals that several releases by exchange steps come from, drawn by chains over all of their steps.

A state is an original and, for each release, the pair that each step drew and whether it was taken. New pairs
are drawn where nothing was taken; a step changes its time, is undone later, becomes two by way of a third
row or column, changes its part in a ring of three units, or goes before all releases, so that the original
is another one. Strata are independent: each has chains of its own, or, where few tables have its sums,
independent draws from all of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.special import gammaln

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.progress import PartialProgress, Progress
from tabprotect.engine.swaps import path_moves
from tabprotect.engine.swaps.exchange_plan import ExchangePlan
from tabprotect.engine.workers.threads import side_by_side
from tabprotect.languages.messages import message

MOST_RELEASES = 8
"""Releases that the compiled part takes together."""

CHAINS = 4

MIX = np.array([1, 4, 7, 12])
"""Of sixteen moves, where those of each kind end: a step is undone later, goes by a third, takes its part in a
ring, goes before all releases; the rest changes its time."""

DISCARDED, FEWEST_SWEEPS, MOST_SWEEPS = 0.2, 1_000, 20_000
"""The share of the sweeps of a chain that is not counted, and how many it has."""

MOST_KEPT = 1_000
"""Originals of a chain that are kept."""

PIECE = 50
"""Of these, so many are drawn between two looks whether to go on."""

MOST_WORK = 10**9
"""Steps passed in all moves of all chains: some ten seconds."""

MOST_LISTED, LISTED_CELLS = 1_500, 16
"""Tables with the sums of a stratum that are listed, in one of so few cells."""

TRIALS = 40
"""Attempts to find a first way from one release to the others that has no more steps than were taken."""

Pairs = list[tuple[int, int]]

Cell = TypeVar("Cell", int, Ints)


@dataclass(frozen=True, eq=False)
class ExchangePaths:
    """Releases of one original by plans that differ in rate and theta alone.

    Attributes
    ----------
    plans
    published : int64 (releases, cells)
    prior
        Theta of what originals weigh beforehand: prod (1/x!)^theta.
    """

    plans: tuple[ExchangePlan, ...]
    published: Ints
    prior: float

    def drawn(self, most: int, generator: np.random.Generator, progress: Progress) -> Ints:
        """Originals after each sweep of each chain, int64 (sweeps, cells, chains).

        Parameters
        ----------
        most
            Sweeps of a chain that are kept, at most.

        Raises
        ------
        TooLargeError
            Where the steps are too many, or no first way is found.
        """
        plan = self.plans[0]
        steps = np.stack([one.steps(table) for one, table in zip(self.plans, self.published, strict=True)])
        work = CHAINS * int((steps.sum(axis=0) * steps.max(axis=0)).sum())
        sweeps = min(MOST_WORK // max(work, 1), MOST_SWEEPS)
        if len(self.plans) > MOST_RELEASES or sweeps < FEWEST_SWEEPS:
            raise TooLargeError(
                message("the exchange steps of these releases are too many to be followed together")
            )
        kept = max(min(MOST_KEPT, most), 1)
        cells = plan.cell.reshape(plan.shape[0], -1)
        closed = plan.closed.reshape(cells.shape)
        seeds = generator.integers(0, 2**63, (CHAINS, 2), dtype=np.int64)

        def chain(seed: Ints, part: Progress) -> Ints:
            out = np.empty((kept, cells.size), dtype=np.int64)
            each = -(-sweeps // kept)
            chance = np.random.Generator(np.random.PCG64(int(seed[0])))
            state = seed[1:].copy()
            for number, own in enumerate(cells):
                stratum = _Stratum(self, closed[number], self.published[:, own], steps[:, number])
                out[:, own] = stratum.drawn(
                    (kept, each), chance, state, PartialProgress(part, number, len(cells))
                )
            return out

        return np.stack(side_by_side(chain, list(seeds), progress), axis=2)


@dataclass(frozen=True, eq=False)
class _Stratum:
    """One stratum: its closed cells by place, its counts (releases, cells), and the steps of each release."""

    paths: ExchangePaths
    closed: Bools
    counts: Ints
    steps: Ints

    @property
    def shape(self) -> tuple[int, int]:
        return self.paths.plans[0].shape[1:]

    def drawn(
        self, kept: tuple[int, int], generator: np.random.Generator, state: Ints, progress: Progress
    ) -> Ints:
        if not self.steps.any() or not self.counts[0].any():
            return np.broadcast_to(self.counts[0], (kept[0], len(self.closed)))
        if len(self.closed) <= LISTED_CELLS and (listed := self._listed()) is not None:
            tables, chances = listed
            return tables[generator.choice(len(tables), kept[0], p=chances)]
        if self.closed.any():
            raise TooLargeError(
                message("beside structural zeros no chain of exchange steps meets all originals")
            )
        original, ways = self._begun(generator)
        starts = np.concatenate([[0], np.cumsum(self.steps)]).astype(np.int64)
        first, second = (np.full(starts[-1], -1, dtype=np.int64) for _ in range(2))
        taken = np.zeros(starts[-1], dtype=np.bool_)
        for release, way in enumerate(ways):
            at = starts[release] + np.sort(generator.permutation(self.steps[release])[: len(way)])
            pairs = np.array(way, dtype=np.int64).reshape(-1, 2)
            first[at], second[at], taken[at] = pairs[:, 0], pairs[:, 1], True
        theta = np.array([one.theta for one in self.paths.plans])
        before = round(DISCARDED * kept[0])
        drawn = np.empty((before + kept[0], len(self.closed)), dtype=np.int32)
        for begin in range(0, len(drawn), PIECE):
            progress.report(message("exchanging between the releases"), begin / len(drawn))
            out = drawn[begin : begin + PIECE]
            path_moves.chained(
                *((len(ways), *self.shape, *out.shape[:1], kept[1]), self.paths.prior, self.closed, starts),
                *(theta, original, first, second, taken, state, out, MIX),
            )
        return drawn[before:].astype(np.int64)

    def _listed(self) -> tuple[Ints, Floats] | None:
        """Every original with its chance, by the law of all steps; ``None`` where there are more."""
        at = {self.counts[0].tobytes(): 0}
        tables, moves = [self.counts[0]], []
        for number, table in enumerate(tables):
            filled = np.flatnonzero(table)
            p, q = (pairs.reshape(-1) for pairs in np.meshgrid(filled, filled))
            r, s = self._others(p, q)
            apart = (r != p) & (r != q) & ~self.closed[r] & ~self.closed[s]
            p, q, r, s = (cells[apart] for cells in (p, q, r, s))
            then = np.tile(table, (len(p), 1))
            for cells, by in ((p, -1), (q, -1), (r, 1), (s, 1)):
                then[np.arange(len(p)), cells] += by
            to = np.empty(len(p), dtype=np.int64)
            for k, one in enumerate(then):
                to[k] = at.setdefault(one.tobytes(), len(tables))
                if to[k] == len(tables):
                    tables.append(one)
            if len(tables) > MOST_LISTED:
                return None
            odds = table[p] * table[q] / ((table[r] + 1) * (table[s] + 1))
            moves.append((np.full(len(to), number), to, len(filled), np.count_nonzero(then, axis=1), odds))
        listed = np.array(tables)
        logs = -self.paths.prior * gammaln(listed + 1.0).sum(axis=1)
        for plan, counts, steps in zip(self.paths.plans, self.counts, self.steps.tolist(), strict=True):
            law = np.zeros((len(listed), len(listed)))
            for begin, to, m, then, odds in moves:
                np.add.at(law, (begin, to), np.minimum((m / then) ** 2 * odds**plan.theta, 1.0) / m**2)
            law[np.diag_indices(len(law))] += 1 - law.sum(axis=1)
            chance = np.zeros(len(listed))
            chance[at[counts.tobytes()]] = 1.0
            for _ in range(steps):
                chance = law @ chance
            with np.errstate(divide="ignore"):
                logs = logs + np.log(chance)
        chances = np.exp(logs - logs.max())
        return listed, chances / chances.sum()

    def _begun(self, generator: np.random.Generator) -> tuple[Ints, list[Pairs]]:
        """An original and a way from it to each release."""
        share = self.steps[0] / max(int(self.steps[:2].sum()), 1)
        for _ in range(TRIALS):
            between = self._way(self.counts[0], self.counts[1], generator)
            cut = round(share * len(between))
            original = self.counts[0].copy()
            for p, q in between[:cut]:
                self._step(original, p, q)
            # Backwards a step empties what it filled.
            ways = [[self._others(p, q) for p, q in reversed(between[:cut])], between[cut:]]
            ways += [self._way(original, counts, generator) for counts in self.counts[2:]]
            if all(len(way) <= most for way, most in zip(ways, self.steps.tolist(), strict=True)):
                return original, ways
        raise TooLargeError(message("no way from one release to the others was found in so few steps"))

    def _others(self, p: Cell, q: Cell) -> tuple[Cell, Cell]:
        columns = self.shape[1]
        return p // columns * columns + q % columns, q // columns * columns + p % columns

    def _step(self, counts: Ints, p: int, q: int) -> None:
        counts[[p, q]] -= 1
        counts[list(self._others(p, q))] += 1

    def _way(self, counts: Ints, to: Ints, generator: np.random.Generator) -> Pairs:
        """Steps from one table to another; too many to be of use where there is none."""
        over, open_ = (counts - to).reshape(self.shape), ~self.closed.reshape(self.shape)
        way: Pairs = []
        while (above := np.flatnonzero(over > 0)).size:
            p = int(above[generator.integers(len(above))])
            a, b = divmod(p, self.shape[1])
            fitting = (over > 0) & (over[a] < 0) & open_[:, b, None]
            fitting[a] = False
            best = fitting & (over[:, b] < 0)[:, None]
            found = np.flatnonzero(best if best.any() else fitting)
            if not found.size:
                return [(p, p)] * (int(self.steps.max()) + 1)
            q = int(found[generator.integers(len(found))])
            way.append((p, q))
            self._step(over.reshape(-1), p, q)
        return way
