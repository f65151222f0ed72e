"""Designs keep every margin, touch cells as they promise, and come from the shape alone."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.cycles.designs import (
    DESIGNS,
    balanced,
    bidiagonal,
    connected_parts,
    design,
    elementary,
    mended,
    order_design,
    strips,
)
from tabprotect.engine.cycles.graphs import elimination_cost
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import margins_of_order
from tabprotect.engine.tables.moves import MoveSet

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "cyclic.json").read_text())


def dense_margins_zero(moves: MoveSet) -> bool:
    """Independent of the sparse check: sum dense arrays over every axis that is not kept."""
    names = moves.domain.names
    for i in range(len(moves)):
        array = moves.array(i).astype(int)
        for margin in moves.margins:
            axes = tuple(a for a, n in enumerate(names) if n not in margin)
            if array.sum(axis=axes).any():
                return False
    return True


@pytest.mark.parametrize("shape", list(product(range(2, 10), repeat=2)))
def test_bidiagonal_is_valid_for_every_two_way_shape(shape: tuple[int, int]) -> None:
    # Lenz's own code breaks margins for m = 1 (mod n); transposing mends it.
    moves = bidiagonal(Domain.of_shape(shape))
    assert len(moves) == max(shape)
    assert dense_margins_zero(moves)
    plus, minus = moves.touches
    assert (plus == 1).all() and (minus == 1).all()
    assert sum(moves.array(i).astype(int) for i in range(len(moves))).any() == False  # noqa: E712


def test_bidiagonal_is_the_papers_set() -> None:
    moves = bidiagonal(Domain.of_shape((4, 4)))
    printed = np.array(REFERENCE["two_way_4x4"]["cycles"])
    assert np.array_equal(np.stack([moves.array(i) for i in range(4)]), printed)


@pytest.mark.parametrize(
    "shape",
    [
        *product(range(2, 8), repeat=2),
        *product(range(2, 6), repeat=3),
        *product(range(2, 4), repeat=4),
        *product(range(2, 4), repeat=5),
    ],
)
def test_balanced_touches_every_cell_once_with_each_sign(shape: tuple[int, ...]) -> None:
    moves = balanced(Domain.of_shape(shape))
    assert dense_margins_zero(moves)
    plus, minus = moves.touches
    assert (plus == 1).all() and (minus == 1).all()


@pytest.mark.parametrize("key", [k for k in REFERENCE["constructions"]["examples"] if "(" in k])
def test_elementary_matches_the_reference_counts(key: str) -> None:
    shape = tuple(int(x) for x in key.strip("()").split(","))
    expected = REFERENCE["constructions"]["examples"][key]["elementary"]
    moves = elementary(Domain.of_shape(shape))
    assert len(moves) == expected["N"]
    plus, minus = moves.touches
    total = plus + minus
    assert [total.min(), total.max()] == expected["c"]
    sizes = np.diff(moves.starts)
    assert [sizes.min(), sizes.max()] == expected["support"]


@settings(max_examples=30, deadline=None)
@given(
    shape=st.lists(st.integers(2, 6), min_size=2, max_size=4).map(tuple),
    kind=st.sampled_from(sorted(set(DESIGNS) - {"bidiagonal"})),
)
def test_every_design_keeps_every_margin(shape: tuple[int, ...], kind: str) -> None:
    moves = design(Domain.of_shape(shape), kind)
    assert not moves.violations()
    assert dense_margins_zero(moves)
    touched = sum(moves.touches)
    assert touched.min() >= 1


@settings(max_examples=40, deadline=None)
@given(shape=st.lists(st.integers(2, 9), min_size=2, max_size=3).map(tuple))
def test_the_default_stays_exact_at_any_shape(shape: tuple[int, ...]) -> None:
    domain = Domain.of_shape(shape)
    cost = elimination_cost(design(domain, "default"))
    assert cost is not None and cost.width <= 8 and cost.affordable


def test_the_default_of_a_large_table_is_narrow() -> None:
    domain = Domain.of_shape((300, 41))
    cost = elimination_cost(design(domain, "default"))
    assert cost is not None and cost.width <= 6 and cost.affordable
    assert design(domain, "default") == design(domain, "default")


def test_strips_know_nothing_of_categories() -> None:
    named = Domain.of({"age": ["y", "o", "z", "w"], "sex": ["m", "f"]})
    generic = Domain.of_shape((4, 2))
    assert np.array_equal(strips(named).cells, strips(generic).cells)


@settings(max_examples=40, deadline=None)
@given(shape=st.lists(st.integers(2, 4), min_size=3, max_size=5).map(tuple), data=st.data())
def test_order_design_keeps_its_margins_with_short_cycles(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    order = data.draw(st.integers(1, len(shape) - 1))
    domain = Domain.of_shape(shape)
    moves = order_design(domain, order)
    assert set(moves.margins) == set(margins_of_order(domain, order))
    assert dense_margins_zero(moves)
    assert (np.diff(moves.starts) == 2 ** (order + 1)).all()


def test_split_cuts_two_far_swaps_apart() -> None:
    domain = Domain.of_shape((4, 4))
    both = np.zeros((4, 4), dtype=int)
    both[:2, :2] = [[1, -1], [-1, 1]]
    both[2:, 2:] = [[-1, 1], [1, -1]]
    parts = connected_parts(MoveSet.from_arrays(domain, [both]))
    assert len(parts) == 2
    assert not parts.violations()
    assert np.array_equal(parts.array(0) + parts.array(1), both)


def test_split_leaves_a_connected_cycle_alone() -> None:
    moves = bidiagonal(Domain.of_shape((5, 7)))
    assert connected_parts(moves) == moves


def test_impossible_shapes_say_why() -> None:
    with pytest.raises(ParameterError, match="one category"):
        elementary(Domain.of_shape((4, 1)))
    with pytest.raises(ParameterError, match="two variables"):
        elementary(Domain.of_shape((4,)))
    with pytest.raises(ParameterError, match="two-way"):
        bidiagonal(Domain.of_shape((2, 2, 2)))
    with pytest.raises(ParameterError, match="unknown"):
        design(Domain.of_shape((2, 2)), "spiral")


def completions(broken: MoveSet) -> list[int]:
    """The number of entries of every pattern of -1, 0 and 1 that has the cycle's own and keeps all sums."""
    shape, own = broken.domain.shape, broken.array(0).astype(np.int64)
    free = np.flatnonzero(own.reshape(-1) == 0)
    every = np.array(list(product((-1, 0, 1), repeat=len(free))), dtype=np.int64)
    whole = np.repeat(own.reshape(1, -1), len(every), axis=0)
    whole[:, free] = every
    tables = whole.reshape(-1, *shape)
    good = np.ones(len(tables), dtype=bool)
    for margin in broken.margins:
        axes = tuple(1 + a for a, n in enumerate(broken.domain.names) if n not in margin)
        sums = tables.sum(axis=axes).reshape(len(tables), -1)
        good &= ~sums.any(axis=1)
    return np.abs(whole[good]).sum(axis=1).tolist()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_broken_cycle_is_mended_by_the_fewest_signs(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(2, 3), (3, 3), (3, 4), (2, 2, 2), (2, 2, 3)]))
    domain = Domain.of_shape(shape)
    order = data.draw(st.integers(1, len(shape) - 1))
    keys = data.draw(st.lists(st.integers(0, domain.size - 1), min_size=1, max_size=4, unique=True))
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(keys), max_size=len(keys)))
    broken = MoveSet.of(
        domain,
        [0, len(keys)],
        np.array(keys),
        np.array(signs, dtype=np.int8),
        margins=margins_of_order(domain, order),
    )
    whole = mended(broken, 0)
    if whole is None:
        assert not completions(broken)
        return
    assert dense_margins_zero(whole)
    before, after = broken.array(0).astype(int), whole.array(0).astype(int)
    assert np.array_equal(after[before != 0], before[before != 0]) and np.abs(after).max() == 1
    # No completion takes fewer signs, wherever it lies.
    assert np.abs(after).sum() == min(completions(broken), default=-1)
