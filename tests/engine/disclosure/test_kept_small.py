"""Who decides that small sums are published exactly: the policy, a person, or nobody."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pytest

from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.exact_small_margins import largest_safe_margins
from tabprotect.engine.disclosure.policy import AgencyPolicy, KeptSmall
from tabprotect.engine.errors import ParameterError, RefusedError
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.protection.cycle_runs.exchange_rule import split_inside
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

METHOD = methods()["cyclic_perturbation"]
LL = Problem(open_table("example:langsrud-lupp").table)
SAID = (
    "2 of 2 small counts of party × age are published as they are. "
    "1 of 1 small counts of age × sex is published as it is"
)


def protect(house: KeptSmall, given: Mapping[str, object] | None = None, **how: object) -> Protected:
    policy = AgencyPolicy(kept_small=house)
    given = {"blocking": "negative"} | dict(given or {})
    return gate.protect(METHOD, LL, given, Randomness.seeded(7), policy=policy, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(("house", "how"), [("ask", {}), ("never", {}), ("never", {"kept_small": "keep"})])
def test_nobody_decided(house: KeptSmall, how: dict[str, object]) -> None:
    with pytest.raises(RefusedError, match=f"{SAID}: B, young: 1; B, old: 1; young, male: 2") as refused:
        protect(house, **how)
    assert not refused.value.drawn and refused.value.asks
    words = [words for _, words in refused.value.answers]
    assert (("--kept-small", "keep") in words) == (house == "ask")


def test_a_person_can_be_stricter_than_the_house() -> None:
    with pytest.raises(RefusedError, match=SAID):
        protect("keep", kept_small="never")
    with pytest.raises(RefusedError, match=SAID):
        protect("never", accept="a reason")


@pytest.mark.parametrize(
    ("house", "how", "why"),
    [
        ("keep", {}, "by the policy of the house"),
        ("ask", {"kept_small": "keep"}, "decided for this release"),
        ("ask", {"accept": "they were out last year"}, "they were out last year"),
    ],
)
def test_the_decision_is_on_record(house: KeptSmall, how: dict[str, object], why: str) -> None:
    done = protect(house, **how)
    assert done.record.decisions == (f"{SAID}: {why}",) and not done.record.overruled
    stated = done.release.mechanism.gate
    assert stated is not None and stated.passed and not stated.reason
    assert gate.against(done, AgencyPolicy(kept_small="ask")) == ""


def test_what_is_offered_leaves_without_a_decision() -> None:
    with pytest.raises(RefusedError) as refused:
        protect("ask")
    *fewer, hidden = (settings for settings, _ in refused.value.answers[:-1])
    assert [one.get("split", one.get("keep")) for one in fewer] == ["age | party, sex", "age + party:sex"]
    for settings in fewer:
        done = protect("never", settings)
        assert done.record.verdict is not None and not done.record.verdict.exact_small_margins
        assert done.record.decisions == ()
    method, policy = methods()[str(hidden["method"])], AgencyPolicy(kept_small="never")
    assert not gate.protect(method, LL, {}, Randomness.seeded(7), policy=policy).record.decisions


def test_what_keeps_small_sums_is_no_way_without_them() -> None:
    limits, given = AgencyPolicy().limits_for(LL), {"blocking": "negative"}
    assert not gate._leaves(METHOD, given, {}, LL, limits)
    assert gate._leaves(METHOD, given, {"blocking": "exchange", "split": "age | party, sex"}, LL, limits)


def test_the_largest_margins_without_small_sums_are_found() -> None:
    draw = np.random.default_rng(4)
    for _ in range(40):
        shape = tuple(draw.integers(2, 4, draw.integers(2, 5)).tolist())
        table = Table.dense(Domain.of_shape(shape), draw.poisson(1.5, shape))
        problem, names = Problem(table), table.domain.names
        every = [one for size in range(len(names)) for one in combinations(names, size)]
        safe = [one for one in every if not problem.at_risk.mask(table.margin(one).counts).any()]
        largest = {one for one in safe if not any({*one} < {*other} for other in safe)}
        assert set(largest_safe_margins(problem)) == largest


def test_the_split_inside_margins_keeps_the_most_sums() -> None:
    domain = Domain.of_shape((2, 3, 4, 5))
    margins = [("A", "B", "C"), ("A", "D"), ("B", "D"), ("C", "D")]
    split = split_inside(domain, margins)
    assert split is not None and split.text == "A, B | D" and split.strata == ("C",)
    assert split_inside(domain, [("A", "B", "C")]) is None
    assert split_inside(domain, [("A", "B"), ("C",)]) is None


def test_a_draft_is_decided_when_it_leaves() -> None:
    policy = AgencyPolicy(kept_small="ask")
    draft = protect("ask", draft=True)
    assert gate.against(draft, policy) == "" and not draft.record.decisions
    with pytest.raises(RefusedError, match=SAID):
        gate.decided(draft, policy, "")
    assert gate.decided(draft, AgencyPolicy(kept_small="keep"), "").record.decisions
    assert gate.decided(draft, policy, "", "keep").record.decisions == (f"{SAID}: decided for this release",)
    with pytest.raises(RefusedError, match=SAID):
        gate.decided(draft, AgencyPolicy(kept_small="never"), "a reason")
    done = gate.decided(draft, policy, "a reason")
    assert done.record.decisions == (f"{SAID}: a reason",) and not done.record.overruled
    assert gate.against(done, policy) == ""


def test_a_policy_says_one_of_three() -> None:
    with pytest.raises(ParameterError):
        AgencyPolicy.of({"kept_small": "hide"})
