"""Cells that cannot block are dropped: the posterior stays the same, to rounding."""

from __future__ import annotations

import numpy as np
import pytest
from change_laws import distribution

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.moves.elimination import Elimination, EliminationPlan, _planned
from tabprotect.engine.posterior.moves.signature_model import group_model
from tabprotect.engine.posterior.moves.thinning import Thinned
from tabprotect.engine.posterior.prior import Positive, Uniform
from tabprotect.engine.progress import SILENT
from tabprotect.engine.release.likelihood import BlockingRule, MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def likelihood(
    shape: tuple[int, int], mean: float, kind: str, rule: BlockingRule, seed: int, passes: int = 1
) -> MoveSequence:
    domain = Domain.of_shape(shape)
    counts = np.random.default_rng(seed).poisson(mean, shape).astype(np.int64)
    return MoveSequence(Table.dense(domain, counts), design(domain, kind), 0.25, 0.3, passes, rule)


def thinned_changes(one: MoveSequence) -> tuple[np.ndarray, Thinned]:
    thinned = Thinned.of(group_model(one, Uniform()))
    assert thinned is not None
    exact = Elimination.of(thinned.model)
    assert exact is not None and exact.thinned is None
    return thinned.changes(exact.changes()), thinned


@pytest.mark.parametrize("rule", ["any_zero", "negative"])
@pytest.mark.parametrize("seed", range(4))
def test_equal_to_the_full_posterior(rule: BlockingRule, seed: int) -> None:
    one = likelihood((4, 5), 5, "bands", rule, seed)
    full = Elimination.of(group_model(one, Uniform()))
    assert full is not None and full.thinned is None
    found, thinned = thinned_changes(one)
    assert thinned.dropped > 0
    assert np.abs(found - full.changes()).max() < 1e-12


def test_equal_to_brute_force_with_two_passes() -> None:
    one = likelihood((2, 4), 4, "bands", "any_zero", 1, passes=2)
    wanted = distribution(group_model(one, Uniform()))
    assert wanted is not None
    assert np.abs(thinned_changes(one)[0] - wanted).max() < 1e-12


def test_draws_follow_the_distribution() -> None:
    one = likelihood((4, 5), 5, "bands", "any_zero", 2)
    found, thinned = thinned_changes(one)
    exact = Elimination.of(thinned.model)
    assert exact is not None
    drawn = thinned.draws(exact.draw(4000, np.random.default_rng(1), SILENT))
    for group in range(len(found)):
        share = np.bincount(drawn[:, group] + thinned.model.span, minlength=found.shape[1])
        assert np.abs(share / 4000 - found[group]).max() < 0.05


def test_a_dense_table_at_full_rank_is_exact() -> None:
    one = likelihood((20, 20), 27, "elementary", "any_zero", 3)
    found = infer(one)
    assert found.way == "exact" and "exact for this release" in found.reason


def test_a_prior_that_weighs_keeps_every_cell() -> None:
    one = likelihood((4, 5), 9, "bands", "any_zero", 3)
    assert Thinned.of(group_model(one, Positive())) is None


def test_draws_of_the_reversed_mechanism_are_called_exact() -> None:
    domain = Domain.of_shape((10, 10))
    counts = np.random.default_rng(1).poisson(4, (10, 10)).astype(np.int64)
    moves = design(domain, "elementary")
    for rule, independent in (("negative", True), ("any_zero", False)):
        one = MoveSequence(Table.dense(domain, counts), moves, 0.25, 0.25, 1, rule)
        found = infer(one, approach=Approach(draws=400))
        assert (found.way, found.independent) == ("monte_carlo", independent)
        assert ("exactly" in found.reason) == (rule == "negative") or "negative" in found.reason


def test_a_plan_is_kept_for_the_same_pattern_and_no_other() -> None:
    def plans(seed: int, passes: int) -> list[EliminationPlan]:
        one = likelihood((2, 4), 4, "bands", "any_zero", seed, passes)
        exact = Elimination.of(group_model(one, Uniform()))
        assert exact is not None
        return [tree for tree in map(exact.tree, exact.plans) if tree is not None]

    (one,), (other,), (twice,) = plans(1, 1), plans(2, 1), plans(1, 2)
    assert one.axes is other.axes and one.factors is other.factors
    assert len(twice.axes) == 2 * len(one.axes)
    fresh = _planned(one.structure, 1, 3, SILENT)
    assert fresh is not None and (fresh.axes, fresh.factors) == (one.axes, one.factors)
