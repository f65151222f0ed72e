"""Ways through hidden cells: the compiled ones are those of numpy, and move no published cell."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import two_way_routes_in_numpy

from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.protection.suppressing.near_tables import two_way_flows
from tabprotect.engine.protection.suppressing.near_tables.two_way_flows import TwoWayFlows
from tabprotect.engine.protection.suppressing.pattern import select
from tabprotect.engine.protection.suppressing.sensitive import task_of
from tabprotect.engine.protection.suppressing.task import Task
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

Way = tuple[list[int], list[int], int, int]


def task_with(seed: int) -> Task:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(3, 12)), int(rng.integers(3, 12)))
    counts = rng.poisson(rng.gamma(0.4, rng.choice([3.0, 8.0]) / 0.4, size=shape))
    table = Table.dense(Domain.of_shape(shape), counts)
    problem = Problem(table, at_risk=SmallCount(1, 2))
    given = {
        "insiders": ("one", "none", "all", "outside")[seed % 4],
        "zeros": ("published", "allowed")[seed // 4 % 2],
        "level": 1 + seed % 3,
    }
    values = methods()["suppression"].resolve_for(problem, given)
    return task_of(problem, publication_of(table.domain, values), values)


def ways(task: Task, monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, list[Way | None]]:
    """The choice of hidden cells, and all ways that were found for it."""
    found: list[Way | None] = []
    route = TwoWayFlows.route

    def noted(self: TwoWayFlows, *args: object, **options: object) -> object:
        one = route(self, *args, **options)  # type: ignore[arg-type]
        way = one and (one.cells.tolist(), one.change.tolist(), one.ahead, one.behind)
        found.append(way or None)
        return one

    with monkeypatch.context() as patched:
        patched.setattr(TwoWayFlows, "route", noted)
        return select(task), found


@pytest.mark.parametrize("seed", range(16))
def test_compiled_ways_are_those_of_numpy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    task = task_with(seed)
    hidden, compiled = ways(task, monkeypatch)
    monkeypatch.setattr(two_way_flows, "two_way_routes", two_way_routes_in_numpy)
    same, plain = ways(task, monkeypatch)
    assert np.array_equal(hidden, same)
    assert compiled == plain and any(way is not None for way in plain)
    sums = task.publication.incidence
    for way in plain:
        if way is not None:
            moved = np.zeros(task.publication.size, dtype=np.int64)
            moved[way[0]] = way[1]
            inner = task.publication.domains.index(task.publication.domain)
            start = int(task.publication.starts[inner])
            cells = moved[start : start + task.publication.domain.size]
            assert np.array_equal(np.asarray(sums @ cells), moved)


def test_how_long_it_takes_is_told_by_the_ends_and_not_by_the_table() -> None:
    """A way looks at a row and a column, whatever the size of the table."""
    flows = [TwoWayFlows(task.publication, task.room, task.cost) for task in map(task_with, (0, 1))]
    assert flows[0].seconds(50_000) == flows[1].seconds(50_000) < (60, 60)


@pytest.mark.parametrize("seed", range(12))
def test_compiled_flows_are_as_large_as_those_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(2, 9)), int(rng.integers(2, 9)))
    hidden = rng.random(shape) < 0.6
    forward, back = (np.where(hidden, rng.integers(0, 12, shape), 0) for _ in range(2))
    network = two_way_flows.HiddenNetwork(forward, back)
    for i, j in itertools.product(*map(range, shape)):
        largest = two_way_routes_in_numpy.largest_flow(forward, back, i, j)
        for most in (1, 3, 10_000):
            amount, (rows, columns, flow) = network.wanted(i, j, most)
            assert amount == min(largest, most)
            moved = np.zeros(shape, dtype=np.int64)
            moved[rows, columns] = flow
            assert moved[i, j] == 0 and (moved <= forward).all() and (-moved <= back).all()
            over, under = moved.sum(axis=1), moved.sum(axis=0)
            over[i] -= amount
            under[j] -= amount
            assert not over.any() and not under.any()
