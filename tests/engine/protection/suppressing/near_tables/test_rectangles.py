"""Many cells looked at together, against every rectangle; and a network that is left as it was."""

from __future__ import annotations

import numpy as np
import pytest
from two_way_routes_in_numpy import Residual

from tabprotect.engine.protection.suppressing.near_tables.two_way_flows import in_rectangles


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (1, 5), (5, 5)])
def test_every_rectangle_is_found_and_no_other(shape: tuple[int, int]) -> None:
    generator = np.random.default_rng(sum(shape))
    answers = set()
    for _ in range(20):
        fall, rise = generator.integers(0, 4, (2, *shape))
        movable = generator.random(shape) < 0.6
        rows, columns = (each.reshape(-1) for each in np.indices(shape))
        needs = generator.integers(1, 4, len(rows))
        found = in_rectangles((rows, columns), needs, movable, fall, rise)
        for i, j, need, said in zip(rows, columns, needs, found, strict=True):
            falls, rises = movable & (fall >= need), movable & (rise >= need)
            exists = any(
                falls[i, c] and falls[r, j] and rises[r, c]
                for r in range(shape[0])
                for c in range(shape[1])
                if r != i and c != j
            )
            assert said == exists
            answers.add(exists)
    assert answers == ({False} if 1 in shape else {True, False})


def test_of_many_needs_none_is_promised_too_much() -> None:
    needs = np.arange(1, 21)
    rows, columns = np.zeros((2, 20), dtype=np.int64)
    room = np.full((2, 2), 9)
    found = in_rectangles((rows, columns), needs, np.ones((2, 2), dtype=np.bool_), room, room)
    assert found[:8].all() and not found[8:].any()


def test_a_network_is_left_as_it_was() -> None:
    generator = np.random.default_rng(1)
    free = generator.random((6, 7)) < 0.5
    weight = generator.random((6, 7))
    forward, back = generator.integers(0, 5, (2, 6, 7))
    before = [each.copy() for each in (free, weight, forward, back)]
    with Residual(free, weight, forward, back) as network:
        network.shut((np.array([0]), np.array([0])))
        path, amount = network.cheapest((0, 0), 4)
        assert path and amount
        network.pay(path, 0.0)
        network.use(path, amount)
        assert all(free[at] for at in path)
        assert network.reach((0, 0), 1)[0] != path or forward[path[0]] > 0
    for was, each in zip(before, (free, weight, forward, back), strict=True):
        assert np.array_equal(was, each)
