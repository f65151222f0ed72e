"""Bounds against every table there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bounds.bounding import AT_RISK, Search, bounds, width
from tabprotect.engine.bounds.decomposable import is_decomposable
from tabprotect.engine.errors import InputError, Interrupted, ParameterError
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import all_margins, margins_of_order
from tabprotect.engine.tables.table import Table
from tabprotect.engine.ways_to_bound import BOUNDS_WAYS
from tests.engine.bounds.enumeration import tables


def dense(counts: object) -> Table:
    array = np.array(counts)
    return Table.dense(Domain.of_shape(array.shape), array)


@st.composite
def releases(draw: st.DrawFn) -> tuple[Table, list[tuple[str, ...]]]:
    """A small table and margins of it that leave few enough tables to list."""
    shape = draw(st.sampled_from([(3, 3), (2, 2, 2), (2, 3, 2), (2, 2, 3, 1), (2, 2, 2, 2)]))
    cells = int(np.prod(shape))
    counts = draw(st.lists(st.integers(0, 2), min_size=cells, max_size=cells))
    table = dense(np.reshape(counts, shape))
    names = table.domain.names
    pairs = margins_of_order(table.domain, min(2, len(names) - 1))
    threes = margins_of_order(table.domain, 3) if len(names) > 3 else ()
    release = draw(st.lists(st.sampled_from([*pairs, *threes]), min_size=1, max_size=4))
    if len(shape) > 3:
        # One three-way margin at least: else there are millions of tables.
        release.append(draw(st.sampled_from(threes)))
    uncovered = set(names) - {n for margin in release for n in margin}
    release += [(name,) for name in uncovered]
    return table, release


@settings(max_examples=60, deadline=None)
@given(releases())
def test_every_way_against_enumeration(case: tuple[Table, list[tuple[str, ...]]]) -> None:
    table, release = case
    every = tables(table, release)
    low, high = every.min(axis=0), every.max(axis=0)
    for way in ("auto", "integer"):
        found = bounds(table, release, method=way)
        assert found.exact
        assert found.lower.tolist() == low.tolist()
        assert found.upper.tolist() == high.tolist()
    for way in ("shuttle", "lp"):
        outer = bounds(table, release, method=way)
        assert (outer.lower <= low).all() and (outer.upper >= high).all()
        met = outer.sharp
        assert (outer.lower[met] == low[met]).all() and (outer.upper[met] == high[met]).all()
    if is_decomposable(tuple(release)):
        closed = bounds(table, release, method="decomposable")
        assert closed.lower.tolist() == low.tolist()
        assert closed.upper.tolist() == high.tolist()


@settings(max_examples=60, deadline=None)
@given(releases(), st.integers(0, 4))
def test_verdicts_against_enumeration(case: tuple[Table, list[tuple[str, ...]]], beta: int) -> None:
    table, release = case
    every = tables(table, release)
    true = int((every.max(axis=0) - every.min(axis=0)).min())
    for way in BOUNDS_WAYS:
        result = width(table, release, cells="all", beta=beta, search=Search(way))
        assert result.width >= true
        assert not result.exact or result.width == true
        if result.verdict == "safe":
            assert true >= beta
        if result.verdict == "bad":
            assert true < beta
        if way in ("auto", "integer"):
            assert result.verdict == ("safe" if true >= beta else "bad")
    found = width(table, release, cells="all")
    assert (found.width, found.exact, found.verdict) == (true, True, None)
    spread = every.max(axis=0) - every.min(axis=0)
    assert set(found.tight.cells.tolist()) == set(np.flatnonzero(spread == true).tolist())


def test_the_outer_ways_never_say_safe_on_their_own() -> None:
    table = dense([[[2, 1], [1, 1]], [[1, 1], [1, 3]]])
    release = margins_of_order(table.domain, 2)
    assert width(table, release, cells="all", beta=2).verdict == "safe"
    assert width(table, release, cells="all", beta=2, search=Search("shuttle")).verdict == "unknown"
    assert width(table, release, cells="all", beta=2, search=Search("decomposable")).verdict == "unknown"
    too_much = width(table, release, cells="all", beta=3, search=Search("shuttle"))
    assert too_much.verdict == "bad" and len(too_much.tight.cells) == table.domain.size


def test_variables_in_no_margin_leave_the_lower_bounds_at_zero() -> None:
    table = dense([[[4, 1], [0, 2]], [[3, 3], [1, 1]]])
    found = bounds(table, [("A", "B")])
    assert found.exact and found.method == "decomposable"
    assert found.lower.tolist() == [0] * 8
    assert found.upper.tolist() == [5, 5, 2, 2, 6, 6, 2, 2]
    total = bounds(table, [()])
    assert total.upper.tolist() == [15] * 8 and total.lower.tolist() == [0] * 8
    triangle = bounds(dense(np.array(table.counts)[..., None] * [1, 1]), [("A", "B"), ("B", "C"), ("A", "C")])
    assert triangle.exact and triangle.lower.tolist() == [0] * 16


def test_a_release_that_comes_apart_is_solved_in_its_parts() -> None:
    generator = np.random.default_rng(7)
    table = dense(generator.poisson(1.0, (2, 2, 2, 2, 2)))
    release = [("A", "B"), ("B", "C"), ("A", "C"), ("C", "D"), ("D", "E")]
    split, whole = bounds(table, release), bounds(table, release, method="integer")
    assert split.exact and whole.exact
    assert split.lower.tolist() == whole.lower.tolist()
    assert split.upper.tolist() == whole.upper.tolist()


def test_a_sparse_table_that_could_never_be_laid_out() -> None:
    domain = Domain.of_shape((50,) * 8)
    generator = np.random.default_rng(3)
    records = domain.project_keys(generator.integers(0, domain.size, 300), domain.names)
    table = Table.sparse(domain, records, np.ones(len(records)))
    chain = [("A", "B", "C"), ("C", "D", "E"), ("E", "F"), ("G", "H")]
    found = bounds(table, chain, cells=AT_RISK)
    assert found.method == "decomposable" and found.exact and len(found.cells) == 300
    cell = domain.unflat(int(found.cells[0]))
    at = dict(zip(domain.names, cell, strict=True))
    counts = [table.margin(m)[[at[n] for n in m]] for m in chain]
    assert found.upper[0] == min(counts)
    ring = [*chain, ("A", "H")]
    result = width(table, [*ring, ("F", "G")], beta=1)
    assert result.verdict in ("safe", "bad", "unknown")
    assert result.width >= 0


def test_too_large_for_any_programme_is_not_proven_safe() -> None:
    domain = Domain.of_shape((200, 200, 200))
    generator = np.random.default_rng(5)
    keys = generator.integers(0, domain.size, 2_000_000)
    table = Table.sparse(domain, keys, np.ones(len(keys)))
    cells = table.cells[0][:5]
    result = width(table, margins_of_order(domain, 2), cells=cells, beta=1)
    assert result.method == "frechet"
    assert result.verdict == "unknown" and "too many cells" in result.why
    assert not result.exact


def test_counts_near_the_largest_integer() -> None:
    table = dense([[[2**59, 1], [3, 2**58]], [[5, 2**57], [2**59, 7]]])
    found = bounds(table, all_margins(table.domain))
    assert found.method == "frechet"
    assert (found.lower <= table.counts.reshape(-1)).all()
    assert (found.upper >= table.counts.reshape(-1)).all()
    closed = bounds(table, [("A", "B"), ("B", "C")])
    assert closed.exact and closed.upper[0] == 2**59 + 1


def test_an_empty_table_is_known() -> None:
    found = bounds(dense(np.zeros((2, 2, 2), dtype=int)), [("A", "B"), ("B", "C"), ("A", "C")])
    assert found.exact and not found.upper.any()


@pytest.mark.parametrize(
    ("release", "says"),
    [
        ([], "nothing is released"),
        ([("A", "X")], "no variable 'X'"),
        ([("A", "B", "A")], "'A' is named twice"),
    ],
)
def test_bad_releases(release: list[tuple[str, ...]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        bounds(dense([[1, 2], [3, 4]]), release)


def test_bad_questions() -> None:
    table = dense([[5, 6], [7, 8]])
    with pytest.raises(InputError, match=r"no cell .* 1\.\.2"):
        bounds(table, [("A",)], cells=AT_RISK)
    with pytest.raises(InputError, match="outside the table"):
        bounds(table, [("A",)], cells=np.array([4]))
    with pytest.raises(InputError, match="negative"):
        bounds(dense([[-1, 2], [3, 4]]), [("A",)])
    with pytest.raises(ParameterError, match="unknown"):
        bounds(table, [("A",)], method="guess")  # type: ignore[arg-type]
    cube = dense(np.ones((2, 2, 2), dtype=int))
    with pytest.raises(ParameterError, match="not decomposable"):
        bounds(cube, all_margins(cube.domain), method="decomposable")


def test_cancelling() -> None:
    table = dense(np.random.default_rng(1).poisson(2.0, (4, 4, 4)))
    progress = Cancellable()
    progress.cancel()
    for way in ("auto", "shuttle", "lp", "integer"):
        with pytest.raises(Interrupted):
            bounds(table, all_margins(table.domain), method=way, progress=progress)


def test_the_same_answer_every_time() -> None:
    table = dense(np.random.default_rng(2).poisson(1.5, (3, 3, 3)))
    release = all_margins(table.domain)
    first, again = (bounds(table, release, method="lp") for _ in range(2))
    assert first.sharp.tolist() == again.sharp.tolist()
    assert first.upper.tolist() == again.upper.tolist()


def test_bounds_do_not_print_counts() -> None:
    found = bounds(dense([[1, 2], [3, 444]]), [("A", "B")])
    assert "444" not in repr(found)
