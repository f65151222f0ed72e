"""A comparison: 10 methods, 20 seeds each, on a table of 1,000 cells; and where its time goes."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np

from tabprotect.engine.assessment.comparing.compare import compare
from tabprotect.engine.assessment.comparing.run_spec import Comparing, RunSpec, parse_spec
from tabprotect.engine.assessment.registered import measures
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.workers.threads import cores

RUNS = (
    "binomial_compensated",
    "bootstrap",
    "cell_key D=5 V=3 js=2",
    "cell_key D=3 V=1 js=1",
    "controlled_rounding base=3",
    "controlled_tabular_adjustment",
    "cyclic_perturbation",
    "post_randomisation",
    "random_rounding base=3",
    "small_count_rounding base=3",
)


def table(shape: tuple[int, ...]) -> Table:
    """Counts of very different sizes, some of them 0."""
    generator = np.random.default_rng(3)
    return Table.dense(Domain.of_shape(shape), generator.poisson(np.exp(generator.normal(1, 1.2, shape))))


def one(problem: Problem, spec: RunSpec) -> None:
    """Where one run of a method spends its time."""
    begun = time.process_time()
    found = compare(
        problem, [spec], Comparing(seed=1, measures=["published_share"], workers=1), runs_per_method=1
    )
    drawn = time.process_time() - begun
    run = found.runs[0]
    if run.error:
        print(f"  {spec.text:32} {run.error}")
        return
    case = found.case(run)
    spent: dict[str, float] = defaultdict(float)
    for measure in measures().values():
        begun = time.process_time()
        measure.assess(case)
        spent[measure.name] = time.process_time() - begun
    slow = sorted(spent, key=spent.__getitem__, reverse=True)[:2]
    said = ", ".join(f"{name} {spent[name] * 1e3:.0f} ms" for name in slow)
    print(
        f"  {spec.text:32} release {drawn * 1e3:7.1f} ms, measures "
        f"{sum(spent.values()) * 1e3:7.1f} ms ({said})"
    )


def main() -> None:
    """Print the figures."""
    specs = [spec for text in RUNS for spec in parse_spec(text)]
    for shape in ((10, 10, 10), (4, 3, 2)):
        problem = Problem(table(shape))
        print(f"comparing on {' x '.join(map(str, shape))} = {problem.table.domain.size:,} cells")
        for spec in specs:
            one(problem, spec)
        seconds = {}
        for workers in (1, cores()):
            begun = time.perf_counter()
            compare(problem, specs, Comparing(seed=1, workers=workers), runs_per_method=20)
            seconds[workers] = time.perf_counter() - begun
            print(f"  {len(specs)} methods x 20 seeds, {workers} processes: {seconds[workers]:.1f} s")
        print(f"  ratio {seconds[1] / seconds[cores()]:.2f} with {cores()} processes")


if __name__ == "__main__":
    main()
