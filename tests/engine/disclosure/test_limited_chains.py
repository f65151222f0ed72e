"""Chains that a verdict may draw: limited by counted work, and judged by only once they agree."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tabprotect.engine.belief import joint_noise
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors import chain_posterior, infer_factors, reweighing
from tabprotect.engine.posterior.factors.chains import Chains
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, Likelihood
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

LENIENT = replace(AgencyPolicy(), share=1.0)
"""Limits that accept whatever can be judged."""


def all_hidden(counts: np.ndarray) -> Release:
    """Suppression by hand: row and column totals, and no inner cell."""
    domain = Domain.of_shape(counts.shape)
    method = methods()["suppression"]
    values = method.resolve(domain, {"margins": "A:B + A + B - 1", "choice": "cheapest"})
    public = {p.name: values[p.name] for p in method.parameters if p.public}
    tables = [PublishedTable.hiding(Table.dense(domain, counts), np.ones(counts.shape, np.bool_))]
    for axis, name in enumerate(domain.names):
        sums = Table.dense(domain.project([name]), counts.sum(axis=1 - axis))
        tables.append(PublishedTable.hiding(sums, np.zeros(len(sums.counts), np.bool_)))
    return Release(tuple(tables), Mechanism("suppression", domain, public | {"at_risk": "1..2"}))


def test_what_would_be_too_dear_to_draw_is_bounded_and_never_accepted() -> None:
    release = all_hidden(np.random.default_rng(0).poisson(1.5, (78, 78)))
    found = verdict(release, LENIENT)
    assert found.way == "bounds" and not found.accepted and found.passed is None
    assert "longer than is given to it" in found.note


def scattered(size: int, hidden: int) -> Release:
    """A table of three variables with all sums of two, and so many inner cells hidden anywhere."""
    rng = np.random.default_rng(size)
    counts = rng.poisson(4.0, (size,) * 3)
    domain = Domain.of_shape(counts.shape)
    method = methods()["suppression"]
    values = method.resolve(domain, {"margins": "A:B:C + A:B + A:C + B:C - 1", "choice": "cheapest"})
    public = {p.name: values[p.name] for p in method.parameters if p.public}
    mask = np.zeros(counts.size, np.bool_)
    mask[rng.permutation(np.flatnonzero(counts))[:hidden]] = True
    tables = [PublishedTable.hiding(Table.dense(domain, counts), mask.reshape(counts.shape))]
    for axis in range(3):
        names = [name for k, name in enumerate(domain.names) if k != axis]
        sums = Table.dense(domain.project(names), counts.sum(axis=axis))
        tables.append(PublishedTable.hiding(sums, np.zeros(sums.counts.shape, np.bool_)))
    return Release(tuple(tables), Mechanism("suppression", domain, public | {"at_risk": "1..2"}))


def test_chains_over_three_sums_a_count_go_on_until_they_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every count lies in three published sums: the first runs disagree, and all originals are the oracle."""
    likelihood = likelihood_of(scattered(4, 48))
    assert isinstance(likelihood, CellFactors)
    likelihood = replace(likelihood, rerun=None)
    exact = infer(likelihood)
    assert exact.way == "exact"
    for way in ("by_convolution", "by_residuals", "by_fibre"):
        monkeypatch.setattr(infer_factors, way, lambda *_, **__: None)
    monkeypatch.setattr(chain_posterior, "DIRECTIONS", 200)
    monkeypatch.setattr(chain_posterior, "BY_CELLS", 0.25)
    agreed: list[float] = []
    mixing = chain_posterior.mixing

    def noted(*given: object) -> tuple[float, object]:
        found = mixing(*given)  # type: ignore[arg-type]
        agreed.append(found[0])
        return found

    monkeypatch.setattr(chain_posterior, "mixing", noted)
    means = []
    # Of few directions, chains that agree are as far as .13 off: several runs are nearer.
    for seed in range(4):
        agreed.clear()
        randomness = Randomness.seeded(seed)
        drawn = infer(likelihood, approach=Approach(weighing=1.0), randomness=randomness)
        assert drawn.way == "monte_carlo"
        assert len(agreed) > 1 and agreed[0] > 1.2 and agreed[-1] <= chain_posterior.AGREED
        means.append(drawn.mean)
    np.testing.assert_allclose(np.mean(means, axis=0), exact.mean, atol=0.1)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Exact ways give up, and chains are short; the runs that they do, as they are reported."""
    for way in ("by_convolution", "by_residuals", "by_fibre"):
        monkeypatch.setattr(infer_factors, way, lambda *_, **__: None)
    monkeypatch.setattr(chain_posterior, "DIRECTIONS", 400)
    monkeypatch.setattr(chain_posterior, "SWEEPS", 40)
    # As few more steps as may be: what is counted is runs.
    monkeypatch.setattr(chain_posterior, "MOST_TIMES", chain_posterior.LEAST_TIMES)
    stages: list[str] = []
    run = Chains.run

    def counted(
        self: Chains, records: int, between: tuple[int, int], progress: Progress, stage: str
    ) -> object:
        stages.append(stage)
        return run(self, records, between, progress, stage)

    monkeypatch.setattr(Chains, "run", counted)
    return stages


def small() -> tuple[Release, Likelihood]:
    release = all_hidden(np.array([[1, 2, 3], [2, 1, 1], [4, 2, 1]]))
    return release, likelihood_of(release)


@pytest.fixture
def weighed(monkeypatch: pytest.MonkeyPatch) -> list[Posterior]:
    """The posteriors that the choice of all hidden cells is asked about; it takes its time."""
    found: list[Posterior] = []

    def noted(posterior: Posterior, *_: object, **__: object) -> Posterior:
        found.append(posterior)
        return posterior

    monkeypatch.setattr(reweighing, "reweighed", noted)
    return found


def test_chains_that_agree_are_weighed_and_judged(drawn: list[str], weighed: list[Posterior]) -> None:
    release, _ = small()
    found = verdict(release, LENIENT)
    assert found.way == "simulation" and found.accepted
    assert len(weighed) == drawn.count("warming up") == 1


def test_chains_that_do_not_settle_are_neither_weighed_nor_judged(
    drawn: list[str], weighed: list[Posterior], monkeypatch: pytest.MonkeyPatch
) -> None:
    release, likelihood = small()
    # The choice of all cells that are hidden says more than each count does: there is what to weigh.
    assert isinstance(likelihood, CellFactors) and likelihood.rerun is not None
    monkeypatch.setattr(chain_posterior, "mixing", lambda *_: (math.inf, None))
    # Nor do the tempered chains, which are asked next.
    monkeypatch.setattr(joint_noise, "put_together", lambda *_, **__: None)
    found = verdict(release, LENIENT)
    assert found.way == "bounds" and not found.accepted and found.passed is None
    assert "has not settled" in found.note and not weighed
    # Further runs would end as this one.
    assert drawn == ["warming up", "drawing originals, run 1"]
    drawn.clear()
    infer(replace(likelihood, rerun=None))
    assert drawn[-1] == f"drawing originals, run {chain_posterior.ROUNDS}"


def test_work_counts_runs_that_are_still_to_come(drawn: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that come nearer go on as long as the next run is within what is given to them."""
    _, likelihood = small()
    assert isinstance(likelihood, CellFactors)
    likelihood = replace(likelihood, rerun=None)
    monkeypatch.setattr(chain_posterior, "mixing", lambda *_: (1.2, None))
    infer(likelihood, approach=Approach(weighing=1.0))
    assert drawn[-1] == f"drawing originals, run {chain_posterior.ROUNDS}"
    monkeypatch.setattr(chain_posterior, "CHAIN_WORK", 2e3)
    drawn.clear()
    infer(likelihood, approach=Approach(weighing=1.0))
    assert drawn[-1] == "drawing originals, run 1"
    monkeypatch.setattr(chain_posterior, "CHAIN_WORK", 100.0)
    with pytest.raises(TooLargeError, match="longer than is given"):
        infer(likelihood, approach=Approach(weighing=1.0))
    infer(likelihood)
