"""The forward mechanism, vectorised: cycles applied to a table step by step.

A layer of disjoint cycles is one gather, one minimum per cycle and one scatter, over any number
of independent copies of the table at once. Where the running table chooses the cycles, they are
applied one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints, Signs
from tabprotect.engine.cycles import cycle_steps
from tabprotect.engine.cycles.cycle_family import Family
from tabprotect.engine.cycles.layers import Layer, layers
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.cycle_runs.cycle_parameters import (
    ALPHA,
    BETA,
    BLOCKING,
    CYCLES,
    ORDER,
    THETA,
    number_of_steps,
)
from tabprotect.engine.protection.cycle_runs.sequence import Order, draw_sequence
from tabprotect.engine.protection.problem import Steps
from tabprotect.engine.release.likelihood import BlockingRule
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import message


def flip(generator: np.random.Generator, shape: tuple[int, ...], *, alpha: float, beta: float) -> Signs:
    """Flip three-sided coins: u < alpha adds, alpha <= u < alpha + beta subtracts, else leave."""
    u = generator.random(shape)
    coins = np.zeros(shape, dtype=np.int8)
    coins[u < alpha] = 1
    coins[(u >= alpha) & (u < alpha + beta)] = -1
    return coins


COMPILED_RULES: tuple[BlockingRule, ...] = ("any_zero", "negative", "none")
"""The rules of the compiled walk, by their numbers there."""


@dataclass(frozen=True, eq=False)
class Acceptance:
    """The decision of the rule ``reversible`` on a step.

    Attributes
    ----------
    chances : float64 (of the coins' shape)
        Uniform random numbers, one for each step.
    theta
        The exponent of the law that the rule keeps.
    """

    chances: Floats
    theta: float


def walk_cycles(
    state: Ints,
    moves: MoveSet,
    coins: Signs,
    rule: BlockingRule,
    progress: Progress = SILENT,
    acceptance: Acceptance | None = None,
) -> tuple[Signs, Bools]:
    """Apply the coins to ``state`` in place.

    Parameters
    ----------
    state : int64 (cells,) or (cells, copies)
        Running counts, changed in place; several independent copies side by side.
    coins : int8 (passes, cycles) or (passes, cycles, copies)

    Returns
    -------
    effective, blocked
        Of the coins' shape. Blocked under ``any_zero``: the cycle touched a zero; under
        ``negative``: the coin's direction would have made a cell negative.
    """
    effective = np.zeros_like(coins)
    blocked = np.zeros(coins.shape, dtype=np.bool_)
    if rule != "reversible":
        copies = 1 if state.ndim == 1 else state.shape[1]
        listed = len(moves), copies, COMPILED_RULES.index(rule), moves.starts, moves.cells, moves.signs
        for p in range(len(coins)):
            progress.report(message("applying the cycles"), p / len(coins))
            cycle_steps.walk(*listed, state, coins[p], effective[p], blocked[p])
        return effective, blocked
    assert acceptance is not None
    plan = layers(moves)
    for p in range(len(coins)):
        for number, layer in enumerate(plan):
            if number % 64 == 0:
                progress.report(message("applying the cycles"), (p + number / len(plan)) / len(coins))
            coin = coins[p, layer.cycles]
            worth = _worth(state, layer, coin, acceptance.theta)
            stuck = np.log(acceptance.chances[p, layer.cycles]) >= worth
            blocked[p, layer.cycles] = stuck
            effective[p, layer.cycles] = take = np.where(stuck, 0, coin).astype(np.int8)
            signs = layer.signs if state.ndim == 1 else layer.signs[:, None]
            state[layer.cells] += signs * take[layer.rows]
    return effective, blocked


def _worth(state: Ints, layer: Layer, coin: Signs, theta: float) -> Floats:
    """Log chance that each coin is taken: (x!/y!)^theta over the cells it changes by one."""
    signs = layer.signs if state.ndim == 1 else layer.signs[:, None]
    step = signs * coin[layer.rows]
    here = state[layer.cells]
    with np.errstate(divide="ignore"):
        # x! / (x + 1)! and x! / (x - 1)!; a zero cannot fall.
        change = np.where(step > 0, -np.log(here + 1.0), np.log(here))
    change = np.where(step == 0, 0.0, theta * change if theta else np.where(here + step < 0, -np.inf, 0.0))
    return np.minimum(np.add.reduceat(change, layer.starts, axis=0), 0.0)


TRIES = 32
"""Cycles drawn at random before all of them are examined."""


def walk_positive(
    state: Ints, family: Family, coins: Signs, generator: np.random.Generator, progress: Progress = SILENT
) -> tuple[Ints, Signs]:
    """Draw at each step a cycle through positive cells, all equally likely, and flip its coin.

    Parameters
    ----------
    state : int64 (cells,) or (cells, copies)
        Running counts, changed in place.
    coins : int8 (steps,) or (steps, copies)

    Returns
    -------
    sequence : int64, of the coins' shape
        The cycle taken; -1 where none runs through positive cells.
    effective : int8, of the coins' shape
    """
    shape = coins.shape
    coins = coins.reshape(len(coins), -1)
    counts = family.padded(state[family.touched].reshape(len(family.touched), -1))
    sequence = np.full(coins.shape, -1, dtype=np.int64)
    alive = np.arange(coins.shape[1])
    # A zero stays zero: what is not free now never will be.
    free = np.flatnonzero((family.lowest(counts) > 0).any(axis=1))
    family = family.take(free)
    if not len(free):
        alive = alive[:0]
    for step in range(len(coins)):
        if step % 64 == 0:
            progress.report(message("applying the cycles"), step / len(coins))
        if not len(alive):
            break
        taken, stuck = _choose(counts, family, alive, generator)
        alive, taken = alive[~stuck], taken[~stuck]
        sequence[step, alive] = free[taken]
        moving = np.flatnonzero(coins[step, alive])
        cells, copies = family.cells[taken[moving]], alive[moving, None]
        counts[cells, copies] += family.signs[taken[moving]] * coins[step, alive[moving], None]
    state[family.touched] = counts[:-1].reshape(len(family.touched), *state.shape[1:])
    effective = np.where(sequence < 0, 0, coins).astype(np.int8)
    return sequence.reshape(shape), effective.reshape(shape)


def _choose(counts: Ints, family: Family, copies: Ints, generator: np.random.Generator) -> tuple[Ints, Bools]:
    """Draw a cycle through positive cells for each copy; also the copies that have none."""
    taken = np.full(len(copies), -1, dtype=np.int64)
    waiting = np.arange(len(copies))
    for _ in range(TRIES):
        drawn = generator.integers(len(family), size=len(waiting))
        found = counts[family.cells[drawn], copies[waiting, None]].min(axis=1) > 0
        taken[waiting[found]] = drawn[found]
        waiting = waiting[~found]
        if not len(waiting):
            break
    stuck = np.zeros(len(copies), dtype=np.bool_)
    # Drawing until one fits is the same as drawing among those that fit.
    for part in np.array_split(waiting, -(-len(waiting) * len(family) // 2**22) or 1):
        free = family.lowest(counts[:, copies[part]]) > 0
        number = free.sum(axis=0)
        stuck[part] = number == 0
        wanted = np.floor(generator.random(len(part)) * number).astype(np.int64)
        taken[part] = (np.cumsum(free, axis=0) > wanted).argmax(axis=0)
    return taken, stuck


@dataclass(frozen=True)
class Walker:
    """The forward mechanism of cycles in one of the ``ORDERS``, over any number of copies.

    Attributes
    ----------
    steps
        Number of coins flipped on one copy.
    """

    moves: MoveSet
    order: Order
    steps: int
    alpha: float
    beta: float
    rule: BlockingRule
    theta: float = 0.0

    @classmethod
    def of(cls, values: Values) -> Walker:
        """The forward mechanism of resolved parameters."""
        moves = values[CYCLES]
        return cls(
            moves,
            values[ORDER],
            number_of_steps(values, len(moves)),
            values[ALPHA],
            values[BETA],
            values[BLOCKING],
            values[THETA] or 0.0,
        )

    @cached_property
    def _listed(self) -> tuple[Ints | None, MoveSet]:
        """The list of a pass; one long pass where the list is cut off."""
        if self.steps % len(self.moves) == 0:
            return None, self.moves
        sequence = np.arange(self.steps) % len(self.moves)
        return sequence, self.moves.take(sequence)

    @cached_property
    def _family(self) -> Family:
        return Family.of(self.moves)

    def run(self, state: Ints, generator: np.random.Generator, progress: Progress = SILENT) -> Steps:
        """Draw the order, flip the coins and apply the cycles to ``state`` in place.

        ``state`` is int64 (cells,) or (cells, copies); copies share a drawn order.
        """
        copies = state.shape[1:]
        sequence: Ints | None = None
        moves = self.moves
        if self.order == "listed":
            sequence, moves = self._listed
        elif self.order != "positive":
            sequence = draw_sequence(generator, self.order, cycles=len(self.moves), steps=self.steps)
            moves = self.moves.take(sequence)
        each = len(self.moves) if self.order == "listed" and sequence is None else self.steps
        shape = (self.steps // each, each, *copies)
        coins = flip(generator, shape, alpha=self.alpha, beta=self.beta)
        if self.order == "positive":
            sequence, effective = walk_positive(state, self._family, coins[0], generator, progress)
            return Steps(coins, effective[None], (sequence < 0)[None], sequence)
        # One draw more for each step, after all coins: those of the other rules stay as they are.
        acceptance = None
        if self.rule == "reversible":
            acceptance = Acceptance(generator.random(shape), self.theta)
        effective, blocked = walk_cycles(state, moves, coins, self.rule, progress, acceptance)
        return Steps(coins, effective, blocked, sequence)
