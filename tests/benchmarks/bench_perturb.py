"""The mechanism: 1000 x 1000, bidiagonal, two passes, against one numpy pass over the cells."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.cycles.layers import layers
from tabprotect.engine.protection.cycle_runs.forward import flip, walk
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet


def best(work: Callable[[], object], times: int = 5) -> float:
    """Seconds of the fastest of several runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def perturb(name: str, moves: MoveSet, passes: int) -> float:
    """Time layers, coins and walk together; print the ratio to one pass over the cells."""
    counts = np.random.default_rng(1).poisson(50, moves.domain.size).astype(np.int64)

    def run() -> None:
        coins = flip(np.random.default_rng(2), (passes, len(moves)), alpha=0.25, beta=0.25)
        walk(counts.copy(), layers(moves), coins, "any_zero")

    touched, signs = moves.cells, moves.signs.astype(np.int64)
    state = counts.copy()

    def one_pass() -> None:
        state[touched] += signs

    seconds, reference = best(run), best(one_pass)
    print(
        f"  {name:34} {len(moves):>7,} cycles  {seconds * 1e3:8.1f} ms  "
        f"{seconds / reference:6.1f} x one numpy pass over the touched cells"
    )
    return seconds


def main() -> None:
    """Print the figures."""
    print("perturbing")
    perturb(
        "1000x1000 bidiagonal, 2 passes", design(Domain.of_shape((1000, 1000)), "bidiagonal"), 2
    )
    perturb("1000x1000 default, 2 passes", design(Domain.of_shape((1000, 1000)), "default"), 2)
    for n in (125, 250, 500, 1000):
        perturb(f"{n}x{n} bidiagonal, 1 pass", design(Domain.of_shape((n, n)), "bidiagonal"), 1)


if __name__ == "__main__":
    main()
