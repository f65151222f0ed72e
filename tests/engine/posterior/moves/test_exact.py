"""Elimination against the definition, and against the sources' true posteriors."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import marginals, move_cells, posterior
from change_laws import distribution
from move_cases import random_prior, sequence

from tabprotect.engine.cycles.designs import bidiagonal, design
from tabprotect.engine.errors import InfeasibleError, InputError, Interrupted
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.moves.signature_model import group_model
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import CellTable, Poisson, Positive
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.release.likelihood import BlockingRule
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "cyclic.json").read_text())
RULES: dict[str, BlockingRule] = {"any": "any_zero", "neg": "negative", "none": "none"}
SHAPES = [(2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 3, 2), (2, 2, 2, 2)]


def random_moves(rng: np.random.Generator, shape: tuple[int, ...]) -> MoveSet:
    """Designs, parts of them, and overlapping patterns that keep no margin at all."""
    domain = Domain.of_shape(shape)
    kind = rng.integers(3)
    if kind == 0:
        count = rng.integers(1, 5)
        arrays = [rng.integers(-1, 2, size=shape) * (rng.random(shape) < 0.5) for _ in range(count)]
        arrays = [a for a in arrays if a.any()] or [np.ones(shape, dtype=int)]
        return MoveSet.from_arrays(domain, arrays, margins=())
    if kind == 1:
        return design(domain, rng.choice(["balanced", "strips-2", "bands", "elementary"]))
    moves = design(domain, "elementary")
    return moves.take(rng.permutation(len(moves))[:4].tolist())


@pytest.mark.parametrize("seed", range(8))
def test_elimination_is_brute_force(seed: int) -> None:
    """50 cases a seed: 2- to 4-way, all rules, 1 to 3 passes, any coin, any prior."""
    rng = np.random.default_rng(seed)
    done = 0
    while done < 50:
        shape = SHAPES[rng.integers(len(SHAPES))]
        moves = random_moves(rng, shape)
        passes = int(rng.integers(1, 4))
        if len(moves) * passes > 8:
            continue
        done += 1
        rule = list(RULES.values())[rng.integers(3)]
        alpha = float(rng.random())
        beta = float(rng.random() * (1 - alpha))
        alpha, beta = [(alpha, beta), (0.25, 0.25), (alpha, 1 - alpha), (alpha, 0.0)][rng.integers(4)]
        counts = rng.poisson(rng.choice([0.7, 1.5, 3.0]), shape)
        if rule == "none":
            counts = counts - (rng.random(shape) < 0.1)
        prior, weight = random_prior(rng, counts.size)
        truth = posterior(
            tuple(counts.reshape(-1).tolist()),
            move_cells([moves.array(i) for i in range(len(moves))]),
            alpha=alpha,
            beta=beta,
            passes=passes,
            rule=rule,
            weight=weight,
        )
        likelihood = sequence(counts, moves, rule, alpha=alpha, beta=beta, passes=passes)
        if not truth:
            with pytest.raises(InfeasibleError):
                infer(likelihood, prior, Approach(way="exact"))
            continue
        found = infer(likelihood, prior, Approach(way="exact"))
        assert found.originals == len(truth)
        model = group_model(likelihood, prior)
        by_enumeration = distribution(model)
        assert by_enumeration is not None
        touched = model.signatures.first_cell
        rows = found.chances[found.group_of_cell[touched]]
        assert np.abs(by_enumeration - rows).max(initial=0.0) < 1e-12
        for cell, expected in enumerate(marginals(truth)):
            values, chances = found.distribution(moves.domain.unflat(cell))
            got = dict(zip(values.tolist(), chances.tolist(), strict=True))
            assert set(got) == set(expected)
            assert max(abs(got[v] - expected[v]) for v in expected) < 1e-12


def expect_reference(found: Posterior, index: tuple[int, ...], entry: dict[str, Any]) -> None:
    values, chances = found.distribution(index)
    assert values.tolist() == [int(v) for v in entry]
    expected = [float(Fraction(text)) for text, _ in entry.values()]
    assert np.abs(chances - expected).max() < 1e-14


@pytest.mark.parametrize(
    "case", ["any|alpha=beta=1/4", "neg|alpha=beta=1/4", "any|alpha=beta=1/3", "neg|alpha=beta=1/3"]
)
def test_duncan_roehrig_two_way(case: str) -> None:
    source = REFERENCE["two_way_4x4"]
    rule, chance = case.split("|")
    moves = bidiagonal(Domain.of_shape((4, 4)))
    assert moves == MoveSet.from_arrays(moves.domain, source["cycles"])
    alpha = float(Fraction(chance.removeprefix("alpha=beta=")))
    found = infer(sequence(source["published"], moves, RULES[rule], alpha=alpha))
    assert found.way == "exact" and found.error is None
    entry = source["posteriors"][case]
    assert found.originals == entry["n_originals"]
    for name in ("(0, 1)", "(0, 3)", "(2, 3)", "(3, 3)"):
        expect_reference(found, tuple(map(int, name.strip("()").split(","))), entry[name])


def test_the_coins_of_the_slides_give_65_tables() -> None:
    cycles = np.array(move_cells(REFERENCE["two_way_4x4"]["cycles"]))
    coins = np.array(list(itertools.product((-1, 0, 1), repeat=len(cycles))))
    assert len(coins) == 81 and len(np.unique(coins @ cycles, axis=0)) == 65


@pytest.mark.parametrize("rule", ["any", "neg"])
@pytest.mark.parametrize("order", ["M1,M2,M3,M4", "M1,M4,M3,M2"])
@pytest.mark.parametrize("chance", ["1/4", "1/3"])
def test_duncan_roehrig_three_way(rule: str, order: str, chance: str) -> None:
    source = REFERENCE["three_way_4x4x3"]
    cycles = [source["cycles_M1_to_M4"][int(name[1]) - 1] for name in order.split(",")]
    moves = MoveSet.from_arrays(Domain.of_shape((4, 4, 3)), cycles)
    likelihood = sequence(source["published"], moves, RULES[rule], alpha=float(Fraction(chance)))
    found = infer(likelihood)
    entry = source["posteriors"][f"{rule}|{order}|alpha=beta={chance}"]
    assert found.originals == entry["n_originals"]
    expect_reference(found, (0, 0, 0), entry["(0,0,0)"])


def legacy_posterior(
    published: Any, cycles: list[Any], alpha: Fraction
) -> tuple[list[dict[int, Fraction]], int]:
    """The arithmetic behind the slides' printed numbers, which belongs to no mechanism."""
    paths: list[tuple[tuple[int, ...], Fraction]] = [
        (tuple(np.asarray(published).reshape(-1).tolist()), Fraction(1))
    ]
    for move in move_cells(cycles)[::-1]:
        earlier = []
        for table, mass in paths:
            zero = any(x == 0 for x, m in zip(table, move, strict=True) if m)
            earlier.append((table, mass * (1 if zero else 1 - 2 * alpha)))
            for coin in (1, -1):
                before = tuple(x - coin * m for x, m in zip(table, move, strict=True))
                if min(before) >= 0:
                    earlier.append((before, mass * alpha))
        paths = earlier
    merged: dict[tuple[int, ...], Fraction] = {}
    for table, mass in paths:
        merged[table] = merged.get(table, Fraction(0)) + mass
    return marginals(merged), len(paths)


