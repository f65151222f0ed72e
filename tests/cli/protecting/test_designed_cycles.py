"""Cycles for kept margins from the command line: design, check, protect, verify, infer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

GROUPINGS = "reg:geo=g0>a,g1>a,g2>b,g3>b; typ:geo=g0>x,g1>y,g2>x,g3>y"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    rows = [f"g{i},{a},{(5 * i + 3 * k) % 7}" for i in range(4) for k, a in enumerate("abc")]
    path.write_text("\n".join(["geo,age,count", *rows]) + "\n")
    return path


def test_design_and_check_with_groupings(run: Run, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    words = ("--keep", "geo + reg*age", "--groupings", GROUPINGS)
    made = run(
        *("cycles", "design", "--kind", "triangular", "--table", table, *words),
        *("--cap", 5, "--lambda", 3, "--theta", 2, "--out", path, "--json"),
    ).json
    assert (made["rank"], made["dimension"], made["deficit"]) == (4, 4, 0)
    assert made["margins"] == [["geo"], ["reg", "age"]]
    # The file knows its own groupings.
    for more in ((), ("--keep", "geo + reg*age"), (*words, "--table", table)):
        found = run("cycles", "check", path, *more, "--json").json
        assert found["preserves_margins"] and found["unwanted_exact"] == 0
        assert (found["rank"], found["dimension"], found["wanted_exact"]) == (4, 4, 8)
        assert found["largest_change"] >= 1 and found["width"] is not None
    fewer = run("cycles", "check", path, "--keep", "geo + age", "--json").json
    assert (fewer["dimension"], fewer["unwanted_exact"]) == (6, 2) and fewer["unwanted"]
    crossing = ("--keep", "geo + typ*age", "--groupings", GROUPINGS, "--table", table)
    broken = run("cycles", "check", path, *crossing, "--json").json
    assert not broken["preserves_margins"] and broken["unwanted_exact"] is None


def test_strips_structural_zeros_and_faults(run: Run, tmp_path: Path) -> None:
    strips = ("cycles", "design", "--shape", "10,10", "--kind", "strips", "--out")
    path = tmp_path / "s.json"
    assert run(*strips, path, "--height", 4, "--json").json["cycles"] == 63
    assert "height" in run(*strips, path, "--height", 1).err
    zeros = tmp_path / "zeros.csv"
    zeros.write_text("A,B\na1,b1\n")
    made = run(
        *("cycles", "design", "--shape", "3,3", "--kind", "triangular", "--zeros", zeros),
        *("--out", path, "--json"),
    ).json
    assert (made["public_zeros"], made["rank"], made["dimension"]) == (1, 3, 3)
    checked = run("cycles", "check", path, "--zeros", zeros, "--json").json
    assert (checked["dimension"], checked["unwanted_exact"]) == (3, 0)
    # The file knows which cells had to be empty.
    again = run("cycles", "check", path, "--json").json
    assert (again["dimension"], again["unwanted_exact"]) == (3, 0)
    for kind, words in (
        ("elementary", ("--cap", 3)),
        ("strips", ("--lambda", 3)),
        ("triangular", ("--height", 2)),
    ):
        wrong = run("cycles", "design", "--shape", "3,3", "--kind", kind, *words)
        assert wrong.code in (2, 4) and words[0][2:] in wrong.err
    wrong = run("cycles", "design", "--shape", "3,3", "--kind", "triangular", "--keep", "A*B")
    assert wrong.code and "no count can change" in wrong.err


def test_kept_margins_from_protection_to_posterior(run: Run, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.zip"
    done = run(
        *("protect", table, "--method", "cyclic_perturbation", "--keep", "geo + reg*age"),
        *("--groupings", GROUPINGS, "--set", "blocking=reversible", "--set", "theta=1"),
        *("--accept-weak", "--out", path, "--json"),
    ).json
    assert done["tables"] == 5 and done["parameters"]["theta"] == 1
    assert run("verify", path).code == 0
    found = run("infer", path, "--json").json
    assert found["way"] == "exact"
    own = run("infer", path, "--prior", "factorial", "--json").json
    assert own["prior"].startswith("assumes no association")
