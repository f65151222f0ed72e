"""What the gate lets out breaks no limit for a reader who lists everything; a planted fault is seen."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).parents[2] / "engine/disclosure"))

from accepted_releases import Originals, run
from listing_reader import Reader
from planted_tables import line

from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


@pytest.mark.parametrize(
    ("name", "read", "twice"), [("cell_key", 2, 1), ("cyclic_perturbation", 6, 2), ("discrete_laplace", 2, 0)]
)
def test_nothing_that_is_let_out_breaks_a_limit(name: str, read: int, twice: int) -> None:
    tally, faults = run(name, read, seed=2, seconds=60)
    assert not faults
    assert tally["read"] == read and tally["read twice"] >= twice


def test_a_release_that_breaks_a_limit_is_seen() -> None:
    table = Table.dense(Domain.of_shape((2, 3)), np.array([[1, 2, 0], [2, 1, 3]]))
    given = {"D": 1, "V": 0.2, "js": 0, "margins": "A*B", "keys": "hashed"}
    given["margins"] = "*".join(table.domain.names)
    release = methods()["cell_key"].run(Problem(table), given, Randomness.seeded(1)).release
    limits = AgencyPolicy().limits()
    reader = Reader(release, limits.at_risk, 20_000)
    found = verdict(release, limits)
    assert Originals(reader, 20_000).broken(reader, limits, found)
    assert found.passed is False


def test_claims_on_planted_tables_are_right() -> None:
    found = line((2, 2, 2, 2), (2, 1.0, 0), 3, 1)
    assert found.settled == 3 and found.known >= 24
    assert found.right >= 0.95 * found.known
