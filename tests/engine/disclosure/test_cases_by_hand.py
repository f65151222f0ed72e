"""Small tables whose right answer is seen by looking at them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tabprotect.cli.main import main
from tabprotect.engine.bundle import public

EVERYBODY = [[7, 0, 0, 0], [9, 6, 4, 5], [8, 7, 12, 9], [6, 5, 3, 30]]
"""All of the first row have the first category."""

BY_CHANCE = [[3, 1, 0], [2, 1, 0], [1, 0, 0], [5, 9, 8]]
"""The first row is by chance the sum of the next two."""


def protected(
    capsys: pytest.CaptureFixture[str], counts: list[list[int]], *words: str
) -> dict[str, dict[str, Any]]:
    lines = [f"r{r},c{c},{n}" for r, row in enumerate(counts) for c, n in enumerate(row)]
    Path("t.csv").write_text("\n".join(["r,c,count", *lines]))
    main(["protect", "t.csv", "--no-page", "--out", "t.zip", "--json", *words])
    found: dict[str, dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("sensitive", [False, True])
def test_that_everybody_of_a_row_has_one_category_is_told_and_left_open_where_it_is_sensitive(
    sensitive: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    verdict = protected(capsys, EVERYBODY, "--method", "suppression", *["--sensitive", "c"] * sensitive)[
        "verdict"
    ]
    assert verdict["groups_known"] == (not sensitive) and verdict["accepted"]
    if not sensitive:
        assert verdict["groups"] == pytest.approx(1.0, abs=0.01)


def test_what_is_sensitive_is_refused_where_the_method_has_no_way_to_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ("--method", "suppression", "--sensitive", "c", "--set", "zeros=published")
    said = protected(capsys, EVERYBODY, *asked)
    assert "of 4 groups of 3 and more, readers would be sure of 1" in said["error"]["message"]
    assert not Path("t.zip").exists()


def test_a_row_that_is_by_chance_the_sum_of_others_is_no_total(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    protected(capsys, BY_CHANCE, "--kept-small", "keep")
    # Cycles keep every sum: with a total among the rows it would be half of these.
    assert public.read(tmp_path / "t.zip").table.counts.sum(axis=1).tolist() == [4, 3, 1, 22]
