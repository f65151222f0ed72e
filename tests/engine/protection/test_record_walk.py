"""Walks through the originals behind records that moved: against enumeration, and C against numpy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.posterior.factors import chain_posterior
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import Poisson
from tabprotect.engine.protection.methods import post_randomisation
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.resampling.record_walk import RecordWalk, one_back
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

CASES = json.loads((Path(__file__).parents[2] / "reference" / "openbook.json").read_text())["pram"]
METHOD = methods()["post_randomisation"]


def as_published(case: Mapping[str, Any]) -> Release:
    domain, stay = Domain.of_shape(tuple(case["shape"])), case["pstay"]
    stated = {}
    for variable in domain.variables:
        size = len(variable.categories)
        kept = np.eye(size, dtype=np.bool_)
        stated[variable.name] = np.where(kept, stay, (1 - stay) / (size - 1)).tolist()
    given = {"pstay": str(stay), "spread": "uniform", "matrices": "", "transition": stated}
    counts = np.array(case["published"]).reshape(domain.shape)
    return Release.of(Table.dense(domain, counts), Mechanism(METHOD.name, domain, given))


def worst_z(release: Release, laws: list[dict[str, float]], seed: int) -> float:
    """The largest distance of drawn beliefs from the true ones, in standard errors."""
    found = infer(likelihood_of(release), randomness=Randomness.seeded(seed))
    assert found.way == "monte_carlo" and found.left_out == () and found.error is not None
    assert found.r_hat is not None and found.r_hat < 1.05
    top = max(int(count) for law in laws for count in law) + 2
    off = [
        found.probability(count).reshape(-1) - [law.get(str(count), 0.0) for law in laws]
        for count in range(top)
    ]
    return float(np.abs(off).max()) / found.error


@pytest.mark.parametrize("case", CASES)
def test_beliefs_are_those_computed_independently(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    release = as_published(case)
    exact = infer(likelihood_of(release))
    assert exact.way == "exact"
    for count in range(8):
        expected = [law.get(str(count), 0.0) for law in case["posterior"]]
        assert exact.probability(count).reshape(-1) == pytest.approx(expected, abs=1e-9)
    monkeypatch.setattr(post_randomisation, "LISTING_WORK", 0.0)
    assert worst_z(release, case["posterior"], 5) < 4


def test_a_walk_with_other_chances_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post_randomisation, "LISTING_WORK", 0.0)

    class Wrong(RecordWalk):
        def _sent_back(self, chances: Any, generator: Any, state: Any) -> Any:
            return super()._sent_back(np.sqrt(chances), generator, state)

    monkeypatch.setattr(post_randomisation, "RecordWalk", Wrong)
    assert worst_z(as_published(CASES[0]), CASES[0]["posterior"], 5) > 6


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 2), (5,)])
def test_records_one_by_one_are_as_by_numbers(shape: tuple[int, ...]) -> None:
    """The compiled way and the other have the same law: mean and variance of every count."""
    generator = np.random.default_rng(3)
    counts = generator.poisson(1.0, shape)
    for axis, size in enumerate(shape):
        mass, matrix = generator.random(shape), generator.dirichlet(np.ones(size), size)
        state = generator.integers(0, 2**63, 1, dtype=np.uint64)
        drawn = [
            np.array([one_back(mass, matrix, axis, counts, generator, way) for _ in range(4000)])
            for way in (state, None)
        ]
        for one in drawn:
            kept = counts.sum(axis=axis)
            assert (one.sum(axis=axis + 1) == kept).all()
        first, second = (one.mean(axis=0) for one in drawn)
        error = np.sqrt(sum(one.var(axis=0) for one in drawn) / 4000)
        assert (np.abs(first - second) <= 5 * error + 1e-12).all()
        spread = [one.var(axis=0) for one in drawn]
        assert spread[0] == pytest.approx(spread[1], abs=0.15)


def test_matrices_that_follow_from_the_table_hold_the_walk() -> None:
    domain = Domain.of_shape((2, 2))
    table = Table.dense(domain, [[9, 3], [4, 8]])
    values = METHOD.resolve(domain, {"spread": "proportional", "pstay": "0.7"})
    matrices = post_randomisation._transition(table, values)

    def fits(counts: Any) -> bool:
        made = post_randomisation._transition(Table.dense(domain, counts), values)
        return all(np.abs(made[name] - matrices[name]).max() <= 1e-9 for name in matrices)

    walk = RecordWalk(table.counts, list(matrices.values()), np.zeros((2, 2), dtype=np.bool_), fits)
    steps = walk(np.random.default_rng(2))
    seen = [next(steps).reshape(2, 2) for _ in range(3000)]
    assert all(fits(one) for one in seen) and len({one.tobytes() for one in seen}) > 1
    never = RecordWalk(walk.published, walk.matrices, walk.nobody, lambda _: False)
    assert list(never(np.random.default_rng(2))) == []


def test_nobody_is_sent_where_nobody_can_be() -> None:
    nobody = np.array([[True, False], [False, False]])
    matrix = np.array([[0.8, 0.2], [0.2, 0.8]])
    steps = RecordWalk(np.array([[3, 2], [1, 4]]), [matrix, matrix], nobody)(np.random.default_rng(1))
    seen = np.array([next(steps) for _ in range(100)])
    assert not seen[:, 0].any() and (seen.sum(axis=1) == 10).all() and np.ptp(seen[:, 1]) > 0


def test_a_table_of_a_hundred_cells_is_judged_whole() -> None:
    domain = Domain.of_shape((10, 10))
    generator = np.random.default_rng(4)
    problem = Problem(Table.dense(domain, generator.poisson(generator.gamma(1.0, 4.0, (10, 10)))))
    release = METHOD.run(problem, {}, Randomness.seeded(1)).release
    assert verdict(release).left_out == ()


def test_who_believes_something_else_beforehand_is_not_told_by_the_walk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(post_randomisation, "LISTING_WORK", 0.0)
    monkeypatch.setattr(chain_posterior, "RECORDS", 20)
    likelihood = likelihood_of(as_published(CASES[1]))
    assert isinstance(likelihood, CellFactors) and likelihood.rerun is not None
    assert likelihood.rerun.walk is not None
    assert infer(likelihood, Poisson(np.full(4, 1.5))).way == "exact"
