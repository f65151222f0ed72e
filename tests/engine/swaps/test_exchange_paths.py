"""Several releases by exchange steps read together, against every original weighed by all of them."""

from __future__ import annotations

import numpy as np
import pytest
from exchange_law import matrix

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import READER
from tabprotect.engine.belief.weighing import Weighing
from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InputError, TooLargeError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer, multiplied
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Factorial, Poisson, Prior, Uniform
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, ExchangeSteps, each_cell
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.swaps import exchange_paths, path_moves
from tabprotect.engine.swaps.exchange_plan import ExchangePlan
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

DIAGONAL = ((1, 0, 1), (1, 1, 0), (0, 1, 1))
CASES = [
    (((2, 1), (1, 2)), (0.0, 0.0), (3, 2), Uniform()),
    (((2, 0, 1), (1, 2, 0)), (0.0, 0.5), (3, 4), Poisson(np.full(6, 0.7))),
    (((2, 0, 1), (1, 2, 0), (0, 1, 1)), (0.0, 1.0), (2, 4), Factorial(1.0)),
    (((2, 0, 1), (1, 2, 0), (0, 1, 1)), (0.0, 0.0, 0.0), (3, 3, 2), Uniform()),
    (DIAGONAL, (0.0, 0.0), (6, 6), Uniform()),
    (((3, 2), (2, 3)), (0.0, 0.0), (5, 5), Uniform()),
    (((1, 1, 1, 0, 1), (1, 0, 1, 1, 1)), (0.0, 0.0), (4, 4), Uniform()),
]


def released(
    counts: np.ndarray, thetas: tuple[float, ...], steps: tuple[int, ...], nobody: tuple[int, ...] = ()
) -> list[ExchangeSteps]:
    domain, generator = Domain.of_shape(counts.shape), np.random.default_rng(3)
    out = []
    for theta, number in zip(thetas, steps, strict=True):
        closed = np.isin(np.arange(counts.size), nobody) if nobody else None
        shape = (1, *counts.shape)
        plan = ExchangePlan(np.arange(counts.size), shape, number / counts.sum(), theta, closed)
        published = plan.tables(counts.reshape(-1), 1, generator)[0].reshape(counts.shape)
        kept = Publication(domain, ((domain.names[0],), (domain.names[1],)))
        out.append(ExchangeSteps(Table.dense(domain, published), plan, kept))
    return out


