"""Several releases by all swaps around a table: draws of whole rings against all originals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.posterior.infer import infer_jointly
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Poisson, Prior, Uniform
from tabprotect.engine.posterior.together import infer_together, ring_draws
from tabprotect.engine.posterior.together.joint_elimination import JointElimination
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import Likelihood
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

METHOD = methods()["cyclic_perturbation"]


def released(counts: Ints, rule: str, number: int) -> list[Release]:
    domain = Domain.of_shape(counts.shape)
    problem, cycles = Problem(Table.dense(domain, counts)), design(domain, "elementary")
    return [
        METHOD.run(
            problem,
            {"cycles": cycles, "blocking": rule, "alpha": 0.25 + 0.1 * k, "beta": 0.25},
            Randomness.seeded(k),
        ).release
        for k in range(number)
    ]


def drawn(likelihoods: Sequence[Likelihood], prior: Prior, monkeypatch: pytest.MonkeyPatch) -> Posterior:
    with monkeypatch.context() as patch:
        patch.setattr(infer_together, "listed_together", lambda *_: None)
        patch.setattr(JointElimination, "of", lambda *_: None)
        found = infer_jointly(likelihoods, prior, Randomness.seeded(5))
    assert found is not None and found.way == "monte_carlo"
    return found


def deviations(found: Posterior, exact: Posterior) -> list[float]:
    """How far each chance is from the exact one, in standard errors."""
    out = []
    assert found.effective_sample_size is not None
    for cell in range(found.domain.size):
        at = found.domain.unflat(cell)
        own = dict(zip(*(x.tolist() for x in found.distribution(at)), strict=True))
        for value, chance in zip(*(x.tolist() for x in exact.distribution(at)), strict=True):
            error = np.sqrt((chance * (1 - chance) + 1e-4) / found.effective_sample_size)
            out.append(abs(own.get(value, 0.0) - chance) / error)
    return out


CASES = [((3, 3), "negative", 2, False), ((4, 3), "any_zero", 2, True), ((3, 4), "negative", 3, False)]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_all_originals(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, rule, number, knows = CASES[case]
    counts = np.random.default_rng(case).poisson(1.2, shape)
    likelihoods = [likelihood_of(one) for one in released(counts, rule, number)]
    prior = Poisson(np.full(counts.size, 1.2)) if knows else Uniform()
    exact = infer_jointly(likelihoods, prior)
    assert exact is not None and exact.way == "exact" and exact.originals
    found = drawn(likelihoods, prior, monkeypatch)
    away = deviations(found, exact)
    assert max(away) < 5 and np.sqrt(np.mean(np.square(away))) < 2


def test_shifts_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that stay with the shifts they began with are noticed, or are wrong."""
    counts = np.random.default_rng(0).poisson(1.2, (3, 3))
    likelihoods = [likelihood_of(one) for one in released(counts, "negative", 2)]
    monkeypatch.setattr(ring_draws, "_shift_ranges", lambda less: (0 * less[1:, :, 0],) * 2)
    monkeypatch.setattr(infer_together, "listed_together", lambda *_: None)
    monkeypatch.setattr(JointElimination, "of", lambda *_: None)
    assert infer_jointly(likelihoods, Uniform(), Randomness.seeded(5)) is None


def test_a_sparse_table_twice() -> None:
    counts = np.random.default_rng(2).poisson(1.2, (5, 6))
    both = released(counts, "negative", 2)
    found = believe(both, knowing=RELEASE_ALONE, randomness=Randomness.seeded(1)).posterior
    assert found.way == "monte_carlo" and found.complete
    assert found.error is not None and found.error < 0.03
    assert found.probability(counts).min() > 0.0
