"""``difference``: two vintages with and without their releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command

OLD = ",w1,w2,w3\nv1,5,2,1\nv2,3,1,7\nv3,4,6,2\n"


@pytest.fixture
def vintages(tmp_path: Path) -> tuple[Path, Path]:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text(OLD)
    new.write_text(OLD.replace("v2,3,1,7", "v2,3,2,7"))
    return old, new


def test_what_changed(run: Command, vintages: tuple[Path, Path]) -> None:
    data = run("difference", *vintages, "--json").json
    assert data["confidential"] and data["releases"] == 0
    assert data["total"] == {"old": 31, "new": 32, "change": 1}
    (cell,) = data["changed"]
    assert (cell["labels"], cell["old"], cell["new"]) == (["v2", "w2"], 1, 2)
    assert cell["singles_out"] and cell["belief"] is None
    assert "singles out" in run("difference", *vintages).out


def test_what_the_releases_tell(run: Command, vintages: tuple[Path, Path], tmp_path: Path) -> None:
    for number, table in enumerate(vintages):
        out = "--out", tmp_path / f"{number}.zip", "--register", "none"
        assert run("protect", table, "--seed", number + 1, *out).code == 0
    words = ["--old-release", tmp_path / "0.zip", "--new-release", tmp_path / "1.zip"]
    data = run("difference", *vintages, *words, "--json").json
    assert data["releases"] == 2 and data["way"] == "exact"
    assert data["singled_out"] == {"cells": 1, "sums": 3}
    assert [one["cell"] for one in data["exact_sums"]] == [[], ["v2"], ["w2"]]
    assert "by a few people" in run("difference", *vintages, *words).out
    assert run("difference", *vintages, *words[:2]).code == 2


def test_other_variables(run: Command, vintages: tuple[Path, Path]) -> None:
    failed = run("difference", vintages[0], "example:duncan-roehrig-4x4", "--json")
    assert failed.code == 3 and "other variables" in failed.json["error"]["message"]
