"""The cell-oriented method: its law by brute force, its promises, its posterior."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trip import round_trip

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.protection.guarantees import verify
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.resampling import compensation
from tabprotect.engine.protection.resampling.truncated_laws import limits
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.brute_force import weight

METHOD = methods()["binomial_compensated"]


def brute_law(counts: list[int], quality: float) -> dict[tuple[int, ...], float]:
    """Every outcome of the cells' draws, and every way of taking the units off one by one."""
    n = sum(counts)
    low, high = (end.tolist() for end in limits(np.array(counts), n, quality))
    chances = []
    for x, a, b in zip(counts, low, high, strict=True):
        law = {y: math.comb(n, y) * (x / n) ** y * (1 - x / n) ** (n - y) for y in range(a, b + 1)}
        chances.append({y: p / sum(law.values()) for y, p in law.items()})
    out: dict[tuple[int, ...], float] = {}
    for drawn in itertools.product(*chances):
        p = math.prod(law[y] for law, y in zip(chances, drawn, strict=True))
        for result, share in put_right(drawn, n, low, high).items():
            out[result] = out.get(result, 0.0) + p * share
    return out


def put_right(
    drawn: tuple[int, ...], n: int, low: list[int], high: list[int]
) -> dict[tuple[int, ...], float]:
    """Unit after unit from a cell with a chance in proportion to the room it has left."""
    off = sum(drawn) - n
    if not off:
        return {drawn: 1.0}
    ends = low if off > 0 else high
    room = [abs(y - end) for y, end in zip(drawn, ends, strict=True)]
    out: dict[tuple[int, ...], float] = {}
    for cell, balls in enumerate(room):
        if balls:
            moved = list(drawn)
            moved[cell] -= 1 if off > 0 else -1
            for result, p in put_right(tuple(moved), n, low, high).items():
                out[result] = out.get(result, 0.0) + p * balls / sum(room)
    return out


@pytest.mark.parametrize(
    ("counts", "quality"), [([2, 1, 4, 0], 1.5), ([3, 3, 1], 2.5), ([1, 1, 1, 2, 1], 1.0)]
)
def test_the_exact_probability_is_that_of_every_way_it_can_come_about(
    counts: list[int], quality: float
) -> None:
    law = brute_law(counts, quality)
    x = np.array(counts)
    assert sum(law.values()) == pytest.approx(1.0)
    for out, p in law.items():
        alone, beyond = compensation.log_chances(x[None], np.array(out), quality)
        assert math.exp(alone[0] + beyond[0]) == pytest.approx(p, rel=1e-11)
    assert compensation.log_chances(x[None], x + np.eye(len(x), dtype=np.int64)[0], quality)[1] == -math.inf


def coefficients(x: list[int], out: list[int], quality: float) -> float:
    """The chance as coefficients of products of polynomials, in whole numbers until the end."""
    n = sum(x)
    low, high = (end.tolist() for end in limits(np.array(x), n, quality))
    found = Fraction(0)
    for sign, ends in ((1, low), (-1, high)):
        product, room = [Fraction(1)], [abs(y - end) for y, end in zip(out, ends, strict=True)]
        for count, y, a, b, here in zip(x, out, low, high, room, strict=True):
            law = [math.comb(n, k) * count**k * (n - count) ** (n - k) for k in range(a, b + 1)]
            runs = law[y - a :] if sign > 0 else law[y - a :: -1]
            own = [Fraction(p * math.comb(here + d, d), sum(law)) for d, p in enumerate(runs)]
            product = [
                sum(product[k - d] * own[d] for d in range(len(own)) if 0 <= k - d < len(product))
                for k in range(len(product) + len(own) - 1)
            ]
        begin = 0 if sign > 0 else 1
        found += sum(product[d] / math.comb(sum(room) + d, d) for d in range(begin, len(product)))
    return math.log(found)


def test_many_originals_at_once_have_the_coefficients_chances() -> None:
    rng = np.random.default_rng(4)
    x = rng.poisson(rng.gamma(0.7, 15, 12))
    out = compensation.draw(x, np.zeros(12, dtype=np.int64), 2.0, rng)
    originals = np.tile(x, (compensation.AT_ONCE + 40, 1))
    for row in originals:
        row[rng.choice(np.flatnonzero(x > 2), 2, replace=False)] += (1, -1)
    alone, beyond = compensation.log_chances(originals, out, 2.0)
    for k in (0, compensation.AT_ONCE, -1):
        exact = coefficients(originals[k].tolist(), out.tolist(), 2.0)
        assert alone[k] + beyond[k] == pytest.approx(exact, rel=1e-12)


def test_draws_follow_the_law() -> None:
    counts, runs = [2, 1, 4, 0, 3], 4000
    law = brute_law(counts, 1.5)
    generator = np.random.default_rng(5)
    block = np.zeros(5, dtype=np.int64)
    seen = Counter(
        tuple(compensation.draw(np.array(counts), block, 1.5, generator).tolist()) for _ in range(runs)
    )
    assert set(seen) <= set(law)
    for out, p in law.items():
        assert abs(seen[out] - runs * p) < 4.5 * math.sqrt(runs * p) + 1


