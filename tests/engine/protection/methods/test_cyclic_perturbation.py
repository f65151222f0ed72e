"""The mechanism: exactly the stated one, margins kept, refused where it would not protect."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from move_cases import moves_of

from tabprotect.engine.cycles.designs import bidiagonal, design, elementary
from tabprotect.engine.errors import InputError, Interrupted, ParameterError
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.protection.cycle_runs.forward_walk import flip, walk_cycles
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import BlockingRule
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "cyclic.json").read_text())
METHOD = methods()["cyclic_perturbation"]
RULES: list[BlockingRule] = ["any_zero", "negative", "none"]


def plain_walk(counts: np.ndarray, moves: MoveSet, coins: np.ndarray, rule: BlockingRule) -> np.ndarray:
    """The mechanism as METHODS states it, one step at a time."""
    table = counts.astype(int).copy()
    for coin_pass in coins:
        for i, coin in enumerate(coin_pass):
            move = moves.array(i).astype(int)
            if rule == "any_zero" and (table[move != 0] == 0).any():
                continue
            after = table + coin * move
            if rule == "negative" and (after < 0).any():
                continue
            table = after
    return table


@settings(max_examples=75, deadline=None)
@given(
    shape=st.sampled_from([(2, 2), (3, 4), (5, 3), (2, 3, 2), (2, 2, 2, 2)]),
    kind=st.sampled_from(["balanced", "strips", "bands", "elementary"]),
    rule=st.sampled_from(RULES),
    passes=st.integers(1, 3),
    seed=st.integers(0, 2**32),
)
def test_walk_is_the_sequential_mechanism(
    shape: tuple[int, ...], kind: str, rule: BlockingRule, passes: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    counts = generator.poisson(1.5, shape)
    moves = design(Domain.of_shape(shape), kind)
    coins = flip(generator, (passes, len(moves)), alpha=0.4, beta=0.3)
    state = counts.reshape(-1).astype(np.int64)
    effective, blocked = walk_cycles(state, moves, coins, rule)
    assert np.array_equal(state.reshape(shape), plain_walk(counts, moves, coins, rule))
    assert ((effective == coins) | (effective == 0)).all()
    assert ((effective == 0) | ~blocked).all()
    several = np.repeat(counts.reshape(-1, 1), 3, axis=1).astype(np.int64)
    walk_cycles(several, moves, np.repeat(coins[..., None], 3, axis=2), rule)
    assert (several == state[:, None]).all()


@settings(max_examples=35, deadline=None)
@given(
    cells=st.lists(st.integers(0, 9), min_size=24, max_size=24),
    alpha=st.floats(0.05, 0.5),
    beta=st.floats(0.0, 0.5),
    passes=st.integers(1, 4),
    rule=st.sampled_from(RULES[:2]),
    seed=st.integers(0, 2**64),
)
def test_guarantees(cells: list[int], alpha: float, beta: float, passes: int, rule: str, seed: int) -> None:
    table = Table.dense(Domain.of_shape((4, 3, 2)), np.array(cells).reshape(4, 3, 2))
    given_ = {"alpha": alpha, "beta": beta, "passes": passes, "blocking": rule}
    done = METHOD.run(Problem(table), given_, Randomness.seeded(seed))
    published = done.release.table
    for margin in all_margins(table.domain):
        assert published.margin(margin) == table.margin(margin)
    assert not published.has_negative
    if rule == "any_zero":
        assert (published.counts[table.counts == 0] == 0).all()
        assert (table.counts[published.counts > 0] > 0).all()
    again = METHOD.run(Problem(table), given_, Randomness.seeded(seed))
    assert again.release.table == published


def test_coins_follow_the_stated_convention() -> None:
    generator = np.random.default_rng(5)
    u = np.random.default_rng(5).random((2, 1000))
    coins = flip(generator, (2, 1000), alpha=0.3, beta=0.2)
    assert np.array_equal(coins == 1, u < 0.3)
    assert np.array_equal(coins == -1, (u >= 0.3) & (u < 0.5))


def test_operating_system_entropy_by_default_and_hidden_in_repr() -> None:
    seeds = {Randomness.fresh().seed for _ in range(50)}
    assert len(seeds) == 50
    assert max(s.bit_length() for s in seeds) > 100
    one = Randomness.seeded(123456789)
    assert "123456789" not in repr(one)


def test_unbiased_under_any_zero() -> None:
    # A martingale when alpha = beta: the mean of many runs is the original, within 4.5 sigma.
    table = np.array([[3, 1, 0], [2, 5, 1], [1, 1, 4]])
    moves = elementary(Domain.of_shape((3, 3)))
    runs = 40_000
    coins = flip(np.random.default_rng(1), (2, len(moves), runs), alpha=0.3, beta=0.3)
    state = np.repeat(table.reshape(-1, 1), runs, axis=1)
    walk_cycles(state, moves, coins, "any_zero")
    mean, error = state.mean(axis=1), state.std(axis=1) / np.sqrt(runs)
    assert (np.abs(mean - table.reshape(-1)) <= 4.5 * error + 1e-12).all()


@pytest.mark.parametrize("key", sorted(REFERENCE["lenz"]["values"]))
def test_lenz_change_of_a_cell_without_blocking(key: str) -> None:
    fields = dict(f.split("=") for f in key.split("|"))
    alpha, beta = (float(np.divide(*map(int, fields[k].split("/")))) for k in ("alpha", "beta"))
    passes = int(fields["r"])
    expected = REFERENCE["lenz"]["values"][key]
    moves = bidiagonal(Domain.of_shape((4, 4)))
    runs = 60_000
    coins = flip(np.random.default_rng(3), (passes, 4, runs), alpha=alpha, beta=beta)
    state = np.full((16, runs), 1000, dtype=np.int64)
    walk_cycles(state, moves, coins, "any_zero")
    for change, (_, probability) in expected["pmf"].items():
        seen = (state[0] == 1000 + int(change)).mean()
        assert seen == pytest.approx(probability, abs=4.5 * np.sqrt(probability * (1 - probability) / runs))


@pytest.mark.parametrize("rule", ["any", "neg"])
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("name", ["DR4x4", "sparse10x10", "mid8x12"])
def test_preview_agrees_with_the_reference_simulations(name: str, passes: int, rule: str) -> None:
    expected = REFERENCE["measured_variants"]["results"][f"{name}|fixed|{rule}|alpha=0.250|passes={passes}"]
    counts = np.array(REFERENCE["measured_variants"]["tables"][name])
    table = Table.dense(Domain.of_shape(counts.shape), counts)
    preview = METHOD.preview(
        Problem(table),
        {"cycles": "bidiagonal", "passes": passes, "blocking": {"any": "any_zero", "neg": "negative"}[rule]},
    )
    assert preview.unchanged_share == pytest.approx(expected["p_small_unchanged"], abs=0.03)
    assert preview.mean_absolute_deviation == pytest.approx(expected["mean_abs_dev"], abs=0.08)
    assert preview.blocked_share == pytest.approx(expected["blocked_fraction"], abs=0.02)
    assert sum(preview.change.values()) == pytest.approx(1.0)
    assert preview.change[0] == pytest.approx(preview.unchanged_share)


def sparse_problem() -> Problem:
    counts = np.array(REFERENCE["measured_variants"]["tables"]["sparse10x10"])
    return Problem(Table.dense(Domain.of_shape((10, 10)), counts))


def test_a_table_without_small_counts_is_judged_by_its_positive_cells() -> None:
    table = Table.dense(Domain.of_shape((3, 3)), np.full((3, 3), 50))
    preview = METHOD.preview(Problem(table), {})
    assert (preview.at_risk_cells, preview.judged_cells) == (0, 9)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"alpha": 0.7, "beta": 0.7}, "more than 1"),
        ({"alpha": -0.1}, "between 0 and 1"),
        ({"alpha": "much"}, "must be a number"),
        ({"alpha": float("nan")}, "finite"),
        ({"alpha": 0, "beta": 0}, "nothing would ever move"),
        ({"passes": 1.5}, "whole number"),
        ({"passes": 0}, "between 1 and 100"),
        ({"blocking": "sometimes"}, "one of any_zero, negative, reversible, exchange, none"),
        ({"gamma": 0.5}, "unknown"),
    ],
)
def test_bad_parameters(given_: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        METHOD.resolve(Domain.of_shape((3, 3)), given_)
    assert caught.value.exit_code == 4


def test_every_wrong_parameter_is_reported_at_once() -> None:
    with pytest.raises(ParameterError) as caught:
        METHOD.resolve(Domain.of_shape((3, 3)), {"alpha": 2, "passes": -1, "speed": 1})
    assert set(caught.value.fields) == {"alpha", "passes", "speed"}


def test_cycles_that_break_a_margin_are_refused() -> None:
    domain = Domain.of_shape((2, 2))
    broken = moves_of(domain, [([(0, 0), (1, 1)], [(0, 1)])])
    problem = Problem(Table.dense(domain, [[5, 5], [5, 5]]))
    with pytest.raises(InputError, match="changes the margin"):
        METHOD.run(problem, {"cycles": broken}, Randomness.fresh())


def test_overflow_is_refused() -> None:
    big = 2**63 - 2
    problem = Problem(Table.dense(Domain.of_shape((2, 2)), [[big, 0], [0, 0]]))
    with pytest.raises(InputError, match="too large"):
        METHOD.run(problem, {"passes": 9}, Randomness.fresh())


def test_negative_original_is_refused() -> None:
    with pytest.raises(InputError, match="negative"):
        Problem(Table.dense(Domain.of_shape((2, 2)), [[1, -1], [0, 0]]))


def test_cancel() -> None:
    progress = Cancellable()
    progress.cancel()
    with pytest.raises(Interrupted):
        METHOD.run(sparse_problem(), {}, Randomness.fresh(), progress=progress)


def test_likelihood_sees_only_what_is_disclosed() -> None:
    table = Table.dense(Domain.of_shape((4, 4)), np.full((4, 4), 6))
    done = METHOD.run(Problem(table), {"passes": 2}, Randomness.seeded(11))
    likelihood = METHOD.likelihood(done.release)
    assert (likelihood.alpha, likelihood.beta, likelihood.passes) == (0.25, 0.25, 2)
    assert likelihood.published == done.release.table
    text = done.release.mechanism.to_text()
    assert set(json.loads(text)) == {
        "method", "variables", "shape", "cycles", "alpha", "beta", "passes", "blocking",
        "order", "n_cover", "coins",
    }  # fmt: skip


def test_margins_other_than_the_default_are_verified_too() -> None:
    domain = Domain.of_shape((2, 2))
    # Keeps B and the total, but not A.
    moves = moves_of(domain, [([(0, 0)], [(1, 0)])], margins=(("B",),))
    assert METHOD.resolve(domain, {"cycles": moves})["cycles"] == moves
    with pytest.raises(InputError, match="changes the margin A"):
        METHOD.resolve(domain, {"cycles": moves.keeping((("A",),))})


def test_gamma_is_zero_when_alpha_and_beta_fill_it() -> None:
    table = Table.dense(Domain.of_shape((2, 2)), [[5, 5], [5, 5]])
    for alpha, beta in ((0.7, 0.3), (0.3, 0.7), (0.1, 0.9)):
        done = METHOD.run(
            Problem(table), {"cycles": "elementary", "alpha": alpha, "beta": beta}, Randomness.seeded(1)
        )
        assert METHOD.likelihood(done.release).gamma == 0.0
