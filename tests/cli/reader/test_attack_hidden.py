"""Suppressed tables of other offices: their marks are read, and the hidden counts alone are counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabprotect.cli.main import main

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


def test_numbers_that_are_not_exact_are_all_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sex,count\nM,6\nF,9\nTotal,15\n")
    assert main(["attack", str(path), "--method", "random_rounding:base=3"]) == 0
    assert "of 2 counts can be known" in capsys.readouterr().out
