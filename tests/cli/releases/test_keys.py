"""``keys``, ``protect --sign`` and ``verify --signer``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_sign_and_ask_for_the_signer(run: Run, tmp_path: Path) -> None:
    made = run("keys", "new", "--out", tmp_path / "k", "--json").json
    assert made["public"] == str(tmp_path / "k.pub")
    out = tmp_path / "r.zip"
    words = ("protect", "example:duncan-roehrig-4x4", "--out", out, "--sign", tmp_path / "k")
    assert run(*words).code == 0
    for signer in (tmp_path / "k.pub", made["public_key"]):
        found = run("verify", out, "--signer", signer, "--json")
        assert found.code == 0 and found.json["signers"] == [made["public_key"]]
    assert "a key that you have to compare" in run("verify", out).out
    assert "the key that was asked for" in run("verify", out, "--signer", tmp_path / "k.pub").out
    assert run("verify", out, "--signed", "--quick").code == 0
    run("keys", "new", "--out", tmp_path / "other")
    assert run("verify", out, "--signer", tmp_path / "other.pub").code == 6
    assert run("verify", out, "--signer", tmp_path / "k").code == 3
    assert run(*words[:-1], tmp_path / "none").code == 3
    assert run("protect", "example:duncan-roehrig-4x4", "--out", out).code == 0
    assert run("verify", out, "--signer", tmp_path / "k.pub").code == 6
    assert run("verify", out, "--quick").code == 0
    assert run("verify", out, "--quick", "--signed").code == 6
    assert run("keys", "new", "--out", tmp_path / "k").code == 3


def test_labels_that_a_spreadsheet_runs_are_told_at_verify_and_export(run: Run, tmp_path: Path) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "r.zip"
    table.write_text("v,w,count\n=1+1,x,20\n=1+1,y,30\nb,x,40\nb,y,50\n")
    assert run("protect", table, "--method", "random_rounding", "--out", out).code == 0
    checked = run("verify", out, "--quick", "--json")
    assert any("spreadsheet would run" in remark for remark in checked.json["remarks"])
    assert "spreadsheet would run" in run("verify", out, "--quick").out
    written = run("export", out, "--out", tmp_path / "o.csv", "--json")
    assert written.code == 0 and written.json["remarks"] == checked.json["remarks"]


def test_the_key_of_the_house(run: Run, tmp_path: Path, house_folder: Path) -> None:
    first = run("keys", "house", "--json").json
    again = run("keys", "house", "--out", tmp_path / "copy", "--json").json
    assert first["made"] and not again["made"] and first["mark"] == again["mark"]
    assert first["file"] == str(house_folder / "house.key")
    copy = tmp_path / "copy"
    assert copy.read_bytes() == Path(first["file"]).read_bytes()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.read_text().strip() not in run("keys", "house").out


def test_two_names_and_two_signatures(run: Run, tmp_path: Path) -> None:
    for name in ("k", "l"):
        run("keys", "new", "--out", tmp_path / name)
    policy, out = tmp_path / "policy.toml", tmp_path / "r.zip"
    policy.write_text("two_signatures = true\n")
    words = ("protect", "example:duncan-roehrig-4x4", "--out", out, "--policy", policy)
    for named in ((), ("--prepared-by", "A"), ("--prepared-by", "A. Same", "--approved-by", "a.same")):
        found = run(*words, *named)
        assert found.code == 5 and not out.exists()
    named = ("--prepared-by", "A", "--approved-by", "B")
    assert run(*words, *named, "--sign", tmp_path / "k", "--sign", tmp_path / "l").code == 0
    for name in ("k", "l"):
        assert run("verify", out, "--quick", "--signer", tmp_path / f"{name}.pub").code == 0
    assert run(*words, *("--sign", tmp_path / "k") * 3).code == 2


def test_two_signatures_are_two_keys_of_those_whom_the_policy_lists(
    run: Run, tmp_path: Path, house_folder: Path
) -> None:
    keys = {
        name: run("keys", "new", "--out", tmp_path / name, "--json").json["public_key"]
        for name in ("anna", "ben", "carl")
    }
    policy = house_folder / "policy.toml"
    lines = [f'{name} = "{keys[name]}"' for name in ("anna", "ben")]
    policy.write_text("\n".join(["signatures = 2", "[approvers]", *lines, ""]))
    out, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    words = ("protect", "example:duncan-roehrig-4x4", "--out", out, "--dossier", dossier)

    def refused(*more: object) -> str:
        found = run(*words, *more)
        assert found.code == 5 and not out.exists() and not dossier.exists()
        return str(found.err)

    anna, ben, carl = (tmp_path / name for name in keys)
    said = refused("--prepared-by", "Anna", "--approved-by", "Anna B.")
    assert "2 keys of its approvers" in said and "tabprotect keys new" in said
    assert "--sign KEY --sign KEY" in said
    assert "there are 1" in refused("--sign", anna)
    copy = tmp_path / "copy"
    copy.write_bytes(anna.read_bytes())
    assert "there are 1" in refused("--sign", anna, "--sign", copy)
    assert "none of an approver" in refused("--sign", anna, "--sign", carl)
    assert "the key is that of ben" in refused("--sign", anna, "--sign", ben, "--approved-by", "carl")
    assert run(*words, "--sign", anna, "--sign", ben).code == 0
    assert set(run("verify", out, "--quick", "--json").json["signers"]) == {keys["anna"], keys["ben"]}
    assert "Published by anna, approved by ben" in run("register", "show", "1").out
    for name, wrong in (("short", "ab"), ("dora", keys["anna"].upper())):
        policy.write_text("\n".join(["signatures = 2", "[approvers]", *lines, f'{name} = "{wrong}"', ""]))
        found = run(*words, "--sign", anna, "--sign", ben)
        assert found.code == 4 and f"approvers.{name}" in found.err
    assert b"anna" not in out.read_bytes()
