"""Tables of sums: a million records by industry and region, their rules, and whole suppressions.

``python tests/benchmarks/protection/bench_magnitudes.py [RECORDS]`` prints seconds of processor time and the
largest memory of each step, of a process of its own: tabulating by 997 codes of industries and 132 of
regions in all levels, the rules, and choosing, auditing and repairing the hidden cells of smaller tables.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

INDUSTRIES, REGIONS = (21, 88, 272, 615), (4, 27, 100)
SMALLER = {"3,000 cells": (2, 2, 16_000), "13,000 cells": (2, 3, 60_000)}
"""Levels of industries and regions, and records, of the tables that are suppressed whole."""

SPREAD, SIZES = 1.3, 2.6
"""How unlike industries and regions are, and contributions: logarithms' standard deviations. With
these a third of the cells is unsafe at p = 10, as in registers of businesses.
"""


def records(path: Path, number: int, depth: tuple[int, int]) -> list[str]:
    """Fictitious businesses, one in twelve of a group; the options that tabulate them."""
    random = np.random.default_rng(7)
    columns: dict[str, list[str]] = {}
    options: list[str] = []
    for letter, sizes in (("n", INDUSTRIES[: depth[0]]), ("r", REGIONS[: depth[1]])):
        share = np.exp(random.normal(0, SPREAD, sizes[-1]))
        code = random.choice(sizes[-1], number, p=share / share.sum())
        for level in reversed(range(len(sizes))):
            columns[f"{letter}{level}"] = [f"{letter}{level}_{one:03d}" for one in code]
            if level:
                code = code * sizes[level - 1] // sizes[level]
        names = ",".join(f"{letter}{level}" for level in range(len(sizes)))
        options += ["--levels", f"{names}={letter}"]
    group = random.random(number) < 0.08
    holding = np.where(group, random.integers(0, number // 40, number), number + np.arange(number))
    columns["ent"] = [f"h{one}" for one in holding]
    columns["turnover"] = [str(1 + int(x)) for x in np.exp(random.normal(5, SIZES, number))]
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *map(",".join, rows)]) + "\n")
    finest = f"n{depth[0] - 1},r{depth[1] - 1}"
    return ["--by", finest, "--measure", "turnover", "--holding", "ent", *options]


def run(words: list[str]) -> dict[str, object]:
    """What a command says, with its processor seconds and megabytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "tabprotect", *words, "--json"]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"  {words[0]}: {took:.1f} s, at most {after.ru_maxrss // 1024} MB so far")
    found: dict[str, object] = json.loads(said.stdout)
    return found


def main() -> None:
    """Print the figures."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        for name, (*depth, size) in SMALLER.items():
            options = records(here / "firms.csv", size, (depth[0], depth[1]))
            table = str(here / "T.parquet")
            run(["tabulate", str(here / "firms.csv"), *options, "--out", table])
            found = run(
                ["protect", table, "--method", "suppression", "--rule", "p=10", "--no-page",
                 "--accept", "a trial", "--register", "none", "--out", str(here / "out.zip")]
            )  # fmt: skip
            print(f"{name}: {found['primary']} unsafe, {found['secondary']} more, {found['audit']}")
        options = records(here / "firms.csv", number, (4, 3))
        counted = run(["tabulate", str(here / "firms.csv"), *options, "--out", str(here / "L.parquet")])
        print(f"{number:,} records: {counted['cells']} cells")
        run(["rules", str(here / "L.parquet"), "--rule", "p=10", "--rule", "n=3"])
        found = run(
            ["protect", str(here / "L.parquet"), "--method", "suppression", "--rule", "p=10",
             "--no-page", "--accept", "a trial", "--register", "none", "--out", str(here / "L.zip")]
        )  # fmt: skip
        print(f"all of it: {found['primary']} unsafe, {found['secondary']} more, {found['audit']}")


if __name__ == "__main__":
    main()
