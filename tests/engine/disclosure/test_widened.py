"""Bounds of what happened before a release, against exact figures of listed originals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.disclosure.widened import may_fail
from tabprotect.engine.posterior.widening import NOT_WIDENED, Widening
from tabprotect.engine.release.limits import ROUNDING, Limits

VALUES = (1, 2)


def beliefs_of(tables: Ints, weights: Floats) -> Floats:
    """P(value) of every cell, (values, cells)."""
    return np.stack([weights @ (tables == value) for value in VALUES]) / weights.sum()


def figures(beliefs: Floats, limits: Limits) -> tuple[int, float, float]:
    """What is known, expected at risk, and the mean belief."""
    expected = float(beliefs.sum())
    mean = float((beliefs**2).sum()) / expected if expected else 0.0
    return int((beliefs.max(axis=0) > limits.belief_limit).sum()), expected, mean


@pytest.mark.parametrize("seed", range(10))
def test_the_bounds_are_never_below_the_exact_figures(seed: int) -> None:
    """A hundred sets of originals each, all but certain weights and extreme ones among them."""
    rng = np.random.default_rng(seed)
    reached = 0.0
    for _ in range(100):
        number = int(rng.integers(2, 40))
        tables = rng.poisson(rng.uniform(0.5, 3.0), (number, int(rng.integers(2, 9))))
        plain = rng.dirichlet(np.full(number, rng.uniform(0.1, 2.0)))
        least = float(rng.choice([0.0, 0.1, 1 / 3, 0.5]))
        chance = rng.random(number) if rng.random() < 0.5 else (rng.random(number) < 0.6).astype(float)
        chance = least + (1.0 - least) * chance
        share = float(plain @ chance)
        if share < 1e-9:
            continue
        before, after = beliefs_of(tables, plain), beliefs_of(tables, plain * chance)
        for known in (share, share * rng.random(), 0.0):
            if max(known, least) == 0.0:
                continue
            bound = Widening(least, known)
            low, high = bound.ends(before)
            assert (low <= after + 1e-12).all() and (after <= high + 1e-12).all()
            limits = Limits(mean_belief_limit=0.6, belief_limit=0.8)
            surely, expected, mean = figures(after, limits)
            assert surely <= (bound.ends(before.max(axis=0))[1] > limits.belief_limit).sum()
            assert bound.ends(before.sum(axis=0))[0].sum() <= expected + 1e-9
            assert mean <= bound.mean_belief(before) + 1e-9
            reached = max(reached, mean / max(bound.mean_belief(before), 1e-9))
            broken = surely > limits.share * expected or mean > limits.mean_belief_limit + ROUNDING
            assert may_fail(before, bound, limits) or not broken
    assert reached > 0.9


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8), st.floats(0.05, 1.0), st.floats(0.0, 1.0))
def test_the_mean_is_the_highest_of_all_ends(chances: list[float], least: float, share: float) -> None:
    beliefs, bound = np.array(chances), Widening(least, share)
    low, high = bound.ends(beliefs)
    best = 0.0
    for number in range(2 ** len(chances)):
        at = np.where([(number >> k) & 1 for k in range(len(chances))], high, low)
        if at.sum() > 1e-9:
            best = max(best, float((at**2).sum() / at.sum()))
    assert bound.mean_belief(beliefs) == pytest.approx(best, abs=1e-9)


def test_a_single_belief_above_the_limit_of_the_mean_is_no_matter() -> None:
    """A belief of .8 with refusals that are certain from every original, the mean being below 2/3."""
    beliefs = np.array([[0.8, 0.3, 0.3, 0.2], [0.1, 0.3, 0.2, 0.2]])
    assert not may_fail(beliefs, Widening(0.0, 1.0), Limits())
    assert not may_fail(beliefs, NOT_WIDENED, Limits())
    assert may_fail(beliefs, Widening(0.0, 0.5), Limits())
    assert Widening(0.5, 0.0).larger == 2.0


def test_what_is_known_of_both_holds_for_both() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        plain = rng.dirichlet(np.ones(12))
        one, other = 0.5 + rng.random(12) / 2, 0.25 + rng.random(12) * 0.75
        both = Widening(0.5, float(plain @ one)).beside(Widening(0.25, float(plain @ other)))
        assert both.least == 0.125 and both.share <= float(plain @ (one * other)) + 1e-12
