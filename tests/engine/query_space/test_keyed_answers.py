"""What a reader who lists every original knows of counts that several answers by cell keys are about."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tabprotect.engine.fitting.margin_variance import ENOUGH, least_deviation
from tabprotect.engine.protection.cell_keys.perturbation_table import perturbation_table

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
    return least_deviation((2, 2), np.array([["A" in q, "B" in q] for q in asked]), variance)


@pytest.mark.parametrize("noise", [(3, 2.0, 0), (5, 3.0, 2)])
def test_readers_know_hardly_a_small_count_of_what_is_answered(noise: tuple[int, float, int]) -> None:
    every = ("AB", "A", "B")
    assert left(every, noise[1]) >= ENOUGH
    assert known_share(noise, every, 120) <= 0.01


def test_what_is_refused_would_tell_more() -> None:
    asked = ("AB", "A")
    assert 0.75 < left(asked, 1.0) < ENOUGH
    assert known_share((2, 1.0, 0), asked, 120) > 0.01
