"""``check``: flags against a hand count, decision files there and back, ACRO's results.json."""

from __future__ import annotations

import csv
import itertools
import json
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.output_checking.flags_and_decisions import CheckRules, flag_cells
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tests.cli.conftest import Command

TABLE = "region,ill,count\nn,yes,3\nn,no,40\ns,yes,0\ns,no,25\n"


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)


def test_flags_and_reasons(run: Command) -> None:
    found = run("check", "t.csv", "--zeros", "--json")
    assert found.code == 5 and found.json["status"] == "review"
    assert [(c["cell"], c["rules"]) for c in found.json["cells"]] == [
        (["n", "yes"], ["threshold", "class"]),
        (["s", "yes"], ["zero"]),
        (["s", "no"], ["class"]),
    ]
    reasons = found.json["cells"][0]["reasons"]
    assert reasons["threshold"] == "3 is below the threshold of 10"
    assert reasons["class"] == "everybody of (yes) is in region = n"
    assert run("check", "t.csv", "--threshold", 2, "--no-classes").code == 0


@pytest.mark.parametrize("name", ["d.csv", "d.json"])
def test_from_flags_to_decisions(run: Command, name: str) -> None:
    assert run("check", "t.csv", "--out", name).code == 5
    assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    said = ["--who", "A. Checker", "--why", "known from the register"]
    words = ["check", "t.csv", "--decisions", name, "--out", name]
    first = run(*words, "--decide", "n,yes=change:5", *said, "--json").json
    assert first["status"] == "review"
    done = run("check", "t.csv", "--decisions", name, "--decide", "s,no=approve", *said, "--json")
    assert done.code == 0 and done.json["status"] == "approved"
    changed, approved = done.json["cells"]
    assert (changed["decision"], changed["to"], changed["who"]) == ("change", 5, "A. Checker")
    assert approved["decision"] == "approve" and approved["to"] is None and approved["when"]
    refused = run("check", "t.csv", "--decide", "all=reject", *said, "--json")
    assert refused.code == 5 and refused.json["status"] == "fail"


def test_a_decision_file_filled_in_by_hand(run: Command) -> None:
    run("check", "t.csv", "--out", "d.csv")
    rows = list(csv.reader(Path("d.csv").read_text().splitlines()))
    rows[1][-5:] = ["approve", "", "me", "2026-01-02", "fine"]
    with Path("d.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    found = run("check", "t.csv", "--decisions", "d.csv", "--json").json
    assert [cell["decision"] for cell in found["cells"]] == ["approve", None]
    rows[1][-1] = ""
    with Path("d.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    refused = run("check", "t.csv", "--decisions", "d.csv")
    assert refused.code == 3 and "d.csv, line 2, cell (n, yes): a decision does not say why" in (refused.err)
    Path("t.csv").write_text(TABLE.replace("n,yes,3", "n,yes,30"))
    rows[1][-1] = "fine"
    rows[1][0] = "x"
    with Path("d.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert "not flagged" in run("check", "t.csv", "--decisions", "d.csv").err


def test_acro_there_and_back(run: Command) -> None:
    assert run("check", "t.csv", "--out", "results.json").code == 5
    data = json.loads(Path("results.json").read_text())
    (result,) = data["results"].values()
    assert result["status"] == "review" and data["version"]
    assert Path(result["files"][0]["name"]).read_text().startswith("region\\ill,yes,no\n")
    assert result["files"][0]["sdc"]["cells"]["MinimumThresholdCheck"] == [[0, 0]]
    assert result["outcome"] == {
        "yes": {"n": "threshold; class; ", "s": "ok"},
        "no": {"n": "ok", "s": "class; "},
    }
    back = run("check", "results.json", "--out", "d.csv", "--json").json
    assert [cell["cell"] for cell in back["cells"]] == [["output_0", "n", "yes"], ["output_0", "s", "no"]]
    assert back["cells"][0]["rules"] == ["threshold", "class"]
    result["outcome"] = {}
    result["summary"] = "review; a regression"
    Path("results.json").write_text(json.dumps(data))
    (cell,) = run("check", "results.json", "--json").json["cells"]
    assert cell["reasons"] == {"status": "review; a regression"}
    Path("results.json").write_text("{}")
    assert run("check", "results.json").code == 3


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--decide", "n,yes=approve"], 2, "--who and --why"),
        (["--decide", "n,no=approve", "--who", "a", "--why", "b"], 3, "not flagged"),
        (["--decide", "n,yes=maybe", "--who", "a", "--why", "b"], 3, "no decision"),
        (["--decide", "n,yes=change", "--who", "a", "--why", "b"], 3, "to which count"),
        (["--threshold", "-1"], 4, "0 or more"),
        (["--out", "t.csv"], 2, "overwritten"),
    ],
)
def test_faults(run: Command, words: list[str], code: int, says: str) -> None:
    found = run("check", "t.csv", *words)
    assert found.code == code and says in found.err


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_rules_against_looking_at_every_cell(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(3,), (2, 3), (2, 2, 2)]))
    size = int(np.prod(shape))
    counts = data.draw(st.lists(st.sampled_from([0, 0, 1, 4, 9, 10]), min_size=size, max_size=size))
    table = Table.dense(Domain.of_shape(shape), np.array(counts).reshape(shape))
    found = {flag.cell: set(flag.reasons) for flag in flag_cells(table, CheckRules(5, zeros=True)).flags}
    for index in itertools.product(*map(range, shape)):
        count = table.counts[index]
        expected = {"threshold"} if 0 < count < 5 else {"zero"} if count == 0 else set()
        for axis, length in enumerate(shape):
            line = [table.counts[(*index[:axis], i, *index[axis + 1 :])] for i in range(length)]
            if count > 0 and sum(line) == count:
                expected.add("class")
        assert found.get(table.domain.labels(index), set()) == expected
