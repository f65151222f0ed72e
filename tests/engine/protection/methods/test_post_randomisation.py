"""Post-randomisation: its law by brute force, unbiased estimates, its posterior, its fields."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trip import round_trip

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.resampling import transitions
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.brute_force import weight

METHOD = methods()["post_randomisation"]
TWO = Domain.of_shape((2, 2))


def brute_law(counts: list[int], chances: np.ndarray) -> dict[tuple[int, ...], float]:
    """Every record on its own: all places that all of them can go to."""
    law = {(0,) * len(counts): 1.0}
    for cell, many in enumerate(counts):
        for _ in range(many):
            grown: dict[tuple[int, ...], float] = {}
            for (out, p), to in itertools.product(law.items(), range(len(counts))):
                if chances[cell, to]:
                    moved = tuple(c + (k == to) for k, c in enumerate(out))
                    grown[moved] = grown.get(moved, 0.0) + p * chances[cell, to]
            law = grown
    return law


SPARSE = np.array([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.0, 0.5, 0.5]])
FULL = np.kron([[0.9, 0.1], [0.1, 0.9]], [[0.7, 0.3], [0.2, 0.8]])


@pytest.mark.parametrize(
    ("counts", "chances"), [([3, 2, 4], SPARSE), ([3, 0, 4, 2], FULL), ([1, 1], FULL[:2, :2] / 0.9)]
)
def test_the_exact_probability_is_that_of_every_record(counts: list[int], chances: np.ndarray) -> None:
    law = brute_law(counts, chances)
    assert sum(law.values()) == pytest.approx(1.0)
    x = np.array(counts)
    for out, p in law.items():
        assert math.exp(transitions.log_chance(x, np.array(out), chances)) == pytest.approx(p)
    assert transitions.log_chance(x, x + 1, chances) == -math.inf
    impossible = np.array([0, 0, 9])
    assert len(counts) != 3 or transitions.log_chance(x, impossible, SPARSE) == -math.inf


@pytest.mark.parametrize(("counts", "chances"), [([3, 2, 4], SPARSE), ([3, 0, 4, 2], FULL)])
def test_the_estimate_is_unbiased(counts: list[int], chances: np.ndarray) -> None:
    law, x = brute_law(counts, chances), np.array(counts)
    generator = np.random.default_rng(6)
    likely = sorted(law, key=law.__getitem__)
    for out in (likely[-1], likely[len(likely) // 2], likely[0]):
        many = np.repeat(x[None], 240, axis=0)
        logs = transitions.log_estimates(many, np.array(out), chances, generator)
        found = np.exp(logs)
        error = found.std() / math.sqrt(len(found))
        assert abs(found.mean() - law[out]) <= 4.5 * error + 1e-9 * law[out]
        # Good enough to be of use: an unbiased estimate that hardly ever hits is none.
        assert error < 0.15 * law[out]
    assert (transitions.log_estimates(x[None], x + 1, chances, generator) == -math.inf).all()


def test_few_records_one_by_one_follow_the_same_law() -> None:
    # Three thousand copies side by side: few records of each cell leave.
    copies, row = 3_000, np.array([[0.9, 0.04, 0.06], [0.02, 0.95, 0.03], [0.0, 0.2, 0.8]])
    counts = np.tile([2, 1, 1], (copies, 1))
    out = transitions.applied(counts, [np.eye(copies), row], np.random.default_rng(3))
    law = brute_law([2, 1, 1], row)
    seen = Counter(map(tuple, out.tolist()))
    assert set(seen) <= set(law)
    for result, p in law.items():
        assert abs(seen[result] - copies * p) < 4.5 * math.sqrt(copies * p) + 1


def test_draws_follow_the_law() -> None:
    table = np.array([[3, 0], [4, 2]])
    matrices = [np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.7, 0.3], [0.2, 0.8]])]
    law = brute_law(table.reshape(-1).tolist(), FULL)
    generator, runs = np.random.default_rng(5), 4000
    seen = Counter(
        tuple(transitions.applied(table, matrices, generator).reshape(-1).tolist()) for _ in range(runs)
    )
    for out, p in law.items():
        assert abs(seen[out] - runs * p) < 4.5 * math.sqrt(runs * p) + 1


def test_factors_and_the_rest_make_up_the_law() -> None:
    table = Table.dense(TWO, [[3, 0], [4, 2]])
    other = Table.dense(TWO, [[2, 1], [5, 1]])
    given_ = {"matrices": "A=[[.9, .1], [.1, .9]]; B=[[.7, .3], [.2, .8]]"}
    values = METHOD.resolve(TWO, given_)
    laws = [brute_law(t.counts.reshape(-1).tolist(), FULL) for t in (table, other)]
    generator = np.random.default_rng(1)
    for _ in range(25):
        release, _ = METHOD.perform(Problem(table), values, generator)
        out = tuple(release.table.counts.reshape(-1).tolist())
        likelihood = likelihood_of(release)
        assert likelihood.rerun.exact
        found = weight(likelihood, other) / weight(likelihood, table)
        assert found == pytest.approx(laws[1][out] / laws[0][out], rel=1e-9)


@pytest.mark.parametrize("given_", [{}, {"pstay": "A=0.6"}, {"spread": "proportional"}])
def test_the_estimate_of_the_counts_is_unbiased(given_: dict[str, object]) -> None:
    domain = Domain.of_shape((3, 2))
    table = Table.dense(domain, [[9, 1], [4, 0], [2, 7]])
    values = METHOD.resolve(domain, given_)
    generator = np.random.default_rng(11)
    estimates = []
    for _ in range(600):
        release, _draft = METHOD.perform(Problem(table), values, generator)
        stated = cast("dict[str, list[list[float]]]", release.mechanism.parameters["transition"])
        found = release.table.counts.astype(float)
        # Published times the inverse of each variable's matrix.
        for axis, matrix in enumerate(stated.values()):
            found = np.moveaxis(np.moveaxis(found, axis, -1) @ np.linalg.inv(matrix), -1, axis)
        estimates.append(found)
    found = np.array(estimates)
    error = found.std(axis=0) / math.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - table.counts) <= 4.5 * error + 1e-9).all()


def test_proportional_matrices_tell_whole_percentages_only() -> None:
    table = Table.dense(Domain.of_shape((3,)), [334, 555, 112])
    values = METHOD.resolve(table.domain, {"spread": "proportional", "pstay": 0.5})
    release, _ = METHOD.perform(Problem(table), values, np.random.default_rng(1))
    matrix = np.array(release.mechanism.parameters["transition"]["A"])
    assert np.allclose(matrix, 0.5 * np.eye(3) + 0.5 * np.array([0.33, 0.56, 0.11]))
    # Another original with the same percentages could be it; one with others could not.
    likelihood = likelihood_of(release)
    assert weight(likelihood, Table.dense(table.domain, [333, 556, 112])) > 0
    assert weight(likelihood, Table.dense(table.domain, [301, 500, 200])) == 0


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.integers(0, 12), min_size=12, max_size=12),
    pstay=st.sampled_from(["0", "0.5", "1", "A=0.4", "B=0.3,C=0.9"]),
    spread=st.sampled_from(["uniform", "proportional"]),
    seed=st.integers(0, 2**32),
)
def test_guarantees(cells: list[int], pstay: str, spread: str, seed: int) -> None:
    table = Table.dense(Domain.of_shape((3, 2, 2)), np.array(cells).reshape(3, 2, 2))
    values = METHOD.resolve(table.domain, {"pstay": pstay, "spread": spread})
    release, _ = METHOD.perform(Problem(table), values, np.random.default_rng(seed))
    assert release.table.total == table.total
    untouched = [n for n in table.domain.names if "=" in pstay and n not in pstay]
    assert release.table.margin(untouched) == table.margin(untouched)
    likelihood = likelihood_of(release)
    counts = table.counts.reshape(-1)
    for a, b, kind in zip(likelihood.starts, likelihood.starts[1:], likelihood.kind, strict=False):
        total = counts[likelihood.cells[a:b]].sum()
        assert likelihood.low[kind] <= total <= likelihood.high[kind]


@pytest.mark.parametrize("given_", [{}, {"spread": "proportional"}, {"matrices": "B=[[1,0],[0,1]]"}])
def test_bundle_and_dossier(given_: dict[str, object], tmp_path: Path) -> None:
    counts = np.random.default_rng(2).poisson(4, (4, 2))
    problem = Problem(Table.dense(Domain.of_shape((4, 2)), counts), title="Beds")
    release = round_trip(METHOD.run(problem, given_, Randomness.fresh()), tmp_path)
    assert set(release.mechanism.parameters) == {"pstay", "spread", "matrices", "transition"}


def test_bad_parameters_all_at_once() -> None:
    given_ = {"pstay": "C=2", "spread": "x", "matrices": "A=[[1]]", "speed": 1}
    with pytest.raises(ParameterError) as caught:
        METHOD.resolve(TWO, given_)
    assert set(caught.value.fields) == {"pstay", "spread", "matrices", "speed"}


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"pstay": "1.2"}, "between 0 and 1"),
        ({"pstay": "nan"}, "between 0 and 1"),
        ({"pstay": "often"}, "must be a number"),
        ({"pstay": "A=0.5,D=0.5"}, "'D' is none of A, B"),
        ({"matrices": "A"}, "not of the form"),
        ({"matrices": "A=[[0.5, 0.6], [0, 1]]"}, "no distribution"),
        ({"matrices": "A=[[1.5, -0.5], [0, 1]]"}, "no distribution"),
        ({"matrices": "A=[[1, 0], [0]]"}, "2 by 2"),
        ({"matrices": "D=[[1]]"}, "'D' is none of A, B"),
    ],
)
def test_bad_parameter(given_: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        METHOD.resolve(TWO, given_)


def test_a_matrix_without_inverse_gives_no_estimate() -> None:
    table = Table.dense(TWO, [[3, 1], [4, 2]])
    done = METHOD.run(Problem(table), {"pstay": "0.5"}, Randomness.seeded(1))
    assert done.record.findings["condition"] == {"A": None, "B": None}
    assert weight(likelihood_of(done.release), table) > 0


def test_a_mechanism_must_state_its_matrices() -> None:
    done = METHOD.run(Problem(Table.dense(TWO, [[3, 1], [4, 2]])), {}, Randomness.seeded(1))
    mechanism = done.release.mechanism
    for stated in (None, {"A": [[1, 0], [0, 1]]}, {"A": [[1]], "B": [[1]]}):
        parameters = {**mechanism.parameters, "transition": stated}
        wrong = replace(done.release, mechanism=replace(mechanism, parameters=parameters))
        with pytest.raises(InputError):
            likelihood_of(wrong)


def test_estimates_of_different_originals_are_each_of_their_own() -> None:
    originals = np.array([[3, 0, 4, 2], [1, 6, 0, 2], [9, 0, 0, 0], [3, 0, 4, 3]])
    out, generator = np.array([2, 3, 2, 2]), np.random.default_rng(9)
    logs = transitions.log_estimates(np.tile(originals, (240, 1)), out, FULL, generator)
    found = np.exp(logs).reshape(240, 4)
    for k, original in enumerate(originals):
        true = brute_law(original.tolist(), FULL).get(tuple(out.tolist()), 0.0)
        error = found[:, k].std() / math.sqrt(240)
        assert abs(found[:, k].mean() - true) <= 4.5 * error + 1e-9 * true
        assert error <= 0.15 * true
