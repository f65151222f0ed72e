"""For each method: the originals behind a release, and how probable the release is under each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from cycle_law import backward
from exchange_law import matrix
from originals import Limit, TooManyError, grouped, listed, summed

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table

Counts = tuple[int, ...]
Law = tuple[int, int, np.ndarray]
"""Of one sum: the least and largest true one, and the chance of what was published under each."""


@dataclass(frozen=True)
class Part:
    """Some cells, what they can be together, and how probable each is; apart from all others."""

    cells: tuple[int, ...]
    originals: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, cells: Sequence[int], originals: np.ndarray, chances: np.ndarray) -> Part:
        """Those with any chance."""
        kept = chances > 0
        return cls(tuple(cells), originals[kept], chances[kept] / chances.sum())


Parts = Callable[[Release, SmallCount, int], list[Part]]


def _numbers(release: Release) -> dict[tuple[int, ...], int | None]:
    """Every published number by the inner cells it is made of; ``None`` where it is hidden."""
    found: dict[tuple[int, ...], int | None] = {}
    for published in release.tables:
        table = published.table.domain
        if set(table.names) <= set(release.domain.names):
            sums = summed(release.domain, table.names)
        else:
            sums = grouped(release.domain, table, str(release.mechanism.parameters["groupings"]))
        counts, hidden = published.table.counts.reshape(-1), published.hidden.reshape(-1)
        for cells, count, secret in zip(sums, counts.tolist(), hidden.tolist(), strict=True):
            found[cells] = None if secret else count
    return found


def _whole(
    release: Release, limits: Sequence[Limit], most: int, chance: Callable[[Counts], float]
) -> list[Part]:
    """All cells in one part."""
    size = release.domain.size
    every = listed(size, limits, most)
    chances = np.array([chance(tuple(original)) for original in every.tolist()])
    return [Part.of(range(size), every, chances)]


def _factors(release: Release, laws: Mapping[tuple[int, ...], Law], most: int) -> list[Part]:
    """Independent noise on every published number: cells that no number joins are apart."""
    part_of = list(range(release.domain.size))
    for cells in laws:
        joined = {part_of[cell] for cell in cells}
        part_of = [min(joined) if part in joined else part for part in part_of]
    out = []
    for part in sorted(set(part_of)):
        mine = [cell for cell, of in enumerate(part_of) if of == part]
        here = {
            tuple(mine.index(cell) for cell in cells): law
            for cells, law in laws.items()
            if part_of[cells[0]] == part
        }
        limits = [(cells, low, high) for cells, (low, high, _) in here.items()]
        every = listed(len(mine), limits, most)
        chances = np.ones(len(every))
        for cells, (low, _, law) in here.items():
            chances *= law[every[:, list(cells)].sum(axis=1) - low]
        out.append(Part.of(mine, every, chances))
    return out


# Methods that run again

_RUNS: dict[object, object] = {}


def _again(within: Callable[[Release, int, int], tuple[int, int]]) -> Parts:
    """1 for an original of which the program makes this very release, else 0.

    ``within`` tells the least and largest true number behind a published one of so many cells.
    """

    def parts(release: Release, rule: SmallCount, most: int) -> list[Part]:
        limits: list[Limit] = []
        hides_zeros = release.mechanism.parameters.get("zeros", "published") != "published"
        for cells, count in _numbers(release).items():
            if count is not None:
                low, high = within(release, count, len(cells))
                limits.append((cells, max(low, 0), high))
            elif len(cells) == 1 and not hides_zeros:
                limits.append((cells, 1, 2**40))
        return _whole(release, limits, most, _same_again(release, rule))

    return parts


def _same_again(release: Release, rule: SmallCount) -> Callable[[Counts], float]:
    method, stated = methods()[release.mechanism.method], release.mechanism.parameters
    known = {p.name for p in method.parameters}
    given = {name: value for name, value in stated.items() if name in known}
    values = method.resolve(release.domain, given)
    assert not method.is_random(values)
    disclosed = {k: v for k, v in stated.items() if k not in known}
    runs = _RUNS.setdefault((method.name, repr(sorted(given.items())), release.domain, rule), {})
    assert isinstance(runs, dict)

    def chance(original: Counts) -> float:
        if original not in runs:
            table = Table.dense(release.domain, np.array(original).reshape(release.domain.shape))
            try:
                again, draft = method.perform(Problem(table, at_risk=rule), values, np.random.default_rng(0))
                refused = method.acceptance_failure(draft.findings)
                runs[original] = None if refused else (again.tables, again.mechanism.parameters)
            except TabprotectError:
                runs[original] = None
        found = runs[original]
        if found is None:
            return 0.0
        tables, parameters = found
        same = all(parameters.get(name) == value for name, value in disclosed.items())
        return float(tables == release.tables and same)

    return chance


def _as_published(_: Release, count: int, cells: int) -> tuple[int, int]:
    return count, count


def _base(release: Release) -> int:
    return int(str(release.mechanism.parameters["base"]))


def _near_multiple(release: Release, count: int, cells: int) -> tuple[int, int]:
    return count - _base(release) + 1, count + _base(release) - 1


def _adjusted(release: Release, count: int, cells: int) -> tuple[int, int]:
    """At-risk counts are next to the range, and only they moved further than is stated."""
    stated = release.mechanism.parameters
    rule = SmallCount.parse(str(stated["at_risk"]))
    kept = cells > 1 and stated["totals"] == "kept"
    most = 0 if kept else int(str(stated["largest_change"]))
    if count < rule.low:
        return count, rule.high
    return rule.low if count == rule.high + 1 else max(count - most, rule.high + 1), count + most


# Cycles


def _cycles(release: Release, _: SmallCount, most: int) -> list[Part]:
    """Backwards through the cycles: no other table can have led here."""
    stated = release.mechanism.parameters
    if stated["blocking"] == "exchange":
        return _exchanged(release, most)
    moves = stated["cycles"]
    cycles = []
    for number in range(len(moves)):  # type: ignore[arg-type]
        cells, signs = moves.entries(number)  # type: ignore[attr-defined]
        cycles.append(dict(zip(cells.tolist(), signs.tolist(), strict=True)))
    published = tuple(release.table.counts.reshape(-1).tolist())
    alpha, beta = float(str(stated["alpha"])), float(str(stated["beta"]))
    found = backward(published, cycles, str(stated["blocking"]), (alpha, beta), most)
    if found is None:
        raise TooManyError
    every = np.array(list(found))
    return [Part.of(range(release.domain.size), every, np.array(list(found.values())))]


def _exchanged(release: Release, most: int) -> list[Part]:
    """From every table with the same margins, so many exchange steps; of two ways."""
    counts = release.table.counts
    tables, step, _ = matrix(counts, 0.0)
    if len(tables) > most:
        raise TooManyError
    steps = round(float(str(release.mechanism.parameters["rate"])) * int(counts.sum()))
    here = tables.index(tuple(counts.reshape(-1).tolist()))
    chances = np.linalg.matrix_power(step, steps)[:, here]
    return [Part.of(range(release.domain.size), np.array(tables), chances)]


# Noise on each number


def _rounded(release: Release, _: SmallCount, most: int) -> list[Part]:
    """Up with the chance of the rest over the base."""
    base, laws = _base(release), {}
    for cells, count in _numbers(release).items():
        assert count is not None
        low = max(count - base + 1, 0)
        true = np.arange(low, count + base)
        laws[cells] = (low, count + base - 1, 1 - np.abs(count - true) / base)
    # A base above every count is refused: the grand total is then no smaller than the base.
    everything = tuple(range(release.domain.size))
    if everything not in laws:
        highest = sum(laws[cells][1] for cells in summed(release.domain, release.domain.names[:1]))
        laws[everything] = (base, highest, np.ones(highest - base + 1))
    else:
        low, high, law = laws[everything]
        laws[everything] = (low, high, np.where(np.arange(low, high + 1) >= base, law, 0.0))
    return _factors(release, laws, most)


def _keyed(release: Release, _: SmallCount, most: int) -> list[Part]:
    rows = methods()["cell_key"].transitions(release)
    assert rows is not None
    reach = max(max(-first, first + len(chances)) for first, chances in rows)

    def single(true: int, shown: int) -> float:
        row = min(true, len(rows) - 1)
        column = shown - rows[row][0] - (true - row)
        return float(rows[row][1][column]) if 0 <= column < len(rows[row][1]) else 0.0

    laws: dict[tuple[int, ...], Law] = {}
    for cells, count in _numbers(release).items():
        assert count is not None
        low, high = max(count - reach, 0), count + reach
        laws[cells] = (low, high, np.array([single(x, count) for x in range(low, high + 1)]))
    if len(release.tables) == 1:
        return _factors(release, laws, most)
    # Under a secret hash the noise of different sets of records has nothing in common.
    assert release.mechanism.parameters["keys"] == "hashed"
    limits = [(cells, low, high) for cells, (low, high, _) in laws.items()]
    numbers = {cells: int(count or 0) for cells, count in _numbers(release).items()}

    def chance(original: Counts) -> float:
        noise: dict[tuple[int, ...], int] = {}
        for cells, count in numbers.items():
            records = tuple(c for c in cells if original[c])
            if noise.setdefault(records, count) != count:
                return 0.0
        return math.prod(single(sum(original[c] for c in records), count) for records, count in noise.items())

    return _whole(release, limits, most, chance)


NEVER = 41.0
"""Noise whose weight is exp(-41) of that of none is taken as impossible."""


def _noisy(power: int) -> Parts:
    """exp(-share |z|^power), the budget shared out over the published tables."""

    def parts(release: Release, _: SmallCount, most: int) -> list[Part]:
        stated = release.mechanism.parameters
        share = float(str(stated["epsilon" if power == 1 else "rho"])) / len(release.tables)
        cap = stated.get("cap")
        reach = int((NEVER / share) ** (1 / power)) if cap is None else int(str(cap))
        laws: dict[tuple[int, ...], Law] = {}
        for cells, count in _numbers(release).items():
            assert count is not None
            # Far below zero every count is improbable, and the least is the least improbable.
            low, high = max(count - reach, 0), max(count, 0) + reach
            high = high if cap is None else count + reach
            true = np.arange(low, high + 1)
            logs = -share * np.abs(true - count).astype(float) ** power
            laws[cells] = (low, high, np.exp(logs - logs.max()))
        return _factors(release, laws, most)

    return parts


# Small counts


def _small(release: Release, rule: SmallCount, most: int) -> list[Part]:
    """Over all orders of candidates that the rounding may take."""
    base, limits = _base(release), []
    for cells, count in _numbers(release).items():
        assert count is not None
        if len(cells) == 1:
            # Only counts below the base change, and to 0 or the base.
            low = {0: 0, base: 1}.get(count, count)
            limits.append((cells, low, {0: base - 1}.get(count, count)))
    return _whole(release, limits, most, _all_orders(release, rule))


class _AskedError(Exception):
    def __init__(self, number: int) -> None:
        self.number = number


def _all_orders(release: Release, rule: SmallCount) -> Callable[[Counts], float]:
    from tabprotect.engine.protection.methods.small_count_rounding import _rules
    from tabprotect.engine.protection.rounding.small_rounding import SmallCounts
    from tabprotect.engine.protection.subtables import publication_of

    method, domain = methods()["small_count_rounding"], release.domain
    values = method.resolve(domain, release.mechanism.parameters)
    publication, rules = publication_of(domain, values), _rules(values)
    runs = _RUNS.setdefault(("small", repr(sorted(values.items(), key=repr)), domain, rule), {})
    assert isinstance(runs, dict)

    def outcomes(
        small: SmallCounts, taken: tuple[tuple[int, ...], ...], share: float, law: dict[Counts, float]
    ) -> None:
        """Orders are asked for one after the other: branch at the first that is not yet taken."""
        given = iter(taken)

        def order(number: int) -> np.ndarray:
            found = next(given, None)
            if found is None:
                raise _AskedError(number)
            return np.array(found, dtype=np.int64)

        try:
            inner = tuple(small.round(order).inner.counts.reshape(-1).tolist())
        except _AskedError as asked:
            every = list(itertools.permutations(range(asked.number)))
            for one in every:
                outcomes(small, (*taken, one), share / len(every), law)
            return
        law[inner] = law.get(inner, 0.0) + share

    def law_of(original: Counts) -> dict[Counts, float]:
        table = Table.dense(domain, np.array(original).reshape(domain.shape))
        law: dict[Counts, float] = {}
        try:
            method.perform(Problem(table, at_risk=rule), values, np.random.default_rng(0))
        except TabprotectError:
            return law
        outcomes(SmallCounts(table, publication, rules), (), 1.0, law)
        return law

    def agrees(inner: Counts) -> bool:
        table = Table.dense(domain, np.array(inner).reshape(domain.shape))
        shown = {t.domain.names: t for t in publication.sums(table)}
        return all(shown[p.table.domain.names] == p.table for p in release.tables)

    published = tuple(release.table.counts.reshape(-1).tolist())
    assert agrees(published)

    def chance(original: Counts) -> float:
        if original not in runs:
            runs[original] = law_of(original)
        return float(runs[original].get(published, 0.0))

    return chance


# Resampling


def _room(true: int, total: int, quality: float) -> tuple[int, int]:
    """Least and largest count that may be published for a true one."""
    if not 0 < true < total:
        return true, true
    room = quality * math.sqrt(true * (total - true) / total)
    return max(math.ceil(true - room - 1e-12), 0), min(math.floor(true + room + 1e-12), total)


def _ranges(published: Counts, quality: float) -> list[Limit]:
    """Of counts whose total is exact, and moved by no more than S standard errors."""
    total = sum(published)
    limits: list[Limit] = [(tuple(range(len(published))), total, total)]
    for cell, shown in enumerate(published):
        can = [
            true for true in range(total + 1) if (ends := _room(true, total, quality))[0] <= shown <= ends[1]
        ]
        limits.append(((cell,), can[0], can[-1]))
    return limits


def _resampled(release: Release, _: SmallCount, most: int) -> list[Part]:
    """A multinomial sample, drawn until no count has moved by more than S standard errors."""
    quality = float(str(release.mechanism.parameters["S"]))
    published = tuple(release.table.counts.reshape(-1).tolist())
    total = sum(published)

    def single(true: int, shown: int) -> float:
        if true == 0:
            return float(shown == 0)
        low, high = _room(true, total, quality)
        inside = low <= shown <= high
        return (true / total) ** shown / math.factorial(shown) if inside else 0.0

    laws = [np.array([single(x, shown) for shown in range(total + 1)]) for x in range(total + 1)]

    def chance(original: Counts) -> float:
        here = math.prod(map(single, original, published))
        if not here:
            return 0.0
        # The chance of any accepted sample, by adding up cell by cell.
        law = np.ones(1)
        for true in original:
            law = np.convolve(law, laws[true])[: total + 1]
        return float(here / law[total])

    return _whole(release, _ranges(published, quality), most, chance)


def _put_right(release: Release, _: SmallCount, most: int) -> list[Part]:
    """Binomial counts in their ranges; the units too many or too few drawn like balls of an urn."""
    stated = release.mechanism.parameters
    quality, kept = float(str(stated["S"])), str(stated.get("kept") or "")
    published = release.table.counts.reshape(-1)
    out = []
    for block in summed(release.domain, [kept] if kept else []):
        here = tuple(published[list(block)].tolist())
        every = listed(len(block), _ranges(here, quality), most)
        chances = _urn(here, quality)
        out.append(Part.of(block, every, np.array([chances(tuple(x)) for x in every.tolist()])))
    return out


def _urn(published: Counts, quality: float) -> Callable[[Counts], float]:
    total = sum(published)

    @cache
    def toward(true: int, shown: int, sign: int) -> np.ndarray:
        """By the units put right: the chance of the draw times the ways to choose the balls."""
        low, high = _room(true, total, quality)
        share = true / total if total else 0.0
        law = {y: math.comb(total, y) * share**y * (1 - share) ** (total - y) for y in range(low, high + 1)}
        out, whole = np.zeros(total + 1), sum(law.values())
        for y, chance in law.items():
            off, room = sign * (y - shown), y - low if sign > 0 else high - y
            if 0 <= off <= room:
                out[off] = chance / whole * math.comb(room, off)
        return out

    def chance(original: Counts) -> float:
        found = 0.0
        for sign in (1, -1):
            law = np.ones(1)
            for true, shown in zip(original, published, strict=True):
                law = np.convolve(law, toward(true, shown, sign))[: total + 1]
            ends = sum(_room(true, total, quality)[sign < 0] for true in original)
            for off, weight in enumerate(law.tolist()):
                if weight and (off or sign > 0):
                    # All balls of the urn, before any is taken.
                    found += weight / math.comb(sign * (total - ends) + off, off)
        return found

    return chance


def _moved(release: Release, _: SmallCount, most: int) -> list[Part]:
    """Every record moves by itself, by the stated matrices."""
    stated = release.mechanism.parameters["transition"]
    matrix = np.ones((1, 1))
    for name in release.domain.names:
        matrix = np.kron(matrix, np.array(stated[name]))  # type: ignore[index]
    published = tuple(release.table.counts.reshape(-1).tolist())
    size, total = len(published), sum(published)
    if math.comb(total + size - 1, size - 1) > most:
        raise TooManyError
    tables: list[Counts] = []
    chances: list[float] = []

    def moved(law: np.ndarray, cell: int) -> np.ndarray:
        """One record more, of this cell; ``law`` is by how many have arrived in each cell."""
        after = np.zeros_like(law)
        for to in np.flatnonzero(matrix[cell]).tolist():
            before: list[slice] = [slice(None)] * size
            behind = list(before)
            before[to], behind[to] = slice(None, -1), slice(1, None)
            after[tuple(behind)] += matrix[cell, to] * law[tuple(before)]
        return after

    def fill(table: Counts, law: np.ndarray, left: int) -> None:
        if len(table) == size:
            tables.append(table)
            chances.append(float(law[published]))
            return
        for count in range(left + 1):
            if len(table) < size - 1 or count == left:
                fill((*table, count), law, left - count)
            law = moved(law, len(table))

    start = np.zeros([y + 1 for y in published])
    start[(0,) * size] = 1.0
    fill((), start, total)
    return [Part.of(range(size), np.array(tables), np.array(chances))]


def _open(nearest: Parts, *, small: bool) -> Parts:
    """By open book: each letter by its count, each drawn total by its sum; else another choice."""

    def parts(release: Release, rule: SmallCount, most: int) -> list[Part]:
        stated = release.mechanism.parameters
        if stated["choice"] != "open":
            return nearest(release, rule, most)
        base, gamma = _base(release), float(str(stated["gamma"]))
        laws: dict[tuple[int, ...], Law] = {}
        shown = release.tables[0].table.counts.reshape(-1).tolist()
        for cell, (count, letter) in enumerate(zip(shown, str(stated["letters"]), strict=True)):
            low = max(count - base + 1, 0)
            law = np.zeros(count + base - low)
            for true in range(low, count + base):
                rest = true % base
                if not rest or (small and true > base):
                    law[true - low] = float(letter == "f" and true == count)
                elif letter == "f":
                    up = count > true
                    law[true - low] = (1 - gamma) * (rest if up else base - rest) / base
                    law[true - low] *= count in (true - rest, true - rest + base)
                else:
                    law[true - low] = gamma * (count == true - rest + base * (letter == "E"))
            laws[cell,] = (low, count + base - 1, law)
        drawn = iter(stated["drawn_totals"])  # type: ignore[call-overload]
        least = 3 if release.domain.ndim < 3 else 13
        for names in sorted((one.table.domain.names for one in release.tables[1:]), key=len):
            for cells in summed(release.domain, names):
                if len(cells) >= least and cells not in laws:
                    total = int(next(drawn))
                    low = max(total - base + 1, 0)
                    true = np.arange(low, total + base)
                    laws[cells] = (low, total + base - 1, 1 - np.abs(total - true) / base)
        return _factors(release, laws, most)

    return parts


PARTS: Mapping[str, Parts] = {
    "suppression": _again(_as_published),
    "coarsening": _again(_as_published),
    "publish_margins": _again(_as_published),
    "controlled_rounding": _open(_again(_near_multiple), small=False),
    "controlled_tabular_adjustment": _again(_adjusted),
    "cyclic_perturbation": _cycles,
    "random_rounding": _rounded,
    "cell_key": _keyed,
    "discrete_laplace": _noisy(1),
    "discrete_gaussian": _noisy(2),
    "small_count_rounding": _open(_small, small=True),
    "bootstrap": _resampled,
    "binomial_compensated": _put_right,
    "post_randomisation": _moved,
}
"""For each method the parts of its originals."""
