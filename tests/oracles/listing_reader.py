"""A reader who lists every original and runs the public mechanism on each: nothing of the engine's
posterior, its listing or its likelihoods.

What is used of the engine is what every reader has: the program's own forward run for methods
without chance, and plain laws written down here for those with chance.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from cycle_law import law as cyclic_law

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.grouped import true_table
from tabprotect.engine.tables.table import Table

Counts = tuple[int, ...]
Limit = tuple[tuple[int, ...], int, int]
"""Flat inner cells, and the least and largest sum of them."""

Chance = Callable[[Counts], float]


class TooManyError(Exception):
    """More originals than the reader has patience for."""


def listed(size: int, limits: Sequence[Limit], most: int) -> list[Counts]:
    """Every table of counts from 0 up that keeps the limits, cell by cell."""
    touching: list[list[int]] = [[] for _ in range(size)]
    left = [len(cells) for cells, _, _ in limits]
    for number, (cells, _, _) in enumerate(limits):
        for cell in cells:
            touching[cell].append(number)
    if any(not numbers for numbers in touching):
        raise TooManyError
    sums, table = [0] * len(limits), [0] * size
    found: list[Counts] = []

    def fill(cell: int) -> None:
        if cell == size:
            found.append(tuple(table))
            if len(found) > most:
                raise TooManyError
            return
        mine = touching[cell]
        last = [n for n in mine if left[n] == 1]
        high = min(limits[n][2] - sums[n] for n in mine)
        low = max([0, *(limits[n][1] - sums[n] for n in last)])
        for n in mine:
            left[n] -= 1
        for count in range(low, high + 1):
            table[cell] = count
            for n in mine:
                sums[n] += count
            fill(cell + 1)
            for n in mine:
                sums[n] -= count
        for n in mine:
            left[n] += 1

    fill(0)
    return found


def summed(domain: Domain, names: Sequence[str]) -> list[tuple[int, ...]]:
    """The flat inner cells behind each cell of a margin, in the margin's order."""
    axes = [domain.names.index(name) for name in names]
    cells: dict[tuple[int, ...], list[int]] = {
        key: [] for key in itertools.product(*(range(domain.shape[a]) for a in axes))
    }
    for flat, index in enumerate(itertools.product(*map(range, domain.shape))):
        cells[tuple(index[a] for a in axes)].append(flat)
    return [tuple(each) for each in cells.values()]


@cache
def grouped(domain: Domain, table: Domain, groupings: str) -> list[tuple[int, ...]]:
    """The same of a table over groups of categories, by where a single record lands."""
    units = np.eye(domain.size, dtype=np.int64).reshape(-1, *domain.shape)
    known = groupings_of(domain, {"groupings": groupings})
    into = [
        int(true_table(Table.dense(domain, unit), table, known).counts.argmax()) for unit in units
    ]
    return [tuple(c for c, to in enumerate(into) if to == k) for k in range(table.size)]


@dataclass(frozen=True)
class Figures:
    """What the reader would know of one table's judged cells."""

    at_risk: float
    known: int
    certain: int


class _AskedError(Exception):
    def __init__(self, number: int) -> None:
        self.number = number


class Reader:
    """Everything public about one release, read by enumeration.

    Raises
    ------
    TooManyError
        When more than ``most`` originals keep the limits.
    """

    def __init__(self, release: Release, rule: SmallCount, most: int) -> None:
        self.release, self.rule, self.domain = release, rule, release.domain
        low, high = WITHIN[release.mechanism.method](release)
        limits: list[Limit] = []
        for published in release.tables:
            sums = self._summed(published.table.domain)
            counts, hidden = published.table.counts.reshape(-1), published.hidden.reshape(-1)
            for cells, count, secret in zip(sums, counts.tolist(), hidden.tolist(), strict=True):
                if not secret:
                    limits.append((cells, max(count - low, 0), count + high))
        everything = tuple(range(self.domain.size))
        if low and "total" in release.mechanism.parameters:
            total = int(str(release.mechanism.parameters["total"]))
            limits.append((everything, total, total))
        if release.mechanism.method == "cyclic_perturbation":
            limits = [
                (cells, n, n)
                for names in release.mechanism.parameters["cycles"].margins  # type: ignore[attr-defined]
                for cells in summed(self.domain, names)
                for n in [int(release.table.counts.reshape(-1)[list(cells)].sum())]
            ]
        chance = CHANCES.get(release.mechanism.method, _same_again)(release, rule)
        every = listed(self.domain.size, limits, most)
        weights = np.array([chance(original) for original in every])
        self.originals = np.array(every)[weights > 0]
        self.weights = weights[weights > 0] / weights.sum()

    def _summed(self, table: Domain) -> list[tuple[int, ...]]:
        if set(table.names) <= set(self.domain.names):
            return summed(self.domain, table.names)
        return grouped(self.domain, table, str(self.release.mechanism.parameters["groupings"]))

    def insider(self, limit: float) -> Figures:
        """The best informed of those who are, at even odds or better, alone in an inner cell."""
        values = range(self.rule.low, self.rule.high + 1)
        best = np.zeros(self.domain.size)
        inside = np.zeros(self.domain.size)
        for cell in range(self.domain.size):
            alone = self.originals[:, cell] == 1
            share = float(self.weights[alone].sum())
            if share < 0.5 - 1e-12:
                continue
            for other in set(range(self.domain.size)) - {cell}:
                chances = [
                    float(self.weights[alone & (self.originals[:, other] == v)].sum()) / share
                    for v in values
                ]
                best[other] = max(best[other], *chances)
                inside[other] = max(inside[other], sum(chances))
        known, certain = int((best > limit).sum()), int((best > 1 - 1e-9).sum())
        return Figures(float(inside.sum()), known, certain)

    def figures(self, table: Domain, judged: np.ndarray | None, limit: float) -> Figures:
        """Of the cells of a margin (or the inner table), or those of them that are judged."""
        at_risk, known, certain = 0.0, 0, 0
        for number, cells in enumerate(self._summed(table)):
            if judged is not None and not judged[number]:
                continue
            sums = self.originals[:, list(cells)].sum(axis=1)
            chances = [
                float(self.weights[sums == value].sum())
                for value in range(self.rule.low, self.rule.high + 1)
            ]
            at_risk += sum(chances)
            known += max(chances) > limit
            certain += max(chances) > 1 - 1e-9
        return Figures(at_risk, known, certain)


