"""Releases of a whole and of parts of its people: what who has all of them believes, by listing everybody."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.disclosure.counts_verdict import judged_table
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.people.judged_people import judged_whole, people_apart
from tabprotect.engine.register.people.parts_of_whole import Counted, Whole, may_be_part
from tabprotect.engine.register.people.people_in_common import InCommonReading
from tabprotect.engine.register.read_all import _judged_parts
from tabprotect.engine.release.likelihood import CellFactors, MoveSequence
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tests.oracles.cycle_law import law

MOST = 24
"""Counts that are listed in one cell."""


def released(counts: Ints, method: str, seed: int = 1, **chosen: object) -> Release:
    table = Table.dense(Domain.of_shape(counts.shape), counts)
    return methods()[method].run(Problem(table), chosen, Randomness.seeded(seed)).release


def counted(release: Release) -> Counted:
    return Counted.of(Evidence(release), release.domain.names)


def listed(release: Release) -> tuple[Ints, np.ndarray]:
    """Every table that a release may come from, and P(release | table), by the definition of the method."""
    found = likelihood_of(release)
    if isinstance(found, MoveSequence):
        assert found.passes == 1
        cycles = [
            dict(zip(*(part.tolist() for part in found.moves.entries(k)), strict=True))
            for k in range(len(found.moves))
        ]
        counts = found.published.counts
        published = tuple(counts.reshape(-1).tolist())
        (a, b), (c, _) = counts
        # A table of two rows and columns has one more count to choose.
        every = [(n, a + b - n, a + c - n, published[3] - a + n) for n in range(a + min(b, c) + 1)]
        tables = np.array([one for one in every if min(one) >= 0])
        weights = [
            law(t, cycles, found.rule, found.alpha, found.beta).get(published, 0.0)
            for t in map(tuple, tables.tolist())
        ]
        return tables, np.array(weights)
    assert isinstance(found, CellFactors)
    factors = [
        (
            found.cells[a:b],
            int(found.low[k]),
            int(found.high[k]),
            found.logs[found.log_starts[k] : found.log_starts[k + 1]],
        )
        for a, b, k in zip(found.starts[:-1], found.starts[1:], found.kind, strict=True)
    ]
    supports = {int(cells[0]): range(low, high + 1) for cells, low, high, _ in factors if len(cells) == 1}
    tables = np.array(list(itertools.product(*(supports[cell] for cell in range(found.domain.size)))))
    weights = np.ones(len(tables))
    for cells, low, high, logs in factors:
        sums = tables[:, cells].sum(axis=1)
        weights[(sums < low) | (sums > high)] = 0.0
        if len(logs):
            weights *= np.exp(logs[np.clip(sums - low, 0, high - low)])
    tables, weights = tables[weights > 0], weights[weights > 0]
    if found.rerun is not None:
        # What the method itself refuses.
        generator = np.random.default_rng(1)
        weights *= [
            found.rerun.estimate(Table.dense(found.domain, t.reshape(found.domain.shape)), generator)
            for t in tables
        ]
    return tables, weights


def by_listing(
    whole: Release, parts: Sequence[Release], *, closed: bool = False, somebody: Sequence[int] = ()
) -> np.ndarray:
    """The laws of each cell of the whole, of the parts and of the rest: (tables, cells, counts).

    ``somebody`` is left over in some cells.
    """
    size = whole.domain.size
    lists = [listed(part) for part in parts]
    out = np.zeros((len(parts) + 2, size, MOST))
    chosen = np.array(list(itertools.product(*(range(len(weights)) for _, weights in lists))))
    each = [tables[chosen[:, k]] for k, (tables, _) in enumerate(lists)]
    weight = np.prod([weights[chosen[:, k]] for k, (_, weights) in enumerate(lists)], axis=0)
    for table, chance in zip(*listed(whole), strict=True):
        rest = table - sum(each)
        fit = (rest == 0 if closed else rest >= 0).all(axis=1) & (rest[:, list(somebody)] > 0).all(axis=1)
        for number, one in enumerate((np.broadcast_to(table, rest.shape), *each, rest)):
            for cell in range(size):
                out[number, cell] += np.bincount(one[fit, cell], weight[fit] * chance, MOST)[:MOST]
    return out / out[0, 0].sum()


def laws(beliefs: Sequence[TableBelief], parts: int) -> np.ndarray:
    """The same of what was believed."""
    people, whole = beliefs[:2]
    size = whole.domain.size
    out = np.zeros((parts + 2, size, MOST))
    for count in range(MOST):
        each = people.probability(np.full(size * (parts + 1), count), np.arange(size * (parts + 1)))
        out[1:, :, count] = each.reshape(size, parts + 1).T
        out[0, :, count] = whole.probability(np.full(size, count), np.arange(size))
    return out


PEOPLE = st.lists(st.integers(0, 3), min_size=8, max_size=8).filter(lambda c: max(c[:4]) > 2 < max(c[4:]))
"""Two tables; random rounding takes none without a count as large as its base."""


def within(found: Sequence[TableBelief]) -> float:
    """How far what is drawn may be from what is so."""
    return 1e-9 + 6 * max(one.error for one in found)


METHODS = (
    ("cyclic_perturbation", {"blocking": "negative"}),
    ("cyclic_perturbation", {"blocking": "any_zero"}),
    ("random_rounding", {}),
    ("cell_key", {}),
)


@pytest.mark.parametrize(("method", "chosen"), METHODS, ids=["negative", "any-zero", "rounding", "keys"])
@given(counts=PEOPLE, seed=st.integers(1, 99))
@settings(max_examples=4, deadline=None)
def test_a_part_and_its_whole(method: str, chosen: dict[str, object], counts: list[int], seed: int) -> None:
    part, rest = np.array(counts).reshape(2, 2, 2)
    if method == "cell_key":
        chosen = {**chosen, "keys": "hashed"}
    whole, own = released(part + rest, method, seed, **chosen), released(part, method, seed + 100, **chosen)
    group = Whole(counted(whole), (counted(own),))
    assert may_be_part(Table.dense(own.domain, part), group.whole)[0]
    assert may_be_part(Table.dense(own.domain, part + rest), group.parts[0])[1]
    found = group.beliefs()
    assume(method != "random_rounding" or not found[0].left_out)
    np.testing.assert_allclose(laws(found, 1), by_listing(whole, [own]), atol=within(found))


@given(counts=PEOPLE, seed=st.integers(1, 99))
@settings(max_examples=6, deadline=None)
def test_a_part_and_its_whole_by_other_methods(counts: list[int], seed: int) -> None:
    part, rest = np.array(counts).reshape(2, 2, 2)
    whole = released(part + rest, "cyclic_perturbation", seed, blocking="negative")
    own = released(part, "cell_key", seed + 100, keys="hashed")
    group = Whole(counted(whole), (counted(own),))
    assert group.can_be
    right = by_listing(whole, [own])
    np.testing.assert_allclose(laws(group.beliefs(), 1), right, atol=1e-9)
    try:
        found = group.by_draws()
    except InfeasibleError:
        return
    np.testing.assert_allclose(laws(found, 1), right, atol=within(found))


@pytest.mark.parametrize(
    ("of_whole", "of_part"), [("keys", "cycles"), ("cycles", "keys"), ("cycles", "rounding")]
)
def test_chains_of_people_draw_what_listing_says(of_whole: str, of_part: str) -> None:
    """Of one person fewer: hardly any draw of the whole fits one of the part."""
    chosen = {
        "cycles": ("cyclic_perturbation", {"blocking": "negative"}),
        "keys": ("cell_key", {"keys": "hashed"}),
        "rounding": ("random_rounding", {}),
    }
    part, (first, how), (second, so) = np.array([[4, 1], [2, 5]]), chosen[of_whole], chosen[of_part]
    whole, own = released(part + np.array([[1, 0], [0, 0]]), first, 3, **how), released(part, second, 4, **so)
    right = by_listing(whole, [own])
    found = Whole(counted(whole), (counted(own),)).by_fitting()
    assert 0 < found[0].error < 0.05
    np.testing.assert_allclose(laws(found, 1), right, atol=4 * found[0].error)
    # What each release tells by itself is far from it.
    far = [0.0, 0.0]
    for number, (tables, weights) in enumerate((listed(whole), listed(own))):
        alone = np.array([np.bincount(column, weights, MOST)[:MOST] for column in tables.T]) / weights.sum()
        far[number] = np.abs(alone - right[number]).max()
    assert max(far) > 8 * found[0].error


def test_people_who_cannot_be_in_both() -> None:
    whole, own = (
        released(np.array(n), "cell_key", keys="hashed") for n in ([[2, 30], [40, 9]], [[60, 3], [4, 5]])
    )
    assert not Whole(counted(whole), (counted(own),)).can_be
    assert Whole(counted(own), (counted(own),)).can_be


@pytest.mark.parametrize("method", ["cyclic_perturbation", "random_rounding"])
@given(counts=PEOPLE, seed=st.integers(1, 99))
@settings(max_examples=4, deadline=None)
def test_two_parts_that_may_be_all(method: str, counts: list[int], seed: int) -> None:
    first, second = np.array(counts).reshape(2, 2, 2)
    releases = [
        released(one, method, seed + 100 * number)
        for number, one in enumerate((first + second, first, second))
    ]
    whole, *parts = map(counted, releases)
    group = Whole(whole, tuple(parts))
    found = group.beliefs()
    # That rounding refuses tables of small counts is left out where too many fit.
    assume(method != "random_rounding" or not found[0].left_out)
    np.testing.assert_allclose(laws(found, 2), by_listing(releases[0], releases[1:]), atol=within(found))
    assert bool(group.without_rest) == (method == "random_rounding")
    for closed in group.without_rest:
        right = by_listing(releases[0], releases[1:], closed=True)
        np.testing.assert_allclose(laws(closed.beliefs(), 2), right, atol=within(closed.beliefs()))
    if method == "cyclic_perturbation":
        assert all(not rest.counts.any() for rest in group.rests())


def test_small_counts_are_counted_once_where_somebody_may_be_left_over_or_nobody() -> None:
    first, second = np.array([[3, 1], [2, 4]]), np.array([[4, 2], [3, 5]])
    both = enumerate((first + second, first, second))
    whole, *parts = (released(one, "random_rounding", seed) for seed, one in both)
    group = Whole(counted(whole), tuple(map(counted, parts)))
    ways = [by_listing(whole, parts, closed=closed)[:, :, 1:3].sum() for closed in (False, True)]
    found = _judged_parts(group, AgencyPolicy().limits(), SILENT)
    assert found is not None and found.known == 0
    # Of the cells; their sums are judged besides.
    assert sum(one.at_risk for one in found.tables[:4]) == pytest.approx(max(ways), abs=0.1)


WHOLE = Table.dense(
    Domain.of({"r": ["r0", "r1", "r2"], "c": ["c0", "c1"], "year": ["2025"]}),
    np.array([2, 14, 9, 12, 7, 8]).reshape(3, 2, 1),
)


@pytest.mark.parametrize(
    ("names", "people", "asked"),
    [
        ({"r": ["x0", "x1", "x2"], "c": ["y0", "y1"]}, "", True),
        ({"r": ["x0", "x1", "x2"], "c": ["c0", "c1"]}, "", True),
        ({"r": ["x0", "x1", "x2"], "c": ["y0", "y1"]}, "other:1", False),
        # Fewer categories, more people in one and fewer in another, one of the same, another year.
        ({"r": ["x0", "x1"], "c": ["y0", "y1"]}, "", False),
        ({"r": ["x0", "x1", "x2"], "c": ["y0", "y1"], "crossing": []}, "", False),
        ({"r": ["r3", "r4", "r0"], "c": ["c2", "c3"]}, "", False),
        ({"r": ["r0", "r1", "r2"], "c": ["c0", "c1"], "year": ["2026"]}, "", False),
        # Categories that are counted as one, others by such a name, and a variable by another name.
        ({"r": ["r0+r1", "r2"], "c": ["c0", "c1"]}, "", True),
        ({"r": ["r0+r1", "r2"], "c": ["c0", "c1"]}, "other:1", False),
        ({"r": ["r0+r3", "r2"], "c": ["c0", "c1"]}, "", False),
        ({"r": ["r2", "r0+r1"], "c": ["c0", "c1"], "crossing": []}, "", False),
        ({"region": ["r0", "r1", "r2"], "c": ["c0", "c1"]}, "", True),
        ({"region": ["r0", "r1", "r2"], "c": ["c0", "c1"], "crossing": []}, "", False),
        ({"region": ["r0", "r1", "r3"], "c": ["c0", "c1"]}, "", False),
    ],
)
def test_a_part_under_new_names_is_asked_about(names: dict[str, list[str]], people: str, asked: bool) -> None:
    """Who is told by ``x0, x1, x2`` may be among those of ``r0, r1, r2``."""
    crossing = "crossing" in names
    domain = Domain.of({"year": ["2025"], **{name: of for name, of in names.items() if of}})
    counts = np.array([1, 6, 4, 5, 3, 4])[: domain.size]
    counts[-2] += 26 * crossing
    counts = counts.reshape(domain.shape)
    own = Table.dense(domain, counts)
    done = {
        table: methods()["suppression"]
        .run(Problem(table), {"choice": "cheapest"}, Randomness.seeded(1))
        .release
        for table in (WHOLE, own)
    }
    reading = InCommonReading(own, Evidence(done[own]), People.parse(people), AgencyPolicy().limits())
    found = reading.of([(1, Evidence(done[WHOLE]))])
    assert (found.asked == (1,)) == (1 in found.unread) == asked


def numbers(release: Release) -> list[object]:
    """What is told of each cell: its count, or its letter."""
    letters, inner = iter(str(release.mechanism.parameters.get("letters", ""))), release.tables[0]
    told = zip(inner.table.counts.reshape(-1).tolist(), inner.hidden.reshape(-1), strict=True)
    return [next(letters) if hidden else count for count, hidden in told]


@pytest.mark.parametrize(("method", "seed"), [("suppression", 224), ("cell_key", 1)])
def test_where_letters_or_noise_of_a_cell_differ_somebody_is_left_over(method: str, seed: int) -> None:
    """By coins of cells and keys of records equal counts get equal numbers."""
    part = np.array([[1, 4], [0, 1]])
    releases = [released(part + rest, method, seed) for rest in (np.array([[0, 1], [0, 0]]), 0)]
    whole, one = (replace(one, mechanism=replace(one.mechanism, coins="house")) for one in releases)
    group, table = Whole(counted(whole), (counted(one),)), Table.dense(Domain.of_shape(part.shape), part)
    told = group.parts[0].evidence, People(), AgencyPolicy().limits()
    reading = InCommonReading(table, *told, keyed=method == "cell_key")
    (known,) = reading._with_one_coin(group)
    differ = [cell for cell, (a, b) in enumerate(zip(numbers(whole), numbers(one), strict=True)) if a != b]
    expected = by_listing(whole, [one], somebody=differ)
    assert np.abs(laws(known.beliefs(), 1) - expected).max() < 1e-9
    assert np.abs(laws(group.beliefs(), 1) - expected).max() > 0.05
    assert not replace(reading, keyed=False)._with_one_coin(Whole(counted(releases[0]), (counted(one),)))


def test_a_rest_that_is_known_by_letters_alone_is_refused() -> None:
    """All 3 11 5 and their part 3 8 3: two people are left over in the last cell, for its letters differ."""
    part, every = np.array([[0, 3], [8, 3]]), np.array([[0, 3], [11, 5]])
    done = (released(one, "suppression", 3128) for one in (every, part))
    whole, one = (counted(replace(one, mechanism=replace(one.mechanism, coins="house"))) for one in done)
    limits, table = AgencyPolicy().limits(), Table.dense(Domain.of_shape(part.shape), part)
    group = Whole(whole, (one,))
    (known,) = InCommonReading(table, one.evidence, People(), limits)._with_one_coin(group)
    assert [any(t.fails(limits) for t in judged_whole(way, limits)) for way in (group, known)] == [
        False,
        True,
    ]
    found = InCommonReading(table, one.evidence, People.parse("part:1"), limits).of([(1, whole.evidence)])
    assert any(t.fails(limits) for t in found.tables)


@pytest.mark.parametrize("parts", [1, 2])
def test_chains_draw_what_listing_says(parts: int) -> None:
    """Of tables of 3 x 3, whose cycles hang together in a ring."""
    generator = np.random.default_rng(parts)
    first, second = generator.poisson(1.5, (2, 3, 3))
    whole = released(first + second, "cyclic_perturbation", 1)
    own = [released(one, "cyclic_perturbation", 2 + k) for k, one in enumerate((first, second)[:parts])]
    group = Whole(counted(whole), tuple(map(counted, own)))
    listed, drawn = group.listed(), group.by_chains()
    assert listed is not None
    for one, other in zip(listed, drawn, strict=True):
        cells = np.arange(one.domain.size)
        for count in range(MOST):
            each = np.full(len(cells), count)
            difference = np.abs(one.probability(each, cells) - other.probability(each, cells))
            assert difference.max() < 6 * drawn[0].error


def by_margins(release: Release) -> dict[tuple[str, ...], Ints]:
    """The cells of each sum that a release publishes besides its cells, by the variables of the sums."""
    domain, cells = release.domain, np.arange(release.domain.size)
    names = (published.table.domain.names for published in release.tables[1:])
    return {some: np.eye(domain.project(some).size, dtype=np.int64)[domain.project_keys(cells, some)] for some in names}  # fmt: skip


@pytest.mark.parametrize("closed", [False, True])
def test_sums_that_are_rounded_are_judged_beside_those_of_the_whole(closed: bool) -> None:
    """Men 4 8, women 2 2, and all: of at most 2 women in the second column there are 2, for of 10 and more people
    8 are men at most."""
    men, women = np.array([[4, 8], [0, 0]]), np.array([[2, 2], [0, 0]])
    every = zip((men + women, men, women), (9, 1, 3), strict=True)
    whole, *parts = (released(people, "random_rounding", seed) for people, seed in every)
    group = Whole(counted(whole), tuple(map(counted, parts)), closed=closed)
    people = list(itertools.product(*(zip(*listed(part), strict=True) for part in parts)))
    chances = {
        tuple(table): chance for table, chance in zip(*map(np.ndarray.tolist, listed(whole)), strict=True)
    }
    expected, total = np.zeros((2, MOST)), 0.0
    for (first, one), (second, other) in people:
        for table, chance in chances.items():
            rest = np.array(table) - first - second
            if (rest == 0).all() or (not closed and (rest >= 0).all()):
                weight, total = one * other * chance, total + one * other * chance
                np.add.at(expected, (range(2), second @ by_margins(parts[1])["B",]), weight)
    found = [one for one in group.beliefs() if one.domain.names == ("B",)]
    assert len(found) == 3 + 1, "all, men, women, and whom these leave over"
    mine = [found[2].probability(np.full(2, count), np.arange(2)) for count in range(MOST)]
    np.testing.assert_allclose(np.array(mine).T, expected / total, atol=1e-9 + 6 * found[2].error)
    judged, limits = judged_whole(group, AgencyPolicy().limits()), AgencyPolicy().limits()
    assert not any(one.known for one in judged[:2])
    assert any(one.known for one in judged[2:]) == closed == any(one.certain for one in judged[2:])
    assert not closed or any(one.fails(limits) for one in judged)


def test_a_part_with_more_variables_than_its_whole_is_judged_by_its_own_cells() -> None:
    """That no more than so many can be in a row says who is in its cells, by sex, where the row itself is large."""
    domain, part = Domain.of_shape((2, 2), ("r", "s")), np.array([[3, 3], [2, 2]])
    tables = Table.dense(domain, part), Table.dense(domain.project(["r"]), np.array([6, 4]))
    ways = ("controlled_rounding", 567), ("small_count_rounding", 568)
    by_sex, whole = (
        methods()[name].run(Problem(one), {}, Randomness.seeded(seed)).release
        for one, (name, seed) in zip(tables, ways, strict=True)
    )
    members = Counted.of(Evidence(whole), ["r"]), Counted.of(Evidence(by_sex), ["r"])
    limits = AgencyPolicy().limits()
    found = judged_whole(Whole(members[0], (members[1],)), limits)
    (people, weights), (rows, chances) = map(listed, (by_sex, whole))
    fits = (rows >= people.reshape(-1, 1, 2, 2).sum(axis=3)).all(axis=2)
    both = weights * (fits @ chances)
    beliefs = np.array([[both @ (people[:, cell] == count) for count in (1, 2)] for cell in range(4)])
    known = int((beliefs.max(axis=1) / both.sum() > limits.belief_limit).sum())
    assert [one.known for one in found if one.names == ("r", "s")] == [known] == [2]
    assert not any(one.fails(limits) for one in found if "s" not in one.names)


def test_each_group_of_people_is_judged_by_itself() -> None:
    """Of few people one count is known: that many are left over who are well hidden does not let it out."""
    domain = Domain.of_shape((40, 2))
    first, chances = np.zeros(domain.size, dtype=np.int64), np.tile([[0.25, 0.75]], (domain.size, 1))
    chances[::2] = 1.0, 0.0
    chances[0] = 0.0, 1.0
    belief = TableBelief(domain, True, None, (np.arange(domain.size), first, chances), "exact")
    limits = replace(AgencyPolicy().limits(), mean_belief_limit=1.0)
    assert not judged_table("user", belief, limits).fails(limits)
    apart = [
        judged_table("user", one, limits) for one in people_apart(belief, domain.project(domain.names[:1]))
    ]
    assert [one.fails(limits) for one in apart] == [True, False]
