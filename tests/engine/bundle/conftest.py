"""One protected table that the bundle's tests share."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

SEED = 918273645546372819


@pytest.fixture(scope="session")
def protected() -> Protected:
    """A 6 x 7 table with odd labels, distinctive counts, and a seed that moves many cells."""
    domain = Domain.of(
        {
            "place, or region": ["north", 'the "old" town', " blank", "a;b", "ünï", "x\ny"],
            "age": [f"{i}0-{i}9" for i in range(1, 8)],
        }
    )
    counts = np.random.default_rng(5).integers(1, 60, domain.shape)
    counts[0, :3] = [1, 2, 1]
    return methods()["cyclic_perturbation"].run(
        Problem(Table.dense(domain, counts), title="Health, 2026"), {}, Randomness.seeded(SEED)
    )
