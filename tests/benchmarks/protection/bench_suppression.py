"""Suppression: choosing and auditing a pattern, growth with the table, flows against programmes,
and what it costs to guard against people who are alone in a cell. CPU seconds."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.protection.suppressing.audit import audit
from tabprotect.engine.protection.suppressing.choice import choose
from tabprotect.engine.protection.suppressing.hiding_sets.promise import check_intervals
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
    return Task(publication, table, rule.mask(values), np.minimum(above, values), above, cost, insiders)


def run(name: str, wanted: Task) -> float:
    """Choose and audit; seconds for choosing."""
    start = time.process_time()
    try:
        hidden = select(wanted)
    except InfeasibleError as error:
        print(f"  {name:44} {error.message[:60]}", flush=True)
        return 0.0
    chosen = time.process_time() - start
    levels = {
        "below": np.where(wanted.primary, wanted.below, 0),
        "above": np.where(wanted.primary, wanted.above, 0),
    }
    start = time.process_time()
    found = audit(wanted.publication, wanted.table, hidden, levels=levels)
    audited = time.process_time() - start
    secondary = hidden & ~wanted.primary
    print(
        f"  {name:44} {wanted.primary.sum():5} primary, {secondary.sum():4} secondary of cost "
        f"{wanted.cost[secondary].sum():8.0f}: {chosen:6.2f} s, audit {audited:5.2f} s, "
        f"{len(found.unprotected)} unprotected",
        flush=True,
    )
    return chosen


def against_the_best_known() -> None:
    """Tables whose cheapest hiding set is known: cost, and seconds of the choice and of the check."""
    text = Path(__file__).parents[2] / "reference" / "suppression.json"
    reference = json.loads(text.read_text(encoding="utf-8"))
    for name, known in {**reference["tables"], **reference["benchmarked"]}.items():
        table = Table.dense(Domain.of_shape(known["shape"]), np.array(known["counts"]))
        groups = ",".join(f"a{k + 1}>g{g}" for k, g in enumerate(known["groups"] or ()))
        groupings = parse_groupings(f"G:A={groups}", table.domain) if groups else ()
        publication = Publication.of(table.domain, known["formula"], groupings)
        values = publication.stack(publication.sums(table))
        level, cost = np.full(len(values), LEVEL), np.where(values == 0, np.inf, values + 1.0)
        primary = SmallCount(1, 3).mask(values)
        wanted = Task(publication, table, primary, level, level, cost, never_zero=True)
        begun = time.process_time()
        found = choose(wanted)
        chosen = time.process_time()
        kept = check_intervals(wanted, found.hidden)
        print(
            f"  {name:8} cost {found.cost:6.0f}, {found.cost / known['best_cost'] - 1:+6.1%} of the "
            f"best known: {chosen - begun:5.2f} s, check {time.process_time() - chosen:5.2f} s, "
            f"{len(kept.unprotected)} unprotected",
            flush=True,
        )


def main() -> None:
    """Print the curves."""
    print("against the best known patterns")
    against_the_best_known()
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
        start = time.process_time()
        moved = nearest_safe(wanted.publication, wanted.table, SmallCount())
        seconds = time.process_time() - start
        changes = np.abs(moved.counts - counts)
        print(
            f"  {' x '.join(map(str, counts.shape)):44} {seconds:6.2f} s, mean change "
            f"{changes.mean():.3f}, largest {changes.max()}"
        )