def _base(release: Release) -> int:
    return int(str(release.mechanism.parameters["base"]))


def _largest_noise(release: Release) -> tuple[int, int]:
    laws = methods()["cell_key"].transitions(release)
    assert laws is not None
    return -laws[0][0] if laws[0][0] else int(str(release.mechanism.parameters["D"])), -laws[0][0]


def _adjusted(release: Release) -> tuple[int, int]:
    stated = release.mechanism.parameters
    rule = SmallCount.parse(str(stated["at_risk"]))
    most = max(int(str(stated["largest_change"])), rule.high + 1)
    return most, most


def _total(release: Release) -> tuple[int, int]:
    return release.table.total, release.table.total


WITHIN: Mapping[str, Callable[[Release], tuple[int, int]]] = {
    "suppression": lambda _: (0, 0),
    "coarsening": lambda _: (0, 0),
    "publish_margins": lambda _: (0, 0),
    "cyclic_perturbation": lambda _: (0, 0),
    "random_rounding": lambda r: (_base(r) - 1, _base(r) - 1),
    "controlled_rounding": lambda r: (_base(r) - 1, _base(r) - 1),
    "small_count_rounding": lambda r: (_base(r), _base(r)),
    "controlled_tabular_adjustment": _adjusted,
    "cell_key": _largest_noise,
    "bootstrap": _total,
    "post_randomisation": _total,
}
"""How far below and above a published count the true one can be."""

_RUNS: dict[object, object] = {}


def _same_again(release: Release, rule: SmallCount) -> Chance:
    """1 for an original of which the program makes this very release."""
    method, stated = methods()[release.mechanism.method], release.mechanism.parameters
    known = {p.name for p in method.parameters}
    given = {name: value for name, value in stated.items() if name in known}
    values = method.resolve(release.domain, given)
    assert not method.is_random(values)
    disclosed = {k: v for k, v in stated.items() if k not in known}

    def chance(original: Counts) -> float:
        key = (method.name, repr(sorted(given.items())), release.domain, rule, original)
        if key not in _RUNS:
            table = Table.dense(release.domain, np.array(original).reshape(release.domain.shape))
            try:
                again, draft = method.perform(
                    Problem(table, at_risk=rule), values, np.random.default_rng(0)
                )
                refused = method.objection(draft.findings)
                _RUNS[key] = None if refused else (again.tables, again.mechanism.parameters)
            except TabprotectError:
                _RUNS[key] = None
        found = _RUNS[key]
        if found is None:
            return 0.0
        tables, parameters = found  # type: ignore[misc]
        same = all(parameters.get(name) == value for name, value in disclosed.items())
        return float(tables == release.tables and same)

    return chance


def _cycles(release: Release, rule: SmallCount) -> Chance:
    stated = release.mechanism.parameters
    moves = stated["cycles"]
    cycles = []
    for number in range(len(moves)):  # type: ignore[arg-type]
        cells, signs = moves.entries(number)  # type: ignore[attr-defined]
        cycles.append(dict(zip(cells.tolist(), signs.tolist(), strict=True)))
    published = tuple(release.table.counts.reshape(-1).tolist())
    alpha, beta = float(str(stated["alpha"])), float(str(stated["beta"]))

    def chance(original: Counts) -> float:
        outcomes = cyclic_law(original, cycles, str(stated["blocking"]), alpha, beta)
        return outcomes.get(published, 0.0)

    return chance


def _each_count(release: Release, single: Callable[[int, int], float]) -> Chance:
    """Independent noise on every published number; the same sum is one number."""
    numbers = {
        cells: int(count)
        for published in release.tables
        for cells, count in zip(
            summed(release.domain, published.table.domain.names),
            published.table.counts.reshape(-1),
            strict=True,
        )
    }

    def chance(original: Counts) -> float:
        return math.prod(single(sum(original[c] for c in cells), y) for cells, y in numbers.items())

    return chance


