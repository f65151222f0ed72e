"""Cell keys: perturbation tables by D, and look-ups by cells, all margins published."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tabprotect.engine.protection.cell_keys.perturbation_table import perturbation_table
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def best(work: Callable[[], object], times: int = 7) -> float:
    """Seconds of the fastest of several runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def solving() -> None:
    """Perturbation tables of growing D, against solving one dense system of as many unknowns."""
    print("perturbation tables (js = 2, monotone)")
    for largest in (5, 10, 15, 30, 60):
        seconds = best(lambda d=largest: perturbation_table(D=d, V=d * d / 8 + 2, js=2))
        held = best(lambda d=largest: perturbation_table(D=d, V=d * d / 8 + 2, js=2, pstay=0.3))
        size = 2 * largest + 1
        matrix = np.random.default_rng(1).random((largest + 3, size, size))
        one = best(lambda m=matrix: np.linalg.solve(m, np.ones((len(m), m.shape[1], 1))))
        print(
            f"  D = {largest:3}  {seconds * 1e3:7.2f} ms  with pstay {held * 1e3:7.2f} ms  "
            f"{seconds / one:6.1f} x one dense solve per row"
        )


def looking_up() -> None:
    """Draws of the method on three-way tables of growing size."""
    print("cell keys, every margin of a three-way table")
    method = methods()["cell_key"]
    generator = np.random.default_rng(1)
    for shape in ((10, 50, 25), (10, 50, 100), (20, 100, 100), (20, 200, 200)):
        domain = Domain.of_shape(shape)
        table = Table.dense(domain, generator.poisson(3, shape))
        keys = Table.dense(domain, generator.integers(0, KEY_MODULUS, shape))
        stored, bare = Problem(table, record_keys=keys), Problem(table)
        values = method.resolve(domain, {})
        seconds = best(lambda p=stored, v=values: method.draw(p, v, generator))
        drawn = best(lambda p=bare, v=values: method.draw(p, v, generator))
        reference = best(lambda t=table: np.sort(t.counts.reshape(-1)))
        print(
            f"  {domain.size:>9,} cells  {seconds * 1e3:8.1f} ms  with keys drawn "
            f"{drawn * 1e3:8.1f} ms  {seconds / reference:6.1f} x sorting the counts once"
        )


def main() -> None:
    """Print the figures."""
    solving()
    looking_up()


if __name__ == "__main__":
    main()
