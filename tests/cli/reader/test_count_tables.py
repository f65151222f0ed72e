"""``count-tables``: the number alone on standard output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tabprotect as tp

Run = Callable[..., Any]


def test_the_number_alone(run: Run) -> None:
    found = run("count-tables", "--rows", "20,55,25,35", "--cols", "50,35,30,20")
    assert (found.code, found.out, found.err) == (0, "18272363056\n", "")


def test_json_exact_and_estimated(run: Run) -> None:
    found = run("count-tables", "--rows", "2,2", "--cols", "1,1,2", "--json")
    assert found.json == {"count": 4, "exact": True, "error": None}
    ten = ",".join(["40"] * 7)
    found = run("count-tables", "--rows", ten, "--cols", ten, "--seed", 1, "--draws", 300, "--json")
    assert set(found.json) == {"count", "exact", "error"}
    assert not found.json["exact"] and 0 < found.json["error"] < found.json["count"]
    assert "estimate" in found.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--rows", "1,2", "--cols", "4"], 4, "cols"),
        (["--rows", "", "--cols", "4"], 4, "rows"),
        (["--rows=-1,2", "--cols", "1"], 4, "negative"),
        (["--rows", "one", "--cols", "1"], 4, "whole numbers"),
        (["--rows", "1"], 2, "--cols"),
        ([], 2, "--release"),
        (["--release", "nowhere.zip", "--rows", "1", "--cols", "1"], 2, "--release"),
    ],
)
def test_what_cannot_be_counted(run: Run, words: list[str], code: int, says: str) -> None:
    found = run("count-tables", *words)
    assert found.code == code and says in found.err and not found.out


def test_a_release(run: Run, tmp_path: Any) -> None:
    """The originals of a bundle are those that ``infer`` counts."""
    bundle = tmp_path / "release.zip"
    done = run("protect", "example:duncan-roehrig-4x4", "--out", bundle, "--seed", 1)
    assert done.code == 0, done.err
    counted = run("count-tables", "--release", bundle, "--json").json
    assert counted["exact"] and counted["count"] == run("infer", bundle, "--json").json["originals"]


def test_infer_tells_hidden_cells(run: Run, tmp_path: Any) -> None:
    """A suppressed cell has no published count; what is left out of a posterior is said."""
    table, bundle = tmp_path / "table.csv", tmp_path / "release.zip"
    counts = [[1, 6, 9], [7, 2, 8], [12, 9, 20]]
    rows = [f"r{r},c{c},{n}" for r, row in enumerate(counts) for c, n in enumerate(row)]
    table.write_text("\n".join(["a,b,count", *rows]) + "\n", encoding="utf-8")
    words = ("protect", table, "--out", bundle, "--seed", 1)
    done = run(*words, "--method", "suppression")
    assert done.code == 0, done.err
    found = run("infer", bundle, "--json", "--seed", 1).json
    hidden = [cell for cell in found["cells"] if cell["published"] is None]
    assert 0 < len(hidden) < len(found["cells"]) and isinstance(found["note"], str)
    for cell in hidden:
        assert sum(cell["distribution"].values()) == pytest.approx(1)
    lines = run("infer", bundle, "--seed", 1).out.splitlines()
    shown = [line for line in lines if "  -  " in line]
    assert len(shown) == len(hidden)


def test_infer_where_only_margins_are_published(run: Run, tmp_path: Any) -> None:
    """Cell keys: the posterior is about the table that is published, by all its numbers."""
    table, bundle = tmp_path / "table.csv", tmp_path / "release.zip"
    rows = [f"{x},{y},{z},{1 + 2 * x + y}" for x in range(2) for y in range(3) for z in range(2)]
    table.write_text("\n".join(["x,y,z,count", *rows]) + "\n", encoding="utf-8")
    words = ("protect", table, "--out", bundle, "--seed", 1, "--method", "cell_key")
    done = run(*words, "--set", "margins=x*y", "--accept", "a margin")
    assert done.code == 0, done.err
    found = run("infer", bundle, "--cells", "1,2", "--json").json
    assert found["variables"] == ["x", "y"] and found["cells"][0]["labels"] == ["1", "2"]
    # Each margin has noise of its own: chains put them together, whoever asks.
    assert found["way"] == "monte_carlo" and found["complete"] is True and not found["note"]
    assert tp.infer(bundle).way == "monte_carlo"
    assert "Exact posterior" not in run("infer", bundle).out
    assert run("infer", bundle, "--cells", "1,2,0").code == 3
