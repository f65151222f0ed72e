"""``bounds`` on the command line: keys, values and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command

CZECH = "example:czech-autoworkers"


def test_at_risk_cells_as_json(run: Command) -> None:
    done = run("bounds", CZECH, "--release", "A,B", "--release", "C", "--json")
    assert done.code == 0 and done.err == ""
    assert done.json["exact"] is True and done.json["bounds"] == "decomposable"
    assert [set(cell) for cell in done.json["cells"]] == [{"index", "count", "lower", "upper"}] * 3
    # A x B counts 439 at (no, yes) and 339 at (yes, yes); C counts 927 and 914 of 1841.
    assert [cell["count"] for cell in done.json["cells"]] == [1, 2, 2]
    assert [cell["index"] for cell in done.json["cells"]] == [
        [0, 1, 1, 0, 0, 1],
        [0, 1, 1, 0, 1, 1],
        [1, 1, 1, 1, 0, 1],
    ]
    assert [cell["upper"] for cell in done.json["cells"]] == [439, 439, 339]
    assert [cell["lower"] for cell in done.json["cells"]] == [0, 0, 0]


def test_all_cells_of_a_release_without_closed_form(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "cube.csv"
    rows = [f"a{i},b{j},c{k},{1 + i + j * k}" for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    path.write_text("A,B,C,count\n" + "\n".join(rows) + "\n")
    release = ("--release", "A,B", "--release", "B,C", "--release", "A,C", "--cells", "all")
    found = {}
    for way in ("auto", "integer", "lp", "shuttle"):
        done = run("bounds", path, *release, "--bounds", way, "--json")
        assert done.code == 0
        assert len(done.json["cells"]) == 8
        found[way] = [(cell["lower"], cell["upper"]) for cell in done.json["cells"]]
        if way in ("auto", "integer"):
            assert done.json["exact"] is True
    # One free number t: even cells go down by t where odd ones go up.
    counts = [1, 1, 1, 2, 2, 2, 2, 3]
    odd = [(i + j + k) % 2 for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    up = min(c for c, o in zip(counts, odd, strict=True) if not o)
    down = min(c for c, o in zip(counts, odd, strict=True) if o)
    true = [(c - (down if o else up), c + (up if o else down)) for c, o in zip(counts, odd, strict=True)]
    assert found["auto"] == found["integer"] == true
    assert run("bounds", path, *release, "--bounds", "decomposable").code == 4


def test_for_people_it_says_what_it_is(run: Command) -> None:
    done = run("bounds", CZECH, "--release", "A,B,C,D,E", "--release", "A,F", "--cells", "all")
    assert done.code == 0
    assert "sharp" in done.out and "CONFIDENTIAL" in done.out and "24 more" in done.out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ((), 3, "nothing is released"),
        (("--release", "A,Q"), 3, "no variable 'Q'"),
        (("--release", "A,B,A"), 3, "named twice"),
        (("--release", "A,,B"), 3, "no variable ''"),
        (("--release", "A", "--at-risk", "many"), 4, "must look like 1..2"),
        (("--release", "A", "--at-risk", "600..700"), 3, "no small counts"),
        (("--release", "A", "--bounds", "guess"), 2, "guess"),
        (("--release", "A", "--cells", "some"), 2, "some"),
    ],
)
def test_exit_codes(run: Command, words: tuple[str, ...], code: int, says: str) -> None:
    plain = run("bounds", CZECH, *words)
    assert plain.code == code and says in plain.err and plain.out == ""
    told = run("bounds", CZECH, *words, "--json")
    assert told.code == code and says in told.json["error"]["message"]


def test_the_grand_total_alone(run: Command) -> None:
    done = run("bounds", CZECH, "--release", "", "--json")
    assert done.code == 0
    assert {(cell["lower"], cell["upper"]) for cell in done.json["cells"]} == {(0, 1841)}
