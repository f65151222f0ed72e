"""Designs for kept margins: rank, dimension, acceptance values, and that a release gives them too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.cycles.algebra import CycleAlgebra
from tabprotect.engine.cycles.constructions.for_margins import ProvedDesign, design_for_margins, dimension
from tabprotect.engine.cycles.constructions.triangular import TriangularSearch, TriangularSettings
from tabprotect.engine.cycles.cycle_report import check_cycles
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.cycles.graphs import elimination_cost
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.structural_zeros import zeros_of
from tabprotect.engine.progress import SILENT
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.protection.cycle_runs.forward_walk import flip, walk_cycles
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import margins_of_order
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable

EXAMPLES = {
    "duncan-roehrig-4x4": (1, 9, 5, (0.498, 0.0, 0.758), (0.498, 0.0, 0.758)),
    "sparse-10x10": (1, 81, 10, (0.603, 0.241, 0.245), (0.484, 0.019, 0.428)),
    "czech-autoworkers": (3, 22, 15, (0.409, 0.0, 1.125), (0.447, 0.0, 1.171)),
    "adult-occupations": (2, 1026, 24, (0.606, 0.323, 0.575), (0.483, 0.013, 0.706)),
}
"""Order of the kept margins, cycles, most touches at most; unchanged, stuck, mean change."""


def kept_of(table: Table, order: int) -> KeptMargins:
    return KeptMargins.of(Publication(table.domain, margins_of_order(table.domain, order)), table)


def simulated(table: Table, moves: MoveSet, rule: str, runs: int) -> tuple[float, float, float]:
    counts = table.counts.reshape(-1)
    at_risk = (counts >= 1) & (counts <= 2)
    state = np.repeat(counts[:, None], runs, axis=1)
    coins = flip(np.random.default_rng(1), (1, len(moves), runs), alpha=0.25, beta=0.25)
    walk_cycles(state, moves, coins, rule)
    same = (state == counts[:, None]).mean(axis=1)[at_risk]
    change = float(np.abs(state - counts[:, None]).mean())
    return float(same.mean()), float((same > 0.99).mean()), change


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_acceptance_values(name: str) -> None:
    order, cycles, touches, any_zero, negative = EXAMPLES[name]
    table = open_table(f"example:{name}").table
    found = design_for_margins(kept_of(table, order))
    assert (found.rank, found.dimension, found.deficit, found.completed) == (cycles, cycles, 0, 0)
    assert sum(found.moves.touches).max() <= touches
    runs = 2000 if table.domain.size < 1000 else 150
    for rule, expected in (("any_zero", any_zero), ("negative", negative)):
        assert simulated(table, found.moves, rule, runs) == pytest.approx(expected, abs=0.04)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), order=st.integers(1, 2))
def test_a_release_gives_the_design_of_its_original(seed: int, order: int) -> None:
    generator = np.random.default_rng(seed)
    domain = Domain.of_shape((4, 3, 3))
    table = Table.dense(domain, generator.poisson(1.2, domain.shape).astype(np.int64))
    try:
        found = design_for_margins(kept_of(table, order)).moves
    except ParameterError:
        return
    state = table.counts.reshape(-1).copy()
    walk_cycles(state, found, flip(generator, (3, len(found)), alpha=0.4, beta=0.4), "negative")
    published = Table.dense(domain, state.reshape(domain.shape))
    assert design_for_margins(kept_of(published, order)).moves == found


def hierarchy() -> tuple[Domain, tuple[Grouping, ...]]:
    domain = Domain.of({"geo": [f"g{i}" for i in range(8)], "age": list("abcd")})
    return domain, (
        Grouping("reg", "geo", tuple("00011122")),
        Grouping("ageg", "age", tuple("0011")),
        Grouping("typ", "geo", tuple("01010101")),
    )


@pytest.mark.parametrize(
    ("formula", "triangular", "wanted"),
    [
        ("geo + age", 21, 21),
        ("geo + reg*age", 15, 15),
        ("geo*ageg + reg*age", 10, 10),
        ("reg + ageg", 28, 28),
        ("reg*age + typ*age", 8, 16),
        ("reg*age + typ", 17, 19),
        ("geo + reg*age + typ*age", 6, 12),
    ],
)
def test_dimensions_with_groupings(formula: str, triangular: int, wanted: int) -> None:
    domain, groupings = hierarchy()
    publication = Publication.of(domain, formula, groupings)
    found = design_for_margins(KeptMargins.even(publication))
    assert len(found.moves) - found.completed == triangular
    # What falls short where groupings cross is completed from the kernel.
    assert found.rank == found.dimension == wanted == dimension(publication)
    report = check_cycles(found.moves)
    assert (report.rank, report.dimension, report.known_functionals) == (wanted, wanted, 0)
    assert report.wanted_exact == domain.size - wanted
    again = cycle_files.from_json(json.loads(json.dumps(cycle_files.to_json(found.moves))), domain=domain)
    assert again == found.moves


@pytest.mark.parametrize(
    ("margins", "wanted"),
    [("(A+B+C+D+E+F)^2", 42), ("A*B*C + D*E + F", 52), ("A:B + B:C + C:D + D:E + E:F + F:A", 51)],
)
def test_ranks_of_the_czech_shape(margins: str, wanted: int) -> None:
    domain = Domain.of_shape((2,) * 6)
    found = design_for_margins(KeptMargins.even(Publication.of(domain, margins)))
    assert found.rank == found.dimension == wanted


SPARSE = [(12, 9), (25, 6), (7, 6, 5), (4, 4, 3, 2), (15, 15)]
"""Shapes of tables without a name; in two of three cells there is nobody."""

HIERARCHIES = [
    ((9, 6), "A + up*B"),
    ((10, 5), "up*B + top + A"),
    ((8, 4, 3), "A:C + up*B"),
    ((12, 7), "up + B"),
    ((6, 5, 4), "up*B*C + A*C + top*C"),
]


def nested(variable: Variable) -> tuple[Grouping, ...]:
    """Two levels above the categories, groups of uneven sizes."""
    size = len(variable.categories)
    fine = [f"u{int(np.sqrt(2 * k))}" for k in range(size)]
    coarse = ["low" if name in ("u0", "u1") else "high" for name in fine]
    return Grouping("up", variable.name, tuple(fine)), Grouping("top", variable.name, tuple(coarse))


@pytest.mark.parametrize(("shape", "formula"), [(shape, None) for shape in SPARSE] + HIERARCHIES, ids=str)
def test_full_rank_and_nothing_unwanted_on_tables_without_a_name(
    shape: tuple[int, ...], formula: str | None
) -> None:
    domain = Domain.of_shape(shape)
    groupings = nested(domain.variables[0])
    generator = np.random.default_rng(sum(shape))
    counts = generator.negative_binomial(0.4, 0.3, shape).astype(np.int64)
    table = Table.dense(domain, counts)
    margins = margins_of_order(domain, len(shape) - 1) if formula is None else formula
    kept = KeptMargins.of(Publication.of(domain, margins, groupings), table)
    found = design_for_margins(kept)
    assert found.rank == found.dimension and found.completed == 0
    assert CycleAlgebra(found.moves).rank == found.rank and not found.moves.violations()
    report = check_cycles(found.moves, zeros=~found.support)
    assert report.known_functionals == 0 and report.preserves_margins


def test_a_basis_with_longer_entries_is_made_of_cycles() -> None:
    # What the triangular moves leave out here is one move with entries of 2.
    domain = Domain.of_shape((3, 5, 4, 3))
    counts = np.random.default_rng(21).random(domain.shape) < 0.45
    found = design_for_margins(kept_of(Table.dense(domain, counts.astype(np.int64)), 3))
    assert found.deficit == 0 and found.completed == 1 and not found.moves.violations()
    assert CycleAlgebra(found.moves).rank == found.rank


def dense(found: ProvedDesign) -> np.ndarray:
    return np.stack([found.moves.array(i).reshape(-1) for i in range(len(found.moves))])


@st.composite
def families(draw: st.DrawFn) -> tuple[Publication, np.ndarray]:
    """Margins over two or three variables with nested groupings, and public zeros."""
    shape = draw(st.lists(st.integers(2, 5), min_size=2, max_size=3))
    domain = Domain.of_shape(shape)
    groupings: list[Grouping] = []
    levels: list[list[str | None]] = []
    for variable in domain.variables:
        size = len(variable.categories)
        fine = [draw(st.integers(0, 2)) for _ in range(size)]
        coarse = {g: draw(st.integers(0, 1)) for g in range(3)}
        groupings.append(Grouping(f"{variable.name}1", variable.name, tuple(map(str, fine))))
        upper = tuple(str(coarse[g]) for g in fine)
        groupings.append(Grouping(f"{variable.name}2", variable.name, upper))
        levels.append([None, variable.name, f"{variable.name}1", f"{variable.name}2"])
    margins = draw(st.lists(st.tuples(*(st.sampled_from(own) for own in levels)), min_size=1, max_size=4))
    names = [[name for name in margin if name] for margin in margins]
    zeros = np.array(draw(st.lists(st.booleans(), min_size=domain.size, max_size=domain.size)))
    return Publication.of(domain, names, groupings), zeros & draw(st.booleans())


@settings(max_examples=60, deadline=None)
@given(families())
def test_rank_and_dimension_by_brute_force(case: tuple[Publication, np.ndarray]) -> None:
    publication, zeros = case
    support = ~zeros
    sums = np.concatenate(
        [
            publication.keys(m) == np.arange(publication.domains[m].size)[:, None]
            for m in range(len(publication.margins))
        ]
    )[:, support]
    wanted = int(support.sum()) - (np.linalg.matrix_rank(sums) if support.any() else 0)
    assert dimension(publication, support) == wanted
    try:
        found = design_for_margins(KeptMargins.even(publication), zeros=zeros)
    except ParameterError:
        assert wanted == 0
        return
    assert found.dimension == wanted
    moves = dense(found)
    assert not moves[:, zeros].any() and not found.moves.violations()
    assert np.linalg.matrix_rank(moves) == found.rank == CycleAlgebra(found.moves).rank
    if not zeros.any():
        # Nested groupings and no structural zero: nothing has to be completed.
        assert found.completed == 0 and found.deficit == 0


def test_the_lattice_is_saturated() -> None:
    domain, groupings = hierarchy()
    publication = Publication.of(domain, "geo + reg*age", groupings)
    moves = dense(design_for_margins(KeptMargins.even(publication)))
    for prime in (2, 3, 5, 7):
        assert rank_modulo(moves.astype(int), prime) == len(moves)


def rank_modulo(matrix: np.ndarray, prime: int) -> int:
    a, rank = matrix % prime, 0
    for column in range(a.shape[1]):
        rows = np.flatnonzero(a[rank:, column]) + rank
        if not len(rows):
            continue
        a[[rank, rows[0]]] = a[[rows[0], rank]]
        a[rank] = a[rank] * pow(int(a[rank, column]), -1, prime) % prime
        for row in range(len(a)):
            if row != rank:
                a[row] = (a[row] - a[row, column] * a[rank]) % prime
        rank += 1
        if rank == len(a):
            break
    return rank


def test_a_target_alone_finds_what_it_finds_among_others() -> None:
    domain = Domain.of_shape((7, 6, 5))
    publication = Publication.of(domain, "A*B + up*C", nested(domain.variables[0]))
    generator = np.random.default_rng(3)
    search = TriangularSearch(
        publication, generator.integers(0, 9, domain.size) / 4, TriangularSettings(), SILENT
    )
    # Some cells are crowded, so that every part of the costs counts.
    search._touch(generator.integers(0, domain.size, 3 * domain.size))
    places, fits = search._cells()
    for kind, fit in zip(search.kinds, fits, strict=True):
        scores, cells = search._look(kind, places[fit], 40)
        for place, score, move in zip(places[fit], scores, cells, strict=True):
            alone = search._look(kind, np.array([place]), 40)
            assert alone[0] == score and (alone[1] == move).all()


def test_nothing_can_move_when_the_table_itself_is_kept() -> None:
    domain = Domain.of_shape((3, 3))
    with pytest.raises(ParameterError, match="no count can change"):
        design_for_margins(KeptMargins.even(Publication(domain, (domain.names,))))


def test_settings_are_checked() -> None:
    with pytest.raises(ParameterError, match="cap"):
        TriangularSettings(cap=0)


@pytest.mark.parametrize(
    ("shape", "height", "rank", "width"),
    [((10, 10), 3, 54, 3), ((10, 10), 4, 63, 4), ((10, 10), 6, 72, 5), ((20, 20), 4, 285, 4)],
)
def test_strips_of_a_height(shape: tuple[int, int], height: int, rank: int, width: int) -> None:
    moves = design(Domain.of_shape(shape), "strips", {"height": height})
    assert moves == design(Domain.of_shape(shape), f"strips-{height}")
    cost = elimination_cost(moves)
    assert cost is not None and (CycleAlgebra(moves).rank, cost.width) == (rank, width)


def test_unasked_strips_are_as_high_as_stays_exact() -> None:
    moves = design(Domain.of_shape((20, 20)), "strips")
    cost = elimination_cost(moves)
    assert cost is not None and cost.affordable
    rank = CycleAlgebra(moves).rank
    assert rank is not None and rank > 304


def test_structural_zeros_from_a_file(tmp_path: Path) -> None:
    domain = Domain.of({"sex": ["m", "f"], "pregnant": ["yes", "no"], "age": ["y", "o"]})
    path = tmp_path / "zeros.csv"
    path.write_text("sex,pregnant\nm,yes\n")
    zeros = zeros_of(str(path), domain)[1]
    assert zeros.reshape(2, 2, 2)[0, 0].all() and zeros.sum() == 2
    path.write_text("sex,pregnant\nx,yes\n")
    with pytest.raises(InputError, match=r"no category"):
        zeros_of(str(path), domain)
