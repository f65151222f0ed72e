"""The verdict against the reader who lists everything, on many random tables of each method.

    python tests/benchmarks/verdict_against_listing.py --tables 1000 --method suppression

Tables of 2x2 to 5x5 cells, sparse and dense. Of each release the reader lists every original, runs
the public mechanism on each, and works out what is certain; nothing of the engine's posterior is
used. A release that the reader would need more originals for than ``PATIENCE`` says is passed over,
and counted; so is, undrawn, a table of a shape and density of which none of the first
``FIRST_TRIES`` could be listed. A run that finds a certain at-risk cell which a complete verdict did
not count, or other figures than the reader's, ends with 1; of a verdict that is drawn, or calls
itself incomplete, the same is told, and counted apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
sys.path.insert(0, str(Path(__file__).parents[1] / "engine/disclosure"))

from listing_reader import Reader, TooManyError
from test_against_listing import LIMITS, SETTINGS, own, released, whole

from tabprotect.engine.belief.evidence import release_fingerprint
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.protection.problem import StaffVerdict
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

TRIED_FOR_EACH = 60
"""Tables tried at most for each one that is judged."""

PATIENCE = {
    "cyclic_perturbation": 5000,
    "cell_key": 5000,
    "random_rounding": 5000,
    "discrete_laplace": 20000,
    "discrete_gaussian": 20000,
    "post_randomisation": 300,
    "coarsening": 400,
    "bootstrap": 300,
    "controlled_rounding": 60,
    "controlled_tabular_adjustment": 150,
}
"""Originals of one reader; fewer where the program itself is run on each."""

MOST = 120
"""The same of all others."""

FIRST_TRIES = 25


@dataclass
class Tally:
    """What became of one method's tables."""

    tried: int = 0
    judged: int = 0
    refused: int = 0
    beyond: int = 0
    unseen: int = 0
    incomplete: int = 0
    missed: int = 0
    agreeing: int = 0
    figures: int = 0
    cells: int = 0
    certain: int = 0
    uncounted: int = 0
    differing: int = 0
    originals: int = 0
    seconds: float = 0.0
    shapes: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        shapes = " ".join(f"{name}:{number}" for name, number in sorted(self.shapes.items()))
        return (
            f"{self.tried} tried, {self.judged} judged ({shapes}), {self.originals} originals, "
            f"{self.figures} tables of {self.cells} cells, {self.certain} certain, "
            f"{self.uncounted} uncounted, {self.differing} differing; {self.refused} refused by the "
            f"method, {self.beyond} beyond listing ({self.unseen} of them undrawn); "
            f"{self.incomplete} drawn or called incomplete ({self.agreeing} of them equal all the same), "
            f"which missed {self.missed} certain cells; "
            f"{self.seconds:.0f} s CPU"
        )

    def compare(self, release: Release, found: StaffVerdict, reader: Reader) -> str:
        """Take in one release; tells what differs."""
        self.judged += 1
        self.originals += reader.listed
        self.shapes["x".join(map(str, release.domain.shape))] += 1
        complete = whole(found)
        self.incomplete += not complete
        said, differing = "", 0
        for judged in found.tables:
            theirs = own(reader, release, judged.names)
            self.figures += 1
            self.cells += judged.cells
            self.certain += theirs.certain
            beyond = max(theirs.certain - judged.certain, 0)
            self.uncounted += beyond if complete else 0
            self.missed += 0 if complete else beyond
            same = abs(judged.at_risk - theirs.at_risk) < 1e-9
            if not (same and (judged.known, judged.certain) == (theirs.known, theirs.certain)):
                differing += 1
                said += f"  {judged}\n  {theirs}\n"
        if complete:
            self.differing += differing
            return said
        self.agreeing += not differing
        return ""


def tables(generator: np.random.Generator) -> Iterator[tuple[Table, bool]]:
    """2x2 to 5x5, and whether sparse or dense."""
    while True:
        shape = tuple(int(n) for n in generator.integers(2, 6, 2))
        sparse = bool(generator.random() < 0.5)
        counts = generator.poisson(0.8, shape) if sparse else generator.integers(0, 7, shape)
        yield Table.dense(Domain.of_shape(shape), counts), sparse


def run(name: str, wanted: int, most: int, seed: int, seconds: float) -> Tally:
    """All settings of a method in turn."""
    generator, tally = np.random.default_rng(seed), Tally()
    settings = [given for method, given in SETTINGS if method == name]
    read: Counter[object] = Counter()
    given_up: Counter[object] = Counter()
    begun = time.process_time()
    # Without chance many tables give one release, and what is found of it is the same.
    known: dict[bytes, tuple[StaffVerdict, Reader] | None] = {}
    for number, (table, sparse) in enumerate(tables(generator)):
        tally.seconds = time.process_time() - begun
        tried = number >= TRIED_FOR_EACH * wanted
        if tally.judged == wanted or tried or tally.seconds > seconds:
            break
        tally.tried += 1
        kind = number % len(settings), table.domain.shape, sparse
        if given_up[kind] >= FIRST_TRIES and not read[kind]:
            tally.beyond += 1
            tally.unseen += 1
            continue
        release = released(name, settings[number % len(settings)], table, generator)
        if release is None:
            tally.refused += 1
            continue
        same = release_fingerprint(release)
        if same not in known:
            try:
                reader = Reader(release, LIMITS.at_risk, most)
                known[same] = verdict(release, LIMITS), reader
            except TooManyError:
                known[same] = None
        pair = known[same]
        if pair is None:
            tally.beyond += 1
            given_up[kind] += 1
            continue
        read[kind] += 1
        said = tally.compare(release, *pair)
        if said:
            given = dict(settings[number % len(settings)] or {})
            print(f"{name} {given}: {table.counts.tolist()}\n{said}", flush=True)
    return tally


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000, help="judged of each method")
    parser.add_argument("--method", action="append", help="default: all")
    parser.add_argument("--most", type=int, help="originals of one reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="of CPU, for each method")
    args = parser.parse_args()
    bad = 0
    for name in args.method or dict.fromkeys(method for method, _ in SETTINGS):
        most = args.most or PATIENCE.get(name, MOST)
        tally = run(name, args.tables, most, args.seed, args.seconds)
        print(f"{name}: {tally}", flush=True)
        bad += tally.uncounted + tally.differing
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
