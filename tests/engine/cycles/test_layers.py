"""Layers of disjoint cycles: done at once they do what the list does one by one."""

from __future__ import annotations

import cycle_steps_in_numpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.arrays import Ints
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.cycles.layers import SHORT, layer_numbers, layers, runs
from tabprotect.engine.protection.cycle_runs import forward_walk
from tabprotect.engine.protection.cycle_runs.forward_walk import flip, walk_cycles
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
    walk_cycles(state, moves, coins, "any_zero")
    assert np.array_equal(state, one_by_one(moves, start, coins[0]))
    expected, last = np.zeros(len(moves), dtype=np.int64), np.zeros(moves.domain.size, dtype=np.int64)
    cycle_steps_in_numpy.layer_numbers(len(moves), moves.starts, moves.cells, last, expected)
    assert np.array_equal(layer_numbers(moves), expected)


@pytest.mark.parametrize("rule", ["any_zero", "negative", "none"])
@pytest.mark.parametrize("copies", [(), (5,)])
def test_the_compiled_walk_is_that_of_numpy(
    rule: BlockingRule, copies: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = design(Domain.of_shape((30, 21)), "strips-5")
    start = np.random.default_rng(1).poisson(1, (moves.domain.size, *copies)).astype(np.int64)
    coins = flip(np.random.default_rng(2), (2, len(moves), *copies), alpha=0.4, beta=0.3)
    found = []
    for form in (forward_walk.cycle_steps, cycle_steps_in_numpy):
        monkeypatch.setattr(forward_walk, "cycle_steps", form)
        state = start.copy()
        found.append((state, *walk_cycles(state, moves, coins, rule)))
    for compiled, plain in zip(*found, strict=True):
        assert np.array_equal(compiled, plain)
    assert (found[0][0] != start).any()


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
