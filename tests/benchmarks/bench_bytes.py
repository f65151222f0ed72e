"""A million cells through the command line, against DuckDB reading the same bytes; and start-up.

CPU seconds of whole processes, children included; the peak of their memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.protection.cycle_runs.forward_walk import flip, walk_cycles
from tabprotect.engine.tables.domain import Domain

SIZE = 1000
SEED = "1234567890" * 4
RUN = [sys.executable, "-m", "tabprotect.cli.main"]


def cost(command: list[str], out: Path) -> tuple[float, float]:
    """CPU seconds and MiB of one process."""
    with out.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def commands(folder: Path) -> None:
    """protect, verify and infer of a long file, against DuckDB reading it."""
    counts = np.random.default_rng(1).poisson(5, (SIZE, SIZE))
    long, bundle, sink = folder / "long.csv", folder / "release.zip", folder / "out"
    secret, register = folder / "CONFIDENTIAL-dossier.zip", folder / "register.db"
    lines = [f"r{i},c{j},{n}" for i, row in enumerate(counts.tolist()) for j, n in enumerate(row)]
    long.write_text("\n".join(["row,column,count", *lines]) + "\n")
    reading = f"import duckdb; duckdb.sql(\"SELECT sum(count) FROM '{long}'\").fetchall()"
    reference, _ = cost([sys.executable, "-c", reading], sink)
    print(f"  DuckDB reads the file: {reference:.2f} s CPU")
    for name, words in (
        ("protect", [str(long), "--seed", SEED, "--register", "none", "--out", str(bundle)]),
        (
            "protect --dossier",
            [
                *(str(secret), "--out", str(folder / "again.zip")),
                *(str(long), "--seed", SEED, "--register", str(register)),
            ],
        ),
        ("verify", [str(bundle)]),
        ("infer --json", [str(bundle)]),
        ("infer --format parquet", [str(bundle), "--out", str(folder / "p.parquet")]),
    ):
        seconds, memory = cost([*RUN, *name.split(), *words], sink)
        print(f"  {name:24} {seconds:6.2f} s CPU {seconds / reference:6.1f} x {memory:6.0f} MiB")


def start(folder: Path) -> None:
    """What it takes to say something, against Python itself."""
    bare = min(cost([sys.executable, "-c", ""], folder / "out")[0] for _ in range(3))
    for option in ("--help", "--version"):
        seconds = min(cost([*RUN, option], folder / "out")[0] for _ in range(3))
        print(f"  {option:24} {seconds:6.3f} s CPU {seconds / bare:6.1f} x bare Python")


def perturb(size: int, kind: str, passes: int) -> None:
    """Layers, coins and walk, against one numpy pass over the touched cells."""
    moves = design(Domain.of_shape((size, size)), kind)
    counts = np.random.default_rng(1).poisson(50, moves.domain.size).astype(np.int64)

    def run() -> None:
        coins = flip(np.random.default_rng(2), (passes, len(moves)), alpha=0.25, beta=0.25)
        walk_cycles(counts.copy(), moves, coins, "any_zero")

    signs = moves.signs.astype(np.int64)

    def one_pass() -> None:
        counts[moves.cells] += signs

    taken = []
    for work in (run, one_pass):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    print(
        f"  perturb {size} x {size} {kind:10} {passes} x {taken[0]:6.2f} s CPU "
        f"{taken[0] / taken[1]:6.1f} passes over the touched cells"
    )


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        commands(Path(folder))
        start(Path(folder))
    for size in (1000, 3000):
        perturb(size, "default", 1)
    for size in (250, 500, 1000):
        perturb(size, "bidiagonal", 2)


if __name__ == "__main__":
    main()
