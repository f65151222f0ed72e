"""The public checks find what is wrong with a plug-in, and say it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.utility.deviations import MaxAbsoluteDeviation
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.methods.random_rounding import RandomRounding
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.query_space.criteria.smallest_margin import SmallestMargin
from tabprotect.engine.query_space.criterion_evidence import RiskJudgement
from tabprotect.engine.query_space.rule import Ruling
from tabprotect.engine.query_space.rules.myopic import Myopic
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.table import Table
from tabprotect.testing import (
    CheckFailed,
    check_criterion,
    check_format,
    check_measure,
    check_method,
    check_rule,
)


class Mine(RandomRounding):
    """A method that nobody registered."""

    name = "mine"
    calibrations = (CalibrationPlan({"base": 3, "margins": "A:B - 1"}, ((3.0,) * 6,) * 6, runs=80),)

    @property
    def help(self) -> str:
        return "Mine.\n\nIt rounds.\n\nExample: 4 becomes 3.\n\nSource: a test."


class WrongLikelihood(Mine):
    def likelihood(self, release: Release) -> CellFactors:
        found = super().likelihood(release)
        return replace(found, logs=found.logs * 4)


class SaidTwice(Mine):
    """Odds that are off by 2 against its own transitions."""

    def likelihood(self, release: Release) -> CellFactors:
        found = super().likelihood(release)
        return replace(found, logs=np.where(found.logs < -1.0, found.logs + math.log(2), found.logs))


class Silent(Mine):
    """States its law once only, in its likelihood."""

    def transitions(self, release: Release) -> None:  # type: ignore[override]
        return None


def test_a_good_method_passes_unregistered() -> None:
    check_method(Mine)
    check_method(Silent)


class TooNarrow(Silent):
    def likelihood(self, release: Release) -> CellFactors:
        found = super().likelihood(release)
        return replace(found, logs=found.logs * 2)


class TooWide(Silent):
    def likelihood(self, release: Release) -> CellFactors:
        found = super().likelihood(release)
        return replace(found, logs=found.logs / 2)


class Short(Mine):
    """Too few runs to see more than the coarsest fault."""

    calibrations = (CalibrationPlan({"base": 3}, runs=100),)


class Forgetful(Mine):
    """Seen as impossible by its own likelihood."""

    def likelihood(self, release: Release) -> CellFactors:
        found = super().likelihood(release)
        return replace(found, low=found.low, logs=np.full_like(found.logs, -math.inf))


class Restless(Mine):
    """Takes chance from elsewhere."""

    def draw(self, problem: Problem, *rest: object, **more: object) -> Draft:  # type: ignore[override]
        values = self.resolve(problem.table.domain, {})
        return super().draw(problem, values, np.random.default_rng())


class Chatty(Mine):
    """Discloses the seed's table."""

    guarantees: ClassVar[Mapping[str, str]] = {**Mine.guarantees, "exact": "All is exact."}


class Nameless(Mine):
    label = ""


class Blind(Mine):
    calibrations = (CalibrationPlan({"base": 3}, runs=5),)


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (WrongLikelihood, "other laws of a published"),
        (SaidTwice, "other laws of a published"),
        (TooNarrow, "beliefs do not come true"),
        (TooWide, "beliefs do not come true"),
        (Short, "too narrow by 2 stays unseen"),
        (Forgetful, "the true table was impossible"),
        (Restless, "the same seed gave another release"),
        (Chatty, "promise"),
        (Nameless, "label"),
        (Blind, "declare more runs"),
    ],
)
def test_a_fault_of_a_method_is_found_and_named(method: type[Method], said: str) -> None:
    with pytest.raises(CheckFailed, match=said) as caught:
        check_method(method)
    assert str(caught.value).startswith("mine: ")


class Loud(MaxAbsoluteDeviation):
    def compute(self, case: AssessedRelease) -> Figure:
        return Figure(math.nan)


class Moody(MaxAbsoluteDeviation):
    calls = 0

    def compute(self, case: AssessedRelease) -> Figure:
        Moody.calls += 1
        return Figure(float(Moody.calls))


def test_measures() -> None:
    check_measure(MaxAbsoluteDeviation)
    with pytest.raises(CheckFailed, match="no finite number"):
        check_measure(Loud)
    with pytest.raises(CheckFailed, match="another figure"):
        check_measure(Moody)


class Backwards(SmallestMargin):
    """Finds larger releases safer."""

    def judge(self, evidence, released, threshold, **more):  # type: ignore[no-untyped-def]
        found: RiskJudgement = super().judge(evidence, released, threshold, **more)
        return replace(found, width=100 + len(set(released)))


class Undecided(Myopic):
    turn = 0
    help = "Now so, now so.\n\nIt alternates."

    def decide(self, situation, values, progress=None) -> Ruling:  # type: ignore[no-untyped-def]
        Undecided.turn += 1
        return Ruling("release" if Undecided.turn % 2 else "refuse", "so be it")


def test_criteria_and_rules() -> None:
    check_criterion(SmallestMargin)
    with pytest.raises(CheckFailed, match="smallest_margin: "):
        check_criterion(Backwards)
    check_rule(Myopic)
    with pytest.raises(CheckFailed, match="another ruling"):
        check_rule(Undecided)


def test_formats() -> None:
    for kind in formats().values():
        check_format(kind)

    class Lossy(type(formats()["csv"])):  # type: ignore[misc]
        name = "lossy"
        help = "Lossy."
        suffixes = (".lossy",)

        def write(self, table: Table) -> bytes:
            halved = Table.dense(table.domain, table.counts // 2)
            found: bytes = super().write(halved)
            return found

    with pytest.raises(CheckFailed, match="lossy: another table came back"):
        check_format(Lossy)
