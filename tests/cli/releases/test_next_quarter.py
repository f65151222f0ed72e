"""A table of the next quarter, when a few have come and gone: what is offered leaves as it is printed."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def table(path: Path, counts: list[list[int]]) -> Path:
    cells = [f"r{i},c{j},{n}" for i, row in enumerate(counts) for j, n in enumerate(row)]
    path.write_text("\n".join(["r,c,count", *cells]) + "\n")
    return path


@pytest.mark.parametrize("method", ["cyclic_perturbation", "suppression"])
def test_few_who_came_and_went_are_no_dead_end(
    run: Command, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both keep their sums: who left would be known. Without exact sums nobody is placed.

    Where suppression shows every count in both, nothing follows that is not shown.
    """
    monkeypatch.chdir(tmp_path)
    counts = [[20, 31, 12, 45], [33, 9, 21, 14], [12, 17, 12, 21], [26, 12, 13, 30]]
    before = table(tmp_path / "before.csv", counts)
    counts[0][0] -= 1
    counts[2][3] += 1
    after = table(tmp_path / "after.csv", counts)
    assert run("protect", before, "--method", method, "--no-page", "--out", "before.zip").code == 0
    asked = run("protect", after, "--method", method, "--no-page", "--out", "after.zip", "--json")
    if method == "suppression":
        assert asked.code == 0 and asked.json["verdict"]["left_out"] == []
        return
    error = asked.json["error"]
    assert asked.code == 5 and "counted in no. 1" in error["message"]
    remedy = shlex.split(error["suggestions"][0])[1:]
    assert not {"--again", "--accept", "--people"} & set(remedy)
    done = run(*remedy)
    assert done.code == 0 and done.json["verdict"]["left_out"] == []


@pytest.mark.parametrize("answer", [(), ("--people", "later:1")], ids=["asked", "later"])
def test_one_person_fewer_is_no_dead_end(
    run: Command, tmp_path: Path, answer: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """That somebody of (r0, c0) left would be known, said or asked; the first remedy leaves as it is printed."""
    monkeypatch.chdir(tmp_path)
    counts = [[20, 1, 2, 5], [3, 9, 1, 4], [2, 7, 12, 1], [6, 2, 3, 30]]
    before = table(tmp_path / "before.csv", counts)
    counts[0][0] -= 1
    after = table(tmp_path / "after.csv", counts)
    assert run("protect", before, "--no-page", "--out", "before.zip").code == 0
    for _ in range(1 + bool(answer)):
        # A look at who left: the same however often.
        asked = run("protect", after, *answer, "--no-page", "--out", "after.zip", "--json")
        error = asked.json["error"]
        assert asked.code == 5 and "1 for certain" in error["message"]
        remedy = shlex.split(error["suggestions"][0])[1:]
        assert not {"--again", "--accept"} & set(remedy) and ("--people" in remedy) == bool(answer)
    done = run(*remedy)
    assert done.code == 0 and done.json["verdict"]["left_out"] == []
    if not answer:
        assert done.json["together"]["verdict"]["known"] == 0
