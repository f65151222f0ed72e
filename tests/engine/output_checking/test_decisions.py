"""Decisions: what they must say, what they make of a table, and their files, there and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.output_checking.decision_files import read_decisions, write_decisions
from tabprotect.engine.output_checking.flags_and_decisions import Checked, Decision, Flag

WHEN = "2026-11-22T10:00:00+00:00"
APPROVED = Decision("approve", "ann", WHEN, "known from the census, as all say")
CHANGED = Decision("change", "ben", WHEN, "rounded", 5)
REJECTED = Decision("reject", "ann", WHEN, 'one "family"')
FIRST, SECOND = ("a,b", "x"), ("c", "y")
CHECKED = Checked(
    ("v", "w"),
    (
        Flag(FIRST, 3, {"threshold": "3 is below the threshold of 10"}),
        Flag(SECOND, None, {"threshold": "small", "class": "all of (c) are in w = y"}),
    ),
)


def test_the_status_follows_the_decisions() -> None:
    assert Checked(("v",), ()).status == "pass" and CHECKED.status == "review"
    assert CHECKED.decided({FIRST: APPROVED}).status == "review"
    assert CHECKED.decided({FIRST: APPROVED, SECOND: CHANGED}).status == "approved"
    assert CHECKED.decided({FIRST: REJECTED}).status == "fail"


def test_a_later_decision_takes_the_place_of_an_earlier_one_and_leaves_the_others() -> None:
    both = CHECKED.decided({FIRST: REJECTED, SECOND: CHANGED})
    assert [f.decision for f in both.decided({FIRST: APPROVED}).flags] == [APPROVED, CHANGED]


def test_a_decision_on_a_cell_without_a_flag_is_refused() -> None:
    with pytest.raises(InputError, match="not flagged") as caught:
        CHECKED.decided({("c", "x"): APPROVED})
    assert caught.value.cell == "(c, x)"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("allow", "ann", WHEN, "why"), "no decision"),
        (("approve", " ", WHEN, "why"), "who decided"),
        (("approve", "ann", "", "why"), "when"),
        (("reject", "ann", WHEN, "\t"), "why"),
        (("change", "ann", WHEN, "why"), "to which count"),
        (("change", "ann", WHEN, "why", -1), "to which count"),
        (("approve", "ann", WHEN, "why", 3), "to which count"),
    ],
)
def test_what_a_decision_must_say(given: tuple[object, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Decision(*given)  # type: ignore[arg-type]


def test_a_change_may_be_to_nobody() -> None:
    assert Decision("change", "ann", WHEN, "why", 0).to == 0


@pytest.mark.parametrize("name", ["d.csv", "d.json"])
def test_files_come_back_and_are_for_their_owner_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    decided = CHECKED.decided({FIRST: REJECTED, SECOND: CHANGED})
    write_decisions(decided, path)
    assert path.stat().st_mode & 0o077 == 0
    assert read_decisions(path, ("v", "w")) == {FIRST: REJECTED, SECOND: CHANGED}
    write_decisions(CHECKED.decided({SECOND: APPROVED}), path)
    assert read_decisions(path, ("v", "w")) == {SECOND: APPROVED}


def test_json_says_the_status_and_every_reason(tmp_path: Path) -> None:
    write_decisions(CHECKED, tmp_path / "d.json")
    data = json.loads((tmp_path / "d.json").read_text())
    assert data["status"] == "review" and data["variables"] == ["v", "w"]
    assert data["cells"][1]["rules"] == ["threshold", "class"]
    assert data["cells"][0]["count"] == 3 and data["cells"][1]["count"] is None


@pytest.mark.parametrize(
    ("old", "new", "words", "line"),
    [
        ("ann", "", "who decided", 2),
        (",change,5,", ",change,five,", "no count", 3),
        ('"a,b",x', "c,y", "decided twice", 3),
        ("v,w,count", "v,count,w", "no decisions on this table", 1),
        ("rounded", "rounded,more", "fields", 3),
    ],
)
def test_a_faulty_file_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, words: str, line: int
) -> None:
    path = tmp_path / "d.csv"
    write_decisions(CHECKED.decided({FIRST: REJECTED, SECOND: CHANGED}), path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=words) as caught:
        read_decisions(path, ("v", "w"))
    assert caught.value.file == str(path) and caught.value.line == line


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "other", "cells": []}', '{"cells": 1}'])
def test_json_that_is_no_file_of_decisions(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.json").write_text(text)
    with pytest.raises(InputError, match="no JSON of decisions"):
        read_decisions(tmp_path / "d.json", ("v", "w"))
