"""The audit trail is a chain: what was cut, swapped or changed is named by its line."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tabprotect.cli.main import main
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.staff.audit_trail import chained, trail_faults
from tabprotect.version import __version__, commit, compiled

Lines = list[dict[str, Any]]

TRAIL = chained([{"time": f"t{n}", "label": str(n), "result": {"total": n}} for n in range(1, 6)])


def lines() -> Lines:
    return [dict(json.loads(json.dumps(line))) for line in TRAIL.lines]


def test_a_whole_trail_has_no_fault() -> None:
    assert trail_faults(lines(), TRAIL.head) == () and trail_faults([], confidential.NO_TRAIL.head) == ()


@pytest.mark.parametrize("place", range(5))
def test_every_edit_and_cut_is_named(place: int) -> None:
    for name, other in (("time", "later"), ("label", "x"), ("result", {"total": 9}), ("more", 1)):
        edited = lines()
        edited[place][name] = other
        assert trail_faults(edited, TRAIL.head) == (f"line {place + 1} was changed",)
    cut = lines()
    del cut[place]
    (fault,) = trail_faults(cut, TRAIL.head)
    wanted = f"line {place + 1} was cut, or moved" if place < 4 else "it ends with line 4, and had 5"
    assert fault == wanted
    hashed_anew = lines()
    hashed_anew[place]["label"] = "x"
    again = chained([{k: v for k, v in one.items() if k not in ("number", "chain")} for one in hashed_anew])
    assert trail_faults(again.lines) == ()
    assert trail_faults(again.lines, TRAIL.head) == ("it is another than was recorded",)


@pytest.mark.parametrize("pair", [*itertools.combinations(range(5), 2)])
def test_every_swap_is_named(pair: tuple[int, int]) -> None:
    swapped = lines()
    a, b = pair
    swapped[a], swapped[b] = swapped[b], swapped[a]
    said = "; ".join(trail_faults(swapped, TRAIL.head))
    assert f"line {a + 1}" in said or f"lines {a + 1} to" in said


@pytest.fixture
def dossier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.setenv("TABPROTECT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("region,sex,count\nc,f,9\nc,m,11\nb,f,7\nb,m,2\na,f,5\na,m,1\n")
    # A mechanism that the gate refuses, then one that leaves.
    words = ["protect", "in.csv", "--no-page", "--out", "r.zip", "--method"]
    assert main([*words, "cyclic_perturbation", "--set", "alpha=0.01", "--set", "beta=0.01"]) == 5
    assert main([*words, "random_rounding", "--dossier", "d.zip", "--accept", "a reason"]) == 0
    capsys.readouterr()
    return tmp_path / "d.zip"


def within(path: Path) -> dict[str, bytes]:
    return archive.unpack(path.read_bytes(), allowed=lambda _: True)


def sealed_anew(files: dict[str, bytes], path: Path) -> None:
    """What a forger does: every hash of the manifest is made again."""
    files = {name: data for name, data in files.items() if name != archive.MANIFEST}
    path.write_bytes(archive.pack(archive.sealed(files, confidential.KIND)))


def test_the_trail_says_who_with_what_on_what_and_what_came_of_it(dossier: Path) -> None:
    trail = json.loads(within(dossier)["CONFIDENTIAL/audit_trail.json"])
    assert [line["number"] for line in trail] == list(range(1, len(trail) + 1))
    assert [line["time"] for line in trail] == sorted(line["time"] for line in trail)
    own = [line for line in trail if not line.get("refused")]
    program = (
        f"tabprotect {__version__}, commit {commit()}, compiled {compiled()['here']} of {compiled()['all']}"
    )
    assert {line["program"] for line in own} == {program} and len(commit()) == 40
    assert all(line["user"] for line in own)
    opened = next(line for line in own if line["command"] == "open_table")
    assert opened["inputs"] == {"source": hashlib.sha256(Path("in.csv").read_bytes()).hexdigest()}
    assert opened["result"]["cells"] == 6 and opened["result"]["total"] == 35
    done, left = own[-2:]
    assert done["command"] == "protect" and done["result"]["accepted"] is True
    assert left["result"]["fingerprint"] == hashlib.sha256(Path("r.zip").read_bytes()).hexdigest()
    (refused,) = [line for line in trail if line.get("refused")]
    assert refused["label"] == "refused: cyclic_perturbation" and trail.index(refused) < trail.index(left)


def test_verify_names_the_line_and_the_register_finds_a_forger(
    dossier: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "d.zip", "--quick"]) == 0 and "in order" in capsys.readouterr().out
    assert main(["register", "check", "d.zip"]) == 0
    whole = within(dossier)
    name, record = "CONFIDENTIAL/audit_trail.json", "CONFIDENTIAL/record.json"

    def said(change: Callable[[Lines], Any], *, of: str = "verify", anew: bool = False) -> str:
        trail: Lines = json.loads(whole[name])
        change(trail)
        files = dict(whole)
        if anew:
            made = chained([{k: v for k, v in one.items() if k not in ("number", "chain")} for one in trail])
            trail = [dict(one) for one in made.lines]
            files[record] = json.dumps(json.loads(files[record]) | {"trail": made.head.as_json()}).encode()
        files[name] = json.dumps(trail).encode()
        sealed_anew(files, dossier.with_name("forged.zip"))
        capsys.readouterr()
        code = main([*of.split(), "forged.zip"])
        return f"{code} {capsys.readouterr().err}"

    assert said(lambda trail: trail[1].update(user="somebody")).startswith("6 ")
    assert "line 2 was changed" in said(lambda trail: trail[1].update(user="somebody"))
    assert "line 3 was cut" in said(lambda trail: trail.pop(2))
    assert "had" in said(lambda trail: trail.pop())
    assert "line 2 was cut, or moved" in said(lambda trail: trail.insert(4, trail.pop(1)))

    def unhashed(trail: Lines) -> None:
        for one in trail:
            del one["number"], one["chain"]

    assert "line 1 has no number" in said(unhashed)
    # Whoever hashes all of it anew is found by the register alone.
    assert said(lambda trail: trail[1].update(user="somebody"), anew=True).startswith("0 ")
    found = said(lambda trail: trail[1].update(user="somebody"), anew=True, of="register check")
    assert found.startswith("6 ") and "another than was recorded" in found
    found = said(lambda trail: trail.pop(1), anew=True, of="register check")
    assert found.startswith("6 ") and "it ends with line" in found


def test_nothing_of_it_is_in_the_bundle(dossier: Path) -> None:
    home = str(dossier.parent).encode()
    trail = json.loads(within(dossier)["CONFIDENTIAL/audit_trail.json"])
    private = [home, *(line["chain"].encode() for line in trail), trail[-1]["program"].encode()]
    for name, data in archive.unpack(Path("r.zip").read_bytes(), allowed=lambda _: True).items():
        assert not [word for word in private if word in data], name


def test_a_project_keeps_who_did_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tabprotect.engine.project.history import History
    from tabprotect.engine.project.saving import storage

    monkeypatch.setattr("tabprotect.engine.agency.user_name", lambda: "anna")
    history, _ = History().apply("open_table", {"source": "example:duncan-roehrig-4x4"})
    storage.save(history, tmp_path / "p.tabprotect")
    monkeypatch.setattr("tabprotect.engine.agency.user_name", lambda: "ben")
    again = storage.load(tmp_path / "p.tabprotect")
    again, _ = again.apply("set_title", {"title": "t"})
    assert [step.at.user for step in again.steps] == ["anna", "ben"]
    assert again.steps[0].at == history.steps[0].at and again.steps[0].at.result["cells"] == 16
