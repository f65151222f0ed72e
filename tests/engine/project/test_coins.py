"""The same table and mechanism get the same coins; anything else gets others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.engine.project.releasing.coins import agency_randomness
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

KEY = bytes(range(32))
COUNTS = np.array([[9, 1, 12], [2, 0, 1], [5, 5, 4]])


def seed_of(
    counts: np.ndarray = COUNTS,
    *,
    names: tuple[str, str] = ("a", "b"),
    label: str = "x",
    method: str = "cyclic_perturbation",
    at_risk: SmallCount | None = None,
    key: bytes = KEY,
    keys: Table | None = None,
    **given: object,
) -> int:
    domain = Domain.of({names[0]: [label, "y", "z"], names[1]: ["1", "2", "3"]})
    problem = Problem(Table.dense(domain, counts), at_risk or SmallCount())
    if keys is not None:
        problem = replace(problem, record_keys=Table.dense(domain, keys.counts))
    values = methods()[method].resolve(domain, given)
    return agency_randomness(problem, method, values, key).seed


def test_same_and_other() -> None:
    first = seed_of()
    assert first == seed_of()
    assert first == seed_of(alpha=0.25)
    record_keys = Table.dense(Domain.of_shape((3, 3)), COUNTS * 7)
    others = [
        seed_of(COUNTS + np.eye(3, dtype=int)),
        seed_of(names=("a", "c")),
        seed_of(label="w"),
        seed_of(at_risk=SmallCount(1, 3)),
        seed_of(key=bytes(32)),
        seed_of(keys=record_keys),
        seed_of(alpha=0.3, beta=0.3),
        seed_of(passes=2),
        seed_of(cycles="bidiagonal"),
        seed_of(method="random_rounding"),
        seed_of(method="random_rounding", base=5),
    ]
    assert len({first, *others}) == len(others) + 1
    assert max(seed.bit_length() for seed in others) > 248


def test_how_a_table_is_held_does_not_matter() -> None:
    domain = Domain.of({"a": ["x", "y", "z"], "b": ["1", "2", "3"]})
    values = methods()["random_rounding"].resolve(domain, {})
    dense = Table.dense(domain, COUNTS)
    sparse = Table.sparse(domain, *dense.cells)
    seeds = {agency_randomness(Problem(t), "random_rounding", values, KEY).seed for t in (dense, sparse)}
    assert len(seeds) == 1


def test_the_seed_is_that_of_the_first_version_for_ever() -> None:
    """Published tables must get the same coins after every update."""
    assert hex(seed_of(method="random_rounding"))[:18] == "0x367fe3a57439d010"
