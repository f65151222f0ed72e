"""Where only the list of the house leaves, what is looked at changes nothing of it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import tabprotect as tp
from tabprotect.engine import agency
from tabprotect.engine.disclosure.policy import AgencyPolicy

ONLY = AgencyPolicy(off_list="reason", kept_small="keep")
COUNTS = [[9, 3, 8, 1], [7, 9, 4, 2], [2, 5, 6, 3], [1, 8, 2, 12]]
WEAK = {"cycles": "elementary", "blocking": "any_zero", "alpha": 0.013, "beta": 0.013}


@pytest.fixture
def table(tmp_path: Path) -> tp.Table:
    rows = [f"a{i},b{j},{n}" for i, row in enumerate(COUNTS) for j, n in enumerate(row)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,count", *rows]))
    return tp.read_table(tmp_path / "t.csv")


def gate_of(bundle: Path) -> dict[str, object]:
    with zipfile.ZipFile(bundle) as opened:
        stated: dict[str, object] = json.loads(opened.read("mechanism.json"))["gate"]
    return stated


def test_a_draft_then_the_list_is_the_list(
    table: tp.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, after, free = (tmp_path / name for name in ("alone.zip", "after.zip", "free.zip"))
    for name, bundle in (("first", alone), ("second", after)):
        tp.new_register(tmp_path / f"{name}.sqlite")
        monkeypatch.setenv(agency.REGISTER, str(tmp_path / f"{name}.sqlite"))
        if name == "second":
            draft = tp.protect(table, draft=True, policy=ONLY, **WEAK)
            assert draft.verdict.passed is not True
        tp.protect(table, policy=ONLY).publish(bundle, no_page=True)
    assert alone.read_bytes() == after.read_bytes()
    assert "changed_after_refusal" not in gate_of(after)
    # The looks are kept: where anything may leave, they count.
    loose = AgencyPolicy(kept_small="keep")
    tp.protect(table, policy=loose, accept="a test").publish(free, no_page=True, again="a test")
    assert gate_of(free)["changed_after_refusal"] is True


def test_what_somebody_names_takes_a_reason_there(table: tp.Table, tmp_path: Path) -> None:
    tp.new_register(tmp_path / "r.sqlite")
    for given in ({"passes": 2}, {"seed": 2**127 + 5}):
        with pytest.raises(tp.RefusedError, match="earlier tries"):
            tp.protect(table, policy=ONLY, **given)
    done = tp.protect(table, policy=ONLY, passes=2, accept="a test").publish(tmp_path / "o.zip", no_page=True)
    assert done.verdict.left_out == ("attempts",)
    assert gate_of(tmp_path / "o.zip")["reason"] is True
    with pytest.raises(tp.ParameterError, match="off_list"):
        AgencyPolicy(off_list="never")  # type: ignore[arg-type]
