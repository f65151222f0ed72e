"""Tables of the same records that share some variables: what each tells of the other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.overlapping import (
    exact_margin,
    hang_in_a_ring,
    may_group,
    overlap_evidence,
    same_total,
)
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

AB = np.array([[2, 7, 4], [0, 5, 4], [0, 3, 2]])
BC = np.array([[2, 0, 0], [5, 6, 4], [3, 3, 4]])


def table(names: str, counts: Ints) -> Table:
    return Table.dense(Domain.of_shape(counts.shape, tuple(names)), counts)


def released(one: Table, method: str, **given: object) -> Release:
    return methods()[method].run(Problem(one), given, Randomness.seeded(1)).release


CYCLES = {"cycles": "strips-2", "blocking": "negative"}


def test_a_margin_that_one_hides_and_the_other_states() -> None:
    first, second = released(table("AB", AB), "suppression"), table("BC", BC)
    here = released(second, "cyclic_perturbation", **CYCLES)
    found = overlap_evidence(second, [Evidence(here)], Evidence(first), 1)
    assert found is not None and found.of_this is None and found.of_other is not None
    limits = AgencyPolicy().limits()
    alone, beside = verdict(first, limits), verdict(first, limits, [found.of_other])
    assert alone.passed and beside.passed is False
    # By listing: every original of the first table that gives its pattern, with that margin.
    ways = [
        np.array([n for n in itertools.product(range(t + 1), repeat=3) if sum(n) == t])
        for t in BC.sum(axis=1)
    ]
    at = np.indices([len(way) for way in ways]).reshape(3, -1)
    every = np.stack([way[k] for way, k in zip(ways, at, strict=True)], axis=2)
    every = every[(every.sum(axis=2) == AB.sum(axis=1)).all(axis=1)]
    seen = ~first.tables[0].hidden
    every = every[(every[:, seen] == first.table.counts[seen]).all(axis=1)]
    fitting = [
        counts
        for counts in every
        if all(
            np.array_equal(one.hidden, other.hidden)
            for one, other in zip(
                released(table("AB", counts), "suppression").tables, first.tables, strict=True
            )
        )
    ]
    originals = np.array(fitting)
    shares = [(originals == value).mean(axis=0) for value in (1, 2)]
    (inner,) = (one for one in beside.tables if one.inner)
    assert inner.at_risk == pytest.approx(sum(share.sum() for share in shares))
    assert inner.known == int((np.maximum(*shares) > limits.belief_limit).sum()) > 0


def test_cycles_on_both_tell_nothing_further() -> None:
    second = table("BC", BC)
    first, here = (released(one, "cyclic_perturbation", **CYCLES) for one in (table("AB", AB), second))
    found = overlap_evidence(second, [Evidence(here)], Evidence(first), 1)
    assert found is not None and not found.tells


def test_stated_margins_that_differ_are_not_of_the_same_records() -> None:
    second, moved = table("BC", BC), AB.copy()
    moved[0] += [1, -1, 0]
    first = released(table("AB", moved), "cyclic_perturbation", **CYCLES)
    here = released(second, "cyclic_perturbation", **CYCLES)
    assert not may_group(second, Evidence(first))
    assert overlap_evidence(second, [Evidence(here)], Evidence(first), 1) is None


def test_a_margin_known_to_one_is_taken_in_by_the_other() -> None:
    second = table("BC", BC)
    first = released(table("AB", AB), "cyclic_perturbation", **CYCLES)
    here = released(second, "random_rounding", base=3)
    found = overlap_evidence(second, [Evidence(here)], Evidence(first), 1)
    assert found is not None and found.of_this is not None and found.of_other is None
    limits = AgencyPolicy().limits()
    alone, beside = verdict(here, limits), verdict(here, limits, [found.of_this])
    assert alone.tables[0].at_risk != pytest.approx(beside.tables[0].at_risk, abs=1e-3)
    # A margin of counts that do not differ is a margin all the same.
    assert exact_margin(Evidence(first), ("B",)) == table("AB", AB).margin(["B"])
    assert exact_margin(Evidence(here), ("B",)) is None


@pytest.mark.parametrize(
    ("names", "counts", "margins"),
    [
        # Neither states the margin of B.
        ("AB", AB, 1),
        # Another margin: other records, or changed ones.
        ("AB", AB, 0),
    ],
)
def test_what_cannot_be_read(names: str, counts: Ints, margins: int) -> None:
    second = table("BC", BC)
    first = released(table(names, counts), "random_rounding", base=3)
    here = released(second, "random_rounding", base=3)
    assert overlap_evidence(second, [Evidence(here)], Evidence(first), margins) is None


def test_groups_of_categories() -> None:
    fine = table("FB", np.array([[1, 4], [2, 0], [5, 3], [2, 2]]))
    cycles = {"cycles": "elementary", "blocking": "negative"}
    for counts, may in (([[3, 4], [7, 5]], True), ([[6, 7], [4, 2]], True), ([[1, 2], [9, 7]], False)):
        coarse = Evidence(released(table("GB", np.array(counts)), "cyclic_perturbation", **cycles))
        assert may_group(fine, coarse) == may
    # Where the margin is not stated it may be one of groups.
    rounded = released(table("GB", np.array([[3, 5], [7, 4]])), "random_rounding")
    assert may_group(fine, Evidence(rounded))
    renamed = Domain.of({"F": ["p", "q"], "B": list(fine.domain.variables[1].categories)})
    other = Table.dense(renamed, np.array([[3, 4], [7, 5]]))
    here, there = (Evidence(released(one, "cyclic_perturbation", **cycles)) for one in (fine, other))
    assert overlap_evidence(fine, [here], there, 1) is None
    assert same_total(fine, there)


@pytest.mark.parametrize(
    ("tables", "ring"),
    [
        (["AB", "BC"], False),
        (["AB", "BC", "CD", "BE"], False),
        (["ABC", "BCD", "B", "CD"], False),
        (["AB", "BC", "AC"], True),
        (["AB", "BC", "AC", "ABC"], False),
        (["AB", "BC", "CD", "DA"], True),
        (["AB", "CD"], False),
    ],
)
def test_rings(tables: Sequence[str], ring: bool) -> None:
    assert hang_in_a_ring([Domain.of_shape((2,) * len(n), tuple(n)) for n in tables]) == ring
