"""``tabulate --band/--cut/--code-list``, the same in the library, and again from its recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine.project import recipe_text
from tabprotect.engine.project.history import History
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.recipes import replay
from tabprotect.engine.project.verbs.table_verbs import tabulate
from tests.cli.conftest import Command

RECORDS = "region,age\nn1,0\nn2,4\ns1,5\ns1,66\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text(RECORDS)
    Path("geo.hrc").write_text("north\n@n1\n@n2\nsouth\n@s1\n")


def test_bands_and_code_lists(run: Command) -> None:
    words = ["tabulate", "r.csv", "--by", "region,age", "--code-list", "region=geo.hrc"]
    assert run(*words, "--band", "age:5", "--out", "t.csv", "--json").json["shape"] == [2, 3]
    table = tp.read_table("t.csv")
    assert table.domain["region"].categories == ("north", "south")
    assert table.domain["age"].categories == ("0-4", "5-9", "65-69")
    assert table.counts.tolist() == [[2, 0, 0], [0, 1, 1]]
    given = {"bands": {"age": 5}, "code_lists": {"region": "geo.hrc"}}
    assert tp.tabulate("r.csv", by=["region", "age"], **given) == table
    assert run(*words, "--cut", "age:0,15,65", "--out", "t.csv").code == 0
    cut = tp.read_table("t.csv")
    assert cut.domain["age"].categories == ("0-14", "65+")
    assert cut.counts.tolist() == [[2, 0], [1, 1]]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--band", "age"], 2, "VARIABLE:WIDTH"),
        (["--band", "age:0"], 2, "at least 1"),
        (["--cut", "age:0,x"], 2, "VARIABLE:CUT"),
        (["--band", "region:5"], 3, "r.csv, line 2, cell (region: n1): region: 'n1' is no whole"),
    ],
)
def test_faults(run: Command, words: list[str], code: int, says: str) -> None:
    found = run("tabulate", "r.csv", "--by", "region,age", *words, "--out", "t.csv")
    assert found.code == code and says in found.err
    assert not Path("t.csv").exists()


def test_the_shell_line_and_the_recipe_do_the_same(tmp_path: Path) -> None:
    order = tabulate(
        source="r.csv", by=["region", "age"], cuts={"age": [5]}, code_lists={"region": "geo.hrc"}
    )
    history, _ = History().do(order)
    assert main(order.words(Project())) == 0
    assert tp.read_table("table.csv").table == history.project.original
    text = recipe_text.to_text(history.trail, seeds=False)
    elsewhere = tmp_path / "deeper"
    elsewhere.mkdir()
    again, _ = replay.run(replay.from_text(text), elsewhere, folder=tmp_path)
    assert again.project.original == history.project.original
