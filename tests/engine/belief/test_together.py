"""Several releases of one original, read together: against brute force over all originals."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import READER
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.approach import Way
from tabprotect.engine.posterior.infer import infer, log_weights
from tabprotect.engine.posterior.margins import standard_errors
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Poisson, Prior, Uniform
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import Likelihood, MoveSequence, independent
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DR = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
SMALL = np.array([[1, 2, 0], [2, 1, 3]])

CYCLIC = {"cycles": "strips", "alpha": 0.25, "beta": 0.25}


def released(counts: Ints, method: str, given: Mapping[str, object], seed: int) -> Likelihood:
    table = Table.dense(Domain.of_shape(counts.shape), counts)
    values = dict(given)
    if "cycles" in values:
        values["cycles"] = design(table.domain, str(values["cycles"]))
    done = methods()[method].run(Problem(table), values, Randomness.seeded(seed))
    return likelihood_of(done.release)


def together(
    likelihoods: Sequence[Likelihood],
    prior: Prior | None = None,
    *,
    way: Way = "auto",
    randomness: Randomness | None = None,
    draws: int | None = None,
) -> Posterior:
    """Of likelihoods whose releases are different draws."""
    evidence = [
        Evidence(
            Release.of(
                Table.dense(one.domain, np.zeros(one.domain.shape, dtype=np.int64)),
                Mechanism("any", one.domain, {"number": number}),
            ),
            one,
        )
        for number, one in enumerate(likelihoods)
    ]
    effort = replace(READER, way=way, draws=draws)
    found = believe(evidence, prior, knowing=RELEASE_ALONE, effort=effort, randomness=randomness)
    assert (found.releases, found.repeated) == (len(likelihoods), 0)
    return found.posterior


def step_laws(likelihood: MoveSequence, start: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The law of what is published of an original, by walking forward."""
    law = {start: 1.0}
    size = likelihood.domain.size
    for _ in range(likelihood.passes):
        for k in range(len(likelihood.moves)):
            cells, signs = likelihood.moves.entries(k)
            move = np.zeros(size, dtype=np.int64)
            move[cells] = signs
            after: dict[tuple[int, ...], float] = {}
            for table, chance in law.items():
                now = np.array(table)
                blocked = likelihood.rule == "any_zero" and (now[cells] == 0).any()
                for sign, share in ((1, likelihood.alpha), (-1, likelihood.beta), (0, None)):
                    to = now + sign * move
                    p = likelihood.gamma if share is None else share
                    if blocked or (likelihood.rule == "negative" and (to < 0).any()):
                        to = now
                    key = tuple(to.tolist())
                    after[key] = after.get(key, 0.0) + chance * p
            law = after
    return law


def brute_force(likelihoods: list[MoveSequence], highest: int) -> list[dict[int, float]]:
    """The joint posterior of every cell by trying all originals with counts up to a bound."""
    size = likelihoods[0].domain.size
    published = [tuple(like.published.counts.reshape(-1).tolist()) for like in likelihoods]
    cells: list[dict[int, float]] = [{} for _ in range(size)]
    total = 0.0
    for original in itertools.product(range(highest + 1), repeat=size):
        if sum(original) != sum(published[0]):
            continue
        weight = 1.0
        for likelihood, y in zip(likelihoods, published, strict=True):
            weight *= step_laws(likelihood, original).get(y, 0.0) if weight else 0.0
        total += weight
        for cell, count in enumerate(original):
            if weight:
                cells[cell][count] = cells[cell].get(count, 0.0) + weight
    return [{v: w / total for v, w in cell.items()} for cell in cells]


def assert_equal(found: Posterior, expected: list[dict[int, float]], tolerance: float) -> None:
    for flat, cell in enumerate(expected):
        values, chances = found.distribution(found.domain.unflat(flat))
        got = dict(zip(values.tolist(), chances.tolist(), strict=True))
        assert set(got) == set(cell) or tolerance > 1e-9
        for value in set(got) | set(cell):
            assert got.get(value, 0.0) == pytest.approx(cell.get(value, 0.0), abs=tolerance)


@pytest.mark.parametrize("rule", ["any_zero", "negative"])
def test_two_cyclic_releases_against_brute_force(rule: str) -> None:
    both = [
        released(SMALL[:, :2], "cyclic_perturbation", {**CYCLIC, "blocking": rule, "passes": 2}, s)
        for s in (1, 4)
    ]
    assert all(isinstance(one, MoveSequence) for one in both)
    expected = brute_force(both, 6)  # type: ignore[arg-type]
    found = together(both)
    assert found.way == "exact" and found.complete
    assert_equal(found, expected, 1e-12)
    assert_equal(together(both[::-1]), expected, 1e-12)
    drawn = together(both, way="monte_carlo", randomness=Randomness.seeded(5))
    assert drawn.way == "monte_carlo" and drawn.effective_sample_size is not None
    assert_equal(drawn, expected, 5 * float(drawn.error or 0))


def test_two_releases_of_different_methods_multiply() -> None:
    cyclic = released(SMALL, "cyclic_perturbation", CYCLIC, 3)
    rounded = released(SMALL, "random_rounding", {"base": 3}, 3)
    found = together([rounded, cyclic])
    listed = infer(cyclic).list_originals()
    assert listed is not None
    tables, weights = listed
    law = _rounding_law(rounded, tables)
    joint = weights * law
    joint /= joint.sum()
    expected: list[dict[int, float]] = []
    for cell in range(tables.shape[1]):
        values = np.unique(tables[joint > 0, cell])
        expected.append({int(v): float(joint[tables[:, cell] == v].sum()) for v in values})
    assert_equal(found, expected, 1e-12)
    # The published counts are those of the release that was named first.
    assert (found.published.counts % 3 == 0).all()


