"""Posteriors by their definition alone: every original tried, and weighed by what was said of it.

Nothing of the engine's posterior is used. For tables of a few cells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.release.likelihood import (
    AdaptiveSequence,
    CellFactors,
    Likelihood,
    MoveSequence,
    RecordSwaps,
    SwappedFirst,
)
from tabprotect.engine.swaps.swap_plan import SwapLevel, SwapPlan
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

Cells = tuple[int, ...]


def every_original(likelihood: Likelihood, prior: Prior, most: int) -> dict[Cells, float]:
    """{flat original: probability} of all tables with counts up to ``most``; only possible ones.

    The posterior itself where ``prior`` allows no larger count.
    """
    size = likelihood.domain.size
    values = np.arange(most + 1)
    logs = np.array([prior.log_weight(cell, values) for cell in range(size)])
    out: dict[Cells, float] = {}
    for cells in itertools.product(range(most + 1), repeat=size):
        log = sum(logs[cell, count] for cell, count in enumerate(cells))
        if log > -math.inf and (chance := chance_of(likelihood, cells)):
            out[cells] = math.exp(log) * chance
    total = sum(out.values())
    return {cells: mass / total for cells, mass in out.items()}


def marginals(found: Mapping[Cells, float], most: int) -> Floats:
    """The distribution of each cell, (cells, most + 1)."""
    cells = np.array(list(found))
    weights = np.array(list(found.values()))
    out = np.zeros((cells.shape[1], most + 1))
    for cell in range(cells.shape[1]):
        out[cell] = np.bincount(cells[:, cell], weights, minlength=most + 1)
    return out


def chance_of(likelihood: Likelihood, original: Cells) -> float:
    """P(release | original), up to a factor that does not depend on the original."""
    if isinstance(likelihood, CellFactors):
        return weight(likelihood, _dense(likelihood, original))
    if isinstance(likelihood, SwappedFirst):
        return sum(p * chance_of(likelihood.then, z) for z, p in swapped(likelihood, original).items())
    published = tuple(likelihood.published.counts.reshape(-1).tolist())
    if isinstance(likelihood, RecordSwaps):
        tables = (_dense(likelihood, cells) for cells in (original, published))
        if len({likelihood.kept.added_up(table).tobytes() for table in tables}) > 1:
            return 0.0
        return swapped(likelihood, original).get(published, 0.0)
    if isinstance(likelihood, AdaptiveSequence):
        rule, sequence = "any_zero", [None] * likelihood.steps
    else:
        assert isinstance(likelihood, MoveSequence)
        rule = likelihood.rule
        sequence = [*range(len(likelihood.moves))] * likelihood.passes
    law = outcomes(
        original,
        likelihood.moves,
        alpha=Fraction(likelihood.alpha),
        beta=Fraction(likelihood.beta),
        rule=rule,
        sequence=sequence,
    )
    return float(law.get(published, 0))


def swapped(likelihood: RecordSwaps | SwappedFirst, original: Cells) -> dict[Cells, float]:
    """P(published | original) of a swap of records, forwards: every draw and every deal, every pairing.

    Records of one cell are alike; for a handful of them.
    """
    plan, law = likelihood.plan, {original: 1.0}
    for level in plan.levels:
        after: dict[Cells, float] = {}
        step = _dealt if level.rule == "deal" else _exchanged
        for now, mass in law.items():
            for then, chance in step(plan, level, now).items():
                after[then] = after.get(then, 0.0) + mass * chance
        law = after
    return law


def _dealt(plan: SwapPlan, level: SwapLevel, now: Cells) -> dict[Cells, float]:
    """Every number that may be drawn of each cell, and every way to deal their places."""
    law = {now: 1.0}
    classes = plan.classes(level)
    for number in np.unique(classes).tolist():
        cells = np.flatnonzero(classes == number)
        after: dict[Cells, float] = {}
        rates = [float(level.rates[plan.kind[c]]) for c in cells]
        people = [now[c] for c in cells]
        places, kinds = plan.place[cells], plan.kind[cells]
        for drawn in itertools.product(*(range(n + 1) for n in people)):
            chance = math.prod(
                math.comb(n, z) * r**z * (1.0 - r) ** (n - z)
                for n, z, r in zip(people, drawn, rates, strict=True)
            )
            if not chance:
                continue
            for dealt, share in _dealings(drawn, places.tolist(), kinds.tolist()):
                for before, mass in law.items():
                    then = list(before)
                    for c, out, back in zip(cells.tolist(), drawn, dealt, strict=True):
                        then[c] += back - out
                    after[tuple(then)] = after.get(tuple(then), 0.0) + mass * chance * share
        law = after
    return law


def _dealings(drawn: Cells, places: Sequence[int], kinds: Sequence[int]) -> Iterator[tuple[list[int], float]]:
    """Every table of the drawn by places and kinds with the same sums, and its chance."""
    by_place = {p: sum(z for z, q in zip(drawn, places, strict=True) if p == q) for p in places}
    by_kind = {k: sum(z for z, q in zip(drawn, kinds, strict=True) if k == q) for k in kinds}
    sums = map(math.factorial, (*by_place.values(), *by_kind.values()))
    ways = math.prod(sums) / math.factorial(sum(drawn))

    def filled(at: int, free: dict[int, int], open_: dict[int, int]) -> Iterator[list[int]]:
        if at == len(drawn):
            if not any(free.values()) and not any(open_.values()):
                yield []
            return
        p, k = places[at], kinds[at]
        for n in range(min(free[p], open_[k]) + 1):
            for rest in filled(at + 1, free | {p: free[p] - n}, open_ | {k: open_[k] - n}):
                yield [n, *rest]

    for table in filled(0, by_place, by_kind):
        yield table, ways / math.prod(map(math.factorial, table))


def _exchanged(plan: SwapPlan, level: SwapLevel, now: Cells) -> dict[Cells, float]:
    """Every pairing of the records of each class, in every order, each pair exchanged or not."""
    classes = plan.classes(level)
    number = int(classes.max()) + 1
    alone: dict[Cells, float] = {now: 1.0}
    for c in range(number):
        # One is left over where they are odd.
        members = [int(cell) for cell in np.flatnonzero(classes == c)]
        people = sum(now[cell] for cell in members)
        if people % 2:
            alone = {
                tuple(n - (k == cell) for k, n in enumerate(left)): mass * now[cell] / people
                for left, mass in alone.items()
                for cell in members
                if now[cell]
            }
    states = {(left, now): mass for left, mass in alone.items()}
    for _ in range(sum(next(iter(alone))) // 2):
        after: dict[tuple[Cells, Cells], float] = {}
        for (left, table), mass in states.items():
            pairs = sum(left) // 2
            for a, b in itertools.combinations_with_replacement(range(len(left)), 2):
                if classes[a] != classes[b]:
                    continue
                mine = sum(left[cell] for cell in np.flatnonzero(classes == classes[a]))
                ways = left[a] * left[b] if a != b else math.comb(left[a], 2)
                if not ways:
                    continue
                share = mass * (mine / 2 / pairs) * ways / math.comb(mine, 2)
                rest = tuple(n - (k == a) - (k == b) for k, n in enumerate(left))
                there = [n - (k == a) - (k == b) for k, n in enumerate(table)]
                for cell, other in ((a, b), (b, a)):
                    there[plan.cell[plan.place[cell], plan.kind[other]]] += 1
                chance = exchange_chance(plan, level, table, tuple(there), (a, b))
                for then, part in ((tuple(there), chance), (table, 1.0 - chance)):
                    if part:
                        after[rest, then] = after.get((rest, then), 0.0) + share * part
        states = after
    law: dict[Cells, float] = {}
    for (_, table), mass in states.items():
        law[table] = law.get(table, 0.0) + mass
    return law


def exchange_chance(
    plan: SwapPlan, level: SwapLevel, now: Cells, then: Cells, pair: tuple[int, int]
) -> float:
    """The chance that records of two cells are exchanged, by the tables before and after."""
    units = {int(level.unit[plan.place[cell]]) for cell in pair}
    if len(units) == 1:
        return 0.0
    small = False
    for target in level.targets:
        categories = {int(target[plan.kind[cell]]) for cell in pair}
        for table in (now, then):
            for unit, category in itertools.product(units, categories):
                mine = (level.unit[plan.place] == unit) & (target[plan.kind] == category)
                small = small or 1 <= int(np.array(table)[mine].sum()) <= level.small
    return float(level.rates[0 if small else 1])


def weight(likelihood: CellFactors, original: Table, seed: int = 0) -> float:
    """Product of the factors and of what the mechanism says beyond them; 0 where impossible."""
    counts, log = original.counts.reshape(-1), 0.0
    for f in range(likelihood.factors):
        mine = likelihood.cells[likelihood.starts[f] : likelihood.starts[f + 1]]
        kind, total = likelihood.kind[f], int(counts[mine].sum())
        low, high = likelihood.low[kind], likelihood.high[kind]
        if not low <= total <= high:
            return 0.0
        run = likelihood.logs[likelihood.log_starts[kind] : likelihood.log_starts[kind + 1]]
        log += float(run[total - low]) if len(run) else 0.0
    beyond = 1.0
    if likelihood.rerun is not None:
        beyond = likelihood.rerun.estimate(original, np.random.default_rng(seed))
    return math.exp(log) * beyond


def outcomes(
    original: Cells,
    moves: MoveSet,
    *,
    alpha: Fraction,
    beta: Fraction,
    rule: str,
    sequence: Sequence[int | None],
) -> dict[Cells, Fraction]:
    """P(published | original) of a sequence of cycles; ``None`` is one that the table chooses.

    Every outcome of choice and coin, forwards, from the mechanism's words alone.
    """
    arrays = [moves.array(i).reshape(-1).astype(int) for i in range(len(moves))]
    coins = ((1, alpha), (-1, beta), (0, 1 - alpha - beta))
    law: dict[Cells, Fraction] = {original: Fraction(1)}
    for cycle in sequence:
        after: dict[Cells, Fraction] = {}
        for now, mass in law.items():
            x = np.array(now)
            tried = [arrays[cycle]] if cycle is not None else [m for m in arrays if (x[m != 0] > 0).all()]
            if not tried:
                after[now] = after.get(now, Fraction(0)) + mass
            for m in tried:
                for coin, chance in coins:
                    then = x + coin * m
                    blocked = (rule == "any_zero" and (x[m != 0] == 0).any()) or (
                        rule == "negative" and then.min() < 0
                    )
                    cells = now if blocked else tuple(then.tolist())
                    after[cells] = after.get(cells, Fraction(0)) + mass / len(tried) * chance
        law = after
    return {cells: mass for cells, mass in law.items() if mass}


def _dense(likelihood: CellFactors | RecordSwaps, original: Cells) -> Table:
    return Table.dense(likelihood.domain, np.array(original).reshape(likelihood.domain.shape))
