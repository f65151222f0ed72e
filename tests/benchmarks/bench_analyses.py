"""Whether the intervals of a reader's analyses cover, and how wide they are.

Each row: an analysis, a method, a shape and a mean count. Original tables are drawn from a population that
is known (Poisson counts), each is released once, and the reader's interval at .95 is asked whether it
has the population's value; beside it that of who takes the published counts as true, that of who has the
original itself, and how wide the likelihood of the release is (Wald intervals by the observed information
of Louis 1982, at the fit). Errors are binomial. The analyses of one population share their releases.

``python tests/benchmarks/bench_analyses.py --log FILE [--only WORD ...] [--releases N]`` goes on where
the file ends; ``--table`` prints it as the documentation has it.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.association import LEAST_MEAN, Association
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.belief.log_odds import log_odds, of_table
from tabprotect.engine.belief.model_fit import Reading, fit_releases
from tabprotect.engine.belief.rates import Ratio, pairs, rate
from tabprotect.engine.posterior.independence import ModelTest, independence_model
from tabprotect.engine.posterior.log_linear import LogLinear, Pooled
from tabprotect.engine.posterior.prior import Poisson
from tabprotect.engine.posterior.strength import Strength
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

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

LIKELY = 60
"""Releases whose likelihood is measured: its median width is known well enough by these."""

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


def _model(reading: Reading) -> Interval:
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


def _test(reading: Reading) -> Interval:
    found = reading.tested(independence_model(reading.found.domain))
    if found is None:
        raise ArithmeticError("too few draws")
    return _kept(found.p)


def _test_known(domain: Domain, counts: Ints) -> Interval:
    return _kept(ModelTest.of_table(independence_model(domain), counts).p)


def _around_odds(reading: Reading) -> tuple[Floats, Floats]:
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


def likely_width(name: str, reading: Reading) -> float | None:
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
    ours: Callable[[Reading], Interval]
    known: Callable[[Domain, Ints], Interval]
    likely: bool = True


def _strength(reading: Reading) -> Interval:
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
                _rate_of,
                lambda reading: _ends(rate(reading, RATIO).interval),
                partial(_rate_known, RATIO),
            ),
            "share": Analysis(
                lambda shares: float(_rates_of(shares)[0]),
                lambda reading: _ends(rate(reading, ONE).interval),
                partial(_rate_known, ONE),
                likely=False,
            ),
            "log_odds": Analysis(
                _first_odds,
                lambda reading: _ends(log_odds(reading, ("A", "B")).interval),
                _odds_known,
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


@dataclass
class Found:
    """What the readers of one analysis have found so far."""

    ours: list[Interval]
    published: list[Interval]
    original: list[Interval]
    likely: list[float]
    refused: int = 0

    def take(self, analysis: tuple[str, Analysis], reading: Reading, counts: Ints) -> None:
        """Take in one release."""
        (name, asked), domain = analysis, reading.found.domain
        try:
            self.ours.append(asked.ours(reading))
        except Exception as error:  # what is refused is counted
            self.refused += 1
            print(name, type(error).__name__, error, flush=True)
            return
        self.original.append(asked.known(domain, counts))
        if reading.found.is_published.all() and reading.found.published.domain == domain:
            self.published.append(asked.known(domain, reading.found.published.counts))
        if not asked.likely or len(self.ours) > LIKELY:
            return
        if (width := likely_width(name, reading)) is not None:
            self.likely.append(width)

    def row(self, truth: float) -> dict[str, object]:
        """Coverage and median width of the readers."""
        out: dict[str, object] = {"refused": self.refused, "truth": round(truth, 4)}
        for reader in ("ours", "published", "original"):
            if not (intervals := getattr(self, reader)):
                continue
            ends = np.array(intervals)
            covers = float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
            out[reader] = {
                "coverage": round(covers, 4),
                "error": round(math.sqrt(covers * (1 - covers) / len(ends)), 4),
                "width": round(float(np.median(ends[:, 1] - ends[:, 0])), 4),
                "middle": round(float(np.median(ends.mean(axis=1))), 4),
            }
        if self.likely:
            out["likely_width"] = round(float(np.median(self.likely)), 4)
        return out


def measured(
    name: str, method: str, shape: tuple[int, ...], mean: float, releases: int
) -> list[dict]:
    """A row for each analysis of a population."""
    population, domain = POPULATIONS[name], Domain.of_shape(shape)
    shares, values = population.shares(shape), METHODS[method](shape)
    random = np.random.default_rng([releases, int(mean), len(shape)])
    found = {analysis: Found([], [], [], []) for analysis in population.analyses}
    start = time.process_time()
    for seed in range(releases):
        counts = random.poisson(shares * mean * domain.size)
        problem = Problem(Table.dense(domain, counts))
        run = methods()[method].run(problem, values, Randomness.seeded(seed))
        reading = Reading.of([run.release], RELEASE_ALONE, Randomness.seeded(seed))
        for item in population.analyses.items():
            found[item[0]].take(item, reading, counts)
    row = {"population": name, "method": method, "shape": list(shape), "mean": mean}
    row |= {"releases": releases, "seconds": round(time.process_time() - start, 1)}
    return [
        row | {"analysis": analysis} | one.row(population.analyses[analysis].truth(shares))
        for analysis, one in found.items()
    ]


def told(row: dict) -> str:
    """A row as text."""
    words = [f"{row['analysis']:10} {row['method']:20} {'x'.join(map(str, row['shape'])):6}"]
    words.append(f"{row['mean']:2} n {row['releases']} refused {row['refused']}")
    for reader in ("ours", "published", "original"):
        if (one := row.get(reader)) is not None:
            words.append(f"{reader} {one['coverage']:.3f} ({one['error']:.3f}) {one['width']:.2f}")
    words.append(f"likelihood {row.get('likely_width', math.nan):.2f}")
    return ", ".join([*words, f"{row['seconds']:.0f} s"])


SAID = {
    "test": "test",
    "log_odds": "log odds",
    "model": "model",
    "rate": "rate",
    "share": "one rate",
    "strength": "Cramer's V",
    "random_rounding": "rounding",
    "cell_key": "cell keys",
    "discrete_laplace": "Laplace noise",
    "cyclic_perturbation": "cycles",
    "suppression": "suppression",
}


def as_table(rows: list[dict]) -> list[str]:
    """The rows as a table of the documentation: coverage by mean count, and the greatest widths."""
    found: dict[tuple, dict[int, dict]] = {}
    for row in rows:
        key = row["analysis"], row["method"], row["population"], tuple(row["shape"])
        found.setdefault(key, {})[row["mean"]] = row
    order = list(SAID)
    out = []
    for key in sorted(found, key=lambda key: (order.index(key[0]), order.index(key[1]), *key[2:])):
        each = found[key]
        cells = [SAID[key[0]], SAID[key[1]], " x ".join(map(str, key[3]))]
        if key[0] == "strength":
            cells[2] += f", V = {next(iter(each.values()))['truth']:.2f}"
        for mean in sorted(MEANS):
            row = each.get(mean)
            taken = row and row.get("published")
            cells.append("" if row is None else _short(row["ours"]["coverage"]))
            cells[-1] += f" ({_short(taken['coverage'])})" if taken else ""
        wide = [
            row["ours"]["width"] / row["likely_width"]
            for row in each.values()
            if row.get("likely_width")
        ]
        own = [row["ours"]["width"] / row["original"]["width"] for row in each.values()]
        cells.append(f"{max(wide):.2f}" if wide else "")
        cells.append("" if key[0] == "test" else f"{max(own):.2f}")
        cells.append(" ".join(_number(each[m]) if m in each else "-" for m in sorted(MEANS)))
        out.append("| " + " | ".join(cells) + " |")
    return out


def _number(row: dict) -> str:
    """How many releases were made, less those that gave too few draws for an interval."""
    return f"{row['releases']}" + (f"-{row['refused']}" if row["refused"] else "")


def _short(share: float) -> str:
    return f"{share:.3f}".removeprefix("0")


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--releases", type=int, default=400)
    parser.add_argument("--table", action="store_true")
    args, _ = parser.parse_known_args()
    done = []
    if args.log is not None and args.log.exists():
        done = [json.loads(line) for line in args.log.read_text().splitlines()]
    if args.table:
        print("\n".join(as_table(done)))
        return
    for name, population in POPULATIONS.items():
        for mean in MEANS:
            for method in METHODS:
                for shape in population.shapes:
                    words = {name, method, "x".join(map(str, shape)), str(mean)}
                    asked = {"population": name, "method": method, "shape": list(shape)}
                    asked |= {"mean": mean, "releases": args.releases}
                    if not words.issuperset(args.only) or any(
                        asked.items() <= row.items() for row in done
                    ):
                        continue
                    for row in measured(name, method, shape, mean, args.releases):
                        print(told(row), flush=True)
                        if args.log is not None:
                            with args.log.open("a") as file:
                                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
