"""What somebody who can write to the register's database cannot do unseen; and the house's key."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from tabprotect.engine import agency
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.register.register import Register
from tabprotect.engine.register.register_chain import BESIDE_KEY, FILE, Damage, missing_lines
from tabprotect.engine.register.register_entry import OriginalMarks, RefusedMechanism
from tabprotect.engine.register.whole_file import is_as_found
from tests.engine.register.test_register import fingerprint, publication


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Four releases, of which the second is withdrawn; and a refusal."""
    found = tmp_path / "register.sqlite"
    with Register(str(found), new=True) as register:
        for number in "123":
            register.add(publication(bundle=number), b"")
        # The bundle of the fourth is kept.
        register.add(replace(publication(), bundle=fingerprint(b"four")), b"four")
        register.withdraw(2, "a wrong title")
        register.refuse("a" * 64, "m" * 64, RefusedMechanism("cell_key", "stated"))
        register.add(publication(bundle="5"), b"")
        register.forget(5)
        assert register.contents().damaged == ()
    return found


def forget_heads() -> None:
    """No head of the register is known here any more."""
    (agency.folder() / FILE).unlink()
    agency.key_file().with_name(agency.key_file().name + BESIDE_KEY).unlink()


def altered(path: Path, *statements: str) -> list[tuple[str, int]]:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    with Register(str(path)) as register:
        return [(one.what, one.number) for one in register.contents().damaged]


@pytest.mark.parametrize(
    ("statement", "damage"),
    [
        ("DELETE FROM published_release WHERE number = 2", ("deleted", 2)),
        ("UPDATE published_release SET who = 'eve' WHERE number = 1", ("changed", 1)),
        ("UPDATE published_release SET gate = '{}' WHERE number = 1", ("changed", 1)),
        ("UPDATE published_release SET original = 'x' WHERE number = 3", ("changed", 3)),
        ("UPDATE published_release SET withdrawn = NULL WHERE number = 2", ("changed", 2)),
        ("UPDATE published_release SET withdrawn = time WHERE number = 1", ("changed", 1)),
        ("UPDATE published_release SET gate = 'no' WHERE number = 4", ("unreadable", 4)),
        ("UPDATE published_release SET gate = '[1]' WHERE number = 4", ("unreadable", 4)),
        ("UPDATE published_release SET time = 'soon' WHERE number = 4", ("unreadable", 4)),
        ("UPDATE published_release SET records = x'ff80' WHERE number = 4", ("unreadable", 4)),
        ("UPDATE published_release SET records = CAST(x'ff80' AS TEXT) WHERE number = 4", ("unreadable", 4)),
        (
            "INSERT INTO published_release SELECT 9, time, who, original, variables, records, 'b', "
            "method, title, gate, decisions, NULL, '', '', '' FROM published_release LIMIT 1",
            ("foreign", 9),
        ),
        ("UPDATE published_release SET withdrawn_reason = 'x' WHERE number = 1", ("changed", 1)),
        ("DELETE FROM published_bundle", ("bundle", 4)),
        ("UPDATE published_bundle SET content = x'00'", ("bundle", 4)),
        ("DELETE FROM refused_mechanism", ("refusal", 7)),
        ("UPDATE refusal_statement SET stated = 'other'", ("refusal", 7)),
        ("UPDATE register_chain SET time = 'x' WHERE number = 3", ("chain", 3)),
        ("UPDATE register_chain SET seal = 'x' WHERE number = 3", ("chain", 3)),
        ("DELETE FROM register_chain WHERE number = 3", ("chain", 4)),
        ("DELETE FROM register_chain WHERE number = 9", ("cut", 9)),
    ],
)
def test_what_was_touched_is_named_and_the_others_stand(
    path: Path, statement: str, damage: tuple[str, int]
) -> None:
    found = altered(path, statement)
    assert damage in found
    with Register(str(path)) as register:
        there = {entry.number for entry in register.entries()} - {9}
        gone = {damage[1]} if damage[0] in ("deleted", "unreadable") else set()
        assert there == {1, 2, 3, 4} - gone
        # It takes further entries, and names no other as damaged.
        assert register.add(publication(bundle="8"), b"") is not None
        if damage[0] in ("deleted", "changed", "unreadable", "foreign"):
            assert [(one.what, one.number) for one in register.contents().damaged] == [damage]


def test_nobody_takes_over_rows_whose_chain_is_gone(path: Path) -> None:
    changed = "UPDATE published_release SET who = 'eve' WHERE number = 1"
    forget_heads()
    damaged = altered(path, changed, "DELETE FROM register_chain")
    assert damaged == [*(("foreign", number) for number in range(1, 5)), ("refusal", 0)]
    with Register(str(path)) as register:
        assert register.add(publication(bundle="8"), b"") == 6
    assert altered(path) == damaged


