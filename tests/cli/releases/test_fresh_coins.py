"""Fresh coins are told apart from the house's, and releases that say too much together are refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SMALL = "A,B,count\na1,b1,1\na1,b2,2\na1,b3,0\na2,b1,0\na2,b2,2\na2,b3,1\n"
FOURS = "example:duncan-roehrig-4x4"


def mechanism(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as bundle:
        found: dict[str, Any] = json.loads(bundle.read("mechanism.json"))
    return found


def test_equal_fresh_releases_multiply_and_equal_house_ones_are_one(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(SMALL)
    words = ("protect", table, "--set", "cycles=elementary", "--set", "blocking=negative")
    same: dict[str, list[Path]] = {}
    for number in range(60):
        out = tmp_path / f"{number}.zip"
        run(*words, "--fresh", "--accept", "a reason", "--register", "none", "--out", out)
        with zipfile.ZipFile(out) as bundle:
            same.setdefault(bundle.read("table.csv").decode(), []).append(out)
        if any(len(found) == 2 for found in same.values()):
            break
    one, other = next(found for found in same.values() if len(found) == 2)
    first, second = mechanism(one), mechanism(other)
    assert first["coins"] == second["coins"] == "fresh" and first["nonce"] != second["nonce"]
    assert len(bytes.fromhex(first["nonce"])) == 16
    both, alone = run("infer", one, other, "--json").json, run("infer", one, "--json").json
    assert both["way"] == "exact"
    assert both["cells"] != alone["cells"]
    assert "same draw" not in run("infer", one, other).out
    # The house's own coins: the same bytes, and one draw under two titles.
    for name in ("h1", "h2"):
        given = ("--accept", "a reason", "--title", name, "--register", "none")
        run(*words, *given, "--out", tmp_path / f"{name}.zip")
    house = mechanism(tmp_path / "h1.zip")
    assert house["coins"] == "house" and "nonce" not in house
    told = run("infer", tmp_path / "h1.zip", tmp_path / "h2.zip")
    assert "One release is the same draw as another" in told.out + told.err


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ({"coins": "own"}, '"coins" must be one of'),
        ({"coins": "fresh"}, '"nonce" does not go'),
        ({"coins": "house", "nonce": "00" * 16}, '"nonce" does not go'),
        ({"coins": "fresh", "nonce": "xy" * 16}, '"nonce" does not go'),
    ],
)
def test_forged_coins_are_refused(stated: dict[str, str], why: str) -> None:
    from tabprotect.engine.errors import InputError
    from tabprotect.engine.release.mechanism import Mechanism
    from tabprotect.engine.tables.domain import Domain

    with pytest.raises(InputError, match=why):
        Mechanism.from_json({"method": "any", **stated}, Domain.of_shape((2, 2)))


def test_what_is_too_much_together_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register = ("--register", tmp_path / "register.sqlite")
    assert run("register", "new", register[1]).code == 0
    refused = None
    for number in range(12):
        out = tmp_path / f"{number}.zip"
        done = run("protect", FOURS, "--fresh", "--out", out, *register, "--json")
        if done.code:
            refused = done
            break
        assert done.json["verdict"]["accepted"]
    assert refused is not None and refused.code == 5 and not out.exists()
    assert "Together with" in refused.json["error"]["message"]
    # All that left count, each as a draw of its own.
    checked = run("register", "check", FOURS, *register, "--json").json
    assert checked["together"]["releases"] == number == checked["kept"]
    assert "Together with" in checked["warnings"][0]["message"]
    # Who draws until something may leave beside it chooses: it leaves where little is told by what was refused,
    # for that is drawn again for people whom a reader takes for possible.
    again = ("protect", FOURS, "--fresh", *register, "--json")
    chosen = run(*again, "--out", out)
    said = chosen.json["error"]["message"] if chosen.code else ""
    assert chosen.code in (0, 5)
    assert not said or "what earlier tries of the method tell" in said or "Together with" in said
    policy = tmp_path / "policy.toml"
    policy.write_text('together = "reason"\n')
    monkeypatch.setenv("TABPROTECT_POLICY", str(policy))
    reasons = ("--again", "asked for", "--accept", "asked for")
    accepted = run(*again, *reasons, "--out", tmp_path / "reason.zip")
    assert accepted.code == 0 and "attempts" in accepted.json["verdict"]["left_out"]
    assert run("verify", tmp_path / "reason.zip").code == 7


def test_a_finer_table_is_read_beside_a_coarser_one(run: Run, tmp_path: Path) -> None:
    counts = [[[2, 0], [7, 3], [4, 4]], [[6, 6], [4, 3], [4, 3]], [[1, 2], [5, 5], [8, 5]]]
    fine, coarse = ["A,B,C,count"], ["A,B,count"]
    for a, rows in zip("abc", counts, strict=True):
        for b, cells in zip("def", rows, strict=True):
            fine += [f"{a},{b},{c},{n}" for c, n in zip("xy", cells, strict=True)]
            coarse.append(f"{a},{b},{sum(cells)}")
    (tmp_path / "fine.csv").write_text("\n".join(fine))
    (tmp_path / "coarse.csv").write_text("\n".join(coarse))
    register = ("--register", tmp_path / "register.sqlite", "--no-page", "--json")
    assert run("register", "new", register[1]).code == 0
    first = ("protect", tmp_path / "coarse.csv", "--method", "suppression", *register)
    assert run(*first, "--out", tmp_path / "coarse.zip").json["verdict"]["accepted"]
    # The cycles keep the count that the coarser table hides.
    second = ("protect", tmp_path / "fine.csv", "--kept-small", "keep", *register)
    refused = run(*second, "--out", tmp_path / "fine.zip")
    assert refused.code == 5 and not (tmp_path / "fine.zip").exists()
    assert "1 for certain" in refused.json["error"]["message"]


def test_releases_that_cannot_be_read_together_are_null(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tabprotect.engine.bundle import inferring
    from tabprotect.engine.errors import InfeasibleError

    table, words = tmp_path / "t.csv", ("--accept", "a reason", "--register", "none", "--no-page")
    table.write_text(SMALL)
    for name in ("1.zip", "2.zip"):
        run("protect", table, "--fresh", *words, "--out", tmp_path / name)

    def beyond(*_: object, **__: object) -> None:
        raise InfeasibleError("too many")

    monkeypatch.setattr(inferring, "believe", beyond)
    both = ("infer", tmp_path / "1.zip", tmp_path / "2.zip")
    found = run(*both, "--json")
    assert found.code == 0 and found.json["reason"] == "Too many."
    assert found.json["way"] is None and found.json["cells"] is None
    assert "Too many." in run(*both).out
    assert run(*both[:2]).code == run(*both, "--way", "exact").code == 5
