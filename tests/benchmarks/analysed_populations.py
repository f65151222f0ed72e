"""Populations whose tables are released and analysed: what is true of them, and every analysis of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.association import LEAST_MEAN, Association
from tabprotect.engine.belief.log_odds import log_odds, of_table
from tabprotect.engine.belief.model_fit import ModelReading, fit_releases
from tabprotect.engine.belief.rates import Ratio, pairs, rate
from tabprotect.engine.posterior.independence import ModelTest, independence_model
from tabprotect.engine.posterior.log_linear import LogLinear, Pooled
from tabprotect.engine.posterior.prior import Poisson
from tabprotect.engine.posterior.strength import Strength
from tabprotect.engine.tables.domain import Domain

CELLS = {(2, 2, 6): "A:B:C", (4, 5): "A:B"}
"""Noise is asked for in the cells; rounding and Laplace noise publish the total as well, no other sum."""

KEPT = {(2, 2, 6): {"keep": "A:C + B:C"}, (4, 5): {}}
"""Cycles leave the association of A and B open."""

METHODS: dict[str, Callable[[tuple[int, ...]], dict[str, object]]] = {
    "random_rounding": lambda shape: {"margins": CELLS[shape]},
    "cell_key": lambda shape: {"margins": f"{CELLS[shape]} - 1", "D": 3, "V": 2.0, "js": 1},
    "discrete_laplace": lambda shape: {"margins": CELLS[shape], "epsilon": 2.0},
    "cyclic_perturbation": lambda shape: KEPT[shape],
    "suppression": lambda shape: {},
}
"""Cheapest first."""

SHAPES = ((2, 2, 6), (4, 5))
MEANS = (4, 2, 8)

Interval = tuple[float, float]


def associated(shape: tuple[int, ...]) -> Floats:
    """Shares with one log odds ratio for A and B and uneven margins."""
    first, second = np.meshgrid(np.arange(shape[0]), np.arange(shape[1]), indexing="ij")
    beta = 1.0 if shape[:2] == (2, 2) else 0.25
    away = (first - (shape[0] - 1) / 2) * (second - (shape[1] - 1) / 2)
    log = beta * away - 0.15 * first + 0.1 * second
    if len(shape) == 3:
        third = np.arange(shape[2])
        log = log[..., None] + 0.3 * np.sin(third) + 0.1 * first[..., None] * np.cos(third)
    return np.asarray(np.exp(log) / np.exp(log).sum())


def independent(shape: tuple[int, ...]) -> Floats:
    """Shares without any association."""
    shares = np.ones(shape)
    for axis, size in enumerate(shape):
        at = np.exp(0.25 * np.arange(size))
        shares = shares * at.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return np.asarray(shares / shares.sum())


def strong(shape: tuple[int, ...]) -> Floats:
    """Shares with so strong an association that half of the cells are nearly empty."""
    first, second = np.meshgrid(np.arange(shape[0]), np.arange(shape[1]), indexing="ij")
    away = (first - (shape[0] - 1) / 2) * (second - (shape[1] - 1) / 2)
    shares = np.exp(away)
    return np.asarray(shares / shares.sum())


def _first_odds(shares: Floats) -> float:
    return float(np.log(shares[0, 0] * shares[1, 1] / shares[0, 1] / shares[1, 0]).flat[0])


FORMULAS = {3: "A*B + A*C + B*C", 2: "A*B"}
RATIO = Ratio.parse("A=a1 | B=b1, b2")
ONE = Ratio.parse("A=a1 | B=b1")


def _rates_of(shares: Floats) -> Floats:
    both = shares.reshape(*shares.shape[:2], -1).sum(axis=2)
    return np.asarray(both[0] / both.sum(axis=0))


def _rate_of(shares: Floats) -> float:
    first, second = _rates_of(shares)[:2]
    return float(first - second)


def _model(reading: ModelReading) -> Interval:
    domain = reading.found.domain
    return fit_releases(reading, LogLinear.of(domain, FORMULAS[domain.ndim])).interval(0)


def _model_known(domain: Domain, counts: Ints) -> Interval:
    model = LogLinear.of(domain, FORMULAS[domain.ndim])
    table = np.asarray(np.maximum(counts, 0)[None] + model.smoothing, dtype=np.float64)
    found = model.log_odds_ratios(model.fit(table))
    low, high = Pooled.mixed(*(np.repeat(one, 2, axis=0) for one in found))[:, 0]
    return float(low), float(high)


def _odds_known(domain: Domain, counts: Ints) -> Interval:
    low, _, high = of_table(counts, Association.of(domain, ("A", "B")), 0.95)
    return low, high


def _rate_known(ratio: Ratio, domain: Domain, counts: Ints) -> Interval:
    tables = np.repeat(np.maximum(counts, 0)[None], 4_000, axis=0)
    drawn = ratio.drawn(domain, tables, np.random.default_rng(1))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _ends(found: Interval | None) -> Interval:
    if found is None:
        raise ArithmeticError("too few draws")
    return found


def _kept(p: float) -> Interval:
    """A model that is not rejected at .05 covers its one value."""
    return (0.0, 2.0) if p >= 0.05 else (2.0, 3.0)


def _test(reading: ModelReading) -> Interval:
    found = reading.tested(independence_model(reading.found.domain))
    if found is None:
        raise ArithmeticError("too few draws")
    return _kept(found.p)


def _test_known(domain: Domain, counts: Ints) -> Interval:
    return _kept(ModelTest.of_table(independence_model(domain), counts).p)


def _around_odds(reading: ModelReading) -> tuple[Floats, Floats]:
    """The design of the association, and the step of its log odds ratio."""
    model = Association.of(reading.found.domain, ("A", "B"))
    rows, columns = np.eye(model.shape[1]), np.eye(model.shape[2])[:, 1:]
    each = np.concatenate(
        [np.repeat(rows, model.shape[2], axis=0), np.tile(columns, (model.shape[1], 1))], axis=1
    )
    strata = np.kron(np.eye(model.shape[0]), each)
    scores = np.tile(model.scores.reshape(-1), model.shape[0])
    design = np.concatenate([strata, scores[:, None]], axis=1)
    back = [model.restored(column.reshape(model.shape)).reshape(-1) for column in design.T]
    return np.stack(back, axis=1), np.eye(design.shape[1])[-1]


def likely_width(name: str, reading: ModelReading) -> float | None:
    """Width of the Wald interval by the likelihood of the release: what is known less what is open."""
    domain = reading.found.domain
    wanted = pairs(domain) if name == "rate" else LogLinear.of(domain, FORMULAS[domain.ndim])
    if name == "log_odds":
        model = Association.of(domain, ("A", "B"))
        design, step = _around_odds(reading)

        def fitted(expected: Floats) -> Floats:
            means, _ = model.fitted(expected.reshape(domain.shape))
            return np.maximum(means.reshape(-1), LEAST_MEAN)

    else:
        design = wanted.design

        def fitted(expected: Floats) -> Floats:
            table = (expected + wanted.smoothing).reshape(1, *domain.shape)
            return np.maximum(wanted.fit(table).reshape(-1), LEAST_MEAN)

    draws, means = reading.around(fitted, rounds=30)
    weights = draws.weights(draws.density(Poisson(means)))
    if draws.worth(weights) < 50:
        return None
    if name == "rate":
        near = np.log(means)[None] + 1e-5 * design.T
        step = np.array([_rate_of(np.exp(one).reshape(domain.shape)) for one in near])
        step = (step - _rate_of(means.reshape(domain.shape))) / 1e-5
    elif name == "model":
        first = next(k for k, (face, _) in enumerate(wanted._columns) if len(face) > 1)
        step = np.eye(design.shape[1])[first]
    off = draws.tables - weights @ draws.tables
    known = np.diag(means) - (weights[:, None] * off).T @ off
    variance = step @ np.linalg.pinv(design.T @ known @ design, hermitian=True) @ step
    return 2 * 1.959964 * math.sqrt(max(float(variance), 0.0))


@dataclass(frozen=True)
class Analysis:
    """What is true of a population's shares, and the interval of it from a reading and from a table."""

    truth: Callable[[Floats], float]
    ours: Callable[[ModelReading], Interval]
    known: Callable[[Domain, Ints], Interval]
    likely: bool = True


