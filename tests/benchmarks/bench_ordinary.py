"""Forty ordinary tables x every method, with no option: what leaves whole, what it costs, what it loses.

    python tests/benchmarks/bench_ordinary.py --method suppression --method post_randomisation

Eighteen tables of two variables, twelve of three, four of four, and six of regions in two levels by
another variable: gamma-Poisson counts, sparse (mean 1.2), medium (6) and dense (20 to 40). Each is
protected by a process of its own in a new house, that is with a new register. *whole* is accepted with
nothing left out; where a table does not leave so, each remedy that is offered is followed, in the
same house. CPU seconds are those of the process and its children. Losses are beside the choice that
looks at the counts: of suppression and adjustment the cheapest pattern, of roundings the nearest table.
Ends with 1 where a target of ``TARGETS`` is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import os
import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from bench_sparse import RUN, Done, nested, ran

from tabprotect.engine.formats.registered import formats
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

MEANS = {"sparse": 1.2, "medium": 6.0, "dense": 30.0}
SHAPES = {
    "t2": ((5, 5), (8, 6), (10, 10), (12, 8), (20, 10), (30, 20)),
    "t3": ((4, 4, 3), (6, 5, 4), (10, 8, 2), (12, 6, 5)),
    "t4": ((3, 3, 3, 3), (5, 4, 3, 2)),
    "h2": ((12, 6), (24, 8)),
}
SPREAD = 0.7
"""Shape of the gamma law of the means."""

TARGETS = {
    "suppression": 38,
    "small_count_rounding": 40,
    "controlled_rounding": 40,
    "controlled_tabular_adjustment": 36,
    "post_randomisation": 40,
    "cell_key": 40,
    "discrete_laplace": 40,
    "random_rounding": 40,
    "discrete_gaussian": 40,
    "cyclic_perturbation": 40,
}
"""Tables of the forty that leave whole."""

SECONDS = 30.0
"""CPU seconds that the slowest table of a method may take."""

BESIDE = {
    "suppression": "cheapest",
    "controlled_tabular_adjustment": "cheapest",
    "small_count_rounding": "nearest",
    "controlled_rounding": "nearest",
}
"""The choice that a loss is beside."""


@dataclass
class Line:
    """What became of the tables of one method."""

    whole: int = 0
    remedied: int = 0
    left: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    losses: list[tuple[float, float]] = field(default_factory=list)


def ordinary() -> Iterator[tuple[str, Table]]:
    """The forty tables with their names."""
    rng = np.random.default_rng(2026)
    for (kind, shapes), (name, mean) in itertools.product(SHAPES.items(), MEANS.items()):
        if (kind, name) == ("t4", "medium"):
            continue
        for shape in shapes:
            counts = rng.poisson(rng.gamma(SPREAD, mean / SPREAD, size=shape))
            domain = Domain.of_shape(shape)
            if kind == "h2":
                region = nested("region", shape[0], {"land": 4})
                domain = Domain((region, domain.variables[1]))
            yield f"{kind}_{'x'.join(map(str, shape))}_{name}", Table.dense(domain, counts)


def told(done: Done) -> dict[str, Any]:
    """What a process printed."""
    try:
        found: dict[str, Any] = json.loads(done.said)
    except ValueError:
        return {"error": {"message": f"ended after {done.cpu:.0f} CPU s", "suggestions": []}}
    return found


def leaves_whole(done: Done, found: dict[str, Any]) -> bool:
    """Whether a table left with nothing left out."""
    return done.code == 0 and not found["verdict"]["left_out"]


def protected(table: Path, house: Path, words: list[str]) -> tuple[Done, dict[str, Any]]:
    """Protect with a register in the house."""
    common = ["--register", str(house / "register"), "--json", "--out", str(house / "out.zip")]
    done = ran([*RUN, "protect", str(table), *common, *words], house)
    return done, told(done)


def lost(found: dict[str, Any]) -> float:
    """Hidden cells, or the mean change of a cell."""
    return float(found.get("suppressed_cells") or 0) or float(found.get("mean_absolute_deviation") or 0.0)


def measured(method: str, kind: str, *, losses: bool) -> Line:
    """Protect all tables whose names begin so."""
    line = Line()
    for name, table in ordinary():
        if not name.startswith(kind):
            continue
        with tempfile.TemporaryDirectory() as folder:
            house = Path(folder)
            path = house / "table.parquet"
            path.write_bytes(formats()["parquet"].write(table))
            ran([*RUN, "register", "new", str(house / "register")], house)
            seeds = ["--seed", str(int(hashlib.sha256(name.encode()).hexdigest(), 16))]
            done, found = protected(path, house, ["--method", method, *seeds])
            line.seconds.append(done.cpu)
            how = f"{name} {done.cpu:.1f} s"
            if leaves_whole(done, found):
                line.whole += 1
                print(f"    {how} whole, mean belief {found['verdict']['mean_belief']}", flush=True)
                if losses and method in BESIDE:
                    beside = ["--choice", BESIDE[method], "--accept", "to compare"]
                    _, other = protected(path, Path(folder), ["--method", method, *seeds, *beside])
                    if "error" not in other:
                        line.losses.append((lost(found), lost(other)))
                continue
            error = found.get("error", {"message": str(found.get("verdict", {}).get("left_out"))})
            offered = [shlex.split(one)[1:] for one in error.get("suggestions", ())]
            followed = []
            for words in offered:
                again = ran([*RUN, *words], house)
                followed.append((leaves_whole(again, told(again)), again.cpu, " ".join(words[-4:])))
            line.remedied += any(left for left, _, _ in followed)
            line.left.append(name)
            said = "; ".join(f"{'whole' if left else 'NOT'} {s:.1f} s {w}" for left, s, w in followed)
            print(f"    {how} {error['message'][:300]} | {said or 'nothing offered'}", flush=True)
    return line


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", action="append", help="default: those that have a target")
    parser.add_argument("--tables", default="", help="how the names of tables begin: t2, t3_4x4, h2")
    parser.add_argument("--losses", action="store_true", help="run the other choice, too")
    args = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    missed = 0
    for method in args.method or TARGETS:
        print(f"  {method}")
        line = measured(method, args.tables, losses=args.losses)
        wanted = TARGETS.get(method, 0) if not args.tables else 0
        slowest = max(line.seconds)
        here, there = (math.fsum(one) for one in zip(*line.losses, strict=True)) if line.losses else (0, 0)
        beside = f", loss {here:.4g} beside {there:.4g}" if line.losses else ""
        median = statistics.median(line.seconds)
        print(
            f"  {method}: {line.whole} of {len(line.seconds)} whole (target {wanted}), {line.remedied} of "
            f"{len(line.left)} others by a remedy; median {median:.1f} CPU s, most {slowest:.1f}{beside}",
            flush=True,
        )
        missed += line.whole < wanted or line.remedied < len(line.left) or slowest > SECONDS
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
