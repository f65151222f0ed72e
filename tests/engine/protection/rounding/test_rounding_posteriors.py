"""The rounding methods: what a reader believes comes true as often as believed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.rounding.small_rounding import RoundingRules, SmallCounts
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, Likelihood
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.testing.calibration import LIMIT, calibrate_method

ROUNDING = ("random_rounding", "controlled_rounding", "small_count_rounding")


@pytest.mark.parametrize("name", ["controlled_rounding", "small_count_rounding"])
def test_the_rule_that_chose_the_rounding_is_part_of_what_a_reader_knows(name: str) -> None:
    def blind(release: Release) -> Likelihood:
        found = likelihood_of(release)
        assert isinstance(found, CellFactors)
        return replace(found, rerun=None)

    plan = CalibrationPlan({"base": 3, "choice": "nearest"}, ((1.3, 0.7), (0.9, 1.6)), runs=240)
    assert calibrate_method(methods()[name], plan, likelihood_of=blind)[0].worst_z > LIMIT


@settings(max_examples=80, deadline=None)
@given(
    name=st.sampled_from(ROUNDING),
    shape=st.sampled_from([(2, 3), (3, 4), (2, 2, 2), (5,)]),
    formula=st.sampled_from(["", "total", "mains", "pairs"]),
    base=st.integers(2, 5),
    more=st.fixed_dictionaries(
        {"extra": st.integers(0, 4), "zero_candidates": st.booleans(), "force_inner": st.booleans()}
    ),
    seed=st.integers(0, 2**32),
)
def test_the_true_table_is_never_ruled_out(
    name: str, shape: tuple[int, ...], formula: str, base: int, more: dict[str, int], seed: int
) -> None:
    domain = Domain.of_shape(shape)
    names = domain.names
    margins = {
        "": "",
        "total": "1",
        "mains": " + ".join(names),
        "pairs": ":".join(names[:2]) + " + " + names[-1],
    }[formula]
    given_: dict[str, object] = {"base": base, "margins": margins}
    if name == "small_count_rounding":
        given_ |= {k: bool(more[k]) for k in ("zero_candidates", "force_inner")}
        given_["max_round"] = base - 1 + more["extra"]
    generator = np.random.default_rng(seed)
    original = Table.dense(domain, generator.poisson(generator.choice([0.7, 2.0]), size=shape))
    method = methods()[name]
    values = method.resolve(domain, given_)
    try:
        release, _ = method.perform(Problem(original), values, generator)
    except (InputError, InfeasibleError):
        return
    found = likelihood_of(release)
    assert isinstance(found, CellFactors)
    flat = original.counts.reshape(-1)
    for f in range(found.factors):
        total = int(flat[found.cells[found.starts[f] : found.starts[f + 1]]].sum())
        k = found.kind[f]
        assert found.low[k] <= total <= found.high[k]
        run = found.logs[found.log_starts[k] : found.log_starts[k + 1]]
        assert not len(run) or run[total - found.low[k]] > -np.inf
    if found.rerun is not None and found.rerun.exact:
        assert found.rerun.estimate(original, generator) > 0


def test_small_count_rounding_follows_its_exact_law() -> None:
    domain = Domain.of_shape((2, 3))
    table = Table.dense(domain, [[1, 2, 1], [1, 1, 2]])
    publication = Publication.of(domain, "A*B")
    small = SmallCounts(table, publication, RoundingRules(3, 2))
    generator = np.random.default_rng(4)
    draws = 1000
    seen: Counter[bytes] = Counter()
    for _ in range(draws):
        inner = small.round(generator.permutation).inner
        seen[publication.stack(publication.sums(inner)).tobytes()] += 1
    law = {key: small.chance(np.frombuffer(key, dtype=np.int64)) for key in seen}
    assert len(law) >= 2 and sum(law.values()) == pytest.approx(1.0)
    square = sum((seen[k] - draws * p) ** 2 / (draws * p) for k, p in law.items())
    assert square < len(law) + 5 * (2 * len(law)) ** 0.5


def test_random_rounding_is_unbiased_and_rounds_a_number_once() -> None:
    domain = Domain.of({"A": ["a"], "B": ["b1", "b2", "b3"]})
    problem = Problem(Table.dense(domain, [[4, 5, 6]]))
    method = methods()["random_rounding"]
    values = method.resolve(domain, {"base": 3})
    generator = np.random.default_rng(2)
    draws, total = 600, np.zeros(3)
    for _ in range(draws):
        tables = {
            p.table.domain.names: p.table.counts for p in method.perform(problem, values, generator)[0].tables
        }
        assert np.array_equal(tables["A", "B"][0], tables["B",])
        assert tables["A",][0] == tables[()]
        total += tables["B",]
    # The standard error of a mean is at most 1.5 / sqrt(600).
    assert total / draws == pytest.approx([4, 5, 6], abs=0.25)
    assert total[2] == 6 * draws


def test_random_rounding_posterior_of_one_cell() -> None:
    domain = Domain.of_shape((1,))
    mechanism = Mechanism("random_rounding", domain, {"base": 3, "margins": "A - 1"})
    full = mechanism.parameters | {"groupings": None}
    release = Release.of(Table.dense(domain, [6]), Mechanism(mechanism.method, domain, full))
    found = infer(likelihood_of(release), Uniform())
    # 4 goes up with 1/3, 5 with 2/3, 6 stays, 7 goes down with 2/3, 8 with 1/3.
    chances = [found.probability(k).reshape(-1)[0] for k in range(3, 10)]
    assert chances == pytest.approx([0, 1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9, 0])


@pytest.mark.parametrize("name", ROUNDING)
def test_tables_that_cannot_come_from_the_mechanism_are_refused(name: str) -> None:
    domain = Domain.of_shape((2, 2))
    method = methods()[name]
    problem = Problem(Table.dense(domain, [[5, 3], [7, 9]]))
    release = method.run(problem, {"base": 3}, Randomness.seeded(2)).release
    main, *rest = release.tables
    other = Table.dense(domain, [[1, 3], [6, 9]])
    with pytest.raises(InputError):
        likelihood_of(Release((PublishedTable(other), *rest), release.mechanism))
    with pytest.raises(InputError, match="not those the mechanism names"):
        likelihood_of(Release((main,), release.mechanism))


def test_hidden_inner_cells_stay_in_the_house() -> None:
    domain = Domain.of_shape((4, 5, 3))
    counts = np.random.default_rng(3).poisson(1.5, size=(4, 5, 3))
    problem = Problem(Table.dense(domain, counts))
    for name in ("controlled_rounding", "small_count_rounding"):
        done = methods()[name].run(problem, {"margins": "A*B + C", "base": 3}, Randomness.seeded(1))
        release = done.release
        assert [p.table.domain.names for p in release.tables] == [("A", "B"), ("A",), ("B",), ("C",), ()]
        assert release.inner is None and release.domain == domain
        hidden = done.record.hidden
        assert hidden is not None
        for published in release.tables:
            assert hidden.margin(published.table.domain.names) == published.table
        shown = methods()[name].run(problem, {"base": 3}, Randomness.seeded(1))
        assert shown.record.hidden is None and shown.release.inner is not None


def test_small_count_rounding_promises() -> None:
    domain = Domain.of_shape((4, 5))
    method = methods()["small_count_rounding"]
    values = method.resolve(domain, {"base": 5})
    assert values["max_round"] == 4 and "zeros_kept" in method.promised(values)
    assert "zeros_kept" not in method.promised(values | {"zero_candidates": True})
    with pytest.raises(Exception, match="at least 4"):
        method.resolve(domain, {"base": 5, "max_round": 3})
    small = Problem(Table.dense(Domain.of_shape((4,)), [1, 1, 1, 1]))
    with pytest.raises(InputError, match=r"larger than every count .* 4"):
        method.run(small, {"base": 5, "choice": "nearest"}, Randomness.fresh())


@pytest.mark.parametrize("name", ROUNDING)
def test_groups_of_categories_are_rounded_with_the_rest(name: str) -> None:
    domain = Domain.of_shape((4, 3))
    counts = np.random.default_rng(6).poisson(2, size=(4, 3))
    given_ = {
        "base": 3,
        "margins": "(A + half + odd) * B",
        "groupings": "half:A=a1>x,a2>x,a3>y,a4>y; odd:A=a1>x,a2>y,a3>x,a4>y",
    }
    if name != "random_rounding":
        given_["choice"] = "nearest"
    release = methods()[name].run(Problem(Table.dense(domain, counts)), given_, Randomness.seeded(2)).release
    tables = {p.table.domain.names: p.table.counts for p in release.tables}
    half = counts.reshape(2, 2, 3).sum(axis=1)
    assert (np.abs(tables["half", "B"] - half) < (3 if name != "small_count_rounding" else 5)).all()
    if name != "random_rounding":
        assert np.array_equal(tables["A", "B"].reshape(2, 2, 3).sum(axis=1), tables["half", "B"])
        assert np.array_equal(tables["odd", "B"].sum(axis=1), tables["odd",])
    assert isinstance(likelihood_of(release), CellFactors)


def test_rounded_totals_of_a_large_table_are_taken_with_its_counts() -> None:
    """They say more of a count than its own rounding, and nothing is left out."""
    domain = Domain.of_shape((50, 50))
    counts = np.random.default_rng(4).poisson(2.0, (50, 50))
    release = (
        methods()["random_rounding"]
        .run(Problem(Table.dense(domain, counts)), {}, Randomness.seeded(3))
        .release
    )
    likelihood = likelihood_of(release)
    assert isinstance(likelihood, CellFactors) and likelihood.left_out == ()
    found = infer(likelihood, randomness=Randomness.seeded(2))
    assert found.way == "monte_carlo" and found.r_hat is not None and found.r_hat < 1.1
    # Counts drawn add up to what the totals allow.
    drawn = found.draw_originals(5, np.random.default_rng(1), SILENT).reshape(5, 50, 50)
    rows = next(p.table.counts for p in release.tables if p.table.domain.names == ("A",))
    assert (np.abs(drawn.sum(axis=2) - rows) < 3).all()
