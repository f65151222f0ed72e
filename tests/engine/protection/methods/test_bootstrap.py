"""Heer's bootstrap: the stated law, exactly; Table 1 and the costs of the paper; its posterior."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trip import round_trip

from tabprotect.engine.errors import InputError, ParameterError, TooLargeError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.resampling.truncated_laws import (
    averaged,
    binomial_logs,
    limits,
    possible_true_counts,
)
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.structural import StructuralZeros
from tabprotect.engine.tables.table import Table
from tabprotect.testing.brute_force import weight

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "resampling.json").read_text())
METHOD = methods()["bootstrap"]
SMALL = Domain.of_shape((2, 2))


def one_cell(count: int, n: int, quality: float, samples: int) -> dict[int, float]:
    """The law of one published count on its own, as Table 1 takes it."""
    low, high = (int(end[0]) for end in limits(np.array([count]), n, quality, samples))
    law: dict[int, float] = {}
    for y, log in zip(
        range(low, high + 1), binomial_logs(samples * count, samples * n, low, high), strict=True
    ):
        out = int(averaged(np.array([y]), samples)[0])
        law[out] = law.get(out, 0.0) + math.exp(log)
    return law


def disclosure(k: int, quality: float, samples: int) -> float:
    """P(X = k | X' = k) under a flat prior on 1, 2, ... with 1,000 records."""
    chances = [one_cell(j, 1000, quality, samples).get(k, 0.0) for j in range(1, 80)]
    return chances[k - 1] / sum(chances)


def test_table_1_of_the_paper() -> None:
    columns = [(s, m) for m in (1, 3, 5) for s in (3.0, 2.0, 1.5)]
    agree = 0
    for k in (1, 2, 3):
        found = [disclosure(k, s, m) for s, m in columns]
        assert found == pytest.approx(REFERENCE["table1_computed"][str(k)], abs=6e-5)
        printed = REFERENCE["table1_printed"][str(k)]
        agree += sum(abs(a - b) <= 0.00501 for a, b in zip(found, printed, strict=True))
    assert agree == 26


def test_truncated_laws() -> None:
    for key, expected in REFERENCE["truncated_binomial_n1000"].items():
        quality, count = (float(part.split("=")[1]) for part in key.split("|"))
        low, high = (int(end[0]) for end in limits(np.array([int(count)]), 1000, quality))
        assert (low, high) == (expected["l"], expected["u"])
        law = one_cell(int(count), 1000, quality, 1)
        assert law[int(count)] == pytest.approx(expected["p_unchanged"], abs=1e-7)
        assert sum(k * p for k, p in law.items()) == pytest.approx(expected["mean"], abs=1e-6)


@pytest.mark.parametrize(("quality", "cells", "samples"), [(1.5, 100, 1), (2.0, 50, 3)])
def test_costs_of_drawing_blindly(quality: float, cells: int, samples: int) -> None:
    expected = REFERENCE["heer_cost_normal_approx"][f"S={quality:g}|IJ={cells}"][f"M={samples}"]
    table = Table.dense(Domain.of_shape((cells,)), np.full(cells, 40))
    values = METHOD.resolve(table.domain, {"S": quality, "M": samples})
    draft = METHOD.draw(Problem(table), values, np.random.default_rng(1))
    assert draft.findings["samples_blindly_normal"] == pytest.approx(expected, rel=1e-5)
    # With counts of 40 the normal law is close, but for whole counts at the ends.
    ratio = draft.findings["samples_blindly"] / expected
    assert 0.01 < ratio < 2


@settings(max_examples=80, deadline=None)
@given(n=st.integers(1, 60), quality=st.floats(0.5, 5), samples=st.sampled_from([1, 3, 5]))
def test_possible_originals_are_those_whose_range_holds_the_count(
    n: int, quality: float, samples: int
) -> None:
    counts = np.arange(n + 1)
    low, high = (averaged(end, samples) for end in limits(counts, n, quality, samples))
    assert (low <= counts).all() and (counts <= high).all()
    first, last = possible_true_counts(counts, n, quality, samples)
    for k in range(n + 1):
        fits = counts[(low <= k) & (k <= high)].tolist()
        assert fits == list(range(first[k], last[k] + 1))


def brute_law(counts: list[int], quality: float, samples: int) -> dict[tuple[int, ...], float]:
    """The law of the published counts, one multinomial outcome at a time."""
    n = sum(counts)
    ranges = limits(np.array(counts), n, quality, samples)
    law: dict[tuple[int, ...], float] = {}
    for sums in itertools.product(*(range(a, b + 1) for a, b in zip(*ranges, strict=True))):
        if sum(sums) == samples * n:
            log = math.lgamma(samples * n + 1) - sum(math.lgamma(y + 1) for y in sums)
            log += sum(y * math.log(x / n) for x, y in zip(counts, sums, strict=True) if x)
            out = tuple(averaged(np.array(sums), samples).tolist())
            law[out] = law.get(out, 0.0) + math.exp(log)
    whole = sum(law.values())
    return {out: p / whole for out, p in law.items()}


@pytest.mark.parametrize("samples", [1, 3])
def test_draws_and_their_probability(samples: int) -> None:
    counts, runs = [2, 1, 4, 0], 1500
    law = brute_law(counts, 1.5, samples)
    original = Table.dense(SMALL, np.array(counts).reshape(2, 2))
    values = METHOD.resolve(SMALL, {"S": 1.5, "M": samples})
    generator, releases = np.random.default_rng(4), {}
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(runs):
        release, _ = METHOD.perform(Problem(original), values, generator)
        out = tuple(release.table.counts.reshape(-1).tolist())
        seen[out] += 1
        releases[out] = release
    assert set(seen) <= set(law)
    for out, p in law.items():
        assert abs(seen[out] - runs * p) < 4.5 * math.sqrt(runs * p) + 1
    # The factors and what is beyond them: two originals of one release: the ratio of their probabilities is that of the laws.
    other = [1, 2, 4, 0]
    other_law = brute_law(other, 1.5, samples)
    compared = 0
    for out, release in releases.items():
        likelihood = METHOD.likelihood(release)
        a = weight(likelihood, original)
        b = weight(likelihood, Table.dense(SMALL, np.array(other).reshape(2, 2)))
        if out in other_law:
            assert a / b == pytest.approx(law[out] / other_law[out], rel=1e-9)
            compared += 1
        else:
            assert b == 0.0
    assert compared > 3


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.integers(0, 40), min_size=12, max_size=12),
    quality=st.floats(0.5, 4),
    samples=st.sampled_from([1, 3, 5]),
    seed=st.integers(0, 2**32),
)
def test_guarantees(cells: list[int], quality: float, samples: int, seed: int) -> None:
    table = Table.dense(Domain.of_shape((4, 3)), np.array(cells).reshape(4, 3))
    values = METHOD.resolve(table.domain, {"S": quality, "M": samples})
    release, _ = METHOD.perform(Problem(table), values, np.random.default_rng(seed))
    low, high = limits(table.counts, table.total, quality, samples)
    assert (averaged(low, samples) <= release.table.counts).all()
    assert (release.table.counts <= averaged(high, samples)).all()
    factors = METHOD.likelihood(release)
    counts = table.counts.reshape(-1)
    sums = [counts[factors.cells[a:b]].sum() for a, b in itertools.pairwise(factors.starts)]
    assert (factors.low[factors.kind] <= sums).all() and (sums <= factors.high[factors.kind]).all()
    assert factors.rerun.estimate(table, np.random.default_rng(0)) > 0


