"""Runs of a plan: the law of each rule by its definition, levels in reverse, and planted faults."""

from __future__ import annotations

import ast
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import exchanges_in_numpy
import numpy as np
import pytest

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import RecordSwaps
from tabprotect.engine.swaps import swap_plan
from tabprotect.engine.swaps.swap_plan import SwapLevel, SwapPlan, SwapRule, SwapRuns
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.testing.brute_force import Cells, exchange_chance, swapped

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "swapping.json").read_text())

Chance = Callable[[SwapPlan, SwapLevel, Cells, Cells, tuple[int, int]], float]


def own(within: Ints, unit: Ints, rates: list[float], kinds: int, small: int = 1) -> SwapLevel:
    return SwapLevel(within, unit, "own", np.array(rates), np.arange(kinds)[None], small)


def plan_of(places: int, kinds: int, *levels: SwapLevel, match: list[int] | None = None) -> SwapPlan:
    place, kind = np.repeat(np.arange(places), kinds), np.tile(np.arange(kinds), places)
    return SwapPlan(place, kind, np.array(match or [0] * kinds), levels)


def deal(places: int, rates: list[float]) -> SwapLevel:
    nowhere = np.zeros(places, dtype=np.int64)
    none = np.zeros((0, len(rates)), dtype=np.int64)
    return SwapLevel(nowhere, np.arange(places), "deal", np.array(rates), none)


def one_pair(
    plan: SwapPlan, level: SwapLevel, law: dict[Cells, float], chance_of: Chance
) -> dict[Cells, float]:
    """One pair of records drawn of all; exchanged with its chance where it may be."""
    out: Counter[Cells] = Counter()
    for now, mass in law.items():
        people = sum(now)
        for a, b in itertools.combinations_with_replacement(range(len(now)), 2):
            ways = now[a] * now[b] if a != b else math.comb(now[a], 2)
            if not ways:
                continue
            there = [n - (k == a) - (k == b) for k, n in enumerate(now)]
            for cell, other in ((a, b), (b, a)):
                there[plan.cell[plan.place[cell], plan.kind[other]]] += 1
            stays = level.within[plan.place[a]] != level.within[plan.place[b]]
            chance = 0.0 if stays else chance_of(plan, level, now, tuple(there), (a, b))
            share = mass * ways / math.comb(people, 2)
            out[tuple(there)] += share * chance
            out[now] += share * (1.0 - chance)
    return out


def before_only(plan: SwapPlan, level: SwapLevel, now: Cells, then: Cells, pair: tuple[int, int]) -> float:
    """The planted fault: small counts before the exchange alone."""
    return exchange_chance(plan, level, now, now, pair)


def flat(table: object) -> Cells:
    return tuple(np.array(table).reshape(-1).tolist())


def test_small_before_or_after_is_the_reference_and_before_alone_is_found() -> None:
    case = REFERENCE["targeted_by_own_counts"]
    nowhere = np.zeros(2, dtype=np.int64)
    level = own(nowhere, np.arange(2), [case["hi"], case["lo"]], 2, case["small"])
    plan = plan_of(2, 2, level)

    def law(start: Cells, chance_of: Chance) -> dict[Cells, float]:
        found = {start: 1.0}
        for _ in range(case["steps"]):
            found = one_pair(plan, level, found, chance_of)
        return found

    published = flat(case["published"])
    expected = {flat(one["table"]): one["exchangeable"] for one in case["originals"]}
    assert law(published, exchange_chance) == pytest.approx(expected, abs=1e-12)
    # Bayes' theorem by listing: what was published from each original, each as likely as its records.
    for chance_of, right in ((exchange_chance, True), (before_only, False)):
        weights = {
            original: law(original, chance_of).get(published, 0.0) / math.prod(map(math.factorial, original))
            for original in expected
        }
        total = sum(weights.values())
        again = law(published, chance_of)
        worst = max(abs(again.get(one, 0.0) - weight / total) for one, weight in weights.items())
        assert (worst < 1e-12) == right
        assert right or worst > 0.01


