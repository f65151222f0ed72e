"""The lines on a release of sums: a tick stands above nothing that somebody could find out."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tabprotect.engine.bundle.sums.sums_lines import sums_headline, sums_protection
from tabprotect.engine.disclosure.magnitude_verdict import ContributorsAudit, MagnitudeVerdict, limits_of
from tabprotect.engine.disclosure.policy import HousePolicy

TRIED = ContributorsAudit(40, 90, 0, 0, 0, 3, share="10")


def verdict(**given: Any) -> MagnitudeVerdict:
    found = MagnitudeVerdict(limits_of(HousePolicy()), 9, 4, 0.221, 0, audit=TRIED)
    return replace(found, **given)


@pytest.mark.parametrize(("narrow", "state"), [(0, "passed"), (1, "mind")])
def test_what_the_best_guess_finds_has_no_tick(narrow: int, state: str) -> None:
    found = verdict(audit=replace(TRIED, narrow=narrow), left_out=("pattern_choice",))
    hidden = np.array([True, True, True, True])
    run = SimpleNamespace(release=SimpleNamespace(hidden=hidden), primary=hidden & [1, 1, 1, 0])
    lines = sums_protection(cast(Any, run), found).lines
    assert lines[0].state == state and "40 businesses" in lines[0].text
    assert ("by the best guess somebody could" in lines[0].text) == bool(narrow)
    # Chances are told in 100, an upper bound is rounded up.
    assert "at most 23 in 100 (limit 95 in 100)" in lines[2].text


def test_of_a_published_release_nothing_is_open() -> None:
    found = verdict(left_out=("pattern_choice",))
    before, after = (sums_headline(found, staff=True, published=gone) for gone in (False, True))
    assert (before.word, after.word) == ("One question open", "Published")
    assert before.state == after.state == "mind"
