"""Cutting planes against all hiding sets of tiny tables, and against the best known ones."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.protection.suppressing import choice
from tabprotect.engine.protection.suppressing.audit import audit
from tabprotect.engine.protection.suppressing.choice import choose
from tabprotect.engine.protection.suppressing.hiding_problem import HidingProblem
from tabprotect.engine.protection.suppressing.hiding_sets import cutting_planes
from tabprotect.engine.protection.suppressing.hiding_sets.cutting_planes import CuttingPlanes
from tabprotect.engine.protection.suppressing.hiding_sets.promise import check_intervals
from tabprotect.engine.protection.suppressing.task import Insiders, Task
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

KNOWN = json.loads(
    (Path(__file__).parents[3] / "reference" / "suppression.json").read_text(encoding="utf-8")
)["tables"]


def task_of(
    counts: np.ndarray, formula: str, *, high: int, insiders: Insiders = "none", groups: str = ""
) -> Task:
    table = Table.dense(Domain.of_shape(counts.shape), counts)
    parsed = parse_groupings(groups, table.domain) if groups else ()
    publication = Publication.of(table.domain, formula, parsed)
    values = publication.stack(publication.sums(table))
    cost = np.where(values == 0, np.inf, values + 1.0)
    level = np.full(len(values), 2)
    primary = SmallCount(1, high).mask(values)
    return Task(publication, table, primary, level, level, cost, insiders, never_zero=True)


def known(name: str) -> Task:
    found = KNOWN[name]
    groups = ""
    if found["groups"]:
        groups = "G:A=" + ",".join(f"a{k + 1}>g{g}" for k, g in enumerate(found["groups"]))
    counts = np.array(found["counts"]).reshape(found["shape"])
    return task_of(counts, found["formula"], high=3, groups=groups)


def best_of_all(task: Task) -> float:
    """The least cost of all hiding sets, each audited."""
    problem = HidingProblem.of(task)
    free = np.flatnonzero(np.isfinite(problem.cost) & ~problem.always)
    best = np.inf
    for chosen in product((False, True), repeat=len(free)):
        hidden = problem.always.copy()
        hidden[free] = chosen
        cost = float(problem.cost[free[list(chosen)]].sum())
        if cost < best:
            cells = problem.published(hidden)
            found = audit(task.publication, task.table, cells, levels=task.levels, never_zero=True)
            if not len(found.unprotected):
                best = cost
    return best


@pytest.mark.parametrize(
    ("counts", "formula"),
    [
        ([[1, 4, 2], [5, 3, 0]], "A*B"),
        ([[2, 0, 6], [1, 3, 4]], "A*B"),
        ([[[1, 3], [4, 5]], [[0, 6], [3, 3]]], "A:B + B:C + A:C + 1"),
    ],
)
def test_no_hiding_set_of_a_tiny_table_is_cheaper(counts: list[object], formula: str) -> None:
    task = task_of(np.array(counts), formula, high=2)
    best = best_of_all(task)
    found = CuttingPlanes(HidingProblem.of(task), 1e6).run()
    if found is None:
        assert best == np.inf
    else:
        assert found.cost == pytest.approx(best) and found.bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("name", sorted(set(KNOWN) - {"d3_5"}))
def test_the_best_known_hiding_sets_are_found_and_proved(name: str) -> None:
    task = known(name)
    found = choose(task)
    assert found.cost == pytest.approx(KNOWN[name]["best_cost"])
    assert found.gap is not None and found.gap <= 0.01
    kept = check_intervals(task, found.hidden)
    assert not len(kept.unprotected) and kept.whole == kept.ends > 0


def test_a_table_of_three_variables_comes_close(monkeypatch: pytest.MonkeyPatch) -> None:
    task = known("d3_5")
    found = choose(task)
    assert found.cost <= 1.05 * KNOWN["d3_5"]["best_cost"]
    assert found.bound is not None
    assert found.bound <= KNOWN["d3_5"]["best_cost"] and "cheaper" in found.sentence
    levels = task.levels
    audited = audit(task.publication, task.table, found.hidden, levels=levels, never_zero=True)
    assert not len(audited.unprotected)
    # Counts of work decide and no clock: the same again.
    monkeypatch.setattr(choice, "WORK", 3e5)
    monkeypatch.setattr(choice, "BY_NUMBER", 0.0)
    first, second = choose(task), choose(task)
    np.testing.assert_array_equal(first.hidden, second.hidden)
    assert first.cost >= found.cost


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["none", "outside", "one", "all"]))
def test_intervals_hold_against_insiders(seed: int, insiders: Insiders) -> None:
    """Nobody who is alone in a cell undoes another one: looked at with their cells published."""
    counts = np.random.default_rng(seed).poisson(2.5, (3, 3, 2))
    task = task_of(counts, "A*B*C", high=1, insiders=insiders)
    problem = HidingProblem.of(task)
    found = CuttingPlanes(problem, 4e5).run()
    if found is None:
        return
    hidden = problem.published(found.hidden)
    assert not len(check_intervals(task, hidden).unprotected)
    if insiders == "none":
        return
    people = set(problem.person.tolist()) - {-1}
    for person in people if insiders != "all" else [None]:
        for cell in np.flatnonzero(task.primary):
            number = task.publication.distinct[1][cell]
            spared = problem.spared(int(number))
            barred = people - spared if person is None else {person} - spared
            if not barred:
                continue
            seen = hidden & ~np.isin(problem.person, list(barred))[task.publication.distinct[1]]
            mine = replace(task, primary=np.arange(len(hidden)) == cell, insiders="none")
            assert not len(check_intervals(mine, seen).unprotected)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["A*B*C", "A:B + B:C + 1", "A*B + C"]))
def test_the_check_says_what_the_audit_says(seed: int, formula: str) -> None:
    generator = np.random.default_rng(seed)
    task = task_of(generator.poisson(2.0, (3, 2, 2)), formula, high=2)
    hidden = task.primary | ((generator.random(len(task.cost)) < 0.5) & (task.values > 0))
    audited = audit(task.publication, task.table, hidden, levels=task.levels, never_zero=True)
    found = check_intervals(task, hidden)
    assert set(found.unprotected) <= set(audited.unprotected)
    if found.whole == found.ends:
        np.testing.assert_array_equal(found.unprotected, audited.unprotected)


def test_what_cannot_be_protected_is_named_before_any_search() -> None:
    task = known("d3_5")
    inner = len(task.values) - task.table.domain.size
    shut = replace(task, cost=np.where(np.arange(len(task.cost)) < inner, np.inf, task.cost))
    with pytest.raises(InfeasibleError, match="cannot be protected by hiding") as refused:
        choose(shut)
    assert len(refused.value.detail.splitlines()) <= 21


@pytest.mark.parametrize("must", [False, True])
def test_of_many_ends_boxes_are_asked_first_and_tell_the_same(
    must: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be kept at all is found by boxes and programmes as by programmes alone."""
    counts = np.random.default_rng(4).poisson(3.0, (4, 4, 3)) + 1
    if must:
        # Nothing beside it may move: the only small count is published by its line.
        counts[:] = np.where(counts > 0, 9, 0)
        counts[1, :, :], counts[:, 2, :], counts[1, 2, 0] = 0, 0, 1
    found = []
    for many in (10**9, 0):
        monkeypatch.setattr(cutting_planes, "MANY_AIMS", many)
        task = task_of(counts, "A:B:C + A:B + A:C + B:C", high=2)
        inner = np.arange(len(task.cost)) < counts.size
        # Sums stay published.
        cost = np.where(inner, task.cost, np.inf)
        problem = HidingProblem.of(replace(task, primary=task.primary & inner, cost=cost))
        found.append(CuttingPlanes(problem, 1e6).impossible())
    assert found[0] == found[1] and bool(found[0]) == must
