"""The proof panel's figures against independent linear algebra and enumeration."""

from __future__ import annotations

from dataclasses import fields
from itertools import product

import cycle_steps_in_numpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from move_cases import moves_of

from tabprotect.engine.cycles import reach
from tabprotect.engine.cycles.algebra import CycleAlgebra
from tabprotect.engine.cycles.cycle_report import check_cycles
from tabprotect.engine.cycles.designs import balanced, bidiagonal, design, elementary, strips
from tabprotect.engine.cycles.reach import blocked_cycles, bridges, immovable_cells
from tabprotect.engine.cycles.signatures import Signatures, signatures
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import dimension, margins_of_order
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table


def dense(moves: MoveSet) -> np.ndarray:
    return np.stack([moves.array(i).reshape(-1) for i in range(len(moves))]).astype(int)


@st.composite
def random_moves(draw: st.DrawFn) -> MoveSet:
    """Arbitrary sign patterns: they keep no margin, the algebra must hold all the same."""
    shape = draw(st.sampled_from([(2, 3), (3, 3), (2, 2, 2), (3, 4)]))
    n = draw(st.integers(1, 6))
    size = int(np.prod(shape))
    rows = draw(
        st.lists(
            st.lists(st.sampled_from([-1, 0, 0, 1]), min_size=size, max_size=size).filter(any),
            min_size=n,
            max_size=n,
        )
    )
    return MoveSet.from_arrays(Domain.of_shape(shape), [np.reshape(r, shape) for r in rows])


@settings(max_examples=100, deadline=None)
@given(moves=random_moves(), passes=st.integers(1, 2))
def test_rank_and_distinct_outcomes_of_any_set(moves: MoveSet, passes: int) -> None:
    algebra = CycleAlgebra(moves)
    matrix = dense(moves)
    assert algebra.rank == np.linalg.matrix_rank(matrix)
    coefficients = np.array(list(product(range(-passes, passes + 1), repeat=len(moves))))
    assert algebra.distinct_outcomes(passes) == len(np.unique(coefficients @ matrix, axis=0))


def same_in_numpy(moves: MoveSet) -> None:
    """Both forms of the groups, array for array."""
    compiled, plain = signatures(moves), cycle_steps_in_numpy.signatures_of(moves)
    for field in fields(Signatures):
        one, other = getattr(compiled, field.name), getattr(plain, field.name)
        assert one.dtype == other.dtype and np.array_equal(one, other), field.name


@pytest.mark.parametrize("kind", ["balanced", "bidiagonal", "strips-5", "elementary"])
def test_designs_have_the_same_groups_compiled_and_in_numpy(kind: str) -> None:
    moves = design(Domain.of_shape((23, 14)), kind)
    same_in_numpy(moves)
    same_in_numpy(moves.take(np.arange(0)))


@settings(max_examples=100, deadline=None)
@given(moves=random_moves())
def test_signature_groups_are_equal_columns(moves: MoveSet) -> None:
    sig = signatures(moves)
    same_in_numpy(moves)
    matrix = dense(moves)
    for a in range(matrix.shape[1]):
        assert (sig.group_of_cell[a] < 0) == (not matrix[:, a].any())
        for b in range(a):
            same = np.array_equal(matrix[:, a], matrix[:, b])
            if matrix[:, a].any() or matrix[:, b].any():
                assert (sig.group_of_cell[a] == sig.group_of_cell[b]) == same
    for g in range(len(sig)):
        cycles, signs = sig.touching(g)
        column = np.zeros(len(moves), dtype=int)
        column[cycles] = signs
        assert np.array_equal(column, matrix[:, sig.first_cell[g]])


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 2, 3, 2)])
@pytest.mark.parametrize("kind", ["balanced", "strips", "bands", "elementary"])
def test_rank_of_designs(shape: tuple[int, ...], kind: str) -> None:
    moves = design(Domain.of_shape(shape), kind)
    report = check_cycles(moves)
    assert report.rank == np.linalg.matrix_rank(dense(moves))
    assert report.dimension == np.prod([s - 1 for s in shape])


@pytest.mark.parametrize("shape", [(2, 3, 3), (3, 2, 2, 2)])
@pytest.mark.parametrize("order", [1, 2])
def test_dimension_is_the_null_space_of_the_margins(shape: tuple[int, ...], order: int) -> None:
    domain = Domain.of_shape(shape)
    margins = margins_of_order(domain, order)
    rows = []
    for names in margins:
        keys = domain.project_keys(np.arange(domain.size), names)
        rows += [(keys == k).astype(int) for k in range(keys.max() + 1)]
    assert dimension(domain, margins) == domain.size - np.linalg.matrix_rank(np.array(rows))


