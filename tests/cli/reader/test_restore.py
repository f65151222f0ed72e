"""``restore`` on the command line: keys, values and exit codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Command
from tests.engine.fitting.party import REFERENCE, rows


def write(folder: Path, text: str) -> Path:
    path = folder / "published.csv"
    path.write_text(text)
    return path


@pytest.fixture
def party(tmp_path: Path) -> Path:
    counts = REFERENCE["published"]["cell_key"]
    lines = [",".join((*r, str(c))) for r, c in zip(rows("published"), counts, strict=True)]
    return write(tmp_path, "\n".join(["party,age,sex,count", *lines]) + "\n")


def test_the_published_example_as_json(run: Command, party: Path) -> None:
    done = run("restore", party, "--json")
    assert done.code == 0 and done.err == ""
    restored = REFERENCE["published"]["cell_key_restored"]
    assert done.json["cells"] == pytest.approx(restored, abs=1e-8)
    found = {(c["party"], c["age"], c["sex"]): c["expected"] for c in done.json["inner"]}
    inner = REFERENCE["inner"]["cell_key_expected"]
    assert found == pytest.approx(dict(zip(rows("inner"), inner, strict=True)), abs=1e-8)
    assert done.json["reached"] is True


def test_for_people(run: Command, party: Path) -> None:
    done = run("restore", party)
    assert done.code == 0
    assert "24 published counts add up again; the largest change is 1.968" in done.out
    assert "(A, Total, male): 12 -> 13.593" in done.out
    assert "(A, middle, male): 10.7449" in done.out


def test_missing_counts_and_groupings(run: Command, tmp_path: Path) -> None:
    path = write(tmp_path, "geo,eu,count\nES,Total,5\nIS,Total,1\nPT,Total,4\nTotal,EU,12\n")
    groupings = ("--groupings", "eu:geo=ES>EU,PT>EU,IS>no")
    assert run("restore", path, *groupings).code == 3
    done = run("restore", path, *groupings, "--missing", "unknown", "--json")
    # Three missing in the total: one goes to each of its parts, one off the total.
    assert done.json["cells"] == pytest.approx([6, 1, 5, 11])
    assert [cell["geo"] for cell in done.json["inner"]] == ["ES", "IS", "PT"]
    assert [cell["expected"] for cell in done.json["inner"]] == pytest.approx([6, 1, 5])


def test_it_says_when_no_inner_table_fits(run: Command, tmp_path: Path) -> None:
    inner = np.array([0, 1, 1, 2, 1, 2, 2, -1]).reshape(2, 2, 2)
    lines = ["A,B,C,count"]
    for x in range(2):
        for y in range(2):
            lines.append(f"a{x},b{y},Total,{inner[x, y].sum()}")
            lines.append(f"a{x},Total,c{y},{inner[x, :, y].sum()}")
            lines.append(f"Total,b{x},c{y},{inner[:, x, y].sum()}")
    done = run("restore", write(tmp_path, "\n".join(lines) + "\n"), "--json")
    assert done.code == 0 and "no inner table" in done.err
    assert done.json["reached"] is False and done.json["deviation"] > 0.1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A,count\na1,3\na1,4\n", "occurs twice"),
        ("A\na1\n", "only one column"),
        ("A,count\na1,-3\n", "negative"),
        ("A,B,count\na1,b1,3\na2,b2,3\n", "margin A:B is published in part"),
        ("expected,count\na1,3\n", "named 'expected'"),
    ],
)
def test_bad_input(run: Command, tmp_path: Path, text: str, says: str) -> None:
    path = write(tmp_path, text)
    plain = run("restore", path)
    assert plain.code == 3 and says in plain.err and plain.out == ""
    told = run("restore", path, "--json")
    assert told.code == 3 and says in told.json["error"]["message"]
    assert told.json["error"]["file"] == str(path)
