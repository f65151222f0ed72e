"""Tuned parameters: from kept margins alone, accepted, and of less loss than the defaults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabprotect import protect, read_table
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.disclosure import tuning
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.disclosure.tuning import ACCEPTED, LOSSES, tuned
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.tuned import USES, Tuned, Use
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

METHOD = methods()["cyclic_perturbation"]
LIMITS = HousePolicy().limits(again=False)
TABLE = Table.dense(Domain.of_shape((3, 3)), np.array([[7, 1, 2], [2, 6, 1], [3, 2, 8]]))
GIVEN = {"cycles": "strips-2", "blocking": "negative"}


@pytest.fixture(autouse=True)
def few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TABLES", 8)


def tuned_of(table: Table, use: Use = "changes") -> Tuned:
    return tuned(METHOD, Problem(table), GIVEN, LIMITS, use)


def test_every_original_with_these_margins_gets_the_same() -> None:
    found = tuned_of(TABLE)
    assert found.accepted >= ACCEPTED and found.tables == 24
    assert found.loss < found.default_loss
    counts = TABLE.counts.copy()
    # Another original with these margins.
    counts[:2, :2] += [[-1, 1], [1, -1]]
    other = Table.dense(TABLE.domain, counts)
    assert other != TABLE and tuned_of(other) == found


def test_its_releases_pass_at_the_first_draw() -> None:
    found, problem = tuned_of(TABLE), Problem(TABLE)
    passed = [
        verdict(
            METHOD.run(problem, GIVEN | dict(found.change), Randomness.seeded(n)).release, LIMITS
        ).passed
        for n in range(4)
    ]
    assert all(passed)


@pytest.mark.parametrize("use", [use for use in USES if use != "changes"])
def test_uses_have_losses_of_their_own(use: Use) -> None:
    before = np.arange(12).reshape(3, 4)
    loss = LOSSES[use]
    assert loss(before, before) == 0.0
    moved = before.copy()
    moved[0, 0] += 2
    moved[1, 1] += 2
    moved[0, 1] -= 1
    assert loss(before, moved) > 0.0
    # A move between two neighbouring categories leaves their sum.
    pair = before.copy()
    pair[0, 1] -= 1
    pair[0, 2] += 1
    assert LOSSES["sums"](before, pair) < LOSSES["sums"](before, moved)


def test_cramers_v_is_that_of_the_definition() -> None:
    before, after = np.array([[10, 0], [0, 10]]), np.array([[5, 5], [5, 5]])
    assert LOSSES["association"](before, after) == pytest.approx(1.0)


def test_what_keeps_no_margin_cannot_be_tuned() -> None:
    table = Table.dense(Domain.of_shape((2, 3)), np.arange(6).reshape(2, 3))
    with pytest.raises(InfeasibleError, match="cannot be tuned"):
        tuned(methods()["random_rounding"], Problem(table), {}, LIMITS)


def test_the_library_tunes_and_the_mechanism_states_it(tmp_path: Path) -> None:
    table = read_table("example:langsrud-lupp")
    done = protect(table, "cyclic_perturbation", tune=True, seed=10**40)
    found = done.release.mechanism.tuned
    assert found is not None and done.parameters["alpha"] == found.change["alpha"]
    assert "tuned" in done.release.mechanism.as_json()
    again = verify_bytes(public.to_bytes(done.release)).release
    assert again.mechanism == done.release.mechanism
    plain = protect(table, "cyclic_perturbation", **found.change, seed=10**40).release
    assert plain.tables == done.release.tables and plain.mechanism.tuned is None
    bundle, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    done.publish(bundle, dossier=dossier)
    data = done.release.mechanism.as_json()["tuned"]
    assert isinstance(data, dict) and Tuned.from_json(data) == found
    for wrong in ({**data, "use": "luck"}, {**data, "tables": "40"}, {**data, "more": 1}, [], {}):
        with pytest.raises(InputError):
            Tuned.from_json(wrong)
