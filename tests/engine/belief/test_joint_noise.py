"""Several tables with noise of their own, read as the gate reads them: against all originals."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.belief import joint_noise
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence
from tabprotect.engine.belief.joint_noise import put_together
from tabprotect.engine.disclosure.cell_beliefs import tables_believed
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.posterior.prior import CellTable, Poisson, Prior, Uniform
from tabprotect.engine.protection.cell_keys.key_parameters import table_of
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

COUNTS = np.array([[1, 0], [2, 4]])
KEYED: dict[str, Any] = {"D": 2, "V": 1.0, "js": 0, "keys": "hashed", "margins": "A*B"}
SETS = [(0,), (1,), (2,), (3,), (0, 1), (2, 3), (0, 2), (1, 3), (0, 1, 2, 3)]
MOST = 9


def released(method: str, given: Mapping[str, Any], seed: int) -> Release:
    table = Table.dense(Domain.of({"A": ["a", "b"], "B": ["c", "d"]}), COUNTS)
    return methods()[method].run(Problem(table), given, Randomness.seeded(seed)).release


def published(release: Release) -> dict[tuple[int, ...], int]:
    """The published number of each set of cells."""
    by_names = {one.table.domain.names: one.table.counts.reshape(-1) for one in release.tables}
    order = {("A", "B"): SETS[:4], ("A",): SETS[4:6], ("B",): SETS[6:8], (): SETS[8:]}
    return {
        cells: int(number)
        for names, counts in by_names.items()
        for cells, number in zip(order[names], counts, strict=True)
    }


def by_listing(keyed: Release, prior: Prior, rounded: Release | None) -> list[dict[int, float]]:
    """Every original: equal sets of records share one noise, rounded numbers do not."""
    ptable = table_of(methods()["cell_key"].resolve(keyed.domain, keyed.mechanism.parameters))
    numbers, others = published(keyed), published(rounded) if rounded else {}
    weights: dict[tuple[int, ...], float] = {}
    for x in itertools.product(range(MOST), repeat=4):
        weight, seen = 1.0, {}
        for cells, number in numbers.items():
            records = frozenset(c for c in cells if x[c])
            if seen.setdefault(records, number) != number:
                weight = 0.0
        for records, number in seen.items():
            total = sum(x[c] for c in records)
            weight *= (
                ptable.transitions(min(total, ptable.rows - 1)).get(number - total, 0.0) if weight else 0.0
            )
        for cells, number in others.items():
            weight *= max(0.0, 1 - abs(sum(x[c] for c in cells) - number) / 3)
        if weight:
            logs = [float(prior.log_weight(c, x[c])) for c in range(4)]
            weights[x] = weight * float(np.exp(sum(logs)))
    whole = sum(weights.values())
    found: list[dict[int, float]] = [{} for _ in range(4)]
    for x, weight in weights.items():
        for c in range(4):
            found[c][x[c]] = found[c].get(x[c], 0.0) + weight / whole
    return found


@pytest.mark.parametrize(
    ("prior", "seed", "beside"),
    [
        (Uniform(), 3, False),
        (Poisson(np.array([0.5, 0.5, 3.0, 3.0])), 3, False),
        (CellTable(np.array([1, 1]), np.array([0, 2]), np.array([1.0, 5.0])), 3, False),
        (Uniform(), 4, True),
        (Poisson(np.array([0.5, 0.5, 3.0, 3.0])), 4, True),
    ],
    ids=["alone", "poisson", "weights", "beside a rounding", "both"],
)
def test_a_reader_has_the_posterior_of_all_tables(prior: Prior, seed: int, beside: bool) -> None:
    keyed = released("cell_key", KEYED, seed)
    rounded = released("random_rounding", {"base": 3}, seed) if beside else None
    read = [keyed] if rounded is None else [keyed, rounded]
    found = believe(read, prior, knowing=RELEASE_ALONE).posterior
    assert found.left_out == () and found.way == "exact"
    for cell, expected in enumerate(by_listing(keyed, prior, rounded)):
        for value in range(MOST):
            seen = float(found.probability(value).reshape(-1)[cell])
            assert seen == pytest.approx(expected.get(value, 0.0), abs=1e-9)
    drawn = found.sample(4000, np.random.default_rng(1)).reshape(-1, 4)
    assert np.abs(drawn.mean(axis=0) - found.mean.reshape(-1)).max() < 0.1


def test_the_gate_and_a_reader_have_one_posterior() -> None:
    release = released("cell_key", KEYED, 5)
    read = believe([release], knowing=RELEASE_ALONE).posterior
    judged = tables_believed(Evidence(release), "uniform")
    assert judged.inner is not None and judged.inner.chances.tobytes() == read.chances.tobytes()
    assert [belief.left_out for belief in judged.beliefs] == [()] * 4
    # So have sums: as the chains followed them.
    (rows,) = sums(read, Publication.of(release.domain, "A - 1"))
    of_gate = next(one for one in judged.beliefs if one.domain.names == ("A",))
    assert of_gate.rows is not None and np.array_equal(of_gate.rows[2], rows.chances)
    assert rows.effective_sample_size == read.effective_sample_size


def test_a_prior_or_an_earlier_release_leaves_nothing_out() -> None:
    release, other = released("cell_key", KEYED, 5), released("random_rounding", {"base": 3}, 5)
    assert tables_believed(Evidence(release), "positive").beliefs[0].left_out == ()
    assert verdict(release, earlier=[other]).complete
    # Two releases under keys may share them.
    again = released("cell_key", {**KEYED, "D": 3}, 6)
    assert verdict(release, earlier=[again]).left_out == ("other_releases",)


@pytest.mark.parametrize(
    ("method", "given"),
    [("discrete_laplace", {"epsilon": 6.0}), ("discrete_gaussian", {"rho": 2.0, "cap": 3})],
)
def test_noise_of_a_fixed_law_is_put_together_as_by_all_originals(
    method: str, given: Mapping[str, Any]
) -> None:
    release = released(method, {**given, "margins": "A*B"}, 7)
    likelihood = likelihood_of(release)
    exact = believe([release], knowing=RELEASE_ALONE).posterior
    assert exact.way == "exact"
    found = put_together([(release, likelihood)], Uniform())
    assert found is not None
    for value in range(MOST):
        assert np.abs(found.probability(value) - exact.probability(value)).max() < 0.03


def test_large_tables_of_noise_are_judged_whole_or_refused_before_any_draw() -> None:
    domain = Domain.of({"A": [f"a{k}" for k in range(28)], "B": [f"b{k}" for k in range(18)]})
    table = Table.dense(domain, np.random.default_rng(1).poisson(6.0, (28, 18)))
    noise = methods()["discrete_laplace"]
    release = noise.run(Problem(table), {"epsilon": 4.0}, Randomness.seeded(1)).release
    assert verdict(release).complete
    with pytest.raises(RefusedError, match=r"standard deviation of 0\.32"):
        protect(noise, Problem(table), {"epsilon": 12.0}, Randomness.seeded(1))


def test_where_only_sums_are_published_the_main_table_is_read_by_all() -> None:
    domain = Domain.of({name: ["0", "1"] for name in "ABC"})
    table = Table.dense(domain, np.random.default_rng(3).poisson(2.0, (2, 2, 2)))
    given = {**KEYED, "margins": "A:B + A:C + B:C - 1"}
    release = methods()["cell_key"].run(Problem(table), given, Randomness.seeded(1)).release
    found = believe([release], knowing=RELEASE_ALONE).posterior
    assert found.domain.names == ("A", "B") and not found.left_out
    assert found.published == release.table
    inner = believe([release], knowing=RELEASE_ALONE, inner=True).posterior
    assert inner.domain == domain and not inner.is_published.any()


def test_what_is_believed_of_sums_is_weighed_where_only_sums_are_published() -> None:
    """Originals with the same sums are believed alike: as by listing all of them."""
    release = released("cell_key", {**KEYED, "margins": "A + B"}, 3)
    of_sums = Poisson(np.array([0.4, 5.0]))
    found = believe([release], of_sums, knowing=RELEASE_ALONE).posterior
    assert found.left_out == () and found.domain.names == ("A",) and found.prior is of_sums
    ptable = table_of(methods()["cell_key"].resolve(release.domain, release.mechanism.parameters))
    numbers = {
        cells: int(number)
        for one, sets in zip(release.tables, (SETS[4:6], SETS[6:8], SETS[8:]), strict=True)
        for cells, number in zip(sets, one.table.counts.reshape(-1), strict=True)
    }
    expected: list[dict[int, float]] = [{}, {}]
    for x in itertools.product(range(MOST), repeat=4):
        seen: dict[frozenset[int], int] = {}
        weight = float(
            all(
                seen.setdefault(frozenset(c for c in cells if x[c]), number) == number
                for cells, number in numbers.items()
            )
        )
        for records, number in seen.items():
            total = sum(x[c] for c in records)
            weight *= ptable.transitions(min(total, ptable.rows - 1)).get(number - total, 0.0)
        rows = (x[0] + x[1], x[2] + x[3])
        for k, total in enumerate(rows):
            weight *= float(np.exp(of_sums.log_weight(k, total))) / (total + 1)
        for k, total in enumerate(rows):
            expected[k][total] = expected[k].get(total, 0.0) + weight
    for value in range(MOST):
        for k in range(2):
            truth = expected[k].get(value, 0.0) / sum(expected[k].values())
            assert float(found.probability(value).reshape(-1)[k]) == pytest.approx(truth, abs=0.01)


@pytest.mark.parametrize("seed", [3, 5])
def test_a_large_table_of_keys_is_read_by_factors_where_no_two_sums_are_of_the_same_records(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows and columns with two cells that hold somebody, so that every sum has records of its own."""
    table = Table.dense(Domain.of({"A": ["a", "b"], "B": ["c", "d"]}), np.array([[3, 3], [3, 4]]))
    run = methods()["cell_key"].run(Problem(table), {**KEYED, "js": 0}, Randomness.seeded(seed))
    monkeypatch.setattr(joint_noise, "MOST_CELLS", 0)
    read = [(run.release, likelihood_of(run.release))]
    found = put_together(read, Uniform())
    assert found is not None and found.left_out == ()
    for cell, expected in enumerate(by_listing(run.release, Uniform(), None)):
        for value in range(MOST):
            seen = float(found.probability(value).reshape(-1)[cell])
            assert seen == pytest.approx(expected.get(value, 0.0), abs=0.02 if found.error else 1e-9)
    (row, _) = sums(found, Publication(table.domain, (("A",), ())))
    assert float(row.chances.sum(axis=1).min()) == pytest.approx(1.0)


def test_what_may_be_the_same_records_is_not_read_as_noise_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of one cell has the noise of its cell: taken for two draws it would tell too much."""
    release = released("cell_key", KEYED, 3)
    numbers = methods()["cell_key"].numbers(release)
    assert numbers is not None and numbers.shared
    # Without bounds every sum may be of nobody but one cell.
    low = np.zeros(4, dtype=np.int64)
    assert numbers.by_themselves(low).shared
    assert numbers.by_themselves(np.array([1, 0, 1, 1])).shared
    assert not numbers.by_themselves(np.ones(4, dtype=np.int64)).shared
    monkeypatch.setattr(joint_noise, "MOST_CELLS", 0)
    proved_low = np.array([cell and 1 for cell in published(release).values()])[:4]
    whole = put_together([(release, likelihood_of(release))], Uniform()) is not None
    assert whole == (not numbers.by_themselves(proved_low).shared)
