"""Exchange steps against whole matrices over all tables with the same margins."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import exchanges_in_numpy
import numpy as np
import pytest
from exchange_law import fibre, matrix

from tabprotect.engine.disclosure import groups
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.posterior.prior import Factorial, Poisson, Uniform
from tabprotect.engine.posterior.swaps import infer_exchange
from tabprotect.engine.progress import SILENT
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import ExchangeSteps
from tabprotect.engine.swaps import exchange_plan
from tabprotect.engine.swaps.exchange_plan import ExchangePlan
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "trains.json").read_text())
CASES = [one for one in REFERENCE["cases"] if one["kind"] == "exchange"]


def plan_of(counts: np.ndarray, theta: float, rate: float = 0.5) -> ExchangePlan:
    return ExchangePlan(np.arange(counts.size), (1, *counts.shape), rate, theta)


@pytest.mark.parametrize("case", CASES)
def test_the_law_is_kept_and_the_posterior_is_a_row(case: dict[str, Any]) -> None:
    counts, theta, steps = np.array(case["published"]), case["theta"], case["steps"]
    tables, step, law = matrix(counts, theta)
    assert len(tables) == case["tables"]
    flow = law[:, None] * step
    assert np.abs(flow - flow.T).max() < 1e-15
    kernel = np.linalg.matrix_power(step, steps)
    at = tables.index(tuple(counts.reshape(-1).tolist()))
    posterior = law * kernel[:, at] / (law * kernel[:, at]).sum()
    assert np.abs(posterior - kernel[at]).max() < 1e-14
    for cell, wanted in enumerate(one for row in case["counts"] for one in row):
        for count, chance in wanted.items():
            found = sum(p for table, p in zip(tables, posterior, strict=True) if table[cell] == int(count))
            assert abs(found - chance) < 1e-12
    drawn = plan_of(counts, theta).tables(
        counts.reshape(-1), 100_000, np.random.default_rng(5), np.array([steps])
    )
    shares = np.array([(drawn == table).all(axis=1).mean() for table in tables])
    assert shares.sum() == 1.0
    assert np.abs(shares - posterior).max() < 5 * np.sqrt(0.25 / 100_000)


@pytest.mark.parametrize("theta", [0.0, 1.0])
def test_no_step_leads_where_nobody_can_be(theta: float) -> None:
    counts, nobody = np.array([[2, 0, 1], [1, 2, 0], [0, 1, 1]]), [1, 6]
    tables, step, law = matrix(counts, theta, nobody)
    flow = law[:, None] * step
    assert len(tables) < len(fibre(counts)) and np.abs(flow - flow.T).max() < 1e-15
    closed = np.isin(np.arange(9), nobody)
    plan = replace(plan_of(counts, theta), nobody=closed)
    drawn = plan.tables(counts.reshape(-1), 100_000, np.random.default_rng(5), np.array([4]))
    wanted = np.linalg.matrix_power(step, 4)[tables.index(tuple(counts.reshape(-1).tolist()))]
    shares = np.array([(drawn == table).all(axis=1).mean() for table in tables])
    assert np.abs(shares - wanted).max() < 5 * np.sqrt(0.25 / 100_000)


def test_strata_by_themselves_and_eight_bits_are_the_same_draws() -> None:
    counts = np.random.default_rng(3).poisson(1.1, (4, 3, 5)).reshape(-1)
    counts[7] = 500
    plan = ExchangePlan(np.random.default_rng(1).permutation(60), (4, 3, 5), 0.3)
    whole = plan.tables(counts, 400, np.random.default_rng(1))
    assert np.array_equal(plan.narrow(counts, 400, np.random.default_rng(1), 90), np.minimum(whole, 90))
    cells, part = plan.part(np.array([2, 0]))
    some = part.tables(counts[cells], 40_000, np.random.default_rng(2))
    many = plan.tables(counts, 40_000, np.random.default_rng(3))[:, cells]
    assert np.abs(some.mean(axis=0) - many.mean(axis=0)).max() < 0.05
    grid = counts[cells].reshape(2, 3, 5)
    assert (some.reshape(-1, 2, 3, 5).sum(axis=2) == grid.sum(axis=1)).all()


@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0])
def test_both_forms_take_the_same_steps(theta: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    shape = (4, 3, 5)
    counts = rng.poisson(1.1, shape).reshape(-1)
    plan = ExchangePlan(rng.permutation(counts.size), shape, 0.7, theta, rng.random(counts.size) < 0.1)

    def found() -> np.ndarray:
        return plan.tables(counts, 60, np.random.default_rng(1))

    compiled = found()
    monkeypatch.setattr(exchange_plan, "exchanges", exchanges_in_numpy)
    assert np.array_equal(found(), compiled)
    assert (compiled != counts).any() and (compiled >= 0).all()
    grid = compiled[:, plan.cell].reshape(-1, *shape)
    before = counts[plan.cell].reshape(shape)
    assert (grid.sum(axis=2) == before.sum(axis=1)).all() and (grid.sum(axis=3) == before.sum(axis=2)).all()


def exchanged(counts: np.ndarray, theta: float, rate: float) -> ExchangeSteps:
    domain = Domain.of_shape(counts.shape)
    kept = Publication(domain, tuple((name,) for name in domain.names))
    return ExchangeSteps(Table.dense(domain, counts), plan_of(counts, theta, rate), kept)


@pytest.mark.parametrize("theta", [0.0, 1.0])
def test_beliefs_are_those_of_all_originals(theta: float) -> None:
    counts = np.array([[1, 2, 0], [2, 0, 1]])
    likelihood = exchanged(counts, theta, 0.5)
    tables, step, _ = matrix(counts, theta)
    at = tables.index(tuple(counts.reshape(-1).tolist()))
    forward = np.linalg.matrix_power(step, 3)[:, at]
    priors: list[Any] = [Uniform(), Factorial(theta), Poisson(np.array([1.5, 1.0, 0.5, 2.0, 0.7, 0.3]))]
    for prior in priors:
        logs = prior.log_weight(np.arange(6), np.array(tables)).sum(axis=1)
        wanted = np.exp(logs) * forward
        wanted /= wanted.sum()
        found = infer(likelihood, prior, Approach(draws=40_000))
        assert found.independent == (prior == Factorial(theta) or (theta == 0 and prior == Uniform()))
        for cell in range(6):
            values, chances = found.distribution(divmod(cell, 3))
            for value, chance in zip(values.tolist(), chances.tolist(), strict=True):
                truth = sum(p for one, p in zip(tables, wanted, strict=True) if one[cell] == value)
                assert abs(truth - chance) < 0.02


def test_both_forms_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(2).poisson(1.3, (6, 7))

    def found() -> np.ndarray:
        randomness = Randomness.seeded(4)
        return infer(exchanged(counts, 0.0, 2.0), None, Approach(draws=300), randomness).chances

    compiled = found()
    assert np.allclose(compiled.sum(axis=1), 1.0) and compiled.shape[1] > 9
    for module in (exchange_plan, infer_exchange):
        monkeypatch.setattr(module, "exchanges", exchanges_in_numpy)
    assert np.array_equal(found(), compiled)


def test_sums_of_cells_are_those_of_all_originals() -> None:
    """Of a table whose second side is two variables: sums over one of them are not kept."""
    counts = np.array([[1, 0, 2, 0, 1, 0], [0, 1, 0, 2, 0, 1]])
    domain = Domain.of_shape((2, 2, 3))
    a, b, c = domain.names
    kept = Publication(domain, ((a,), (b, c)))
    likelihood = ExchangeSteps(Table.dense(domain, counts.reshape(2, 2, 3)), plan_of(counts, 0.0), kept)
    tables, step, _ = matrix(counts, 0.0)
    steps = int(likelihood.plan.steps(counts.reshape(-1))[0])
    row = np.linalg.matrix_power(step, steps)[tables.index(tuple(counts.reshape(-1).tolist()))]
    asked = Publication(domain, ((a, b), (b, c)))
    randomness = Randomness.seeded(4)
    found, exact = sums(
        infer(likelihood, None, Approach(draws=4_000), randomness), asked, randomness=randomness
    )
    originals = np.array(tables).reshape(-1, 2, 2, 3).sum(axis=3).reshape(-1, 4)
    for cell in range(4):
        values, chances = found.distribution(divmod(cell, 2))
        told = dict(zip(values.tolist(), chances.tolist(), strict=True))
        for value in range(9):
            assert abs(told.get(value, 0.0) - row[originals[:, cell] == value].sum()) < 0.025
    assert (exact.probability(counts.reshape(2, 2, 3).sum(axis=0)) > 1 - 1e-12).all()


@pytest.mark.parametrize("theta", [0.0, 1.0])
def test_what_is_learned_of_groups_is_that_of_all_originals(theta: float) -> None:
    """Whether a whole row of three people or more is in one column."""
    counts = np.array([[3, 1, 0], [0, 3, 0], [1, 0, 2]])
    likelihood = exchanged(counts, theta, 0.4)
    tables, step, _ = matrix(counts, theta)
    at = tables.index(tuple(counts.reshape(-1).tolist()))
    forward = np.linalg.matrix_power(step, int(likelihood.plan.steps(counts.reshape(-1))[0]))[:, at]
    weights = forward * [math.prod(math.factorial(n) ** -theta for n in one) for one in tables]
    whole = np.zeros((3, 3))
    for one, weight in zip(tables, weights / weights.sum(), strict=True):
        for k, row in enumerate(np.reshape(one, (3, 3))):
            whole[k] += weight * ((row == row.sum()) & (row >= 3))
    posterior = infer(likelihood, Factorial(theta) if theta else Uniform(), Approach(draws=4_000))
    drawn = groups.DrawnOnce(posterior, np.random.default_rng(1), SILENT)
    found = groups.group_beliefs(drawn, posterior.domain, None, 1, [0], 3)
    assert found is not None and found.draws == groups.DRAWN
    assert np.abs(found.whole - whole).max() < 0.06 and (whole > 0.03).sum() >= 2
