"""Suppressed tables of other offices: their marks are read, and the hidden counts alone are counted."""

from __future__ import annotations

import io
import json
from pathlib import Path

import openpyxl
import pytest

import tabprotect
from tabprotect.cli.main import main
from tabprotect.engine.errors import ParameterError

TABLE = (
    "sex,age,count\nM,a,{mark}\nM,b,21\nM,Total,25\nF,a,{mark}\nF,b,19\nF,Total,24\nN,a,{mark}\nN,b,{mark}\n"
    "N,Total,9\nTotal,a,{mark}\nTotal,b,{mark}\nTotal,Total,58\n"
)


@pytest.mark.parametrize("mark", ["..", "x", "*", "c", "s", "", ":c"])
def test_the_headline_counts_what_was_hidden(
    mark: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLE.format(mark=mark))
    assert main(["attack", str(path), "--method", "suppression"]) == 0
    said = capsys.readouterr().out
    # M, a and F, a follow from their totals; N, a and N, b share 9.
    assert said.startswith("2 of 4 hidden counts can be known\n2 of them are proved")
    assert "M, a: 4" in said and "F, a: 5" in said and "M, b" not in said
    assert main(["attack", str(path), "--method", "suppression", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["hidden"], data["hidden_known"], data["hidden_proved"]) == (4, 2, 2)


SAID = "2 of 4 hidden counts can be known\n2 of them are proved"


def attacked(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["attack", *map(str, words), "--method", "suppression", "--quiet"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("total", ["T", "Insgesamt", "_T", "Both sexes", "Ensemble"])
def test_totals_are_what_usually_stands_for_them(
    total: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLE.format(mark="..").replace("Total", total))
    assert attacked(capsys, path).startswith(SAID)


def test_published_files_are_read_as_any_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TABLE.format(mark="secret")
    plain = tmp_path / "plain.csv"
    plain.write_text(text)
    assert attacked(capsys, plain, "--marks", "secret=suppressed").startswith(SAID)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert attacked(capsys, "-", "--marks", "secret=suppressed").startswith(SAID)
    titled = tmp_path / "titled.csv"
    titled.write_text("Table 1: persons\n\n" + TABLE.format(mark="..").replace(",", "|"))
    assert attacked(capsys, titled).startswith(SAID)
    assert attacked(capsys, titled, "--header-row", "3", "--delimiter", "|").startswith(SAID)
    blank = tmp_path / "blank.csv"
    blank.write_text(TABLE.format(mark="..").replace("Total,Total,58\n", "").replace("Total", ""))
    assert main(["attack", str(blank), "--method", "suppression"]) == 3
    assert "category without a name" in capsys.readouterr().err
    assert attacked(capsys, blank, "--totals", "sex=,age=").startswith(SAID)
    assert attacked(capsys, blank, "--total", "").startswith(SAID)
    book = openpyxl.Workbook()
    book.active.append(["Notes"])
    sheet = book.create_sheet("Data")
    for line in TABLE.format(mark="..").splitlines():
        sheet.append([int(field) if field.isdecimal() else field for field in line.split(",")])
    book.save(tmp_path / "t.xlsx")
    assert attacked(capsys, tmp_path / "t.xlsx", "--sheet", "Data").startswith(SAID)
    assert tabprotect.attack(plain, method="suppression", reading={"marks": "secret=suppressed"}).known == 2
    with pytest.raises(ParameterError, match="missing: says nothing of published tables"):
        tabprotect.attack(plain, method="suppression", reading={"missing": "zero"})


def test_numbers_that_are_not_exact_are_all_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sex,count\nM,6\nF,9\nTotal,15\n")
    assert main(["attack", str(path), "--method", "random_rounding:base=3"]) == 0
    assert "of 2 counts can be known" in capsys.readouterr().out
