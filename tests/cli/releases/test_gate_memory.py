"""What the gate refused is remembered, and told with what is published after it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]

ONES = "A,B,count\n" + "".join(f"a{i},b{j},1\n" for i in (1, 2) for j in (1, 2, 3))


def test_settings_changed_after_a_refusal_are_told(run: Run, tmp_path: Path) -> None:
    table, out = tmp_path / "ones.csv", tmp_path / "r.zip"
    table.write_text(ONES)
    register = ("--register", tmp_path / "register.sqlite")
    words = ("protect", table, "--set", "cycles=strips-2", *register, "--out", out, "--json")
    assert run(*words).code == 5
    # What was refused, published against the gate, is what it is.
    accepted = run(*words, "--accept", "a reason").json
    assert accepted["verdict"]["complete"]
    negative = ("--set", "blocking=negative")
    assert run(*words, *negative).code == 5
    changed = run(*words, *negative, "--accept", "looked at").json
    assert not changed["verdict"]["complete"]
    assert "refused for this table before" in changed["verdict"]["note"]
    assert changed["verdict"]["left_out"] == ["attempts"]
    assert "published all the same: looked at" in changed["decisions"][0]
    assert changed["decisions"][1] == (
        "settings were changed after the gate had refused others: cyclic_perturbation"
    )
    with zipfile.ZipFile(out) as bundle:
        stated = json.loads(bundle.read("mechanism.json"))
        assert stated["gate"]["changed_after_refusal"] is True
        assert "Other settings were refused" in bundle.read("README.md").decode()
    verified = run("verify", out, "--json")
    assert verified.code == 7 and verified.json["left_out"] == ["attempts"]
    verified = verified.json
    assert not verified["verdict"]["complete"]
    assert not run("infer", out, "--json").json["complete"]
    # Without a register nobody remembers.
    forgotten = run("protect", table, *words[2:4], *negative, "--register", "none", "--out", out)
    assert forgotten.code == 0
    assert run("infer", out, "--json").json["complete"]


def test_a_set_that_is_refused_is_remembered_where_its_register_is(
    run: Run, tmp_path: Path, house_folder: Path
) -> None:
    table, register = tmp_path / "ones.csv", tmp_path / "register.sqlite"
    table.write_text(ONES)
    words = ("protect-set", table, "--table", "t=A*B", "--set", "cycles=strips-2")
    for place in ("none", register):
        assert run(*words, "--register", place, "--out", tmp_path / "set").code == 5
        assert not (house_folder / "register.sqlite").exists()
    assert register.exists()
