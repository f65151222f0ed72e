"""Exact whole-number noise: its law, its budget, its posterior, and what is promised."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.compared_cells import published_by
from tabprotect.engine.assessment.intruder_key import Key
from tabprotect.engine.assessment.registered import measures
from tabprotect.engine.errors import InputError, ParameterError, TooLargeError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.private_noise import integer_sampler as sampler
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

LAPLACE, GAUSSIAN = methods()["discrete_laplace"], methods()["discrete_gaussian"]
BOTH = pytest.mark.parametrize("method", [LAPLACE, GAUSSIAN], ids=lambda m: m.name)
BUDGET = {"discrete_laplace": "epsilon", "discrete_gaussian": "rho"}
INNER = "A:B - 1"


def fit(drawn: np.ndarray, weights: np.ndarray) -> float:
    """p-value of chi-square for draws of -reach..reach with these weights."""
    reach = len(weights) // 2
    expected = weights / weights.sum() * len(drawn)
    seen = np.bincount(drawn + reach, minlength=len(weights))
    large = expected >= 5
    pairs = list(zip(seen[large], expected[large], strict=True))
    pairs.append((seen[~large].sum(), max(expected[~large].sum(), 1e-9)))
    statistic = sum((s - e) ** 2 / e for s, e in pairs if e > 1)
    return float(chi2.sf(statistic, sum(e > 1 for _, e in pairs) - 1))


@pytest.mark.parametrize("cap", [None, 2])
@pytest.mark.parametrize("scale", ["1/3", "1", "7/2", "12345/1000"])
def test_the_laplace_sampler_has_its_law(scale: str, cap: int | None) -> None:
    drawn = sampler.discrete_laplace(np.random.default_rng(1), Fraction(scale), 40_000, cap)
    reach = cap or int(np.abs(drawn).max()) + 5
    weights = np.exp(-np.abs(np.arange(-reach, reach + 1)) / float(Fraction(scale)))
    assert fit(drawn, weights) > 1e-4


@pytest.mark.parametrize("cap", [None, 2])
@pytest.mark.parametrize("variance", ["1/4", "1", "10/3", "12345/100"])
def test_the_gaussian_sampler_has_its_law(variance: str, cap: int | None) -> None:
    drawn = sampler.discrete_gaussian(np.random.default_rng(2), Fraction(variance), 40_000, cap)
    reach = cap or int(np.abs(drawn).max()) + 5
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / 2 / float(Fraction(variance)))
    assert fit(drawn, weights) > 1e-4


def test_chances_of_exponentials() -> None:
    size = 50_000
    for whole, over, under in ((0, 1, 3), (1, 0, 1), (2, 1, 2)):
        filled = np.full(size, whole), np.full(size, over)
        came = sampler.bernoulli_exp(np.random.default_rng(3), *filled, under)
        chance = math.exp(-(whole + over / under))
        assert abs(came.mean() - chance) < 4.5 * math.sqrt(chance * (1 - chance) / size)


def released(method: Method, counts: object, seed: int = 1, **given: object) -> Release:
    table = Table.dense(Domain.of_shape(np.shape(counts)), counts)
    return method.run(Problem(table), given, Randomness.seeded(seed)).release


@BOTH
def test_each_sub_table_has_its_share_and_the_same_sum_the_same_noise(method: Method) -> None:
    domain = Domain.of_shape((400, 1))
    table = Table.dense(domain, np.full((400, 1), 50))
    given = {BUDGET[method.name]: 1.0, "margins": "A*B"}
    release = released(method, table.counts, **given)
    by_names = {t.table.domain.names: t.table.counts for t in release.tables}
    # Of one category of B, A by B is A: one number, one noise.
    assert (by_names["A", "B"].reshape(-1) == by_names["A",]).all()
    assert by_names["B",][0] == by_names[()]
    share = 1 / 4
    noise = by_names["A",] - 50
    reach = int(np.abs(noise).max()) + 5
    steps = np.abs(np.arange(-reach, reach + 1.0))
    power = 1 if method is LAPLACE else 2
    assert fit(noise, np.exp(-share * steps**power)) > 1e-4


@BOTH
def test_the_posterior_of_a_cell_is_the_law_around_it(method: Method) -> None:
    release = released(method, [[0, 3], [9, 1]], seed=4, margins=INNER)
    found = infer(likelihood_of(release))
    assert found.way == "exact" and "below 1e-15" in found.note
    power, share = (1, 1.0) if method is LAPLACE else (2, 0.5)
    for cell, published in np.ndenumerate(release.table.counts):
        true = np.arange(60)
        weights = np.exp(-share * np.abs(true - published).astype(float) ** power)
        weights /= weights.sum()
        got = [found.probability(int(k))[cell] for k in true]
        assert got == pytest.approx(weights, abs=1e-12)


def test_far_below_zero_only_small_counts_remain() -> None:
    release = released(LAPLACE, [[0, 3], [9, 1]], margins=INNER)
    table = Table.dense(release.domain, [[-200, 3], [9, 1]])
    found = infer(LAPLACE.likelihood(Release.of(table, release.mechanism)))
    assert found.probability(0)[0, 0] == pytest.approx(1 - math.exp(-1), abs=1e-9)


@BOTH
def test_a_cap_is_kept_and_known(method: Method) -> None:
    counts = np.full((20, 20), 3)
    given = {BUDGET[method.name]: 0.1, "cap": 2, "margins": INNER}
    release = released(method, counts, **given)
    assert np.abs(release.table.counts - 3).max() == 2
    assert "within_deviation" in method.promised(method.resolve(release.domain, given))
    assert "within_deviation" not in method.promised(method.resolve(release.domain, {}))
    found = infer(likelihood_of(release))
    assert found.note == ""
    values, _ = found.distribution((0, 0))
    published = int(release.table.counts[0, 0])
    assert values.min() >= published - 2 and values.max() == published + 2
    beyond = Table.dense(release.domain, np.where(counts == 3, -3, 0))
    with pytest.raises(InputError, match="beyond the cap"):
        method.likelihood(Release.of(beyond, release.mechanism))


def private(method: Method, name: str, **given: object) -> tuple[float | None, str]:
    release = released(method, [[4, 0], [1, 5]], **given)
    problem = Problem(Table.dense(release.domain, [[4, 0], [1, 5]]))
    key = Key.of(release.domain, None, None)
    found = measures()[name].assess(AssessedRelease(problem, release, published_by(release), key))
    return found.value, found.reason


def test_epsilon_and_delta_are_those_of_the_closed_forms() -> None:
    # At delta 1e-6 epsilon is its budget, less what delta buys: log of p - e^eps q = delta.
    one, _ = private(LAPLACE, "dp_epsilon", epsilon=1.0, margins=INNER)
    assert one == pytest.approx(1.0, abs=1e-5) and one <= 1.0
    four, _ = private(LAPLACE, "dp_epsilon", epsilon=1.0)
    assert four == pytest.approx(1.0, abs=1e-4)
    # epsilon = 2 at 1: half of the law, from 0 down, exceeds: P(z <= 0) (1 - e^(1 - 2)).
    delta, _ = private(LAPLACE, "dp_delta", epsilon=2.0, margins=INNER)
    below = 1 / (1 + math.exp(-2))
    assert delta == pytest.approx(below * (1 - math.exp(-1)))
    # Canonne, Kamath and Steinke: less than rho + 2 sqrt(rho ln(1 / delta)).
    gauss, _ = private(GAUSSIAN, "dp_epsilon", rho=0.5, margins=INNER)
    assert gauss is not None and 4.0 < gauss < 0.5 + 2 * math.sqrt(0.5 * math.log(1e6))
    capped, _ = private(LAPLACE, "dp_delta", epsilon=1.0, cap=3, margins=INNER)
    weights = np.exp(-np.abs(np.arange(-3, 4.0)))
    assert capped == pytest.approx(weights[0] / weights.sum())


def test_what_is_no_differential_privacy_says_so() -> None:
    nothing, why = private(methods()["cell_key"], "dp_epsilon")
    assert nothing is None and "not differentially private" in why
    assert private(methods()["random_rounding"], "dp_delta")[0] == 1.0
    nothing, why = private(methods()["bootstrap"], "dp_delta")
    assert nothing is None and "each number by itself" in why


@BOTH
def test_bad_budgets_and_what_is_too_much(method: Method) -> None:
    domain, name = Domain.of_shape((2, 2)), BUDGET[method.name]
    for wrong, said in ((0.00012345, "at most 4 decimals"), (0, "between"), (1e9, "between")):
        with pytest.raises(ParameterError, match=said) as caught:
            method.resolve(domain, {name: wrong})
        assert set(caught.value.fields) == {name}
    counts = np.arange(40_000).reshape(200, 200) * 10**6
    release = released(method, counts, **{name: 0.0001, "margins": INNER})
    with pytest.raises(TooLargeError, match="too many to be weighed"):
        method.likelihood(release)
    with pytest.raises(InputError, match="too large for noise"):
        released(method, [[2**62, 1], [1, 1]])


@BOTH
def test_totals_beside_many_cells_are_judged_by_their_own_noise(method: Method) -> None:
    """Sums of a thousand noisy cells say next to nothing of what stands published beside them."""
    table = Table.dense(Domain.of_shape((30, 20)), np.arange(600).reshape(30, 20) % 7)
    generator = np.random.default_rng(3)
    release, _ = method.perform(Problem(table), method.resolve(table.domain, {}), generator)
    law = method._law(method.resolve(table.domain, {}), 4)
    (place,) = (k for k, p in enumerate(release.tables) if p.table.domain.names == ("A",))
    apart = method.table_likelihood(release, place)
    assert apart is not None
    published = release.tables[place].table.counts
    values = np.arange(published[0] - law.reach, published[0] + law.reach + 1)
    expected = np.where(values < 0, 0.0, np.exp(law.logs(values - published[0])))
    counts, chances = infer(apart, approach=Approach(way="exact")).distribution((0,))
    found = dict(zip(counts.tolist(), chances.tolist(), strict=True))
    assert sum(found.values()) == pytest.approx(1)
    for value, chance in zip(values, expected / expected.sum(), strict=True):
        assert found.get(int(value), 0.0) == pytest.approx(chance, abs=1e-12)
    # Where the inner cells alone are published there is nothing to leave out.
    alone, _ = method.perform(Problem(table), method.resolve(table.domain, {"margins": INNER}), generator)
    assert method.table_likelihood(alone, 0) is None and "totals" not in likelihood_of(alone).note