def test_the_total_is_promised_for_one_sample_only_and_mostly_lost_for_more() -> None:
    counts = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
    table = Table.dense(Domain.of_shape((4, 4)), counts)
    generator = np.random.default_rng(7)
    values = METHOD.resolve(table.domain, {"S": 1.5, "M": 3})
    assert "total_kept" not in METHOD.promised(values)
    assert "total_kept" in METHOD.promised(values | {"M": 1})
    kept = [
        METHOD.draw(Problem(table), values, generator).tables[0].table.total == table.total
        for _ in range(300)
    ]
    assert 0.2 < np.mean(kept) < 0.45


def problem() -> Problem:
    counts = np.random.default_rng(2).poisson(4, (4, 3))
    return Problem(Table.dense(Domain.of_shape((4, 3)), counts), title="Beds")


@pytest.mark.parametrize("samples", [1, 3])
def test_bundle_and_dossier(samples: int, tmp_path: Path) -> None:
    done = METHOD.run(problem(), {"M": samples}, Randomness.fresh())
    release = round_trip(done, tmp_path)
    total = problem().table.total
    assert release.mechanism.parameters == {"S": 2.0, "M": samples, "total": total}


def test_an_empty_table_and_a_single_cell() -> None:
    for counts in ([[0, 0], [0, 0]], [[0, 9], [0, 0]]):
        table = Table.dense(SMALL, counts)
        release, _ = METHOD.perform(Problem(table), METHOD.resolve(SMALL, {}), np.random.default_rng(1))
        assert release.table == table
        assert METHOD.likelihood(release).rerun.estimate(table, np.random.default_rng(1)) == 1.0


