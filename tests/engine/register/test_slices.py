"""Tables of one category beside a table that has the variable: by listing everybody, and what is asked."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.people.parts_of_whole import Counted
from tabprotect.engine.register.people.people_in_common import InCommonReading
from tabprotect.engine.register.people.slices import OWN, Slices
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tests.engine.register.test_parts_of_whole import listed

PEOPLE = np.array([[[15, 10, 0], [0, 4, 1]], [[6, 9, 0], [2, 4, 2]]])
"""Sex, rows and columns."""

LIMITS = AgencyPolicy().limits()


def released(table: Table, method: str, seed: int, **given: object) -> Release:
    return methods()[method].run(Problem(table), given, Randomness.seeded(seed)).release


def by_sex(counts: np.ndarray) -> Table:
    return Table.dense(Domain.of_shape(counts.shape, ("s", "r", "c")), counts)


def of_all(counts: np.ndarray) -> Table:
    return Table.dense(Domain.of_shape(counts.shape, ("r", "c")), counts)


@pytest.mark.parametrize("at_hand", ["slice", "finer"])
def test_a_slice_by_listing(at_hand: str) -> None:
    counts = np.array([[4, 1], [2, 9]])
    finer = Table.dense(Domain.of_shape((2, 2), ("s", "r")), counts)
    men = Table.dense(finer.domain.project(["r"]), counts[0])
    releases = released(finer, "random_rounding", 1), released(men, "random_rounding", 2)
    of_finer, of_men = (Counted.of(Evidence(one), one.domain.names) for one in releases)
    numbers = (1, OWN) if at_hand == "slice" else (OWN, 1)
    group = Slices((numbers[0], of_finer), "s", [(numbers[1], of_men)], men if at_hand == "slice" else finer)
    (known, *more) = group.possible()
    # The other category has other counts, as far as the release at hand says.
    assert not more and group.heard and group.numbers == (1,)
    found, *_ = group.judged(known, LIMITS)
    (tables, weights), (rows, chances) = map(listed, releases)
    law = {tuple(row): chance for row, chance in zip(rows.tolist(), chances, strict=True)}
    both = weights * [law.get(tuple(table[:2]), 0.0) for table in tables.tolist()]
    small = (tables >= 1) & (tables <= 2)
    assert found.at_risk == pytest.approx((both @ small).sum() / both.sum(), abs=1e-9)


@pytest.mark.parametrize("first", ["finer", "slice"])
@pytest.mark.parametrize(("method", "seed"), [("suppression", 2), ("small_count_rounding", 7)])
def test_what_both_hide_otherwise_is_asked_about(method: str, seed: int, first: str) -> None:
    """Two patterns, or two draws, of the men: together they settle a count."""
    finer, men = by_sex(PEOPLE), of_all(PEOPLE[0])
    releases = [released(one, method, seed + number) for number, one in enumerate((finer, men))]
    problems = [finer, men] if first == "slice" else [men, finer]
    own, other = releases if first == "slice" else reversed(releases)
    reading = InCommonReading(problems[0], Evidence(own), People(), LIMITS)
    found = reading.of([(1, Evidence(other))])
    assert found.asked == (1,) and 1 in [one.certain for one in found.tables]
    others = InCommonReading(problems[0], Evidence(own), People.parse("other:1"), LIMITS)
    assert not others.of([(1, Evidence(other))]).tables


def test_coins_of_cycles_that_are_not_weighed_are_told() -> None:
    counts = np.random.default_rng(1).poisson(30, (2, 3, 3)) + 9
    releases = [
        Evidence(released(one, "cyclic_perturbation", 1)) for one in (by_sex(counts), of_all(counts[0]))
    ]
    found = InCommonReading(of_all(counts[0]), releases[1], People(), LIMITS).of([(1, releases[0])])
    assert found.unread == {1} and found.asked == (1,)


def test_a_drawn_sum_that_both_settle_by_listing() -> None:
    """Each draws the men of r1 anew: one, as no other number of them can be what both say."""
    counts = np.array([[[8, 2], [1, 0]], [[0, 7], [0, 4]]])
    finer, men = by_sex(counts), of_all(counts[0])
    releases = [released(one, "random_rounding", seed) for seed, one in ((1, finer), (2, men))]
    of_finer, of_men = (Counted.of(Evidence(one), one.domain.names) for one in releases)
    group = Slices((1, of_finer), "s", [(OWN, of_men)], men)
    (placed,) = group.possible()
    cells, *sums = group.judged(placed, LIMITS)
    (tables, weights), (rows, chances) = map(listed, releases)
    law = {tuple(row): chance for row, chance in zip(rows.tolist(), chances, strict=True)}
    both = weights * [law.get(tuple(table[:4]), 0.0) for table in tables.tolist()]
    of_r1 = tables[:, 2:4].sum(axis=1)
    assert both @ (of_r1 == 1) / both.sum() > LIMITS.belief_limit
    assert not cells.fails(LIMITS) and max(one.known for one in sums) == 1
    small = (of_r1 >= 1) & (of_r1 <= 2), (tables[:, :2].sum(axis=1) >= 1) & (tables[:, :2].sum(axis=1) <= 2)
    expected = sum(both @ one for one in small) / both.sum()
    # Of all, of the men, and of the women by both.
    assert [one.at_risk for one in sums if one.names == ("r",)][1] == pytest.approx(expected)
