"""Suppression: choosing and auditing a pattern, growth with the table, flows against programmes,
and what it costs to guard against people who are alone in a cell."""

from __future__ import annotations

import time

import numpy as np

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.protection.suppressing.audit import audit
from tabprotect.engine.protection.suppressing.near_tables.two_way_flows import TwoWayFlows
from tabprotect.engine.protection.suppressing.nearest_table import nearest_safe
from tabprotect.engine.protection.suppressing.pattern import select
from tabprotect.engine.protection.suppressing.task import Insiders, Task
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

LEVEL = 2


def task(counts: np.ndarray, rule: SmallCount, insiders: Insiders = "one") -> Task:
    """All sub-tables published; zeros never hidden; costs are the counts."""
    table = Table.dense(Domain.of_shape(counts.shape), counts)
    publication = Publication.of(table.domain, "*".join(table.domain.names))
    values = publication.stack(publication.sums(table))
    above = np.full(len(values), LEVEL)
    cost = np.where(values == 0, np.inf, values + 1.0)
    return Task(
        publication, table, rule.mask(values), np.minimum(above, values), above, cost, insiders
    )


def run(name: str, wanted: Task) -> float:
    """Choose and audit; seconds for choosing."""
    start = time.perf_counter()
    try:
        hidden = select(wanted)
    except InfeasibleError as error:
        print(f"  {name:44} {error.message[:60]}", flush=True)
        return 0.0
    chosen = time.perf_counter() - start
    levels = {
        "below": np.where(wanted.primary, wanted.below, 0),
        "above": np.where(wanted.primary, wanted.above, 0),
    }
    start = time.perf_counter()
    found = audit(wanted.publication, wanted.table, hidden, levels=levels)
    audited = time.perf_counter() - start
    secondary = hidden & ~wanted.primary
    print(
        f"  {name:44} {wanted.primary.sum():5} primary, {secondary.sum():4} secondary of cost "
        f"{wanted.cost[secondary].sum():8.0f}: {chosen:6.2f} s, audit {audited:5.2f} s, "
        f"{len(found.unprotected)} unprotected",
        flush=True,
    )
    return chosen


def main() -> None:
    """Print the curves."""
    generator = np.random.default_rng(0)
    skewed = generator.negative_binomial(1.2, 0.12, (100, 100))
    print("two-way, a quarter of the cells primary (1..3)")
    for size in (20, 50, 100):
        run(f"{size} x {size}", task(skewed[:size, :size], SmallCount(1, 3)))
    print("two-way, few primary cells: many secondary ones")
    even = generator.poisson(12, (100, 100))
    for insiders in ("none", "one", "all"):
        run(f"100 x 100, insiders {insiders}", task(even, SmallCount(1, 4), insiders))
    print("flows against linear programmes, the same table")
    wanted = task(generator.poisson(8, (20, 20)), SmallCount(1, 4), "none")
    flows = run("20 x 20, flows", wanted)
    fits = TwoWayFlows.fits
    TwoWayFlows.fits = staticmethod(lambda publication: False)  # type: ignore[method-assign]
    programmes = run("20 x 20, programmes", wanted)
    TwoWayFlows.fits = fits  # type: ignore[method-assign]
    print(f"  {programmes / flows:.0f} x")
    print("more variables (linear programmes)")
    for shape in ((4, 4, 4), (6, 6, 6), (10, 10, 10)):
        counts = generator.poisson(6, shape)
        run(" x ".join(map(str, shape)), task(counts, SmallCount(1, 2), "none"))
    print("controlled tabular adjustment")
    for counts in (skewed[:20, :20], skewed, generator.poisson(6, (10, 10, 10))):
        wanted = task(counts, SmallCount())
        start = time.perf_counter()
        moved = nearest_safe(wanted.publication, wanted.table, SmallCount())
        seconds = time.perf_counter() - start
        changes = np.abs(moved.counts - counts)
        print(
            f"  {' x '.join(map(str, counts.shape)):44} {seconds:6.2f} s, mean change "
            f"{changes.mean():.3f}, largest {changes.max()}"
        )
