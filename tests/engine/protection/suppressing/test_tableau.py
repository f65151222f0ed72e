"""Pushes along a tableau: the compiled ones are those of numpy, and say what the programme says."""

from __future__ import annotations

import numpy as np
import pivots_in_numpy
import pytest

from tabprotect.engine.protection.suppressing.hiding_problem import HidingProblem
from tabprotect.engine.protection.suppressing.hiding_sets import tableau
from tabprotect.engine.protection.suppressing.hiding_sets.promise import NOBODY, Promise
from tabprotect.engine.protection.suppressing.task import Task
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

FORMULAS = ("A*B*C", "A:B + B:C + A:C + 1", "A*B + C")


def promise(seed: int) -> tuple[Promise, np.ndarray]:
    rng = np.random.default_rng(seed)
    shape = tuple(int(size) for size in rng.integers(2, 6, 3))
    table = Table.dense(Domain.of_shape(shape), rng.poisson(2.5, shape))
    publication = Publication.of(table.domain, FORMULAS[seed % len(FORMULAS)])
    values = publication.stack(publication.sums(table))
    level, cost = np.full(len(values), 2), np.where(values == 0, np.inf, values + 1.0)
    primary = SmallCount(1, 2).mask(values)
    task = Task(publication, table, primary, level, level, cost, "one", never_zero=True)
    problem = HidingProblem.of(task)
    more = problem.may_move & (rng.random(len(problem.room)) < 0.6)
    return Promise(problem), problem.always | more


def pushes(seed: int) -> list[tuple[float, ...] | None]:
    """The changes of all ends, one after the other along the same tableau."""
    asked, hidden = promise(seed)
    asked.hide(hidden)
    found: list[tuple[float, ...] | None] = []
    for number, sign in asked.problem.aims:
        need = int(asked.problem.needs[sign][number])
        way = asked.attackers.way(number, sign, need, NOBODY)
        found.append(None if way is None else tuple(way.tolist()))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_compiled_pivots_are_those_of_numpy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = pushes(seed)
    monkeypatch.setattr(tableau, "pivots", pivots_in_numpy)
    assert pushes(seed) == compiled


@pytest.mark.parametrize("compiled", [True, False])
def test_what_is_pushed_is_what_the_programme_finds(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        monkeypatch.setattr(tableau, "pivots", pivots_in_numpy)
    reached, short = 0, 0
    for seed in range(24):
        asked, hidden = promise(seed)
        asked.hide(hidden)
        problem, attackers = asked.problem, asked.attackers
        rng = np.random.default_rng(seed)
        people = np.flatnonzero(problem.person >= 0)
        for number, sign in problem.aims:
            need = int(problem.needs[sign][number])
            barred = people[problem.person[people] != problem.person[number]]
            barred = barred[rng.random(len(barred)) < 0.3]
            way = attackers.way(number, sign, need, barred)
            far, _ = attackers.push(number, sign, need, barred)
            if way is None:
                short += 1
                assert far < need * (1 - 1e-5)
                continue
            reached += 1
            assert far == pytest.approx(need) and sign * way[number] == pytest.approx(need)
            assert not np.abs(way[~hidden]).max(initial=0.0) > 1e-7
            assert not np.abs(way[barred]).max(initial=0.0) > 1e-7
            assert (way >= -problem.room - 1e-7).all()
    assert reached > 100 and short > 20
