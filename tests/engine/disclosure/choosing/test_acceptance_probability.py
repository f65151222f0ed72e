"""What trials say of the gate before anything is drawn."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.choosing.acceptance_probability import Setting, chance
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

CHEAPEST: dict[str, object] = {"choice": "cheapest"}


def test_only_what_the_gate_refuses_is_told_as_refused() -> None:
    generator, method, seen = np.random.default_rng(1), methods()["suppression"], set()
    for shape in ((4, 4), (4, 4), (6, 6), (6, 6), (9, 9)):
        problem = Problem(Table.dense(Domain.of_shape(shape), generator.integers(0, 9, shape)))
        values = method.resolve(problem.table.domain, CHEAPEST)
        said = chance(Setting(method, values, AgencyPolicy().limits()), problem)
        done = gate.protect(method, problem, CHEAPEST, Randomness.seeded(1), draft=True)
        found = done.record.verdict
        assert found is not None
        if said.open:
            assert said.unlikely and "%" not in said.sentence
        elif said.unlikely:
            assert found.passed is False
        seen.add((said.open, said.unlikely))
    assert seen == {(False, False), (False, True), (True, True)}
