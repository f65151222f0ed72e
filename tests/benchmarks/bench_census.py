"""A census through the command line: 564 million possible cells, 2.1 million of them filled.

What works is told with its cost, what is refused with its reason and what it took to say so.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np

SHAPE = (100, 21, 10, 8, 7, 6, 5, 4, 4)
FILLED = 2_100_000
NAMES = [f"v{axis}" for axis in range(len(SHAPE))]
PAIRS = f"({'+'.join(NAMES)})^2"

RUNS = (
    ("small_count_rounding", PAIRS),
    ("small_count_rounding", "v0*v1*v2 + v3*v4*v5*v6"),
    ("cell_key", PAIRS),
    ("small_count_rounding", ""),
    ("cyclic_perturbation", ""),
    ("suppression", ""),
)


def census(path: Path) -> None:
    """Write the filled cells, uneven in every variable."""
    generator = np.random.default_rng(1)
    people = 2 * FILLED
    columns = [generator.choice(size, people, p=generator.dirichlet(np.full(size, 2.0))) for size in SHAPE]
    keys, counts = np.unique(np.ravel_multi_index(columns, SHAPE), return_counts=True)
    # Every category once, whatever is drawn.
    kept = generator.permutation(len(keys))[:FILLED]
    diagonal = [np.arange(max(SHAPE)) % size for size in SHAPE]
    keys = np.union1d(keys[kept], np.ravel_multi_index(diagonal, SHAPE))
    counts = generator.permutation(np.resize(counts, len(keys)))
    cells = dict(zip(NAMES, np.unravel_index(keys, SHAPE), strict=True)) | {"count": counts}
    with duckdb.connect() as connection:
        connection.register("cells", cells)
        connection.execute(f"COPY (SELECT * FROM cells) TO '{path}' (HEADER)")
    print(f"  {np.prod(SHAPE):,} possible cells, {len(keys):,} filled")


def run(table: Path, method: str, margins: str) -> None:
    """Protect it; print CPU seconds, the peak of memory, and what was said if it was refused."""
    words = ["protect", str(table), "--method", method, "--seed", "1", "--register", "none"]
    words += ["--accept", "benchmark", "--out", str(table.with_suffix(".zip"))]
    words += ["--set", f"margins={margins}"] if margins else []
    said = table.with_suffix(".err")
    with said.open("w") as file:
        command = [sys.executable, "-m", "tabprotect.cli.main", *words]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=file)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    refused = [line for line in said.read_text().splitlines() if line.startswith("error")]
    print(
        f"  {method:22} {margins[:30]:30} {usage.ru_utime + usage.ru_stime:6.1f} s CPU "
        f"{usage.ru_maxrss / 1024:6.0f} MiB  exit {process.returncode} {' '.join(refused)}"
    )


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "census.csv"
        # Elsewhere: what a process holds counts as the peak of those that it starts.
        making = multiprocessing.Process(target=census, args=(table,))
        making.start()
        making.join()
        for method, margins in RUNS:
            run(table, method, margins)


if __name__ == "__main__":
    main()
