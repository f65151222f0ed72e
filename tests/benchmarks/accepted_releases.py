"""No release that the gate lets out breaks a limit for a reader who lists everything.

    python tests/benchmarks/accepted_releases.py --tables 1000 --method suppression

Tables of 2x2 to 3x4 cells, sparse and dense, are protected through the gate, without a reason. Of
each release that it lets out the reader lists every original and weighs it by the public mechanism,
which is run again for methods without chance, and by what several tables with noise of their own say
together; nothing of the engine's posterior is used. Then the table is protected a second time, by the
same mechanism with other coins, and what the gate lets out beside the first release is read together
with it. A release whose limits the reader breaks is a fault, and ends the run with 1. A verdict that
is drawn may be wrong by three of its errors.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
sys.path.insert(0, str(Path(__file__).parents[1] / "engine/disclosure"))

from listing_reader import Reader, TooManyError
from test_against_listing import SETTINGS

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.protection.problem import Problem, StaffVerdict
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

FURTHER: list[tuple[str, Mapping[str, object]]] = [
    ("cell_key", {}),
    ("cell_key", {"D": 2, "V": 1, "js": 0}),
    ("cell_key", {"D": 2, "V": 1, "js": 0, "margins": "A + B - 1", "keys": "hashed"}),
    ("discrete_laplace", {"epsilon": 4.0, "cap": 3}),
    ("discrete_gaussian", {"rho": 1.0, "cap": 3}),
    ("suppression", {"choice": "blocks"}),
    ("random_rounding", {}),
]

MOST = 20_000
"""Originals of one reader, and of two releases."""

RERUN = 300
"""The same where the program is run on each."""

AGAIN = (
    "suppression",
    "coarsening",
    "publish_margins",
    "controlled_rounding",
    "small_count_rounding",
    "controlled_tabular_adjustment",
    "bootstrap",
    "post_randomisation",
)


FEW = ("bootstrap", "post_randomisation")
"""Every record is uncertain: only tables of few records can be listed."""


class Originals:
    """Whole originals and what a reader makes of them."""

    def __init__(self, reader: Reader, most: int) -> None:
        parts, size = reader.parts, reader.domain.size
        if np.prod([float(len(part.originals)) for part in parts]) > most:
            raise TooManyError
        tables, weights = np.zeros((1, size), dtype=np.int64), np.ones(1)
        for part in parts:
            at = np.indices((len(tables), len(part.originals))).reshape(2, -1)
            tables, weights = tables[at[0]], weights[at[0]] * part.weights[at[1]]
            tables[:, list(part.cells)] = part.originals[at[1]]
        self.tables: Ints = tables
        self.weights: Floats = weights

    def beside(self, other: Reader) -> None:
        """Weigh by another release of the same original."""
        for part in other.parts:
            known = {tuple(x): w for x, w in zip(part.originals.tolist(), part.weights, strict=True)}
            mine = self.tables[:, list(part.cells)].tolist()
            self.weights = self.weights * [known.get(tuple(x), 0.0) for x in mine]
        self.weights = self.weights / self.weights.sum()

    def broken(self, reader: Reader, limits: Gate, found: StaffVerdict) -> str:
        """The limit that is broken in some table, in words; empty for none."""
        release = reader.release
        exact = methods()[release.mechanism.method].publishes_true_counts(release)
        slack = 3 * max((table.error for table in found.tables), default=0.0)
        judged: list[tuple[Domain, Any]] = [(release.domain, None)]
        for published in release.tables:
            if published.table.domain != release.domain:
                hidden = published.hidden.reshape(-1)
                judged.append((published.table.domain, hidden if exact else None))
        for domain, mask in judged:
            known, expected, squares = 0, 0.0, 0.0
            for number, cells in enumerate(reader._summed(domain)):
                if mask is not None and not mask[number]:
                    continue
                sums = self.tables[:, list(cells)].sum(axis=1)
                chances = [
                    float(self.weights[sums == value].sum())
                    for value in range(limits.at_risk.low, limits.at_risk.high + 1)
                ]
                expected += sum(chances)
                squares += sum(chance**2 for chance in chances)
                known += max(chances) > limits.belief_limit + slack + 1e-9
            if known > limits.share * expected + 1e-9:
                return f"{domain.names}: {known} known of {expected:.2f}"
            if squares > (limits.mean_belief_limit + slack + 1e-9) * expected:
                return f"{domain.names}: mean belief {squares / expected:.4f}"
        return ""


def tables(name: str, generator: np.random.Generator) -> Iterator[Table]:
    """2x2 to 3x4, sparse and dense; smaller where every record is uncertain."""
    few = name in FEW
    shapes = ((2, 2), (2, 3)) if few else ((2, 2), (2, 3), (3, 3), (2, 4), (3, 4))
    while True:
        shape = shapes[generator.integers(len(shapes))]
        sparse = generator.random() < 0.5
        dense = generator.integers(0, 5 if few else 8, shape)
        counts = generator.poisson(1.2, shape) if sparse else dense
        yield Table.dense(Domain.of_shape(shape), counts)


def let_out(
    name: str, given: Mapping[str, object] | None, table: Table, seed: int
) -> tuple[Release, StaffVerdict] | None:
    """What the gate lets out, without a reason."""
    method = methods()[name]
    given = method.trial_parameters(table.domain) if given is None else given
    try:
        done = protect(method, Problem(table), given, Randomness.seeded(seed))
    except TabprotectError:
        return None
    found = done.record.verdict
    return None if found is None or not found.passed else (done.release, found)


def beyond(name: str, given: Mapping[str, object] | None, table: Table, most: int) -> bool:
    """Whether the reader would need too many originals of what a method publishes.

    Asked before the gate, whose judgement of such a table is the dearest, of methods without chance,
    and of those that keep the number of records, on which alone it depends.
    """
    method = methods()[name]
    given = method.trial_parameters(table.domain) if given is None else given
    if name not in AGAIN or (name not in FEW and method.is_random(method.resolve(table.domain, given))):
        return False
    try:
        release = method.run(Problem(table), given, Randomness.seeded(0)).release
        Reader(release, AgencyPolicy().limits().at_risk, most)
    except TooManyError:
        return True
    except TabprotectError:
        return False
    return False


def run(name: str, wanted: int, seed: int, seconds: float) -> tuple[Counter[str], list[str]]:
    """All settings of a method in turn."""
    settings = [given for method, given in (*SETTINGS, *FURTHER) if method == name]
    most = RERUN if name in AGAIN else MOST
    generator, tally, faults = np.random.default_rng(seed), Counter[str](), []
    begun = time.process_time()
    for number, table in enumerate(tables(name, generator)):
        if tally["read"] >= wanted or number >= 40 * wanted:
            break
        if time.process_time() - begun > seconds:
            break
        given = settings[number % len(settings)]
        tally["tried"] += 1
        if beyond(name, given, table, most):
            tally["beyond, not judged"] += 1
            continue
        first = let_out(name, given, table, 2 * number)
        if first is None:
            tally["refused"] += 1
            continue
        release, found = first
        limits = AgencyPolicy().limits()
        try:
            reader = Reader(release, limits.at_risk, most)
            originals = Originals(reader, MOST)
        except TooManyError:
            tally["beyond"] += 1
            continue
        tally["read"] += 1
        said = originals.broken(reader, limits, found)
        if said:
            faults.append(f"{name} {given} {table.counts.tolist()} seed {2 * number}: {said}")
        second = let_out(name, given, table, 2 * number + 1)
        if second is None or second[0].tables == release.tables:
            # Equal releases whose coins were given are one draw.
            continue
        together = verdict(second[0], limits, [release])
        tally["twice"] += 1
        if not together.passed:
            tally["together refused"] += 1
            continue
        try:
            other = Reader(second[0], limits.at_risk, most)
            both = Originals(other, MOST)
            both.beside(reader)
        except TooManyError:
            tally["twice beyond"] += 1
            continue
        tally["read twice"] += 1
        said = both.broken(other, limits, together)
        if said:
            faults.append(f"{name} {given} {table.counts.tolist()} twice {2 * number}: {said}")
    tally["s CPU"] = int(time.process_time() - begun)
    return tally, faults


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000, help="read of each method")
    parser.add_argument("--method", action="append", help="default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="of CPU, for each method")
    args = parser.parse_args()
    bad = 0
    every = dict.fromkeys(method for method, _ in itertools.chain(SETTINGS, FURTHER))
    for name in args.method or every:
        tally, faults = run(name, args.tables, args.seed, args.seconds)
        print(f"{name}: {', '.join(f'{n} {what}' for what, n in tally.items())}", flush=True)
        for fault in faults:
            print(f"  FAULT {fault}", flush=True)
        bad += len(faults)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
