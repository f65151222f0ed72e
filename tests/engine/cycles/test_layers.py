"""Layers of disjoint cycles: done at once they do what the list does one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.arrays import Ints
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.cycles.layers import SHORT, layer_numbers, layer_numbers_in_numpy, layers, runs
from tabprotect.engine.protection.cycle_runs.forward_walk import flip, walk_compiled, walk_cycles
from tabprotect.engine.release.likelihood import BlockingRule
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet


def one_by_one(moves: MoveSet, state: Ints, coins: Ints) -> Ints:
    state = state.copy()
    for i in range(len(moves)):
        cells, signs = moves.entries(i)
        if state[cells].min() > 0:
            state[cells] += coins[i] * signs
    return state


def test_runs_of_strips_are_views_that_need_no_sorting() -> None:
    moves = design(Domain.of_shape((120, 90)), "strips-2")
    found = layers(moves)
    # Many draws are made from a set: its layers are found once.
    assert layers(moves) is found
    # One run for each step along the ring: nothing is listed a second time.
    assert len(found) == 120
    for layer in found:
        assert np.shares_memory(layer.cells, moves.cells)
        assert np.shares_memory(layer.signs, moves.signs)
        assert len(np.unique(layer.cells)) == len(layer.cells)
    assert np.array_equal(np.concatenate([layer.cycles for layer in found]), np.arange(len(moves)))


@pytest.mark.parametrize("shape", [(64, 90), (81, 65), (20, 9, 14)])
@pytest.mark.parametrize("kind", ["strips-2", "bands", "elementary", "order-1"])
def test_layers_do_what_the_list_does(shape: tuple[int, ...], kind: str) -> None:
    moves = design(Domain.of_shape(shape), kind)
    start = np.random.default_rng(1).poisson(2, moves.domain.size).astype(np.int64)
    coins = flip(np.random.default_rng(2), (1, len(moves)), alpha=0.4, beta=0.4)
    state = start.copy()
    walk_cycles(state, layers(moves), coins, "any_zero")
    assert np.array_equal(state, one_by_one(moves, start, coins[0]))
    assert np.array_equal(layer_numbers(moves), layer_numbers_in_numpy(moves))


@pytest.mark.parametrize("rule", ["any_zero", "negative", "none"])
@pytest.mark.parametrize("copies", [(), (5,)])
def test_the_compiled_walk_is_that_by_layers(rule: BlockingRule, copies: tuple[int, ...]) -> None:
    moves = design(Domain.of_shape((30, 21)), "strips-5")
    start = np.random.default_rng(1).poisson(1, (moves.domain.size, *copies)).astype(np.int64)
    coins = flip(np.random.default_rng(2), (2, len(moves), *copies), alpha=0.4, beta=0.3)
    state = start.copy()
    found = walk_compiled(state, moves, coins, rule)
    if found is None:
        pytest.skip("not built here")
    other = start.copy()
    effective, blocked = walk_cycles(other, layers(moves), coins, rule)
    assert np.array_equal(state, other) and (state != start).any()
    assert np.array_equal(found[0], effective) and np.array_equal(found[1], blocked)
    # Tables that lie otherwise in memory, and other rules, are left to the layers.
    assert walk_compiled(start, moves, coins, "reversible") is None
    if copies:
        assert walk_compiled(np.asfortranarray(start), moves, coins, rule) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 400), st.integers(1, 90), st.integers(0, 2**32))
def test_runs_are_disjoint_and_as_long_as_they_can_be(pairs: int, span: int, seed: int) -> None:
    """Cycles of two cells over a few hundred, near each other in the list or not."""
    generator = np.random.default_rng(seed)
    number = 6 * pairs
    first = (np.arange(number) * 2 + generator.integers(0, span, number)) % (4 * pairs)
    cells = np.stack([first, (first + 1 + generator.integers(0, 3, number)) % (4 * pairs)], axis=1)
    cells = cells[cells[:, 0] != cells[:, 1]]
    domain = Domain.of_shape((4 * pairs,))
    starts = np.arange(len(cells) + 1) * 2
    moves = MoveSet.of(domain, starts, cells.reshape(-1), np.tile([1, -1], len(cells)))
    bounds = [0]
    seen: set[int] = set()
    for i in range(len(moves)):
        own = set(moves.entries(i)[0].tolist())
        if own & seen:
            bounds.append(i)
            seen = set()
        seen |= own
    bounds.append(len(moves))
    found = runs(moves)
    if found is None:
        # Given up early or at the end, but never where runs are long throughout.
        assert min(np.diff(bounds)) < SHORT
    else:
        assert found.tolist() == bounds
