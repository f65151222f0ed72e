"""Between which ends the cells of several tables lie, by all that their releases state, against a listing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.people.grouped_categories import Groups
from tabprotect.engine.register.people.limits_of_all import LimitsOfAll
from tabprotect.engine.register.people.parts_of_whole import Counted
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable

LIMITS = AgencyPolicy().limits()
EVERY = np.indices((6,) * 8, dtype=np.int8).reshape(8, -1).T.reshape(-1, 2, 2, 2)
AXES = {"AB": 2, "BC": 0, "AC": 1}


def released(whole: np.ndarray, method: str, seed: int = 1) -> list[Evidence]:
    """Releases of A x B, B x C and A x C of a table A x B x C."""
    table = Table.dense(Domain.of_shape(whole.shape, ("A", "B", "C")), whole)
    run = methods()[method].run
    return [
        Evidence(run(Problem(table.margin(names)), {}, Randomness.seeded(seed + n)).release)
        for n, names in enumerate(AXES)
    ]


def possible(read: Sequence[Evidence]) -> np.ndarray:
    """All tables A x B x C of counts up to 5 that all releases leave possible."""
    fits = np.ones(len(EVERY), dtype=np.bool_)
    for one in read:
        margin = EVERY.sum(axis=1 + AXES["".join(one.domain.names)]).reshape(len(EVERY), -1)
        known = Counted.of(one, one.domain.names)
        ends = [known.cell_ends, known.factors.ends]
        starts = [np.arange(5), known.factors.starts]
        cells = [np.arange(4), known.factors.cells]
        for (low, high), start, cell in zip(ends, starts, cells, strict=True):
            for n, (a, b) in enumerate(zip(low, high, strict=True)):
                total = margin[:, cell[start[n] : start[n + 1]]].sum(axis=1)
                fits &= (total >= a) & (total <= b)
    return EVERY[fits]


@pytest.mark.parametrize(("method", "seed"), [("suppression", 1), ("suppression", 4), ("random_rounding", 2)])
def test_no_possible_table_is_beyond_the_ends(method: str, seed: int) -> None:
    whole = np.random.default_rng(seed).integers(0, 3, (2, 2, 2))
    read = released(whole, method)
    tables = possible(read)
    assert len(tables)
    for number, one in enumerate(read):
        margin = tables.sum(axis=1 + AXES["".join(one.domain.names)]).reshape(len(tables), -1)
        cells, low, high = LimitsOfAll(read, LIMITS).narrowed(number)
        assert (low <= margin.min(axis=0)[cells]).all() and (high >= margin.max(axis=0)[cells]).all()


def test_a_count_that_all_of_them_settle() -> None:
    """Of A x C no cell is stated: that both of a1 are in c1 follows from the two other tables."""
    whole = np.array([[[2, 0], [0, 0]], [[3, 0], [1, 4]]])
    table = Table.dense(Domain.of_shape((2, 2, 2), ("A", "B", "C")), whole)
    run = methods()["publish_margins"].run
    read = [
        Evidence(run(Problem(table.margin(names)), {"margins": margins}, Randomness.seeded(1)).release)
        for names, margins in (("AC", "A + C"), ("AB", "A*B"), ("BC", "B*C"))
    ]
    for number in (0, 1, 2):
        cells, low, high = LimitsOfAll(read, LIMITS).narrowed(number)
        margin = possible(read).sum(axis=1 + AXES["".join(read[number].domain.names)]).reshape(-1, 4)
        assert low.tolist() == margin.min(axis=0)[cells].tolist()
        assert high.tolist() == margin.max(axis=0)[cells].tolist()
    assert not LimitsOfAll(read, LIMITS).tells_little()
    assert LimitsOfAll(read[:1], LIMITS).tells_little()


def test_categories_that_are_groups_are_read_as_their_sums() -> None:
    whole = np.random.default_rng(3).poisson(6, (4, 3))
    fine = Table.dense(Domain.of_shape((4, 3), ("A", "B")), whole)
    wide = Variable("W", ("w0", "w1"))
    coarse = Table.dense(Domain((wide, fine.domain["B"])), whole.reshape(2, 2, 3).sum(axis=1))
    run = methods()["suppression"].run
    read = [Evidence(run(Problem(one), {}, Randomness.seeded(1)).release) for one in (coarse, fine)]
    groups = [Groups("A", "W", False, np.array([0, 0, 1, 1]))]
    found = LimitsOfAll(read, LIMITS, groups)
    assert found.domain.names == ("B", "A") and found.tells_little()
    assert not LimitsOfAll(read, LIMITS, [Groups("A", "W", False, None)]).tells_little()


def test_a_drawn_sum_that_all_of_them_settle() -> None:
    """Who is in A2 is drawn in two tables: no other number than two is left by both."""
    read = released(np.array([[[1, 0], [1, 3]], [[0, 0], [0, 2]]]), "random_rounding", 90)
    assert not any(verdict(one.release, LIMITS).failing for one in read)
    of_a2 = possible(read)[:, 1].sum(axis=(1, 2))
    assert of_a2.min() == of_a2.max() == 2
    assert not LimitsOfAll(read, LIMITS).tells_little()
