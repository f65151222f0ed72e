"""Encrypted dossiers: opened by their passphrase alone, and a wrong one is told from damage."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tabprotect.engine.bundle import encryption
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tests.cli.conftest import Command

DATA = b"CONFIDENTIAL/ a plain text that must not be seen " * 50


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "COST", 2**10)


def test_what_is_encrypted_comes_back_and_is_never_the_same() -> None:
    first, second = (encryption.encrypted(DATA, b"a long passphrase") for _ in range(2))
    assert first != second and encryption.is_encrypted(first) and not encryption.is_encrypted(DATA)
    assert b"plain text" not in first and b"passphrase" not in first
    for one in (first, second):
        assert encryption.decrypted(one, b"a long passphrase") == DATA


def test_a_wrong_passphrase_is_said_and_damage_is_another_thing() -> None:
    sealed = encryption.encrypted(DATA, b"a long passphrase")
    with pytest.raises(BundleError, match="passphrase is not the one"):
        encryption.decrypted(sealed, b"a long passphrasf")
    start = sealed.index(b"\n", len(encryption.MAGIC)) + 1
    for place in (start, len(sealed) // 2, len(sealed) - 1):
        damaged = bytearray(sealed)
        damaged[place] ^= 1
        with pytest.raises(BundleError, match="damaged, or was changed"):
            encryption.decrypted(bytes(damaged), b"a long passphrase")
    with pytest.raises(BundleError, match="damaged"):
        encryption.decrypted(sealed[:-5], b"a long passphrase")
    stated = json.loads(sealed[len(encryption.MAGIC) : start])
    for wrong in ({"n": 2**40}, {"n": 3}, {"salt": "zz"}, {"nonce": stated["nonce"][::-1]}):
        head = encryption.MAGIC + json.dumps(stated | wrong).encode() + b"\n"
        with pytest.raises(BundleError, match="damaged"):
            encryption.decrypted(head + sealed[start:], b"a long passphrase")


def test_a_short_passphrase_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k").write_text("short\n")
    with pytest.raises(InputError, match="12 characters"):
        encryption.passphrase(tmp_path / "k")


PROTECT = ("protect", "in.csv", "--method", "random_rounding", "--no-page")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("region,sex,count\nc,f,9\nc,m,11\nb,f,7\nb,m,2\na,f,5\na,m,1\n")
    Path("key").write_text("a long passphrase\n")
    Path("other").write_text("another long passphrase\n")
    return tmp_path


def test_a_dossier_is_nowhere_in_the_plain(
    run: Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(*PROTECT, "--out", "r.zip", "--dossier", "d.zip", "--dossier-key", "key")
    assert done.code == 0
    assert Path("d.zip").stat().st_mode & 0o777 == 0o600
    for path in [one for one in place.rglob("*") if one.is_file()]:
        assert b"CONFIDENTIAL/original.csv" not in path.read_bytes(), path
    for words in (
        ("verify", "d.zip"),
        ("register", "check", "d.zip"),
        ("report", "d.zip", "--edition", "staff", "--out", "r.html"),
    ):
        found = run(*words)
        assert found.code == 6 and "tabprotect dossier open" in found.err
    found = run("dossier", "open", "d.zip", "--key", "other", "--out", "plain.zip")
    assert found.code == 6 and "passphrase is not the one" in found.err and not Path("plain.zip").exists()
    assert run("dossier", "open", "d.zip", "--key", "key", "--out", "plain.zip").code == 0
    assert Path("plain.zip").stat().st_mode & 0o777 == 0o600
    assert run("verify", "plain.zip", "--quick").code == 0
    assert run("dossier", "open", "plain.zip", "--key", "key", "--out", "again.zip").code == 6
    assert run("dossier", "encrypt", "plain.zip", "--key", "key", "--out", "plain.zip").code == 0
    monkeypatch.setenv(encryption.KEY, str(place / "key"))
    assert run("verify", "plain.zip", "--quick").code == 0
    assert run("report", "d.zip", "--edition", "staff", "--out", "r.html").code == 0


def test_another_release_never_takes_the_place_of_an_encrypted_dossier(run: Command, place: Path) -> None:
    words = (*PROTECT, "--dossier", "d.zip", "--dossier-key", "key", "--accept", "a test")
    assert run(*words, "--out", "r.zip").code == 0
    before = Path("d.zip").read_bytes()
    assert run(*words, "--set", "base=5", "--out", "s.zip").code == 0
    assert Path("d-1.zip").read_bytes() == before != Path("d.zip").read_bytes()


def test_a_key_that_is_not_there_leaves_nothing(run: Command, place: Path) -> None:
    found = run(*PROTECT, "--out", "r.zip", "--dossier", "d.zip", "--dossier-key", "none")
    assert found.code == 3 and not Path("r.zip").exists() and not Path("d.zip").exists()
    assert "Nothing has left" in run("register", "list").out
    found = run(*PROTECT, "--out", "r.zip", "--dossier-key", "key")
    assert found.code == 2 and "--dossier" in found.err


def test_retention(run: Command, place: Path, house_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import UTC, datetime, timedelta

    words = (*PROTECT, "--accept", "a test")
    assert run(*words, "--out", "r.zip", "--dossier", "d.zip").code == 0
    assert (
        run(*words, "--set", "base=5", "--out", "s.zip", "--dossier", "e.zip", "--dossier-key", "key").code
        == 0
    )
    Path("notes.zip").write_bytes(b"PK\x03\x04 not a dossier")

    def listed(*more: Any) -> dict[str, Any]:
        found = run("dossier", "retention", *more, "--json")
        assert found.code == 0, found.err
        return found.json  # type: ignore[no-any-return]

    assert [one["due"] for one in listed()["dossiers"]] == [False, False]
    assert run("dossier", "retention", "--delete").code == 4
    (house_folder / "policy.toml").write_text("retention_days = 10\n")
    assert [one["due"] for one in listed(".")["dossiers"]] == [False, False]
    later = datetime.now(UTC) + timedelta(days=11)

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return later

    monkeypatch.setattr("tabprotect.cli.releases.dossier.datetime", Later)
    found = listed()["dossiers"]
    assert {(one["release"], one["encrypted"], one["due"]) for one in found} == {
        (1, False, True),
        (2, True, True),
    }
    # A project holds its original, too; a file of its name that is none stays.
    storage.save(History().apply("open_table", {"source": "in.csv"})[0], Path("p.tabprotect"))
    with zipfile.ZipFile("q.tabprotect", "w") as other:
        other.writestr("notes.json", "{}")
    assert [(one["kind"], one["due"]) for one in listed(".")["dossiers"]].count(("project", True)) == 1
    assert [one["path"] for one in listed(".")["dossiers"]].count(str(Path("q.tabprotect").absolute())) == 0
    run("dossier", "retention", "--delete", "--dry-run")
    assert Path("d.zip").exists() and Path("e.zip").exists()
    assert len(listed(".", "--delete")["deleted"]) == 3
    assert not Path("p.tabprotect").exists() and Path("q.tabprotect").exists()
    assert not Path("d.zip").exists() and not Path("e.zip").exists() and Path("notes.zip").exists()
    # The register has its marks: what left before is known.
    assert run("register", "check", "in.csv", "--json").json["published_before"]
    assert listed()["dossiers"] == []
