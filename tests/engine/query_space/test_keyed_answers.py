"""What a reader who lists every original knows of counts that several answers by cell keys are about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
import pytest

from tabprotect.engine.arrays import Ints
from tabprotect.engine.fitting.margin_variance import LeastLeft
from tabprotect.engine.protection.cell_keys.perturbation_table import perturbation_table
from tabprotect.engine.query_space.keyed_answers import LEAST, LEAST_D

SQUARE, CUBE = (2, 2), (2, 2, 2)
MOST = {SQUARE: 6, CUBE: 3}
"""The largest count of the originals that are listed."""

Tables = tuple[tuple[int, ...], ...]
SQUARES: Tables = ((0, 1), (0,), (1,))
CUBES: Tables = ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,))


@dataclass(frozen=True)
class Listed:
    """All originals, and of each published number its sum (numbers, originals) and who is in it."""

    counts: Ints
    sums: Ints
    records: Ints


@lru_cache
def listed(shape: tuple[int, ...], asked: Tables) -> Listed:
    cells = np.arange(2 ** len(shape)).reshape(shape)
    numbers = []
    for axes in asked:
        others = tuple(k for k in range(len(shape)) if k not in axes)
        numbers += np.moveaxis(cells, others, range(len(others))).reshape(2 ** len(others), -1).T.tolist()
    counts = np.array(list(product(range(MOST[shape] + 1), repeat=cells.size)))
    sums = np.stack([counts[:, of].sum(axis=1) for of in numbers])
    return Listed(counts, sums, np.stack([(counts[:, of] > 0) @ (1 << np.array(of)) for of in numbers]))


def known_share(noise: tuple[int, float, int], shape: tuple[int, ...], asked: Tables, runs: int) -> float:
    """The share of the counts 1 and 2 in which a reader who lists all originals believes with more than .95."""
    generator = np.random.default_rng(5)
    most, variance, never = noise
    every = listed(shape, asked)
    table = perturbation_table(D=most, V=variance, js=never)
    law = np.zeros((every.sums.max() + 1, every.sums.max() + 1 + most))
    for count in range(len(law)):
        for change, chance in table.transitions(min(count, table.rows - 1)).items():
            law[count, count + change] += chance
    # The same records have the same noise, once; nobody has none.
    somebody = np.where(every.records > 0, every.records, -np.arange(1, len(every.sums) + 1)[:, None])
    same = [
        [(o, twice) for o in range(k) if (twice := somebody[o] == somebody[k]).any()]
        for k in range(len(every.sums))
    ]
    first = [~np.any([twice for _, twice in others], axis=0) if others else True for others in same]
    known = small = 0
    for _ in range(runs):
        drawn = np.minimum(generator.poisson(generator.gamma(1, 1.5, 2 ** len(shape))), MOST[shape])
        true = int(np.flatnonzero((drawn == every.counts).all(axis=1))[0])
        noisy: dict[int, int] = {}
        for count, of in zip(every.sums[:, true].tolist(), every.records[:, true].tolist(), strict=True):
            noisy.setdefault(of, int(generator.choice(law.shape[1], p=law[count])))
        seen = [noisy[of] for of in every.records[:, true].tolist()]
        belief = np.ones(len(every.counts))
        for k, number in enumerate(seen):
            belief *= np.where(first[k], law[every.sums[k], number], 1.0)
            for other, twice in same[k]:
                if seen[other] != number:
                    belief[twice] = 0.0
        for cell in np.flatnonzero((drawn > 0) & (drawn < 3)):
            known += belief[every.counts[:, cell] == drawn[cell]].sum() > 0.95 * belief.sum()
            small += 1
    return known / small


def left(shape: tuple[int, ...], asked: Tables, variance: float) -> float:
    found = LeastLeft(np.array(shape), variance)
    for axes in asked:
        found = found.and_one(np.isin(range(len(shape)), axes))
    return float(found.deviations()[1].min())


def at_the_limit(shape: tuple[int, ...], asked: Tables) -> float:
    """The variance that is just enough."""
    return float((LEAST / left(shape, asked, 1.0)) ** 2)


@pytest.mark.parametrize(("most", "never"), [(LEAST_D, 0), (LEAST_D, 2)])
@pytest.mark.parametrize(("shape", "asked"), [(SQUARE, SQUARES), (CUBE, CUBES)])
def test_readers_know_hardly_a_small_count_at_the_limit(
    shape: tuple[int, ...], asked: Tables, most: int, never: int
) -> None:
    variance = at_the_limit(shape, asked)
    assert known_share((most, variance, never), shape, asked, 200 if shape == SQUARE else 40) <= 0.025


def test_what_is_refused_would_tell_more() -> None:
    # Less is left, or noise that is narrow: then its variance does not help.
    assert left(CUBE, CUBES, 2.0) < LEAST
    assert known_share((LEAST_D, 2.0, 0), CUBE, CUBES, 25) > 0.04
    assert known_share((3, at_the_limit(CUBE, CUBES), 0), CUBE, CUBES, 25) > 0.04
    assert known_share((2, at_the_limit(SQUARE, SQUARES), 0), SQUARE, SQUARES, 60) > 0.04


def test_readers_who_undo_the_noise_of_large_sums_know_hardly_a_small_count() -> None:
    # The four sums of a 2 x 2 table are known: one count is left, and noise with a quarter of its variance.
    variance, most = 5.3, 6
    assert np.sqrt(variance / 4) >= LEAST
    generator, size = np.random.default_rng(5), 60
    table = perturbation_table(D=most, V=variance)
    law = np.zeros((size, size + most))
    for count in range(size):
        for change, chance in table.transitions(min(count, table.rows - 1)).items():
            law[count, count + change] += chance
    known = small = 0
    while small < 300:
        true = np.minimum(generator.poisson(generator.gamma(1, 4, (2, 2))), 25)
        at_risk = (true > 0) & (true < 3)
        if not at_risk.any() or min(true.sum(axis=0).min(), true.sum(axis=1).min()) <= 2 + most:
            continue
        seen = [int(generator.choice(law.shape[1], p=law[count])) for count in true.ravel()]
        first = np.arange(min(true.sum(axis=1)[0], true.sum(axis=0)[0]) + 1)
        others = (true.sum(axis=1)[0] - first, true.sum(axis=0)[0] - first)
        last = true.sum() - first - others[0] - others[1]
        belief = np.where(last >= 0, 1.0, 0.0)
        for counts, number in zip((first, *others, last), seen, strict=True):
            belief *= law[np.maximum(counts, 0), number]
        known += int(belief[true[0, 0]] > 0.95 * belief.sum()) * at_risk.sum()
        small += at_risk.sum()
    assert known <= 0.02 * small
