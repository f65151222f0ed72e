"""``attack FILES``: what can be known of tables of any office, against listing all originals."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

Run = Callable[..., Any]

MOST = 9
"""The largest count of an original that is listed."""


def one_file(folder: Path, cells: tuple[int, ...], sums: dict[tuple[str, str], int]) -> Path:
    labels = [("x", "p"), ("x", "q"), ("y", "p"), ("y", "q")]
    rows = [*zip(labels, cells, strict=True), *sums.items()]
    path = folder / "published.csv"
    path.write_text("a,b,count\n" + "".join(f"{a},{b},{n}\n" for (a, b), n in rows))
    return path


def listed(fits: Callable[[tuple[int, ...]], float]) -> list[dict[int, float]]:
    """The law of each cell over all originals of four cells, each weighed."""
    weights = {t: fits(t) for t in itertools.product(range(MOST + 1), repeat=4)}
    total = sum(weights.values())
    laws: list[dict[int, float]] = [{} for _ in range(4)]
    for table, weight in weights.items():
        for cell, count in enumerate(table):
            if weight:
                laws[cell][count] = laws[cell].get(count, 0.0) + weight / total
    return laws


def rounded(true: int, published: int) -> float:
    """P(published | true) of unbiased random rounding to multiples of 3."""
    return max(0.0, 1 - abs(true - published) / 3)


def test_random_rounding_with_totals_is_what_listing_finds(run: Run, tmp_path: Path) -> None:
    cells = (3, 0, 0, 3)
    sums = {("x", "Total"): 3, ("y", "Total"): 3, ("Total", "p"): 3, ("Total", "q"): 3}
    sums["Total", "Total"] = 6
    path = one_file(tmp_path, cells, sums)
    found = run("attack", path, "--method", "random_rounding:base=3", "--json").json

    def fits(t: tuple[int, ...]) -> float:
        chance = rounded(t[0] + t[1], 3) * rounded(t[2] + t[3], 3) * rounded(sum(t), 6)
        chance *= rounded(t[0] + t[2], 3) * rounded(t[1] + t[3], 3)
        for true, published in zip(t, cells, strict=True):
            chance *= rounded(true, published)
        return chance

    assert found["way"] == "joint" and not found["left_out"]
    for cell, law in zip(found["cells"], listed(fits), strict=True):
        for count, chance in law.items():
            assert cell["distribution"].get(str(count), 0.0) == pytest.approx(chance, abs=0.02)
    assert [cell["published"] for cell in found["cells"]] == list(cells)
    assert found["cells"][0]["labels"] == {"a": "x", "b": "p"}


def test_cell_keys_beside_another_method(run: Run, tmp_path: Path) -> None:
    cells, sums = (3, 0, 0, 3), {"x": 5, "y": 2}
    path, other = one_file(tmp_path, cells, {}), tmp_path / "other.csv"
    other.write_text("a,count\n" + "".join(f"{a},{n}\n" for a, n in sums.items()))
    said = ("--method", "random_rounding:base=3", "--method", "cell_key:D=2,V=1,js=0")
    found = run("attack", path, other, *said, "--json").json
    rows = keyed()

    def single(true: int, published: int) -> float:
        row = min(true, len(rows) - 1)
        first, chances = rows[row]
        column = published - first - (true - row)
        return float(chances[column]) if 0 <= column < len(chances) else 0.0

    def fits(t: tuple[int, ...]) -> float:
        chance = single(t[0] + t[1], sums["x"]) * single(t[2] + t[3], sums["y"])
        for true, published in zip(t, cells, strict=True):
            chance *= rounded(true, published)
        return chance

    assert found["way"] == "joint"
    for cell, law in zip(found["cells"], listed(fits), strict=True):
        for count, chance in law.items():
            assert cell["distribution"].get(str(count), 0.0) == pytest.approx(chance, abs=0.02)
    # The keys of two files by cell keys may be the same ones.
    twice = ("--method", "cell_key:D=2,V=1,js=0", "--method", "cell_key:D=3,V=1,js=0")
    assert run("attack", path, other, *twice, "--json").code == 4


def keyed() -> tuple[tuple[int, Any], ...]:
    """The published table of the keys: of each true count the first published one, and chances."""
    table = Table.dense(Domain.of({"a": ["x", "y"]}), np.array([4, 2]))
    given = {"D": 2, "V": 1.0, "js": 0, "margins": "a - 1"}
    release = methods()["cell_key"].run(Problem(table), given, Randomness.seeded(1)).release
    found = methods()["cell_key"].transitions(release)
    assert found is not None
    return found


def test_what_is_hidden_and_follows_is_proved(run: Run, tmp_path: Path) -> None:
    """Of a 2 x 2 table three cells are hidden, and one total gives one of them away."""
    path = tmp_path / "t.csv"
    path.write_text("a,b,count\nx,p,4\nx,Total,5\ny,Total,7\nTotal,p,6\nTotal,q,6\n")
    report = tmp_path / "report.html"
    found = run("attack", path, "--method", "suppression", "--out", report, "--json").json
    assert found["proved"] == 4 == found["known"]
    assert [cell["count"] for cell in found["cells"]] == [4, 1, 2, 5]
    assert {cell["way"] for cell in found["cells"]} == {"proved"}
    assert found["cells"][1]["published"] is None
    assert "hidden counts can be known" in report.read_text("utf-8")


def test_margins_in_several_files_are_put_together(run: Run, tmp_path: Path) -> None:
    rows, columns = tmp_path / "rows.csv", tmp_path / "columns.csv"
    rows.write_text("a,count\nx,0\ny,2\n")
    columns.write_text("b,count\np,2\nq,0\n")
    found = run("attack", rows, columns, "--method", "exact", "--json").json
    assert [cell["count"] for cell in found["cells"]] == [0, 0, 2, 0]
    assert found["proved"] == 4
    assert found["cells"][2]["labels"] == {"a": "y", "b": "p"}
    # The library says the same.
    same = tp.attack([rows, columns], method="exact")
    assert same.known == 4 and json.loads(json.dumps(same.cells)) == found["cells"]
    # Two numbers for one cell are a contradiction, and are named.
    other = tmp_path / "other.csv"
    other.write_text("a,count\nx,1\ny,2\n")
    refused = run("attack", rows, other, "--method", "exact")
    assert refused.code == 3 and "another number for this cell" in refused.err


def test_a_release_is_attacked_by_its_own_mechanism(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "r.zip"
    words = ("--method", "random_rounding", "--accept", "a trial", "--out", out)
    assert run("protect", "example:duncan-roehrig-4x4", *words, "--register", "none").code == 0
    found = run("attack", out, "--json").json
    assert len(found["cells"]) == 16
    assert all(cell["published"] % 3 == 0 for cell in found["cells"])


@pytest.mark.parametrize("method", ["rounded:base=5", "random_rounding:base=5"])
def test_a_count_that_no_rounding_gives_is_named(run: Run, tmp_path: Path, method: str) -> None:
    refused = run("attack", one_file(tmp_path, (0, 5, 3, 10), {}), "--method", method)
    assert refused.code == 3 and "a published count of 3 is no multiple of 5" in refused.err
    assert "cell a=y, b=p:" in refused.err and "1 of 4 counts are none" in refused.err


@pytest.mark.parametrize(
    "method", ["nope", "rounded", "rounded:base=x", "unknown:sd=0", "exact:base=2", "suppression:x"]
)
def test_a_method_that_cannot_be_read_is_named(run: Run, tmp_path: Path, method: str) -> None:
    path = one_file(tmp_path, (1, 2, 3, 4), {})
    assert run("attack", path, "--method", method).code == 4
    assert run("attack", path).code == 2
