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
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
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
LONGEST = 400
"""CPU seconds after which a run is ended."""

MOST_READ = 2**20
"""Bytes that are read of what a run wrote: the peak of this process is taken for that of later ones."""

SEED = "1234567890" * 4
SHAPES = {
    "two ways": ((100, 100), (316, 316), (1000, 1000), (1000, 3000)),
    "more ways": (
        *((2, 6, 20, 5), (16, 15, 7), (20, 20, 20), (2,) * 14, (10, 10, 10, 20)),
        *((46, 46, 46), (10, 10, 10, 100), (10, 10, 10, 1000)),
    ),
}
FULL_HEIGHT = ((100, 100), (316, 316), (1000, 1000))
BANDS = ("--set", "cycles=bands", "--set", "blocking=negative")
"""Strips as high as their table, asked for by name."""

HIDING = ((20, 20), (50, 50), (100, 100), (316, 316), (1000, 1000))
SMALL_SHARES = (0.27, 0.05)


class Peer(NamedTuple):
    """Work that another program does, too: its package, both scripts, and the last figures.

    The script of theirs is of Python, or of R.
    """

    work: str
    name: str
    package: str
    theirs: str
    ours: str
    last: str
    in_r: bool = False


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
        "OpenDP 0.71 s CPU, here 0.18 s, 28 November 2026",
    ),
    Peer(
        "10^6 records counted by two variables",
        "DuckDB",
        "duckdb",
        "import duckdb; duckdb.sql(\"SELECT a, b, count(*) FROM 'records.parquet' GROUP BY a, b\").fetchall()",
        """from tabprotect.cli.main import main
raise SystemExit(main("tabulate records.parquet --by a,b --out counted.csv".split()))""",
        "DuckDB 0.15 s CPU, here 0.42 s, 28 November 2026",
    ),
    Peer(
        "counts below 3 hidden, 50 x 50",
        "GaussSuppression 1.2.3",
        "GaussSuppression",
        """library(SSBtools); library(GaussSuppression)
SuppressSmallCounts(read.csv("hidden.csv"), maxN = 2, protectZeros = FALSE,
                    dimVar = c("v0", "v1"), freqVar = "count", printInc = FALSE)""",
        """from tabprotect.cli.main import main
raise SystemExit(main("protect hidden.csv --method suppression --register none --accept x --out hidden.zip".split()))""",
        "GaussSuppression 9.38 s CPU, here 3.18 s, judged and refused; 24 November 2026",
        in_r=True,
    ),
    Peer(
        "counts below 3 rounded, 100 x 100",
        "SmallCountRounding 1.2.5",
        "SmallCountRounding",
        """library(SmallCountRounding)
PLSrounding(read.csv("rounded.csv"), "count", roundBase = 3, formula = ~ v0 + v1 + v0:v1,
            printInc = FALSE)""",
        """from tabprotect.cli.main import main
raise SystemExit(main("protect rounded.csv --method small_count_rounding --register none --accept x --out rounded.zip".split()))""",
        "SmallCountRounding 1.75 s CPU; 24 November 2026",
        in_r=True,
    ),
)
"""Theirs run with the interpreters that ``BENCH_PEERS`` (Python) and ``BENCH_R`` name, else with this
one, and with ``R``."""

RECORDS = """COPY (SELECT hash(range) % 40 AS a, hash(range + 7) % 25 AS b FROM range(1000000))
TO 'records.parquet'"""


class Done(NamedTuple):
    """A process that ended: CPU seconds, MiB, exit code, and what it wrote."""

    cpu: float
    memory: float
    code: int
    said: bytes


