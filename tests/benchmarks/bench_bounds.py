"""Bounds of cells: one kept model against a model built anew for every cell, and the ways of
``auto`` against each other."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tabprotect.engine.bounds.bounding import bounds, width
from tabprotect.engine.bounds.support import support
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet, margins_of_order
from tabprotect.engine.tables.table import Table


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Seconds, and the result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def poisson(shape: tuple[int, ...], mean: float) -> Table:
    """A table of Poisson counts."""
    return Table.dense(Domain.of_shape(shape), np.random.default_rng(0).poisson(mean, shape))


def anew(table: Table, release: MarginSet, cells: int) -> float:
    """Seconds a cell with ``scipy.optimize.linprog``."""
    opened = support(table, release)
    assert opened is not None
    size, margins = opened.rows.shape
    columns = np.repeat(np.arange(size), margins)
    sums = csr_array(
        (np.ones(size * margins), (opened.rows.reshape(-1), columns)), shape=(len(opened.totals), size)
    )
    start = time.perf_counter()
    for cell in range(cells):
        for sign in (1.0, -1.0):
            cost = np.zeros(size)
            cost[cell] = sign
            done = linprog(cost, A_eq=sums, b_eq=opened.totals, method="highs")
            assert done.success
    return (time.perf_counter() - start) / cells


def linear(name: str, table: Table, release: MarginSet, *, compared: int) -> None:
    """Linear bounds of all cells, and the ratio to models built anew."""
    seconds, _ = timed(lambda: bounds(table, release, method="lp"))
    each = seconds / table.domain.size
    reference = anew(table, release, compared)
    print(
        f"  {name:26} {each * 1e3:7.2f} ms a cell; built anew {reference * 1e3:8.1f} ms a cell: "
        f"{reference / each:5.1f} x"
    )


def main() -> None:
    """Print the figures."""
    czech = open_table("example:czech-autoworkers").table
    print("linear bounds, one kept model")
    cube = poisson((10, 10, 10), 2.0)
    linear("Czech 2^6, all 2-way", czech, margins_of_order(czech.domain, 2), compared=16)
    linear("10x10x10, all 2-way", cube, margins_of_order(cube.domain, 2), compared=4)
    print("exact bounds of all 64 Czech cells")
    for order in (2, 3, 4, 5):
        release = margins_of_order(czech.domain, order)
        for way in ("auto", "integer"):
            seconds, found = timed(lambda w=way, r=release: bounds(czech, r, method=w))  # type: ignore[misc]
            print(f"  all {order}-way, {way:8} {seconds:6.3f} s  {found}")
    print("smallest width of the at-risk cells, all 2-way margins")
    for n in (5, 10, 20):
        table = poisson((n, n, n), 2.0)
        release = margins_of_order(table.domain, 2)
        seconds, result = timed(lambda t=table, r=release: width(t, r))  # type: ignore[misc]
        print(f"  {n}x{n}x{n:<3} {seconds:7.3f} s  {result.why} exact={result.exact}")  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
