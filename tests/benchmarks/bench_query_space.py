"""Query space: widths, frontiers and optimal releases, and how they grow.

``TABPROTECT_NLTCS`` may name the National Long Term Care Survey's non-zero cells as
``.csv.gz`` (16 columns of 0 and 1, then ``n``), which may not be shipped; ``TABPROTECT_CENSUS``
the coded census microdata (see ``census_table.py``), for growth up to 20 variables.
"""

from __future__ import annotations

import gzip
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import census_table

from tabprotect.engine.project.sources import open_table
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.critical_widths.at_risk import AtRiskCells
from tabprotect.engine.query_space.critical_widths.widths import critical_widths, parsimonious_bounds
from tabprotect.engine.query_space.optimal.best_release import optimal
from tabprotect.engine.query_space.registered import criteria, standard
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

REFERENCE = Path(__file__).parents[1] / "reference"

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """A result and the seconds it took."""
    start = time.perf_counter()
    out = work()
    return out, time.perf_counter() - start


def cells(path: Path) -> Table:
    """A table from its non-zero cells: coded columns, the last one the count."""
    with gzip.open(path, "rt") as file:
        names = file.readline().strip().split(",")[:-1]
        rows = np.loadtxt(file, delimiter=",", dtype=np.int64)
    shape = (rows[:, :-1].max(axis=0) + 1).tolist()
    keys = np.ravel_multi_index(tuple(rows[:, :-1].T), shape)
    return Table.sparse(Domain.of_shape(shape, names), keys, rows[:, -1])


def widths(name: str, table: Table, workers: int | None = None) -> Evidence:
    """Time all critical widths; print the ratio to one margin summed from the table at a time."""
    at_risk = AtRiskCells(table, SmallCount(1, 2))
    found, seconds = timed(lambda: critical_widths(at_risk, workers=workers))
    total = 1 << table.domain.ndim
    sample = np.random.default_rng(1).integers(total, size=24)
    _, one_by_one = timed(lambda: [parsimonious_bounds(at_risk, int(q)) for q in sample])
    ratio = one_by_one / len(sample) * total / seconds
    print(
        f"  {name:44} {total:>6,} widths  {seconds:6.2f} s  {seconds / total * 1e6:6.0f} us each"
        f"  {ratio:5.1f} x faster than one by one"
    )
    return Evidence(at_risk, found)


def frontiers(evidence: Evidence, threshold: int) -> None:
    """Time the first frontiers, and releases on top of each other, cold caches included."""
    evidence = Evidence(AtRiskCells(evidence.cells.table, evidence.cells.rule), evidence.widths)
    begin, first = timed(lambda: ReleaseSet.begin(Standard(evidence, criteria()["width"], threshold)))
    # The largest allowed sub-tables, one after the other, as a greedy user would ask.
    state, slowest, done = begin, 0.0, 0
    while done < 8:
        fresh = [int(q) for q in state.allowed if int(q) not in state.released]
        if not fresh:
            break
        query = max(fresh, key=lambda q: q.bit_count())
        state, seconds = timed(lambda q=query, s=state: s.release(q))  # type: ignore[misc]
        slowest, done = max(slowest, seconds), done + 1
    print(
        f"  beta {threshold}: {len(begin.allowed):,} allowed at first, frontiers {first:.2f} s; "
        f"slowest of {done} releases with both frontiers {slowest * 1e3:.0f} ms"
    )
    hover(begin)


def hover(state: ReleaseSet, releases: int = 3) -> None:
    """Time what pointing at sub-tables asks for, after 0, 1, ... releases."""
    generator = np.random.default_rng(2)
    taken = []
    for number in range(releases + 1):
        every = 1 << len(state.released.lattice.names)
        for query in [*generator.choice(state.allowed, 20), *generator.integers(every, size=20)]:
            _, seconds = timed(lambda q=int(query), s=state: (s.preview(q), s.judge(q)))  # type: ignore[misc]
            taken.append(seconds * 1e3)
        fresh = [int(q) for q in state.allowed if int(q) not in state.released]
        if number < releases and fresh:
            state = state.release(int(generator.choice(fresh)))
    print(
        f"  hover over {len(taken)} sub-tables: median {np.median(taken):.0f} ms, "
        f"95 of 100 within {np.quantile(taken, 0.95):.0f} ms, at most {max(taken):.0f} ms"
    )


def annealing(table: Table) -> None:
    """Time 100,000 proposals at three thresholds."""
    evidence = Evidence.gather(table, SmallCount(1, 3))
    for beta in (3, 4, 5):
        plan, seconds = timed(
            lambda b=beta: optimal(  # type: ignore[misc]
                standard(evidence, b), "annealing", randomness=Randomness.seeded(1)
            )
        )
        print(
            f"  annealing, beta {beta}: {plan.released.size - 1} released, 100,000 proposals {seconds:.2f} s"
        )


def memory() -> str:
    """The most memory this process has used so far."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB at most so far"


def main() -> None:
    """Print the figures."""
    czech = open_table("example:czech-autoworkers").table
    print("Czech workers, 2^6")
    evidence = widths("all", czech)
    frontiers(evidence, 10)
    for method in ("heuristic", "annealing", "exhaustive"):
        plan, seconds = timed(
            lambda m=method: optimal(standard(evidence, 6), m)  # type: ignore[misc]
        )
        print(f"  {method}: {plan.released.size} released, {seconds:.2f} s")
    kdd = cells(REFERENCE / "kdd13_b.csv.gz")
    print(f"census, 13 variables, {len(kdd.cells[0]):,} non-zero cells")
    evidence = widths("one process", kdd)
    frontiers(evidence, 3)
    annealing(kdd)
    print(f"  {memory()}")
    print("growth with variables (census)")
    for variables in range(8, 14):
        widths(f"{variables} variables", kdd.margin(kdd.domain.names[:variables]))
    large = cells(REFERENCE / "kdd14.csv.gz")
    print(f"14 variables, {large.domain.size:,} cells, {len(large.cells[0]):,} of them not zero")
    evidence = widths("one process", large)
    widths("two processes", large, workers=2)
    frontiers(evidence, 3)
    print(f"  {memory()}")
    print("growth with records (14 variables)")
    keys, counts = large.cells
    order = np.random.default_rng(3).permutation(np.repeat(keys, counts))
    for share in (16, 8, 4, 2):
        some, times = np.unique(order[: len(order) // share], return_counts=True)
        part = Table.sparse(large.domain, some, times)
        widths(f"{int(times.sum()):,} records, {len(some):,} cells", part)
    census = os.environ.get("TABPROTECT_CENSUS")
    if census:
        print("growth with variables (census with six more of two categories)")
        recipe = census_table.RECIPE | census_table.MORE
        shape, keys, counts = census_table.counted(Path(census), recipe)
        whole = Table.sparse(Domain.of_shape(shape, list(recipe)), keys, counts)
        for variables in (14, 16, 18, 20):
            part = whole.margin(whole.domain.names[:variables])
            evidence = widths(f"{variables} variables, {len(part.cells[0]):,} cells", part)
            above = int((evidence.widths.smallest > evidence.widths.smallest.min()).sum())
            print(f"  {above:,} margins above the floor")
            frontiers(evidence, 3)
            print(f"  {memory()}")
    nltcs = os.environ.get("TABPROTECT_NLTCS")
    if nltcs:
        survey = cells(Path(nltcs))
        print(f"NLTCS, 2^16, {len(survey.cells[0]):,} non-zero cells")
        evidence = widths("one process", survey)
        frontiers(evidence, 3)


if __name__ == "__main__":
    main()
