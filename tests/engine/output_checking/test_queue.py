"""Rules from a file beside the table, and a queue of outputs with a decision and a comment each."""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tabprotect.cli.main import main
from tabprotect.engine.errors import InputError
from tabprotect.engine.output_checking.output_queue import Output, OutputQueue, publish, read

TABLE = "region,ill,count\nn,yes,3\nn,no,40\ns,yes,0\ns,no,25\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    code = main(["check", *words, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out.strip() else said.err


def flagged(capsys: pytest.CaptureFixture[str], *words: str) -> list[tuple[list[str], list[str]]]:
    return [(one["cell"], one["rules"]) for one in check(capsys, "t.csv", *words)[1]["cells"]]


SACRO = (
    "# of this project\nsafe_threshold: 30\nsafe_dof_threshold: 10\nsafe_nk_n: 2\nsafe_nk_k: 0.9\n"
    "safe_pratio_p: 0.1\ncheck_missing_values: false\nzeros_are_disclosive: true # yes\n"
)


def test_rules_come_from_the_file_beside_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    alone = flagged(capsys)
    assert alone == [(["n", "yes"], ["threshold", "class"]), (["s", "no"], ["class"])]
    Path("risk_appetite.yaml").write_text(SACRO)
    assert flagged(capsys) == [
        (["n", "yes"], ["threshold", "class"]),
        (["s", "yes"], ["zero"]),
        (["s", "no"], ["threshold", "class"]),
    ]
    assert check(capsys, "t.csv")[1]["not_of_counts"] == [
        *("safe_dof_threshold", "safe_nk_n", "safe_nk_k", "safe_pratio_p", "check_missing_values")
    ]
    # What is asked goes before.
    assert flagged(capsys, "--threshold", "2", "--no-classes") == [(["s", "yes"], ["zero"])]
    Path("other.toml").write_text("safe_threshold = 2\nfull_groups = false\n")
    assert flagged(capsys, "--rules", "other.toml") == []


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("safe_treshold: 10\n", 4, "safe_treshold"),
        ("safe_threshold: many\n", 4, "safe_threshold"),
        ("safe_threshold: 10\nwhat\n", 3, "line 2"),
        ("safe_threshold: 10\nsafe_threshold: 9\n", 3, "line 2"),
    ],
)
def test_a_file_that_says_something_else_is_refused(
    text: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("risk_appetite.yaml").write_text(text)
    assert main(["check", "t.csv"]) == code
    err = capsys.readouterr().err
    assert said in err and "risk_appetite.yaml" in err


def test_each_output_gets_a_decision_and_a_comment(capsys: pytest.CaptureFixture[str]) -> None:
    Path("u.csv").write_text(TABLE.replace(",3\n", ",30\n"))
    for name in ("t.csv", "u.csv", "t.csv"):
        check(capsys, name, "--queue", "q.json")
    assert stat.S_IMODE(Path("q.json").stat().st_mode) == 0o600
    code, found = check(capsys, "q.json")
    assert code == 5 and found["open"] == 2
    assert [(one["number"], one["file"], one["decision"]) for one in found["outputs"]] == [
        (1, "t.csv", ""),
        (2, "u.csv", ""),
    ]
    said = ("--who", "A. Checker", "--why", "large enough")
    assert check(capsys, "q.json", "--decide", "2=approve", *said)[1]["open"] == 1
    code, found = check(capsys, "q.json", "--decide", "1=approve", *said)
    assert code == 0 and found["outputs"][0]["comment"] == "large enough" and found["outputs"][0]["when"]
    # The same file checked again keeps its decision; another file under its name loses it.
    assert check(capsys, "t.csv", "--queue", "q.json")[0] == 5 and check(capsys, "q.json")[0] == 0
    Path("t.csv").write_text(TABLE.replace(",3\n", ",4\n"))
    assert check(capsys, "q.json")[1]["open"] == 1
    code, found = check(capsys, "q.json", "--decide", "1=approve", *said)
    assert code == 3 and "another file" in found["error"]["message"]
    check(capsys, "t.csv", "--queue", "q.json")
    assert check(capsys, "q.json")[1]["outputs"][0]["decision"] == ""
    assert check(capsys, "q.json", "--decide", "1=reject", *said)[0] == 5
    for wrong, of in (("3=approve", 3), ("1=change:4", 3), ("x=approve", 2)):
        assert check(capsys, "q.json", "--decide", wrong, *said)[0] == of
    code, found = check(capsys, "q.json", "--zeros", "--totals", "none")
    assert code == 2 and "--zeros, --totals" in str(found)
    Path("not.json").write_text("{}")
    before = Path("not.json").read_text()
    assert check(capsys, "t.csv", "--queue", "not.json")[0] == 3 and Path("not.json").read_text() == before


def test_what_is_ready_leaves_all_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    out = Path("out")
    for folder in ("again", "out"):
        Path(folder).mkdir()
    said = ("--who", "A. Checker", "--why", "large enough")
    names = ["t.csv", "u.csv", "again/t.csv", "v.csv"]
    for name in names:
        Path(name).write_text(TABLE)
        check(capsys, name, "--queue", "q.json")
    ready = [word for n in (1, 2, 3) for word in ("--decide", f"{n}=approve")]
    check(capsys, "q.json", *ready, *said)

    def published() -> list[str]:
        publish(read(Path("q.json")), out)
        return sorted(file.name for file in out.iterdir())

    with pytest.raises(InputError, match="two outputs have the name"):
        published()
    check(capsys, "q.json", "--decide", "3=reject", *said)
    # Another file than the one that was decided on stays, and so does what is no text.
    Path("u.csv").write_text(TABLE.replace("40", "41"))
    assert published() == ["t.csv"] and (out / "t.csv").read_text() == TABLE
    with pytest.raises(InputError):
        published()
    hidden = b"PK\0firms"
    Path("v.csv").write_bytes(hidden)
    queue = OutputQueue((Output(1, "v.csv", hashlib.sha256(hidden).hexdigest(), "pass", 0, "approve"),))
    with pytest.raises(InputError, match="no text"):
        publish(queue, out)
    assert [file.name for file in out.iterdir()] == ["t.csv"]


FIRMS = {"n": [50, 40, 5, 4], "s": [30, 25, 20, 15, 10], "w": [90, 3, 3, 2, 2]}


def test_sums_are_flagged_by_acros_rules(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{region},{region}{k},{value}" for region, own in FIRMS.items() for k, value in enumerate(own)]
    Path("firms.csv").write_text("region,ent,turnover\n" + "\n".join(lines) + "\n")
    made = "tabulate firms.csv --by region --measure turnover --holding ent --out firms.parquet"
    assert main(made.split()) == 0
    capsys.readouterr()

    def by_sums(*limits: str) -> dict[str, set[str]]:
        Path("risk_appetite.yaml").write_text("safe_threshold: 3\nfull_groups: false\n" + "\n".join(limits))
        found = check(capsys, "firms.parquet")[1]
        assert found["not_of_counts"] == []
        return {one["cell"][0]: set(one["rules"]) for one in found["cells"]}

    def by_hand(n: int, k: float, p: float) -> dict[str, set[str]]:
        out = {}
        for cell, own in {**FIRMS, "Total": [value for one in FIRMS.values() for value in one]}.items():
            top = sorted(own, reverse=True)
            rules = {"nk-rule"} if sum(top[:n]) > k * sum(top) else set()
            rules |= {"p-ratio"} if sum(top[2:]) < p * top[0] else set()
            if rules:
                out[cell] = rules
        return out

    # Without limits of its own they are ACRO's.
    assert by_sums() == by_hand(2, 0.9, 0.1) == {"n": {"nk-rule"}, "w": {"nk-rule", "p-ratio"}}
    assert by_sums("safe_nk_n: 1", "safe_nk_k: 0.25", "safe_pratio_p: 0.2") == by_hand(1, 0.25, 0.2)
