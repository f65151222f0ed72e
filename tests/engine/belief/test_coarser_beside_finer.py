"""A table of two variables beside one of them alone: against all originals."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import InputError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

COUNTS = np.array([[1, 2, 0], [2, 0, 3]])
FINE = Domain.of({"A": ["a", "b"], "B": ["c", "d", "e"]})
COARSE = Domain.of({"B": ["c", "d", "e"]})


def released(table: Table, method: str, given: dict[str, object]) -> Release:
    return methods()[method].run(Problem(table), given, Randomness.seeded(3)).release


def rounded() -> Release:
    return released(Table.dense(COARSE, COUNTS.sum(axis=0)), "random_rounding", {"base": 5})


def chance_of(release: Release, sums: Ints) -> float:
    """P(the rounded table with its total | counts)."""
    by_names = {one.table.domain.names: one.table.counts for one in release.tables}
    numbers = [*by_names[("B",)].tolist(), int(by_names[()])]
    true = [*sums.tolist(), int(sums.sum())]
    return float(
        np.prod([max(0.0, 1 - abs(t - n) / 5) for t, n in zip(true, numbers, strict=True)])
    )


@pytest.mark.parametrize("coarse_first", [False, True])
def test_cycles_and_rounded_totals(coarse_first: bool) -> None:
    fine, coarse = released(Table.dense(FINE, COUNTS), "random_rounding", {"base": 3}), rounded()
    found = believe(
        [coarse, fine] if coarse_first else [fine, coarse], knowing=RELEASE_ALONE
    ).posterior
    assert found.domain == FINE and found.way == "exact"
    assert found.published == fine.table
    alone = infer(likelihood_of(fine))
    listed = alone.list_originals()
    assert listed is not None
    tables, chances = listed
    weights = chances * [chance_of(coarse, x.reshape(2, 3).sum(axis=0)) for x in tables]
    weights /= weights.sum()
    for cell in range(6):
        for value, chance in zip(*found.distribution(FINE.unflat(cell)), strict=True):
            assert chance == pytest.approx(weights[tables[:, cell] == value].sum(), abs=1e-12)
    assert any(
        abs(found.probability(1).reshape(-1)[c] - alone.probability(1).reshape(-1)[c]) > 0.01
        for c in range(6)
    )


def test_a_finer_table_by_cycles() -> None:
    table = Table.dense(FINE, COUNTS)
    fine = released(table, "cyclic_perturbation", {"cycles": design(FINE, "strips")})
    found = believe([fine, rounded()], knowing=RELEASE_ALONE).posterior
    # The cycles keep every total, so rounded ones tell nothing.
    alone = infer(likelihood_of(fine))
    assert np.abs(found.mean - alone.mean).max() < 1e-12


def test_tables_of_other_variables_are_not_read() -> None:
    other = Domain.of({"C": ["c", "d", "e"]})
    release = released(Table.dense(other, np.array([3, 2, 3])), "random_rounding", {"base": 3})
    fine = released(Table.dense(FINE, COUNTS), "random_rounding", {"base": 3})
    with pytest.raises(InputError, match="other variables"):
        believe([fine, release], knowing=RELEASE_ALONE)
