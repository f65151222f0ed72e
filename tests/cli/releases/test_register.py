"""``register`` and ``protect --register``: what left, and what is said before it leaves again."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from tabprotect.engine.disclosure.gate import UNSTATED
from tests.cli.conftest import Command

TABLE = "example:duncan-roehrig-4x4"

SEED = 2**127


@pytest.fixture
def protect(run: Command, tmp_path: Path) -> Command:
    def command(name: str, *words: object, table: str = TABLE) -> object:
        coin = () if "--method" in words else ("--set", "alpha=0.25", "--set", "beta=0.25")
        return run("protect", table, "--out", tmp_path / name, "--json", *coin, *words)

    return command  # type: ignore[return-value]


PAGE = Path(__file__).parents[3] / "resources" / "docs" / "commands" / "protect.md"


def kinds(outcome: object) -> list[str]:
    return [warning["kind"] for warning in outcome.json["warnings"]]  # type: ignore[attr-defined]


def test_publications_are_listed_and_a_second_one_warns(
    run: Command, protect: Command, tmp_path: Path, house_folder: Path
) -> None:
    one = protect("a.zip", "--seed", SEED + 1, "--title", "Towns")
    assert one.code == 0 and kinds(one) == []
    assert protect("again.zip", "--seed", SEED + 1, "--title", "Towns").json["warnings"] == []
    two = protect("b.zip", "--seed", SEED + 3)
    assert kinds(two) == ["published_before"]
    assert "this very table" in two.json["warnings"][0]["message"]
    policy = tmp_path / "policy.toml"
    policy.write_text('second_release = "refuse"\n')
    strict = ("--policy", policy, "--seed")
    # Beside another release the same bytes are as little a new one.
    assert protect("again.zip", *strict, SEED + 1, "--title", "Towns").code == 0
    assert protect("c.zip", *strict, SEED + 5).code == 5
    assert one.json["together"] is None
    joint = two.json["together"]
    assert joint["releases"] == 2
    page = PAGE.read_text(encoding="utf-8")
    assert not [key for key in (*two.json, *joint) if f"`{key}`" not in page]
    listed = run("register", "list", "--json").json["releases"]
    assert [entry["bundle"] for entry in listed] == [one.json["fingerprint"], two.json["fingerprint"]]
    assert listed[0]["title"] == "Towns" and listed[0]["gate"]["attempts_at_most"] == 3
    assert os.listdir(house_folder).count("register.sqlite") == 1
    shown = run("register", "show", one.json["fingerprint"], "--json").json
    assert shown["number"] == 1 and shown["bundle_kept"]

    checked = run("register", "check", TABLE, "--json").json
    assert checked["published_before"] and len(checked["releases"]) == 2
    both = run("infer", tmp_path / "a.zip", tmp_path / "b.zip", "--json").json
    expected = sum(
        sum(p for count, p in cell["distribution"].items() if count in ("1", "2")) for cell in both["cells"]
    )
    together = checked["together"]
    assert together["releases"] == 2
    assert together["verdict"]["at_risk"] == pytest.approx(expected)
    assert joint["verdict"]["at_risk"] == pytest.approx(expected)

    gone = run("register", "withdraw", 1, "--reason", "a wrong title", "--json")
    assert gone.json["withdrawn_reason"] == "a wrong title"
    assert run("register", "withdraw", 1, "--reason", "again").code == 3
    assert run("register", "withdraw", 2, "--json").json["withdrawn_reason"] == UNSTATED
    assert "withdrawn" in run("register", "list").out


def test_another_table(run: Command, protect: Command, tmp_path: Path) -> None:
    protect("a.zip", "--seed", SEED + 1)
    other = tmp_path / "other.csv"
    other.write_text("colour,size,count\nred,s,9\nred,l,8\nblue,s,7\nblue,l,12\n")
    checked = run("register", "check", other, "--json").json
    assert not checked["published_before"] and checked["together"] is None
    assert kinds(protect("b.zip", "--method", "random_rounding", table=str(other))) == []
    # One name that two tables share says nothing of who is counted; all names of one do.
    third, fourth = tmp_path / "third.csv", tmp_path / "fourth.csv"
    third.write_text("Colour,shape,count\nred,o,3\nred,x,9\nblue,o,4\nblue,x,12\n")
    assert kinds(protect("c.zip", "--method", "random_rounding", table=str(third))) == []
    fourth.write_text("colour,count\nred,29\nblue,48\n")
    found = protect("d.zip", "--method", "random_rounding", table=str(fourth))
    assert kinds(found) == ["published_before"]
    assert "of the same names" in found.json["warnings"][0]["message"]


def test_without_a_register_and_with_another(
    run: Command, protect: Command, tmp_path: Path, house_folder: Path
) -> None:
    assert protect("a.zip", "--seed", SEED + 1, "--register", "none").code == 0
    assert os.listdir(house_folder) == []
    place = tmp_path / "shared.sqlite"
    # A name that is mistyped is no empty register.
    for words in (("register", "list"), ("register", "check", TABLE)):
        assert run(*words, "--register", place).code == 3
    assert protect("a.zip", "--seed", SEED + 1, "--register", place).code == 3
    assert not place.exists() and run("register", "new", place).code == 0
    assert run("register", "new", place).code == 3
    assert protect("a.zip", "--seed", SEED + 1, "--register", place).code == 0
    assert protect("b.zip", "--seed", SEED + 3, "--register", f"sqlite:///{place}").code == 0
    assert len(run("register", "list", "--register", place, "--json").json["releases"]) == 2
    assert run("register", "list", "--json").json["releases"] == []
    assert run("register", "list", "--register", "none").code == 2


def test_the_policy_decides_on_a_second_release(run: Command, protect: Command, tmp_path: Path) -> None:
    protect("a.zip", "--seed", SEED + 1)
    policy = tmp_path / "policy.toml"
    policy.write_text('second_release = "reason"\n')
    refused = protect("b.zip", "--seed", SEED + 3, "--policy", policy)
    assert refused.code == 5 and refused.json["error"]["kind"] == "refused"
    assert not (tmp_path / "b.zip").exists()
    again = ("--again", "a correction", "--dossier", tmp_path / "d.zip")
    given = protect("b.zip", "--seed", SEED + 3, "--policy", policy, *again)
    assert given.code == 0
    kept = run("register", "show", 2, "--json").json["decisions"]
    assert kept[-1] == "published again: a correction"
    with zipfile.ZipFile(tmp_path / "d.zip") as dossier:
        assert json.loads(dossier.read("CONFIDENTIAL/record.json"))["decisions"] == kept
    policy.write_text('second_release = "refuse"\n')
    assert protect("c.zip", "--seed", SEED + 5, "--policy", policy, "--again", "x").code == 5
    assert len(run("register", "list", "--json").json["releases"]) == 2


def test_files_that_cannot_be_written_are_no_publication(
    run: Command, protect: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder.zip").mkdir()
    assert protect("folder.zip", "--seed", SEED + 1).code == 3
    assert run("register", "list", "--json").json["releases"] == []


def test_two_people_answer_where_the_policy_takes_them(
    run: Command, tmp_path: Path, house_folder: Path
) -> None:
    (house_folder / "policy.toml").write_text("two_signatures = true\n")
    words = ("protect", TABLE, "--seed", SEED, "--out", tmp_path / "r.zip")
    dossier = ("--dossier", tmp_path / "CONFIDENTIAL-d.zip")
    refused = run(*words, *dossier, "--prepared-by", "Karin")
    assert refused.code == 5 and "two people" in refused.err
    assert list(tmp_path.iterdir()) == []
    names = ("--prepared-by", "Karin", "--approved-by", "Erik")
    assert run(*words, *dossier, *names).code == 0
    listed = run("register", "list", "--json").json["releases"]
    assert [entry["who"] for entry in listed] == ["Karin, approved by Erik"]
    told = tmp_path / "CONFIDENTIAL-staff.html"
    made = ("report", tmp_path / "CONFIDENTIAL-d.zip", "--edition", "staff", "--out", told)
    assert run(*made).code == 0
    text = told.read_text()
    assert "Prepared by</span>: <bdi>Karin</bdi>" in text and "Release number 1, published on" in text
    assert run(*made, "--register", "none").code == 0
    assert "There is no register" in told.read_text()


def test_protecting_tells_what_readers_of_all_releases_would_know(run: Command, tmp_path: Path) -> None:
    key = tmp_path / "key"
    assert run("keys", "new", "--out", key).code == 0
    coin = ("--set", "alpha=0.25", "--set", "beta=0.25")
    words = ("protect", TABLE, *coin, "--seed", SEED + 1, "--sign", key, "--out")
    assert "Together with" not in run(*words, tmp_path / "a.zip").out
    # The same again is no other release, signed or not.
    assert "Together with" not in run(*words, tmp_path / "b.zip").out
    unsigned = ("protect", TABLE, *coin, "--seed", SEED + 1, "--out", tmp_path / "c.zip", "--json")
    assert run(*unsigned).json["together"] is None  # though its bytes are others
    other = ("protect", TABLE, *coin, "--seed", SEED + 3, "--out", tmp_path / "d.zip")
    assert "Together with no. " in run(*other).out


def test_one_draw_twice_is_one_release(run: Command, protect: Command, tmp_path: Path) -> None:
    for name, title in (("a.zip", "Towns"), ("b.zip", "Cities")):
        assert protect(name, "--seed", SEED + 1, "--title", title).code == 0
    alone = run("infer", tmp_path / "a.zip", "--json").json
    both = run("infer", tmp_path / "a.zip", tmp_path / "b.zip", "--json")
    assert both.json["cells"] == alone["cells"] and both.json["releases"] == 2
    assert "the same draw" in both.err


def test_other_labels_and_another_layout_do_not_hide_a_table(
    run: Command, protect: Command, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("colour,size,count\nred,s,9\nred,l,8\nblue,s,17\nblue,l,12\n")
    two.write_text("a,b,count\nx,p,8\nx,q,12\ny,p,9\ny,q,17\nz,p,0\nz,q,0\n")
    rounded = ("--method", "random_rounding")
    assert protect("a.zip", *rounded, table=str(one)).code == 0
    checked = run("register", "check", two, "--json").json
    assert checked["published_before"] and checked["releases"][0]["relation"] == "renamed"
    again = protect("b.zip", *rounded, table=str(two))
    # What both tell together cannot be judged: the labels differ.
    assert again.code == 5 and "could not be compared" in again.json["error"]["message"]
    given = protect("b.zip", *rounded, "--again", "another edition", table=str(two))
    assert given.code == 0 and kinds(given) == ["published_before"]


def test_damage_is_said_at_every_use_and_the_head_is_in_the_dossier(
    run: Command, protect: Command, tmp_path: Path, house_folder: Path
) -> None:
    dossier = tmp_path / "CONFIDENTIAL-d.zip"
    assert protect("a.zip", "--seed", SEED + 1).code == 0
    assert protect("b.zip", "--seed", SEED + 3, "--dossier", dossier).code == 0
    with zipfile.ZipFile(dossier) as found:
        kept = json.loads(found.read("CONFIDENTIAL/register.json"))["register"]
    listed = run("register", "list", "--json")
    assert kept == {"lines": listed.json["lines"], "head": listed.json["head"]}
    assert listed.json["damaged"] == [] and listed.err == ""
    place = house_folder / "register.sqlite"
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE published_release SET gate = 'no' WHERE number = 1")
    for words in (("list",), ("check", TABLE)):
        done = run("register", *words, "--json")
        assert done.code == (3 if words[0] == "check" else 0) and "release 1 cannot be read" in done.err
        assert done.json["lost"]
        assert [one["number"] for one in done.json["damaged"]] == [1]
    other = tmp_path / "other.csv"
    other.write_text("colour,size,count\nred,s,9\nred,l,8\nblue,s,7\nblue,l,12\n")
    rounded = ("--method", "random_rounding", "--dossier", dossier)
    assert protect("c.zip", *rounded, table=str(other)).code == 5
    third = protect("c.zip", *rounded, "--again", "it is known", table=str(other))
    assert third.code == 0 and "warning: " in third.err
    assert kinds(third) == ["register_damaged", "register_lost"]
    assert third.json["verdict"]["left_out"] == ["other_releases"]
    with zipfile.ZipFile(dossier) as found:
        record = json.loads(found.read("CONFIDENTIAL/record.json"))
    assert "release 1 cannot be read in the register" in record["decisions"]
    # Cut back to nothing, and the house's own memory with it: the dossier still knows.
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("DELETE FROM register_chain WHERE number > 1")
        connection.execute("DELETE FROM published_release")
    for name in ("register-heads.json", "house.key.heads"):
        (house_folder / name).unlink()
    assert run("register", "list", "--json").json["damaged"] == []
    cut = run("register", "check", dossier, "--json").json["damaged"]
    assert [one["what"] for one in cut] == ["cut"]


@pytest.mark.parametrize("how", ["deleted", "with heads", "cut", "older"])
def test_a_register_that_lost_lines_takes_a_reason(
    run: Command, protect: Command, tmp_path: Path, house_folder: Path, how: str
) -> None:
    place, dossier = house_folder / "register.sqlite", tmp_path / "CONFIDENTIAL-d.zip"
    assert protect("a.zip", "--seed", SEED + 1).code == 0
    older = place.read_bytes()
    other = tmp_path / "other.csv"
    other.write_text("colour,size,count\nred,s,9\nred,l,8\nblue,s,7\nblue,l,12\n")
    rounded = ("--method", "random_rounding")
    assert protect("b.zip", *rounded, table=str(other)).code == 0
    if how in ("deleted", "with heads"):
        place.unlink()
    if how == "with heads":
        (house_folder / "register-heads.json").unlink()
    if how == "older":
        place.write_bytes(older)
    if how == "cut":
        with closing(sqlite3.connect(place)) as connection, connection:
            connection.execute("DELETE FROM register_chain WHERE number > 2")
            connection.execute("DELETE FROM published_release WHERE number > 1")
    checked = run("register", "check", other, "--json")
    assert checked.code == 3 and checked.json["lost"]
    again = ("c.zip", "--method", "cell_key", "--dossier", dossier)
    refused = protect(*again, table=str(other))
    assert refused.code == 5 and "lacks lines" in refused.json["error"]["message"]
    given = protect(*again, "--accept", "the disk broke", table=str(other))
    assert given.code == 0 and "register_lost" in kinds(given)
    with zipfile.ZipFile(dossier) as found:
        decisions = json.loads(found.read("CONFIDENTIAL/record.json"))["decisions"]
    assert decisions == given.json["decisions"] and "had 3 lines before" in decisions[-1]
    assert run("register", "list", "--json").json["lost"]


def test_a_register_takes_one_key(
    run: Command, protect: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert protect("a.zip").code == 0
    other = tmp_path / "other.key"
    monkeypatch.setenv("TABPROTECT_HOUSE_KEY", str(other))
    for words in (("register", "check", TABLE), ("register", "list")):
        assert run(*words).code == 4
    assert protect("b.zip").code == 4 and not other.exists()
    # A key that the name of a file would make anew takes a decision.
    alone = ("--register", "none")
    assert protect("b.zip", *alone).code == 5 and not other.exists()
    decided = protect("b.zip", *alone, "--accept", "a trial").json["decisions"]
    assert "names no file" in decided[0] and decided[0].endswith(": a trial")
    assert decided[-1].startswith("no register")
    assert protect("c.zip").code == 4


def test_another_key_finds_again_what_the_house_still_has(
    run: Command, protect: Command, tmp_path: Path, house_folder: Path
) -> None:
    rounded = ("--method", "random_rounding")
    tables = []
    for number, counts in enumerate(("9,8,7,12", "5,5,6,7", "4,9,8,8")):
        a, b, c, d = counts.split(",")
        tables.append(tmp_path / f"{number}.csv")
        tables[-1].write_text(f"v{number},w{number},count\nr,s,{a}\nr,l,{b}\nb,s,{c}\nb,l,{d}\n")
    dossier = ("--dossier", tmp_path / "CONFIDENTIAL-d.zip")
    for number, more in enumerate((dossier, (), ())):
        assert protect(f"{number}.zip", *rounded, *more, table=str(tables[number])).code == 0
    old = (house_folder / "house.key").read_text()
    done = run("keys", "house", "--rotate", "--originals", tables[1], "--json").json
    assert done["marked"] == [1, 2] and done["unmarked"] == [3]
    assert Path(done["kept"]).read_text() == old != (house_folder / "house.key").read_text()
    assert run("keys", "house", "--json").json["mark"] == done["mark"]
    listed = run("register", "list", "--json").json
    assert listed["damaged"] == [] and listed["key"] == done["mark"]
    found = [run("register", "check", table, "--json").json for table in tables]
    assert [one["published_before"] for one in found] == [True, True, False]
    # One that was cut short after the register is finished by the next.
    new = (house_folder / "house.key").read_text()
    (house_folder / "house.key.next").write_text(new)
    (house_folder / "house.key").write_text(old)
    assert run("register", "list").code == 4
    again = run("keys", "house", "--rotate", "--json").json
    assert again["mark"] == done["mark"] and again["marked"] == [1]
    assert run("register", "list").code == 0