def test_counts_beyond_what_can_be_laid_out_are_refused() -> None:
    table = Table.dense(SMALL, [[2**50, 1], [2**49, 2]])
    with pytest.raises(TooLargeError, match="so large"):
        METHOD.run(Problem(table), {"S": 3.0}, Randomness.fresh())
    large = Table.dense(SMALL, [[10**7, 1], [10**6, 2]])
    values = METHOD.resolve(SMALL, {})
    release, _ = METHOD.perform(Problem(large), values, np.random.default_rng(1))
    assert weight(likelihood_of(release), large) > 0


def test_bad_parameters_all_at_once() -> None:
    with pytest.raises(ParameterError) as caught:
        METHOD.resolve(SMALL, {"S": 0.1, "M": 0, "speed": 3})
    assert set(caught.value.fields) == {"S", "M", "speed"}
    with pytest.raises(ParameterError, match="must be odd"):
        METHOD.resolve(SMALL, {"M": 4})


def test_releases_that_cannot_be() -> None:
    release = METHOD.run(problem(), {}, Randomness.seeded(1)).release
    mechanism = release.mechanism
    for change, message in (
        ({"total": 3}, "add up to"),
        ({"total": "many"}, "no number of records"),
        ({"total": True}, "no number of records"),
    ):
        with pytest.raises(InputError, match=message):
            METHOD.likelihood(
                replace(release, mechanism=replace(mechanism, parameters={**mechanism.parameters, **change}))
            )
    negative = release.table.counts.copy()
    negative[0, 0] -= 100
    negative[0, 1] += 100
    wrong = Release.of(Table.dense(release.domain, negative), mechanism)
    with pytest.raises(InputError, match="no true count"):
        METHOD.likelihood(wrong)


def _given(original: tuple[int, ...], value: int, quality: float) -> dict[tuple[int, ...], float]:
    """Every sample of all records by the counts that zeros are replaced in, those within range alone."""
    counts = [x or value for x in original]
    n, law = sum(counts), {}
    for out in itertools.product(range(n + 1), repeat=len(counts)):
        within = all(
            abs(y - x) <= quality * math.sqrt(x * (1 - x / n)) + 1e-12
            for x, y in zip(counts, out, strict=True)
        )
        if sum(out) == n and within:
            law[out] = math.factorial(n) * math.prod(
                (x / n) ** y / math.factorial(y) for x, y in zip(counts, out, strict=True)
            )
    total = sum(law.values())
    return {out: p / total for out, p in law.items()}


@pytest.mark.parametrize("counts", [(2, 0, 1, 0), (0, 1, 3, 2), (1, 1, 0, 1)])
def test_zeros_that_are_replaced_are_hidden_as_every_original_says(counts: tuple[int, ...]) -> None:
    value, quality = 1, 1.5
    table = Table.dense(SMALL, np.array(counts).reshape(2, 2))
    parameters = {"S": quality, "M": 1, "zeros": value}
    release = METHOD.run(Problem(table), parameters, Randomness.seeded(5)).release
    assert release.mechanism.parameters["replaced"] == counts.count(0)
    published = tuple(release.table.counts.reshape(-1).tolist())
    assert sum(published) == sum(counts) + value * counts.count(0)
    chances = {
        original: _given(original, value, quality).get(published, 0.0)
        for original in itertools.product(range(7), repeat=4)
        if sum(original) == sum(counts) and original.count(0) == counts.count(0)
    }
    whole = sum(chances.values())
    found = infer(likelihood_of(release))
    assert found.way == "exact"
    for count in range(4):
        expected = [sum(p for o, p in chances.items() if o[cell] == count) / whole for cell in range(4)]
        assert found.probability(count).reshape(-1) == pytest.approx(np.array(expected), abs=1e-9)
    # A published zero is no proof of one, and nothing that holds of the true counts is promised.
    assert not {"zeros_kept", "total_kept", "bounded"} & set(METHOD.promised(release.mechanism.values))


def test_where_nobody_can_be_nothing_is_replaced() -> None:
    domain = SMALL.with_structural(
        [
            StructuralZeros(
                (
                    (SMALL.names[0], SMALL[SMALL.names[0]].categories[:1]),
                    (SMALL.names[1], SMALL[SMALL.names[1]].categories[:1]),
                )
            )
        ]
    )
    table = Table.dense(domain, np.array([[0, 3], [0, 2]]))
    release = METHOD.run(Problem(table), {"zeros": 2}, Randomness.seeded(1)).release
    assert release.table.counts[0, 0] == 0 and release.mechanism.parameters["replaced"] == 1
    found = infer(likelihood_of(release))
    assert found.probability(0)[0, 0] == 1.0 and 0 < found.probability(0)[1, 0] < 1
    mechanism = replace(release.mechanism, parameters={**release.mechanism.parameters, "replaced": -1})
    with pytest.raises(InputError, match="number of zeros"):
        likelihood_of(replace(release, mechanism=mechanism))
