"""Means and numbers beside sums: what follows from them, and releases of counts of the same records."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from magnitude_cases import drawn, table_of

from tabprotect.cli.main import main
from tabprotect.engine.bundle import public
from tabprotect.engine.disclosure.together import checked, numbers_between
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.magnitudes.files.table_files import write_magnitudes
from tabprotect.engine.protection.methods import suppression
from tabprotect.engine.register.counts_and_magnitudes import known_beside
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.table import Table

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[2] / "reference" / "magnitudes.json").read_text())["cases"]
}


def listed(total: int, mean: int, most: int) -> list[int]:
    """By the definition: every number whose mean lies within half a unit of the published one."""
    return [n for n in range(1, most) if 2 * abs(total - mean * n) <= n]


def test_a_mean_beside_a_sum_publishes_the_number() -> None:
    case = CASES["together/mean_sum"]
    ends = numbers_between(case["input"]["sum"], 411500)
    assert list(range(ends[0], (ends[1] or 0) + 1)) == case["expected"]["n"]
    generator = np.random.default_rng(1)
    for total, n in zip(
        generator.integers(1, 900, 60).tolist(), generator.integers(1, 30, 60).tolist(), strict=True
    ):
        mean = (2 * total + n) // (2 * n)
        least, most = numbers_between(total, mean)
        found = listed(total, mean, 4000)
        assert n in found and (least, most or found[-1]) == (found[0], found[-1])


def test_variances_are_not_published() -> None:
    case = CASES["together/n2_variance"]["input"]
    # What the refusal says: of two contributors the mean and the variance give both.
    high, low = CASES["together/n2_variance"]["expected"]["values"]
    assert (high + low) / 2 == case["mean"]
    assert ((high - low) / 2) ** 2 == case["variance_of_population"]
    table = table_of(drawn(1), (4, 4))
    for name in ("variance", "max", "sum"):
        with pytest.raises(ParameterError):
            checked((name,), table)


def told(folder: Path, *more: str) -> tuple[int, list[str]]:
    words = ["protect", str(folder / "T.parquet"), "--rule", "p=10", "--no-page", "--json"]
    return main([*words, "--out", str(folder / "o.zip"), *more]), words


def test_numbers_and_means_are_published_and_read(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(suppression, "MOST_HIDDEN", 0)
    table = table_of(drawn(3), (4, 4))
    write_magnitudes(table, tmp_path / "T.parquet")
    assert told(tmp_path, "--publish", "mean,n", "--accept", "looked at")[0] == 0
    said = json.loads(capsys.readouterr().out)
    with zipfile.ZipFile(tmp_path / "o.zip") as bundle:
        rows = list(csv.DictReader(io.StringIO(bundle.read("table.csv").decode())))
    assert list(rows[0]) == ["r", "c", "value", "status", "n", "mean"]
    shown = [row for row in rows if not row["status"]]
    assert said["verdict"]["numbers_known"] == len(shown)
    for row in shown:
        assert abs(int(row["value"]) / int(row["n"]) - int(row["mean"])) <= 0.5
    assert {(row["n"], row["mean"]) for row in rows if row["status"]} == {("", "")}
    again = public.read(tmp_path / "o.zip").magnitude_table
    assert again.units is not None and again.means is not None
    assert np.array_equal(again.units[~again.hidden], table.cells.units[~again.hidden])
    assert told(tmp_path, "--publish", "max")[0] == 4


def counts_of(folder: Path, *more: str) -> int:
    counts = str(folder / "counts.csv")
    words = ["protect", counts, "--no-page", "--json", "--out", str(folder / "c.zip")]
    return main([*words, *more])


def test_counts_after_sums_are_judged_by_the_same_rule(tmp_path: Path, capsys, monkeypatch) -> None:
    """True counts leave the judgement of the sums standing; others take a reason."""
    monkeypatch.setattr(suppression, "MOST_HIDDEN", 0)
    monkeypatch.setenv("TABPROTECT_HOME", str(tmp_path / "house"))
    rows = {(i, j, f"u{i}{j}{k}"): 90 + k for i in range(2) for j in range(2) for k in range(4)}
    write_magnitudes(table_of(rows, (2, 2)), tmp_path / "T.parquet")
    counts = str(tmp_path / "counts.csv")
    assert main(["convert", str(tmp_path / "T.parquet"), "--counts", "--out", counts]) == 0
    assert told(tmp_path)[0] == 0
    capsys.readouterr()
    assert counts_of(tmp_path, "--method", "suppression") == 0
    assert json.loads(capsys.readouterr().out)["verdict"]["left_out"] == []
    changed = ["--method", "small_count_rounding", "--set", "base=5"]
    assert counts_of(tmp_path, *changed) == 5
    assert "what earlier releases tell" in capsys.readouterr().err
    # Another house, in which no counts left before.
    monkeypatch.setenv("TABPROTECT_HOME", str(tmp_path / "other"))
    assert told(tmp_path)[0] == 0
    capsys.readouterr()
    assert counts_of(tmp_path, *changed, "--accept", "the board") == 0
    assert json.loads(capsys.readouterr().out)["verdict"]["left_out"] == ["other_releases"]
    with zipfile.ZipFile(tmp_path / "c.zip") as bundle:
        gate = json.loads(bundle.read("mechanism.json"))["gate"]
    assert (gate["passed"], gate["left_out"], gate["reason"]) == (None, ["other_releases"], True)
    assert main(["verify", str(tmp_path / "c.zip")]) == 7


def test_numbers_beside_sums_give_hidden_counts() -> None:
    table = table_of({(i, j, f"u{i}{j}"): 9 for i in range(2) for j in range(2)}, (2, 2)).units
    whole = PublishedTable(table)
    hiding = PublishedTable.hiding(table, np.array([[True, False], [False, False]]))
    other = PublishedTable(Table.dense(table.domain, table.counts + 1))
    assert known_beside(table, [whole], numbers=True)
    assert known_beside(table, [whole, hiding], numbers=False)
    assert not known_beside(table, [whole, hiding], numbers=True)
    assert not known_beside(table, [other], numbers=False)


def test_counts_that_left_are_read(tmp_path: Path, capsys, monkeypatch) -> None:
    """True counts are known to readers, as they are taken to be; changed ones are not weighed."""
    monkeypatch.setattr(suppression, "MOST_HIDDEN", 0)
    rows = {(i, j, f"u{i}{j}{k}"): 90 + k for i in range(2) for j in range(2) for k in range(4)}
    table = table_of(rows, (2, 2))
    write_magnitudes(table, tmp_path / "T.parquet")
    counts = str(tmp_path / "counts.csv")
    assert main(["convert", str(tmp_path / "T.parquet"), "--counts", "--out", counts]) == 0
    capsys.readouterr()
    assert told(tmp_path)[0] == 0
    assert json.loads(capsys.readouterr().out)["verdict"]["numbers_known"] == 0
    true = ["protect", counts, "--method", "suppression", "--no-page", "--accept", "true counts"]
    assert main([*true, "--out", str(tmp_path / "true.zip")]) == 0
    capsys.readouterr()
    assert told(tmp_path, "--again", "with the counts")[0] == 0
    said = json.loads(capsys.readouterr().out)["verdict"]
    assert said["passed"] is True and said["numbers_known"] == len(table.cells)
    noisy = ["protect", counts, "--method", "small_count_rounding", "--set", "base=5", "--no-page"]
    assert main([*noisy, "--accept", "changed", "--out", str(tmp_path / "noisy.zip")]) == 0
    capsys.readouterr()
    assert told(tmp_path)[0] == 5
    assert "other_releases" in json.loads(capsys.readouterr().out)["verdict"]["left_out"]
