"""The verdict on sums: factors against listing what there could be, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from magnitude_cases import drawn, table_of

from tabprotect.engine.disclosure.magnitude_verdict import magnitude_verdict
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.magnitudes.methods.multipliers import MultiplierLaw
from tabprotect.engine.magnitudes.readers.beliefs import contributor_belief
from tabprotect.engine.protection.problem import ContributorsAudit
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release

NOBODY = ContributorsAudit(1, 0, 0, 0, 0, 0)


def released(
    values: list[int], method: str, parameters: Mapping[str, float | str | bool] | None = None
) -> Release:
    table = table_of({(0, 0, "a"): 5, (0, 1, "b"): 7}, (1, 2))
    found = np.array(values)
    hidden = np.zeros(len(found), dtype=bool)
    key = table.cells.key[: len(found)]
    published = PublishedMagnitudes(table.variables, "turnover", 0, key, found, hidden)
    return Release.of_magnitudes(published, method, parameters or {})


@pytest.mark.parametrize("published", [1, 7, 40])
def test_small_sums_with_factors_are_as_drawn(published: int) -> None:
    law = MultiplierLaw(0.05, 0.15, "ramp")
    generator = np.random.default_rng(published)
    # A prior of 1/x on whole numbers, and every draw that gives what is published.
    values = np.arange(1, 100)
    true = generator.choice(values, 400_000, p=(1 / values) / (1 / values).sum())
    share = 0.05 + 0.1 * (1 - np.sqrt(generator.random(len(true))))
    side = np.where(generator.random(len(true)) < 0.5, -1, 1)
    left = true[true + np.rint(true * side * share) == published]
    found, often = np.unique(left, return_counts=True)
    guesses = np.concatenate([found * 1.1, found * 0.9])
    inside = np.abs(found - guesses[:, None]) <= 0.1 * found + 1e-9
    near = float((inside * often).sum(axis=1).max()) / len(left)
    assert law.rounded_belief(published, 0.1) == pytest.approx(near, abs=0.03)


def test_no_contributor_believes_more_than_an_outsider_of_one_alone() -> None:
    law = MultiplierLaw(0.1, 0.25)
    alone = law.belief(0.1)
    for own, rest in ((10, 0.0), (300, 0.0), (450, 0.2)):
        assert contributor_belief(law, (910, own), rest, 0.1) <= alone + 0.01


def test_what_is_left_out_is_no_pass() -> None:
    noisy = released([5000, 7000, 12000], "multiplicative_noise", {"least": 0.1, "most": 0.25})
    limits = AgencyPolicy().of_release(noisy)
    every = np.ones(3, dtype=bool)
    assert magnitude_verdict(noisy, limits, audit=NOBODY, unsafe=every).passed is True
    of_a_sample = replace(noisy, magnitudes=(replace(noisy.magnitude_table, weighted=True),))
    weighted = magnitude_verdict(of_a_sample, limits, audit=NOBODY, unsafe=every)
    assert weighted.passed is None and weighted.left_out == ("contributors",)
    keyed = magnitude_verdict(released([5000, 7000, 12000], "cell_key"), limits, audit=NOBODY)
    assert keyed.passed is None and keyed.left_out == ("joint_noise", "contributors")
    little = released([5000, 7000, 12000], "multiplicative_noise", {"least": 0.0, "most": 0.04})
    found = magnitude_verdict(little, limits, audit=NOBODY, unsafe=every)
    assert found.passed is False and found.known == 3
    # Rounding to the unit takes the noise of a small sum away.
    small = released([1, 2, 3], "multiplicative_noise", {"least": 0.05, "most": 0.15})
    assert magnitude_verdict(small, limits, audit=NOBODY, unsafe=every).passed is False


def test_what_was_stated_is_left_out_for_readers_too() -> None:
    table = table_of(drawn(3), (4, 4))
    hidden = np.zeros(len(table.cells), dtype=bool)
    published = PublishedMagnitudes(
        table.variables, "turnover", 0, table.cells.key, table.cells.value, hidden
    )
    release = Release.of_magnitudes(published, "suppression")
    stated = magnitude_verdict(release, audit=replace(NOBODY, broken=1), more=("contributors",))
    assert stated.passed is False
    found = magnitude_verdict(replace(release, mechanism=replace(release.mechanism, gate=stated.gate)))
    assert found.passed is False and found.left_out == ("contributors",)


def test_a_policy_with_a_wrong_rule_is_refused() -> None:
    with pytest.raises(ParameterError, match="p=0"):
        AgencyPolicy(rules=("p=0",))
    with pytest.raises(ParameterError, match="within"):
        AgencyPolicy(within=0)
