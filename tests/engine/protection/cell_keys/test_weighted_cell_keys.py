"""Weighted cell keys: estimates by hand and by fractions, what they promise, and their posterior."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trip import round_trip

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.errors import BundleError, InfeasibleError, InputError, ParameterError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import Poisson
from tabprotect.engine.project.saving.codec import Decoder, Encoder
from tabprotect.engine.protection.cell_keys.perturbation_table import perturbation_table
from tabprotect.engine.protection.cell_keys.published_laws import of_estimate
from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import KEY_MODULUS, Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.design_weights import SCALE, DesignWeights
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.brute_force import weight
from tabprotect.testing.calibration import LIMIT, Calibration, calibrate
from tests.engine.protection.methods.test_cell_key import paper

METHOD = methods()["cell_key"]
YES: dict[str, object] = {"weighted": "yes", "weight_low": 1, "weight_high": 4}


def problem_of(seed: int, shape: tuple[int, ...], low: float = 1, high: float = 4) -> Problem:
    """Counts with record keys, and with weights drawn record by record."""
    generator = np.random.default_rng(seed)
    domain = Domain.of_shape(shape)
    counts = generator.poisson(2.5, shape)
    each = [generator.integers(round(low * SCALE), round(high * SCALE) + 1, n).sum() for n in counts.flat]
    keys = np.where(counts > 0, generator.integers(0, KEY_MODULUS, shape), 0)
    return Problem(
        Table.dense(domain, counts),
        record_keys=Table.dense(domain, keys),
        weights=DesignWeights(
            Table.dense(domain, np.reshape(each, shape)), round(low * SCALE), round(high * SCALE)
        ),
    )


def released(problem: Problem, seed: int = 0, **given_: object) -> Release:
    values = METHOD.resolve(problem.table.domain, YES | given_)
    return METHOD.perform(problem, values, np.random.default_rng(seed))[0]


def test_the_papers_table_times_mean_weights() -> None:
    """The perturbed counts are printed in the paper, the rest is arithmetic by fractions."""
    problem, expected = paper()
    domain = problem.table.domain
    generator = np.random.default_rng(3)
    sums = problem.table.counts * generator.integers(SCALE, 4 * SCALE, domain.shape)
    problem = replace(problem, weights=DesignWeights(Table.dense(domain, sums), SCALE, 4 * SCALE))
    release = released(problem, D=5, V=3, js=2, margins="party*(age + sex)", keys="records")
    seen = 0
    for published in release.tables:
        names = published.table.domain.names
        counts, weights = problem.table.margin(names), Table.dense(domain, sums).margin(names)
        for index in np.ndindex(published.table.domain.shape):
            labels = dict(zip(names, published.table.domain.labels(index), strict=True))
            perturbed = expected[tuple(labels.get(n, "Total") for n in ("party", "age", "sex"))]
            mean = Fraction(weights[index], SCALE * max(counts[index], 1))
            assert published.table[index] == round(perturbed * mean)
            seen += 1
    assert seen == len(expected) == 24


def test_a_cell_by_hand(tmp_path: Path) -> None:
    # Every count n of 1 or more is published as n + 1.
    path = tmp_path / "up.txt"
    path.write_text("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;2;1;1;1\n")
    domain = Domain.of({"a": ["x", "y", "z"]})
    # x: 3 records, mean 3.5: 4 x 3.5 = 14. y: 2 records, mean 1.5: 3 x 1.5 = 4.5, to 4.
    # All: 5 records, 13.5 together: 6 x 2.7 = 16.2, not 14 + 4.
    sums = Table.dense(domain, [10_500_000, 3_000_000, 0])
    problem = Problem(Table.dense(domain, [3, 2, 0]), weights=DesignWeights(sums, 1_500_000, 3_500_000))
    inner, total = released(problem, table=str(path)).tables
    assert inner.table.counts.tolist() == [14, 4, 0]
    assert total.table.counts.item() == 16


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    shape=st.sampled_from([(4, 3), (3, 2, 4), (5,)]),
    ends=st.sampled_from([(1, 4), (2.5, 2.5), (0.5, 3), (0.01, 0.5), (0.5, 0.5)]),
)
def test_zeros_stay_and_the_truth_stays_possible(
    seed: int, shape: tuple[int, ...], ends: tuple[float, float]
) -> None:
    problem = problem_of(seed, shape, *ends)
    release = released(problem, seed, weight_low=ends[0], weight_high=ends[1])
    for published in release.tables:
        counts = problem.table.margin(published.table.domain.names).counts
        assert (published.table.counts[counts == 0] == 0).all()
        assert (published.table.counts >= 0).all()
    likelihood = likelihood_of(release)
    assert isinstance(likelihood, CellFactors) and weight(likelihood, problem.table) > 0


def test_sparse_tables_give_the_same() -> None:
    dense = problem_of(8, (6, 5, 3))
    assert dense.record_keys is not None and dense.weights is not None

    def thin(table: Table) -> Table:
        return Table.sparse(table.domain, *table.cells)

    sparse = replace(
        dense,
        table=thin(dense.table),
        record_keys=thin(dense.record_keys),
        weights=replace(dense.weights, sums=thin(dense.weights.sums)),
    )
    for a, b in zip(released(dense).tables, released(sparse).tables, strict=True):
        assert np.array_equal(a.table.counts, b.table.counts)


def test_one_side_of_an_interval_of_weights() -> None:
    # All weights are 2.5, the lowest: 1 record stays 1 and is published as 2 (2.5, half to even).
    table = perturbation_table(D=2, V=1, js=0)
    low, high, logs = of_estimate(table, 2, low=2_500_000, high=9_000_000)
    assert low <= 1 <= high and np.isfinite(logs[1 - low])


@pytest.mark.parametrize(("low", "high"), [(1.0, 3.0), (0.3, 0.9), (2.0, 2.0), (7.25, 40.5)])
@pytest.mark.parametrize("js", [0, 2])
def test_chances_are_a_law_and_match_brute_force(low: float, high: float, js: int) -> None:
    table = perturbation_table(D=4, V=3, js=js)
    begin, end = round(low * SCALE), round(high * SCALE)
    most = 12
    # A midpoint grid over the range, wider by half a millionth at both ends.
    steps = 40_000
    means = (begin - 0.5 + (np.arange(steps) + 0.5) * (end - begin + 1) / steps) / SCALE
    laws = np.zeros((most + 1, int(high * (most + 4)) + 2))
    brute = np.zeros_like(laws)
    for published in range(laws.shape[1]):
        try:
            first, last, logs = of_estimate(table, published, low=begin, high=end)
        except InputError:
            continue
        for count in range(most + 1):
            if first <= count <= last:
                laws[count, published] = np.exp(logs[count - first])
    for count in range(most + 1):
        for noise, chance in table.transitions(int(table.row_of(np.array([count]))[0])).items():
            estimates = np.rint((count + noise) * means).astype(int)
            brute[count] += chance * np.bincount(estimates, minlength=laws.shape[1]) / steps
    assert laws.sum(axis=1) == pytest.approx(1, abs=1e-9)
    assert np.abs(laws - brute).max() < 5e-4


def calibrated(stated_high: float, js: int) -> Calibration:
    """Mean weights even over 1 to 3; what readers are told of the highest weight may be wrong."""
    shape, mean = (30, 30), 2.0
    domain = Domain.of_shape(shape)

    def release_of(table: Table, generator: np.random.Generator) -> Release:
        means = generator.integers(SCALE, 3 * SCALE + 1, shape)
        weights = DesignWeights(Table.dense(domain, table.counts * means), SCALE, 3 * SCALE)
        problem = Problem(table, weights=weights)
        release = released(
            problem, int(generator.integers(2**32)), D=3, V=2.0, js=js, weight_high=3, margins="A:B - 1"
        )
        stated = release.mechanism.parameters | {"weight_high": stated_high}
        return replace(release, mechanism=replace(release.mechanism, parameters=stated))

    def shown(release: Release) -> CellFactors:
        # With the estimates, so that cells are judged split by them.
        likelihood = likelihood_of(release)
        assert isinstance(likelihood, CellFactors)
        return replace(likelihood, tables=release.tables)

    return calibrate(
        release_of,
        shown,
        Poisson(np.full(domain.size, mean)),
        lambda generator: Table.dense(domain, generator.poisson(mean, shape)),
        runs=80,
        generator=np.random.default_rng(17),
    )


@pytest.mark.parametrize("js", [0, 1])
def test_calibration(js: int) -> None:
    found = calibrated(3.0, js)
    assert found.worst_z < LIMIT and found.bins >= 40, str(found)
    # A planted fault: readers are told of weights up to 3.5 where they end at 3.
    assert calibrated(3.5, js).worst_z > 6


def test_what_is_promised() -> None:
    domain = Domain.of_shape((3, 3))
    promised = METHOD.promised(METHOD.resolve(domain, YES))
    assert set(promised) == {"complete", "zeros_kept", "non_negative", "consistent"}
    assert "within_deviation" in METHOD.promised(METHOD.resolve(domain, {}))


def test_a_cell_that_weighs_nearly_nothing_breaks_no_promise() -> None:
    # Its true estimate is 0, its published one need not be: no zero became positive.
    problem = problem_of(2, (10, 10), 0.1, 0.2)
    release = released(problem, weight_low=0.1, weight_high=0.2)
    truth = problem.unprotected(problem.table.domain, weighted=True).counts
    assert ((truth == 0) & (release.table.counts > 0)).any()


def test_a_preview_and_a_summary_compare_estimates() -> None:
    problem = problem_of(4, (8, 8), 10, 20)
    given_ = YES | {"weight_low": 10, "weight_high": 20, "margins": "A:B - 1"}
    protected = METHOD.run(problem, given_, Randomness.seeded(5))
    truth = problem.unprotected(problem.table.domain, weighted=True).counts
    assert truth.sum() > 10 * problem.table.total
    published, summary = protected.release.table.counts, summarise(protected)
    at_risk = problem.at_risk.mask(problem.table.counts)
    assert summary.at_risk_cells == int(at_risk.sum()) > 5
    assert summary.changed_cells == int((published != truth).sum())
    assert summary.largest_change == int(np.abs(published - truth).max())
    assert summary.unchanged_cells == int((published == truth)[at_risk].sum())
    # js = 2: a count at risk always changes, by as much as it weighs or more.
    preview = METHOD.preview(problem, given_)
    assert preview.unchanged_share == 0
    assert summary.unchanged_share == 0
    # D = 5, so a change is below 5 mean weights.
    assert 20 < preview.mean_absolute_deviation < 5 * 20


def test_the_preview_sees_weights_but_no_stored_keys() -> None:
    one = problem_of(2, (6, 5))
    assert one.record_keys is not None
    other = replace(one, record_keys=Table.dense(one.table.domain, one.record_keys.counts * 7 + 1))
    first, second = (METHOD.preview(problem, YES) for problem in (one, other))
    assert first.change == second.change and first.runs > 1


def test_no_weights() -> None:
    bare = replace(problem_of(1, (3, 3)), weights=None)
    with pytest.raises(ParameterError, match="weighted: the table has no design weights") as wrong:
        METHOD.run(bare, YES, Randomness.fresh())
    assert "tabulate" in wrong.value.hint
    assert METHOD.run(bare, {}, Randomness.fresh())


def test_the_range_must_be_stated_and_cover_the_records() -> None:
    problem = problem_of(1, (3, 3), 1, 4)
    domain = problem.table.domain
    for given_, fields in (
        ({"weighted": "yes"}, {"weight_low", "weight_high"}),
        ({"weighted": "yes", "weight_low": 2}, {"weight_high"}),
        (YES | {"weight_low": 5}, {"weight_low"}),
        (YES | {"weight_low": 0}, {"weight_low"}),
    ):
        with pytest.raises(ParameterError) as wrong:
            METHOD.resolve(domain, given_)
        assert set(wrong.value.fields) == fields
    for given_, fields in (
        ({"weight_low": 1.000001}, {"weight_low"}),
        ({"weight_high": 3.999999}, {"weight_high"}),
        ({"weight_low": 2, "weight_high": 3}, {"weight_low", "weight_high"}),
    ):
        with pytest.raises(ParameterError) as wrong:
            METHOD.run(problem, YES | given_, Randomness.fresh())
        assert set(wrong.value.fields) == fields
        # No cell, no weight: the text may be copied anywhere.
        assert not any(character.isdigit() for character in str(wrong.value))


def test_weights_of_another_table() -> None:
    one, other = problem_of(1, (3, 3)), problem_of(1, (3, 4))
    with pytest.raises(InputError, match="another table"):
        replace(one, weights=other.weights)


def test_weights_too_large_to_be_exact() -> None:
    problem = problem_of(1, (3, 3))
    sums = Table.dense(problem.table.domain, np.full((3, 3), 10**16))
    heavy = replace(problem, weights=DesignWeights(sums, SCALE, 4 * SCALE))
    with pytest.raises(InputError, match="add up to more than"):
        released(heavy)


def test_a_range_that_says_too_little() -> None:
    release = released(problem_of(1, (3, 3)))
    stated = release.mechanism.parameters | {"weight_low": 1e-6, "weight_high": 1e6}
    wide = replace(release, mechanism=replace(release.mechanism, parameters=stated))
    with pytest.raises(InfeasibleError, match="more than can be weighed"):
        likelihood_of(wide)


def test_notes() -> None:
    problem = problem_of(7, (4, 5))
    found = infer(likelihood_of(released(problem)))
    # An estimate is no published count, whatever it happens to be.
    assert not found.is_published.any() and found.published_count((0, 0)) is None
    note = found.note
    assert "range, 1 to 4" in note and "key of a total" in note
    assert "Shown for A by itself" in infer(likelihood_of(released(problem, margins="A"))).note


def test_files_give_it_again_and_nothing_confidential_is_public(tmp_path: Path) -> None:
    problem = problem_of(6, (4, 4))
    assert problem.weights is not None
    protected = METHOD.run(problem, YES, Randomness.seeded(11))
    read = round_trip(protected, tmp_path)
    stated = json.loads(read.mechanism.to_text())
    assert (stated["weighted"], stated["weight_low"], stated["weight_high"]) == ("yes", 1, 4)
    text = b"".join(public.files(protected.release).values()).decode()
    assert "estimates" in text
    package = json.loads(public.files(protected.release)["datapackage.json"])
    assert package["description"].startswith("The column count holds estimates")
    for secret in problem.weights.sums.counts[problem.table.counts > 0].tolist():
        assert str(secret) not in text
    encoder = Encoder()
    number = encoder.put(protected)
    again = Decoder(json.loads(json.dumps(encoder.shared)), encoder.arrays).get(number)
    assert isinstance(again, Protected)
    weights = again.record.problem.weights
    assert weights.sums == problem.weights.sums
    assert (weights.low, weights.high) == (problem.weights.low, problem.weights.high)


def test_a_dossier_without_its_weights_is_refused() -> None:
    problem = problem_of(6, (4, 4))
    protected = METHOD.run(problem, YES, Randomness.seeded(11))
    files = confidential.files(protected)
    assert confidential.FOLDER + confidential.WEIGHTS in files
    report = files[confidential.FOLDER + "risk_report.md"].decode()
    assert " weighted) |" in report
    stated = confidential._Stated.read(files[confidential.FOLDER + confidential.RECORD], problem.table)
    assert stated.weights == (SCALE, 4 * SCALE)
    with pytest.raises(BundleError):
        confidential._Stated.read(b'{"weights": 3}', problem.table)


def test_a_release_states_whether_it_is_weighted() -> None:
    release = METHOD.run(problem_of(6, (4, 4)), {}, Randomness.seeded(1)).release
    silent = {n: v for n, v in release.mechanism.parameters.items() if n != "weighted"}
    found = replace(release, mechanism=replace(release.mechanism, parameters=silent))
    with pytest.raises(InputError, match='does not state "weighted"'):
        likelihood_of(found)