def _rounding_law(rounded: Likelihood, tables: Ints) -> Floats:
    """Up or down to a multiple of 3 with chances that leave the count as expected."""
    published = rounded.tables[0].table.counts.reshape(-1)  # type: ignore[union-attr]
    rest = tables % 3
    chance = np.where(rest == 0, published == tables, 0.0)
    chance = np.where((rest > 0) & (published == tables - rest), 1 - rest / 3, chance)
    chance = np.where((rest > 0) & (published == tables - rest + 3), rest / 3, chance)
    return np.asarray(chance.prod(axis=1))


def test_a_prior_counts_once() -> None:
    both = [released(SMALL[:, :2], "cyclic_perturbation", CYCLIC, s) for s in (1, 4)]
    prior = Poisson(np.array([1.0, 2.0, 2.0, 0.5]))
    flat, found = (together(both).list_originals(), together(both, prior).list_originals())
    assert flat is not None and found is not None
    log = prior.log_weight(np.arange(4), flat[0]).sum(axis=1)
    weights = flat[1] * np.exp(log)
    assert {row.tobytes(): w for row, w in zip(*found, strict=True)} == pytest.approx(
        {row.tobytes(): w / weights.sum() for row, w in zip(flat[0], weights, strict=True)}
    )


def test_fresh_coins_raise_belief_on_the_example_of_the_slides() -> None:
    """Mean belief in the true at-risk counts over the exact law of one and of two releases."""
    domain = Domain.of_shape((4, 4))
    start = MoveSequence(Table.dense(domain, DR), design(domain, "bidiagonal"), 0.25, 0.25, 1, "any_zero")
    law = step_laws(start, tuple(DR.reshape(-1).tolist()))
    assert len(law) == 40
    chances = list(law.values())
    releases = [replace(start, published=Table.dense(domain, np.array(y).reshape(4, 4))) for y in law]
    at_risk = (DR >= 1) & (DR <= 2)

    def belief(*given: MoveSequence) -> float:
        found = together(given)
        assert found.way == "exact"
        return float(found.probability(DR)[at_risk].mean())

    one = sum(p * belief(y) for p, y in zip(chances, releases, strict=True))
    assert one == pytest.approx(0.363161, abs=1e-6)
    two = 0.0
    for (p, y), (q, z) in itertools.combinations_with_replacement(
        list(zip(chances, releases, strict=True)), 2
    ):
        two += (1 if y is z else 2) * p * q * belief(y, z)
    # Both by enumeration of all coins, apart from the program.
    assert two == pytest.approx(0.567763, abs=1e-6)


def test_components_are_weighed_one_by_one() -> None:
    likelihood = released(SMALL, "cyclic_perturbation", CYCLIC, 2)
    assert isinstance(likelihood, MoveSequence)
    listed = infer(likelihood, Uniform()).list_originals()
    assert listed is not None
    log = log_weights(likelihood, listed[0], SILENT)
    assert log is not None
    weights = np.exp(log - log.max())
    assert weights / weights.sum() == pytest.approx(listed[1])
    strange = listed[0] + np.array([1, 0, 0, 0, 0, 0])
    found = log_weights(likelihood, strange, SILENT)
    assert found is not None and (found == -np.inf).all()


def test_what_cannot_be_of_one_original() -> None:
    one = released(SMALL, "cyclic_perturbation", CYCLIC, 2)
    other = released(SMALL + 3, "cyclic_perturbation", CYCLIC, 2)
    with pytest.raises(InputError, match="no original fits"):
        together([one, other])
    with pytest.raises(InputError, match="other variables"):
        together([one, released(SMALL.T, "cyclic_perturbation", CYCLIC, 2)])


def noisy(published: Ints, reach: int) -> Likelihood:
    """Every count moved by up to ``reach``, all changes alike."""
    table = Table.dense(Domain.of_shape(published.shape), published)
    return independent(
        PublishedTable(table), lambda y: (max(y - reach, 0), y + reach, np.zeros(reach + min(y, reach) + 1))
    )


def test_factors_multiply_at_any_size() -> None:
    counts = np.full((30, 40), 31)
    both = [noisy(counts, 4), noisy(counts + 5, 4)]
    found = together(both)
    assert found.way == "exact" and found.published.total == counts.sum()
    # 27..35 and 32..40 meet in 32..35.
    values, chances = found.distribution((29, 39))
    assert values.tolist() == [32, 33, 34, 35] and chances == pytest.approx([0.25] * 4)
    three = together([*both, noisy(counts + 8, 4)])
    assert three.originals == 1


def test_too_little_is_refused() -> None:
    counts = np.full((4, 4), 31)
    moved = released(counts, "cyclic_perturbation", {**CYCLIC, "blocking": "negative"}, 1)
    assert infer(moved).list_originals() is not None
    assert together([moved, noisy(counts, 4)]).way == "exact"
    # Drawn ones are not enough where the other release knows each count but for a little.
    with pytest.raises(InfeasibleError, match=r"independent|no drawn"):
        together([noisy(counts, 4), moved], way="monte_carlo", randomness=Randomness.seeded(1), draws=99)


def test_a_single_release_is_read_as_ever() -> None:
    one = released(SMALL, "cyclic_perturbation", CYCLIC, 2)
    assert (together([one]).chances == infer(one).chances).all()


def test_weights_that_add_up_to_a_little_over_one_leave_a_number() -> None:
    assert standard_errors(np.array([1.0, np.nextafter(1.0, 2.0), 0.5]), 100.0).tolist() == [0.0, 0.0, 0.05]
