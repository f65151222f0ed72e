"""Another method is offered where no setting of the method helps, and only after it passed a trial."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.choosing import acceptance_probability
from tabprotect.engine.disclosure.choosing.acceptance_probability import other_methods
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import Interrupted, RefusedError
from tabprotect.engine.project.history import History
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.remedy import OTHERWISE
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

LIMITS = AgencyPolicy().limits()
CHEAPEST: dict[str, object] = {"choice": "cheapest"}


@pytest.fixture
def suppression() -> Method:
    return methods()["suppression"]


def few_small(side: int, share: float = 0.27) -> Problem:
    """Large counts, but for a share of ones and twos."""
    rng = np.random.default_rng(7)
    small = rng.random((side, side)) < share
    counts = np.where(small, rng.integers(1, 3, (side, side)), rng.poisson(40, (side, side)) + 3)
    return Problem(Table.dense(Domain.of_shape((side, side)), counts))


def test_what_is_too_large_to_be_judged_by_its_pattern_is_offered_a_method_that_passes(
    suppression: Method,
) -> None:
    problem = few_small(100)
    said = []
    for _ in range(2):
        with pytest.raises(RefusedError) as caught:
            gate.protect(suppression, problem, CHEAPEST, Randomness.seeded(1))
        said.append(str(caught.value.hint))
    assert said[0] == said[1] and "tried on this table" in said[0]
    (offered,) = caught.value.suggestions
    assert offered.parameters == {"method": "cyclic_perturbation"} and not offered.takes_reason
    other = methods()["cyclic_perturbation"]
    done = gate.protect(other, problem, {}, Randomness.seeded(2))
    assert done.record.verdict is not None and done.record.verdict.passed


def test_settings_of_the_method_come_before_another_method(suppression: Method) -> None:
    with pytest.raises(RefusedError) as caught:
        gate.protect(suppression, few_small(20), CHEAPEST, Randomness.seeded(1))
    named = ["method" in one.parameters for one in caught.value.suggestions]
    assert not named[0] and named == sorted(named)
    # Another one where its own take a reason all the same.
    assert any(named) == all(
        one.takes_reason for one in caught.value.suggestions if "method" not in one.parameters
    )


def test_it_is_one_step_to_take_and_to_undo() -> None:
    history, _ = History().apply("open_table", {"source": "example:sparse-10x10"})
    history, _ = history.apply("set_method", {"method": "suppression"})
    history, _ = history.apply("set_parameters", {"level": 3})
    before = history.project
    taken, _ = history.apply("set_mechanism", {"method": "cyclic_perturbation"})
    assert taken.project.method == "cyclic_perturbation" and not taken.project.parameters
    assert taken.undo()[0].project is before


def test_what_does_not_pass_its_trial_is_not_offered(
    suppression: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person alone: no cycle can move anybody, and whoever reads the table knows the person."""
    monkeypatch.setattr(Method, "instead", ("cyclic_perturbation",))
    alone = Problem(Table.dense(Domain.of_shape((2, 2)), np.array([[1, 0], [0, 0]])))
    assert other_methods(suppression, alone, LIMITS) == ()
    # Once the settings of its own are not tried, the refusal has nothing to offer.
    monkeypatch.setattr(type(suppression), "alternatives", lambda *_: ())
    with pytest.raises(RefusedError) as caught:
        gate.protect(suppression, alone, CHEAPEST, Randomness.seeded(1))
    assert OTHERWISE in caught.value.hint and not caught.value.suggestions


def test_what_is_beyond_the_budget_is_not_tried(suppression: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = few_small(30)
    assert other_methods(suppression, problem, LIMITS)
    monkeypatch.setattr(acceptance_probability, "TRIAL_WORK", 0.0)
    assert other_methods(suppression, problem, LIMITS) == ()


def test_a_trial_says_how_far_it_is_and_ends_when_cancelled(suppression: Method) -> None:
    class Cancelled:
        said = 0

        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            self.said += 1
            if self.said > 1:
                raise Interrupted("cancelled")

    progress = Cancelled()
    with pytest.raises(Interrupted):
        other_methods(suppression, few_small(60), LIMITS, progress)
    assert progress.said == 2


def test_a_method_is_not_offered_in_its_own_place() -> None:
    for name in Method.instead:
        offered = other_methods(methods()[name], few_small(10), LIMITS)
        assert offered and all(one.parameters != {"method": name} for one in offered)
