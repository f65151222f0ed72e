"""Controlled rounding against every rounding there is, and the unbiased variant against its law."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InfeasibleError, InputError, Interrupted, ParameterError, TooLargeError
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.rounding import controlled_programme
from tabprotect.engine.protection.rounding.controlled_programme import ControlledProgramme
from tabprotect.engine.protection.rounding.cox_rounding import chance_of_rounding, round_unbiased
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

METHOD = methods()["controlled_rounding"]
SLIDE = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
SLIDE_ROUNDED = np.array([[15, 0, 3, 0], [21, 9, 12, 15], [3, 9, 9, 3], [12, 15, 6, 3]])


def roundings(counts: np.ndarray, incidence: np.ndarray, base: int) -> list[np.ndarray]:
    """Every rounding of the inner cells whose published sums are all within the base."""
    flat = counts.reshape(-1)
    choices = [[c] if c % base == 0 else [c - c % base, c - c % base + base] for c in flat]
    true = incidence @ flat
    found = []
    for inner in product(*choices):
        new = incidence @ np.array(inner)
        kept = (true % base != 0) | (new == true)
        if (np.abs(new - true) < base).all() and kept.all():
            found.append(np.array(inner))
    return found


@st.composite
def problems(draw: st.DrawFn) -> tuple[Table, Publication, int]:
    shape = draw(st.sampled_from([(2, 3), (3, 3), (2, 2, 2), (6,), (2, 2, 3)]))
    domain = Domain.of_shape(shape)
    counts = np.random.default_rng(draw(st.integers(0, 2**32))).poisson(2.0, size=shape)
    groups = draw(st.lists(st.sampled_from("pq"), min_size=shape[0], max_size=shape[0]))
    names = [*domain.names, "G"]
    margins = draw(st.lists(st.lists(st.sampled_from(names), unique=True), min_size=1, max_size=5))
    if draw(st.booleans()):
        margins.append(list(domain.names))
    grouping = Grouping("G", "A", tuple(groups))
    publication = Publication.of(domain, margins, (grouping,))
    return Table.dense(domain, counts), publication, draw(st.integers(2, 4))


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_nearest_of_all_roundings(problem: tuple[Table, Publication, int]) -> None:
    table, publication, base = problem
    incidence = publication.incidence.toarray()
    true = incidence @ table.counts.reshape(-1)
    every = roundings(table.counts, incidence, base)
    if not every:
        with pytest.raises(InfeasibleError, match="contradict"):
            ControlledProgramme(table, publication, base).nearest()
        return
    best = min(int(np.abs(incidence @ inner - true).sum()) for inner in every)
    found = ControlledProgramme(table, publication, base).nearest()
    assert found.optimal and found.distance == best
    assert any(np.array_equal(found.inner.counts.reshape(-1), inner) for inner in every)
    cells, counts = table.cells
    sparse = Table.sparse(table.domain, cells, counts)
    assert ControlledProgramme(sparse, publication, base).nearest().distance == best


def test_the_slides_table_has_a_nearer_rounding() -> None:
    domain = Domain.of_shape((4, 4))
    publication = Publication.of(domain, "A*B")
    true, slide = (
        publication.stack(publication.sums(Table.dense(domain, t))) for t in (SLIDE, SLIDE_ROUNDED)
    )
    assert not (slide % 3).any() and (np.abs(slide - true) < 3).all()
    found = ControlledProgramme(Table.dense(domain, SLIDE), publication, 3).nearest()
    assert found.distance <= np.abs(slide - true).sum()
    # Readers of the slide may hold its original.
    release = METHOD.perform(
        Problem(Table.dense(domain, SLIDE)),
        METHOD.resolve(domain, {"choice": "nearest"}),
        np.random.default_rng(1),
    )[0]
    rounded = publication.sums(Table.dense(domain, SLIDE_ROUNDED))
    by_names = {t.domain.names: t for t in rounded}
    tables = tuple(type(p)(by_names[p.table.domain.names]) for p in release.tables)
    fits(likelihood_of(Release(tables, release.mechanism)), SLIDE)


def fits(likelihood: object, original: np.ndarray) -> None:
    """The original is inside every factor."""
    assert isinstance(likelihood, CellFactors)
    flat = original.reshape(-1)
    for f in range(likelihood.factors):
        total = flat[likelihood.cells[likelihood.starts[f] : likelihood.starts[f + 1]]].sum()
        k = likelihood.kind[f]
        assert likelihood.low[k] <= total <= likelihood.high[k]
        run = likelihood.logs[likelihood.log_starts[k] : likelihood.log_starts[k + 1]]
        assert not len(run) or run[total - likelihood.low[k]] > -np.inf


def test_margins_in_conflict_are_named_and_no_more() -> None:
    """Four ones, any two of which share exactly one category: no two can go up."""
    domain = Domain.of_shape((2, 2, 2))
    counts = np.zeros((2, 2, 2), dtype=int)
    for index in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)):
        counts[index] = 1
    problem = Problem(Table.dense(domain, counts))
    with pytest.raises(InfeasibleError, match=r"the margins A, B, C contradict") as caught:
        METHOD.run(problem, {"base": 2, "choice": "nearest"}, Randomness.seeded(1))
    assert caught.value.hint
    for fewer in ("A + B + A:B:C", "A*B + A:B:C", "A + C + A:B:C"):
        METHOD.run(problem, {"base": 2, "choice": "nearest", "margins": fewer}, Randomness.seeded(1))


@pytest.mark.parametrize("base", [3, 10])
def test_a_large_table_keeps_every_promise(base: int) -> None:
    domain = Domain.of_shape((30, 40))
    counts = np.random.default_rng(4).poisson(5, size=(30, 40))
    problem = Problem(Table.dense(domain, counts))
    for choice in ("nearest", "unbiased"):
        release = METHOD.run(problem, {"base": base, "choice": choice}, Randomness.seeded(3)).release
        tables = {p.table.domain.names: p.table.counts for p in release.tables}
        inner = tables["A", "B"]
        for names, axes in ((("A",), 1), (("B",), 0), ((), (0, 1))):
            assert np.array_equal(tables[names], inner.sum(axis=axes))
            true = counts.sum(axis=axes)
            assert (np.abs(tables[names] - true) < base).all()
            assert (tables[names][true % base == 0] == true[true % base == 0]).all()
        assert not (inner % base).any() and (np.abs(inner - counts) < base).all()


def test_the_nearest_rounding_is_the_same_each_time() -> None:
    problem = Problem(Table.dense(Domain.of_shape((4, 4)), SLIDE))
    first, second = (METHOD.run(problem, {"choice": "nearest"}, Randomness.fresh()).release for _ in range(2))
    assert first == second


@settings(max_examples=40, deadline=None)
@given(
    shape=st.sampled_from([(2, 2), (2, 3), (3, 3), (1, 4), (4, 1)]),
    base=st.integers(2, 5),
    seed=st.integers(0, 2**32),
)
def test_unbiased_law_adds_up_to_one_and_has_the_right_mean(
    shape: tuple[int, int], base: int, seed: int
) -> None:
    counts = np.random.default_rng(seed).poisson(2.5, size=shape)
    publication = Publication.of(Domain.of_shape(shape), "A*B")
    every = roundings(counts, publication.incidence.toarray(), base)
    chances = np.array([chance_of_rounding(counts, inner.reshape(shape), base) for inner in every])
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    mean = np.tensordot(chances, np.array(every), axes=1)
    assert mean == pytest.approx(counts.reshape(-1), abs=1e-9)


def test_unbiased_draws_follow_the_law() -> None:
    generator = np.random.default_rng(8)
    counts = np.array([[4, 1, 2], [2, 5, 1]])
    draws = 4000
    seen: dict[bytes, int] = {}
    for _ in range(draws):
        key = round_unbiased(counts, 3, generator).tobytes()
        seen[key] = seen.get(key, 0) + 1
    law = {k: chance_of_rounding(counts, np.frombuffer(k, dtype=np.int64).reshape(2, 3), 3) for k in seen}
    assert sum(law.values()) == pytest.approx(1.0) and len(law) >= 4
    square = sum((seen[k] - draws * p) ** 2 / (draws * p) for k, p in law.items())
    assert square < len(law) + 5 * (2 * len(law)) ** 0.5
    assert chance_of_rounding(counts, counts, 3) == 0.0
    assert chance_of_rounding(counts, np.array([[9, 0, 3], [3, 6, 0]]), 3) == 0.0


def test_refusals() -> None:
    domain = Domain.of_shape((2, 2, 2))
    with pytest.raises(ParameterError, match="two-way tables: 3 variables"):
        METHOD.resolve(domain, {"choice": "unbiased"})
    with pytest.raises(ParameterError, match=r"no groupings \(G\)"):
        METHOD.resolve(domain, {"choice": "unbiased", "margins": "G*B", "groupings": "G:A=a1>x,a2>x"})
    METHOD.resolve(domain, {"choice": "unbiased", "margins": "A*B"})
    small = Problem(Table.dense(domain, np.ones((2, 2, 2), dtype=int)))
    with pytest.raises(InputError, match=r"base 9 is larger than every count .* 8"):
        METHOD.run(small, {"base": 9, "choice": "nearest"}, Randomness.fresh())
    with pytest.raises(ParameterError, match="base"):
        METHOD.resolve(domain, {"base": 1})


def test_cancel() -> None:
    progress = Cancellable()
    progress.cancel()
    problem = Problem(Table.dense(Domain.of_shape((4, 4)), SLIDE))
    with pytest.raises(Interrupted):
        METHOD.run(problem, {}, Randomness.fresh(), progress=progress)


class _Stages:
    def __init__(self) -> None:
        self.told: list[str] = []

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        self.told.append(stage)


def test_the_cost_is_said_before_the_search_and_bounds_it() -> None:
    domain = Domain.of_shape((4, 4, 4))
    table = Table.dense(domain, np.random.default_rng(2).poisson(4, domain.shape))
    publication = Publication.of(domain, "A*B*C")
    for nodes in (1, 100):
        programme = ControlledProgramme(table, publication, 3, nodes)
        stages = _Stages()
        found = programme.nearest(stages)
        sums = publication.size - domain.size
        unknown = int((programme.sums % 3 > 0).sum())
        said = f"rounding {unknown} counts in {sums} sums, at most {nodes} nodes"
        assert stages.told[0] == said
        # Whatever the effort, what was found is a rounding.
        assert not (found.inner.counts % 3).any()
        assert (np.abs(found.inner.counts - table.counts) < 3).all()


def test_a_programme_too_large_is_refused_with_its_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain.of_shape((4, 4))
    publication = Publication.of(domain, "A*B")
    monkeypatch.setattr(controlled_programme, "MOST_ENTRIES", 5)
    with pytest.raises(TooLargeError, match=r"would take about 0 GB and hours"):
        ControlledProgramme(Table.dense(domain, SLIDE), publication, 3).nearest()


def test_the_effort_is_public() -> None:
    domain = Domain.of_shape((4, 4))
    problem = Problem(Table.dense(domain, SLIDE))
    release = METHOD.perform(problem, METHOD.resolve(domain, {"nodes": 7}), np.random.default_rng(1))[0]
    assert release.mechanism.parameters["nodes"] == 7
    stated = {n: v for n, v in release.mechanism.parameters.items() if n != "nodes"}
    silent = Release(release.tables, Mechanism(release.mechanism.method, domain, stated))
    with pytest.raises(InputError, match='does not state "nodes"'):
        likelihood_of(silent)
