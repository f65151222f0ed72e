"""Draws by the backward walk against the exact posterior, and the calibration of both."""

from __future__ import annotations

from dataclasses import replace

import cycle_steps_in_numpy
import numpy as np
import pytest

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.moves import sampling
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.moves.signature_model import Coin, GroupModel, group_model
from tabprotect.engine.posterior.prior import Poisson, Positive, Prior, Uniform
from tabprotect.engine.protection.cycle_runs.forward_walk import flip, walk_cycles
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import BlockingRule, MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

RULES: list[BlockingRule] = ["any_zero", "negative", "none"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["uniform", "poisson", "positive"])
@pytest.mark.parametrize(("alpha", "beta"), [(0.25, 0.25), (0.3, 0.15), (0.45, 0.45)])
def test_draws_agree_with_the_exact_posterior(
    rule: BlockingRule, kind: str, alpha: float, beta: float
) -> None:
    rng = np.random.default_rng(RULES.index(rule))
    moves = design(Domain.of_shape((4, 5)), "bands")
    counts = rng.poisson(2.0, (4, 5))
    if kind == "positive":
        counts = counts + 1
    priors: dict[str, Prior] = {
        "uniform": Uniform(),
        "poisson": Poisson(rng.gamma(4.0, 0.5, counts.size)),
        "positive": Positive(),
    }
    likelihood = MoveSequence(Table.dense(moves.domain, counts), moves, alpha, beta, 1, rule)
    exact = infer(likelihood, priors[kind], Approach(way="exact"))
    drawn = infer(
        likelihood, priors[kind], Approach(way="monte_carlo", draws=12_000), randomness=Randomness.seeded(1)
    )
    assert drawn.way == "monte_carlo" and drawn.error is not None
    assert drawn.standard_errors is not None and drawn.effective_sample_size is not None
    assert 0 < drawn.error < 0.06 and drawn.effective_sample_size > 200
    difference = np.abs(drawn.chances - exact.chances)
    assert difference.max() < 5.5 * drawn.error
    # The stated errors are the right size on the whole, not only not too small.
    ratio = np.sqrt((difference**2).sum() / (drawn.standard_errors**2).sum())
    assert 0.3 < ratio < 2.0


def test_symmetric_draws_are_independent_and_exact() -> None:
    rng = np.random.default_rng(5)
    moves = design(Domain.of_shape((20, 20)), "elementary")
    counts = rng.poisson(2.0, (20, 20))
    likelihood = MoveSequence(Table.dense(moves.domain, counts), moves, 0.25, 0.25, 2, "negative")
    drawn = infer(likelihood, approach=Approach(draws=2000), randomness=Randomness.seeded(2))
    assert drawn.way == "monte_carlo" and "overlap" in drawn.reason
    assert drawn.effective_sample_size == drawn.draws == 2000
    # The law of the reversed mechanism, run forwards.
    state = np.repeat(counts.reshape(-1, 1), 2000, axis=1)
    backwards = moves.take(range(len(moves))[::-1])
    coins = flip(rng, (2, len(moves), 2000), alpha=0.25, beta=0.25)
    walk_cycles(state, backwards, coins, "negative")
    spread = state.std(axis=1) / np.sqrt(2000)
    z = (state.mean(axis=1) - drawn.mean.reshape(-1)) / np.maximum(spread * np.sqrt(2), 1e-9)
    assert np.abs(z).max() < 5 and 0.8 < z.std() < 1.2


def test_large_counts_make_components_independent() -> None:
    rng = np.random.default_rng(6)
    moves = design(Domain.of_shape((12, 12)), "elementary")
    likelihood = MoveSequence(
        Table.dense(moves.domain, rng.integers(50, 90, (12, 12))), moves, 0.3, 0.1, 1, "any_zero"
    )
    drawn = infer(likelihood, approach=Approach(draws=20_000), randomness=Randomness.seeded(3))
    # Four touches, two with each sign, never blocked: the change is a sum of four coins.
    one = np.array([0.3, 0.6, 0.1])
    law = np.convolve(np.convolve(one, one), np.convolve(one[::-1], one[::-1]))
    assert np.abs(drawn.chances[:-1] - law).max() < 6 * np.sqrt(0.25 / 20_000)
    assert drawn.mode_is_published


