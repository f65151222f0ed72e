"""Designs for kept margins: seconds of processor time, cycles, and how both grow."""

from __future__ import annotations

import time

from tabprotect.engine.cycles.constructions.for_margins import design_for_margins
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import margins_of_order
from tabprotect.engine.tables.publication import Publication


def designed(shape: tuple[int, ...], order: int) -> None:
    """Print the time of one design."""
    domain = Domain.of_shape(shape)
    kept = KeptMargins.even(Publication(domain, margins_of_order(domain, order)))
    begin = time.process_time()
    found = design_for_margins(kept)
    seconds = time.process_time() - begin
    assert found.rank == found.dimension
    each = seconds / found.rank * 1e6
    print(f"  {'x'.join(map(str, shape)):28} {found.rank:>9,} cycles  {seconds:7.2f} s  {each:6.1f} us each")


def main() -> None:
    """Print the figures."""
    print("designs for kept margins")
    for shape, order in (
        ((10, 10), 1),
        ((16, 15, 7), 2),
        ((100, 100), 1),
        ((300, 300), 1),
        ((1000, 1000), 1),
        ((3,) * 8, 2),
        ((3,) * 10, 2),
        ((3,) * 12, 2),
    ):
        designed(shape, order)


if __name__ == "__main__":
    main()
