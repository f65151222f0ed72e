"""Tables of the same records that share some variables: what each tells of the other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import VERDICT
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.people.grouped_categories import Groups, groups_between, over_groups
from tabprotect.engine.register.people.overlapping import overlap_evidence
from tabprotect.engine.register.people.stated_margins import exact_margin
from tabprotect.engine.release.likelihood import CellFactors
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
    first, second = released(table("AB", AB), "suppression", choice="cheapest"), table("BC", BC)
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
                released(table("AB", counts), "suppression", choice="cheapest").tables,
                first.tables,
                strict=True,
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
    assert not groups_between(second, Evidence(first), ["B"])
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


def test_what_cannot_be_read() -> None:
    """Another margin: other records, or changed ones."""
    first, here = (released(one, "random_rounding", base=3) for one in (table("AB", AB), table("BC", BC)))
    assert overlap_evidence(table("BC", BC), [Evidence(here)], Evidence(first), 0) is None


CYCLIC = {"cycles": "elementary", "blocking": "negative"}


@pytest.mark.parametrize("method", ["cyclic_perturbation", "random_rounding", "suppression", "cell_key"])
@given(seed=st.integers(0, 500), finer=st.booleans())
@settings(max_examples=6, deadline=None)
def test_groups_are_found_whatever_they_are_called(method: str, seed: int, finer: bool) -> None:
    random = np.random.default_rng(seed)
    counts, group = random.poisson(40, (5, 3)), random.permutation([0, 0, 1, 1, 2])
    added = np.zeros((3, 3), dtype=np.int64)
    np.add.at(added, group, counts)
    fine, coarse = table("FB", counts), table("GB", added)
    here, there = (fine, coarse) if finer else (coarse, fine)
    chosen = CYCLIC if method == "cyclic_perturbation" else {"keys": "hashed"} if method == "cell_key" else {}
    (found,) = groups_between(here, Evidence(released(there, method, **chosen)), ["B"])
    assert found.mine_is_fine == finer
    # Of several that fit, one in order is taken for the code list.
    right = found.group is not None and found.group.tolist() == group.tolist()
    assert right or found.group is None or bool((np.diff(found.group) >= 0).all())


def test_variables_that_are_no_groups_of_each_other() -> None:
    fine = table("FB", np.array([[1, 4], [2, 0], [5, 3], [2, 2]]) * 10)
    for counts, may in (([[30, 40], [70, 50]], True), ([[10, 20], [90, 70]], False)):
        for method, chosen in (("cyclic_perturbation", CYCLIC), ("random_rounding", {})):
            coarse = Evidence(released(table("GB", np.array(counts)), method, **chosen))
            assert bool(groups_between(fine, coarse, ["B"])) == may


def test_sums_of_groups_are_margins_that_tell() -> None:
    """By listing all originals of the finer table, weighed by the coarser release."""
    fine = table("F", np.array([1, 2, 5]))
    there = Evidence(released(table("G", np.array([3, 5])), "random_rounding", base=3))
    factors = there.likelihood
    assert isinstance(factors, CellFactors)
    known = over_groups(factors, Groups("F", "G", True, np.array([0, 1, 0])), fine.domain)
    beside = Evidence(there.release, known, alone=True)
    found = believe([beside], knowing=RELEASE_ALONE, inner=True, effort=VERDICT).posterior
    every = np.array(list(itertools.product(range(14), repeat=3)))
    coarse = np.stack([every[:, 0] + every[:, 2], every[:, 1]], axis=1)
    weights = np.ones(len(every))
    for number, kind in enumerate(factors.kind.tolist()):
        cells = factors.cells[factors.starts[number] : factors.starts[number + 1]]
        away = coarse[:, cells].sum(axis=1) - factors.low[kind]
        logs = factors.logs[factors.log_starts[kind] : factors.log_starts[kind + 1]]
        inside = (away >= 0) & (away <= factors.high[kind] - factors.low[kind])
        weights *= inside
        if len(logs):
            weights *= np.exp(logs[np.where(inside, away, 0)])
    for cell, value in itertools.product(range(3), range(14)):
        share = weights[every[:, cell] == value].sum() / weights.sum()
        assert found.probability(value).reshape(-1)[cell] == pytest.approx(share, abs=1e-9)
