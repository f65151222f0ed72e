"""What a page says of exchange steps, beside every original of every stratum weighed by the steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import ExchangeSteps
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.structural import StructuralZeros
from tabprotect.engine.tables.table import Table
from tests.engine.bundle.reader_page.test_page import Node, node
from tests.oracles.exchange_law import matrix

__all__ = ["node"]

SHAPE = (2, 3, 2)
COUNTS = np.array([[[1, 0], [2, 1], [0, 3]], [[2, 1], [0, 0], [1, 2]]])
NOBODY = StructuralZeros((("v0", ("c0",)), ("v1", ("c2",)), ("v2", ("c0",))))
PRIORS = {"uniform": lambda n: 1.0, "poisson:1.5": lambda n: 1.5**n / np.prod(np.arange(1, n + 1))}
OFF = 0.03
"""Of 4,000 draws, more than three standard errors."""


def released(theta: float) -> Release:
    domain = Domain.of({f"v{k}": [f"c{i}" for i in range(n)] for k, n in enumerate(SHAPE)})
    domain = domain.with_structural([NOBODY]) if theta else domain
    problem = Problem(Table.dense(domain, COUNTS))
    given = {"blocking": "exchange", "split": "v0 | v1", "rate": 0.5, "theta": theta}
    return methods()["cyclic_perturbation"].run(problem, given, Randomness.seeded(5)).release


def truths(release: Release, prior: str) -> Iterator[tuple[list[int], dict[int, float]]]:
    """The law of each cell."""
    likelihood = likelihood_of(release)
    assert isinstance(likelihood, ExchangeSteps)
    plan, published = likelihood.plan, release.table.counts.reshape(-1)
    size = plan.shape[1] * plan.shape[2]
    for w, steps in enumerate(plan.steps(published).tolist()):
        cells = plan.cell[w * size : (w + 1) * size]
        closed = [] if plan.nobody is None else np.flatnonzero(plan.nobody[cells]).tolist()
        counts = published[cells].reshape(plan.shape[1:])
        tables, step, _ = matrix(counts, plan.theta, closed)
        forward = np.linalg.matrix_power(step, steps)[:, tables.index(tuple(counts.reshape(-1).tolist()))]
        weights = forward * [np.prod([PRIORS[prior](n) for n in one]) for one in tables]
        for k, cell in enumerate(cells.tolist()):
            law: dict[int, float] = {}
            for one, weight in zip(tables, weights / weights.sum(), strict=True):
                law[one[k]] = law.get(one[k], 0.0) + float(weight)
            yield list(map(int, release.domain.unflat(cell))), law


def worst(node: Node, release: Release, text: str) -> float:
    exact, laws = node.laws(release, text, list(PRIORS))
    assert exact
    out = 0.0
    for prior in PRIORS:
        for index, truth in truths(release, prior):
            found = laws[prior][release.domain.flat(tuple(index))]
            assert all(found.get(str(n), 0.0) == 0.0 for n in range(12) if n not in truth)
            out = max(out, *(abs(found.get(str(n), 0.0) - p) for n, p in truth.items()))
    return out


def apart(node: Node, release: Release, text: str) -> bool:
    """Whether a page says something else."""
    try:
        return worst(node, release, text) > OFF
    except (AssertionError, TypeError):
        return True


@pytest.mark.parametrize("theta", [0.0, 1.0])
def test_a_page_runs_the_steps_again(node: Node, theta: float) -> None:
    release = released(theta)
    text = public.page_of(release).decode()
    assert '"way":"exchange"' in text and bool(release.table.domain.structural) == bool(theta)
    assert worst(node, release, text) < OFF
    cells = [0, 3]
    (sum_,) = node.numbers(release, [["sum", cells, []]], text)
    beliefs = [
        sum(n * p for n, p in law.items())
        for index, law in truths(release, "uniform")
        if release.domain.flat(tuple(index)) in cells
    ]
    assert abs(sum_["estimate"] - sum(beliefs)) < 0.1


def test_a_fault_in_the_steps_is_found(node: Node) -> None:
    release = released(1.0)
    text = public.page_of(release).decode()
    for right, wrong in (
        ("(m / then) ** 2 * odds", "odds"),
        (r"odds ** this.model.theta", "1"),
        ("theta * logFactorial(n)", "0"),
        ("shut[r] || shut[s]", "false"),
        ("put(k,-by)", ""),
    ):
        pattern = re.escape(right).replace(r"\ ", r"\s*")
        broken, number = re.subn(pattern, wrong, text)
        assert number == 1, right
        assert apart(node, release, broken), right
