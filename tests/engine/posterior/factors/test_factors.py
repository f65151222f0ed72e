"""Exact posteriors of factor likelihoods against the sum over every table."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from factor_oracle import every_original, exactly, marginals, of_sums, sums_of
from scipy import stats

from tabprotect.engine.errors import InfeasibleError, Interrupted
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import CellTable, Poisson, Positive, Prior, Uniform
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, independent
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "counts.json").read_text())


def agree(likelihood: CellFactors, most: int, prior: Prior | None = None) -> Posterior:
    """Marginals, number and draws are those of the oracle."""
    prior = prior or Uniform()
    logs = np.array([prior.log_weight(c, np.arange(most + 1)) for c in range(likelihood.domain.size)])
    true = every_original(likelihood, most, lambda c, v: float(logs[c, v]))
    expected = marginals(true, most)
    found = infer(likelihood, prior, Approach(way="exact"))
    assert found.way == "exact" and found.originals == len(true)
    for value in range(most + 2):
        p = found.probability(value).reshape(-1)
        assert np.allclose(p, expected[:, value] if value <= most else 0.0, atol=1e-10)
    tables = found.sample(400, np.random.default_rng(1)).reshape(400, -1)
    assert {tuple(table) for table in tables.tolist()} <= set(true)
    share = np.stack([(tables == v).mean(axis=0) for v in range(most + 1)], axis=1)
    assert np.abs(share - expected).max() < 5 * 0.5 / math.sqrt(400)
    return found


SHAPES: list[tuple[tuple[int, ...], list[tuple[int, ...]]]] = [
    ((2, 3), [(0,), (1,)]),
    ((3, 2), [(0,), (1,), ()]),
    ((2, 2, 2), [(0, 1), (0, 2), (1, 2)]),
    ((2, 2, 2), [(0, 1), (2,)]),
    ((6,), [()]),
    ((2, 3), [(0,)]),
]


@pytest.mark.parametrize(("shape", "margins"), SHAPES)
@pytest.mark.parametrize("kind", ["exact", "soft", "mixed"])
@pytest.mark.parametrize("informed", [False, True])
def test_every_table_summed(
    shape: tuple[int, ...], margins: list[tuple[int, ...]], kind: str, informed: bool
) -> None:
    rng = np.random.default_rng(len(shape) * 100 + len(margins) * 10 + len(kind) + informed)
    original = rng.integers(0, 3, shape)
    most = 3 if original.size > 6 else 4
    domain, sums = Domain.of_shape(shape), sums_of(shape, margins)
    kinds: list[tuple[int, int, np.ndarray | None]] = []
    for number, (total, _, _) in enumerate(exactly(original, sums)):
        if kind == "exact" or (kind == "mixed" and number % 2):
            kinds.append((total, total, None))
        else:
            low, high = max(0, total - 1), total + 2
            kinds.append((low, high, rng.normal(size=high - low + 1)))
    # Every cell is limited, some by weights, so that the oracle's range is no cut.
    cells = [np.array([c]) for c in range(original.size)]
    limits = [(0, most, rng.normal(size=most + 1) if c % 2 else None) for c in range(len(cells))]
    prior: Prior = Poisson(rng.gamma(2.0, 0.7, original.size)) if informed else Uniform()
    agree(of_sums(domain, sums + cells, kinds + limits), most, prior)


def test_priors_with_holes_and_knowledge() -> None:
    original = np.array([[3, 0, 2], [0, 3, 2]])
    domain, sums = Domain.of_shape((2, 3)), sums_of((2, 3), [(0,), (1,)])
    likelihood = of_sums(domain, sums, exactly(original, sums))
    knows = CellTable(np.array([0, 0, 0, 4]), np.array([0, 1, 3, 2]), np.array([1.0, 0.0, 2.0, 1.0]))
    agree(likelihood, 5, knows)
    agree(likelihood, 5, Positive(np.array([1])))
    agree(likelihood, 5, Poisson(np.array([1.0, 0.0, 2.0, 1.0, 1.0, 1.0])))
    with pytest.raises(InfeasibleError):
        infer(likelihood, Poisson(np.zeros(6)))


def of_pattern(original: np.ndarray, hidden: Sequence[tuple[int, int]]) -> tuple[CellFactors, PublishedTable]:
    domain = Domain.of_shape(original.shape)
    mask = np.zeros(original.shape, dtype=bool)
    mask[tuple(np.array(hidden).T)] = True
    published = PublishedTable.hiding(Table.dense(domain, original), mask)
    sums = sums_of(original.shape, [(0,), (1,)])
    sums += [np.array([c]) for c in np.flatnonzero(~mask)]
    return of_sums(domain, sums, exactly(original, sums), published), published


def test_the_slides_suppression() -> None:
    likelihood, _ = of_pattern(np.array(REFERENCE["original"]), REFERENCE["suppressed"])
    found = infer(likelihood)
    assert found.originals == REFERENCE["suppression_nonnegative"]
    assert infer(likelihood, Positive()).originals == REFERENCE["suppression_at_least_1"]
    # A published cell is what it says; a hidden one has no published count to match.
    assert found.published_count((0, 0)) == 15 and found.published_count((0, 1)) is None
    assert found.hidden is not None and found.hidden.sum() == 7
    assert found.probability(15)[0, 0] == 1 and not found.mode_matches[0, 1]
    assert found.mode_is_published == bool(found.mode_matches[~found.hidden].all()) is True
    values, chances = found.distribution((0, 1))
    assert values.tolist() == sorted(values.tolist()) and chances.sum() == pytest.approx(1)
    low, high = found.interval(1.0)
    assert (low[0, 1], high[0, 1]) == (values[0], values[-1])
    assert found.mode[0, 1] == values[chances >= chances.max() - 1e-9][0]
    small = found.small(SmallCount(1, 2))
    assert small[0, 1] == pytest.approx(chances[(values >= 1) & (values <= 2)].sum())


@pytest.mark.parametrize(
    ("margins", "number"),
    [([(0,), (1,), ()], "rounding"), ([(0,), (1,)], "rounding_without_total"), ([], "rounding_cells_only")],
)
def test_the_slides_rounding(margins: list[tuple[int, ...]], number: str) -> None:
    rounded = np.array(REFERENCE["rounded_base_3"])
    told = {(0,): REFERENCE["rounded_rows"], (1,): REFERENCE["rounded_columns"]}
    told[()] = [REFERENCE["rounded_total"]]
    values = [v for margin in margins for v in told[margin]] + rounded.reshape(-1).tolist()
    sums = sums_of((4, 4), margins) + [np.array([c]) for c in range(16)]
    kinds = [(max(0, v - 2), v + 2, None) for v in values]
    found = infer(of_sums(Domain.of_shape((4, 4)), sums, kinds))
    assert (found.way, found.originals) == ("exact", REFERENCE[number])


def test_independent_cells_in_groups_and_alone() -> None:
    rng = np.random.default_rng(5)
    counts = rng.poisson(1.5, (2, 3))
    domain = Domain.of_shape((2, 3))
    mask = np.zeros((2, 3), dtype=bool)
    mask[1, 1] = True
    published = PublishedTable.hiding(Table.dense(domain, counts), mask)

    def weigh(value: int) -> tuple[int, int, np.ndarray]:
        low = max(0, value - 1)
        return low, value + 1, -0.3 * np.arange(value + 2 - low) ** 2

    likelihood = independent(published, weigh, hidden=(1, 3, None))
    agree(likelihood, 6)
    agree(likelihood, 6, Poisson(rng.gamma(2.0, 1.0, 6)))
    found = infer(likelihood)
    assert found.published_count((1, 1)) is None
    assert len(found.chances) <= 1 + len(np.unique(counts)) + 1


def test_wide_rows_are_drawn_right() -> None:
    domain = Domain.of_shape((3,))
    published = PublishedTable(Table.dense(domain, [200, 300, 200]))
    spread = stats.binom(160, 0.3)
    likelihood = independent(published, lambda value: (value - 80, value + 80, spread.logpmf(np.arange(161))))
    found = infer(likelihood)
    low, high = found.interval(0.9)
    for cell, value in enumerate([200, 300, 200]):
        ends = low[cell] - value + 80, high[cell] - value + 80
        assert spread.cdf(ends[1]) - spread.cdf(ends[0] - 1) >= 0.9
        assert spread.cdf(ends[1] - 1) - spread.cdf(ends[0] - 1) < 0.9
        assert found.mean[cell] == pytest.approx(value - 80 + 48)
    drawn = found.sample(20_000, np.random.default_rng(2))
    assert np.abs(drawn.mean(axis=0) - found.mean).max() < 5 * spread.std() / math.sqrt(20_000)
    assert stats.kstest(drawn[:, 0] - 120, spread.cdf).statistic < 0.1


def test_sums_far_from_the_prior_do_not_underflow() -> None:
    """Poissons given their sum are binomial, however unlikely the sum."""
    domain = Domain.of_shape((2,))
    likelihood = of_sums(domain, [np.array([0, 1])], [(900, 900, None)])
    found = infer(likelihood, Poisson(np.array([0.01, 0.02])))
    law = stats.binom(900, 1 / 3).pmf(np.arange(901))
    p = np.array([found.probability(v)[0] for v in range(901)])
    assert np.allclose(p, law, rtol=1e-6, atol=1e-12) and found.originals == 901


def test_a_lone_total_is_shared_evenly() -> None:
    domain = Domain.of_shape((4, 5))
    likelihood = of_sums(domain, sums_of((4, 5), [()]), [(30, 30, None)])
    found = infer(likelihood)
    assert found.way == "exact" and found.originals == math.comb(49, 19)
    for value in (0, 1, 7, 30):
        chance = math.comb(30 - value + 18, 18) / math.comb(49, 19)
        assert found.probability(value)[2, 3] == pytest.approx(chance)
    drawn = found.sample(3000, np.random.default_rng(3))
    assert (drawn.sum(axis=(1, 2)) == 30).all()
    zeros = (drawn == 0).mean(axis=0)
    assert np.abs(zeros - found.probability(0)).max() < 5 * 0.5 / math.sqrt(3000)


def test_without_limit_only_a_prior_helps() -> None:
    domain = Domain.of_shape((2, 2))
    mask = np.array([[True, False], [False, False]])
    published = PublishedTable.hiding(Table.dense(domain, [[0, 1], [2, 3]]), mask)
    likelihood = independent(published, lambda value: (value, value, None))
    for prior in (Uniform(), Positive()):
        with pytest.raises(InfeasibleError) as error:
            infer(likelihood, prior)
        assert "a1" in error.value.message and "poisson" in error.value.hint
    found = infer(likelihood, Poisson(np.full(4, 3.0)))
    assert found.mean[0, 0] == pytest.approx(3.0) and found.originals is None
    assert found.probability(2)[0, 0] == pytest.approx(stats.poisson(3).pmf(2))
    # A sum without an upper end limits nothing either; the other cells are as before.
    endless = of_sums(domain, [np.array([0, 1])], [(2, UNBOUNDED, None)])
    with pytest.raises(InfeasibleError):
        infer(endless)
    found = infer(endless, Poisson(np.full(4, 1.0)))
    least_two = 1 - stats.poisson(2).cdf(1)
    assert found.mean[0, 0] == pytest.approx((2 - stats.poisson(2).pmf(1)) / 2 / least_two)
    assert found.mean[1, 1] == pytest.approx(1.0)


def test_what_cannot_be() -> None:
    domain, sums = Domain.of_shape((2, 2)), sums_of((2, 2), [(0,), (1,)])
    with pytest.raises(InfeasibleError):
        infer(of_sums(domain, sums, [(1, 1, None), (1, 1, None), (3, 3, None), (1, 1, None)]))
    ones = [np.array([0]), np.array([0])]
    with pytest.raises(InfeasibleError) as error:
        infer(of_sums(domain, ones, [(0, 1, None), (2, 3, None)]))
    assert "a1" in error.value.message
    # Parity is seen by no bound: an odd triangle of sums.
    odd = [np.array([0, 1]), np.array([1, 2]), np.array([0, 2])]
    with pytest.raises(InfeasibleError):
        infer(of_sums(Domain.of_shape((3,)), odd, [(3, 3, None)] * 3))


def test_cancelled() -> None:
    progress = Cancellable()
    progress.cancel()
    sums = sums_of((3, 3), [(0,), (1,)])
    likelihood = of_sums(Domain.of_shape((3, 3)), sums, exactly(np.ones((3, 3), int), sums))
    with pytest.raises(Interrupted):
        infer(likelihood, progress=progress)
