"""Record swapping beside other methods on one made-up census: what readers believe against what changes.

``python tests/benchmarks/bench_swapping.py [PICTURE.png] [large]`` prints a line for each setting, and draws
them; five times as many people are large.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable

PEOPLE, AREAS, REGIONS = (100_000, 200, 10) if "large" in sys.argv else (20_000, 40, 4)
COUNTRIES, WORK = 10, 8

SWAPS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("deal .05", "record_swapping", {"rule": "deal", "rate": 0.05, "levels": "none"}),
    ("deal .1", "record_swapping", {"rule": "deal", "rate": 0.1, "levels": "none"}),
    ("deal .2", "record_swapping", {"rule": "deal", "rate": 0.2, "levels": "none"}),
    ("deal .25, else .06", "record_swapping", {"rule": "deal", "rate": 0.06, "hi": 0.25, "levels": "none"}),
    ("own (default)", "record_swapping", {}),
    ("own, one level", "record_swapping", {"levels": "none"}),
)
OTHERS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("cell keys D2 V1", "cell_key", {"D": 2, "V": 1, "js": 0}),
    ("cell keys D5 V3", "cell_key", {"D": 5, "V": 3}),
    ("random rounding 3", "random_rounding", {"base": 3}),
    ("small count rounding 3", "small_count_rounding", {"base": 3}),
    ("cyclic, default", "cyclic_perturbation", {}),
)


def census(seed: int = 44) -> Table:
    """Areas in regions differ in who lives there; work goes with the country."""
    generator = np.random.default_rng(seed)
    area = generator.choice(AREAS, PEOPLE, p=generator.dirichlet(np.full(AREAS, 5.0)))
    of_region = generator.dirichlet(0.9 ** np.arange(COUNTRIES) * 4.0, REGIONS) + 0.002
    of_area = np.stack([generator.dirichlet(60.0 * of_region[one % REGIONS]) for one in range(AREAS)])
    country = (of_area[area].cumsum(axis=1) < generator.random(PEOPLE)[:, None]).sum(axis=1)
    country = np.minimum(country, COUNTRIES - 1)
    of_country = generator.dirichlet(np.full(WORK, 0.8), COUNTRIES)
    work = (of_country[country].cumsum(axis=1) < generator.random(PEOPLE)[:, None]).sum(axis=1)
    work = np.minimum(work, WORK - 1)
    regions = Level("region", tuple(f"R{one % REGIONS}" for one in range(AREAS)))
    domain = Domain(
        (
            Variable("area", tuple(f"a{one}" for one in range(AREAS)), (regions,)),
            Variable("country", tuple(f"c{one}" for one in range(COUNTRIES))),
            Variable("work", tuple(f"w{one}" for one in range(WORK))),
        )
    )
    keys = np.ravel_multi_index((area, country, work), domain.shape)
    return Table.dense(domain, np.bincount(keys, minlength=domain.size).reshape(domain.shape))


def main() -> None:
    table = census()
    counts = table.counts
    small = int(((counts > 0) & (counts < 3)).sum())
    print(f"{table.total:,} people, {counts.size:,} counts, {small:,} of them small")
    print(f"{'':24}{'belief':>8}{'known':>7}{'change':>8}{'of 10 and more':>16}{'gate':>7}{'CPU s':>7}")
    drawn: list[tuple[str, float, float, bool]] = []
    for name, method, given in (*SWAPS, *OTHERS):
        begun = time.process_time()
        plugin = methods()[method]
        done = plugin.run(Problem(table), given, Randomness.seeded(44))
        judged = verdict(done.release, AgencyPolicy(), original=table).as_json()
        published = done.release.table.counts
        change = np.abs(published - counts)
        belief, known = judged["mean_belief"], judged["known"]
        spent = time.process_time() - begun
        print(
            f"{name:24}{belief:8.3f}{known:7}{change.mean():8.2f}{change[counts >= 10].mean():16.2f}"
            f"{'pass' if judged['accepted'] else 'no':>7}{spent:7.1f}",
            flush=True,
        )
        drawn.append((name, float(change.mean()), float(belief), method == "record_swapping"))
    for path in sys.argv[1:]:
        if path.endswith(".png"):
            picture(Path(path), drawn)


def picture(path: Path, drawn: list[tuple[str, float, float, bool]]) -> None:
    """Belief in released small counts against the mean change of a count."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for name, change, belief, swapped in drawn:
        axes.plot(change, belief, "s" if swapped else "o", color="#1f5fa8" if swapped else "#b4541a")
        axes.annotate(name, (change, belief), xytext=(6, 4), textcoords="offset points", fontsize=9)
    axes.margins(x=0.15)
    axes.axhline(2 / 3, color="grey", linewidth=0.8)
    axes.set(xlabel="mean change of a count", ylabel="mean belief in a small count", ylim=(0, 1))
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
