"""What is chosen by a look at what every release states: the same for all originals that it leaves possible."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tabprotect.engine.belief.effort import TRIAL
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.disclosure.ways import EVEN, Ways
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.release.stated_list import StatedList
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

LIMITS = AgencyPolicy().limits()
LISTED = StatedList(({}, {"least": 13}), EVEN)


DENSE = np.array(
    [[85, 23, 8, 0, 0], [136, 50, 26, 33, 1], [34, 13, 28, 2, 1], [11, 1, 97, 41, 3], [3, 11, 5, 43, 2]]
)
UNSURE = DENSE <= 3


def small_counts(*small: int) -> Problem:
    """A dense table with these counts up to the base."""
    counts = DENSE.copy()
    counts[UNSURE] = small
    return Problem(Table.dense(Domain.of_shape(counts.shape), counts))


def test_a_list_of_rounding_follows_from_what_every_release_states() -> None:
    method = methods()["small_count_rounding"]
    lists = []
    for small in ((0,) * 9, (1, 2, 1, 3, 0, 1, 2, 2, 3), DENSE[UNSURE]):
        problem = small_counts(*small)
        values = method.resolve_for(problem, {})
        told = method.told(problem.table, values)
        assert told is not None
        ways = Ways.of(method, problem, {}, values, LIMITS)
        lists.append((told.tolist(), ways.listed, ways.hopeless))
        for change, seed in itertools.product(({}, {"least": 13}), range(3)):
            other = method.resolve_for(problem, {**values, **change})
            release, _ = method.perform(problem, other, np.random.default_rng(seed))
            # Who reads any release has what the list followed from.
            assert np.array_equal(method.told(release.table, other), told)
    assert lists[0] == lists[1] == lists[2]
    assert lists[0][1] == LISTED


def test_the_second_entry_is_judged_with_what_the_first_may_have_told() -> None:
    """Against the exact posterior beside refusals of any chance from 0 to 1, original by original."""
    method, counts = methods()["small_count_rounding"], np.where(UNSURE, 9, DENSE)
    counts[[1, 2, 3], [4, 4, 1]] = 1, 1, 2
    problem = Problem(Table.dense(Domain.of_shape(counts.shape), counts))
    values = method.resolve_for(problem, {"least": 13})
    gate = replace(LIMITS, attempts_at_most=1, listed=replace(LISTED, entry=2))
    drawn = (method.perform(problem, values, np.random.default_rng(seed))[0] for seed in range(20))
    release = next(one for one in drawn if verdict(one, gate, effort=TRIAL).passed)
    everything = infer(likelihood_of(release)).list_originals()
    assert everything is not None and 8 < len(everything[0]) <= 27
    tables, weights = everything
    first = method.resolve_for(problem, {})
    rng = np.random.default_rng(2)
    refused = np.zeros(len(tables))
    for at, table in enumerate(tables):
        one = Problem(Table.dense(problem.table.domain, table.reshape(problem.table.domain.shape)))
        draws = [method.perform(one, first, rng)[0] for _ in range(4)]
        refused[at] = np.mean([verdict(draw, LIMITS, effort=TRIAL).passed is not True for draw in draws])
    assert 0 < refused.mean() < 1
    after = weights * (LISTED.start[1] + LISTED.start[0] * refused)
    after /= after.sum()
    before = weights / weights.sum()
    assert (after <= before * 2 + 1e-12).all() and (after >= before / 2 - 1e-12).all()
    beliefs = np.array([(after[:, None] * (tables == k)).sum(axis=0) for k in (1, 2)])
    mean = (beliefs**2).sum() / beliefs.sum()
    assert mean <= LIMITS.mean_belief_limit and not (beliefs > LIMITS.belief_limit).any()


def test_rounding_looks_at_small_tables_and_at_many_small_cells_too() -> None:
    """Tables of 32 cells, and of a few large counts, are refused with all their tables."""
    method, rng = methods()["random_rounding"], np.random.default_rng(5)
    few = np.where(np.arange(72) % 4, 1, 60).reshape(3, 3, 2, 2, 2)
    for counts, tables in (
        (rng.poisson(1.4, (2, 2, 2, 4)), 6),
        (few, 7),
        (few[:, :, :, 0, 0], 8),
        (np.full((6, 6, 6), 1), 8),
        (np.full((4, 4, 4, 4), 1), 16),
    ):
        problem = Problem(Table.dense(Domain.of_shape(counts.shape), counts))
        release, _ = method.perform(problem, method.resolve_for(problem, {}), np.random.default_rng(1))
        assert len(release.tables) == tables
        likelihood_of(release)


@pytest.mark.parametrize(
    ("name", "shape", "left"),
    [("cell_key", (3, 3, 3, 3), 6), ("random_rounding", (3, 3, 3, 3), 6), ("cell_key", (3, 3), 1)],
)
def test_which_tables_leave_follows_from_the_inner_cells_as_they_are_published(
    name: str, shape: tuple[int, ...], left: int
) -> None:
    method, rng = methods()[name], np.random.default_rng(5)
    chosen = set()
    for mean, seed in itertools.product((0.9, 3.0, 9.0), range(6)):
        problem = Problem(Table.dense(Domain.of_shape(shape), rng.poisson(mean, shape)))
        values = method.resolve_for(problem, {})
        release, draft = method.perform(problem, values, np.random.default_rng(seed))
        fewer = release.table.counts.mean() < 3
        chosen.add(fewer)
        every = 2 ** len(shape)
        assert len(release.tables) == (left if fewer else every)
        assert bool(draft.disclosed.get("margins")) == fewer
        # The draw itself is that of all tables: what leaves is a part of it.
        keys = {"keys": values["keys"]} if "keys" in values else {}
        named = method.resolve_for(problem, {"margins": "*".join(problem.table.domain.names), **keys})
        whole, _ = method.perform(problem, named, np.random.default_rng(seed))
        of = {one.table.domain.names: one.table.counts for one in whole.tables}
        assert all(np.array_equal(of[one.table.domain.names], one.table.counts) for one in release.tables)
        # Who names tables gets them.
        assert len(whole.tables) == every
        likelihood_of(release)
    assert chosen == {True, False}
