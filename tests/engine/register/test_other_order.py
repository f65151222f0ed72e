"""A release in another order of its variables and categories says the same."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.people.other_order import in_order
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable

COUNTS = np.array([[3, 1, 7], [2, 8, 4]])
MINE = Domain((Variable("A", ("a0", "a1")), Variable("B", ("b0", "b1", "b2"))))
WANTED = Domain((Variable("B", ("b2", "b0", "b1")), Variable("A", ("a1", "a0"))))


@pytest.mark.parametrize("method", ["cyclic_perturbation", "random_rounding", "suppression"])
def test_every_original_has_the_same_weight(method: str) -> None:
    done = methods()[method].run(Problem(Table.dense(MINE, COUNTS)), {}, Randomness.seeded(3))
    before = Evidence(done.release)
    after = in_order(before, WANTED)
    assert after.domain == WANTED and before.domain == MINE
    known = []
    for one in (before, after):
        found = infer(one.likelihood).list_originals()
        assert found is not None and len(found[1]) > 1
        laid_out = found[0].reshape(-1, *one.domain.shape)
        if one is after:
            laid_out = laid_out.transpose(0, 2, 1)[:, ::-1][:, :, [1, 2, 0]]
        known.append(
            {table.tobytes(): weight for table, weight in zip(laid_out.copy(), found[1], strict=True)}
        )
    assert known[0] == pytest.approx(known[1])


def test_another_table_stays_as_it_is() -> None:
    done = methods()["random_rounding"].run(Problem(Table.dense(MINE, COUNTS)), {}, Randomness.seeded(3))
    before = Evidence(done.release)
    other = Domain((Variable("B", ("b2", "b0", "b3")), Variable("A", ("a1", "a0"))))
    assert in_order(before, other) is before and in_order(before, MINE) is before
