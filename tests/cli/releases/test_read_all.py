"""All that has left, read together: against the verdict on the releases of one table."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.register.read_all import AllRead, read_all
from tests.cli.conftest import Command

TABLE = "example:duncan-roehrig-4x4"

SEED = 2**127


def test_nothing_has_left() -> None:
    assert read_all() == AllRead()


def test_releases_are_read_by_people_and_variables(run: Command, tmp_path: Path, house_folder: Path) -> None:
    """Two draws of one table, and a table of other people."""
    (house_folder / "policy.toml").write_text('together = "warn"\n')
    other = tmp_path / "other.csv"
    other.write_text("colour,size,count\nred,s,9\nred,l,8\nblue,s,7\nblue,l,12\n")
    rounded = ("--method", "random_rounding")
    for name, words in (
        ("a.zip", (TABLE, "--seed", SEED + 1)),
        ("b.zip", (TABLE, "--seed", SEED + 3)),
        ("c.zip", (other, *rounded)),
    ):
        assert run("protect", *words, "--out", tmp_path / name).code == 0
    found = read_all()
    assert [one.numbers for one in found.groups] == [(1, 2), (3,)]
    one, two = (public.read(tmp_path / name) for name in ("a.zip", "b.zip"))
    both = verdict(one, earlier=[two])
    assert (found.groups[0].known, found.groups[0].at_risk) == (both.known, pytest.approx(both.at_risk))
    assert found.known == both.known + (found.groups[1].known or 0)
    said = run("attack", "--register", "--json")
    assert said.code == 0 and [one["numbers"] for one in said.json["groups"]] == [[1, 2], [3]]
    assert (said.json["known"], said.json["releases"]) == (found.known, 3)
    assert "No. 1, 2" in run("attack", "--register").out
    assert run("attack", "--register", "none").code == 2
    assert run("attack", tmp_path / "a.zip", "--register").code == 2

    checked = run("register", "check", tmp_path / "b.zip", "--json")
    assert checked.code == 0 and checked.json["published_before"]
    assert checked.json["together"]["verdict"]["known"] == both.known
    assert [one["number"] for one in checked.json["releases"]] == [2, 1]
    stranger = ("protect", other, *rounded, "--register", "none", "--title", "x", "--out", tmp_path / "d.zip")
    assert run(*stranger).code == 0
    unknown = run("register", "check", tmp_path / "d.zip", "--json").json
    assert not unknown["published_before"] and unknown["together"] is None


def test_what_cannot_be_read_is_told_by_its_number(run: Command, tmp_path: Path, house_folder: Path) -> None:
    assert run("protect", TABLE, "--out", tmp_path / "a.zip").code == 0
    with closing(sqlite3.connect(house_folder / "register.sqlite")) as raw, raw:
        raw.execute("DELETE FROM published_bundle")
    found = read_all()
    (group,) = found.groups
    assert group.numbers == (1,) and group.verdict is None
    assert found.sentence.startswith("A reader of the one release knows 0 of ")
    (house_folder / "register.sqlite").unlink()
    lost = run("attack", "--register", "--json")
    assert lost.code == 3 and lost.json["lost"] and lost.json["groups"] == []
    assert read_all().sentence == "What has left is not known."


def test_a_part_and_its_whole_are_read_together(run: Command, tmp_path: Path, house_folder: Path) -> None:
    """Kept sums of all and of all but the last row leave the row, with its count of 2, for everybody."""
    (house_folder / "policy.toml").write_text('together = "warn"\n')
    counts = [[20, 1, 2, 5], [3, 9, 1, 4], [2, 7, 12, 1], [6, 2, 3, 30]]
    for name, rows in (("all", counts), ("some", counts[:3])):
        lines = [f"r{i},c{j},{n}" for i, row in enumerate(rows) for j, n in enumerate(row)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["r,c,count", *lines]) + "\n")
        assert run("protect", tmp_path / f"{name}.csv", "--out", tmp_path / f"{name}.zip").code == 0
    found = read_all()
    (both,) = found.parts
    assert both.numbers == (1, 2) and (both.known or 0) >= 1
    assert "If no. 1, 2 count some of the same people" in found.sentence
    others = ("--people", "other:1,2", "--title", "others", "--accept", "again")
    assert run("protect", tmp_path / "some.csv", *others, "--out", tmp_path / "others.zip").code == 0
    assert [one.numbers for one in read_all().parts if 3 in one.numbers] == []
