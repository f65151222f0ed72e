"""Sums that a release publishes exactly: those that no original that fits it contradicts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.exact_margins import exact_sums
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DR = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
COUNTS = np.array([[[1, 2, 0], [1, 1, 2]], [[2, 0, 1], [1, 3, 1]]])


@pytest.mark.parametrize(
    ("method", "given", "margins"),
    [
        ("cyclic_perturbation", {}, [(), ("A",), ("B",), ("C",), ("A", "B"), ("B", "C")]),
        ("publish_margins", {"margins": "A:B + C", "threshold": 1}, [(), ("A", "B"), ("C",)]),
        ("suppression", {}, []),
    ],
)
def test_against_all_originals(method: str, given: dict[str, object], margins: list[tuple[str, ...]]) -> None:
    counts = COUNTS if method != "suppression" else DR
    table = Table.dense(Domain.of_shape(counts.shape), counts)
    done = methods()[method].run(Problem(table), given, Randomness.seeded(1))
    likelihood = likelihood_of(done.release)
    found = exact_sums(likelihood)
    listed = infer(likelihood).list_originals()
    assert listed is not None and len(listed[0]) > 1
    originals = listed[0].reshape(-1, *table.domain.shape)
    constant = {}
    for size in range(table.domain.ndim + 1):
        for names in itertools.combinations(table.domain.names, size):
            others = (n + 1 for n, name in enumerate(table.domain.names) if name not in names)
            sums = originals.sum(axis=tuple(others)).reshape(len(originals), -1)
            for key in np.flatnonzero((sums == sums[0]).all(axis=0)).tolist():
                constant[(names, key)] = int(sums[0, key])
    assert found.items() <= constant.items()
    for names in margins:
        assert all((names, key) in found for key in range(table.domain.project(names).size))
    if method == "suppression":
        shown = np.flatnonzero(~done.release.tables[0].hidden)
        assert {key for names, key in found if len(names) == 2} >= set(shown.tolist())
