"""What must stay true, against what methods then do."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.protection.guarantees import GUARANTEES
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.requirements import KEPT, REQUIREMENTS, WHOLE, Promised
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DOMAIN = Domain.of_shape((4, 3))
COUNTS = np.array([[1, 9, 4], [7, 2, 12], [0, 15, 6], [11, 5, 1]])
PROBLEM = Problem(Table.dense(DOMAIN, COUNTS), SmallCount(1, 2))
A, B = DOMAIN.names


def kept(name: str, **given: object) -> Promised:
    method = methods()[name]
    given = {**method.trial_parameters(DOMAIN), **given}
    return Promised.of(method, DOMAIN, method.resolve_for(PROBLEM, given))


def test_every_wish_is_granted_by_promises_that_exist() -> None:
    assert all(set(wish.granted_by) <= set(GUARANTEES) for wish in REQUIREMENTS.values())
    assert [name for name, wish in REQUIREMENTS.items() if not wish.granted_by] == [KEPT]


@pytest.mark.parametrize("name", [n for n, m in methods().items() if not m.unmet(PROBLEM)])
def test_what_is_granted_holds_on_what_is_drawn(name: str) -> None:
    method = methods()[name]
    values = method.resolve_for(PROBLEM, method.trial_parameters(DOMAIN))
    granted = Promised.of(method, DOMAIN, values)
    for seed in range(3):
        release, _ = method.perform(PROBLEM, values, np.random.default_rng(seed))
        inner = next((p for p in release.tables if p.table.domain == DOMAIN), None)
        if WHOLE in granted.names:
            assert inner is not None and not inner.hidden.any()
        if inner is None:
            continue
        seen, published = ~inner.hidden, inner.table.counts
        if "exact" in granted.names:
            assert (published == COUNTS)[seen].all()
        if "zeros_kept" in granted.names:
            assert (published[seen & (COUNTS == 0)] == 0).all()
        if granted.exact is not None and WHOLE in granted.names:
            sums = granted.exact.sums(inner.table)
            assert sums == granted.exact.sums(PROBLEM.table)
        if "additive" in granted.names and WHOLE in granted.names:
            for table in release.tables:
                names = table.table.domain.names
                assert inner.table.margin(names).counts.tolist() == table.table.counts.tolist()


def test_exact_margins_are_those_that_every_release_states() -> None:
    assert KEPT not in kept("cyclic_perturbation").lost(((A,), (B,)))
    only = kept("cyclic_perturbation", keep=A)
    assert KEPT not in only.lost(((A,),)) and KEPT in only.lost(((B,),))
    assert KEPT not in kept("publish_margins").lost(((A,), (B,)))
    # What is suppressed may be a sum; what is grouped tells no sum of the finer categories.
    assert KEPT in kept("suppression").lost(((A,),))
    assert KEPT in kept("random_rounding").lost(((A,),))
    assert KEPT not in kept("random_rounding").lost(())
    # A bootstrap of one sample keeps the grand total and no more.
    total = kept("bootstrap")
    assert KEPT not in total.lost(((),)) and KEPT in total.lost(((A,),))


def test_nothing_is_hidden_only_where_the_table_itself_is_published() -> None:
    assert WHOLE in kept("cell_key", margins=f"{A}*{B}").names
    assert WHOLE not in kept("cell_key", margins=f"{A} + {B}").names
    for name in ("suppression", "publish_margins", "coarsening"):
        assert WHOLE not in kept(name).names
    # Groupings of kept sums are no published tables of their own.
    first, *_, last = DOMAIN[A].categories
    groups = ",".join(f"{c}>{'x' if c == first else 'y'}" for c in DOMAIN[A].categories)
    grouped = kept("cyclic_perturbation", keep=f"g + {B}", groupings=f"g:{A}={groups}")
    assert WHOLE in grouped.names and first != last
