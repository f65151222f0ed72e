"""Restoring additivity and expected inner cells at 50,000 inner cells, and how the cost grows.

The ratios are to plain ways in the same run: sparse normal equations solved directly, and one
published cell scaled after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import eye_array
from scipy.sparse.linalg import splu

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.fitting.additivity import restore
from tabprotect.engine.fitting.expected import fit
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication

CASES = (
    ((250, 200), "A*B", 2.0),
    ((250, 200), "A*B", 0.2),
    ((50, 20, 50), "A*B*C", 1.0),
    ((50, 20, 50), "(A + B + C)^2", 1.0),
    ((50, 20, 50), "(A + B + C)^2", 0.1),
    ((50, 20, 50), "(A + G)*B*C", 1.0),
    ((50, 20, 50), "(A + G)*(B + C) + B:C", 0.3),
    ((10, 10, 10, 50), "(A + B + C + D)^3", 0.5),
)


def timed(work: Callable[[], object], times: int = 3) -> float:
    """The least seconds of some runs."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def case(shape: tuple[int, ...], formula: str, mean: float) -> tuple[Publication, Ints, Ints]:
    """A publication with uneven groups, its true counts, and these with noise of at most 4."""
    random = np.random.default_rng(1)
    groups = np.minimum(random.exponential(1.5, shape[0]), 9).astype(int)
    publication = Publication.of(
        Domain.of_shape(shape), formula, (Grouping("G", "A", tuple(f"g{k}" for k in groups)),)
    )
    inner = random.poisson(random.gamma(0.5, 2 * mean, publication.domain.size))
    sums = publication.incidence @ inner
    noise = np.where(sums > 0, random.integers(-4, 5, len(sums)), 0)
    _ = publication.distinct
    return publication, sums, np.maximum(sums + noise, 0)


def direct(publication: Publication, values: Ints) -> None:
    """One unrestricted fit by factorising what the published cells share."""
    sums = publication.incidence[publication.distinct[0]].astype(np.float64)
    shared = (sums @ sums.T + 1e-6 * eye_array(sums.shape[0])).tocsc()
    splu(shared, permc_spec="MMD_AT_PLUS_A").solve(values[publication.distinct[0]].astype(float))


def one_by_one(publication: Publication, values: Ints, sweeps: int) -> Floats:
    """Every published cell scaled in turn."""
    sums = publication.incidence
    fitted = np.ones(sums.shape[1])
    for _ in range(sweeps):
        for row, value in enumerate(values):
            cells = sums.indices[sums.indptr[row] : sums.indptr[row + 1]]
            now = fitted[cells].sum()
            if now > 0:
                fitted[cells] *= value / now
    return fitted


def main() -> None:
    """Print the figures."""
    print("50,000 inner cells: additivity by least squares, then expected cells")
    for shape, formula, mean in CASES:
        publication, sums, noisy = case(shape, formula, mean)
        least = timed(lambda p=publication, z=noisy: restore(p, z, non_negative=False))  # type: ignore[misc]
        device = timed(lambda p=publication, z=noisy: restore(p, z))  # type: ignore[misc]
        fitted = timed(lambda p=publication, z=sums: fit(p, z))  # type: ignore[misc]
        done = fit(publication, sums)
        print(
            f"  {'x'.join(map(str, shape)):12} {formula:22} mean {mean:<4} "
            f"{publication.size:6,} published: squares {least:6.3f} s, with device {device:6.3f} s, "
            f"expected {fitted:6.4f} s ({done.sweeps} sweeps)"
        )
    publication, sums, noisy = case((250, 200), "A*B", 2.0)
    plain = timed(lambda: direct(publication, noisy), 1)
    ours = timed(lambda: restore(publication, noisy, non_negative=False))
    print(f"  250x200: factorised directly {plain:.3f} s, {plain / ours:.1f} x ours")
    publication, sums, _ = case((50, 20, 50), "(A + B + C)^2", 0.1)
    done = fit(publication, sums)
    plain = timed(lambda: one_by_one(publication, sums, done.sweeps), 1)
    ours = timed(lambda: fit(publication, sums))
    print(f"  50x20x50: cell after cell {plain:.3f} s, {plain / ours:.1f} x ours")
    print("growth, A*B*C with a third of the cells positive")
    for size in (10, 20, 40, 80, 160):
        publication, sums, noisy = case((size, 20, size), "A*B*C", 0.3)
        device = timed(lambda p=publication, z=noisy: restore(p, z), 1)  # type: ignore[misc]
        print(f"  {publication.domain.size:9,} inner cells {device:7.3f} s")


if __name__ == "__main__":
    main()