def test_the_papers_example() -> None:
    report = check_cycles(bidiagonal(Domain.of_shape((4, 4)))).as_json()
    assert report["preserves_margins"] is True
    assert (report["coverage_min"], report["coverage_max"]) == (2, 2)
    assert (report["rank"], report["dimension"]) == (3, 9)
    assert report["distinct_outcomes"] == 65
    assert report["width"] == 2
    assert "blocked_share" not in report


@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_lenz_distinct_tables(n: int) -> None:
    # 3^n - 2^n for the bidiagonal set, for n > 2 (two cycles of a 2 x 2 are one and its negative).
    number = check_cycles(bidiagonal(Domain.of_shape((n, n)))).distinct_outcomes
    assert number == 3**n - 2**n


def test_a_known_column_reveals_a_square_table_and_swaps_reveal_nothing() -> None:
    square = check_cycles(bidiagonal(Domain.of_shape((5, 5))))
    assert all(a.revealed == a.others == 20 for a in square.attacks)
    swaps = check_cycles(elementary(Domain.of_shape((5, 5))))
    assert all(a.revealed == 0 for a in swaps.attacks)


@settings(max_examples=60, deadline=None)
@given(moves=random_moves(), data=st.data())
def test_revealed_cells_are_those_in_the_row_space(moves: MoveSet, data: st.DataObject) -> None:
    matrix = dense(moves)
    size = matrix.shape[1]
    known = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    revealed = CycleAlgebra(moves).revealed_by(known)
    base = matrix[:, known].T
    rank = np.linalg.matrix_rank(base) if known.any() else 0
    for cell in range(size):
        joined = np.vstack([base, matrix[:, cell]])
        assert revealed[cell] == (known[cell] or np.linalg.matrix_rank(joined) == rank)


@pytest.mark.parametrize(
    "moves",
    [
        bidiagonal(Domain.of_shape((4, 4))),
        strips(Domain.of_shape((4, 5))),
        balanced(Domain.of_shape((4, 4, 3))),
        elementary(Domain.of_shape((3, 4))),
    ],
)
def test_known_functionals_vanish_on_every_cycle_and_are_new(moves: MoveSet) -> None:
    algebra = CycleAlgebra(moves)
    found = algebra.known_functionals()
    assert found is not None
    assert len(found) == algebra.dimension - algebra.rank
    vectors = np.zeros((len(found), *moves.domain.shape), dtype=int)
    for k, functional in enumerate(found):
        for index, weight in functional.items():
            vectors[(k, *index)] = weight
    flat = vectors.reshape(len(found), moves.domain.size)
    assert not (flat @ dense(moves).T).any()
    margins = []
    for names in moves.margins:
        keys = moves.domain.project_keys(np.arange(moves.domain.size), names)
        margins += [(keys == k).astype(int) for k in range(keys.max() + 1)]
    base = np.array(margins)
    both = np.vstack([base, flat])
    assert np.linalg.matrix_rank(both) == np.linalg.matrix_rank(base) + len(found)


def test_lenz_bridge_example() -> None:
    table = Table.dense(Domain.of_shape((4, 4)), [[5, 4, 3, 0], [2, 6, 0, 0], [0, 0, 1, 7], [0, 0, 8, 9]])
    assert bridges(table) == [(0, 2)]
    report = check_cycles(elementary(table.domain), table=table)
    assert report.as_json()["immovable_cells"] == [[0, 2]]
    assert "bridges" in report.statements[-1].text


@settings(max_examples=80, deadline=None)
@given(cells=st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_bridges_by_brute_force(cells: list[int]) -> None:
    counts = np.array(cells).reshape(3, 4)
    positive = [tuple(c) for c in np.argwhere(counts > 0).tolist()]

    def pieces(edges: list[tuple[int, int]]) -> int:
        group = list(range(7))

        def root(x: int) -> int:
            while group[x] != x:
                x = group[x]
            return x

        for i, j in edges:
            group[root(i)] = root(3 + j)
        return len({root(x) for x in range(7)})

    expected = [e for e in positive if pieces([f for f in positive if f != e]) > pieces(positive)]
    assert bridges(Table.dense(Domain.of_shape((3, 4)), counts)) == expected


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.integers(0, 2), min_size=9, max_size=9), rule=st.sampled_from(["any_zero", "negative"])
)
def test_immovable_cells_by_searching_every_outcome(cells: list[int], rule: str) -> None:
    table = Table.dense(Domain.of_shape((3, 3)), np.array(cells).reshape(3, 3))
    moves = bidiagonal(table.domain)
    matrix = dense(moves)
    start = tuple(table.counts.reshape(-1).tolist())
    reached, frontier = {start}, [start]
    while frontier:
        state = np.array(frontier.pop())
        for move in matrix:
            for sign in (1, -1):
                after = state + sign * move
                stuck = (state[move != 0] == 0).any() if rule == "any_zero" else (after < 0).any()
                if not stuck and tuple(after) not in reached:
                    reached.add(tuple(after))
                    frontier.append(tuple(after))
        if len(reached) > 3000:
            break
    moved = (np.array(list(reached)) != np.array(start)).any(axis=0)
    flagged = immovable_cells(moves, table, rule)
    # Every flagged cell really never moves; under any_zero the converse holds too.
    assert not (flagged & moved).any()
    if rule == "any_zero":
        assert np.array_equal(flagged, (np.array(start) > 0) & ~moved)