def test_whole_tables_keep_the_margins() -> None:
    rng = np.random.default_rng(7)
    moves = design(Domain.of_shape((8, 8)), "elementary")
    counts = rng.poisson(3.0, (8, 8))
    likelihood = MoveSequence(Table.dense(moves.domain, counts), moves, 0.25, 0.25, 1, "any_zero")
    drawn = infer(likelihood, approach=Approach(draws=2000), randomness=Randomness.seeded(4))
    tables = drawn.sample(50, rng)
    assert tables.shape == (50, 8, 8) and (tables >= 0).all()
    assert (tables.sum(axis=1) == counts.sum(axis=0)).all()
    assert (tables.sum(axis=2) == counts.sum(axis=1)).all()
    assert len(np.unique(tables.reshape(50, -1), axis=0)) > 10
    # A published zero may have been positive, a positive count was never zero.
    assert (tables[:, counts > 0] > 0).all() and (tables[:, counts == 0] > 0).any()


def test_no_draw_fits() -> None:
    moves = design(Domain.of_shape((3, 3)), "elementary")
    likelihood = MoveSequence(Table.dense(moves.domain, np.eye(3)), moves, 0.25, 0.25, 1, "any_zero")
    with pytest.raises(InfeasibleError):
        infer(likelihood, Positive(), Approach(way="monte_carlo", draws=200), randomness=Randomness.seeded(1))


CELLS = 6
MEANS = np.array([0.8, 1.5, 2.5, 1.2, 0.6, 2.0])
MOVES = design(Domain.of_shape((2, 3)), "elementary")


def side_by_side(tables: np.ndarray, rule: BlockingRule) -> MoveSequence:
    """Releases (number, cells) as one, each with the cycles of its own."""
    number = len(tables)
    domain = Domain.of_shape((number, 2, 3))
    at = np.arange(number)[:, None]
    cells = (at * CELLS + MOVES.cells).reshape(-1)
    starts = np.append(at * len(MOVES.cells) + MOVES.starts[:-1], len(cells))
    moves = MoveSet(domain, starts, cells, np.tile(MOVES.signs, number), ())
    published = Table.dense(domain, tables.reshape(domain.shape))
    return MoveSequence(published, moves, 0.35, 0.15, 2, rule)


def chances_of_one(model: GroupModel, published: np.ndarray) -> np.ndarray:
    """P(true count = 1) of every cell."""
    exact = Elimination.of(model)
    assert exact is not None
    changes = exact.changes()[model.signatures.group_of_cell]
    at = 1 - published + model.span
    inside = (at >= 0) & (at < changes.shape[1])
    return np.where(inside, changes[np.arange(len(at)), np.where(inside, at, 0)], 0.0)


def worst_z(
    rule: BlockingRule, runs: int, *, wrong_coin: Coin | None = None, scale: float = 1.0
) -> tuple[float, float]:
    """Calibration of P(true = 1): the largest |z| by cell and published value, and by value alone.

    Of the cells of one run that have a value in common, the spread is that of their sum.
    """
    rng = np.random.default_rng(11)
    means = scale * MEANS
    originals = rng.poisson(means[:, None], (CELLS, runs)).astype(np.int64)
    published = originals.copy()
    coins = flip(rng, (2, len(MOVES), runs), alpha=0.35, beta=0.15)
    walk_cycles(published, MOVES, coins, rule)
    tables, which = np.unique(published.T, axis=0, return_inverse=True)
    which = which.reshape(-1)
    hits = np.zeros((CELLS, 8))
    expected, variance, square = hits.copy(), hits.copy(), np.zeros(8)
    model = group_model(side_by_side(tables, rule), Poisson(np.tile(means, len(tables))))
    if wrong_coin is not None:
        model = replace(model, coin=wrong_coin)
    chances = chances_of_one(model, tables.reshape(-1)).reshape(tables.shape)
    for number, (table, chance) in enumerate(zip(tables, chances, strict=True)):
        here = originals[:, which == number]
        for cell in range(CELLS):
            value = int(table[cell])
            if 0 <= value < 8:
                hits[cell, value] += (here[cell] == 1).sum()
                expected[cell, value] += here.shape[1] * chance[cell]
                variance[cell, value] += here.shape[1] * chance[cell] * (1 - chance[cell])
        for value in set(table[table < 8].tolist()):
            alike = table == value
            rest = (here[alike] == 1).sum(axis=0) - chance[alike].sum()
            square[value] += float(rest @ rest)
    enough = variance > 5
    z = (hits - expected)[enough] / np.sqrt(variance[enough])
    together = variance.sum(axis=0) > 5
    by_value = (hits - expected).sum(axis=0)[together] / np.sqrt(square[together])
    assert enough.sum() >= 12 and together.sum() >= 3
    return float(np.abs(z).max()), float(np.abs(by_value).max())


