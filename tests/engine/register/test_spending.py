"""What private releases spend on the people who are counted in several of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabprotect.cli.main import main

COUNTS = [[20, 1, 2, 5], [3, 9, 41, 4], [2, 7, 12, 61]]
PARTS = {"all": COUNTS, "one person fewer": [[19, 1, 2, 5], *COUNTS[1:]], "rows 1 and 2": COUNTS[:2]}


def written(path: Path, counts: list[list[int]], *, names: bool) -> str:
    """A table as a file: a grid, or rows under names of variables."""
    if names:
        rows = [f"r{i},c{j},{n}" for i, row in enumerate(counts) for j, n in enumerate(row)]
        path.write_text("\n".join(["region,age,count", *rows]) + "\n")
    else:
        rows = [",".join(map(str, (f"r{i}", *row))) for i, row in enumerate(counts)]
        path.write_text("\n".join([",c0,c1,c2,c3", *rows]) + "\n")
    return str(path)


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text("epsilon_limit = 1.5\n")
    return ["--method", "discrete_laplace", "--policy", "policy.toml", "--json"]


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("all", "one person fewer", True),
        ("one person fewer", "all", False),
        ("all", "rows 1 and 2", False),
        ("rows 1 and 2", "all", True),
    ],
)
def test_people_of_a_revised_or_partial_table_have_spent_both_budgets(
    private: list[str], first: str, second: str, names: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """The 166 people, or those of two rows, who are in both tables have spent 2 where 1.5 is allowed.

    List all originals of two neighbouring populations, with and without one person of both tables: each
    release tells them apart by odds of up to exp(1), its noise is drawn by itself, and so the two releases
    tell them apart by odds of up to exp(1) exp(1) = exp(2). One who is in one table alone has spent 1.
    """
    for number, name in enumerate((first, second)):
        written(Path(f"{number}.csv"), PARTS[name], names=names)
    assert main(["protect", "0.csv", *private, "--out", "0.zip"]) == 0
    capsys.readouterr()
    again = ["protect", "1.csv", *private, "--out", "1.zip"]
    assert main(again) == 5
    error = json.loads(capsys.readouterr().out)["error"]
    assert "epsilon 2 together" in error["message"] and "people other:1" in error["hint"]
    # The sum is told whatever the limit.
    Path("policy.toml").write_text("epsilon_limit = 2\n")
    assert main(again) == 0
    told = json.loads(capsys.readouterr().out)
    assert any("epsilon 2 together" in one["message"] for one in told["warnings"])


def test_other_people_do_not_add_up(private: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What the house has said of two releases holds for the next one of the same records, too."""
    for number, name in enumerate(("all", "rows 1 and 2", "all")):
        source = written(Path(f"{number}.csv"), PARTS[name], names=True)
        asked = ["--people", "other:1"] * (number == 1) + ["--accept", "again"] * (number == 2)
        budget = ["--set", "epsilon=0.25"] * (number == 2)
        assert main(["protect", source, *private, *budget, *asked, "--out", f"{number}.zip"]) == 0
    told = [one["message"] for one in json.loads(capsys.readouterr().out.splitlines()[-1])["warnings"]]
    assert any("epsilon 1.25 together" in one for one in told)


def test_private_tables_that_share_a_variable_need_no_question(
    private: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The noise of each is drawn by itself: what both tell of anybody is bounded by what both spend."""
    for second, more in (("age", 1), ("sex", 3)):
        rows = [f"{i},{j},{9 + 2 * i + more * (2 * j - 1)}\n" for i in range(3) for j in range(2)]
        Path("t.csv").write_text(f"region,{second},count\n" + "".join(rows))
        assert main(["protect", "t.csv", *private, "--set", "epsilon=0.5", "--out", f"{second}.zip"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])["warnings"]
    assert any("epsilon 1 together" in one["message"] for one in told)


def test_private_tables_of_other_variables_spend_as_well(
    private: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The same people by age and by income: who is in both has spent both budgets, whatever the variables."""
    for name, first in (("age", 20), ("income", 5)):
        Path(f"{name}.csv").write_text(f"{name},count\na,{first}\nb,31\nc,{64 - first}\n")
    assert main(["protect", "age.csv", *private, "--out", "age.zip"]) == 0
    again = ["protect", "income.csv", *private, "--out", "income.zip"]
    capsys.readouterr()
    assert main(again) == 5
    error = json.loads(capsys.readouterr().out)["error"]
    assert "epsilon 2 together" in error["message"] and "people other:1" in error["hint"]
    assert main([*again, "--people", "other:1"]) == 0
