"""The headline and the findings before a release: no tick on a bad number."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.engine.bundle.staff.release_findings import (
    bundle_files,
    headline,
    honesty,
    magnitude_headline,
    magnitude_protection,
    of_tables,
    protection,
    read_together,
    stated,
)
from tabprotect.engine.bundle.staff.risk_report import risk_text
from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.problem import ContributorsAudit, Protected, Staff, StaffVerdict
from tabprotect.engine.register.left_before import LeftBefore
from tabprotect.engine.register.register_entry import Earlier
from tabprotect.engine.release.limits import Limits
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.verdict_figures import WAYS, Insiders, TableVerdict, Verdict, nothing_expected

TABLES = st.builds(
    lambda who, at_risk, known, certain, way: TableVerdict(
        who, ("a", "b"), True, 99, at_risk, known, min(certain, known), way
    ),
    st.sampled_from(["user", "intruder"]),
    st.floats(0, 80),
    st.integers(0, 5),
    st.integers(0, 5),
    st.sampled_from(WAYS),
)


@given(st.lists(TABLES, min_size=1, max_size=3))
def test_only_what_is_accepted_and_not_certain_is_ticked(tables: list[TableVerdict]) -> None:
    verdict = Verdict(tuple(tables), Gate(), 3)
    said = headline(verdict)
    assert (said.state == "failed") is bool(verdict.failing)
    assert said.state != "passed" or (verdict.accepted and not verdict.certain)
    assert said.text.startswith("Not ready") is (said.state == "failed")
    lines = of_tables(verdict)
    harmless = [t for t in tables if t.judged and nothing_expected(t)]
    assert len(lines) == len(tables) - max(len(harmless) - 1, 0)
    assert sum(line.state == "failed" for line in lines) == len(verdict.failing)
    fine = [t for t in tables if t.judged and t not in verdict.failing and not t.certain]
    alone = [t for t in fine if t not in harmless]
    assert sum(line.state == "passed" for line in lines) == len(alone) + bool(harmless)


def test_the_sentence_has_the_numbers() -> None:
    table = TableVerdict("user", ("a",), True, 500, 390.0, 255, 200, "exact")
    assert headline(Verdict((table,), Gate(), 3)).text == (
        "Not ready. A reader would know 255 of about 390 small counts (limit 19), 200 for certain."
    )


def test_tables_with_nothing_at_risk_are_one_line() -> None:
    names = (("age", "sex"), ("age",), ())
    tables = tuple(TableVerdict("user", n, False, 40, 0.04, 0, 0, "exact") for n in names)
    verdict = Verdict(tables, Gate(), 3)
    (said,) = of_tables(verdict)
    assert said.text == "In 3 of the 3 tables a reader expects no small counts."
    assert said.values["names"] == "; ".join(table.label for table in verdict.tables)
    assert nothing_expected(tables[0]) and not nothing_expected(replace(tables[0], at_risk=0.05))
    small = tuple(replace(table, at_risk=0.01) for table in tables)
    assert headline(Verdict(small, Gate(), 3)).text == ("Ready. A reader expects no small counts.")


def test_where_nothing_is_at_risk_no_sentence_counts_nought_of_nought() -> None:
    alone = tuple(TableVerdict(w, (), True, 9, 0.0, 0, 0, "exact") for w in ("user", "intruder"))
    verdict = Verdict(alone, Gate(), 3)
    said = [verdict.sentence, read_together(verdict), headline(verdict, published=True).text]
    said += [line.text for line in (headline(verdict), *of_tables(verdict))]
    assert not any("0" in sentence for sentence in said), said
    assert verdict.sentence == "A reader expects no small counts. Worked out exactly."


def test_what_somebody_alone_learns_is_said_where_the_tables_were_not_judged() -> None:
    table = TableVerdict("user", ("a",), True, 9, 0.0, 0, 0, "none")
    verdict = Verdict((table,), Limits(insider_limit=0.1), 3, insiders=Insiders(2.0, 0.5, 0.5))
    found = headline(verdict)
    assert found.state == "failed" and "with a chance of 50 in 100 (limit 10 in 100)" in found.rest


def test_what_has_left_is_not_called_ready() -> None:
    table = TableVerdict("user", ("a",), True, 500, 390.0, 10, 0, "exact")
    verdict = Verdict((table,), Gate(), 3)
    assert headline(verdict).text.startswith("Ready")
    said = headline(verdict, published=True)
    assert (said.state, said.text) == (
        "passed",
        "Published. A reader would know 10 of about 390 small counts (limit 19).",
    )


def test_the_stated_verdict_is_the_gate() -> None:
    states = [stated(Gate(passed=passed)).state for passed in (True, False, None)]
    assert states == ["passed", "failed", "mind"]
    assert stated(None).state == "mind"


def test_a_given_seed_is_minded(protected: Protected) -> None:
    assert "mind" in {line.state for line in honesty(protected).findings}
    assert [line.state for line in bundle_files(("a", "b")).findings] == ["passed", "passed"]


def test_the_dossier_says_the_same_lines(protected: Protected) -> None:
    text = risk_text(protected, summarise(protected))
    for group in (protection(protected, summarise(protected), None), honesty(protected)):
        for line in group.findings:
            assert line.text in text


def test_nobody_can_tell_which_counts_stay_only_where_none_is_known(protected: Protected) -> None:
    summary = replace(summarise(protected), unchanged_cells=2, at_risk_cells=4, judged_cells=4)
    inner = TableVerdict("user", ("a",), True, 9, 4.0, 0, 0, "exact")
    judged = StaffVerdict((inner,), Gate(), 3, staff=Staff(4, 0, 0, 0, 0.3, None))

    def first(verdict: Verdict | None) -> str:
        lines = [line.text for line in protection(protected, summary, verdict).findings]
        return next(text for text in lines if "published as they are" in text)

    assert "and a reader cannot tell which" in first(judged)
    for other in (
        None,
        # One of them is known; tables were judged one by one.
        replace(judged, staff=Staff(4, 1, 0, 0, 0.3, None)),
        replace(judged, left_out=("joint_noise",)),
    ):
        assert "tell which" not in first(other)


def test_what_earlier_releases_add_is_said_as_a_number() -> None:
    def judged(known: int) -> StaffVerdict:
        return StaffVerdict((TableVerdict("user", ("a",), True, 9, 4.0, known, 0, "exact"),), Gate(), 3)

    publication = cast(Any, SimpleNamespace(number=38, day="2026-11-21"))
    read = (Earlier(publication, "original"),)
    before = LeftBefore(read, judged(3), read, releases=2, alone=judged(1))
    assert before.more == 2
    assert before.sentence.startswith("Together with no. 38 readers would know 2 more small counts. ")
    assert replace(before, alone=judged(2)).sentence.startswith(
        "Together with no. 38 readers would know 1 more small count. "
    )
    for alone in (None, judged(3)):
        assert replace(before, alone=alone).sentence.startswith("Together with no. 38: ")


def test_what_cannot_be_read_together_has_no_figures() -> None:
    table = TableVerdict("user", ("a",), True, 9, 0.0, 0, 0, "none")
    said = read_together(Verdict((table,), Gate(), 3, note="Too few draws."))
    assert "could not be worked out. Too few draws." in said and " 0 " not in said
    known = TableVerdict("user", ("a",), True, 9, 4.0, 1, 0, "exact")
    assert "a reader would know 1 of about 4 small counts" in read_together(Verdict((known,), Gate(), 3))


TRIED = ContributorsAudit(40, 90, 0, 0, 0, 3, share="10")


def of_sums(**given: Any) -> StaffVerdict:
    outsider = TableVerdict("outsider", ("a",), True, 9, 0.0, 0, 0, "exact", worst=0.221, hidden=4)
    return replace(StaffVerdict((outsider,), Gate(within=10.0, counts=False), 1, audit=TRIED), **given)


@pytest.mark.parametrize(("narrow", "state"), [(0, "passed"), (1, "mind")])
def test_what_the_best_guess_finds_has_no_tick(narrow: int, state: str) -> None:
    found = of_sums(audit=replace(TRIED, narrow=narrow), left_out=("pattern_choice",))
    hidden = np.array([True, True, True, True])
    run = SimpleNamespace(
        release=SimpleNamespace(magnitude_table=SimpleNamespace(hidden=hidden)),
        record=SimpleNamespace(primary=hidden & [1, 1, 1, 0]),
    )
    lines = magnitude_protection(cast(Any, run), found).findings
    assert lines[0].state == state and "40 businesses" in lines[0].text
    assert ("by the best guess somebody could" in lines[0].text) == bool(narrow)
    # An upper bound is rounded up.
    assert "at most 23 of 100 (limit 95)" in lines[2].text


def test_of_a_published_release_nothing_is_open() -> None:
    found = of_sums(left_out=("pattern_choice",))
    before, after = (magnitude_headline(found, staff=True, published=gone) for gone in (False, True))
    assert (before.word, after.word) == ("One question open", "Published")
    assert before.state == after.state == "mind"
