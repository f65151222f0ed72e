"""Cycles that cannot have been taken are left out: the posterior stays the same."""

from __future__ import annotations

import json
from pathlib import Path

import cycle_steps_in_numpy
import numpy as np
import pytest
from change_laws import distribution
from move_cases import random_prior

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.moves import open_cycles
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.moves.signature_model import GroupModel, group_model
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "trains.json").read_text())
COINS = [(0.25, 0.25), (0.3, 0.1), (0.0, 0.5), (0.5, 0.5), (0.4, 0.6)]


def by_cell(model: GroupModel) -> np.ndarray | None:
    """The law of the change of every cell, by listing; ``None`` if there is no original."""
    found = distribution(model)
    assert found is not None
    if not found.any() and model.groups:
        return None
    return np.concatenate([found, np.eye(1, 2 * model.span + 1, model.span)])[model.signatures.column]


@pytest.mark.parametrize("seed", range(6))
def test_the_law_is_that_of_all_cycles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fewer = 0
    for _ in range(40):
        shape = [(2, 3), (3, 3), (3, 2, 2), (2, 5)][rng.integers(4)]
        domain = Domain.of_shape(shape)
        moves = design(domain, str(rng.choice(["elementary", "bands"])))
        moves = moves.take(rng.permutation(len(moves))[:7])
        counts = rng.poisson(rng.choice([0.6, 1.2, 2.0]), shape)
        alpha, beta = COINS[rng.integers(len(COINS))]
        passes = 1 if len(moves) > 3 else 2
        one = MoveSequence(Table.dense(domain, counts), moves, alpha, beta, passes, "any_zero")
        prior = random_prior(rng, domain.size)[0] if rng.random() < 0.5 else Uniform()
        try:
            whole = group_model(one, prior)
        except InfeasibleError:
            continue
        model = open_cycles.only_open(whole)
        fewer += len(model.moves) < len(whole.moves)
        wanted, found = by_cell(whole), by_cell(model)
        if wanted is None or found is None:
            assert wanted is found
            continue
        assert np.abs(found - wanted).max() < 1e-12
        exact = Elimination.of(model)
        assert exact is not None
        solved = np.concatenate([exact.changes(), np.eye(1, 2 * model.span + 1, model.span)])
        assert np.abs(solved[model.signatures.column] - wanted).max() < 1e-12
    assert fewer > 5


def test_a_published_zero_may_have_been_a_one() -> None:
    # 3 1 / 2 4 becomes 4 0 / 1 5 with the chance of one side of the coin.
    domain = Domain.of_shape((2, 2))
    one = MoveSequence(
        Table.dense(domain, np.array([[4, 0], [1, 5]])),
        design(domain, "elementary"),
        0.25,
        0.25,
        1,
        "any_zero",
    )
    assert open_cycles.open_cycles(group_model(one, Uniform())).all()
    found = infer(one)
    listed = found.list_originals()
    assert listed is not None
    assert sorted(listed[0].tolist()) == [[3, 1, 2, 4], [4, 0, 1, 5]]


def test_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(one for one in REFERENCE["cases"] if one["kind"] == "zeros")
    counts = np.array(case["published"])
    domain = Domain.of_shape(counts.shape)
    arrays = []
    for c, r in np.ndindex(counts.shape[0] - 1, counts.shape[1] - 1):
        swap = np.zeros(counts.shape, dtype=np.int64)
        swap[c : c + 2, r : r + 2] = [[1, -1], [-1, 1]]
        arrays.append(swap)
    moves = MoveSet.from_arrays(domain, arrays, margins=())
    one = MoveSequence(Table.dense(domain, counts), moves, case["alpha"], case["beta"], 1, "any_zero")
    whole = infer(one)
    # As a strip it has a way of its own, which takes all of its swaps.
    monkeypatch.setattr(open_cycles.StripPlan, "of", lambda structure, model: None)
    assert not open_cycles.open_cycles(group_model(one, Uniform())).all()
    for found in (whole, infer(one)):
        assert found.way == "exact"
        for cell, law in enumerate(one for row in case["chances"] for one in row):
            group = found.group_of_cell[cell]
            first = int(found.first[cell]) - int(counts.reshape(-1)[cell])
            wanted = [law.get(str(first + k), 0.0) for k in range(found.chances.shape[1])]
            assert np.abs(found.chances[group] - wanted).max() < 1e-12


def test_a_sparse_table_is_exact_at_full_height() -> None:
    domain = Domain.of_shape((100, 100))
    rng = np.random.default_rng(7)
    counts = rng.poisson(rng.gamma(0.36, 3 / 0.36, size=domain.shape))
    one = MoveSequence(Table.dense(domain, counts), design(domain, "bands"), 0.25, 0.25, 1, "any_zero")
    model = group_model(one, Uniform())
    whole, opened = Elimination.of(model), Elimination.of(open_cycles.only_open(model))
    assert whole is not None and whole.tall and opened is not None and not opened.tall


def test_a_table_of_zeros_leaves_nothing_open() -> None:
    domain = Domain.of_shape((20, 20))
    table = Table.dense(domain, np.zeros(domain.shape, dtype=np.int64))
    one = MoveSequence(table, design(domain, "bands"), 0.25, 0.25, 1, "any_zero")
    for way in (Approach(), Approach(way="monte_carlo")):
        found = infer(one, approach=way)
        assert found.count_originals() == 1
        assert found.sample(2, np.random.default_rng(1)).sum() == 0


@pytest.mark.parametrize("passes", [1, 2])
def test_both_forms_find_the_same(passes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for form in (open_cycles.cycle_steps, cycle_steps_in_numpy):
        monkeypatch.setattr(open_cycles, "cycle_steps", form)
        for seed in range(20):
            counts = np.random.default_rng(seed).poisson(1.5, size=(6, 7))
            domain = Domain.of_shape(counts.shape)
            alpha, beta = COINS[seed % len(COINS)]
            one = MoveSequence(
                Table.dense(domain, counts), design(domain, "bands"), alpha, beta, passes, "any_zero"
            )
            found.append(open_cycles.open_cycles(group_model(one, Uniform())).tolist())
    half = len(found) // 2
    assert found[:half] == found[half:] and not all(map(all, found))
