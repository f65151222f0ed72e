"""Every method tried on a table, and ranked by what must stay true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabprotect.engine.disclosure.cell_beliefs import at_a_glance
from tabprotect.engine.disclosure.choosing import acceptance_probability
from tabprotect.engine.disclosure.choosing import method_trials as module
from tabprotect.engine.disclosure.choosing.method_trials import NOT_TRIED, MethodTrial, ranked, tried_methods
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import Interrupted
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.requirements import KEPT, Promised
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DOMAIN = Domain.of_shape((4, 4))
COUNTS = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
PROBLEM = Problem(Table.dense(DOMAIN, COUNTS), SmallCount(1, 2))
LIMITS = AgencyPolicy().limits(PROBLEM.at_risk)
A, B = DOMAIN.names


class Watched:
    """Takes what comes in parts, and stops after some of them."""

    def __init__(self, most: int = 10**6) -> None:
        self.most, self.parts = most, [()]

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        assert 0 <= fraction <= 1 and isinstance(partial, tuple)
        self.parts.append(partial)
        if len(partial) >= self.most:
            raise Interrupted()


@pytest.fixture(scope="module")
def found() -> tuple[MethodTrial, ...]:
    watched = Watched()
    out = tried_methods(PROBLEM, LIMITS, watched)
    lengths = [len(part) for part in watched.parts]
    # One more is told as soon as it is there.
    assert set(lengths) == set(range(len(out) + 1))
    # Every report carries all that is there: none is lost when one is not taken.
    assert lengths == sorted(lengths) and lengths[-1] >= len(methods()) - 2
    return out


def test_every_method_is_tried_or_says_why_not(found: tuple[MethodTrial, ...]) -> None:
    assert {trial.method for trial in found} == set(methods())
    for trial in found:
        if trial.done:
            assert trial.kept is not None and trial.at_risk == 4 and trial.cells == 16
            assert trial.known is not None and 0 <= trial.known <= 1
            assert trial.loss >= 0 and (trial.moved is None or trial.hidden or trial.loss == trial.moved)
        else:
            assert trial.fault


def test_the_figures_are_those_of_the_verdict_and_of_the_counts() -> None:
    method = methods()["cyclic_perturbation"]
    values = method.resolve_for(PROBLEM, {"alpha": 0.02, "beta": 0.02})
    start = MethodTrial(method.name, kept=Promised.of(method, DOMAIN, values))
    trial = module._drawn(method, PROBLEM, (start, values), LIMITS, SILENT)
    generator = module.trial_coins(DOMAIN)
    known, moved = [], []
    for _ in range(module.RUNS):
        release, _ = method.perform(PROBLEM, values, generator)
        staff = verdict(release, LIMITS, original=PROBLEM.table).staff
        assert staff is not None and staff.at_risk_cells == 4
        known.append(staff.known / 4)
        moved.append(np.abs(release.table.counts - COUNTS).mean())
    assert trial.known == pytest.approx(np.mean(known))
    assert trial.moved == pytest.approx(np.mean(moved)) == trial.loss


def test_a_glance_counts_what_is_proved_where_it_has_no_posterior() -> None:
    method = methods()["publish_margins"]
    values = method.resolve_for(PROBLEM, {"margins": f"{A} + {B}"})
    release, _ = method.perform(PROBLEM, values, np.random.default_rng(0))
    belief = at_a_glance(release)
    assert belief.way == "bounds" and belief.domain == DOMAIN
    assert (belief.probability(COUNTS.reshape(-1), np.arange(16)) < 1).all()


def test_missing_counts_are_lost_whole(found: tuple[MethodTrial, ...]) -> None:
    hidden = next(t for t in found if t.method == "suppression")
    assert 0 < hidden.hidden < 16 and hidden.moved == 0 and hidden.loss > 0
    coarse = next(t for t in found if t.method == "coarsening")
    assert coarse.moved is None and coarse.loss == pytest.approx(COUNTS.mean())


def test_what_is_asked_comes_first_then_what_protects_then_what_changes_least(
    found: tuple[MethodTrial, ...],
) -> None:
    sums = ((A,), (B,))
    places = ranked(found, ("margins", "additive", "complete"), sums, LIMITS.share)
    whole = [place.trial.method for place in places if place.lost == ()]
    assert places[0].lost == () and whole[:2] == ["cyclic_perturbation", "record_swapping"]
    assert [len(p.lost) for p in places if p.trial.done] == sorted(
        len(p.lost) for p in places if p.trial.done
    )
    exact = ranked(found, ("exact",), (), LIMITS.share)
    # What letters tell is judged whole.
    order = ["suppression", "publish_margins", "coarsening"]
    assert [one.trial.method for one in exact[:3]] == order
    safe = [p.trial for p in ranked(found, (), (), LIMITS.share) if p.trial.safe(0.05)]
    # Swaps are another way: for many tables that agree, which nobody asked for.
    assert safe[-1].method == "record_swapping"
    losses = [trial.loss for trial in safe[:-1]]
    assert losses == sorted(losses)
    # Readers who know too much weigh more than any change.
    risky = tuple(replace(t, known=0.5) if t.method == "small_count_rounding" else t for t in found)
    last = [p.trial.method for p in ranked(risky, (), (), LIMITS.share) if p.trial.done][-1]
    assert last == "small_count_rounding"


def test_what_tells_too_much_is_tried_in_other_settings() -> None:
    # Most cells are zero: cycles hardly ever move. A house that calls half a belief knowing.
    limits = replace(LIMITS, belief_limit=0.55)
    counts = np.zeros((5, 5), dtype=np.int64)
    counts[np.arange(5), np.arange(5)] = [1, 2, 1, 9, 4]
    counts[0, 1] = 7
    problem = Problem(Table.dense(Domain.of_shape((5, 5)), counts), SmallCount(1, 2))
    method = methods()["cyclic_perturbation"]
    first, *others = module._of_method(method, problem, limits, SILENT)
    assert first.known is not None and first.known > limits.share
    assert others and all(t.idea and (t.known or 0) < first.known for t in others)
    best = ranked((first, *others), (), (), limits.share)[0]
    assert best.trial is not first and first in best.others


def of_ones(*shape: int) -> Problem:
    domain = Domain.of_shape(shape)
    return Problem(Table.dense(domain, np.ones(domain.shape, dtype=np.int64)), SmallCount(1, 2))


def test_a_trial_can_be_stopped() -> None:
    with pytest.raises(Interrupted):
        tried_methods(PROBLEM, LIMITS, Watched(most=2))


def test_the_cheap_methods_are_tried_first(found: tuple[MethodTrial, ...]) -> None:
    work = [methods()[trial.method].trial_work for trial in found]
    assert work == sorted(work) and work[0] < work[-1] / 100


def test_what_is_too_much_work_is_not_tried_and_comes_after_what_was(
    monkeypatch: pytest.MonkeyPatch, found: tuple[MethodTrial, ...]
) -> None:
    large = of_ones(80, 80)
    (trial,) = module._of_method(methods()["suppression"], large, LIMITS, SILENT)
    assert trial.fault == NOT_TRIED and trial.untried and trial.kept is not None
    # The budget alone decides: what is within it is tried, what is beyond is not even begun.
    method = methods()["random_rounding"]
    monkeypatch.setattr(acceptance_probability, "TRIAL_WORK", method.trial_work * large.table.domain.size)
    assert next(module._of_method(method, large, LIMITS, SILENT)).done
    monkeypatch.setattr(type(method), "trial_work", method.trial_work + 1)
    monkeypatch.setattr(type(method), "perform", lambda *_: pytest.fail("it was begun"))
    assert next(module._of_method(method, large, LIMITS, SILENT)).untried
    # Its place: behind every one that was tried, before one that cannot be done.
    refused = MethodTrial("bootstrap", fault="cannot be done")
    done = tuple(t for t in found if t.done and t.method not in ("suppression", "bootstrap"))
    places = ranked((refused, trial, *done), (KEPT,), ((A,), (B,)), LIMITS.share)
    assert [p.trial.method for p in places[-2:]] == ["suppression", "bootstrap"]


def test_other_settings_stay_within_the_budget_of_their_method(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[MethodTrial] = []

    def known(method: object, problem: object, start: MethodTrial, *_: object) -> MethodTrial:
        begun.append(start)
        return replace(start, known=1.0)

    monkeypatch.setattr(module, "_trial", known)
    method = methods()["cyclic_perturbation"]
    monkeypatch.setattr(acceptance_probability, "TRIAL_WORK", 3.5 * method.trial_work * DOMAIN.size)
    assert len(list(module._of_method(method, PROBLEM, LIMITS, SILENT))) == 1
    assert len(begun) == 3


def test_a_trial_can_be_stopped_while_its_cycles_are_chosen() -> None:
    stages: list[str] = []

    class Stopped:
        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            stages.append(stage)
            raise Interrupted()

    # Before any draw: the choice of cycles alone reports, and nothing half done is remembered.
    method, problem = methods()["cyclic_perturbation"], of_ones(5, 7)
    with pytest.raises(Interrupted):
        method.resolve_for(problem, {}, Stopped())
    assert stages
    again = method.resolve_for(problem, {})
    assert method.resolve_for(problem, {}, Stopped())["cycles"] == again["cycles"]