def test_blocks_are_drawn_apart_and_weighed_as_a_product() -> None:
    domain = Domain.of_shape((2, 3))
    table = Table.dense(domain, [[2, 1, 3], [1, 4, 0]])
    values = METHOD.resolve(domain, {"S": 1.5, "kept": "A"})
    laws = [brute_law(row, 1.5) for row in table.counts.tolist()]
    other = Table.dense(domain, [[2, 2, 2], [2, 3, 0]])
    other_laws = [brute_law(row, 1.5) for row in other.counts.tolist()]
    generator, compared = np.random.default_rng(8), 0
    for _ in range(60):
        release, _ = METHOD.perform(Problem(table), values, generator)
        rows = [tuple(row) for row in release.table.counts.tolist()]
        here = laws[0][rows[0]] * laws[1][rows[1]]
        there = other_laws[0].get(rows[0], 0.0) * other_laws[1].get(rows[1], 0.0)
        likelihood = METHOD.likelihood(release)
        found = weight(likelihood, other) / weight(likelihood, table)
        assert found == pytest.approx(there / here, rel=1e-9)
        compared += there > 0
    assert compared > 20


def test_a_margin_and_the_total_against_each_other() -> None:
    # With a:b kept in a three-way table every a:b total is exact, and so are a and b.
    domain = Domain.of_shape((3, 2, 4))
    table = Table.dense(domain, np.random.default_rng(1).poisson(5, domain.shape))
    for kept, exact in ((None, ()), ("", ()), ("A", ("A",)), ("A:B", ("A", "B")), ("A*B", ("A", "B"))):
        values = METHOD.resolve(domain, {"kept": kept})
        release, _ = METHOD.perform(Problem(table), values, np.random.default_rng(2))
        assert release.table.margin(exact) == table.margin(exact)
        assert release.table != table


def test_a_forgotten_compensation_is_a_broken_promise() -> None:
    domain = Domain.of_shape((4, 3))
    table = Table.dense(domain, np.random.default_rng(1).poisson(5, domain.shape))
    values = METHOD.resolve(domain, {"kept": "B"})
    rows_only, _ = METHOD.perform(
        Problem(table), METHOD.resolve(domain, {"kept": "A"}), np.random.default_rng(2)
    )
    draft = METHOD.draw(Problem(table), values, np.random.default_rng(2))
    with pytest.raises(Exception, match="broke its own promise"):
        verify(METHOD, Problem(table), values, replace(draft, tables=rows_only.tables))


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.integers(0, 30), min_size=12, max_size=12),
    quality=st.floats(0.5, 4),
    kept=st.sampled_from(["", "A", "B", "A:C"]),
    seed=st.integers(0, 2**32),
)
def test_guarantees(cells: list[int], quality: float, kept: str, seed: int) -> None:
    table = Table.dense(Domain.of_shape((3, 2, 2)), np.array(cells).reshape(3, 2, 2))
    values = METHOD.resolve(table.domain, {"S": quality, "kept": kept})
    release, _ = METHOD.perform(Problem(table), values, np.random.default_rng(seed))
    assert release.table.total == table.total
    assert weight(METHOD.likelihood(release), table) > 0


def test_small_counts_are_a_little_too_low() -> None:
    # About -0.2 at a count of 1 for S up to 2: the truncation takes more from above.
    counts = np.array([1] * 20 + [30] * 20)
    generator = np.random.default_rng(2)
    block = np.zeros(40, dtype=np.int64)
    runs = [compensation.draw(counts, block, 2.0, generator)[:20].mean() for _ in range(400)]
    assert np.mean(runs) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("kept", ["", "A"])
def test_bundle_and_dossier(kept: str, tmp_path: Path) -> None:
    counts = np.random.default_rng(2).poisson(4, (4, 3))
    problem = Problem(Table.dense(Domain.of_shape((4, 3)), counts), title="Beds")
    release = round_trip(METHOD.run(problem, {"kept": kept}, Randomness.fresh()), tmp_path)
    assert release.mechanism.parameters == {"S": 2.0, "kept": kept}


def test_counts_alone_in_their_total_are_reported() -> None:
    table = Table.dense(Domain.of_shape((2, 2)), [[2, 0], [5, 6]])
    values = METHOD.resolve(table.domain, {"kept": "A"})
    draft = METHOD.draw(Problem(table), values, np.random.default_rng(1))
    assert draft.tables[0].table[0, 0] == 2
    assert draft.findings == {"at_risk_alone_in_their_total": 1}


def test_a_table_of_many_variables_is_no_matter_of_sub_tables() -> None:
    """3^18 cells of all sub-tables would be refused; none but the table is published."""
    assert METHOD.resolve(Domain.of_shape((2,) * 18), {"kept": "A"})["kept"] == "A"


def test_bad_parameters() -> None:
    domain = Domain.of_shape((2, 2, 2))
    with pytest.raises(ParameterError) as caught:
        METHOD.resolve(domain, {"S": 0.1, "speed": 1})
    assert set(caught.value.fields) == {"S", "speed"}
    for kept, message in (
        ("A + B", "A and B: one margin can be kept"),
        ("A*B*C", "the table itself"),
        ("D", "names 'D'"),
        ("A:", "ends too early"),
    ):
        with pytest.raises(ParameterError, match=message) as caught:
            METHOD.resolve(domain, {"kept": kept})
        assert set(caught.value.fields) == {"kept"}


def test_releases_that_cannot_be() -> None:
    table = Table.dense(Domain.of_shape((2, 2)), [[2, 3], [5, 6]])
    release = METHOD.run(Problem(table), {}, Randomness.seeded(1)).release
    wrong = Table.dense(release.domain, [[-2, 7], [5, 6]])
    with pytest.raises(InputError, match="negative"):
        METHOD.likelihood(Release.of(wrong, release.mechanism))
