"""Fibres against enumeration of every table of a total."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import alike, tables

import tabprotect as tp
from tabprotect.engine.bounds.fibre import Sums, fibre


def sums_of(counts: np.ndarray, queries: list[int]) -> Sums:
    """The margins of a table as sums of its flat cells."""
    at = np.indices(counts.shape).reshape(counts.ndim, -1)
    out: list[tuple[np.ndarray, int, int]] = []
    for query in queries:
        axes = [v for v in range(counts.ndim) if query >> v & 1]
        sizes = [counts.shape[v] for v in axes]
        key = np.zeros(counts.size, dtype=np.int64)
        for v, size in zip(axes, sizes, strict=True):
            key = key * size + at[v]
        for k in range(int(np.prod(sizes))):
            cells = np.flatnonzero(key == k)
            total = int(counts.reshape(-1)[cells].sum())
            out.append((cells, total, total))
    return out


@settings(max_examples=60, deadline=None)
@given(tables(), st.lists(st.integers(0, 15), max_size=4), st.booleans())
def test_a_fibre_is_every_table_with_its_sums(table, chosen, cut) -> None:
    counts = np.asarray(table.counts)
    queries = [0, *(q & (1 << counts.ndim) - 1 for q in chosen)]
    sums = sums_of(counts, queries)
    wanted = alike(table, queries).reshape(-1, counts.size)
    high = np.full(counts.size, table.total)
    if cut:
        # Ends of a cell, and a sum that may vary.
        high[0] = counts.reshape(-1)[0] + 1
        wanted = wanted[wanted[:, 0] <= high[0]]
        pair = np.array([1, 2])
        own = int(counts.reshape(-1)[pair].sum())
        sums = [*sums, (pair, max(own - 1, 0), own + 1)]
        held = wanted[:, pair].sum(axis=1)
        wanted = wanted[(held >= own - 1) & (held <= own + 1)]
    found = fibre(np.zeros(counts.size, dtype=np.int64), high, sums)
    assert found is not None
    listed = np.concatenate([block for _, block in found.blocks()] or [wanted[:0]])
    assert np.array_equal(np.unique(listed, axis=0), np.unique(wanted.reshape(-1, counts.size), axis=0))
    assert len(listed) == len(wanted)


def test_all_four_way_margins_of_the_czech_table() -> None:
    """705,884 tables in seven dimensions; 1,081 of 1,841 records in each of them (findings)."""
    table = tp.read_table("example:czech-autoworkers").table
    counts = np.asarray(table.counts)
    sums = sums_of(counts, [sum(1 << v for v in four) for four in combinations(range(6), 4)])
    found = fibre(np.zeros(64, dtype=np.int64), np.full(64, 2000), sums)
    assert found is not None and found.slopes.shape == (64, 7)
    assert len(found) == 705_884
    least = np.min([block.min(axis=0) for _, block in found.blocks()], axis=0)
    assert least.sum() == 1_081 and table.total == 1_841


def test_no_fibre_beyond_the_limit() -> None:
    counts = np.full((3, 3), 4)
    assert fibre(np.zeros(9, dtype=np.int64), np.full(9, 36), sums_of(counts, [1, 2]), most=50) is (None)


def test_sums_that_contradict_each_other() -> None:
    both = np.array([0, 1])
    sums = [(both, 3, 3), (both, 4, 4)]
    assert fibre(np.zeros(2, dtype=np.int64), np.full(2, 9), sums) is None


@pytest.mark.parametrize(("low", "number"), [(0, 5), (1, 3), (3, 0)])
def test_lower_ends(low: int, number: int) -> None:
    found = fibre(np.full(2, low), np.full(2, 9), [(np.array([0, 1]), 4, 4)])
    assert found is not None and len(found) == number
