"""Patterns against brute force; the method's release, statuses, refusals and posterior."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suppression_brute_force import tables_alike, with_zeros

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.protection.methods.suppression import PLUGIN
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.suppressing.audit import audit
from tabprotect.engine.protection.suppressing.near_tables import linear_moves
from tabprotect.engine.protection.suppressing.near_tables.linear_moves import MOST_WORK, LinearMoves
from tabprotect.engine.protection.suppressing.near_tables.two_way_flows import TwoWayFlows
from tabprotect.engine.protection.suppressing.pattern import select
from tabprotect.engine.protection.suppressing.task import Insiders, Task
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.solver import solver_work
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.testing.calibration import LIMIT, calibrate_method


def _task(
    shape: tuple[int, ...],
    counts: object,
    *,
    formula: str,
    level: int,
    insiders: Insiders = "none",
    high: int = 1,
    groupings: str = "",
    never_zero: bool = False,
    zeros: Collection[int] = (),
) -> Task:
    table = with_zeros(Table.dense(Domain.of_shape(shape), np.array(counts).reshape(shape)), zeros)
    parsed = parse_groupings(groupings, table.domain) if groupings else ()
    publication = Publication.of(table.domain, formula, parsed)
    values = publication.stack(publication.sums(table))
    cost = np.where(values == 0, np.inf, values.astype(float))
    primary = (values >= 1) & (values <= high)
    above = np.full(len(values), level)
    return Task(publication, table, primary, above, above, cost, insiders, never_zero)


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    shape, formula, groupings = draw(
        st.sampled_from(
            [
                ((2, 3), "A*B", ""),
                ((3, 3), "A*B", ""),
                ((2, 2, 2), "A*B*C", ""),
                ((2, 4), "A*B + A*g", "g:B=b1>x,b2>x,b3>y,b4>y"),
                ((2, 2, 2), "A:B + B:C + A:C + 1", ""),
            ]
        )
    )
    size = int(np.prod(shape))
    counts = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
    return _task(
        shape,
        counts,
        formula=formula,
        level=draw(st.integers(1, 2)),
        insiders=draw(st.sampled_from(["none", "outside", "one", "all"])),
        groupings=groupings,
        never_zero=draw(st.booleans()),
        zeros=draw(st.just(set()) | st.sets(st.integers(1, size - 1), max_size=3)),
    )


def _holds(task: Task, alike: np.ndarray) -> bool:
    """Every primary cell reaches both ends of its interval in some table a reader cannot rule out."""
    cells = np.flatnonzero(task.primary)
    low, high = alike[:, cells].min(axis=0), alike[:, cells].max(axis=0)
    values = task.values[cells]
    return bool((low <= values - task.below[cells]).all() and (high >= values + task.above[cells]).all())


@settings(max_examples=45, deadline=None)
@given(tasks())
def test_every_interval_holds_against_all_insiders(task: Task) -> None:
    try:
        suppressed = select(task)
    except InfeasibleError:
        return
    assert suppressed[task.primary].all()
    assert not suppressed[np.isinf(task.cost)].any()
    engine = audit(task.publication, task.table, suppressed, never_zero=task.never_zero)
    cells = np.flatnonzero(task.primary)
    at = np.searchsorted(engine.cells, cells)
    assert (engine.lower[at] <= task.values[cells] - task.below[cells]).all()
    assert (engine.upper[at] >= task.values[cells] + task.above[cells]).all()
    one_cell = np.diff(task.publication.incidence.indptr) == 1
    possible = ~task.table.domain.structural_cells()
    whole = np.diff(task.publication.incidence.indptr) == possible.sum()
    if suppressed[whole].any() or (suppressed & one_cell).sum() > 5:
        return
    alike = tables_alike(task.publication, task.table, suppressed, never_zero=task.never_zero)
    assert _holds(task, alike)
    # A person alone in a cell is alone in every total of 1 that contains it.
    incidence = task.publication.incidence.toarray()
    people = {
        cell: int(np.flatnonzero(incidence[cell] * task.table.counts.reshape(-1))[0])
        for cell in np.flatnonzero(task.values == 1)
    }
    for cell in cells:
        mine = replace(task, primary=np.arange(len(task.cost)) == cell)
        others = set(people.values()) - {people.get(cell, -1)}
        if task.insiders == "outside":
            others -= set(np.flatnonzero(incidence[cell]))
        for known in [others] if task.insiders == "all" else [{p} for p in others]:
            sees = [c for c, person in people.items() if person in known]
            if task.insiders != "none":
                assert _holds(mine, alike[(alike[:, sees] == 1).all(axis=1)])


def test_no_secondary_cell_is_idle() -> None:
    """Publishing any one of them again breaks an interval."""
    counts = np.random.default_rng(5).poisson(6, (7, 8))
    task = _task((7, 8), counts, formula="A*B", level=2, high=2)
    suppressed = select(task)
    levels = {"below": np.where(task.primary, task.below, 0), "above": np.where(task.primary, task.above, 0)}
    assert not len(audit(task.publication, task.table, suppressed, levels=levels).unprotected)
    secondary = np.flatnonzero(suppressed & ~task.primary)
    assert len(secondary)
    for cell in secondary:
        fewer = suppressed.copy()
        fewer[cell] = False
        assert len(audit(task.publication, task.table, fewer, levels=levels).unprotected)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_flows_and_programmes_agree_on_what_is_possible(seed: int) -> None:
    """Two ways to the same question: how far can a hidden cell move, and what does it take?"""
    generator = np.random.default_rng(seed)
    task = _task((4, 5), generator.poisson(3, (4, 5)), formula="A*B", level=2)
    hidden = np.flatnonzero(generator.random(len(task.cost)) < 0.5)
    nothing = np.zeros(0, dtype=np.int64)
    cost = np.full(len(task.cost), np.inf)
    inner = task.table.counts.reshape(-1)
    flows = TwoWayFlows(task.publication, task.values, cost)
    programme = LinearMoves(task.publication, task.values, cost, inner)
    for engine in (flows, programme):
        engine.open(hidden)
    for cell in hidden.tolist()[:4]:
        for sign in (1, -1):
            far = flows.extreme(cell, sign, 0)[0]
            assert far == programme.extreme(cell, sign, 0)[0]
            for need in (1, 3):
                with patch.object(linear_moves, "SMALL", 0):
                    routes = [
                        engine.route(cell, sign, need, barred=nothing, pay=False)
                        for engine in (flows, programme)
                        if sign > 0 or need <= task.values[cell]
                    ]
                assert all((route is not None) == (need <= far) for route in routes)


def test_one_that_cannot_be_protected_is_named() -> None:
    task = _task((2, 2), [1, 3, 3, 5], formula="A*B", level=1)
    with pytest.raises(InfeasibleError) as refused:
        select(replace(task, cost=np.full(len(task.cost), np.inf)))
    assert "A=a1, B=b1" in refused.value.message and refused.value.detail == "A=a1, B=b1"
    assert "zeros" in refused.value.hint


def test_what_a_reader_knows_to_be_impossible_is_not_asked_for() -> None:
    """Hidden cells are at least 1, and totals at least the number of their parts."""
    task = _task((2, 2), [1, 2, 0, 4], formula="A*B", level=9, never_zero=True)
    values = task.publication.stack(task.publication.sums(task.table))
    parts = task.publication.stack(task.publication.sums(_table([[1, 1], [0, 1]])))
    np.testing.assert_array_equal(task.below, values - parts)
    np.testing.assert_array_equal(_task((2, 2), [1, 2, 0, 4], formula="A*B", level=9).below, values)
    # Margins only: nobody sees which inner cells are zero, only which sums are.
    task = _task((2, 2, 1), [1, 2, 0, 4], formula="A:C + B:C + C", level=9, never_zero=True)
    names = [task.publication.cell_text(cell) for cell in range(len(task.values))]
    least = dict(zip(names, task.values - task.below, strict=True))
    assert least["C=c1"] == 2 and least["A=a1, C=c1"] == least["B=b2, C=c1"] == 1


def _table(counts: object) -> Table:
    array = np.array(counts)
    return Table.dense(Domain.of_shape(array.shape), array)


def _problem(counts: object, **more: object) -> Problem:
    array = np.array(counts)
    return Problem(Table.dense(Domain.of_shape(array.shape), array), **more)  # type: ignore[arg-type]


CHEAPEST: dict[str, object] = {"choice": "cheapest"}

SLIDE = [[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]]


def test_statuses_findings_and_the_public_part() -> None:
    done = PLUGIN.run(_problem(SLIDE), CHEAPEST, Randomness.seeded(1))
    main, letters = done.release.tables[0], done.record.statuses[0]
    assert set(letters[main.hidden]) == {"U", "M"} and set(letters[~main.hidden]) == {"S"}
    np.testing.assert_array_equal(letters == "U", SmallCount().mask(np.array(SLIDE)))
    np.testing.assert_array_equal(main.table.counts[~main.hidden], np.array(SLIDE)[~main.hidden])
    report = done.record.findings["audit"]
    assert isinstance(report, dict) and report["unprotected"] == 0 and report["exact"]
    assert str(report["sentence"]) in done.record.sentence
    assert done.record.sentence.startswith("Every unsafe cell keeps its interval")
    # Whether a cell is primary is no part of what leaves the house.
    assert done.release.mechanism.parameters["at_risk"] == "1..2"
    assert "rule" not in done.release.mechanism.parameters
    again = PLUGIN.run(_problem(SLIDE), CHEAPEST, Randomness.seeded(2))
    assert again.release == done.release


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"totals": "published"}, {"S"}),
        ({"level": 3, "costs": "unity"}, None),
        ({"level_percent": 150.0, "costs": "log"}, None),
        ({"insiders": "all"}, None),
    ],
)
def test_settings(given: dict[str, object], expected: set[str] | None) -> None:
    done = PLUGIN.run(_problem(SLIDE), CHEAPEST | given, Randomness.seeded(1))
    assert done.record.findings["audit"]["unprotected"] == 0  # type: ignore[index]
    if expected is not None:
        assert not any(table.hidden.any() for table in done.release.tables[1:])


def test_sensitive_zeros_and_secondary_zeros() -> None:
    counts = [[0, 5, 6], [7, 8, 4], [9, 0, 7]]
    rule = SmallCount(0, 2)
    done = PLUGIN.run(_problem(counts, at_risk=rule), CHEAPEST, Randomness.seeded(1))
    assert done.release.tables[0].hidden[0, 0] and done.release.tables[0].hidden[2, 1]
    given = CHEAPEST | {"totals": "published", "level": 1}
    with pytest.raises(InfeasibleError):
        PLUGIN.run(_problem([[1, 0], [0, 9]]), given, Randomness.seeded(1))
    # x11 + 1 takes the zero to 1; the other way round nothing but totals can help.
    counts = [[1, 4, 9], [4, 0, 9]]
    rule = SmallCount(1, 1)
    for zeros, number in (("published", 4), ("allowed", 4)):
        given = CHEAPEST | {"zeros": zeros, "level": 1, "totals": "published", "costs": "unity"}
        freed = PLUGIN.run(_problem(counts, at_risk=rule), given, Randomness.seeded(1))
        assert freed.release.tables[0].hidden.sum() == number
        assert freed.record.statuses[0][1, 1] == "E"


def test_ignoring_the_choice_misleads() -> None:
    def blind(release: Release) -> CellFactors:
        return replace(PLUGIN.likelihood(release), rerun=None)

    means = ((1.2, 3.0, 4.0), (3.5, 1.0, 3.0), (4.0, 3.0, 2.5))
    declared = PLUGIN.calibrations[-1]
    plan = replace(declared, means=means, runs=120)
    assert calibrate_method(PLUGIN, plan, likelihood_of=blind)[0].worst_z > LIMIT
    assert calibrate_method(PLUGIN, replace(plan, runs=60))[0].worst_z < LIMIT


def test_three_variables_take_bounded_work() -> None:
    """Many small counts and every sum published: the pattern holds, the work stays counted."""
    counts = np.random.default_rng(0).poisson(2.5, (6, 6, 6))
    task = _task((6, 6, 6), counts, formula="A*B*C", level=2, high=2, insiders="one")
    before = solver_work()
    hidden = select(task)
    assert solver_work() - before < 4 * MOST_WORK
    levels = {"below": np.where(task.primary, task.below, 0), "above": np.where(task.primary, task.above, 0)}
    found = audit(task.publication, task.table, hidden, levels=levels)
    assert not len(found.unprotected)
    assert (found.lower <= found.values).all() and (found.values <= found.upper).all()


def test_what_was_not_found_is_not_called_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(0).poisson(3, (3, 3, 3))
    task = _task((3, 3, 3), counts, formula="A*B*C", level=1)
    select(task)
    monkeypatch.setattr(LinearMoves, "_exactly", lambda *_, **__: None)
    monkeypatch.setattr(LinearMoves, "_box", lambda *_, **__: None)
    monkeypatch.setattr(linear_moves, "SMALL", 0)
    with pytest.raises(InfeasibleError, match="within the stated work"):
        select(task)
