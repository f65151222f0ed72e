"""Totals under cell keys: the joint posterior against forward simulation of the keys."""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import Poisson
from tabprotect.engine.protection.cell_keys.perturbation_table import perturbation_table
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import KEY_MODULUS, Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

sys.path.insert(0, str(Path(__file__).parents[3] / "oracles"))

from tabprotect.testing.brute_force import weight

METHOD = methods()["cell_key"]
NOISE = perturbation_table(D=5, V=3, js=2)


def published(inner: list[list[int]], sums: list[int]) -> Release:
    """A release with all totals: ``sums`` in the order of ``margins`` below without A:B."""
    domain = Domain.of_shape(np.shape(inner))
    values = METHOD.resolve(domain, {})
    some = Problem(Table.dense(domain, np.zeros(domain.shape, dtype=int)))
    release, _ = METHOD.perform(some, values, np.random.default_rng(0))
    rows, columns = domain.shape
    tables = (inner, sums[:rows], sums[rows : rows + columns], sums[-1])
    assert [p.table.domain.names for p in release.tables] == [("A", "B"), ("A",), ("B",), ()]
    made = tuple(
        PublishedTable(Table.dense(p.table.domain, np.array(t)))
        for p, t in zip(release.tables, tables, strict=True)
    )
    return replace(release, tables=made)


def simulated(release: Release, most: int, runs: int) -> np.ndarray:
    """P(first cell | all published counts), all originals of counts 0..most alike, by forward
    simulation of the keys as the sources describe them."""
    generator = np.random.default_rng(5)
    domain = release.domain
    publication = Publication.of(domain, "A*B")
    parts = publication.incidence.toarray()
    by_names = {p.table.domain.names: p.table for p in release.tables}
    wanted = publication.stack([by_names[d.names] for d in publication.domains])
    hits = np.zeros(most + 1)
    for cells in product(range(most + 1), repeat=domain.size):
        counts = np.array(cells)
        keys = generator.integers(0, KEY_MODULUS, (runs, domain.size)) * (counts > 0)
        true = parts @ counts
        noise = NOISE.noise_of(np.tile(true, runs), (keys @ parts.T % KEY_MODULUS).reshape(-1)).reshape(
            runs, -1
        )
        hits[cells[0]] += (true + noise == wanted).all(axis=1).sum()
    assert hits.sum() > 1000
    return hits / hits.sum()


def weighed(release: Release, most: int, repeats: int) -> np.ndarray:
    """The same by the likelihood, with the estimates."""
    likelihood = likelihood_of(release)
    assert isinstance(likelihood, CellFactors) and likelihood.rerun is not None
    found = np.zeros(most + 1)
    for cells in product(range(most + 1), repeat=release.domain.size):
        original = Table.dense(release.domain, np.reshape(cells, release.domain.shape))
        for seed in range(repeats):
            found[cells[0]] += weight(likelihood, original, seed)
    return found / found.sum()


@pytest.mark.parametrize(
    ("inner", "sums", "stated"), [([[0, 0], [0, 0]], [0] * 5, 0.73), ([[3, 0]], [3, 3, 0, 3], None)]
)
def test_posterior_with_totals(inner: list[list[int]], sums: list[int], stated: float | None) -> None:
    release = published(inner, sums)
    expected = simulated(release, 3, 4000)
    found = weighed(release, 3, 10)
    assert np.abs(found - expected).max() < 0.02
    if stated is not None:
        # By the inner cell alone: 0.43.
        assert found[0] == pytest.approx(stated, abs=0.02)


@pytest.mark.parametrize(
    ("cells", "runs"), [((1, 2), 1200), ((3, 0), 1200), ((2, 2, 1), 3000), ((0, 0), 1200)]
)
def test_chances_of_all_releases_of_one_original(cells: tuple[int, ...], runs: int) -> None:
    # Factors and estimate together are the law of the release: each as often as it says, 1 in all.
    original = Table.dense(Domain.of_shape((len(cells),)), np.array(cells))
    values = METHOD.resolve(original.domain, {"D": 2, "V": 1.05, "js": 1})
    generator = np.random.default_rng(8)
    seen: Counter[tuple[int, ...]] = Counter()
    kept = {}
    for _ in range(runs):
        release, _ = METHOD.perform(Problem(original), values, generator)
        counts = tuple(np.concatenate([p.table.counts.reshape(-1) for p in release.tables]).tolist())
        seen[counts] += 1
        kept[counts] = release
    total, statistic = 0.0, 0.0
    for counts, release in kept.items():
        likelihood = likelihood_of(release)
        assert isinstance(likelihood, CellFactors) and likelihood.rerun is not None
        chance = float(np.mean([weight(likelihood, original, seed) for seed in range(5)]))
        total += chance
        if chance * runs >= 5:
            statistic = max(
                statistic,
                abs(seen[counts] - chance * runs) / (chance * max(1 - chance, 1e-9) * runs + 1) ** 0.5,
            )
    assert total == pytest.approx(1, abs=0.02) and statistic < 4.5


def test_inference_reweighs_and_says_so() -> None:
    release = published([[0, 0], [0, 0]], [0] * 5)
    likelihood = likelihood_of(release)
    prior = Poisson(np.full(4, 1.0))
    found = infer(likelihood, prior, Approach(way="monte_carlo", draws=1500), randomness=Randomness.seeded(3))
    assert found.note == "" and not found.approximate
    law = np.array([1 / math.factorial(k) for k in range(6)])
    wanted = np.zeros(6)
    assert isinstance(likelihood, CellFactors)
    for cells in product(range(6), repeat=4):
        if sum(cells) <= 5:
            table = Table.dense(release.domain, np.reshape(cells, (2, 2)))
            wanted[cells[0]] += weight(likelihood, table) * law[list(cells)].prod()
    row = found.chances[found.group_of_cell[0]][:6]
    assert np.abs(row - (wanted / wanted.sum())[: len(row)]).max() < 0.06
    # Factors alone are an approximation, and it is told.
    alone = infer(replace(likelihood, rerun=None), prior)
    assert alone.approximate and "independent" in alone.note


def test_what_is_too_large_is_left_out_and_told() -> None:
    for shape, joint in (((3, 3), True), ((2, 5), False), ((2, 2, 2), False)):
        problem = Problem(Table.dense(Domain.of_shape(shape), np.full(shape, 2)))
        release, _ = METHOD.perform(
            problem, METHOD.resolve(problem.table.domain, {}), np.random.default_rng(1)
        )
        likelihood = likelihood_of(release)
        assert isinstance(likelihood, CellFactors)
        assert (likelihood.rerun is not None) == joint
        assert joint or "can say much more" in likelihood.note