def test_both_forms_find_the_same_immovable_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for form in (reach.cycle_steps, cycle_steps_in_numpy):
        monkeypatch.setattr(reach, "cycle_steps", form)
        for seed, passes in product(range(20), (1, 2)):
            counts = np.random.default_rng(seed).poisson(0.5, size=(6, 7))
            table = Table.dense(Domain.of_shape((6, 7)), counts)
            moves = bidiagonal(table.domain)
            found.append(immovable_cells(moves, table, "negative", passes=passes).tolist())
    half = len(found) // 2
    assert found[:half] == found[half:] and any(map(any, found))


def test_blocked_cycles_touch_a_zero() -> None:
    table = Table.dense(Domain.of_shape((3, 3)), [[0, 5, 5], [5, 5, 5], [5, 5, 5]])
    moves = bidiagonal(table.domain)
    touches = [moves.array(i)[0, 0] != 0 for i in range(3)]
    assert blocked_cycles(moves, table, "any_zero").tolist() == touches
    assert not blocked_cycles(moves, table, "negative").any()
    assert not blocked_cycles(moves, table, "none").any()


def test_broken_margin_is_named() -> None:
    moves = moves_of(Domain.of({"v": ["v1", "v2"], "w": ["w1", "w2"]}), [([(0, 0), (1, 1)], [(0, 1)])])
    report = check_cycles(moves)
    assert not report.preserves_margins
    first = report.violations[0]
    assert (first.margin, first.index, first.amount) == (("v",), (1,), 1)
    assert report.statements[0].verdict == "bad"
    assert "v=v2 by +1" in report.statements[0].text


def possible_moves(table: np.ndarray, moves: MoveSet, passes: int) -> np.ndarray:
    """Cells that some coins change under ``negative``, by trying all of them."""
    states = {tuple(table.reshape(-1).tolist())}
    changed = np.zeros(table.size, dtype=bool)
    for _ in range(passes):
        for i in range(len(moves)):
            move = moves.array(i).reshape(-1).astype(int)
            for state in list(states):
                for sign in (1, -1):
                    after = np.array(state) + sign * move
                    if (after >= 0).all():
                        states.add(tuple(after.tolist()))
                        changed |= move != 0
    return changed


@settings(max_examples=80, deadline=None)
@given(
    cells=st.lists(st.integers(0, 1), min_size=6, max_size=6),
    order=st.permutations(range(3)),
    passes=st.integers(1, 2),
)
def test_immovable_under_negative_follows_the_order(cells: list[int], order: list[int], passes: int) -> None:
    table = Table.dense(Domain.of_shape((2, 3)), np.array(cells).reshape(2, 3))
    moves = elementary(table.domain).take(order[: len(elementary(table.domain))])
    flagged = immovable_cells(moves, table, "negative", passes=passes)
    expected = (np.array(cells) > 0) & ~possible_moves(table.counts, moves, passes)
    assert not (flagged & ~expected).any()
    if (np.diff(moves.starts) == 4).all():
        assert np.array_equal(flagged, expected)


def test_a_cell_that_only_an_earlier_cycle_could_free() -> None:
    domain = Domain.of({"r": ["a", "b"], "c": ["x", "y", "z"]})
    table = Table.dense(domain, [[0, 0, 3], [3, 3, 3]])
    first = ([(0, 0), (1, 1)], [(0, 1), (1, 0)])
    second = ([(0, 1), (1, 2)], [(0, 2), (1, 1)])
    moves = moves_of(domain, [first, second])
    assert np.flatnonzero(immovable_cells(moves, table, "negative")).tolist() == [3]
    assert not immovable_cells(moves, table, "negative", passes=2).any()
    assert not immovable_cells(moves.take([1, 0]), table, "negative").any()