def test_a_tail_that_was_cut_off_shows_where_a_head_is_known(path: Path) -> None:
    with Register(str(path)) as register:
        head = register.head()
        assert register.has_head(head)
    cut = ("DELETE FROM register_chain WHERE number > 4", "DELETE FROM published_release WHERE 1")
    assert ("cut", head.lines) in altered(path, *cut)
    with Register(str(path)) as register:
        assert not register.has_head(head)
    # Without any later head a shorter register is a register: only a dossier's tells.
    forget_heads()
    assert not any(what == "cut" for what, _ in altered(path))


def test_lines_that_are_lost_stay_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(agency.KEY, str(tmp_path / "safe" / "key"))
    agency.key(make=True)
    own, other = (folder / "register.sqlite" for folder in (agency.folder(), tmp_path / "elsewhere"))
    with Register(str(own)) as register:
        register.add(publication(bundle="1"), b"")
        older = own.read_bytes()
        register.add(publication(bundle="2"), b"")
        head = register.head()
    assert missing_lines(str(own)) == (Damage("cut", head.lines),)

    def said(place: Path) -> list[tuple[str, int]]:
        with Register(str(place)) as register:
            # What is entered now does not cover up what is gone.
            for number in "3456":
                register.add(publication(bundle=number), b"")
            damaged = register.contents(bundles=False).damaged
        return [(one.what, one.number) for one in damaged]

    (agency.folder() / FILE).unlink()
    assert said(own) == []
    own.write_bytes(older)
    assert said(own) == [("cut", 7)]
    own.unlink()
    (agency.folder() / FILE).unlink()
    assert ("cut", 7) in said(own)
    monkeypatch.setenv(agency.FOLDER, str(other.parent))
    assert ("cut", 7) in said(other)


def test_it_belongs_to_one_key(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = agency.key()
    monkeypatch.setenv(agency.KEY, str(tmp_path / "other"))
    with pytest.raises(ParameterError, match="a key of the house that is not here") as error:
        Register(str(path))
    assert error.value.exit_code == 4 and "copy" in error.value.hint
    assert agency.key(make=True) != own
    with pytest.raises(ParameterError, match="another key of the house"):
        Register(str(path))
    # Who forges the line that names the key breaks every seal.
    from tabprotect.engine.register.register_chain import mark_of_key

    forged = mark_of_key(agency.key())
    damaged = altered(path, f"UPDATE register_chain SET digest = '{forged}' WHERE number = 1")
    assert [number for what, number in damaged if what == "chain"] == list(range(1, 10))


def test_entries_get_marks_of_another_key(path: Path) -> None:
    new = bytes(range(32))
    marks = {1: OriginalMarks("z" * 64, ("v",), ("r",), "u" * 64)}
    with Register(str(path)) as register:
        register.re_mark(new, marks, {"a" * 64: "z" * 64})
        assert register.refused("z" * 64) and not register.refused("a" * 64)
    agency.key_file().write_text(new.hex())
    with Register(str(path)) as register:
        found = register.contents()
        assert found.damaged == () and register.key_mark
        assert [e.publication.marks for e in found.entries[:2]] == [marks[1], publication().marks]
    altered(path, "DELETE FROM register_chain WHERE number = 2")
    with Register(str(path)) as register, pytest.raises(InputError, match="chain is damaged"):
        register.re_mark(bytes(32), {}, {})


@pytest.mark.skipif(sys.platform == "win32", reason="a lock there belongs to its handle")
def test_no_other_process_writes_while_one_looks_whether_the_file_is_whole(path: Path) -> None:
    begin = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)"
        ".execute('begin immediate')"
    )

    def add(register: Register, connection: sa.Connection) -> tuple[str, bool]:
        # By POSIX a process that closes a file gives up all its locks on it.
        assert is_as_found(register.name, register._key)
        found = subprocess.run(
            [sys.executable, "-c", begin, path], capture_output=True, text=True, check=False
        )
        return found.stderr, False

    with Register(str(path)) as register:
        register.bearing_on(OriginalMarks("b" * 64, (), ()))
        said = register._remembering(lambda connection: add(register, connection))
    assert "database is locked" in said


def test_a_file_that_somebody_else_changes_is_not_remembered_as_whole(path: Path) -> None:
    with Register(str(path)) as register:
        register.bearing_on(OriginalMarks("b" * 64, (), ()))
        register.add(publication("b", "2"), b"")
        assert is_as_found(register.name, register._key)
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute("CREATE TABLE of_somebody_else (a)")
        assert not is_as_found(register.name, register._key)
        # The next entry is made in a file that may have been changed: all of it is read at the next look.
        register.add(publication("c", "3"), b"")
        assert not is_as_found(register.name, register._key)
        assert not register.bearing_on(OriginalMarks("c" * 64, (), ())).damaged
        assert is_as_found(register.name, register._key)
