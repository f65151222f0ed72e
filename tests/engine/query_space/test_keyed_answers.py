"""What a reader who lists every original knows of counts that several answers by cell keys are about."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tabprotect.engine.fitting.margin_variance import LeastLeft
from tabprotect.engine.protection.cell_keys.perturbation_table import perturbation_table
from tabprotect.engine.query_space.keyed_answers import LEAST

MOST = 6
ORIGINALS = np.array(list(product(range(MOST + 1), repeat=4)))
NUMBERS = {"AB": [[0], [1], [2], [3]], "A": [[0, 1], [2, 3]], "B": [[0, 2], [1, 3]]}
"""The cells of a 2 x 2 table that each published number of an answer adds up."""


def known_share(noise: tuple[int, float, int], asked: tuple[str, ...], runs: int) -> float:
    """The share of the counts 1 and 2 in which the reader believes with more than .95."""
    generator = np.random.default_rng(5)
    most, variance, never = noise
    table = perturbation_table(D=most, V=variance, js=never)
    law = np.zeros((2 * MOST + 1, 2 * MOST + 1 + most))
    for count in range(len(law)):
        for change, chance in table.transitions(min(count, table.rows - 1)).items():
            law[count, count + change] += chance
    numbers = [cells for query in asked for cells in NUMBERS[query]]
    counts = np.stack([ORIGINALS[:, cells].sum(axis=1) for cells in numbers], axis=1)
    # The same records have the same noise: those of the cells that are not empty.
    records = np.stack([(ORIGINALS[:, c] > 0) @ (1 << np.array(c)) for c in numbers], axis=1)
    known = small = 0
    for _ in range(runs):
        drawn = np.minimum(generator.poisson(generator.gamma(1, 2, 4)), MOST)
        true = int(np.flatnonzero((drawn == ORIGINALS).all(axis=1))[0])
        noisy: dict[int, int] = {}
        for count, of in zip(counts[true], records[true], strict=True):
            noisy.setdefault(int(of), int(generator.choice(law.shape[1], p=law[count])))
        seen = [noisy[int(of)] for of in records[true]]
        belief = np.ones(len(ORIGINALS))
        for k, number in enumerate(seen):
            first = np.ones(len(ORIGINALS), dtype=bool)
            for other in range(k):
                same = records[:, other] == records[:, k]
                belief *= ~same | (seen[other] == number)
                first &= ~same
            belief *= np.where(first, law[counts[:, k], number], 1.0)
        belief /= belief.sum()
        for cell in np.flatnonzero((drawn > 0) & (drawn < 3)):
            known += belief[ORIGINALS[:, cell] == drawn[cell]].sum() > 0.95
            small += 1
    return known / small


def left(asked: tuple[str, ...], variance: float) -> float:
    found = LeastLeft(np.array((2, 2)), variance)
    for query in asked:
        found = found.and_one(np.array(["A" in query, "B" in query]))
    return float(found.deviations()[1].min())


@pytest.mark.parametrize("noise", [(4, 3.0, 0), (5, 3.0, 2)])
def test_readers_know_hardly_a_small_count_of_what_is_answered(noise: tuple[int, float, int]) -> None:
    every = ("AB", "A", "B")
    assert left(every, noise[1]) >= LEAST
    assert known_share(noise, every, 120) <= 0.01


def test_what_is_refused_would_tell_more() -> None:
    asked = ("AB", "A")
    assert 0.75 < left(asked, 1.0) < LEAST
    assert known_share((2, 1.0, 0), asked, 120) > 0.01


def test_readers_who_undo_the_noise_of_large_sums_know_hardly_a_small_count() -> None:
    # The four sums of a 2 x 2 table are known: one count is left, and noise with a quarter of its variance.
    variance, most = 4.0, 5
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
