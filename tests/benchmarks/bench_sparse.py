"""Whole runs over sparse tables and dense ones: what ran, what the gate said, how cost grows.

CPU seconds of whole processes, children included, and the peak of their memory. Modules are compiled
to byte code before, as an installed program has them: it is 1.6 s of a start else. Sparse tables have
counts of mean 3 (gamma-Poisson) with 45 % zeros, dense ones Poisson counts of mean 5. The variable
``BENCH_CELLS`` of the environment is the most cells of a table, 10,000 unless set.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np

from tabprotect.engine.formats.registered import formats
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable

RUN = [sys.executable, "-m", "tabprotect.cli.main"]
MOST = 10_000
SEED = "1234567890" * 4
SHAPES = {
    "two ways": ((100, 100), (316, 316), (1000, 1000), (1000, 3000)),
    "more ways": ((16, 15, 7), (20, 20, 20), (46, 46, 46), (2,) * 14),
}
HIDING = ((20, 20), (50, 50), (100, 100), (316, 316), (1000, 1000))
SMALL_SHARES = (0.27, 0.05)


class Peer(NamedTuple):
    """Work that another program does, too: its package, both scripts, and the last figures."""

    work: str
    name: str
    package: str
    theirs: str
    ours: str
    last: str


PEERS = (
    Peer(
        "discrete Laplace, 10^5 draws",
        "OpenDP",
        "opendp",
        """import opendp.prelude as dp
dp.enable_features("contrib")
domain = dp.vector_domain(dp.atom_domain(T="i64"))
dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=1.0)([0] * 100_000)""",
        """from fractions import Fraction
from tabprotect.engine.protection.private_noise.integer_sampler import discrete_laplace
from tabprotect.engine.randomness import Randomness
discrete_laplace(Randomness.fresh().generator(), Fraction(1), 100_000)""",
        "OpenDP 0.88 s CPU, here 0.20 s, 24 November 2026",
    ),
    Peer(
        "10^6 records counted by two variables",
        "DuckDB",
        "duckdb",
        "import duckdb; duckdb.sql(\"SELECT a, b, count(*) FROM 'records.parquet' GROUP BY a, b\").fetchall()",
        """from tabprotect.cli.main import main
