"""What the joint chain knows of planted tables under cell keys, and how often it is right.

    python tests/benchmarks/planted_tables.py --tables 20 --shape 4x4x4 --shape 3x3x3x3

Tables of Poisson counts around gamma means (shape 0.8, mean 2), all their margins published under
hashed keys. A line for each shape and law: counts believed with more than 0.95, among all cells and
among those at risk (1 or 2), how many of the claims are right, the shares that an independent
attacker knew of tables of that kind, and CPU seconds. A line of a hundred claims or more of which
fewer than 95 in 100 are right ends with 1; so does a time beyond its target.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.attack.attack import attack
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

LIMIT = 0.95

SHAPES: tuple[str, ...] = ("2x2x2x2x2", "2x2x2x2x2x2", "2x2x2x2x2x2x2", "2x2x2x2x2x2x2x2")
SHAPES += ("3x3x3x3", "4x4x4", "10x10x3")

LAWS = ((2, 1.0, 0), (3, 2.0, 1), (5, 3.0, 2))
"""D, V and js."""

KNOWN = {
    ("2x2x2x2x2", 2): (85 / 101, 273 / 320),
    ("2x2x2x2x2", 3): (34 / 101, 176 / 320),
    ("2x2x2x2x2", 5): (21 / 101, 152 / 320),
    ("4x4x4", 2): (21 / 184, 113 / 512),
    ("4x4x4", 3): (0 / 184, 38 / 512),
    ("4x4x4", 5): (1 / 184, 17 / 512),
    ("3x3x3x3", 2): (20 / 96, 131 / 324),
    ("3x3x3x3", 3): (7 / 96, 101 / 324),
    ("3x3x3x3", 5): (3 / 96, 81 / 324),
}
"""Shares of the at-risk cells and of all cells that an independent attacker knew, on 4 to 10 tables."""

SECONDS = {"2x2x2x2x2x2": 2.0, "2x2x2x2x2x2x2x2": 30.0}
"""CPU seconds that a table may take."""


@dataclass
class Line:
    """What became of the tables of one shape and law."""

    cells: int = 0
    at_risk: int = 0
    known: int = 0
    right: int = 0
    known_at_risk: int = 0
    right_at_risk: int = 0
    settled: int = 0
    slowest: float = 0.0

    @property
    def bold(self) -> bool:
        """Whether too few of many claims are right."""
        claims = ((self.known, self.right), (self.known_at_risk, self.right_at_risk))
        return any(made >= 100 and right < LIMIT * made for made, right in claims)


def planted(shape: tuple[int, ...], generator: np.random.Generator) -> Table:
    """A sparse table: small counts and zeros are frequent."""
    domain = Domain.of({f"V{a}": [f"c{k}" for k in range(n)] for a, n in enumerate(shape)})
    counts = generator.poisson(generator.gamma(0.8, 2.5, shape))
    return Table.dense(domain, counts.astype(np.int64))


def line(shape: tuple[int, ...], law: tuple[int, float, int], tables: int, seed: int) -> Line:
    """Attack some tables."""
    generator, found = np.random.default_rng([seed, *shape, law[0]]), Line()
    method = methods()["cell_key"]
    for number in range(tables):
        table = planted(shape, generator)
        every = "*".join(table.domain.names)
        given = dict(zip(("D", "V", "js"), law, strict=True)) | {"keys": "hashed", "margins": every}
        release = method.run(Problem(table), given, Randomness.seeded(number)).release
        numbers = method.numbers(release)
        assert numbers is not None
        begun = time.process_time()
        attacked = attack(numbers)
        found.slowest = max(found.slowest, time.process_time() - begun)
        found.settled += attacked.way == "joint"
        value, belief = attacked.cells.most_likely()
        truth = table.counts.reshape(-1)
        known, small = belief > LIMIT, (value >= 1) & (value <= 2)
        found.cells += len(truth)
        found.at_risk += int(((truth >= 1) & (truth <= 2)).sum())
        found.known += int(known.sum())
        found.right += int((known & (value == truth)).sum())
        found.known_at_risk += int((known & small).sum())
        found.right_at_risk += int((known & small & (value == truth)).sum())
    return found


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--shape", action="append", help="default: all")
    parser.add_argument("--D", type=int, action="append", help="default: 2, 3 and 5")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    bad = 0
    print("shape law | cells at risk | known right | known at risk right | shares, theirs | s")
    for name in args.shape or SHAPES:
        for law in LAWS:
            if args.D and law[0] not in args.D:
                continue
            found = line(tuple(map(int, name.split("x"))), law, args.tables, args.seed)
            theirs = KNOWN.get((name, law[0]), (math.nan, math.nan))
            small = found.known_at_risk / max(found.at_risk, 1)
            late = found.slowest > SECONDS.get(name, 60.0)
            bad += found.bold + late
            print(
                f"{name} D{law[0]} V{law[1]:g} js{law[2]} | {found.cells} {found.at_risk} | "
                f"{found.known} {found.right} | {found.known_at_risk} {found.right_at_risk} | "
                f"at risk {small:.3f} {theirs[0]:.3f}, all {found.known / found.cells:.3f} "
                f"{theirs[1]:.3f} | {found.slowest:.1f} s, {found.settled} of {args.tables} settled"
                f"{' TOO BOLD' if found.bold else ''}{' LATE' if late else ''}",
                flush=True,
            )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
