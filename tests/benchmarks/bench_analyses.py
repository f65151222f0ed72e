"""Whether the intervals of a reader's analyses cover, and how wide they are.

Each row: an analysis, a method, a shape and a mean count. Original tables are drawn from a population that
is known (Poisson counts), each is released once, and the reader's interval at .95 is asked whether it
has the population's value; beside it that of who takes the published counts as true (hidden ones as
none), that of who has the original itself, and how wide the likelihood of the release is (Wald intervals
by the observed information of Louis 1982, at the fit). Errors are binomial. The analyses of one population share their releases.

``python tests/benchmarks/bench_analyses.py --log FILE [FILE ...] [--only WORD ...] [--releases N]`` goes on where
the files end, by batches, and appends to the first; the columns with fewest releases come first. ``--table``
prints what they hold as the documentation has it.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from analysed_populations import MEANS, METHODS, POPULATIONS, Analysis, Interval, likely_width

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.belief.model_fit import ModelReading
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

LIKELY = 60
"""Releases whose likelihood is measured: its median width is known well enough by these."""

BATCH = 50
"""Releases between two entries of the log: an interruption loses no more."""


@dataclass
class Found:
    """What the readers of one analysis have found so far."""

    ours: list[Interval]
    published: list[Interval]
    original: list[Interval]
    likely: list[float]
    refused: int = 0

    def take(self, analysis: tuple[str, Analysis], reading: ModelReading, counts: Ints, likely: bool) -> None:
        """Take in one release; ``likely`` if the width of its likelihood is asked as well."""
        (name, asked), domain = analysis, reading.found.domain
        try:
            self.ours.append(asked.ours(reading))
        except Exception as error:  # what is refused is counted
            self.refused += 1
            print(name, type(error).__name__, error, flush=True)
            return
        known = [(self.original, counts)]
        if reading.found.published.domain == domain:
            shown = np.where(reading.found.is_published, reading.found.published.counts, 0)
            known.append((self.published, shown))
        for intervals, table in known:
            with suppress(ArithmeticError):  # an empty table has no interval
                intervals.append(asked.known(domain, table))
        if not (asked.likely and likely):
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


def measured(name: str, method: str, shape: tuple[int, ...], mean: float, seeds: range) -> list[dict]:
    """A row for each analysis of a population; each release has its seed."""
    population, domain = POPULATIONS[name], Domain.of_shape(shape)
    shares, values = population.shares(shape), METHODS[method](shape)
    found = {analysis: Found([], [], [], []) for analysis in population.analyses}
    start = time.process_time()
    for seed in seeds:
        random = np.random.default_rng([seed, int(mean), len(shape)])
        counts = random.poisson(shares * mean * domain.size)
        problem = Problem(Table.dense(domain, counts))
        try:
            run = methods()[method].run(problem, values, Randomness.seeded(seed))
            reading = ModelReading.of([run.release], RELEASE_ALONE, Randomness.seeded(seed))
        except InfeasibleError as error:  # nothing can be hidden, or nothing limits the counts
            print(error, flush=True)
            for each in found.values():
                each.refused += 1
            continue
        for item in population.analyses.items():
            found[item[0]].take(item, reading, counts, seed < LIKELY)
    row = {"population": name, "method": method, "shape": list(shape), "mean": mean}
    row |= {"first": seeds.start, "releases": len(seeds)}
    row["seconds"] = round(time.process_time() - start, 1)
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


TITLES = {
    "log_odds": "Log odds ratio",
    "model": "Model",
    "rate": "Difference of two rates",
    "share": "One rate",
    "strength": "Cramer's V",
    "test": "Test",
}

SAID = {
    "random_rounding": "rounding",
    "cell_key": "cell keys",
    "discrete_laplace": "Laplace noise",
    "cyclic_perturbation": "cycles",
    "suppression": "suppression",
}

ASKED = (0.93, 0.97)
"""Where the coverage of an interval at .95 is to lie."""


Column = tuple[str, str, tuple[int, ...], int]


def column_of(row: dict) -> Column:
    """Population, method, shape and mean count: what shares its releases."""
    return row["population"], row["method"], tuple(row["shape"]), row["mean"]


def pooled(rows: list[dict]) -> dict:
    """Batches of one row as one: shares and medians weighted by their releases."""
    out = dict(rows[0])
    out["releases"] = sum(row["releases"] for row in rows)
    out["refused"] = sum(row["refused"] for row in rows)
    for reader in ("ours", "published", "original"):
        have = [row for row in rows if reader in row]
        if have:
            weights = [row["releases"] - row["refused"] for row in have]
            out[reader] = {
                key: float(np.average([row[reader][key] for row in have], weights=weights))
                for key in ("coverage", "width")
            }
    if likely := [row for row in rows if "likely_width" in row]:
        weights = [min(row["releases"], LIKELY) for row in likely]
        for key, one in (("likely_width", None), ("beside_likely", "ours")):
            values = [row[one]["width"] if one else row["likely_width"] for row in likely]
            out[key] = float(np.average(values, weights=weights))
    return out


def as_tables(rows: list[dict]) -> list[str]:
    """The rows as tables of the documentation, one for each analysis: by mean count, greatest widths."""
    batches: dict[tuple, list[dict]] = {}
    for row in rows:
        batches.setdefault((row["analysis"], *column_of(row)), []).append(row)
    found: dict[tuple, dict[int, dict]] = {}
    for key, several in batches.items():
        analysis, population, method, shape, mean = key
        row = pooled(several)
        if "ours" in row:
            found.setdefault((analysis, method, shape, population), {})[mean] = row
    names = list(SAID)
    out: list[str] = []
    for analysis, title in TITLES.items():
        keys = [key for key in found if key[0] == analysis]
        means = [f"{mean} a cell" for mean in sorted(MEANS)]
        widths = [] if analysis == "test" else ["width: likelihood", "width: original"]
        head = ["method", "table", *means, *widths, "releases"]
        out += ["", f"### {title}", "", ":::{table}", ":class: figures", ""]
        out += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for key in sorted(keys, key=lambda key: (names.index(key[1]), *key[2:])):
            out.append("| " + " | ".join(_cells(key, found[key])) + " |")
        out.append(":::")
    return out[1:]


def _cells(key: tuple, each: dict[int, dict]) -> list[str]:
    """A row of such a table."""
    analysis, method, shape, _ = key
    cells = [SAID[method], " x ".join(map(str, shape))]
    if analysis == "strength":
        cells[1] += f", V = {next(iter(each.values()))['truth']:.2f}"
    cells += [_covers(each.get(mean), analysis) for mean in sorted(MEANS)]
    if analysis != "test":
        known = [row for row in each.values() if row.get("likely_width")]
        wide = [row["beside_likely"] / row["likely_width"] for row in known]
        own = [row["ours"]["width"] / row["original"]["width"] for row in each.values()]
        cells += [f"{max(wide):.2f}" if wide else "", f"{max(own):.2f}"]
    numbers = [_number(each[mean]) if mean in each else "-" for mean in sorted(MEANS)]
    return [*cells, numbers[0] if len(set(numbers)) == 1 else " ".join(numbers)]


def _covers(row: dict | None, analysis: str) -> str:
    """Coverage, or of a test how often it rejects; bold where it is not what is asked for."""
    if row is None:
        return ""
    share, number = row["ours"]["coverage"], row["releases"] - row["refused"]
    off = max(
        (ASKED[0] - share) / math.sqrt(ASKED[0] * (1 - ASKED[0]) / number),
        (share - ASKED[1]) / math.sqrt(ASKED[1] * (1 - ASKED[1]) / number),
    )
    shares = [row[reader]["coverage"] for reader in ("ours", "published") if reader in row]
    said = [_short(1 - share if analysis == "test" else share) for share in shares]
    said[0] = f"**{said[0]}**" if off > 2 else said[0]
    return said[0] + (f" ({said[1]})" if said[1:] else "")


def _number(row: dict) -> str:
    """How many releases were made, less those that gave no interval."""
    return f"{row['releases']}" + (f"-{row['refused']}" if row["refused"] else "")


def _short(share: float) -> str:
    return f"{share:.3f}".removeprefix("0")


def columns(only: set[str]) -> list[Column]:
    """All columns that have these words."""
    return [
        (name, method, shape, mean)
        for name, population in POPULATIONS.items()
        for mean in MEANS
        for method in METHODS
        for shape in population.shapes
        if only <= {name, method, "x".join(map(str, shape)), str(mean)}
    ]


def fewest(column: Column, rows: list[dict]) -> int:
    """Releases of the analysis that has fewest."""
    own = [row for row in rows if column_of(row) == column]
    return min(
        sum(row["releases"] for row in own if row["analysis"] == analysis)
        for analysis in POPULATIONS[column[0]].analyses
    )


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path, nargs="+", default=[])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--releases", type=int, default=400)
    parser.add_argument("--table", action="store_true")
    args, _ = parser.parse_known_args()
    logs = [path for path in args.log if path.exists()]
    done = [json.loads(line) for path in logs for line in path.read_text().splitlines()]
    if args.table:
        print("\n".join(as_tables(done)))
        return
    open_columns = columns(set(args.only))
    while open_columns:
        column = min(open_columns, key=lambda one: fewest(one, done))
        if fewest(column, done) >= args.releases:
            return
        first = max(
            (row["first"] + row["releases"] for row in done if column_of(row) == column and "first" in row),
            default=0,
        )
        rows = measured(*column, range(first, first + BATCH))
        done += rows
        print("\n".join(map(told, rows)), flush=True)
        for path in args.log[:1]:
            with path.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
