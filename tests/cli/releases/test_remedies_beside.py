"""What is offered where a table may not leave beside an earlier release leaves as it is printed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from tabprotect.engine.project import ways_beside
from tests.cli.conftest import Command


def table(name: str, counts: list[list[int]]) -> Path:
    path = Path(name)
    cells = [f"r{i},c{j},{n}" for i, row in enumerate(counts) for j, n in enumerate(row)]
    path.write_text("\n".join(["r,c,count", *cells]) + "\n")
    return path


def refused(run: Command, *words: object) -> dict[str, Any]:
    asked = run("protect", *words, "--no-page", "--out", "second.zip", "--json")
    assert asked.code == 5
    error: dict[str, Any] = asked.json["error"]
    return error


@pytest.mark.parametrize("decided", ["ask", "keep", "never"])
def test_what_keeps_small_sums_is_printed_with_the_decision(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decided: str
) -> None:
    """Cycles keep the column of one person; where that is never let out they are no way."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ways_beside, "INSTEAD", ("cyclic_perturbation",))
    everybody = table("all.csv", [[1, 5, 4], [0, 51, 77]])
    part = table("part.csv", [[1, 2, 3], [0, 29, 35]])
    first = run("protect", everybody, "--kept-small", "keep", "--no-page", "--out", "first.zip")
    assert first.code == 0
    words = () if decided == "ask" else ("--kept-small", decided)
    error = refused(run, part, "--method", "suppression", "--people", "part:1", *words)
    assert error["message"].startswith("Together with no. 1")
    if decided == "never":
        assert not error["suggestions"]
        return
    remedy = shlex.split(error["suggestions"][0])[1:]
    assert remedy.count("--kept-small") == 1 and "cyclic_perturbation" in remedy
    assert run(*remedy).code == 0


def test_another_rule_after_its_counts_were_shown(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was shown as 3 or 4 stays known; by the rule of the earlier release it leaves as that did."""
    monkeypatch.chdir(tmp_path)
    shown = table("table.csv", [[4, 3, 5, 7], [0, 4, 18, 17], [6, 13, 24, 36]])
    words = (shown, "--method", "suppression")
    assert run("protect", *words, "--no-page", "--out", "first.zip").code == 0
    error = refused(run, *words, "--at-risk", "1..4")
    assert "certain from what left before alone" in error["hint"] and "(1 to 4)" in error["hint"]
    (command,) = error["suggestions"]
    remedy = shlex.split(command)[1:]
    assert remedy.count("--at-risk") == 1 and remedy[remedy.index("--at-risk") + 1] == "1..2"
    assert run(*remedy).code == 0


def test_counts_after_sums_of_the_same_businesses(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By cycles they are not weighed with the sums; true counts alone, which readers are taken to know, leave."""
    monkeypatch.chdir(tmp_path)
    businesses = [(i % 3, i // 3 % 3, 100 + 37 * i % 90) for i in range(45)] + [(0, 0, 120)] * 6
    rows = [f"i{i},a{a},f{n},{value}" for n, (i, a, value) in enumerate(businesses)]
    Path("records.csv").write_text("\n".join(["industry,area,firm,turnover", *rows]) + "\n")
    by = ("tabulate", "records.csv", "--by", "industry,area", "--out")
    assert run(*by, "sums.parquet", "--measure", "turnover", "--holding", "firm").code == 0
    assert run(*by, "counts.csv").code == 0
    words = ("--method", "suppression", "--rule", "p=10", "--no-page", "--out", "sums.zip")
    assert run("protect", "sums.parquet", *words).code == 0
    error = refused(run, "counts.csv", "--method", "cyclic_perturbation")
    assert "what earlier releases tell together" in error["message"]
    remedy = shlex.split(error["suggestions"][0])[1:]
    assert remedy[-2:] == ["--method", "suppression"] and not {"--accept", "--again"} & set(remedy)
    done = run(*remedy)
    assert done.code == 0 and done.json["verdict"]["left_out"] == []


def test_other_people_of_equal_counts_are_not_the_same_file_again(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The coins of the house are those of the counts: who sees one draw twice knows that these are equal."""
    monkeypatch.chdir(tmp_path)
    women, everybody = table("women.csv", [[0, 0], [3, 2]]), table("all.csv", [[0, 0], [6, 4]])
    words = "--method", "small_count_rounding", "--no-page", "--json", "--out"
    assert run("protect", women, *words, "1.zip").code == 0
    assert run("protect", everybody, "--people", "part:1", *words, "2.zip").code == 0
    men = run("protect", women, "--people", "other:1 part:2", *words, "3.zip")
    assert men.code == 5 and "the very draw of no. 1" in men.json["error"]["message"]
    assert run("protect", women, "--people", "same:1 part:2", *words, "3.zip").code == 0
