"""Log-linear models over draws, against closed forms, and calibrated by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.analysis import analyse, chi_square, fit_model
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.log_linear import LogLinear, Pooled, pooled_test
from tabprotect.engine.posterior.prior import Poisson
from tabprotect.engine.protection.cycle_runs.forward_walk import Walker
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def test_a_two_by_two_table_has_its_own_odds_ratio() -> None:
    domain = Domain.of_shape((2, 2))
    model = LogLinear.of(domain, "A*B")
    table = np.array([[[10, 4], [3, 9]]])
    fitted = model.fit(table)
    assert np.allclose(fitted, table) and model.degrees == 0
    assert model.deviance(table, fitted)[0] == pytest.approx(0, abs=1e-9)
    found, spread = model.log_odds_ratios(fitted)
    assert found[0, 0] == pytest.approx(math.log(10 * 9 / (4 * 3)))
    assert spread[0, 0] == pytest.approx(1 / 10 + 1 / 4 + 1 / 3 + 1 / 9)


def test_conditional_independence_has_a_closed_form() -> None:
    domain = Domain.of_shape((3, 2, 4))
    model = LogLinear.of(domain, "A:B + B:C")
    tables = np.random.default_rng(2).integers(1, 30, (5, 3, 2, 4))
    fitted = model.fit(tables)
    ab, bc, b = tables.sum(axis=3), tables.sum(axis=1), tables.sum(axis=(1, 3))
    wanted = ab[..., None] * bc[:, None] / b[:, None, :, None]
    assert np.abs(fitted - wanted).max() < 1e-6
    assert model.degrees == 2 * (2 * 3)
    deviance = 2 * (tables * np.log(tables / wanted)).sum(axis=(1, 2, 3))
    assert np.allclose(model.deviance(tables, fitted), deviance)
    names, (found, _) = model.associations, model.log_odds_ratios(fitted)
    a2b2 = names.index("A=a2:B=b2")
    odds = np.log(ab[:, 0, 0] * ab[:, 1, 1] / (ab[:, 0, 1] * ab[:, 1, 0]))
    assert np.abs(found[:, a2b2] - odds).max() < 1e-6


def test_rubins_rules() -> None:
    pooled = Pooled.of(np.array([[1.0, np.nan], [3.0, 2.0]]), np.array([[0.5, 1.0], [1.5, 1.0]]))
    assert (pooled.estimate[0], pooled.within[0], pooled.between[0]) == (2.0, 1.0, 2.0)
    assert pooled.total[0] == 1.0 + 1.5 * 2.0 and pooled.missing[0] == pytest.approx(0.75)
    assert np.isnan(pooled.estimate[1]) and pooled.draws.tolist() == [2, 1]
    # Without spread between the draws the pooled test is the test itself.
    value, p = pooled_test(np.full(10, 3.841458820694124), 1)
    assert value == pytest.approx(3.841458820694124) and p == pytest.approx(0.05)


def test_a_model_names_every_variable() -> None:
    with pytest.raises(ParameterError, match="B, C is in no term"):
        LogLinear.of(Domain.of_shape((2, 2, 2)), "A")


def test_true_values_rank_evenly_among_the_draws() -> None:
    """Originals from the prior, released, read with that prior: ranks are uniform."""
    domain = Domain.of_shape((3, 3))
    moves = design(domain, "triangular")
    walker = Walker(moves, "listed", len(moves), 0.25, 0.25, "negative")
    rng = np.random.default_rng(11)
    mean = np.linspace(2.0, 6.0, 9)
    ranks = []
    for _ in range(150):
        truth = rng.poisson(mean)
        state = truth.copy()
        walker.run(state, rng)
        table = Table.dense(domain, state.reshape(3, 3))
        posterior = infer(MoveSequence(table, moves, 0.25, 0.25, 1, "negative"), Poisson(mean))
        found = analyse(posterior, chi_square, "chi-square", generator=rng, draws=100)
        ranks.append(found.rank(float(chi_square(truth.reshape(1, 3, 3))[0])))
    # Kolmogorov's distance: 1.95 / sqrt(n) is passed once in a thousand times.
    apart = np.abs(np.sort(ranks) - (np.arange(150) + 0.5) / 150).max()
    assert apart < 1.95 / math.sqrt(150)


def test_a_model_over_draws() -> None:
    domain = Domain.of_shape((3, 3))
    moves = design(domain, "triangular")
    table = Table.dense(domain, [[9, 5, 4], [6, 8, 3], [2, 4, 7]])
    posterior = infer(MoveSequence(table, moves, 0.25, 0.25, 1, "any_zero"))
    rng = np.random.default_rng(3)
    found = fit_model(posterior, LogLinear.of(domain, "A*B"), generator=rng, draws=300)
    assert found.model.associations == ["A=a2:B=b2", "A=a2:B=b3", "A=a3:B=b2", "A=a3:B=b3"]
    assert (found.pooled.between > 0).all() and (found.pooled.draws >= 290).all()
    independent = fit_model(posterior, LogLinear.of(domain, "A + B"), generator=rng, draws=300)
    assert independent.model.degrees == 4 and len(independent.deviance.values) == 300
    # The fit of kept margins is the same in every draw: only the deviance moves.
    assert 0 < independent.test[1] < 1 and independent.deviance.standard_deviation > 0