def tables_of(rows: tuple[int, ...], columns: tuple[int, ...]) -> list[Cells]:
    """All tables with these sums."""
    if len(rows) == 1:
        return [columns] if sum(columns) == rows[0] else []
    parts = itertools.product(*(range(n + 1) for n in columns))
    return [
        first + rest
        for first in parts
        if sum(first) == rows[0]
        for rest in tables_of(rows[1:], tuple(n - k for n, k in zip(columns, first, strict=True)))
    ]


@pytest.mark.parametrize("case", REFERENCE["own_counts_enumeration"])
def test_how_far_off_a_reading_of_every_published_table_is(case: str) -> None:
    rows, columns, before = ast.literal_eval(case)
    nowhere = np.zeros(len(rows), dtype=np.int64)
    level = own(nowhere, np.arange(len(rows)), [0.9, 0.1], len(columns))
    plan = plan_of(len(rows), len(columns), level)
    law = {table: {table: 1.0} for table in tables_of(rows, columns)}
    for _ in range(3):
        for table, so_far in law.items():
            law[table] = one_pair(plan, level, so_far, before_only if before else exchange_chance)
    weight = {table: 1 / math.prod(map(math.factorial, table)) for table in law}
    off = []
    for published in law:
        reached = {table: weight[table] * found.get(published, 0.0) for table, found in law.items()}
        total = sum(reached.values())
        off += [abs(chance / total - law[published].get(one, 0.0)) for one, chance in reached.items()]
    assert max(off) == pytest.approx(REFERENCE["own_counts_enumeration"][case][1], abs=1e-12)


def test_levels_in_reverse_are_the_reference_and_the_forward_order_is_found() -> None:
    case = REFERENCE["levels_tables"]
    regions, nowhere = np.array(case["regions"]), np.zeros(4, dtype=np.int64)
    first = own(nowhere, regions, [case["level1"]["hi"], case["level1"]["lo"]], 2, case["small"])
    second = own(regions, np.arange(4), [case["level2"]["hi"], case["level2"]["lo"]], 2, case["small"])
    plan, expected = plan_of(4, 2, first, second), {flat(t): p for t, p in case["originals"]}
    worst = []
    for levels in ((second, first), (first, second)):
        law = {flat(case["published"]): 1.0}
        for level in levels:
            for _ in range(case["level1"]["steps"]):
                law = one_pair(plan, level, law, exchange_chance)
        worst.append(max(abs(law.get(table, 0.0) - p) for table, p in expected.items()))
    assert worst[0] < 1e-12
    assert worst[1] > 0.04


NOWHERE = np.zeros(2, dtype=np.int64)
PLANS = {
    "deal": plan_of(2, 2, deal(2, [0.4, 0.4])),
    "deal by kind": plan_of(2, 3, deal(2, [0.7, 0.2, 0.4]), match=[0, 1, 1]),
    "own": plan_of(2, 2, own(NOWHERE, np.arange(2), [0.8, 0.1], 2)),
    "own of two classes": plan_of(2, 3, own(NOWHERE, np.arange(2), [0.8, 0.3], 3), match=[0, 1, 1]),
    "levels": plan_of(
        3,
        2,
        own(np.zeros(3, dtype=np.int64), np.array([0, 0, 1]), [0.9, 0.2], 2),
        own(np.array([0, 0, 1]), np.arange(3), [0.7, 0.0], 2),
    ),
}
COUNTS = {
    "deal": [2, 1, 1, 2],
    "deal by kind": [2, 1, 1, 0, 1, 1],
    "own": [2, 1, 1, 2],
    "own of two classes": [2, 1, 1, 1, 0, 1],
    "levels": [1, 1, 1, 0, 1, 2],
}