def exactly(
    counts: np.ndarray, releases: list[ExchangeSteps], prior: Prior, nobody: tuple[int, ...] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Every original with its chance, by whole matrices."""
    tables = np.array(matrix(counts, 0.0, nobody)[0])
    chance = np.exp(prior.log_weight(np.arange(counts.size), tables).sum(axis=1))
    for one in releases:
        _, step, _ = matrix(counts, one.plan.theta, nobody)
        at = (tables == one.published.counts.reshape(-1)).all(axis=1).argmax()
        steps = int(one.plan.steps(counts.reshape(-1)).sum())
        chance = chance * np.linalg.matrix_power(step, steps)[:, at]
    return tables, chance / chance.sum()


@pytest.mark.parametrize("listed", [0, 16])
@pytest.mark.parametrize(("counts", "thetas", "steps", "prior"), CASES)
def test_originals_have_their_chances(
    counts: tuple[tuple[int, ...], ...],
    thetas: tuple[float, ...],
    steps: tuple[int, ...],
    prior: Prior,
    listed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange_paths, "LISTED_CELLS", listed)
    table = np.array(counts)
    releases = released(table, thetas, steps)
    tables, chances = exactly(table, releases, prior)
    (together,) = multiplied(releases)
    for name in ("MOST_KEPT", "MOST_SWEEPS"):
        monkeypatch.setattr(exchange_paths, name, 40_000)
    found = infer(together, prior, Approach(draws=160_000), Randomness.seeded(5))
    assert found.r_hat is not None and found.r_hat < 1.01
    assert found.error is not None and found.error < 0.012
    assert farthest(found, tables, chances) < 0.03


def farthest(found: Posterior, tables: np.ndarray, chances: np.ndarray) -> float:
    """By how much chances of counts differ, at most."""
    counts = range(int(tables.max()) + 1)
    wanted = [chances @ (tables == count) for count in counts]
    each = [found.probability(np.full(found.domain.shape, count)).reshape(-1) for count in counts]
    return float(np.abs(np.array(each) - wanted).max())


def test_structural_zeros_are_listed_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, nobody = np.array([[2, 0, 1], [1, 2, 0], [0, 1, 1]]), (1, 6)
    releases = released(counts, (0.0, 1.0), (4, 3), nobody)
    (together,) = multiplied(releases)
    found = infer(together, randomness=Randomness.seeded(5))
    assert farthest(found, *exactly(counts, releases, Uniform(), nobody)) < 0.04
    monkeypatch.setattr(exchange_paths, "LISTED_CELLS", 0)
    with pytest.raises(TooLargeError, match="structural zeros"):
        infer(together)


def test_another_split_or_sums_of_another_table_are_not_read_as_one() -> None:
    counts = np.array(DIAGONAL)
    one, other = released(counts, (0.0, 0.0), (3, 3))
    turned = ExchangePlan(np.arange(9).reshape(3, 3).T.reshape(-1).copy(), (1, 3, 3), 0.5)
    assert len(multiplied([one, ExchangeSteps(other.published, turned, other.kept)])) == 2
    (strange,) = released(counts + 1, (0.0,), (3,))
    with pytest.raises(InputError, match="no original fits"):
        infer(multiplied([one, strange])[0])


def test_too_many_steps_are_refused_before_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    (together,) = multiplied(released(np.array(DIAGONAL), (0.0, 0.0), (6, 6)))
    monkeypatch.setattr(exchange_paths, "MOST_WORK", 100)
    with pytest.raises(TooLargeError):
        infer(together)


def test_the_gate_and_readers_read_two_releases_together() -> None:
    method, counts = methods()["cyclic_perturbation"], np.array([[1, 4, 2], [3, 1, 5]])
    problem = Problem(Table.dense(Domain.of_shape(counts.shape), counts), SmallCount())
    asked = {"blocking": "exchange"}
    first = gate.protect(method, problem, asked, Randomness.seeded(1), accept="so", kept_small="keep")
    second = gate.protect(method, problem, asked, Randomness.seeded(2), accept="so", kept_small="keep")
    judged = verdict(second.release, earlier=[first.release])
    assert judged.way == "simulation" and "simulation" not in judged.left_out
    found = believe([first.release, second.release], randomness=Randomness.seeded(4)).posterior
    alone = believe([first.release], randomness=Randomness.seeded(4)).posterior
    assert found.r_hat is not None and not np.allclose(found.mean, alone.mean, atol=0.01)


def test_exchange_beside_counts_that_are_told_otherwise() -> None:
    counts = np.array([[2, 0, 1], [1, 2, 0]])
    (exchanged,) = released(counts, (0.0,), (4,))
    domain = exchanged.domain
    even = CellFactors.of(
        domain,
        (),
        each_cell(domain),
        np.arange(6),
        [(max(n - 1, 0), n + 1, None) for n in counts.reshape(-1)],
    )
    tables, chances = exactly(counts, [exchanged], Uniform())
    chances = chances * (np.abs(tables - counts.reshape(-1)) <= 1).all(axis=1)
    chances /= chances.sum()
    found = Weighing(Uniform(), READER, Randomness.seeded(1), SILENT).together([even, exchanged])
    assert farthest(found, tables, chances) < 0.03


@pytest.mark.parametrize(
    ("counts", "steps", "mix"),
    [(((1, 1), (1, 1)), 4, (8, 8, 8, 12)), (((1, 1, 1), (1, 1, 1)), 3, (4, 10, 10, 12))],
)
def test_so_many_steps_are_taken_as_by_whole_matrices(
    counts: tuple[tuple[int, ...], ...], steps: int, mix: tuple[int, ...]
) -> None:
    table, sweeps = np.array(counts), 40_000
    tables, step, _ = matrix(table, 0.0)
    stay = np.diag(np.diag(step))
    ways = [np.eye(len(tables))]
    for _ in range(steps):
        more = [np.zeros_like(step), *ways]
        ways = [(ways[k] @ stay if k < len(ways) else 0) + more[k] @ (step - stay) for k in range(len(more))]
    at = tables.index(tuple(table.reshape(-1).tolist()))
    to = sum(one[:, at] for one in ways)
    wanted = np.array([one[:, at] @ to for one in ways])
    state, taken = np.array([5]), np.zeros(2 * steps, dtype=np.bool_)
    pairs = [np.full(2 * steps, -1) for _ in range(2)]
    counted, original = np.zeros(steps + 1), table.reshape(-1).copy()
    for _ in range(sweeps):
        path_moves.chained(
            *((2, *table.shape, 1, 1), 0.0, np.zeros(table.size, dtype=np.bool_)),
            *(np.arange(0, 3 * steps, steps), np.zeros(2), original, *pairs, taken, state),
            *(np.empty(table.size, dtype=np.int32), np.array(mix)),
        )
        counted[taken[:steps].sum()] += 1
    assert np.abs(counted / sweeps - wanted / wanted.sum()).max() < 0.03