def _rounded(release: Release, rule: SmallCount) -> Chance:
    base = _base(release)

    def single(true: int, shown: int) -> float:
        rest = true % base
        return {true - rest: 1 - rest / base, true - rest + base: rest / base}.get(shown, 0.0)

    each = _each_count(release, single)
    # A base above every count is refused.
    return lambda original: each(original) if sum(original) >= base else 0.0


def _keyed(release: Release, rule: SmallCount) -> Chance:
    laws = methods()["cell_key"].transitions(release)
    assert laws is not None and len(release.tables) == 1

    def single(true: int, shown: int) -> float:
        row = min(true, len(laws) - 1)
        column = shown - laws[row][0] - (true - row)
        return float(laws[row][1][column]) if 0 <= column < len(laws[row][1]) else 0.0

    return _each_count(release, single)


def _small(release: Release, rule: SmallCount) -> Chance:
    """Over all orders of candidates that the rounding may take."""
    from tabprotect.engine.protection.methods.small_count_rounding import _rules
    from tabprotect.engine.protection.rounding.small_rounding import SmallCounts
    from tabprotect.engine.protection.subtables import publication_of

    method = methods()["small_count_rounding"]
    values = method.resolve(release.domain, release.mechanism.parameters)
    publication, rules = publication_of(release.domain, values), _rules(values)

    def over_orders(small: SmallCounts, taken: tuple[tuple[int, ...], ...]) -> float:
        """Orders are asked for one after the other: branch at the first that is not yet taken."""
        given = iter(taken)

        def order(number: int) -> np.ndarray:
            found = next(given, None)
            if found is None:
                raise _AskedError(number)
            return np.array(found, dtype=np.int64)

        try:
            inner = small.round(order).inner
        except _AskedError as asked:
            every = list(itertools.permutations(range(asked.number)))
            return sum(over_orders(small, (*taken, one)) for one in every) / len(every)
        shown = {t.domain.names: t for t in publication.sums(inner)}
        return float(all(shown[p.table.domain.names] == p.table for p in release.tables))

    def chance(original: Counts) -> float:
        table = Table.dense(release.domain, np.array(original).reshape(release.domain.shape))
        try:
            method.perform(Problem(table, at_risk=rule), values, np.random.default_rng(0))
        except TabprotectError:
            return 0.0
        return over_orders(SmallCounts(table, publication, rules), ())

    return chance


def _resampled(release: Release, rule: SmallCount) -> Chance:
    """A multinomial sample, drawn until no count has moved by more than S standard errors."""
    quality = float(str(release.mechanism.parameters["S"]))
    total = int(str(release.mechanism.parameters["total"]))
    published = tuple(release.table.counts.reshape(-1).tolist())

    def single(true: int, shown: int) -> float:
        if true == 0:
            return float(shown == 0)
        room = quality * math.sqrt(true * (total - true) / total)
        inside = abs(shown - true) <= room + 1e-12
        return (true / total) ** shown / math.factorial(shown) if inside else 0.0

    def chance(original: Counts) -> float:
        here = math.prod(map(single, original, published))
        if not here:
            return 0.0
        # The chance of any accepted sample, by adding up cell by cell.
        law = {0: 1.0}
        for true in original:
            after: dict[int, float] = {}
            for so_far, share in law.items():
                for shown in range(total - so_far + 1):
                    if weight := single(true, shown):
                        after[so_far + shown] = after.get(so_far + shown, 0.0) + share * weight
            law = after
        return here / law[total]

    return chance


def _moved(release: Release, rule: SmallCount) -> Chance:
    """Every record moves by itself, by the stated matrices."""
    stated = release.mechanism.parameters["transition"]
    matrix = np.ones((1, 1))
    for name in release.domain.names:
        matrix = np.kron(matrix, np.array(stated[name]))  # type: ignore[index]
    published = tuple(release.table.counts.reshape(-1).tolist())

    def chance(original: Counts) -> float:
        law: dict[Counts, float] = {(0,) * len(original): 1.0}
        for cell, count in enumerate(original):
            for _ in range(count):
                after: dict[Counts, float] = {}
                for so_far, share in law.items():
                    for to in np.flatnonzero(matrix[cell]).tolist():
                        if so_far[to] < published[to]:
                            found = (*so_far[:to], so_far[to] + 1, *so_far[to + 1 :])
                            after[found] = after.get(found, 0.0) + share * matrix[cell, to]
                law = after
        return law.get(published, 0.0)

    return chance


CHANCES: Mapping[str, Callable[[Release, SmallCount], Chance]] = {
    "cyclic_perturbation": _cycles,
    "random_rounding": _rounded,
    "cell_key": _keyed,
    "small_count_rounding": _small,
    "bootstrap": _resampled,
    "post_randomisation": _moved,
}
"""P(release | original) up to a constant; all others by running the program again."""