def test_the_slides_printed_numbers_are_another_arithmetic() -> None:
    two, three = REFERENCE["two_way_4x4"], REFERENCE["three_way_4x4x3"]
    found, _ = legacy_posterior(two["published"], two["cycles"], Fraction(1, 4))
    for name, printed in two["printed"].items():
        i, j = map(int, name.strip("()").split(","))
        got = [round(float(found[4 * i + j].get(v, 0)), 2) for v in range(len(printed))]
        assert got == printed
    cycles = [three["cycles_M1_to_M4"][k] for k in (0, 3, 2, 1)]
    found, paths = legacy_posterior(three["published"], cycles, Fraction(1, 4))
    assert paths == three["printed"]["possible_originals"]
    assert [float(found[0][v]) for v in range(4)] == three["printed"]["(0,0,0)"]


def test_mode_counterexamples() -> None:
    for example in REFERENCE["mode_theorem"]["counterexamples"]:
        published = np.array(example["published"])
        moves = design(Domain.of_shape(published.shape), "bidiagonal")
        alpha = float(Fraction(example["alpha=beta"]))
        found = infer(
            sequence(published, moves, RULES[example["rule"]], alpha=alpha, passes=example["rounds"])
        )
        assert not found.mode_is_published
        wrong = {tuple(map(int, c.strip("()").split(","))) for c in example["violating_cells"]}
        assert {tuple(c) for c in np.argwhere(~found.mode_matches).tolist()} == wrong
        for name, entry in example["violating_cells"].items():
            expect_reference(found, tuple(map(int, name.strip("()").split(","))), entry)


def test_mode_violation_rate() -> None:
    """Of all 2 x 3 tables with counts 0..3, any_zero at 1/4: 112 of 4096."""
    # All of them side by side in one table, each with the cycles of its own.
    tables = np.array(list(np.ndindex(4, 4, 4, 4, 4, 4))).reshape(-1, 2, 3)
    one, times = design(Domain.of_shape((2, 3)), "bidiagonal"), len(tables)
    cells = (np.arange(times)[:, None] * 6 + one.cells).reshape(-1)
    starts = np.append((np.arange(times)[:, None] * len(one.cells) + one.starts[:-1]), len(cells))
    signs = np.tile(one.signs, times)
    moves = MoveSet(Domain.of_shape(tables.shape), starts, cells, signs, ())
    found = infer(sequence(tables, moves, "any_zero"))
    assert found.way == "exact"
    wrong = int((~found.mode_matches.reshape(-1, 6)).any(axis=1).sum())
    assert f"{wrong}/4096" == REFERENCE["mode_theorem"]["violation_rates"]["any 1/4, 2x3 cells 0..3"]


