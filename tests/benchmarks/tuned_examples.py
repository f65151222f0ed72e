"""What tuning saves on the bundled examples: the loss of the defaults and of what is tuned.

    python tests/benchmarks/tuned_examples.py --draws 20

Each example is tuned for the least mean change by the default method, then drawn with fresh coins
by the defaults and by what was tuned, each draw once through the gate. A line for each example, as a
row of a table in Markdown: the mean change of a count by the defaults and tuned, what tuning expected,
how many of the draws the gate accepts, and the parameters.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence

import numpy as np

from tabprotect.engine.disclosure.choosing.tuning import tuned
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InfeasibleError, TabprotectError
from tabprotect.engine.project.examples import examples
from tabprotect.engine.project.options import DEFAULT_METHOD
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.table import Table
from tabprotect.library.table import read_table


def drawn(
    method: Method, problem: Problem, given: Mapping[str, object], seeds: Sequence[int]
) -> tuple[float, int]:
    """The mean change of a count over draws, and how many of them the gate accepts at once."""
    limits, changes, accepted = AgencyPolicy().limits(problem.at_risk), [], 0
    for seed in seeds:
        release = method.run(problem, given, Randomness.seeded(seed)).release
        changes.append(np.abs(release.table.counts - problem.table.counts).mean())
        try:
            accepted += verdict(release, limits).passed is True
        except TabprotectError:
            continue
    return float(np.mean(changes)), accepted


def row(name: str, table: Table, draws: int, seed: int) -> str:
    """The row of one example."""
    method, problem, begun = methods()[DEFAULT_METHOD], Problem(table), time.process_time()
    limits = AgencyPolicy().limits(problem.at_risk)
    size = "x".join(map(str, table.domain.shape))
    seeds = range(seed, seed + draws)
    before, passed = drawn(method, problem, {}, seeds)
    try:
        found = tuned(method, problem, {}, limits)
    except InfeasibleError as error:
        return f"| {name} | {size} | {before:.3f} | | | {passed} of {draws} | | {error.message} |"
    after, still = drawn(method, problem, found.change, seeds)
    change = ", ".join(f"{key}={value}" for key, value in found.change.items())
    took = time.process_time() - begun
    return (
        f"| {name} | {size} | {before:.3f} | {after:.3f} | {found.loss:.3f} |"
        f" {passed} of {draws} | {still} of {draws} | {change} ({took:.0f} s) |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--example", action="append", help="default: all")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print("| example | cells | change | tuned | expected | accepted | accepted, tuned | parameters |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for example in examples():
        if example.microdata or (args.example and example.name not in args.example):
            continue
        table = read_table(f"example:{example.name}").table
        print(row(example.name, table, args.draws, args.seed), flush=True)


if __name__ == "__main__":
    main()
