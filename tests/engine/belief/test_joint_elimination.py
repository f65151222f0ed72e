"""Several releases by moves, read together: against listing, the reference and beyond toy size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import InputError
from tabprotect.engine.posterior.infer import infer_jointly
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.together import infer_together
from tabprotect.engine.posterior.together.differences import NoneFitError, differences
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, MoveSequence
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

REFERENCE = Path(__file__).parents[2] / "reference" / "readers.json"

METHOD = methods()["cyclic_perturbation"]

Law = dict[tuple[int, ...], float]


def backwards(of: MoveSequence) -> Law:
    """P(published | original) of every original, step by step from the definition."""
    level: Law = {tuple(of.published.counts.reshape(-1).tolist()): 1.0}
    steps = [of.moves.entries(k) for k in range(len(of.moves))] * of.passes
    coins = ((1, of.alpha), (-1, of.beta), (0, of.gamma))
    for cells, signs in reversed(steps):
        before: Law = {}
        for after in level:
            for back in (-1, 0, 1):
                counts = np.array(after)
                counts[cells] -= back * signs
                before[tuple(counts.tolist())] = 0.0
        for one in before:
            for sign, chance in coins:
                counts = np.array(one)
                moved = counts.copy()
                moved[cells] += sign * signs
                stuck = of.rule == "any_zero" and (counts[cells] == 0).any()
                below = of.rule == "negative" and (moved[cells] < 0).any()
                to = one if stuck or below else tuple(moved.tolist())
                before[one] += chance * level.get(to, 0.0)
        level = {one: p for one, p in before.items() if p and (of.rule == "none" or min(one) >= 0)}
    return {one: p for one, p in level.items() if min(one) >= 0}


def published(of: MoveSequence, generator: np.random.Generator) -> MoveSequence:
    """The same mechanism with what it makes of its table."""
    counts = of.published.counts.reshape(-1).copy()
    for _ in range(of.passes):
        for k in range(len(of.moves)):
            cells, signs = of.moves.entries(k)
            sign = int(generator.choice([1, -1, 0], p=[of.alpha, of.beta, of.gamma]))
            stuck = of.rule == "any_zero" and (counts[cells] == 0).any()
            if not stuck and (counts[cells] + sign * signs >= 0).all():
                counts[cells] += sign * signs
    table = Table.dense(of.domain, counts.reshape(of.domain.shape))
    return MoveSequence(table, of.moves, of.alpha, of.beta, of.passes, of.rule)


def known_sums(original: Ints, domain: Domain) -> tuple[CellFactors, list[tuple[Ints, int, Floats]]]:
    """Evidence on every cell and on the sum of half of them."""
    half = np.arange(domain.size // 2 + 1)
    sums = [*(np.array([cell]) for cell in range(domain.size)), half]
    said = []
    for cells in sums:
        total = int(original[cells].sum())
        low = max(total - 2, 0)
        said.append((cells, low, np.log(0.1 + np.abs(total - np.arange(low, total + 3)))))
    starts = np.cumsum([0, *(len(cells) for cells in sums)])
    kinds = [(low, low + len(log) - 1, log) for _, low, log in said]
    factors = CellFactors.of(domain, (), (starts, np.concatenate(sums)), np.arange(len(sums)), list(kinds))
    return factors, said


def assert_law(found: Posterior, expected: Law) -> None:
    total = sum(expected.values())
    for cell in range(found.domain.size):
        law: dict[int, float] = {}
        for one, weight in expected.items():
            law[one[cell]] = law.get(one[cell], 0.0) + weight / total
        values, chances = found.distribution(found.domain.unflat(cell))
        own = dict(zip(values.tolist(), chances.tolist(), strict=True))
        for value in law.keys() | own.keys():
            assert own.get(value, 0.0) == pytest.approx(law.get(value, 0.0), abs=1e-12)
    listed = found.list_originals()
    assert listed is not None and len(listed[1]) == len(expected) == found.originals
    for row, chance in zip(*listed, strict=True):
        assert chance == pytest.approx(expected[tuple(row.tolist())] / total, abs=1e-12)
    drawn = found.draw_originals(400, np.random.default_rng(1), SILENT)
    assert {tuple(row) for row in drawn.tolist()} <= expected.keys()
    mean = sum(np.array(one) * weight for one, weight in expected.items()) / total
    assert np.abs(drawn.mean(axis=0) - mean).max() < 0.35


CASES = [
    ((2, 3), "elementary", ["negative", "negative"], 1, False),
    ((2, 3), "elementary", ["any_zero", "negative"], 1, True),
    ((3, 3), "strips", ["negative", "any_zero", "negative"], 1, False),
    ((3, 3), "elementary", ["negative", "negative"], 1, True),
    ((2, 4), "strips", ["negative", "negative"], 2, True),
    ((3, 3), "strips", ["none", "negative"], 1, False),
    ((2, 2, 2), "strips", ["any_zero", "negative"], 2, False),
    ((3, 4), "strips", ["negative", "any_zero"], 1, True),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_all_originals_that_fit_all_releases(case: int) -> None:
    shape, kind, rules, passes, evidence = CASES[case]
    generator = np.random.default_rng(case)
    domain = Domain.of_shape(shape)
    original = Table.dense(domain, generator.poisson(1.5, shape))
    moves = design(domain, kind).take(np.arange(6)) if case == 3 else design(domain, kind)
    releases = []
    for number, rule in enumerate(rules):
        # Another list of the same cycles, and other chances.
        order = generator.permutation(len(moves)) if number == 1 and case % 2 else None
        own = moves if order is None else moves.take(order)
        each = passes if number == 0 else 1
        start = MoveSequence(original, own, 0.25, 0.25 - 0.1 * number, each, rule)  # type: ignore[arg-type]
        releases.append(published(start, generator))
    expected = backwards(releases[0])
    for one in releases[1:]:
        other = backwards(one)
        expected = {x: p * other[x] for x, p in expected.items() if x in other}
    given: list[MoveSequence | CellFactors] = list(releases)
    if evidence:
        factors, said = known_sums(original.counts.reshape(-1), domain)
        given.append(factors)
        for x in list(expected):
            log = 0.0
            for cells, low, logs in said:
                at = int(np.array(x)[cells].sum()) - low
                log += float(logs[at]) if 0 <= at < len(logs) else -np.inf
            expected[x] *= float(np.exp(log))
        expected = {x: p for x, p in expected.items() if p}
    found = infer_jointly(given)
    assert found is not None
    assert_law(found, expected)


@pytest.mark.parametrize("case", range(7))
def test_the_reference(case: int) -> None:
    """Fresh releases, equal and different ones, computed twice apart from the program."""
    one = json.loads(REFERENCE.read_text())["joint"][case]
    domain = Domain.of_shape(tuple(one["shape"]))
    moves, number = _cycles(domain, one["cycles"]), len(one["published"])
    passes = one["passes"] if isinstance(one["passes"], list) else [1] * number
    found = infer_jointly(
        [
            MoveSequence(
                Table.dense(domain, np.array(y).reshape(domain.shape)),
                moves,
                one["alpha"],
                one["alpha"],
                each,
                one["rule"],
            )
            for y, each in zip(one["published"], passes, strict=True)
        ]
    )
    assert found is not None and found.way == "exact"
    for cell, law in enumerate(one["posterior"]):
        values, chances = found.distribution(domain.unflat(cell))
        own = {str(v): p for v, p in zip(values.tolist(), chances.tolist(), strict=True) if p}
        assert own == pytest.approx(law, abs=1e-12)


def _cycles(domain: Domain, stated: object) -> MoveSet:
    """Listed cycles; or rings over rows and columns (a pair where there are 2), rows first."""
    if stated == "elementary":
        rows, columns = domain.shape
        rings = []
        for i in range(rows if rows > 2 else 1):
            for j in range(columns if columns > 2 else 1):
                ring = np.zeros(domain.shape, dtype=np.int64)
                below, right = (i + 1) % rows, (j + 1) % columns
                ring[i, j] = ring[below, right] = 1
                ring[i, right] = ring[below, j] = -1
                rings.append(ring.reshape(-1))
    else:
        rings = list(np.array(stated))
    cells = [np.flatnonzero(ring) for ring in rings]
    return MoveSet.of(
        domain,
        np.cumsum([0, *map(len, cells)]),
        np.concatenate(cells),
        np.concatenate([ring[at] for ring, at in zip(rings, cells, strict=True)]),
    )


def twice(counts: Ints, given: Mapping[str, object]) -> list[Release]:
    problem = Problem(Table.dense(Domain.of_shape(counts.shape), counts))
    return [METHOD.run(problem, given, Randomness.fresh()).release for _ in range(2)]


@pytest.mark.parametrize("size", [10, 12])
def test_the_default_twice_is_read(size: int) -> None:
    counts = np.random.default_rng(1).poisson(4, (size, size))
    one, other = twice(counts, {})
    alone = believe([one], knowing=RELEASE_ALONE).posterior
    both = believe([one, other], knowing=RELEASE_ALONE).posterior
    assert both.way == "exact" and both.complete
    small = (counts >= 1) & (counts <= 2)
    assert both.probability(counts)[small].mean() > alone.probability(counts)[small].mean() - 0.02
    assert both.probability(counts).min() > 0.0


def test_what_is_too_much_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(1).poisson(4, (4, 4))
    moves = design(Domain.of_shape((4, 4)), "elementary")
    both = [likelihood_of(one) for one in twice(counts, {"cycles": moves})]
    # Nine of sixteen cycles are independent: too many shifts, so all originals are listed.
    monkeypatch.setattr(infer_together, "listed_together", lambda *_: None)
    assert infer_jointly(both) is None


def test_releases_of_two_originals_fit_none() -> None:
    counts = np.random.default_rng(1).poisson(4, (4, 4))
    # Further apart than any coins can bring them.
    moved = counts + np.array([[90, -90, 0, 0], [-90, 90, 0, 0], [0] * 4, [0] * 4]) + 90
    one, other = (likelihood_of(twice(x, {})[0]) for x in (counts + 90, moved))
    with pytest.raises(InputError, match="no original fits"):
        infer_jointly([one, other])


def test_differences_in_whole_numbers() -> None:
    signs = np.array([[1, 0, 1], [-1, 1, 0], [0, -1, -1]])
    found = differences(signs, np.array([[3], [-1], [-2]]))
    assert found is not None and found.kernel.shape == (3, 1)
    assert (signs @ found.found == [[3], [-1], [-2]]).all() and not (signs @ found.kernel).any()
    chain = differences(np.array([[1, 0], [-1, 1], [0, -1]]), np.array([[2], [-3], [1]]))
    assert chain is not None and chain.found.tolist() == [[2], [-1]] and not chain.kernel.size
    with pytest.raises(NoneFitError):
        differences(signs, np.array([[3], [-1], [-1]]))
