"""A release beside one of the same table by any other method is read as by who lists every original.

All pairs on more tables: ``tests/benchmarks/pairs_of_methods.py`` (784 pairs: 670 read, all alike; equal draws count once).
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from listing_reader import Reader
from pairs_of_methods import GIVEN, LIMITS, MOST, Weights, compared, listed, read, released

from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

NAMES = tuple(GIVEN)
TABLE = Table.dense(Domain.of_shape((2, 2)), np.array([[3, 1], [2, 4]]))


def test_every_method_is_there() -> None:
    # The law of swaps is listed by the oracle of their own tests.
    assert set(NAMES) == set(methods()) - {"record_swapping"}


@cache
def drawn(name: str, seed: int) -> tuple[Release, Weights] | None:
    return read(name, TABLE, np.random.default_rng([NAMES.index(name), seed]))


@pytest.mark.parametrize("first", NAMES)
def test_each_method_beside_every_other_one(first: str) -> None:
    earlier = drawn(first, 0)
    assert earlier is not None
    for second in NAMES:
        later = drawn(second, 1)
        assert later is not None
        how = compared(earlier, later)
        assert how is not None or first == second, second
        assert how in ("exact", "drawn", None), (second, how)


@pytest.mark.parametrize(
    "name",
    [
        "cyclic_perturbation",
        "random_rounding",
        "small_count_rounding",
        "cell_key",
        "bootstrap",
        "discrete_laplace",
    ],
)
def test_the_chance_that_nothing_was_changed(name: str) -> None:
    """What a reader who lists all originals believes of the published counts."""
    release = released(name, TABLE, np.random.default_rng(50))
    assert release is not None
    weights = listed(Reader(release, LIMITS.at_risk, MOST))
    (own,) = (one.table for one in release.tables if one.table.domain == release.domain)
    believed = weights.get(tuple(own.counts.reshape(-1).tolist()), 0.0) / sum(weights.values())
    assert verdict(release, LIMITS).unchanged == pytest.approx(believed, abs=1e-9)
