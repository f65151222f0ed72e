"""Whether the intervals of a reader's analyses cover, and how wide they are.

Each row: an analysis, a method, a shape and a mean count. Original tables are drawn from a model that
is known (Poisson counts), each is released once, and the reader's interval at .95 is asked whether it
has the model's value; beside it that of who takes the published counts as true, and that of who has the
original itself. Errors are binomial.

``python tests/benchmarks/bench_analyses.py --log FILE [--only WORD ...] [--releases N]`` goes on where
the file ends.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.association import Association
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.belief.log_odds import log_odds, of_table
from tabprotect.engine.belief.model_fit import Reading, fit_releases
from tabprotect.engine.belief.rates import Ratio, rate
from tabprotect.engine.posterior.independence import ModelTest
from tabprotect.engine.posterior.log_linear import LogLinear, Pooled
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

CELLS = {(2, 2, 6): "A:B:C", (4, 5): "A:B"}
"""Noise is asked for in the cells alone: no published sum helps against it."""

METHODS: dict[str, Callable[[str], dict[str, object]]] = {
    "random_rounding": lambda cells: {"margins": cells},
    "cell_key": lambda cells: {"margins": f"{cells} - 1", "D": 3, "V": 2.0, "js": 1},
    "discrete_laplace": lambda cells: {"margins": cells, "epsilon": 2.0},
    "cyclic_perturbation": lambda cells: {},
    "suppression": lambda cells: {},
}
"""Cheapest first."""

SHAPES = ((2, 2, 6), (4, 5))
MEANS = (2, 4, 8)

Interval = tuple[float, float]


@dataclass(frozen=True)
class Analysis:
    """An analysis: what is true of given means, and its interval from a release and from a table."""

    shapes: tuple[tuple[int, ...], ...]
    means: Callable[[tuple[int, ...], float], Floats]
    truth: Callable[[Floats], float]
    ours: Callable[[Release, int], Interval]
    known: Callable[[Domain, Ints], Interval]


def associated(shape: tuple[int, ...], mean: float) -> Floats:
    """Means with one log odds ratio for A and B and uneven margins."""
    first, second = np.meshgrid(np.arange(shape[0]), np.arange(shape[1]), indexing="ij")
    beta = 1.0 if shape[:2] == (2, 2) else 0.25
    away = (first - (shape[0] - 1) / 2) * (second - (shape[1] - 1) / 2)
    log = beta * away - 0.15 * first + 0.1 * second
    if len(shape) == 3:
        third = np.arange(shape[2])
        log = log[..., None] + 0.3 * np.sin(third) + 0.1 * first[..., None] * np.cos(third)
    means = np.exp(log)
    return np.asarray(means * mean / means.mean())


def _odds(release: Release, seed: int) -> Interval:
    chance = Randomness.seeded(seed)
    return log_odds([release], ("A", "B"), knowing=RELEASE_ALONE, randomness=chance).interval


def _odds_known(domain: Domain, counts: Ints) -> Interval:
    low, _, high = of_table(counts, Association.of(domain, ("A", "B")), 0.95)
    return low, high


FORMULAS = {3: "A*B + A*C + B*C", 2: "A*B"}


def independent(shape: tuple[int, ...], mean: float) -> Floats:
    """Means without any association."""
    means = np.ones(shape)
    for axis, size in enumerate(shape):
        at = np.exp(0.25 * np.arange(size))
        means = means * at.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return np.asarray(means * mean / means.mean())


def _reading(release: Release, seed: int) -> Reading:
    return Reading.of([release], RELEASE_ALONE, Randomness.seeded(seed))


def _model(release: Release, seed: int) -> Interval:
    reading = _reading(release, seed)
    domain = reading.found.domain
    return fit_releases(reading, LogLinear.of(domain, FORMULAS[domain.ndim])).interval(0)


def _model_known(domain: Domain, counts: Ints) -> Interval:
    model = LogLinear.of(domain, FORMULAS[domain.ndim])
    table = np.asarray(np.maximum(counts, 0)[None] + model.smoothing, dtype=np.float64)
    found = model.log_odds_ratios(model.fit(table))
    low, high = Pooled.mixed(*(np.repeat(one, 2, axis=0) for one in found))[:, 0]
    return float(low), float(high)


RATIO = Ratio.parse("A=a1 | B=b1, b2")


def _rate_of(means: Floats) -> float:
    both = means.reshape(*means.shape[:2], -1).sum(axis=2)
    shares = both[0] / both.sum(axis=0)
    return float(shares[0] - shares[1])


def _rate(release: Release, seed: int) -> Interval:
    found = rate(_reading(release, seed), RATIO).interval
    if found is None:
        raise ArithmeticError("too few draws")
    return found


def _rate_known(domain: Domain, counts: Ints) -> Interval:
    tables = np.repeat(np.maximum(counts, 0)[None], 4_000, axis=0)
    drawn = RATIO.drawn(domain, tables, np.random.default_rng(1))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _kept(p: float) -> Interval:
    """A model that is not rejected at .05 covers its one value."""
    return (0.0, 2.0) if p >= 0.05 else (2.0, 3.0)


def _independence(domain: Domain) -> LogLinear:
    return LogLinear.of(domain, " + ".join(domain.names))


def _test(release: Release, seed: int) -> Interval:
    reading = _reading(release, seed)
    found = reading.tested(_independence(reading.found.domain))
    if found is None:
        raise ArithmeticError("too few draws")
    return _kept(found.p)


ANALYSES = {
    "test": Analysis(
        SHAPES,
        independent,
        lambda means: 1.0,
        _test,
        lambda domain, counts: _kept(ModelTest.of_table(_independence(domain), counts).p),
    ),
    "model": Analysis(
        SHAPES,
        associated,
        lambda means: float(np.log(means[0, 0] * means[1, 1] / means[0, 1] / means[1, 0]).flat[0]),
        _model,
        _model_known,
    ),
    "rate": Analysis(SHAPES, associated, _rate_of, _rate, _rate_known),
    "log_odds": Analysis(
        SHAPES,
        associated,
        lambda means: float(np.log(means[0, 0] * means[1, 1] / means[0, 1] / means[1, 0]).flat[0]),
        _odds,
        _odds_known,
    ),
}
"""Cheapest first. The model of three variables has no association of all three; ``rate`` is the
difference of two; a test covers what it does not reject at .05."""

DEAR = ("cyclic_perturbation", "suppression")


def measured(name: str, method: str, shape: tuple[int, ...], mean: float, releases: int) -> dict:
    """One row: coverage and mean width of the three readers."""
    analysis = ANALYSES[name]
    domain, means = Domain.of_shape(shape), analysis.means(shape, mean)
    truth, values = analysis.truth(means), METHODS[method](CELLS[shape])
    random = np.random.default_rng([releases, int(mean), len(shape)])
    found: dict[str, list[Interval]] = {"ours": [], "published": [], "original": []}
    start, failed = time.process_time(), 0
    for seed in range(releases):
        counts = random.poisson(means)
        run = methods()[method].run(
            Problem(Table.dense(domain, counts)), values, Randomness.seeded(seed)
        )
        try:
            found["ours"].append(analysis.ours(run.release, seed))
        except Exception as error:  # what is refused is counted
            failed += 1
            print(type(error).__name__, error, flush=True)
            continue
        found["original"].append(analysis.known(domain, counts))
        shown = run.release.tables[0]
        if not shown.hidden.any() and shown.table.domain == domain:
            found["published"].append(analysis.known(domain, shown.table.counts))
    row: dict[str, object] = {
        "analysis": name,
        "method": method,
        "shape": list(shape),
        "mean": mean,
    }
    row |= {"releases": releases, "refused": failed}
    for reader, intervals in found.items():
        if not intervals:
            continue
        ends = np.array(intervals)
        covers = float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
        row[reader] = {
            "coverage": round(covers, 4),
            "error": round(math.sqrt(covers * (1 - covers) / len(ends)), 4),
            "width": round(float(np.median(ends[:, 1] - ends[:, 0])), 4),
            "middle": round(float(np.median(ends.mean(axis=1))), 4),
        }
    return row | {"truth": round(truth, 4), "seconds": round(time.process_time() - start, 1)}


def told(row: dict) -> str:
    """A row as text."""
    words = [f"{row['analysis']:10} {row['method']:20} {'x'.join(map(str, row['shape'])):6}"]
    words.append(f"{row['mean']:2} n {row['releases']} refused {row['refused']}")
    for reader in ("ours", "published", "original"):
        if (one := row.get(reader)) is not None:
            words.append(f"{reader} {one['coverage']:.3f} ({one['error']:.3f}) {one['width']:.2f}")
    return ", ".join([*words, f"{row['seconds']:.0f} s"])


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--releases", type=int, default=400)
    args, _ = parser.parse_known_args()
    done = []
    if args.log is not None and args.log.exists():
        done = [json.loads(line) for line in args.log.read_text().splitlines()]
    rows = [
        (name, method, shape, mean)
        for method in METHODS
        for name, analysis in ANALYSES.items()
        for shape in analysis.shapes
        for mean in MEANS
    ]
    for name, method, shape, mean in sorted(rows, key=_cost):
        words = {name, method, "x".join(map(str, shape)), str(mean)}
        if not words.issuperset(args.only):
            continue
        asked = {"analysis": name, "method": method, "shape": list(shape)}
        asked |= {"mean": mean, "releases": args.releases}
        if any(asked.items() <= row.items() for row in done):
            continue
        row = measured(name, method, shape, mean, args.releases)
        print(told(row), flush=True)
        if args.log is not None:
            with args.log.open("a") as file:
                file.write(json.dumps(row) + "\n")


def _cost(row: tuple[str, str, tuple[int, ...], int]) -> tuple[int, int, int]:
    name, method, _, mean = row
    return DEAR.index(method) + 1 if method in DEAR else 0, list(ANALYSES).index(name), mean


if __name__ == "__main__":
    main()
