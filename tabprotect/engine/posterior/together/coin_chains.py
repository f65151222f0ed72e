"""Chains over the coins of all steps, where cycles hang together in too many ways to be summed over.

Backwards from the published table the chance of a step depends on the coins of later steps that touch its
cells, and further evidence on sums of cells. A move turns one coin, or two of the same pattern at once so
that what they share stays; many chains go side by side, and each by itself is one estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.cycles import cycle_steps
from tabprotect.engine.cycles.signatures import Signatures
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.posterior.moves.signature_model import FAR, Coin
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

CHAINS = 128
"""Chains side by side."""

FEWEST_CHAINS = 48
"""Chains from which something is told."""

SOFT = 120
"""Sweeps in which the price of a sum beyond its bounds rises."""

SWEEPS = 240
"""Sweeps that are kept, after as many as half of them."""

ROUNDS = SOFT + SWEEPS // 2 + SWEEPS

MOST_TURNS = 2 * 10**8
"""Turns of all chains: about half a minute."""

PRICE = 5.0
"""What one person beyond a bound costs in the end, as a log weight."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A sum of counts that is never negative.

    Attributes
    ----------
    start
        Its value in the published tables.
    groups, signs : int64 (groups,)
        The groups of cells whose changes it adds up.
    """

    start: int
    groups: Ints
    signs: Ints


@dataclass(frozen=True, eq=False)
class _Turn:
    """One move: coins that are turned together, and all that depends on them."""

    steps: Ints
    ways: Ints
    affected: Ints
    own: Ints
    entries: Ints
    by: Ints
    groups: Ints
    changes: Ints
    bounds: Ints
    more: Ints


class CoinChains:
    """Chains for the coins of steps, given the tables that came out and bounds on sums.

    Parameters
    ----------
    lowest : int64 (groups,)
        The smallest published count of each group.
    sequence : int64 (steps,)
        The cycle of each step.
    coins
        The coins there are, and which of them each step has, int64 (steps,).
    pairs
        Two steps that are turned together, and whether the second goes the same way (1) or the other (-1).
    """

    def __init__(
        self,
        sig: Signatures,
        walk: tuple[Ints, Ints],
        coins: tuple[Sequence[Coin], Ints],
        bounds: Sequence[Bound],
        pairs: Iterable[tuple[int, int, int]],
    ) -> None:
        self._sig, self._bounds = sig, bounds
        self._lowest, self._sequence = walk
        self._logs, self._coin = np.stack([one.logs for one in coins[0]]), coins[1]
        sequence = self._sequence
        starts, groups, signs = sig.of_cycles
        count = len(sequence)
        # The touches of each step, those that it adds to first.
        self._touch_group, self._touch_sign, first, split = [], [], [0], []
        for cycle in sequence.tolist():
            own = slice(int(starts[cycle]), int(starts[cycle + 1]))
            order = np.argsort(-signs[own].astype(np.int64), kind="stable")
            self._touch_group.append(groups[own][order])
            self._touch_sign.append(signs[own][order].astype(np.int64))
            split.append(first[-1] + int((signs[own] > 0).sum()))
            first.append(first[-1] + len(order))
        self._first, self._split = np.array(first), np.array(split)
        self._group = np.concatenate(self._touch_group)
        self._sign = np.concatenate(self._touch_sign)
        self._step_of = np.repeat(np.arange(count), np.diff(self._first))
        order = np.argsort(self._group, kind="stable")
        ends = np.searchsorted(self._group[order], np.arange(len(sig) + 1))
        self._of_group = [order[a:b] for a, b in pairwise(ends.tolist())]
        self._bounds_of: list[list[tuple[int, int]]] = [[] for _ in range(len(sig))]
        for number, bound in enumerate(bounds):
            for group, sign in zip(bound.groups.tolist(), bound.signs.tolist(), strict=True):
                self._bounds_of[group].append((number, sign))
        # Before anything is laid out for a chain.
        both = list(pairs)
        self._chains = min(CHAINS, MOST_TURNS // ((count + len(both)) * ROUNDS))
        if self._chains < FEWEST_CHAINS:
            raise TooLargeError(
                message("{count:,} coins hang together: too many to be drawn for several releases", count)
            )
        self._turns = [self._turn([step], [1]) for step in range(count)]
        self._turns += [self._turn([a, b], [1, way]) for a, b, way in both]

    def _turn(self, steps: list[int], ways: list[int]) -> _Turn:
        by: dict[int, int] = {}
        changed: dict[int, int] = {}
        more: dict[int, int] = {}
        affected = set(steps)
        for step, way in zip(steps, ways, strict=True):
            for place in range(int(self._first[step]), int(self._first[step + 1])):
                group, change = int(self._group[place]), -way * int(self._sign[place])
                changed[group] = changed.get(group, 0) + change
                for other in self._of_group[group].tolist():
                    if self._step_of[other] < step:
                        by[other] = by.get(other, 0) + change
                        affected.add(int(self._step_of[other]))
                for number, sign in self._bounds_of[group]:
                    more[number] = more.get(number, 0) + sign * change
        of = np.array(sorted(affected))
        entries = np.concatenate([np.arange(self._first[s], self._first[s + 1]) for s in of])
        own = np.zeros(len(of), dtype=np.int64)
        for step, way in zip(steps, ways, strict=True):
            own[np.searchsorted(of, step)] = way
        kept = {number: change for number, change in more.items() if change}
        moved = {group: change for group, change in changed.items() if change}
        return _Turn(
            np.array(steps),
            np.array(ways),
            of,
            own,
            entries,
            np.array([by.get(int(e), 0) for e in entries]),
            np.array(list(moved), dtype=np.int64),
            np.array(list(moved.values()), dtype=np.int64),
            np.array(list(kept), dtype=np.int64),
            np.array(list(kept.values()), dtype=np.int64),
        )

    def draws(self, generator: np.random.Generator, progress: Progress = SILENT) -> tuple[Ints, Ints]:
        """Changes of the groups within all bounds, int64 (draws, groups), and the chain of each.

        A change is original - published. Beyond a bound a chain pays a price and goes on: what it meets
        within all of them has the law that is wanted.
        """
        steps, entries, turns = len(self._sequence), len(self._group), len(self._turns)
        coins = np.zeros((self._chains, steps), dtype=np.int64)
        after = np.tile(np.minimum(self._lowest, FAR)[self._group], (self._chains, 1))
        change = np.zeros((self._chains, len(self._sig)), dtype=np.int64)
        sums = np.tile(np.array([one.start for one in self._bounds], dtype=np.int64), (self._chains, 1))
        sides = np.stack([self._first[:-1], self._split], axis=1).reshape(-1)
        low = np.clip(np.minimum.reduceat(after[0], sides), -1, 2) + 1
        log = np.tile(self._logs[self._coin, 1, low[::2] * 4 + low[1::2]], (self._chains, 1))
        arrays = self._arrays()
        most = max(len(one.entries) for one in self._turns)
        kept, chains = [], []
        for sweep in range(ROUNDS):
            progress.report(message("drawing coins"), sweep / ROUNDS)
            price = PRICE * min((sweep + 1) / SOFT, 1.0)
            order = generator.permutation(turns)
            random = generator.random((turns, self._chains))
            ways = generator.integers(0, 2, (turns, self._chains), dtype=np.int8)
            cycle_steps.turned(
                *(self._chains, turns, most, entries, steps, change.shape[1], sums.shape[1], price),
                (*arrays, order, random, ways, coins, after, change, sums, log),
            )
            if sweep >= ROUNDS - SWEEPS:
                within = np.flatnonzero((sums >= 0).all(axis=1))
                kept.append(change[within])
                chains.append(within)
        return np.concatenate(kept), np.concatenate(chains)

    def _arrays(self) -> tuple[Ints | Floats, ...]:
        """All turns one after the other, as the compiled step takes them."""
        turns = self._turns

        def runs(of: Callable[[_Turn], Ints]) -> tuple[Ints, Ints]:
            each = [of(one) for one in turns]
            return np.cumsum([0, *map(len, each)], dtype=np.int64), np.concatenate(each).astype(np.int64)

        def values(of: Callable[[_Turn], Ints]) -> Ints:
            return runs(of)[1]

        return (
            *(*runs(lambda one: one.steps), values(lambda one: one.ways)),
            *(*runs(lambda one: one.affected), values(lambda one: one.own)),
            *runs(lambda one: one.by),
            *(*runs(lambda one: one.groups), values(lambda one: one.changes)),
            *(*runs(lambda one: one.bounds), values(lambda one: one.more)),
            *(self._first.astype(np.int64), self._split.astype(np.int64), self._coin),
            np.ascontiguousarray(self._logs),
        )
