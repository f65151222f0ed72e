"""Resampling and post-randomisation: growth with cells, and what the exact ways replace."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.resampling import compensation, transitions
from tabprotect.engine.protection.resampling.truncated_laws import boxed, limits
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

METHODS: tuple[tuple[str, dict[str, object]], ...] = (
    ("bootstrap", {"S": 1.5}),
    ("bootstrap", {"S": 1.5, "M": 3}),
    ("binomial_compensated", {"S": 1.5}),
    ("binomial_compensated", {"S": 1.5, "kept": "A"}),
    ("post_randomisation", {}),
    ("publish_margins", {"margins": "A + B"}),
)


def _seconds(work: object, times: int = 3) -> float:
    best = float("inf")
    for _ in range(times):
        began = perf_counter()
        work()  # type: ignore[operator]
        best = min(best, perf_counter() - began)
    return best


def main() -> None:
    """Print the curves."""
    generator = np.random.default_rng(1)
    print("draws, seconds by cells")
    sides = (10, 32, 100, 320)
    print(f"{'':50}" + "".join(f"{side * side:>12,}" for side in sides))
    tables = [
        Table.dense(Domain.of_shape((side, side)), generator.poisson(5, (side, side))) for side in sides
    ]
    for name, given in METHODS:
        row = []
        for table in tables:
            values = methods()[name].resolve(table.domain, given)
            row.append(
                _seconds(lambda n=name, t=table, v=values: methods()[n].draw(Problem(t), v, generator))
            )
        print(f"{name} {given!s:{49 - len(name)}}" + "".join(f"{s:12.4f}" for s in row))
    print("bootstrap: one exact draw against drawing until a table is accepted (S=1.5, M=1)")
    for cells in (8, 16, 32, 48):
        counts = generator.poisson(5, cells) + 1
        known, times = np.unique(counts, return_counts=True)
        total = int(counts.sum())
        box = limits(known, total, 1.5)
        exact = _seconds(lambda k=known, t=times, b=box: boxed(k, t, b), 20)
        low, high = limits(counts, total, 1.5)
        tries, began = 0, perf_counter()
        accepted = 0
        while accepted < 50:
            drawn = generator.multinomial(total, counts / total, size=2000)
            good = ((drawn >= low) & (drawn <= high)).all(axis=1)
            tries, accepted = tries + 2000, accepted + int(good.sum())
        blind = (perf_counter() - began) / accepted
        print(f"  {cells:3} cells: {tries / accepted:10.1f} samples a table, {blind / exact:8.2f}x")
    print("exact probability of a release: milliseconds by cells of a block")
    for cells in (10, 30, 100, 300):
        x = generator.poisson(5, cells)
        out = compensation.draw(x, np.zeros(cells, dtype=np.int64), 1.5, generator)
        spent = _seconds(lambda a=x, b=out: compensation.log_chances(a[None], b, 1.5))
        print(f"  binomial_compensated {cells:4}: {1e3 * spent:9.2f}")
    print("post-randomisation: spread of one estimate (log), milliseconds")
    for shape in ((3, 3), (4, 4), (6, 6), (8, 8)):
        matrices = [0.8 * np.eye(size) + 0.2 / size for size in shape]
        x = generator.poisson(4, shape)
        out = transitions.applied(x, matrices, generator).reshape(-1)
        chances = np.kron(*matrices)
        began = perf_counter()
        logs = [transitions.log_estimate(x.reshape(-1), out, chances, generator) for _ in range(20)]
        print(f"  {shape}: {np.std(logs):6.3f}  {1e3 * (perf_counter() - began) / 20:8.1f}")


if __name__ == "__main__":
    main()