def _strength(reading: ModelReading) -> Interval:
    found = reading.independence(0.95).strength
    return _ends(found and found.interval)


def _strength_known(domain: Domain, counts: Ints) -> Interval:
    found = Strength.of_table(counts, 0.95)
    return _ends(found and found.interval)


def _strength_of(shares: Floats) -> float:
    fit = shares.sum(axis=0) * shares.sum(axis=1, keepdims=True)
    return float(np.sqrt(((shares - fit) ** 2 / fit).sum() / (min(shares.shape) - 1)))


STRENGTH = Analysis(_strength_of, _strength, _strength_known, likely=False)
"""Cramer's V."""


@dataclass(frozen=True)
class Population:
    """Shares of the cells, and the analyses of tables drawn from it."""

    shares: Callable[[tuple[int, ...]], Floats]
    analyses: dict[str, Analysis]
    shapes: tuple[tuple[int, ...], ...] = SHAPES


POPULATIONS = {
    "associated": Population(
        associated,
        {
            "model": Analysis(_first_odds, _model, _model_known),
            "rate": Analysis(
                _rate_of, lambda reading: _ends(rate(reading, RATIO).interval), partial(_rate_known, RATIO)
            ),
            "share": Analysis(
                lambda shares: float(_rates_of(shares)[0]),
                lambda reading: _ends(rate(reading, ONE).interval),
                partial(_rate_known, ONE),
                likely=False,
            ),
            "log_odds": Analysis(
                _first_odds, lambda reading: _ends(log_odds(reading, ("A", "B")).interval), _odds_known
            ),
        },
    ),
    "independent": Population(
        independent, {"test": Analysis(lambda shares: 1.0, _test, _test_known, likely=False)}
    ),
    "two_way": Population(associated, {"strength": STRENGTH}, ((4, 5),)),
    "two_way_independent": Population(independent, {"strength": STRENGTH}, ((4, 5),)),
    "two_way_strong": Population(strong, {"strength": STRENGTH}, ((4, 5),)),
}
"""``share`` is one rate, ``rate`` the difference of two; the model of three variables has no association of all three; a test
covers what it does not reject at .05."""
