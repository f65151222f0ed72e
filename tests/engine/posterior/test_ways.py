"""Every way of inference on every shape of likelihood, against brute force: one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tabprotect.engine.arrays import Floats
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach, Way
from tabprotect.engine.posterior.factors import chain_posterior
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import CellTable
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import (
    AdaptiveSequence,
    CellFactors,
    Likelihood,
    MoveSequence,
    Rerun,
)
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.brute_force import every_original, marginals

MOST = 3
TWO = Domain.of_shape((2, 2))
PUBLISHED = Table.dense(TWO, [[2, 1], [1, 2]])
DRAWS = 4000


def moves(rule: str, passes: int = 1) -> Likelihood:
    return MoveSequence(PUBLISHED, design(TWO, "elementary"), 0.3, 0.2, passes, rule)  # type: ignore[arg-type]


def adaptive() -> Likelihood:
    domain = Domain.of_shape((2, 3))
    table = Table.dense(domain, [[1, 0, 2], [0, 2, 1]])
    return AdaptiveSequence(table, design(domain, "every"), 0.3, 0.2, 2)


def factors(*sums: tuple[int, ...], rerun: Rerun | None = None) -> Likelihood:
    """Soft weights of some sums of the four cells."""
    generator = np.random.default_rng(len(sums))
    kinds = [(0, 3 * len(cells), generator.normal(size=3 * len(cells) + 1)) for cells in sums]
    starts = np.concatenate([[0], np.cumsum([len(cells) for cells in sums])]).astype(np.int64)
    flat = np.array([cell for cells in sums for cell in cells], dtype=np.int64)
    published = (PublishedTable(PUBLISHED),)
    made = CellFactors.of(TWO, published, (starts, flat), np.arange(len(sums)), list(kinds))
    return replace(made, rerun=rerun)


def again(original: Table, _: np.random.Generator) -> float:
    return float(original.counts[0, 0] >= original.counts[1, 1])


CELLS = ((0,), (1,), (2,), (3,))
ROWS, COLUMNS = ((0, 1), (2, 3)), ((0, 2), (1, 3))
SHAPES: dict[str, Callable[[], Likelihood]] = {
    "moves, any zero": lambda: moves("any_zero"),
    "moves, negative": lambda: moves("negative", 2),
    "moves, none": lambda: moves("none", 2),
    "moves that the table chooses": adaptive,
    "cells alone": lambda: factors(*CELLS),
    "one sum": lambda: factors((0, 1, 2, 3)),
    "rows": lambda: factors(*ROWS, *CELLS),
    "rows and columns": lambda: factors(*ROWS, *COLUMNS),
    "rows, columns, cells and total": lambda: factors(*ROWS, *COLUMNS, *CELLS, (0, 1, 2, 3)),
    "a rule beyond the factors": lambda: factors(*CELLS, rerun=Rerun(again, exact=True)),
}


def prior_of(likelihood: Likelihood) -> CellTable:
    keys, values = (a.reshape(-1) for a in np.indices((likelihood.domain.size, MOST + 1)))
    return CellTable(keys, values, 1.0 + (5 * keys + 3 * values) % 4)


@cache
def truth(shape: str) -> Floats:
    likelihood = SHAPES[shape]()
    return marginals(every_original(likelihood, prior_of(likelihood), MOST), MOST)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["auto", "exact", "monte_carlo"])
def test_against_brute_force(way: Way, shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Chains of four cells mix at once.
    monkeypatch.setattr(chain_posterior, "DIRECTIONS", 1600)
    monkeypatch.setattr(chain_posterior, "SWEEPS", 200)
    likelihood = SHAPES[shape]()
    found = infer(
        likelihood, prior_of(likelihood), Approach(way=way, draws=DRAWS), randomness=Randomness.seeded(5)
    )
    seen = np.stack([found.probability(v).reshape(-1) for v in range(MOST + 1)], axis=1)
    exact = found.way == "exact"
    assert exact or way != "exact"
    assert np.abs(seen - truth(shape)).max() < (1e-10 if exact else 0.06)


def test_what_is_impossible_is_refused_in_every_way() -> None:
    prior = CellTable(np.array([0]), np.array([3]), np.array([0.0]))
    for shape in ("cells alone", "moves, any zero"):
        with pytest.raises(InfeasibleError):
            infer(SHAPES[shape](), prior)