main(["tabulate", "records.parquet", "--by", "a,b", "--out", "counted.csv"])""",
        "DuckDB 0.18 s CPU, here 0.66 s, 24 November 2026",
    ),
)
"""Theirs run with the interpreter that ``BENCH_PEERS`` names, else with this one."""

RECORDS = """COPY (SELECT hash(range) % 40 AS a, hash(range + 7) % 25 AS b FROM range(1000000))
TO 'records.parquet'"""


class Done(NamedTuple):
    """A process that ended: CPU seconds, MiB, exit code, and what it wrote."""

    cpu: float
    memory: float
    code: int
    said: bytes


def ran(words: list[str], folder: Path, *, inside: bool = False) -> Done:
    """Run a command, whatever comes of it; inside the folder, if asked."""
    where = folder if inside else None
    with (folder / "out").open("wb") as file:
        process = subprocess.Popen(words, cwd=where, stdout=file, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    said = (folder / "out").read_bytes()
    cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    return Done(cpu, memory, process.returncode, said)


def gate_of(done: Done) -> str:
    """What the gate said, in a few words."""
    try:
        found = json.loads(done.said)
    except ValueError:
        return f"exit code {done.code}"
    if "error" in found:
        remedies = [one["text"] for one in found["error"].get("remedies", ())]
        return f"refused, remedy: {remedies[0]}" if remedies else f"exit code {done.code}"
    verdict = found.get("verdict") or {}
    known, limit = verdict.get("known"), verdict.get("limit")
    state = "accepted" if verdict.get("accepted") else "one question open"
    told = f"{state}, {known} known (limit {limit:.0f})" if limit is not None else state
    return f"{told}; {what_ran(found)}"


def what_ran(found: dict[str, Any]) -> str:
    """The method and, of cycles, how many and the rule."""
    if not (cycles := found.get("cycles")):
        return str(found.get("method", ""))
    how = found.get("parameters", {})
    return f"{cycles:,} cycles, {how.get('passes')} passes, {how.get('blocking')}"


def sparse(shape: tuple[int, ...]) -> np.ndarray:
    """Counts of mean 3, 45 % of them zero."""
    rng = np.random.default_rng(7)
    return rng.poisson(rng.gamma(0.36, 3 / 0.36, size=shape))


def few_small(shape: tuple[int, ...], share: float) -> np.ndarray:
    """Large counts, but for a share of ones and twos."""
    rng = np.random.default_rng(7)
    small = rng.random(shape) < share
    return np.where(small, rng.integers(1, 3, shape), rng.poisson(40, shape) + 3)


def written(counts: np.ndarray, folder: Path) -> Path:
    """The table as a long file; the first variable of a two-way one is one of industries."""
    path = folder / "table.csv"
    names = [f"v{axis}" for axis in range(counts.ndim)]
    labels = [[f"{n}{k}" for k in range(size)] for n, size in zip(names, counts.shape, strict=True)]
    index = np.indices(counts.shape).reshape(counts.ndim, -1).T.tolist()
    lines = (
        ",".join([*(labels[a][k] for a, k in enumerate(cell)), str(count)])
        for cell, count in zip(index, counts.reshape(-1).tolist(), strict=True)
    )
    path.write_text("\n".join([",".join([*names, "count"]), *lines]) + "\n")
    return path


def nested(name: str, size: int, levels: dict[str, int]) -> Variable:
    """A classification whose levels join so many categories each."""
    codes = tuple(f"{name}{code:03}" for code in range(size))
    return Variable(
        name,
        codes,
        tuple(
            Level(level, tuple(f"{level}_{code // each}" for code in range(size)))
            for level, each in levels.items()
        ),
    )


LEVELS = "margins=(nace + nace@group + nace@section)*(nuts + nuts@nuts2 + nuts@nuts1)"


def with_levels(counts: np.ndarray, folder: Path) -> Path:
    """The table of industries by regions, with their levels."""
    industries, regions = counts.shape
    nace = nested("nace", industries, {"group": 4, "section": 10})
    nuts = nested("nuts", regions, {"nuts2": 3, "nuts1": 9})
    path = folder / "table.parquet"
    table = Table.dense(Domain((nace, nuts)), counts)
    path.write_bytes(formats()["parquet"].write(table))
    return path


def beside_peers(folder: Path) -> None:
    """What others take for the same work, where they are installed."""
    there = os.environ.get("BENCH_PEERS", sys.executable)
    duckdb.sql(RECORDS.replace("records.parquet", str(folder / "records.parquet")))
    for peer in PEERS:
        found = ran([there, "-c", f"import {peer.package}"], folder)
        if found.code:
            print(f"  {peer.work:38} {peer.last} (not installed: {peer.name})")
            continue
        theirs = ran([there, "-c", peer.theirs], folder, inside=True)
        ours = ran([sys.executable, "-c", peer.ours], folder, inside=True)
        told = f"{peer.name} {theirs.cpu:.2f} s CPU, here {ours.cpu:.2f} s"
        print(f"  {peer.work:38} {told}; exit codes {theirs.code}, {ours.code}")


def row(what: str, shape: tuple[int, ...], done: Done, gate: str) -> None:
    """Print one line."""
    size = "2^14" if shape == (2,) * 14 else " x ".join(map(str, shape))
    print(f"  {what:34} {size:14} {done.cpu:8.2f} s CPU {done.memory:7.0f} MiB  {gate}", flush=True)


def protected(what: str, counts: np.ndarray, folder: Path, *words: str) -> float:
    """Protect a table, verify and read its release; CPU seconds of protecting."""
    bundle = folder / "release.zip"
    table = with_levels(counts, folder) if LEVELS in words else written(counts, folder)
    bundle.unlink(missing_ok=True)
    common = [str(table), "--seed", SEED, "--register", "none", "--json", "--out", str(bundle)]
    done = ran([*RUN, "protect", *common, *words], folder)
    row(f"protect, {what}", counts.shape, done, gate_of(done))
    if bundle.exists():
        inside = ran([sys.executable, "-c", LENGTH, str(bundle)], folder)
        mechanism = f"mechanism {int(inside.said):,} bytes"
        for verb in (["verify"], ["infer", "--json"]):
            read = ran([*RUN, *verb, str(bundle)], folder)
            row(f"  {' '.join(verb)}", counts.shape, read, f"exit code {read.code}, {mechanism}")
    return done.cpu


JOINT = """
import sys
import numpy as np
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
side, rng = int(sys.argv[1]), np.random.default_rng(7)
counts = rng.poisson(rng.gamma(0.36, 3 / 0.36, size=(side, side)))
problem = Problem(Table.dense(Domain.of_shape(counts.shape), counts))
cycles = methods()["cyclic_perturbation"]
two = [cycles.run(problem, {}, Randomness.seeded(seed)).release for seed in (3, 4)]
found = believe(two).posterior
print(found.way, "error", found.error or 0.0)
"""


def known_table(name: str) -> np.ndarray:
    """A table of the reference of hidden sets."""
    path = Path(__file__).parents[1] / "reference" / "suppression.json"
    return np.array(json.loads(path.read_text())["benchmarked"][name]["counts"])


LENGTH = (
    "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).getinfo('mechanism.json').file_size)"
)


def grown(costs: list[tuple[int, float]]) -> Iterator[str]:
    """The exponents between sizes: 1 is in proportion."""
    for (a, x), (b, y) in itertools.pairwise(costs):
        yield f"{math.log(y / x) / math.log(b / a):.2f}"


def main() -> None:
    """Print the figures."""
    most = int(float(os.environ.get("BENCH_CELLS", MOST)))
    print(f"{time.strftime('%d %B %Y')}, tables of at most {most:,} cells, default cycles")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        for method in ("cyclic_perturbation", "suppression"):
            protected("first start", sparse((6, 6)), folder, "--method", method)
        for ways, shapes in SHAPES.items():
            costs: list[tuple[int, float]] = []
            for shape in (s for s in shapes if math.prod(s) <= most):
                costs.append((math.prod(shape), protected("sparse", sparse(shape), folder)))
                dense = np.random.default_rng(1).poisson(5, shape)
                protected("dense", dense, folder)
            print(f"  growth over {ways}: {', '.join(grown(costs)) or 'one size only'}")
        for share in SMALL_SHARES:
            costs = []
            for shape in (s for s in HIDING if math.prod(s) <= most):
                what = f"suppression, {share:.0%} small"
                words = ("--method", "suppression")
                cost = protected(what, few_small(shape, share), folder, *words)
                costs.append((math.prod(shape), cost))
                nace = (*words, "--set", LEVELS)
                protected(f"{what}, NACE x NUTS", few_small(shape, share), folder, *nace)
            print(f"  growth of suppression: {', '.join(grown(costs)) or 'one size only'}")
        for method in ("small_count_rounding", "bootstrap"):
            for shape in (s for s in SHAPES["two ways"][2:3] if math.prod(s) <= most):
                protected(method, sparse(shape), folder, "--method", method)
        protected("suppression, g3_10", known_table("g3_10"), folder, "--method", "suppression")
        table = written(sparse((10, 10, 10)), folder)
        words = ["--run", "cyclic_perturbation", "--runs-per-method", "10", "--seed", "1"]
        done = ran([*RUN, "compare", str(table), "--workers", "1", "--json", *words], folder)
        row("compare, cyclic, 10 runs", (10, 10, 10), done, f"exit code {done.code}")
        for side in (10, 40):
            done = ran([sys.executable, "-c", JOINT, str(side)], folder)
            row("joint posterior of two releases", (side, side), done, done.said.decode().strip())
        beside_peers(folder)


if __name__ == "__main__":
    main()