def ran(words: list[str], folder: Path, *, inside: bool = False) -> Done:
    """Run a command, whatever comes of it, ``LONGEST`` at most; inside the folder, if asked."""
    where = folder if inside else None
    limited = ["sh", "-c", f'ulimit -t {LONGEST}; exec "$@"', "sh", *words]
    with (folder / "out").open("wb") as file:
        process = subprocess.Popen(limited, cwd=where, stdout=file, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    with (folder / "out").open("rb") as file:
        said = file.read(MOST_READ)
    cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    return Done(cpu, memory, process.returncode, said)


def gate_of(done: Done) -> str:
    """What the gate said, in a few words."""
    try:
        found = json.loads(done.said)
    except ValueError:
        return f"ended after {LONGEST} s" if done.code < 0 else f"exit code {done.code}"
    if "error" in found:
        remedies = [one["text"] for one in found["error"].get("remedies", ())]
        refused = "refused" if done.code == 5 else f"exit code {done.code}"
        return f"{refused}, remedy: {remedies[0]}" if remedies else f"{refused}, without a remedy"
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


def chained(shape: tuple[int, ...]) -> np.ndarray:
    """Counts of 20,000 records, each variable a copy of the one before by four chances in ten."""
    rng, records = np.random.default_rng(3), np.zeros((20_000, len(shape)), dtype=np.int64)
    for axis, size in enumerate(shape):
        own = rng.integers(0, size, len(records))
        same = (rng.random(len(records)) < 0.4) & (axis > 0)
        records[:, axis] = np.where(same, records[:, axis - 1], own)
    return np.bincount(np.ravel_multi_index(records.T, shape), minlength=math.prod(shape)).reshape(shape)


def dense(shape: tuple[int, ...]) -> np.ndarray:
    """Poisson counts of mean 5."""
    return np.random.default_rng(1).poisson(5, shape)


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
    in_python = [os.environ.get("BENCH_PEERS", sys.executable), "-c"]
    in_r = [os.environ.get("BENCH_R", "R"), "--no-save", "--no-echo", "-e"]
    duckdb.sql(RECORDS.replace("records.parquet", str(folder / "records.parquet")))
    written(few_small((50, 50), SMALL_SHARES[0]), folder).rename(folder / "hidden.csv")
    written(sparse((100, 100)), folder).rename(folder / "rounded.csv")
    for peer in PEERS:
        there, load = (in_r, "library") if peer.in_r else (in_python, "__import__")
        there_at_all = shutil.which(there[0]) is not None
        if not there_at_all or ran([*there, f"{load}('{peer.package}')"], folder).code:
            print(f"  {peer.work:38} {peer.last} (not installed: {peer.name})")
            continue
        theirs = ran([*there, peer.theirs], folder, inside=True)
        ours = ran([sys.executable, "-c", peer.ours], folder, inside=True)
        told = f"{peer.name} {theirs.cpu:.2f} s CPU, here {ours.cpu:.2f} s"
        print(f"  {peer.work:38} {told}; exit codes {theirs.code}, {ours.code}")


def row(what: str, shape: tuple[int, ...], done: Done, gate: str) -> None:
    """Print one line."""
    size = "2^14" if shape == (2,) * 14 else "3^12" if shape == (3,) * 12 else " x ".join(map(str, shape))
    print(f"  {what:34} {size:14} {done.cpu:8.2f} s CPU {done.memory:7.0f} MiB  {gate}", flush=True)


def apart(write: Callable[[], Path]) -> Path:
    """Write a file in a process of its own: the system takes its peak for that of those begun later."""
    reading, writing = os.pipe()
    if not os.fork():
        os.write(writing, bytes(write()))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as said:
        path = Path(os.fsdecode(said.read()))
    os.wait()
    return path


def protected(
    what: str, shape: tuple[int, ...], made: Callable[..., np.ndarray], folder: Path, *words: str
) -> float:
    """Protect a table, verify and read its release; CPU seconds of protecting."""
    bundle = folder / "release.zip"
    put = with_levels if LEVELS in words else written
    table = apart(lambda: put(made(shape), folder))
    bundle.unlink(missing_ok=True)
    common = [str(table), "--seed", SEED, "--register", "none", "--json", "--out", str(bundle)]
    done = ran([*RUN, "protect", *common, *words], folder)
    row(f"protect, {what}", shape, done, gate_of(done))
    if bundle.exists():
        inside = ran([sys.executable, "-c", LENGTH, str(bundle)], folder)
        mechanism = f"mechanism {int(inside.said):,} bytes"
        for verb in (["verify"], ["infer", "--json"]):
            read = ran([*RUN, *verb, str(bundle)], folder)
            row(f"  {' '.join(verb)}", shape, read, f"exit code {read.code}, {mechanism}")
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


LENGTH = "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).getinfo('mechanism.json').file_size)"


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
            protected("first start", (6, 6), sparse, folder, "--method", method)
        for ways, shapes in SHAPES.items():
            costs: list[tuple[int, float]] = []
            for shape in (s for s in shapes if math.prod(s) <= most):
                costs.append((math.prod(shape), protected("sparse", shape, sparse, folder)))
                protected("dense", shape, dense, folder)
            print(f"  growth over {ways}: {', '.join(grown(costs)) or 'one size only'}")
        for shape in (s for s in FULL_HEIGHT if math.prod(s) <= most):
            protected("bands", shape, sparse, folder, *BANDS)
        if most >= 3**12:
            protected("12 variables, 97 % zeros", (3,) * 12, chained, folder)
        for share in SMALL_SHARES:
            costs, made = [], partial(few_small, share=share)
            for shape in (s for s in HIDING if math.prod(s) <= most):
                what = f"suppression, {share:.0%} small"
                words = ("--method", "suppression")
                cost = protected(what, shape, made, folder, *words)
                costs.append((math.prod(shape), cost))
                nace = (*words, "--set", LEVELS)
                protected(f"{what}, NACE x NUTS", shape, made, folder, *nace)
            print(f"  growth of suppression: {', '.join(grown(costs)) or 'one size only'}")
        for method in ("small_count_rounding", "bootstrap"):
            for shape in (s for s in SHAPES["two ways"][2:3] if math.prod(s) <= most):
                protected(method, shape, sparse, folder, "--method", method)
        known, words = (lambda _: known_table("g3_10")), ("--method", "suppression")
        protected("suppression, g3_10", (10, 10, 10), known, folder, *words)
        table = written(sparse((10, 10, 10)), folder)
        runs = ["--run", "cyclic_perturbation", "--runs-per-method", "10", "--seed", "1"]
        done = ran([*RUN, "compare", str(table), "--workers", "1", "--json", *runs], folder)
        row("compare, cyclic, 10 runs", (10, 10, 10), done, f"exit code {done.code}")
        for side in (10, 40):
            done = ran([sys.executable, "-c", JOINT, str(side)], folder)
            row("joint posterior of two releases", (side, side), done, done.said.decode().strip())
        beside_peers(folder)


if __name__ == "__main__":
    main()
