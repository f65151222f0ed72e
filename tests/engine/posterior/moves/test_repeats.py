"""Cycles repeated in place are one coefficient of more values: the same posterior, as narrow."""

from __future__ import annotations

import numpy as np
import pytest
from brute_force import marginals, move_cells, posterior
from change_laws import distribution

from tabprotect.engine.cycles.cycle_files import build, state
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.cycles.graphs import elimination_cost, repeated
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.moves import infer_moves
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.moves.signature_model import group_model
from tabprotect.engine.posterior.prior import Factorial, Poisson, Prior, Uniform
from tabprotect.engine.release.likelihood import BlockingRule, MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def sequence(shape: tuple[int, ...], kind: str, times: int, rule: BlockingRule, passes: int = 1):  # type: ignore[no-untyped-def]
    domain = Domain.of_shape(shape)
    counts = np.random.default_rng(len(shape) + times).poisson(1.5, shape).astype(np.int64)
    moves = design(domain, kind, {"repeats": times})
    theta = 0.7 if rule == "reversible" else 0.0
    return MoveSequence(Table.dense(domain, counts), moves, 0.25, 0.25, passes, rule, theta)


@pytest.mark.parametrize("rule", ["any_zero", "negative", "none"])
@pytest.mark.parametrize(
    ("shape", "kind", "times", "passes"),
    [((2, 3), "bands", 3, 1), ((3, 3), "strips", 2, 1), ((2, 3), "elementary", 2, 2)],
)
@pytest.mark.parametrize("flat", [True, False])
def test_the_posterior_is_that_of_the_definition(
    shape: tuple[int, ...], kind: str, times: int, passes: int, rule: BlockingRule, flat: bool
) -> None:
    one = sequence(shape, kind, times, rule, passes)
    assert repeated(one.moves) == times
    mean = np.full(one.moves.domain.size, 1.5)
    prior: Prior = Uniform() if flat else Poisson(mean)
    found = infer(one, prior, Approach(way="exact"))
    oracle = posterior(
        tuple(one.published.counts.reshape(-1).tolist()),
        move_cells([one.moves.array(i) for i in range(len(one.moves))]),
        alpha=0.25,
        beta=0.25,
        passes=passes,
        rule=rule,
        weight=lambda cell, count: float(np.exp(prior.log_weight(cell, np.array([count]))[0])),
    )
    for cell, law in enumerate(marginals(oracle)):
        values, chances = found.distribution(found.domain.unflat(cell))
        told = dict(zip(values.tolist(), chances.tolist(), strict=True))
        for value in set(told) | set(law):
            assert told.get(value, 0.0) == pytest.approx(law.get(value, 0.0), abs=1e-12)


def test_the_reversible_rule_too() -> None:
    one = sequence((2, 3), "bands", 2, "reversible")
    for prior in (Uniform(), Factorial(0.7)):
        model = group_model(one, prior)
        exact = Elimination.of(model)
        wanted = distribution(model)
        assert exact is not None and exact.model.repeats == 2 and wanted is not None
        assert np.abs(exact.changes() - wanted).max() < 1e-12


def test_the_width_stays_and_draws_follow() -> None:
    domain = Domain.of_shape((10, 10))
    once = elimination_cost(design(domain, "strips", {"height": 3}))
    twice = elimination_cost(design(domain, "strips", {"height": 3, "repeats": 2}))
    assert once is not None and twice is not None and once.width == twice.width
    one = sequence((4, 4), "strips", 2, "any_zero")
    found = infer(one)
    assert found.way == "exact"
    drawn = found.sample(4000, np.random.default_rng(1)).reshape(4000, -1)
    assert np.abs(drawn.mean(axis=0) - found.mean.reshape(-1)).max() < 0.1
    # No count moves by more than it is touched.
    plus, minus = one.moves.touches
    assert (np.abs(drawn - one.published.counts.reshape(-1)) <= plus + minus).all()


def test_a_mechanism_states_how_often() -> None:
    domain = Domain.of_shape((6, 5))
    moves = design(domain, "strips", {"height": 3, "repeats": 2})
    told = state(moves)["cycles"]
    assert isinstance(told, dict) and told["parameters"] == {"height": 3, "repeats": 2}
    assert build(told, domain) == moves and len(moves) == 2 * len(design(domain, "strips-3"))
    with pytest.raises(ParameterError, match="between 1 and"):
        design(domain, "strips", {"repeats": 0})


def test_what_is_not_repeated_throughout_is_not_joined() -> None:
    domain = Domain.of_shape((3, 3))
    moves = design(domain, "elementary")
    assert repeated(moves) == 1
    assert repeated(moves.take(np.array([0, 0, 1, 1, 1, 1]))) == 2
    assert repeated(moves.take(np.array([0, 0, 1]))) == 1
    assert repeated(moves.take(np.array([0, 1, 1]))) == 1


@pytest.mark.parametrize(
    ("rule", "times", "passes", "said"),
    [
        ("any_zero", 3, 2, "fewer passes, fewer repeats, lower strips, or the rule negative"),
        ("any_zero", 1, 1, "it takes lower strips, or the rule negative, which is drawn exactly"),
        ("none", 1, 1, "it takes lower strips"),
        ("negative", 1, 1, "draws originals exactly"),
    ],
)
def test_what_would_make_it_exact_is_said(rule: BlockingRule, times: int, passes: int, said: str) -> None:
    model = group_model(sequence((3, 3), "bands", times, rule, passes), Uniform())
    reason = infer_moves.drawn_because(model)
    assert said in reason and (rule != "none" or reason.endswith("strips"))
