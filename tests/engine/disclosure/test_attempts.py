"""Three attempts: beliefs are calibrated over everything that could have been published."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.belief import evidence
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import Evidence, PriorKnowledge
from tabprotect.engine.disclosure.attempts import weigh_attempts
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.release.mechanism import UNSTATED, Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from cycle_law import law

KNOWING = PriorKnowledge(weigh=weigh_attempts)

DOMAIN = Domain.of_shape((2, 3))
CYCLES = methods()["cyclic_perturbation"]
GIVEN = {"cycles": "strips-2", "blocking": "any_zero"}


def let_out(counts: np.ndarray, attempts: int) -> Release:
    """A release of these published counts that states the gate."""
    values = CYCLES.resolve(DOMAIN, GIVEN)
    plain, _ = CYCLES.perform(
        Problem(Table.dense(DOMAIN, np.ones((2, 3), dtype=np.int64))), values, np.random.default_rng(0)
    )
    limits = AgencyPolicy(attempts_at_most=attempts).limits()
    mechanism = plain.mechanism
    stated = Mechanism(mechanism.method, mechanism.domain, mechanism.parameters, limits)
    return Release((PublishedTable(Table.dense(DOMAIN, counts.reshape(2, 3))),), stated)


def fibre(rows: tuple[int, int], columns: tuple[int, int, int]) -> list[tuple[int, ...]]:
    return [
        (a, b, rows[0] - a - b, columns[0] - a, columns[1] - b, columns[2] - rows[0] + a + b)
        for a in range(columns[0] + 1)
        for b in range(columns[1] + 1)
        if 0 <= rows[0] - a - b <= columns[2]
    ]


@pytest.mark.parametrize("attempts", [1, 3])
def test_beliefs_are_those_of_who_knows_the_attempts(attempts: int) -> None:
    """By brute force over a fibre: every original, every draw, every verdict."""
    originals = fibre((4, 3), (3, 2, 2))
    moves = likelihood_of(let_out(np.ones(6, dtype=np.int64), 1)).moves
    entries = [moves.entries(k) for k in range(len(moves))]
    cycles = [dict(zip(at.tolist(), by.tolist(), strict=True)) for at, by in entries]
    laws = {x: law(x, cycles, "any_zero") for x in originals}
    passes = {
        y: verdict(let_out(np.array(y), attempts)).accepted for y in {y for one in laws.values() for y in one}
    }
    assert 0 < sum(passes.values()) < len(passes)
    q = {x: sum(p for y, p in one.items() if not passes[y]) for x, one in laws.items()}
    w = {x: sum(q[x] ** k for k in range(attempts)) for x in originals}
    moved = 0.0
    for y in [y for y, fine in passes.items() if fine]:
        release = let_out(np.array(y), attempts)
        read = believe([release], knowing=KNOWING)
        assert read.weighed and not read.sentence and read.posterior.complete
        weights = {x: one[y] * w[x] for x, one in laws.items() if y in one}
        total = sum(weights.values())
        plain = infer(likelihood_of(release))
        unasked = believe([release])
        assert unasked.weighed == (attempts == 1)
        assert (unasked.posterior.mean == plain.mean).all()
        for cell in range(6):
            law_of = {}
            for x, weight in weights.items():
                law_of[x[cell]] = law_of.get(x[cell], 0.0) + weight / total
            index = DOMAIN.unflat(cell)
            values, chances = read.posterior.distribution(index)
            found = dict(zip(values.tolist(), chances.tolist(), strict=True))
            for value in set(found) | set(law_of):
                assert found.get(value, 0.0) == pytest.approx(law_of.get(value, 0.0), abs=1e-12)
            before = dict(zip(*(a.tolist() for a in plain.distribution(index)), strict=True))
            moved = max([moved, *(abs(before.get(v, 0.0) - p) for v, p in found.items())])
    # One attempt is the plain posterior; three change a little.
    assert moved < 1e-12 if attempts == 1 else 1e-4 < moved < 0.25


def test_beyond_the_work_the_factor_is_said() -> None:
    done = let_out(np.ones(6, dtype=np.int64), 3)
    method = methods()["random_rounding"]
    problem = Problem(Table.dense(DOMAIN, [[4, 5, 6], [7, 8, 9]]))
    release, _ = method.perform(problem, method.resolve(DOMAIN, {}), np.random.default_rng(0))
    stated = Mechanism(release.mechanism.method, DOMAIN, release.mechanism.parameters, done.mechanism.gate)
    read = believe([Release(release.tables, stated)], knowing=KNOWING)
    assert not read.weighed and "3 to 1" in read.sentence
    assert read.posterior.complete


def test_a_bundle_without_a_gate_is_read_as_incomplete() -> None:
    """It does not tell which originals were refused, nor whether any was."""
    judged = let_out(np.ones(6, dtype=np.int64), 1)
    stated = judged.mechanism
    silent = Release(judged.tables, Mechanism(stated.method, DOMAIN, stated.parameters))
    assert stated.gate is not None and silent.mechanism.gate is None
    read = believe([silent])
    assert not read.posterior.complete and read.posterior.note == UNSTATED
    own = believe([silent], knowing=PriorKnowledge(bundled=False))
    assert own.posterior.complete and (own.posterior.mean == read.posterior.mean).all()


def test_a_likelihood_that_is_known_is_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    release = let_out(np.ones(6, dtype=np.int64), 1)
    known = likelihood_of(release)
    monkeypatch.setattr(evidence, "likelihood_of", None)
    assert believe([Evidence(release, known), release]).repeated == 1