def test_components_of_one_structure_go_through_as_one() -> None:
    rng = np.random.default_rng(1)
    moves = design(Domain.of_shape((10, 12)), "strips-2")
    counts = rng.poisson(2.0, (10, 12))
    mean = rng.gamma(2.0, 1.0, counts.size)
    likelihood = sequence(counts, moves, "any_zero", alpha=0.3, beta=0.2)
    model = group_model(likelihood, Poisson(mean))
    exact = Elimination.of(model)
    assert exact is not None and [one.batch for one in exact.plans] == [5]
    whole = infer(likelihood, Poisson(mean))
    small = design(Domain.of_shape((2, 12)), "strips-2")
    for pair in range(5):
        rows = slice(2 * pair, 2 * pair + 2)
        part = sequence(counts[rows], small, "any_zero", alpha=0.3, beta=0.2)
        alone = infer(part, Poisson(mean.reshape(10, 12)[rows].reshape(-1)))
        assert np.abs(whole.mean[rows] - alone.mean).max() < 1e-12
        assert np.abs(whole.entropy[rows] - alone.entropy).max() < 1e-12


def test_thousands_of_steps_do_not_underflow() -> None:
    rng = np.random.default_rng(2)
    moves = bidiagonal(Domain.of_shape((3, 2000)))
    counts = rng.poisson(4.0, (3, 2000))
    prior = Poisson(np.full(counts.size, 400.0))
    found = infer(sequence(counts, moves, "negative"), prior)
    assert found.way == "exact"
    assert np.abs(found.chances.sum(axis=1) - 1).max() < 1e-9
    assert np.isfinite(found.mean).all() and (found.mean >= 0).all()


def test_joint_draws_have_the_joint_law() -> None:
    rng = np.random.default_rng(3)
    counts = np.array([[1, 2, 1], [2, 0, 2], [1, 1, 3]])
    moves = design(Domain.of_shape((3, 3)), "bidiagonal")
    likelihood = sequence(counts, moves, "any_zero", alpha=0.3, beta=0.3, passes=2)
    truth = posterior(
        tuple(counts.reshape(-1).tolist()),
        move_cells([moves.array(i) for i in range(3)]),
        alpha=0.3,
        beta=0.3,
        passes=2,
        rule="any_zero",
    )
    total = sum(truth.values())
    n = 20_000
    tables = infer(likelihood).sample(n, rng).reshape(n, -1)
    seen: dict[tuple[int, ...], int] = {}
    for row in map(tuple, tables.tolist()):
        seen[row] = seen.get(row, 0) + 1
    assert set(seen) <= set(truth)
    p = np.array([truth[t] / total for t in truth])
    observed = np.array([seen.get(t, 0) for t in truth])
    chi = ((observed - n * p) ** 2 / (n * p)).sum()
    assert chi < len(p) + 5 * np.sqrt(2 * len(p))


def test_infeasible_and_forged_are_said() -> None:
    moves = design(Domain.of_shape((2, 3)), "bidiagonal")
    with pytest.raises(InfeasibleError, match="prior"):
        infer(sequence(np.zeros((2, 3)), moves, "any_zero"), Positive())
    with pytest.raises(InputError, match="negative"):
        infer(sequence([[1, -1, 2], [1, 1, 1]], moves, "any_zero"))
    with pytest.raises(InfeasibleError):
        infer(sequence([[-9, 1, 1], [1, 1, 1]], moves, "none"))
    one = moves.take([0])
    untouched = int(np.flatnonzero(sum(one.touches) == 0)[0])
    with pytest.raises(InfeasibleError, match="no cycle touches"):
        infer(
            sequence(np.ones((2, 3)), one, "any_zero"),
            CellTable(np.array([untouched]), np.array([5]), np.array([1.0])),
        )


def test_cells_no_cycle_touches_are_known() -> None:
    moves = design(Domain.of_shape((3, 3)), "elementary").take([0])
    found = infer(sequence(np.full((3, 3), 4), moves, "any_zero"))
    assert found.distribution((2, 2))[0].tolist() == [4]
    assert found.probability(4)[2, 2] == 1.0 and found.entropy[2, 2] == 0.0
    assert found.entropy[0, 0] > 1.0


def test_cancelled() -> None:
    progress = Cancellable()
    progress.cancel()
    moves = bidiagonal(Domain.of_shape((4, 4)))
    with pytest.raises(Interrupted):
        infer(sequence(np.ones((4, 4)), moves, "any_zero"), progress=progress)