def swaps(plan: SwapPlan, counts: list[int]) -> RecordSwaps:
    domain = Domain.of_shape((plan.places, len(plan.match)))
    table = Table.dense(domain, np.array(counts).reshape(domain.shape))
    return RecordSwaps(table, plan, Publication(domain, (("A",), ("B",))))


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("compiled", [True, False])
def test_runs_have_the_law_of_the_definition(
    name: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(swap_plan, "exchanges", exchanges_in_numpy)
    plan, counts, draws = PLANS[name], COUNTS[name], 20_000 if compiled else 600
    law = swapped(swaps(plan, counts), tuple(counts))
    assert sum(law.values()) == pytest.approx(1.0)
    runs = SwapRuns(plan, np.array(counts))
    seen: Counter[Cells] = Counter()
    for tables in runs.tables(draws, np.random.default_rng(3)):
        seen.update(map(tuple, tables.tolist()))
    assert set(seen) <= set(law)
    for table, chance in law.items():
        error = math.sqrt(chance * (1 - chance) / draws) + 1e-9
        assert abs(seen[table] / draws - chance) < 5 * error


@pytest.mark.parametrize("name", PLANS)
def test_every_rule_is_reversible_and_its_reverse_is_the_posterior(name: str) -> None:
    plan, counts = PLANS[name], tuple(COUNTS[name])
    likelihood = swaps(plan, COUNTS[name])
    reverse = SwapPlan(plan.place, plan.kind, plan.match, plan.levels[::-1])
    again = swapped(RecordSwaps(likelihood.published, reverse, likelihood.kept), counts)
    weights = {
        one: swapped(likelihood, one).get(counts, 0.0) / math.prod(map(math.factorial, one)) for one in again
    }
    total = sum(weights.values())
    assert {one: weight / total for one, weight in weights.items()} == pytest.approx(again, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_is_the_definition(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(seed)
    places, kinds = 6, 8
    unit = np.array([0, 0, 1, 1, 2, 2]) if seed % 2 else np.arange(places)
    targets = np.stack([np.arange(kinds), np.arange(kinds) % 3, np.arange(kinds) // 4])
    level = SwapLevel(
        np.zeros(places, dtype=np.int64),
        unit,
        "own",
        np.array([0.8, 0.1 * (seed % 3)]),
        targets,
        1 + seed % 2,
    )
    plan = plan_of(places, kinds, level, match=[k % 2 for k in range(kinds)])
    counts = generator.poisson(1.2, places * kinds)

    def run() -> Floats:
        blocks = SwapRuns(plan, counts).tables(5, np.random.default_rng(seed))
        return np.concatenate(list(blocks)).astype(np.float64)

    found = run()
    monkeypatch.setattr(swap_plan, "exchanges", exchanges_in_numpy)
    assert np.array_equal(found, run())
    assert (found.sum(axis=1) == counts.sum()).all()


def test_who_has_nobody_to_change_with_is_counted() -> None:
    rule: SwapRule = "deal"
    level = deal(2, [0.5, 0.5])
    assert level.rule == rule
    alone = plan_of(2, 2, level, match=[0, 1])
    assert alone.fixed(np.array([3, 1, 0, 2])) == 3
    assert plan_of(2, 2, level).fixed(np.array([3, 1, 0, 2])) == 0


def test_more_records_than_can_be_held_are_refused() -> None:
    with pytest.raises(TooLargeError, match="too many to be swapped"):
        SwapRuns(plan_of(2, 2, deal(2, [0.5, 0.5])), np.array([2**32, 0, 0, 1]))


def test_a_posterior_runs_the_levels_in_reverse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of so few records the order does not show in the law."""
    run: list[SwapLevel] = []
    exchange = swap_plan._Records.exchange

    def seen(self: swap_plan._Records, level: SwapLevel, generator: np.random.Generator) -> None:
        run.append(level)
        exchange(self, level, generator)

    monkeypatch.setattr(swap_plan._Records, "exchange", seen)
    plan, counts = PLANS["levels"], np.array(COUNTS["levels"])
    first, second = plan.levels
    generator = np.random.default_rng(1)
    list(SwapRuns(plan, counts).tables(1, generator))
    assert run == [first, second]
    run.clear()
    swap_plan.swapped_back(plan, counts[None], generator)
    assert run == [second, first]
    run.clear()
    infer(swaps(plan, COUNTS["levels"]), randomness=Randomness.seeded(1))
    assert run[:2] == [second, first] and run[1::2] == [first] * (len(run) // 2)
