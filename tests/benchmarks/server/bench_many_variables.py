"""A served table of 40 variables with 4 categories each: 10^6 records of a sparse model.

``python bench_many_variables.py [RECORDS]``: what a start, a decision and a repeated answer cost.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tabprotect.server.served_table import ServedTable
from tabprotect.server.service import CriterionChoice, Service, TableSource

VARIABLES, CATEGORIES = 40, 4
NAMES = tuple(f"v{number:02}" for number in range(VARIABLES))


def records(number: int, seed: int = 1) -> pa.Table:
    """Records of a tree of variables: each depends on one before it, and most are its usual value."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    for v in range(VARIABLES):
        usual = np.array([0.7, 0.18, 0.08, 0.04])
        base = rng.choice(CATEGORIES, number, p=usual)
        if v:
            parent = columns[int(rng.integers(max(0, v - 4), v))]
            base = np.where(rng.random(number) < 0.6, parent, base)
        columns.append(base.astype(np.int8))
    return pa.table(dict(zip(NAMES, columns, strict=True)))


def main(number: int = 1_000_000) -> None:
    """Print processor seconds of this process, and how the decisions came out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        pq.write_table(records(number), path)
        service = Service(
            table=TableSource(str(path), "wide", "wide", NAMES), criterion=CriterionChoice(threshold=10)
        )
        begun = time.process_time()
        served = ServedTable(service, f"{folder}/h.sqlite")
        cells = served.state.releases.evidence.cells
        print(
            f"start {time.process_time() - begun:.1f} s; {len(cells.counts):,} cells, {cells.size:,} at risk"
        )
        begun = time.process_time()
        print(
            f"not offered: {served.lattice.names_of(served.disallowed)}, {time.process_time() - begun:.1f} s"
        )
        rng = random.Random(1)
        taken: defaultdict[str, list[float]] = defaultdict(list)
        asked = []
        for _ in range(100):
            query = served.lattice.query(rng.sample(NAMES, rng.choice([1, 2, 2, 3, 3, 4])))
            asked.append(query)
            taken_by(taken, served, query)
        for query in asked:
            taken_by(taken, served, query, "again, ")
        for kind, times in sorted(taken.items()):
            times.sort()
            print(
                f"{kind}: {len(times)}, median {1000 * times[len(times) // 2]:.0f} ms, "
                f"at most {1000 * times[-1]:.0f} ms"
            )
        served.close()
        begun = time.process_time()
        again = ServedTable(service, f"{folder}/h.sqlite")
        print(f"started again {time.process_time() - begun:.1f} s, {again.length} lines")
        again.close()
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")


def taken_by(taken: dict[str, list[float]], served: ServedTable, query: int, prefix: str = "") -> None:
    """One decision, its time kept by its kind."""
    begun = time.process_time()
    answered = served.ask("u", query)
    spent = time.process_time() - begun
    new = answered.entry.line.newly_released is not None
    kind = "released" if new else "known" if answered.answer.kind == "table" else "refused"
    taken[prefix + kind].append(spent)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
