"""ACRO's files: flags and decisions as its viewer reads them, and the outputs of others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tabprotect.engine.output_checking.acro_files import is_acro, read_acro, write_acro
from tabprotect.engine.output_checking.flags_and_decisions import CheckRules, Decision, flag_cells
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

WHEN = "2026-11-22T10:00:00+00:00"
TABLE = Table.dense(Domain.of({"sex": ["f", "m"], "age": ["young", "old"]}), np.array([[10, 3], [20, 0]]))


def test_flags_stand_by_row_and_column_and_the_table_beside_them(tmp_path: Path) -> None:
    checked = flag_cells(TABLE, CheckRules(classes=False, zeros=True))
    said = Decision("approve", "ann", WHEN, "known")
    path = tmp_path / "results.json"
    file = write_acro(checked.decided({("f", "old"): said}), TABLE, path, when=WHEN)
    assert file.parent == tmp_path and file.read_text() == "sex\\age,young,old\nf,10,3\nm,20,0\n"
    assert {p.stat().st_mode & 0o077 for p in (file, path)} == {0}
    result = json.loads(path.read_text())["results"]["output_0"]
    assert result["status"] == "review" and result["timestamp"] == WHEN
    assert result["files"][0]["sdc"]["cells"] == {
        "MinimumThresholdCheck": [[0, 1]],
        "PresenceOfZeroCheck": [[1, 1]],
        "RequiredZeroCheck": [],
    }
    assert result["comments"] == [f"(f, old): approve by ann at {WHEN}: known"]


def test_what_is_written_is_read_by_output_row_and_column(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_acro(flag_cells(TABLE, CheckRules(zeros=True)), TABLE, path, when=WHEN)
    found = read_acro(path)
    assert found.variables == ("output", "row", "column")
    assert {flag.cell: list(flag.reasons) for flag in found.flags} == {
        ("output_0", "f", "old"): ["threshold", "class"],
        ("output_0", "m", "young"): ["class"],
        ("output_0", "m", "old"): ["zero"],
    }


def test_outputs_without_cells_are_one_flag_unless_they_passed(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    results = {
        "fit": {"status": "review", "summary": "a regression", "outcome": {}},
        "plot": {"status": "fail", "summary": ""},
        "fine": {"status": "pass"},
        "done": {"status": "approved"},
        "table": {"status": "pass", "outcome": {"old": {"f": "ok", "m": "p-ratio; threshold; "}}},
    }
    path.write_text(json.dumps({"version": "0.4.8", "results": results}))
    assert {flag.cell: dict(flag.reasons) for flag in read_acro(path).flags} == {
        ("fit", "", ""): {"status": "a regression"},
        ("plot", "", ""): {"status": "fail"},
        ("table", "m", "old"): {
            "p-ratio": "flagged by ACRO: p-ratio",
            "threshold": "flagged by ACRO: threshold",
        },
    }


def test_its_files_are_told_by_their_name() -> None:
    assert is_acro(Path("out/Results.json")) and not is_acro(Path("decisions.json"))
