"""A release beside one of the same table by any other method is read as by who lists every original.

All pairs on more tables: ``tests/benchmarks/pairs_of_methods.py`` (784 pairs: 670 read, all alike; equal draws count once).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from pairs_of_methods import GIVEN, compared

from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

NAMES = tuple(GIVEN)
TABLE = Table.dense(Domain.of_shape((2, 2)), np.array([[3, 1], [2, 4]]))


def test_every_method_is_there() -> None:
    # The law of swaps is listed by the oracle of their own tests.
    assert set(NAMES) == set(methods()) - {"record_swapping"}


@pytest.mark.parametrize("at", range(len(NAMES)), ids=NAMES)
def test_each_method_beside_another_one(at: int) -> None:
    compared(NAMES[at], NAMES[(5 * at + 3) % len(NAMES)], TABLE, np.random.default_rng(at))
