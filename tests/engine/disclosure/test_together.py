"""Means and numbers beside sums: what follows from them, and releases of counts of the same records."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from magnitude_cases import drawn, suppressed, table_of

from tabprotect.cli.main import main
from tabprotect.engine.bundle import public
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.magnitudes.files.table_files import write_magnitudes
from tabprotect.engine.protection.method import published_beside
from tabprotect.engine.protection.suppressing import sums
from tabprotect.engine.register.people.counts_and_magnitudes import known_beside
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes, numbers_between
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.table import Table

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[2] / "reference" / "magnitudes.json").read_text())["cases"]
}


def listed(total: int, mean: int, most: int) -> list[int]:
    """By the definition: every number that gives the published mean, halves rounded up."""
    return [n for n in range(1, most) if (2 * total + n) // (2 * n) == mean]


def test_a_mean_beside_a_sum_publishes_the_number() -> None:
    case = CASES["together/mean_sum"]
    ends = numbers_between(case["input"]["sum"], 411500)
    assert list(range(ends[0], ends[1] + 1)) == case["expected"]["n"]
    generator = np.random.default_rng(1)
    for total, n in zip(
        generator.integers(1, 900, 60).tolist(), generator.integers(1, 30, 60).tolist(), strict=True
    ):
        mean = (2 * total + n) // (2 * n)
        least, most = numbers_between(total, mean)
        found = listed(total, mean, 4000)
        assert n in found and (least, min(most, 3999)) == (found[0], found[-1])


def test_variances_are_not_published() -> None:
    case = CASES["together/n2_variance"]["input"]
    # What the refusal says: of two contributors the mean and the variance give both.
    high, low = CASES["together/n2_variance"]["expected"]["values"]
    assert (high + low) / 2 == case["mean"]
    assert ((high - low) / 2) ** 2 == case["variance_of_population"]
    table = table_of(drawn(1), (4, 4))
    for name in ("variance", "max", "sum"):
        with pytest.raises(ParameterError):
            published_beside(name, table)


def told(folder: Path, *more: str) -> tuple[int, list[str]]:
    words = ["protect", str(folder / "T.parquet"), "--rule", "p=10", "--no-page", "--json"]
    return main([*words, "--out", str(folder / "o.zip"), *more]), words


def test_numbers_and_means_are_published_and_read(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(sums, "MOST_HIDDEN", 0)
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
    monkeypatch.setattr(sums, "MOST_HIDDEN", 0)
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


def test_true_counts_are_known_beside_sums() -> None:
    table = table_of({(i, j, f"u{i}{j}"): 9 for i in range(2) for j in range(2)}, (2, 2)).units
    whole = PublishedTable(table)
    hiding = PublishedTable.hiding(table, np.array([[True, False], [False, False]]))
    other = PublishedTable(Table.dense(table.domain, table.counts + 1))
    assert known_beside(table, [whole]) and known_beside(table, [whole, hiding])
    assert not known_beside(table, [other])
    # That a cell has no records is seen in a table of sums.
    empty = Table.dense(table.domain, table.counts * [[0, 1], [1, 1]])
    assert not known_beside(empty, [PublishedTable.hiding(empty, hiding.hidden)])


def test_hidden_counts_beside_published_numbers_are_judged_together(
    tmp_path: Path, capsys, monkeypatch
) -> None:
    """Numbers that left beside sums give counts that are hidden later; a reason is no judgement."""
    monkeypatch.setattr(sums, "MOST_HIDDEN", 0)
    rows = {
        (i, j, f"u{i}{j}{k}"): 90 + k for i in range(2) for j in range(2) for k in range(3 + 4 * (i == j))
    }
    rows |= {(2, j, f"v{j}{k}"): 90 for j in range(2) for k in range(2)}
    write_magnitudes(table_of(rows, (3, 2)), tmp_path / "T.parquet")
    counts = str(tmp_path / "counts.csv")
    assert main(["convert", str(tmp_path / "T.parquet"), "--counts", "--out", counts]) == 0
    for house, publish, code in (("n", ("--publish", "n"), 5), ("plain", (), 0)):
        monkeypatch.setenv("TABPROTECT_HOME", str(tmp_path / house))
        assert told(tmp_path, *publish, "--accept", "seen")[0] == 0
        capsys.readouterr()
        hiding = ["--method", "suppression", "--set", "choice=cheapest"]
        assert counts_of(tmp_path, *hiding) == code
        assert ("together" in capsys.readouterr().err) == bool(publish)
        if publish:
            assert counts_of(tmp_path, *hiding, "--again", "the board knows") == code


def test_counts_that_left_are_read(tmp_path: Path, capsys, monkeypatch) -> None:
    """True counts are known to readers, as they are taken to be; changed ones are not weighed."""
    monkeypatch.setattr(sums, "MOST_HIDDEN", 0)
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


ALONE = {(0, 0, "a"): 60, (0, 0, "b"): 5}
"""The second of the cell knows the first to within 10 % by its sum."""

REST = {
    **dict.fromkeys([(0, 1, "c"), (0, 1, "d"), (0, 1, "e")], 35),
    **dict.fromkeys([(1, 0, "f"), (1, 0, "g"), (1, 0, "h")], 40),
    **dict.fromkeys([(1, 1, "i"), (1, 1, "j"), (1, 1, "k")], 60),
}


def originals(published: PublishedMagnitudes, numbers: Table, known: Mapping[str, int]) -> Iterator[int]:
    """What ``a`` may have put in, by every original that fits sums and numbers, and what a reader knows."""
    shown = {tuple(published.index(n).values()): n for n in range(len(published.key))}
    values = {cell: None if published.hidden[n] else int(published.value[n]) for cell, n in shown.items()}
    rows, columns = [values[str(i), "Total"] for i in (0, 1)], [values["Total", str(j)] for j in (0, 1)]
    assert None not in rows and None not in columns
    assert numbers.counts[0, 0] == 2
    for first in range(min(rows[0], columns[0]) + 1):
        cells = {("0", "0"): first, ("0", "1"): rows[0] - first, ("1", "0"): columns[0] - first}
        cells["1", "1"] = rows[1] - cells["1", "0"]
        if any(value < 0 or values[cell] not in (None, value) for cell, value in cells.items()):
            continue
        # Whoever contributes knows his own, which is part of the sum of his cell.
        place = {name: (str(i), str(j)) for i, j, name in {**ALONE, **REST}}
        if any(cells[place[name]] < own for name, own in known.items()):
            continue
        for one in range(first + 1):
            other = first - one
            if known.get("a", one) == one and known.get("b", other) == other:
                yield one


def test_who_reads_counts_and_sums_of_the_same_records_comes_no_nearer() -> None:
    """Every reader of both, by listing: what is judged of the sums alone holds with the numbers known."""
    table = table_of({**ALONE, **REST}, (2, 2))
    done = suppressed(table, rules_of(["p=10"]))
    published, counts = done.release.magnitude_table, PublishedTable(table.units)
    assert done.record.primary.sum() == 1 and done.verdict.audit.broken == 0
    assert known_beside(table.units, [counts])
    for reader, own in {name: value for (_, _, name), value in {**ALONE, **REST}.items()}.items():
        if reader != "a":
            assert max(originals(published, counts.table, {reader: own})) >= 1.1 * 60
    # The listing would see it: of sums that are shown, b knows a exactly.
    shown = replace(published, value=table.cells.value, hidden=np.zeros_like(published.hidden))
    assert set(originals(shown, counts.table, {"b": 5})) == {60}
