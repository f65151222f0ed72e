"""The verdict against the reader who lists everything, on many random tables of each method.

    python tests/benchmarks/verdict_against_listing.py --tables 1000 --method suppression

Tables of 2x2 to 5x5 cells, sparse and dense. Of each release the reader lists every original, runs
the public mechanism on each, and works out what is certain; nothing of the engine's posterior is
used. A release that the reader would need more than ``--most`` originals for is passed over, and
counted. A run that finds a certain at-risk cell which the verdict did not count, or other figures
than the reader's, ends with 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
sys.path.insert(0, str(Path(__file__).parents[2]))

from listing_reader import Reader, TooManyError

from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tests.engine.disclosure.test_against_listing import LIMITS, SETTINGS, own, released

TRIED_FOR_EACH = 60
"""Tables tried at most for each one that is judged."""


@dataclass
class Tally:
    """What became of one method's tables."""

    judged: int = 0
    refused: int = 0
    too_many: int = 0
    incomplete: int = 0
    certain: int = 0
    uncounted: int = 0
    differing: int = 0
    cells: int = 0
    seconds: float = 0.0
    shapes: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        shapes = " ".join(f"{name}:{number}" for name, number in sorted(self.shapes.items()))
        return (
            f"{self.judged} judged ({shapes}), {self.cells} tables' figures, {self.certain} certain "
            f"cells, {self.uncounted} uncounted, {self.differing} differing; {self.refused} refused, "
            f"{self.too_many} too many originals, {self.incomplete} not complete; "
            f"{self.seconds:.0f} s CPU"
        )


def tables(generator: np.random.Generator) -> Iterator[Table]:
    """2x2 to 5x5, sparse and dense."""
    while True:
        shape = tuple(int(n) for n in generator.integers(2, 6, 2))
        sparse = generator.random() < 0.5
        counts = generator.poisson(0.8, shape) if sparse else generator.integers(0, 7, shape)
        yield Table.dense(Domain.of_shape(shape), counts)


def run(name: str, wanted: int, most: int, seed: int, seconds: float) -> Tally:
    """All settings of a method in turn."""
    generator, tally = np.random.default_rng(seed), Tally()
    settings = [given for method, given in SETTINGS if method == name]
    begun = time.process_time()
    for number, table in enumerate(tables(generator)):
        tally.seconds = time.process_time() - begun
        tried = number >= TRIED_FOR_EACH * wanted
        if tally.judged == wanted or tried or tally.seconds > seconds:
            return tally
        release = released(name, settings[number % len(settings)], table, generator)
        if release is None:
            tally.refused += 1
            continue
        try:
            reader = Reader(release, LIMITS.at_risk, most)
        except TooManyError:
            tally.too_many += 1
            continue
        found = verdict(release, LIMITS)
        if not (found.way == "exact" and found.complete):
            # Nothing is claimed that the reader could contradict but what is called known.
            tally.incomplete += 1
            continue
        tally.judged += 1
        shape = "x".join(map(str, table.domain.shape))
        tally.shapes[shape] = tally.shapes.get(shape, 0) + 1
        for judged in found.tables:
            if judged.who == "insider":
                theirs = reader.insider(LIMITS.belief_limit)
            else:
                theirs = own(reader, release, judged.names)
            tally.cells += 1
            tally.certain += theirs.certain
            tally.uncounted += max(theirs.certain - judged.certain, 0)
            same = abs(judged.at_risk - theirs.at_risk) < 1e-9
            if not (same and (judged.known, judged.certain) == (theirs.known, theirs.certain)):
                tally.differing += 1
                print(
                    f"{name} {dict(settings[number % len(settings)] or {})}: {table.counts.tolist()}"
                )
                print(f"  {judged}\n  {theirs}", flush=True)
    raise AssertionError


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000, help="of each method")
    parser.add_argument("--method", action="append", help="default: all")
    parser.add_argument("--most", type=int, default=120, help="originals of one reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="of CPU, for each method")
    args = parser.parse_args()
    bad = 0
    for name in args.method or dict.fromkeys(method for method, _ in SETTINGS):
        tally = run(name, args.tables, args.most, args.seed, args.seconds)
        print(f"{name}: {tally}", flush=True)
        bad += tally.uncounted + tally.differing
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
