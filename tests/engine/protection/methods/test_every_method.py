"""What holds for every registered method, whatever it does: a new file runs through all of it."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors import reweighing
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.project.saving.codec import Decoder, Encoder
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.method_checks import METHOD_CHECKS, problem_of, run

NAMES = sorted(methods())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", METHOD_CHECKS, ids=lambda check: check.__name__)
def test_common_check(check: Callable[[Method], None], name: str) -> None:
    check(methods()[name])


@pytest.mark.parametrize("name", NAMES)
def test_huge_counts_end_in_a_posterior_or_a_reason(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reweighing, "REWEIGHING_WORK", 1e6)
    counts = [[2**32, 5], [2, 2**32 + 7]]
    method, table = methods()[name], Table.dense(Domain.of_shape((2, 2)), counts)
    given = method.trial_parameters(table.domain)
    try:
        protected = method.run(Problem(table), given, Randomness.seeded(1))
        found = infer(
            likelihood_of(protected.release), approach=Approach(draws=30), randomness=Randomness.seeded(1)
        )
    except TabprotectError:
        return
    for cell, count in np.ndenumerate(table.counts):
        values, chances = found.distribution(cell)
        assert values[0] <= count <= values[-1] or found.way == "monte_carlo"
        assert chances.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_project_file_gives_it_again(name: str) -> None:
    protected = run(methods()[name], problem_of((4, 4), 8128), 7)
    encoder = Encoder()
    number = encoder.put(protected)
    again = Decoder(json.loads(json.dumps(encoder.shared)), encoder.arrays).get(number)
    assert isinstance(again, Protected)
    assert again.release.tables == protected.release.tables
    assert again.record.sentence == protected.record.sentence
    assert [a.tolist() for a in again.record.statuses] == [a.tolist() for a in protected.record.statuses]
