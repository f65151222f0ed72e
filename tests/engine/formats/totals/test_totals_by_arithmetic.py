from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.totals.settled_totals import settle_totals as settled

TREE = {"DE": ("DE1", "DE2"), "DE1": ("DE11", "DE12"), "DE2": ("DE21", "DE22", "DE23")}
LEAVES = ("DE11", "DE12", "DE21", "DE22", "DE23")


def settle_totals(cells: CellList, *, totals: str | None, strip: bool) -> tuple[CellList, list[str]]:
    done = settled(cells, Reading(totals=totals, strip_totals=strip))
    return done.cells, [*done.notes]


def cells(names: list[str], columns: list[str], counts: np.ndarray) -> CellList:
    codes = np.indices(counts.shape).reshape(2, -1).astype(np.int32)
    return CellList(
        ("geo", "w"),
        (tuple(names), tuple(columns)),
        (codes[0], codes[1]),
        counts.reshape(-1).astype(np.int64),
        lambda entry: entry + 2,
    )


def tree_counts(leaves: np.ndarray) -> dict[str, np.ndarray]:
    found = dict(zip(LEAVES, leaves, strict=True))
    for code in ("DE1", "DE2", "DE"):
        found[code] = np.sum([found[child] for child in TREE[code]], axis=0)
    return found


ORDERS = (
    ("DE", "DE1", "DE11", "DE12", "DE2", "DE21", "DE22", "DE23"),
    ("DE11", "DE12", "DE1", "DE21", "DE22", "DE23", "DE2", "DE"),
    ("DE", "DE1", "DE2", "DE11", "DE12", "DE21", "DE22", "DE23"),
)


@pytest.mark.parametrize("order", ORDERS)
@given(seed=st.integers(0, 999), columns=st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_the_levels_of_a_hierarchy_in_any_order(order: tuple[str, ...], seed: int, columns: int) -> None:
    leaves = np.random.default_rng(seed).integers(5, 900, (len(LEAVES), columns))
    found = tree_counts(leaves)
    listed = cells([*order], [f"w{k}" for k in range(columns)], np.stack([found[c] for c in order]))
    kept, notes = settle_totals(listed, totals="auto", strip=False)
    assert set(kept.categories[0]) == set(LEAVES)
    assert kept.counts.sum() == leaves.sum() and "by arithmetic" in notes[0]


@given(seed=st.integers(0, 999), last=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_total_in_any_language(seed: int, last: bool) -> None:
    inner = np.random.default_rng(seed).integers(0, 60, (6, 4))
    inner[:2] += 1
    total = inner.sum(axis=0, keepdims=True)
    names = [f"g{k}" for k in range(6)]
    parts, labels = ([inner, total], [*names, "Mindenki"]) if last else ([total, inner], ["Mindenki", *names])
    listed = cells(labels, ["a", "b", "c", "d"], np.concatenate(parts))
    with pytest.raises(InputError, match="Mindenki"):
        settle_totals(listed, totals=None, strip=False)
    kept, _ = settle_totals(listed, totals=None, strip=True)
    assert kept.counts.tolist() == inner.reshape(-1).tolist()
    same, _ = settle_totals(listed, totals="none", strip=True)
    assert same is listed


@given(seed=st.integers(0, 5000), rows=st.integers(3, 9), columns=st.integers(1, 6))
@settings(max_examples=80, deadline=None)
def test_what_is_no_total_is_left_alone(seed: int, rows: int, columns: int) -> None:
    counts = np.random.default_rng(seed).integers(10, 400, (rows, columns))
    listed = cells([f"g{k}" for k in range(rows)], [f"w{k}" for k in range(columns)], counts)
    kept, notes = settle_totals(listed, totals=None, strip=False)
    assert kept is listed and not notes


def test_multiples_of_one_row_say_only_one_thing() -> None:
    counts = np.outer(np.arange(9), np.arange(9))
    listed = cells([f"g{k}" for k in range(9)], [f"w{k}" for k in range(9)], counts)
    assert settle_totals(listed, totals=None, strip=False)[0] is listed


def test_totals_can_be_named() -> None:
    counts = np.array([[1, 2], [3, 4], [4, 6]])
    listed = cells(["a", "b", "ALLES"], ["x", "y"], counts)
    assert settle_totals(listed, totals=None, strip=False)[0] is listed
    for said in ("ALLES", "geo=ALLES"):
        kept, _ = settle_totals(listed, totals=said, strip=False)
        assert kept.counts.tolist() == [1, 2, 3, 4]
    with pytest.raises(InputError, match="2 of 2 do not add up"):
        settle_totals(cells(["a", "b", "ALLES"], ["x", "y"], counts + 1), totals="ALLES", strip=True)
    with pytest.raises(InputError, match="no variable has the category"):
        settle_totals(listed, totals="NONE", strip=True)