@pytest.mark.parametrize("rule", RULES)
def test_calibrated_by_simulation(rule: BlockingRule) -> None:
    """Originals from the prior, through the forward mechanism: beliefs come true as often."""
    assert max(worst_z(rule, 1000)) < 4.2


@pytest.mark.parametrize(("rule", "runs", "scale"), [("any_zero", 500, 1.0), ("negative", 3600, 0.5)])
def test_calibration_finds_a_planted_fault(rule: BlockingRule, runs: int, scale: float) -> None:
    """Forgetting the blocked coins (the rule ``none``'s factor, or a wrong gamma) shows."""

    class Forgetful(Coin):
        def masses(self, low_plus, low_minus):  # type: ignore[no-untyped-def]
            undo_minus, leave, undo_plus = super().masses(low_plus, low_minus)
            return undo_minus, np.full_like(leave, self.gamma), undo_plus

    forgetful = Forgetful(0.35, 0.15, 0.5, rule)
    assert worst_z(rule, runs, wrong_coin=forgetful, scale=scale)[1] > 5.0


def test_particles_are_resampled_in_proportion() -> None:
    """An estimate that ignored its weights would be far from the truth."""
    moves = design(Domain.of_shape((4, 4)), "bands")
    counts = np.array([[1, 1, 2, 1], [2, 1, 1, 1], [1, 2, 1, 3], [0, 1, 1, 1]])
    likelihood = MoveSequence(Table.dense(moves.domain, counts), moves, 0.4, 0.4, 1, "any_zero")
    model = group_model(likelihood, Uniform())
    exact = infer(likelihood, approach=Approach(way="exact")).chances[:-1]
    walk_ = sampling.BackwardWalk(model)
    generator = np.random.default_rng(8)
    parts = [walk_.population(2000, generator, lambda fraction: None) for _ in range(20)]
    changes = np.concatenate(parts, axis=1)
    seen = np.stack([(changes == c).mean(axis=1) for c in range(-model.span, model.span + 1)], 1)
    assert np.abs(seen - exact).max() < 0.025


@pytest.mark.parametrize("passes", [1, 2])
def test_the_compiled_walk_draws_the_same(passes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Large counts never block: what happens to them is added up in the end.
    counts = np.random.default_rng(1).poisson(1.2, (5, 4, 3)) + 50 * (np.indices((5, 4, 3))[0] < 2)
    domain = Domain.of_shape(counts.shape)
    moves = design(domain, "elementary")
    one = MoveSequence(Table.dense(domain, counts), moves, 0.3, 0.3, passes, "negative")
    walk_ = sampling.BackwardWalk(group_model(one, Uniform()))
    assert not walk_.model.relevant.all()

    def both() -> tuple[np.ndarray, np.ndarray]:
        # More draws than are worked on together, and no whole number of such parts.
        found = sampling.estimate(walk_, draws=3_000, generator=np.random.default_rng(6))
        return sampling.draw(walk_, 700, np.random.default_rng(5)), found.changes

    compiled, chances = both()
    monkeypatch.setattr(sampling, "cycle_steps", cycle_steps_in_numpy)
    drawn, again = both()
    assert np.array_equal(drawn, compiled)
    assert np.array_equal(again, chances)
    assert compiled.any()
