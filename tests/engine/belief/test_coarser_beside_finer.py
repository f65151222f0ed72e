"""A table of two variables beside one of them alone: against all originals."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InputError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from cycle_law import law

COUNTS = np.array([[1, 2, 0], [2, 0, 3]])
FINE = Domain.of({"A": ["a", "b"], "B": ["c", "d", "e"]})
COARSE = Domain.of({"B": ["c", "d", "e"]})
NOISE = {"D": 2, "V": 1.0, "js": 0, "keys": "hashed"}


def released(table: Table, method: str, given: dict[str, object]) -> Release:
    return methods()[method].run(Problem(table), given, Randomness.seeded(3)).release


def rounded() -> Release:
    return released(Table.dense(COARSE, COUNTS.sum(axis=0)), "random_rounding", {"base": 5})


def chance_of(release: Release, sums: Ints) -> float:
    """P(the rounded table with its total | counts)."""
    by_names = {one.table.domain.names: one.table.counts for one in release.tables}
    numbers = [*by_names[("B",)].tolist(), int(by_names[()])]
    true = [*sums.tolist(), int(sums.sum())]
    return float(np.prod([max(0.0, 1 - abs(t - n) / 5) for t, n in zip(true, numbers, strict=True)]))


@pytest.mark.parametrize("coarse_first", [False, True])
def test_cycles_and_rounded_totals(coarse_first: bool) -> None:
    fine, coarse = released(Table.dense(FINE, COUNTS), "random_rounding", {"base": 3}), rounded()
    found = believe([coarse, fine] if coarse_first else [fine, coarse], knowing=RELEASE_ALONE).posterior
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


def test_a_coarser_table_by_cycles() -> None:
    three = Domain.of({"A": ["a", "b"], "B": ["c", "d"], "C": ["e", "f", "g"]})
    counts = np.array([[[1, 0, 2], [2, 3, 0]], [[0, 1, 1], [4, 0, 2]]])
    two = Domain.of({"C": ["e", "f", "g"], "A": ["a", "b"]})
    fine = released(Table.dense(three, counts), "random_rounding", {"base": 2})
    coarse = released(
        Table.dense(two, counts.sum(axis=1).T),
        "cyclic_perturbation",
        {"cycles": design(two, "strips"), "blocking": "negative", "alpha": 0.25, "beta": 0.25},
    )
    found = believe([coarse, fine], knowing=RELEASE_ALONE).posterior
    assert found.domain == three and found.way == "exact"
    tables, chances = believe([fine], knowing=RELEASE_ALONE).posterior.list_originals() or ((), ())
    moves = coarse.mechanism.parameters["cycles"]
    cycles = []
    for number in range(len(moves)):  # type: ignore[arg-type]
        cells, signs = moves.entries(number)  # type: ignore[attr-defined]
        cycles.append(dict(zip(cells.tolist(), signs.tolist(), strict=True)))
    published = tuple(coarse.table.counts.reshape(-1).tolist())
    weights = np.array(
        [
            chance * law(tuple(_of_two(x)), cycles, "negative").get(published, 0.0)
            for x, chance in zip(tables, chances, strict=True)
        ]
    )
    weights /= weights.sum()
    assert np.abs(weights - chances).max() > 0.001
    assert found.mean.reshape(-1) == pytest.approx(weights @ np.array(tables), abs=1e-12)


def _of_two(table: Ints) -> list[int]:
    return [int(n) for n in table.reshape(2, 2, 3).sum(axis=1).T.reshape(-1)]


def test_noise_on_several_tables_of_both() -> None:
    fine = released(Table.dense(FINE, COUNTS), "cell_key", NOISE | {"margins": "A:B + B - 1"})
    coarse = released(Table.dense(COARSE, COUNTS.sum(axis=0)), "cell_key", NOISE | {"margins": "B + 1"})
    found = believe([fine, coarse], knowing=RELEASE_ALONE).posterior
    assert found.way == "exact" and "joint_noise" not in found.left_out
    tables, chances = believe([fine], knowing=RELEASE_ALONE).posterior.list_originals() or ((), ())
    known = believe([coarse], knowing=RELEASE_ALONE).posterior.list_originals() or ((), ())
    of = {tuple(x): chance for x, chance in zip(np.array(known[0]).tolist(), known[1], strict=True)}
    sums = np.array(tables).reshape(-1, 2, 3).sum(axis=1).tolist()
    weights = chances * np.array([of.get(tuple(x), 0.0) for x in sums])
    weights /= weights.sum()
    assert np.abs(weights - chances).max() > 0.01
    assert found.mean.reshape(-1) == pytest.approx(weights @ np.array(tables), abs=1e-9)


def test_a_verdict_judges_the_tables_of_both() -> None:
    fine = released(Table.dense(FINE, COUNTS), "random_rounding", {"base": 3, "margins": "A:B - 1"})
    coarse, limits = rounded(), AgencyPolicy().limits()
    found = verdict(fine, limits, [coarse])
    other = verdict(coarse, limits, [fine])
    assert [one.names for one in found.tables] == [("A", "B"), ("B",), ()]
    assert {(t.names, t.at_risk, t.known) for t in found.tables} == {
        (t.names, t.at_risk, t.known) for t in other.tables
    }
    alone = believe([fine, coarse], knowing=RELEASE_ALONE).posterior
    assert found.tables[0].at_risk == pytest.approx(
        float((alone.probability(1) + alone.probability(2)).sum())
    )


def test_tables_of_other_variables_are_not_read() -> None:
    other = Domain.of({"C": ["c", "d", "e"]})
    release = released(Table.dense(other, np.array([3, 2, 3])), "random_rounding", {"base": 3})
    fine = released(Table.dense(FINE, COUNTS), "random_rounding", {"base": 3})
    with pytest.raises(InputError, match="other variables"):
        believe([fine, release], knowing=RELEASE_ALONE)
