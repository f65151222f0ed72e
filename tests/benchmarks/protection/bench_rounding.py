"""Rounding: speed and utility at real sizes, against one pass over the published cells."""

from __future__ import annotations

import time

import numpy as np

from tabprotect.engine.protection.rounding.controlled_programme import ControlledProgramme
from tabprotect.engine.protection.rounding.cox_rounding import round_unbiased
from tabprotect.engine.protection.rounding.small_rounding import RoundingRules, SmallCounts
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

SEEDS = 50


def utility(true: np.ndarray, rounded: np.ndarray) -> float:
    """Hellinger utility over the published cells (Langsrud and Lupp 2021)."""
    distance = np.sqrt(((np.sqrt(true) - np.sqrt(rounded)) ** 2).sum() / 2)
    return float(1 - distance / np.sqrt(true.sum()))


def at_random(table: Table, base: int, generator: np.random.Generator) -> Table:
    """The same number of small cells go up, but any: what the search is worth."""
    flat = table.counts.reshape(-1).copy()
    small = np.flatnonzero((flat > 0) & (flat < base))
    ups = round(int(flat[small].sum()) / base)
    flat[small] = 0
    flat[generator.permutation(small)[:ups]] = base
    return Table.dense(table.domain, flat.reshape(table.domain.shape))


def small_counts(regions: int, others: tuple[int, int], mean: float) -> None:
    """(A+G)*B*C to base 3 over many seeds: seconds, and utility against rounding at random."""
    generator = np.random.default_rng(1)
    shape = (regions, *others)
    domain = Domain.of_shape(shape)
    counts = generator.poisson(generator.gamma(0.6, mean / 0.6, size=shape))
    table = Table.dense(domain, counts)
    groups = tuple(f"g{i}" for i in generator.integers(0, 19, regions))
    publication = Publication.of(domain, "(A+G)*B*C", (Grouping("G", "A", groups),))
    taken, found, plain = [], [], []
    for seed in range(SEEDS):
        start = time.perf_counter()
        small = SmallCounts(table, publication, RoundingRules(3, 2))
        inner = small.round(np.random.default_rng(seed).permutation).inner
        taken.append(time.perf_counter() - start)
        found.append(utility(small.sums, publication.stack(publication.sums(inner))))
        noise = at_random(table, 3, np.random.default_rng(seed))
        plain.append(utility(small.sums, publication.stack(publication.sums(noise))))
    start = time.perf_counter()
    publication.stack(publication.sums(table))
    one_pass = time.perf_counter() - start
    print(
        f"  {domain.size:>9,} inner cells, {len(small.cells):>7,} small: "
        f"{np.median(taken):6.3f} s (worst {max(taken):.3f}), "
        f"{np.median(taken) / one_pass:6.1f} x adding up the published cells; "
        f"utility {np.median(found):.5f}, at random {np.median(plain):.5f}"
    )


def controlled(shape: tuple[int, ...], base: int, formula: str) -> None:
    """The nearest rounding, and in two-way the unbiased one."""
    domain = Domain.of_shape(shape)
    counts = np.random.default_rng(2).poisson(4, size=shape)
    publication = Publication.of(domain, formula)
    start = time.perf_counter()
    found = ControlledProgramme(Table.dense(domain, counts), publication, base).nearest()
    seconds = time.perf_counter() - start
    text = f"distance {found.distance:,}{'' if found.optimal else ' (not proven nearest)'}"
    if len(shape) == 2:
        start = time.perf_counter()
        round_unbiased(counts, base, np.random.default_rng(3))
        text += f"; unbiased {time.perf_counter() - start:.3f} s"
    print(f"  {' x '.join(map(str, shape)):>12} base {base:>2}: nearest {seconds:6.3f} s, {text}")


def main() -> None:
    """Print the figures."""
    print("small count rounding, (A+G)*B*C, base 3")
    small_counts(437, (4, 3), 26.0)
    small_counts(4167, (4, 3), 26.0)
    small_counts(4167, (4, 3), 5.0)
    small_counts(41670, (4, 3), 26.0)
    print("controlled rounding, all margins")
    for shape, base in (((20, 20), 3), ((100, 100), 3), ((100, 100), 10), ((300, 300), 5)):
        controlled(shape, base, "A*B")
    for shape in ((6, 6, 6), (10, 10, 10), (12, 12, 7)):
        controlled(shape, 3, "A*B*C")


if __name__ == "__main__":
    main()
