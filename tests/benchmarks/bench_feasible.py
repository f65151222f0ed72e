"""Posteriors of published counts, and numbers of tables: seconds, accuracy, growth."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from tabprotect.engine.bounds.counting import count_tables
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import Poisson, Prior
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, independent
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

SLIDE = ([20, 55, 25, 35], [50, 35, 30, 20])


def of_margins(counts: np.ndarray, margins: Sequence[Sequence[int]], slack: int) -> CellFactors:
    """The sums over all but the given axes, each known up to ``slack``."""
    domain = Domain.of_shape(counts.shape)
    grid = np.arange(counts.size).reshape(counts.shape)
    sums: list[np.ndarray] = []
    for kept in margins:
        size = int(np.prod([counts.shape[a] for a in range(counts.ndim) if a not in kept]))
        sums += list(np.moveaxis(grid, kept, range(len(kept))).reshape(-1, size))
    totals = [int(counts.reshape(-1)[cells].sum()) for cells in sums]
    starts = np.concatenate([[0], np.cumsum([len(cells) for cells in sums])]).astype(np.int64)
    return CellFactors.of(
        domain,
        (PublishedTable(Table.dense(Domain.of_shape((1,), ["none"]), [0])),),
        (starts, np.concatenate(sums)),
        np.arange(len(sums)),
        [(max(0, t - slack), t + slack, None) for t in totals],
    )


def told(name: str, likelihood: CellFactors, prior: Prior | None = None) -> None:
    """Print how long one posterior takes and how good it is."""
    start = time.perf_counter()
    found = infer(likelihood, prior, randomness=Randomness.seeded(1))
    seconds = time.perf_counter() - start
    good = "exact"
    if found.error is not None and found.effective_sample_size is not None:
        good = f"error {found.error:.4f}, worth {found.effective_sample_size:5.0f} draws"
        good += "" if found.r_hat is None else f", R-hat {found.r_hat:.3f}"
    cells = likelihood.domain.size
    print(f"  {name:42} {seconds:7.2f} s, {seconds / cells * 1e6:8.1f} us a cell, {good}")


def blocks(shape: tuple[int, int], size: int) -> Sequence[np.ndarray]:
    """The cells of each block of merged categories."""
    grid = np.arange(shape[0] * shape[1]).reshape(shape[0] // size, size, shape[1] // size, size)
    return list(grid.transpose(0, 2, 1, 3).reshape(-1, size * size))


def main() -> None:
    """Print the figures."""
    rng = np.random.default_rng(1)
    print("cells by themselves (noise of at most 3)")
    for side in (250, 500, 1000):
        counts = rng.poisson(5, (side, side))
        table = PublishedTable(Table.dense(Domain.of_shape(counts.shape), counts))
        likelihood = independent(table, lambda v: (max(v - 3, 0), v + 3, np.zeros(v + 4 - max(v - 3, 0))))
        told(f"{side} x {side}, uniform prior", likelihood)
        told(f"{side} x {side}, Poisson prior", likelihood, Poisson(rng.gamma(2, 2, counts.size)))
    print("merged categories (3 x 3 cells each)")
    for side in (30, 90, 300):
        counts = rng.poisson(4, (side, side))
        sums = blocks((side, side), 3)
        starts = np.arange(len(sums) + 1, dtype=np.int64) * 9
        totals = [int(counts.reshape(-1)[cells].sum()) for cells in sums]
        likelihood = CellFactors.of(
            Domain.of_shape((side, side)),
            (PublishedTable(Table.dense(Domain.of_shape((1,), ["none"]), [0])),),
            (starts, np.concatenate(sums)),
            np.arange(len(sums)),
            [(t, t, None) for t in totals],
        )
        told(f"{side} x {side}, uniform prior", likelihood)
        told(f"{side} x {side}, Poisson prior", likelihood, Poisson(rng.gamma(4, 1, counts.size)))
    print("margins")
    for shape, margins, mean, slack in (
        ((3, 3), [(0,), (1,)], 5, 0),
        ((4, 4), [(0,), (1,)], 8, 0),
        ((20, 20), [(0,), (1,)], 5, 0),
        ((20, 20), [(0,), (1,), ()], 5, 2),
        ((100, 100), [(0,), (1,)], 5, 0),
        ((3, 3, 3), [(0, 1), (0, 2), (1, 2)], 2, 0),
        ((10, 10, 10), [(0, 1), (0, 2), (1, 2)], 3, 0),
    ):
        name = f"{' x '.join(map(str, shape))}, {len(margins)} margins, within {slack}"
        told(name, of_margins(rng.poisson(mean, shape), margins, slack))
    print("numbers of tables")
    for rows, columns in (SLIDE, ([2] * 10, [2] * 10), ([20] * 6, [20] * 6), ([50] * 10, [50] * 10)):
        start = time.perf_counter()
        found = count_tables(rows, columns, randomness=Randomness.seeded(1))
        seconds = time.perf_counter() - start
        good = "exact" if found.error is None else f"within {found.error / found.count:.1%}"
        print(f"  {len(rows)} x {len(columns)}: {float(found.count):.6g}, {good}, {seconds:.2f} s")


if __name__ == "__main__":
    main()
