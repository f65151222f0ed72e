"""What a mechanism says beyond its factors, weighed into the posterior or said to be left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from factor_oracle import every_original, exactly, marginals, of_sums, sums_of

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors import reweighing
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Poisson
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

MOST = 7
ORIGINAL = np.array([[1, 2, 0], [3, 0, 1]])


def of_rule(rule: Callable[[tuple[int, ...]], float], *, exact: bool) -> CellFactors:
    """Margins within one of the true ones, and a rule of whole originals."""
    sums = sums_of((2, 3), [(0,), (1,)])
    kinds = [(max(0, t - 1), t + 1, None) for t, _, _ in exactly(ORIGINAL, sums)]

    def estimate(table: Table, generator: np.random.Generator) -> float:
        chance = rule(tuple(table.counts.reshape(-1).tolist()))
        return chance if exact else float(generator.random() < chance)

    return of_sums(Domain.of_shape((2, 3)), sums, kinds, rerun=Rerun(estimate, exact), note="the rule")


def even_corner(cells: tuple[int, ...]) -> float:
    return float(cells[0] % 2 == 0)


def mostly_even(cells: tuple[int, ...]) -> float:
    return 0.9 if cells[0] % 2 == 0 else 0.2


def difference(found: Posterior, likelihood: CellFactors, rule: Callable[..., float]) -> float:
    true = {c: w * rule(c) for c, w in every_original(likelihood, MOST).items()}
    expected = marginals({c: w for c, w in true.items() if w}, MOST)
    p = np.stack([found.probability(v).reshape(-1) for v in range(MOST + 1)], axis=1)
    return float(np.abs(p - expected).max())


def test_a_deterministic_choice_is_exact() -> None:
    likelihood = of_rule(even_corner, exact=True)
    found = infer(likelihood)
    true = [c for c in every_original(likelihood, MOST) if c[0] % 2 == 0]
    assert found.way == "exact" and found.originals == len(true) and not found.note
    assert difference(found, likelihood, even_corner) < 1e-12
    drawn = found.sample(300, np.random.default_rng(1))
    assert (drawn[:, 0, 0] % 2 == 0).all()
    assert {tuple(t) for t in drawn.reshape(300, -1).tolist()} <= set(true)


def test_estimates_over_listed_originals() -> None:
    likelihood = of_rule(mostly_even, exact=False)
    found = infer(likelihood, randomness=Randomness.seeded(2))
    assert found.way == "monte_carlo" and found.error is not None and not found.note
    assert 0 < found.error < 0.01
    assert difference(found, likelihood, mostly_even) < 5 * found.error
    with pytest.raises(InfeasibleError):
        infer(replace(likelihood, rerun=Rerun(lambda t, g: 0.0, True)))


@pytest.mark.parametrize("exact", [False, True])
def test_weighed_draws(exact: bool) -> None:
    likelihood = of_rule(mostly_even, exact=exact)
    found = infer(
        likelihood, approach=Approach(way="monte_carlo", draws=6000), randomness=Randomness.seeded(3)
    )
    assert found.way == "monte_carlo" and found.error is not None and not found.note
    assert found.effective_sample_size is not None and found.effective_sample_size < 6000
    assert difference(found, likelihood, mostly_even) < 5 * found.error < 0.06


def test_too_dear_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    likelihood = of_rule(even_corner, exact=True)
    monkeypatch.setattr(reweighing, "REWEIGHING_WORK", 1e-5)
    found = infer(likelihood)
    assert found.note == "the rule"
    assert difference(found, likelihood, lambda cells: 1.0) < 1e-12
    with pytest.raises(InfeasibleError):
        infer(likelihood, approach=Approach(way="exact"))


def test_plans_go_by_stated_and_counted_work_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow a call is, the plan stays; a stated cost changes it, and dear calls end it."""
    likelihood = of_rule(mostly_even, exact=False)
    assert likelihood.rerun is not None
    rerun, calls = likelihood.rerun, 0
    spent = [0.0]
    monkeypatch.setattr(reweighing, "solver_work", lambda: spent[0])

    def estimate(table: Table, generator: np.random.Generator) -> float:
        nonlocal calls
        calls += 1
        # The two first calls are cheap, later ones solve large programmes.
        spent[0] += 0.0 if calls < 3 else 1e6
        return rerun.estimate(table, generator)

    found = infer(replace(likelihood, rerun=Rerun(estimate, False)))
    assert found.note.startswith("the rule") and calls <= 2 * reweighing.OVERRUN * 20 + 4
    stated = replace(likelihood, rerun=Rerun(rerun.estimate, False, cost=1e7))
    assert infer(stated).note == "the rule"
    repeated = [infer(likelihood, randomness=Randomness.seeded(6)) for _ in range(2)]
    assert (repeated[0].chances == repeated[1].chances).all() and not repeated[0].note


def test_weights_that_say_too_little_are_left_out() -> None:
    likelihood = of_rule(lambda cells: float(cells == (1, 2, 0, 3, 0, 1)), exact=True)
    found = infer(
        likelihood, approach=Approach(way="monte_carlo", draws=400), randomness=Randomness.seeded(4)
    )
    assert found.note.startswith("the rule How much was not worked out (")
    assert found.left_out == ("pattern_choice",)


def test_alone_cells_are_listed_too() -> None:
    domain = Domain.of_shape((3,))
    ones = [np.array([c]) for c in range(3)]
    kinds = [(0, 2, np.log([0.2, 0.5, 0.3])), (1, 1, None), (0, 3, None)]

    def rule(cells: tuple[int, ...]) -> float:
        return float(cells[0] + cells[2] == 3)

    likelihood = of_sums(domain, ones, kinds, rerun=Rerun(lambda t, g: rule(tuple(t.counts.tolist())), True))
    for prior in (None, Poisson(np.array([1.0, 1.0, 2.0]))):
        found = infer(likelihood, prior)
        assert found.way == "exact" and found.originals == 3
    assert difference(infer(likelihood), likelihood, rule) < 1e-12
