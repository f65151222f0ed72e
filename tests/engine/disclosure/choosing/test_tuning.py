"""Tuned parameters: from kept margins alone, accepted, and of less loss than the defaults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabprotect import Protection, protect, read_table
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.verify import verify_bytes, with_verdict
from tabprotect.engine.disclosure.choosing import tuning
from tabprotect.engine.disclosure.choosing.tuning import ACCEPTED, LOSSES, tuned, tuned_again
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import BundleError, InfeasibleError, InputError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.tuned import USES, Tuned, Use
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

METHOD = methods()["cyclic_perturbation"]
LIMITS = AgencyPolicy().limits(again=False)
TABLE = Table.dense(Domain.of_shape((3, 3)), np.array([[7, 1, 2], [2, 6, 1], [3, 2, 8]]))
GIVEN = {"cycles": "strips-2", "blocking": "negative"}


@pytest.fixture(autouse=True)
def few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TABLES", 8)


@pytest.fixture(scope="module")
def done() -> Protection:
    """A tuned release of an example."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "TABLES", 8)
        return protect(read_table("example:langsrud-lupp"), tune=True, kept_small="keep", seed=10**40)


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
            METHOD.run(problem, GIVEN | dict(found.parameters), Randomness.seeded(n)).release, LIMITS
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


def test_what_keeps_no_margin_is_tuned_by_its_shape_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner cells alone: nothing of the table is public but its shape."""
    monkeypatch.setattr(tuning, "TABLES", 4)
    monkeypatch.setattr(tuning, "LEAST_TABLES", 4)
    method, given = methods()["cell_key"], {"margins": "A:B - 1"}
    found = tuned(method, Problem(TABLE), given, LIMITS)
    other = Table.dense(TABLE.domain, 3 * TABLE.counts + 1)
    assert tuned(method, Problem(other), given, LIMITS) == found
    assert found.accepted >= ACCEPTED and {"D", "V"} == set(found.parameters)


def test_what_has_no_ladder_cannot_be_tuned() -> None:
    with pytest.raises(InfeasibleError, match="cannot be tuned"):
        tuned(methods()["discrete_laplace"], Problem(TABLE), {}, LIMITS)


def test_a_reader_chooses_the_parameters_again(done: Protection, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the release alone; and finds it out where others are stated."""
    release = done.release
    stated, again = release.mechanism.tuned, tuned_again(release)
    assert stated is not None and again is not None and stated.agrees(again)
    assert not stated.agrees(replace(again, accepted=again.accepted / 2))
    # Once is enough.
    monkeypatch.setattr(tuning, "tuned_again", lambda *_: again)
    found = with_verdict(verify_bytes(public.to_bytes(release, page=False)))
    assert found.checks[-1].startswith("The parameters change the table least, as it says")
    other = replace(stated, parameters={**stated.parameters, "alpha": 0.2})
    forged = replace(release, mechanism=replace(release.mechanism, tuned=other))
    with pytest.raises(BundleError, match="not chosen as it says"):
        with_verdict(verify_bytes(public.to_bytes(forged, page=False)))
    monkeypatch.setattr(tuning, "tuned_again", lambda *_: None)
    found = with_verdict(verify_bytes(public.to_bytes(release, page=False)))
    assert "was not worked out again" in found.checks[-1]


def test_the_library_tunes_and_the_mechanism_states_it(done: Protection, tmp_path: Path) -> None:
    table = read_table("example:langsrud-lupp")
    found = done.release.mechanism.tuned
    assert found is not None and done.parameters["alpha"] == found.parameters["alpha"]
    assert "tuned" in done.release.mechanism.as_json()
    again = verify_bytes(public.to_bytes(done.release, page=False)).release
    assert again.mechanism == done.release.mechanism
    plain = protect(table, "cyclic_perturbation", **found.parameters, kept_small="keep", seed=10**40).release
    assert plain.tables == done.release.tables and plain.mechanism.tuned is None
    bundle, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    done.publish(bundle, dossier=dossier)
    data = done.release.mechanism.as_json()["tuned"]
    assert isinstance(data, dict) and Tuned.from_json(data) == found
    for wrong in ({**data, "use": "luck"}, {**data, "tables": "40"}, {**data, "more": 1}, [], {}):
        with pytest.raises(InputError):
            Tuned.from_json(wrong)
