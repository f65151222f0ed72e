"""What is taken where nothing is asked for: cycles where they would pass, else exchange steps."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

from tabprotect.engine.disclosure import gate, ways
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import ExchangeSteps
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

METHOD = methods()["cyclic_perturbation"]
EXCHANGE = {"blocking": "exchange"}


def of(shape: tuple[int, ...], mean: float, spread: float, seed: int = 7) -> Problem:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(spread, mean / spread, size=shape))
    return Problem(Table.dense(Domain.of_shape(shape), counts), SmallCount())


def taken(problem: Problem, **given: object) -> dict[str, object]:
    return dict(ways.by_default(METHOD, problem, given, AgencyPolicy()))


@pytest.mark.parametrize(
    ("shape", "mean", "spread", "other"),
    [
        ((8, 8, 8), 3.0, 1.0, False),
        ((6, 6, 5, 4), 5.0, 50.0, False),
        ((10, 8, 2), 1.2, 0.5, True),
        ((2, 6, 20, 5), 3.0, 0.36, True),
        ((40, 40), 3.0, 0.36, False),
    ],
)
def test_exchange_steps_are_taken_where_cycles_would_not_pass(
    shape: tuple[int, ...], mean: float, spread: float, other: bool
) -> None:
    assert taken(of(shape, mean, spread)) == (EXCHANGE if other else {})


def test_tables_of_many_cells_are_not_tried() -> None:
    for shape in ((10, 10, 10, 21), (47, 47, 47)):
        assert taken(of(shape, 3.0, 0.36)) == EXCHANGE


def test_the_choice_is_that_of_whatever_is_released() -> None:
    problem = of((5, 4, 3, 4), 2.0, 0.4)
    done = gate.protect(METHOD, problem, {}, Randomness.seeded(3))
    assert isinstance(likelihood_of(done.release), ExchangeSteps)
    assert done.verdict.passed and done.verdict.known == 0
    assert taken(Problem(done.release.table, SmallCount())) == EXCHANGE
    # A table with the same sums, and cells of one's own making.
    for draw in range(3):
        other = METHOD.run(problem, EXCHANGE, Randomness.seeded(draw)).release.table
        assert other != problem.table and taken(Problem(other, SmallCount())) == EXCHANGE


def test_it_looks_at_the_sums_that_both_keep_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = of((5, 4, 3, 4), 2.0, 0.4)
    seen = []
    monkeypatch.setattr(
        ways, "_would_pass", lambda *given: seen.append((given[2].sums, given[2].expected)) or False
    )
    taken(problem)
    taken(Problem(METHOD.run(problem, EXCHANGE, Randomness.seeded(1)).release.table, SmallCount()))
    (sums, expected), (same, as_expected) = seen
    assert np.array_equal(sums, same) and np.array_equal(expected, as_expected)


def test_whoever_asks_for_anything_gets_that() -> None:
    problem = of((2, 6, 20, 5), 3.0, 0.36)
    for given in ({"alpha": 0.3}, {"blocking": "negative"}, {"keep": "A + B"}, {"passes": 2}):
        assert taken(problem, **given) == given
    assert taken(problem, alpha=None) == {"alpha": None, **EXCHANGE}


def test_it_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = of((5, 4, 3, 4), 2.0, 0.4)
    first = taken(problem)
    monkeypatch.setattr(ways, "_would_pass", lambda *given: pytest.fail("tried again"))
    assert taken(Problem(problem.table, SmallCount())) == first
    assert any(isinstance(one, weakref.ref) for one, *_ in ways._RECENT)
