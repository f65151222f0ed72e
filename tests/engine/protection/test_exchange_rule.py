"""The rule exchange of cyclic perturbation: its split, its rate, what it keeps and what readers believe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.disclosure import gate
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.protection.cycle_runs.exchange_rule import ExchangeRule, chosen_split, plain_rate
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.exact_margins import exact_sums
from tabprotect.engine.release.likelihood import ExchangeSteps
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

METHOD = methods()["cyclic_perturbation"]
EXCHANGE = {"blocking": "exchange"}


def sparse(shape: tuple[int, ...], seed: int = 7) -> Problem:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.36, 3 / 0.36, size=shape))
    return Problem(Table.dense(Domain.of_shape(shape), counts), SmallCount())


@pytest.mark.parametrize(
    ("shape", "people", "split"),
    [
        ((10, 10, 10, 20), 60_000, "A | D"),
        ((100, 100), 30_000, "A | B"),
        ((2, 6, 20, 5), 3_600, "B | C"),
        ((3,) * 12, 20_000, "A, C, E, G | B, D, F, H"),
        ((2, 2, 2), 20, "A, C | B"),
    ],
)
def test_the_split_follows_from_the_sizes(shape: tuple[int, ...], people: int, split: str) -> None:
    domain = Domain.of_shape(shape)
    found = chosen_split(domain, {}, people)
    assert found.text == split
    assert {*found.strata, *found.split[0], *found.split[1]} == set(domain.names)


def test_the_split_keeps_the_sums_that_are_asked_for() -> None:
    problem = sparse((4, 3, 5, 2))
    domain = problem.table.domain
    values = METHOD.resolve_for(problem, {**EXCHANGE, "keep": "A:B + B:C"})
    rule = ExchangeRule.of(domain, values)
    kept = rule.kept(values)
    assert all(any(kept.determines(m, one) for m in kept.margins) for one in (("A", "B"), ("B", "C")))
    done = gate.protect(METHOD, problem, {**EXCHANGE, "keep": "A:B + B:C"}, Randomness.seeded(1), accept="so")
    for margin in (("A", "B"), ("B", "C"), *kept.margins):
        assert done.release.table.margin(margin) == problem.table.margin(margin)
    assert METHOD.resolve_for(problem, {**EXCHANGE, "keep": "A:B + B:C + A:C"})["split"] == "A, B, C | D"
    for keep in ("A:B:C + A:B:D + A:C:D", "A:B + B:C + A:C + C:D + A:D + B:D"):
        with pytest.raises(ParameterError, match="exchange"):
            METHOD.resolve_for(problem, {**EXCHANGE, "keep": keep})


@pytest.mark.parametrize(
    "given",
    [
        {"split": "A"},
        {"split": "A | A"},
        {"split": "A | Q"},
        {"split": " | A"},
        {"passes": 2},
        {"cycles": "triangular"},
        {"alpha": 0.3},
        {"order": "random"},
        {"split": "A | B", "keep": "A:B"},
    ],
)
def test_what_has_no_part_in_it_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as error:
        METHOD.resolve_for(sparse((3, 4, 3)), {**EXCHANGE, **given})
    assert set(error.value.fields) & set(given)
    for name, value in (("split", "A | B"), ("rate", 0.3)):
        with pytest.raises(ParameterError):
            METHOD.resolve(Domain.of_shape((3, 4)), {name: value, "blocking": "negative"})


@pytest.mark.parametrize("shape", [(10, 10, 10, 20), (2, 6, 20, 5), (100, 100), (20, 20, 20)])
def test_sparse_tables_pass_with_nothing_known(shape: tuple[int, ...], tmp_path: Path) -> None:
    problem = sparse(shape)
    done = gate.protect(METHOD, problem, EXCHANGE, Randomness.seeded(3), kept_small="keep")
    assert done.verdict.passed and done.verdict.known <= 0.01 * done.verdict.at_risk
    likelihood = likelihood_of(done.release)
    assert isinstance(likelihood, ExchangeSteps)
    for margin in likelihood.kept.margins:
        assert done.release.table.margin(margin) == problem.table.margin(margin)
    assert done.release.table != problem.table and not done.release.table.has_negative


def test_a_bundle_states_it_and_readers_make_it_again(tmp_path: Path) -> None:
    problem = sparse((3, 4, 3))
    done = gate.protect(METHOD, problem, {**EXCHANGE, "theta": 1}, Randomness.seeded(3), accept="so")
    public.write(done.release, tmp_path / "r.zip")
    read = public.read(tmp_path / "r.zip")
    one, again = likelihood_of(done.release), likelihood_of(read)
    assert isinstance(one, ExchangeSteps) and isinstance(again, ExchangeSteps)
    assert np.array_equal(one.plan.cell, again.plan.cell)
    assert (one.plan.shape, one.plan.rate, one.plan.theta) == (again.plan.shape, again.plan.rate, 1.0)
    for (names, key), count in exact_sums(again).items():
        assert problem.table.margin(names).counts.reshape(-1)[key] == count


def test_the_rate_follows_from_what_is_kept_alone() -> None:
    problem = sparse((3, 4))
    values = METHOD.resolve_for(problem, EXCHANGE)
    done = gate.protect(METHOD, problem, EXCHANGE, Randomness.seeded(3), accept="so")
    other = Problem(done.release.table, SmallCount())
    assert METHOD.resolve_for(other, EXCHANGE)["rate"] == values["rate"]
    assert METHOD.no_change(other.table, values) == METHOD.no_change(problem.table, values)
    assert values["rate"] >= plain_rate(problem.table.domain, problem.table.total)
