"""The reversible rule: forward law, posterior and reversal, against full enumeration of 65 tables."""

from __future__ import annotations

import itertools
from math import lgamma

import numpy as np
import pytest

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import Factorial, Prior, Uniform
from tabprotect.engine.posterior.prior_text import parse_prior
from tabprotect.engine.protection.cycle_runs.forward_walk import Acceptance, flip, walk_cycles
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

START = np.array([[1, 2, 0], [2, 0, 1], [0, 1, 3]])


def fibre() -> list[np.ndarray]:
    """Every table with the margins of ``START``."""
    rows, columns, found = START.sum(axis=1), START.sum(axis=0), []
    for four in itertools.product(range(4), repeat=4):
        table = np.zeros((3, 3), dtype=np.int64)
        table[:2, :2] = np.reshape(four, (2, 2))
        table[:2, 2] = rows[:2] - table[:2, :2].sum(axis=1)
        table[2] = columns - table[:2].sum(axis=0)
        if (table >= 0).all():
            found.append(table)
    return found


TABLES = fibre()
PLACE = {table.tobytes(): k for k, table in enumerate(TABLES)}


def kernel(moves: MoveSet, theta: float) -> tuple[np.ndarray, np.ndarray]:
    """P(published | original) over the fibre by enumeration, and the log weight of each table."""
    worth = np.array([-theta * sum(lgamma(x + 1) for x in t.reshape(-1)) for t in TABLES])
    whole = np.eye(len(TABLES))
    for cycle in range(len(moves)):
        move, step = moves.array(cycle).astype(np.int64), np.zeros((len(TABLES),) * 2)
        for k, table in enumerate(TABLES):
            stays = 1.0
            for sign in (1, -1):
                after = PLACE.get((table + sign * move).tobytes())
                if after is not None:
                    step[k, after] = 0.25 * min(1.0, np.exp(worth[after] - worth[k]))
                    stays -= step[k, after]
            step[k, k] += stays
        whole = whole @ step
    return whole, worth


def likelihood(moves: MoveSet, theta: float) -> MoveSequence:
    table = Table.dense(Domain.of_shape((3, 3)), START)
    return MoveSequence(table, moves, 0.25, 0.25, 1, "reversible", theta)


def test_there_are_65_tables() -> None:
    assert len(TABLES) == 65


@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("own", [False, True])
def test_the_posterior_by_enumeration(theta: float, own: bool) -> None:
    moves = design(Domain.of_shape((3, 3)), "elementary")
    whole, worth = kernel(moves, theta)
    prior: Prior = Factorial(theta) if own else Uniform()
    wanted = whole[:, PLACE[START.tobytes()]] * (np.exp(worth) if own else 1.0)
    wanted /= wanted.sum()
    exact = infer(likelihood(moves, theta), prior)
    assert exact.way == "exact"
    drawn = infer(likelihood(moves, theta), prior, Approach(way="monte_carlo", draws=20_000))
    # Under its own weight the mechanism run backwards is the posterior.
    assert drawn.independent == (own or theta == 0)
    for index in itertools.product(range(3), repeat=2):
        for found, close in ((exact, 1e-12), (drawn, 0.025)):
            values, chances = found.distribution(index)
            for value, chance in zip(values, chances, strict=True):
                of = [w for w, t in zip(wanted, TABLES, strict=True) if t[index] == value]
                assert chance == pytest.approx(sum(of), abs=close)


def test_with_theta_0_it_is_negative() -> None:
    moves = design(Domain.of_shape((3, 3)), "strips")
    table = Table.dense(Domain.of_shape((3, 3)), START)
    negative = infer(MoveSequence(table, moves, 0.25, 0.25, 2, "negative"))
    reversible = infer(MoveSequence(table, moves, 0.25, 0.25, 2, "reversible", 0.0))
    assert np.abs(negative.chances - reversible.chances).max() < 1e-12


def test_the_mechanism_is_the_kernel() -> None:
    moves = design(Domain.of_shape((3, 3)), "elementary")
    whole, _ = kernel(moves, 1.0)
    generator, runs = np.random.default_rng(3), 100_000
    state = np.repeat(START.reshape(-1)[:, None], runs, axis=1)
    coins = flip(generator, (1, len(moves), runs), alpha=0.25, beta=0.25)
    chances = generator.random(coins.shape)
    acceptance = Acceptance(chances, 1.0)
    walk_cycles(state, moves, coins, "reversible", acceptance=acceptance)
    found = np.zeros(len(TABLES))
    for table, times in zip(*np.unique(state.T, axis=0, return_counts=True), strict=True):
        found[PLACE[table.reshape(3, 3).tobytes()]] = times / runs
    assert np.abs(found - whole[PLACE[START.tobytes()]]).max() < 0.005


def test_the_weight_is_left_as_it_is() -> None:
    moves = design(Domain.of_shape((3, 3)), "elementary")
    whole, worth = kernel(moves, 1.0)
    weight = np.exp(worth) / np.exp(worth).sum()
    assert np.abs(weight @ whole - weight).max() < 1e-12


def test_the_prior_has_a_name() -> None:
    assert parse_prior("factorial(0.5)", Domain.of_shape((2, 2))) == Factorial(0.5)
