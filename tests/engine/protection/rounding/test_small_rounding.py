"""Small count rounding: the published examples cell by cell, and the algorithm as it is stated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.errors import InputError, TooLargeError
from tabprotect.engine.protection import published_margins
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.rounding import small_rounding
from tabprotect.engine.protection.rounding.small_rounding import RoundingRules, SmallCounts, keys_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

PUBLISHED = json.loads((Path(__file__).parents[3] / "reference" / "small_count_rounding.json").read_text())


def utility(true: np.ndarray, rounded: np.ndarray) -> float:
    distance = np.sqrt(((np.sqrt(true) - np.sqrt(rounded)) ** 2).sum() / 2)
    return float(1 - distance / np.sqrt(true.sum()))


@pytest.mark.parametrize("case", PUBLISHED["cases"], ids=lambda c: c["name"])
def test_published_examples_cell_by_cell(case: dict) -> None:
    domain = Domain.of(case["variables"])
    table = Table.dense(domain, np.array(case["counts"]).reshape(domain.shape))
    publication = Publication.of(domain, case["formula"])
    permutations = iter(case["permutations"])
    rules = RoundingRules(case["base"], case["most"], zeros=case["zeros"])
    rounded = SmallCounts(table, publication, rules).round(lambda n: np.array(next(permutations)))
    assert next(permutations, None) is None
    assert rounded.inner.counts.reshape(-1).tolist() == case["rounded"]
    true, new = (publication.stack(publication.sums(t)) for t in (table, rounded.inner))
    assert utility(true, new) == pytest.approx(case["hellinger"], abs=1e-12)


def stated(
    incidence: np.ndarray, original: np.ndarray, rules: RoundingRules, permutation: object
) -> np.ndarray:
    """The algorithm as it is stated, with lists and one step at a time."""
    base, most = rules.base, rules.most
    true, now, first = incidence @ original, original.copy(), True
    while True:
        sums = incidence @ now
        small = (sums > 0) & (sums <= most) & (first | (sums % base > 0))
        seen = incidence[small].any(axis=0)
        odd = (now <= most) & (now % base > 0)
        candidates = seen & odd
        if first and rules.zeros:
            candidates |= seen & (now <= most) & (now % base == 0)
        if first and rules.inner == "all":
            candidates |= odd
        cells = np.flatnonzero(candidates)
        first = False
        if not len(cells):
            return now
        rest = now[cells] % base
        ups = round((int(rest.sum()) + int(original.sum()) - int(now.sum())) / base)
        before = now.copy()
        now[cells] -= rest
        x = incidence[:, cells]
        x = x[(x.sum(axis=1) > 0) & (x.sum(axis=1) < len(cells))]
        use = incidence[:, cells]
        use = (use.sum(axis=1) > 0) & (use.sum(axis=1) < len(cells))
        up: list[int] = []
        if ups == len(cells):
            up = list(range(ups))
        elif ups:
            score = x.T @ (x @ rest + (true - incidence @ before)[use])
            meet = base * x.T @ x
            free = permutation(len(cells)).tolist()  # type: ignore[operator]
            swaps = -ups
            while swaps < ups + 100:
                if swaps >= 0:
                    worst = int(np.argmin(score[up]))
                    if worst == 0:
                        break
                    free.insert(0, up.pop(worst))
                    score = score + meet[:, free[0]]
                best = int(np.argmax(score[free]))
                up.insert(0, free.pop(best))
                score = score - meet[:, up[0]]
                swaps += 1
        now[cells[up]] += base


@st.composite
def problems(draw: st.DrawFn) -> tuple[Table, Publication, RoundingRules]:
    shape = draw(st.sampled_from([(3, 4), (5, 3), (3, 2, 3), (2, 2, 2, 2), (7,)]))
    domain = Domain.of_shape(shape)
    mean = draw(st.sampled_from([0.7, 1.5, 4.0]))
    counts = np.random.default_rng(draw(st.integers(0, 2**32))).poisson(mean, size=shape)
    names = domain.names
    groups = draw(st.lists(st.sampled_from("pq"), min_size=shape[0], max_size=shape[0]))
    margins = draw(st.lists(st.lists(st.sampled_from([*names, "G"]), unique=True), min_size=1, max_size=4))
    base = draw(st.integers(2, 5))
    rules = RoundingRules(
        base,
        draw(st.sampled_from([base - 1, base + 2])),
        draw(st.sampled_from(["published", "all"])),
        draw(st.booleans()),
    )
    grouping = Grouping("G", "A", tuple(groups))
    return (Table.dense(domain, counts), Publication.of(domain, margins, (grouping,)), rules)


@settings(max_examples=100, deadline=None)
@given(problem=problems(), seed=st.integers(0, 2**32))
def test_the_stated_algorithm_and_its_promises(
    problem: tuple[Table, Publication, RoundingRules], seed: int
) -> None:
    table, publication, rules = problem
    rounded = SmallCounts(table, publication, rules).round(np.random.default_rng(seed).permutation)
    incidence = publication.incidence.toarray()
    original, inner = table.counts.reshape(-1), rounded.inner.counts.reshape(-1)
    if not rounded.derived:
        expected = stated(incidence, original, rules, np.random.default_rng(seed).permutation)
        assert np.array_equal(inner, expected)
    sums = incidence @ inner
    assert not ((sums > 0) & (sums <= rules.most) & (sums % rules.base > 0)).any()
    assert 2 * abs(rounded.inner.total - table.total) <= rules.base
    assert (np.abs(inner - original) <= rules.base - (not rules.zeros)).all()
    assert rounded.changed == (inner != original).sum()
    many = SmallCounts(table, publication, rules, keys_of(publication, np.arange(original.size)))
    for other in range(2):
        again = many.round(np.random.default_rng(other).permutation).inner.counts.reshape(-1)
        gives = many.gives(sums, np.random.default_rng(other).permutation)
        assert gives == np.array_equal(incidence @ again, sums)
    assert many.gives(sums, np.random.default_rng(seed).permutation)


def test_a_small_count_between_two_groups_cannot_be_derived() -> None:
    domain = Domain.of_shape((3,))
    table = Table.dense(domain, [9, 1, 9])
    pair = (Grouping("G", "A", ("p", "p", "q")), Grouping("H", "A", ("p", "q", "q")))
    publication = Publication.of(domain, [["G"], ["H"]], pair)
    # 10 and 9, 9 and 10: nothing small is published, yet the difference is the one in the middle.
    rounded = SmallCounts(table, publication, RoundingRules(3, 2)).round(np.random.default_rng(1).permutation)
    assert rounded.derived == 1
    assert rounded.inner.counts.tolist() == [9, 0, 9]
    sparse = Table.sparse(domain, [0, 1, 2], [9, 1, 9])
    again = SmallCounts(sparse, publication, RoundingRules(3, 2)).round(np.random.default_rng(1).permutation)
    assert again.inner == rounded.inner


def test_a_cell_beside_published_zeros_is_derived() -> None:
    domain = Domain.of_shape((2, 2))
    table = Table.dense(domain, [[0, 4], [0, 1]])
    publication = Publication.of(domain, "A + B - 1")
    # Row 2 publishes 1 anyway; without it the zero column leaves row 1 its one cell.
    rounded = SmallCounts(table, publication, RoundingRules(3, 2)).round(np.random.default_rng(1).permutation)
    assert rounded.inner.counts.tolist() == [[0, 4], [0, 0]]
    columns = Publication.of(domain, [["B"]])
    untouched = SmallCounts(table, columns, RoundingRules(3, 2)).round(np.random.default_rng(1).permutation)
    assert untouched.inner == table


def test_more_candidates_than_are_handled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_rounding, "AT_ONCE", 7)
    domain = Domain.of_shape((12, 9))
    counts = np.random.default_rng(5).poisson(1.2, size=(12, 9))
    table = Table.dense(domain, counts)
    publication = Publication.of(domain, "A*B")
    rounded = SmallCounts(table, publication, RoundingRules(3, 2)).round(np.random.default_rng(1).permutation)
    assert rounded.rounds >= ((counts > 0) & (counts < 3)).sum() / 7
    assert not np.isin(rounded.inner.counts, (1, 2)).any()
    assert abs(rounded.inner.total - table.total) <= 1


def test_swaps_improve_on_the_greedy_choice() -> None:
    domain = Domain.of_shape((30, 8, 3))
    table = Table.dense(domain, np.random.default_rng(3).poisson(1.5, size=(30, 8, 3)))
    publication = Publication.of(domain, "A*B*C")
    true = publication.stack(publication.sums(table))

    def median(step: int) -> float:
        rounder = SmallCounts(table, publication, RoundingRules(3, 2, step=step))
        found = []
        for seed in range(15):
            inner = rounder.round(np.random.default_rng(seed).permutation).inner
            found.append(utility(true, publication.stack(publication.sums(inner))))
        return float(np.median(found))

    at_random = table.counts.copy()
    small = np.flatnonzero((at_random > 0) & (at_random < 3))
    up = np.random.default_rng(1).permutation(small)[: round(at_random.reshape(-1)[small].sum() / 3)]
    at_random.reshape(-1)[small] = 0
    at_random.reshape(-1)[up] = 3
    noise = Table.dense(domain, at_random)
    plain = utility(true, publication.stack(publication.sums(noise)))
    assert median(1) > plain + 0.002
    assert median(3) > plain + 0.002


def test_counts_too_large_are_refused() -> None:
    domain = Domain.of_shape((2,))
    table = Table.dense(domain, [2**62, 1])
    with pytest.raises(InputError, match="too large"):
        SmallCounts(table, Publication.of(domain, "A"), RoundingRules(3, 2))


def test_a_table_too_large_to_be_rounded_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain.of_shape((5, 4, 3))
    table = Table.dense(domain, np.ones(domain.shape, dtype=np.int64))
    publication = Publication.of(domain, "A*B + C")
    monkeypatch.setattr(small_rounding, "MOST_KEYS", 60 * len(publication.margins) - 1)
    asked = []
    monkeypatch.setattr(Publication, "keys", lambda self, m, cells: asked.append(m))
    with pytest.raises(TooLargeError, match=r"60 inner cells in 5 tables would take about .*GB"):
        SmallCounts(table, publication, RoundingRules(3, 2))
    assert not asked


def test_keys_take_four_bytes_for_each_cell_and_margin() -> None:
    domain = Domain.of_shape((30, 20, 10))
    counts = np.random.default_rng(1).poisson(1, domain.shape)
    publication = Publication.of(domain, "A*B + B*C + A*C - A:B:C")
    small = SmallCounts(Table.dense(domain, counts), publication, RoundingRules(3, 2))
    few = int(((counts > 0) & (counts < 3)).sum())
    assert small.keys.nbytes == 4 * few * len(publication.margins)


def test_sums_too_many_to_be_followed_are_released_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader is told what it would cost; the bundle is sound."""
    domain = Domain.of_shape((6, 5, 4))
    counts = np.random.default_rng(2).poisson(2, domain.shape)
    method = methods()["small_count_rounding"]
    values = method.resolve(domain, {"margins": "A*B + C"})
    release = method.perform(Problem(Table.dense(domain, counts)), values, np.random.default_rng(3))[0]
    checks = verify_bytes(public.to_bytes(release, page=False)).checks
    assert any(line.startswith("The published counts") for line in checks)
    monkeypatch.setattr(published_margins, "MOST_ENTRIES", 120 * 5 - 1)
    with pytest.raises(TooLargeError, match="about 0 GB"):
        likelihood_of(release)
    told = verify_bytes(public.to_bytes(release, page=False)).checks
    assert any("was not looked at: 120 inner cells" in check for check in told)
