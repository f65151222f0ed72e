from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tabprotect.engine import atomic
from tabprotect.engine.errors import InputError


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    atomic.write_bytes(path, b"one")
    path.chmod(0o640)
    atomic.write_bytes(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_users_default_mode(tmp_path: Path) -> None:
    atomic.write_bytes(tmp_path / "a", b"x")
    (tmp_path / "b").write_bytes(b"x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_overwrite_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    atomic.write_bytes(path, b"one", overwrite=False)
    with pytest.raises(InputError, match="already"):
        atomic.write_bytes(path, b"two", overwrite=False)
    assert path.read_bytes() == b"one"


def test_overwrite_refused_even_when_the_file_appears_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"

    def race() -> None:
        with atomic.replacing(path, overwrite=False) as file:
            file.write(b"two")
            path.write_bytes(b"one")

    with pytest.raises(InputError, match="already"):
        race()
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "real", tmp_path / "link"
    path.write_bytes(b"one")
    link.symlink_to(path)
    atomic.write_bytes(link, b"two")
    assert link.is_symlink()
    assert path.read_bytes() == b"two"


@pytest.mark.parametrize(
    ("step", "number", "words"),
    [
        ("fsync", errno.ENOSPC, "disk is full"),
        ("replace", errno.EACCES, "may not write"),
        ("fsync", errno.EDQUOT, "quota"),
        ("fsync", errno.EIO, "Input/output"),
    ],
)
def test_a_failure_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int, words: str
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"one")

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(InputError, match=words) as caught:
        atomic.write_bytes(path, b"two")
    monkeypatch.undo()
    assert caught.value.hint.endswith("nothing was changed")
    assert caught.value.file == str(path)
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_in_the_block_passes_through(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"one")

    def stop_halfway() -> None:
        with atomic.replacing(path) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stop_halfway()
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


def test_no_such_folder_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        atomic.write_bytes(tmp_path / "none" / "a", b"")
    with pytest.raises(InputError, match="this is a folder"):
        atomic.write_bytes(tmp_path, b"")


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="no regular file"):
        atomic.write_bytes(pipe, b"x")
    assert pipe.is_fifo()


def pair(folder: Path, *, kept: bool = False) -> list[atomic.Whole]:
    return [
        atomic.Whole(folder / "d.zip", b"new d", private=True, kept=folder / "k" if kept else None),
        atomic.Whole(folder / "r.zip", b"new r"),
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("old", [{}, {"d.zip": b"old d"}, {"d.zip": b"old d", "r.zip": b"old r"}])
def test_two_files_are_written_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: dict[str, bytes]
) -> None:
    """Every step of the disk fails once: all is as it was, or all is written."""
    failures = 0
    for kept in (False, True):
        for step in ("fsync", "link", "replace", "chmod"):
            for number in range(1, 6):
                folder = tmp_path / f"{kept}{step}{number}"
                folder.mkdir()
                for name, data in old.items():
                    (folder / name).write_bytes(data)
                real, calls = getattr(os, step), [0]

                def once(
                    *given: object, r: object = real, c: list[int] = calls, n: int = number, **k: object
                ) -> object:
                    c[0] += 1
                    if c[0] == n:
                        raise OSError(errno.EIO, "no luck")
                    return r(*given, **k)  # type: ignore[operator]

                monkeypatch.setattr(os, step, once)
                try:
                    atomic.write_together(pair(folder, kept=kept))
                except InputError:
                    failures += 1
                    assert contents(folder) == old
                else:
                    there = {"k": b"old d"} if kept and "d.zip" in old else {}
                    assert contents(folder) == {"d.zip": b"new d", "r.zip": b"new r"} | there
                    assert (folder / "d.zip").stat().st_mode & 0o777 == 0o600
                monkeypatch.undo()
    assert failures >= 6


def test_the_second_file_cannot_be_written(tmp_path: Path) -> None:
    first, second = pair(tmp_path)
    (tmp_path / "d.zip").write_bytes(b"old")
    inode = (tmp_path / "d.zip").stat().st_ino
    for target in (tmp_path / "none" / "r.zip", tmp_path):
        with pytest.raises(InputError, match="cannot be written"):
            atomic.write_together([first, atomic.Whole(target, b"x")])
        assert contents(tmp_path) == {"d.zip": b"old"}
        assert (tmp_path / "d.zip").stat().st_ino == inode
    second.path.write_bytes(b"there")
    with pytest.raises(InputError, match="already"):
        atomic.write_together([first, atomic.Whole(second.path, b"x", overwrite=False)])
    assert contents(tmp_path) == {"d.zip": b"old", "r.zip": b"there"}


def test_killed_at_any_step(tmp_path: Path) -> None:
    """A process that ends at each call: files are whole, and what is left is found."""
    steps = ("fsync", "link", "replace", "unlink", "chmod")
    ended = 0
    for stop in range(1, 40):
        folder = tmp_path / str(stop)
        folder.mkdir()
        (folder / "d.zip").write_bytes(b"old d")
        child = os.fork()
        if child == 0:
            left = [stop]
            for step in steps:

                def die(
                    *given: object, r: object = getattr(os, step), n: list[int] = left, **k: object
                ) -> object:
                    n[0] -= 1
                    if n[0] == 0:
                        os._exit(9)
                    return r(*given, **k)  # type: ignore[operator]

                setattr(os, step, die)
            atomic.write_together(pair(folder, kept=True))
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        found = contents(folder)
        parts = {name for name in found if name.endswith(atomic.PART)}
        assert found["d.zip"] in (b"old d", b"new d")
        # The old dossier is never lost, and a release is never there without its own.
        assert b"old d" in (found["d.zip"], found.get("k"))
        assert found.get("r.zip", b"new r") == b"new r"
        assert "r.zip" not in found or found["d.zip"] == b"new d"
        assert set(found) - parts <= {"d.zip", "r.zip", "k"}
        for name in parts:
            assert (folder / name).stat().st_mode & 0o077 == 0 or found[name] == b"new r"
            os.utime(folder / name, (0, 0))
        assert {path.name for path in atomic.leftovers(folder)} == parts
        ended += status == 9
        if status == 0:
            break
    assert status == 0
    assert ended >= 8


def test_parts_that_are_being_written_are_no_leftovers(tmp_path: Path) -> None:
    with atomic.replacing(tmp_path / "a") as file:
        file.write(b"x")
        assert atomic.leftovers(tmp_path) == ()
    assert contents(tmp_path) == {"a": b"x"}
    assert atomic.leftovers(tmp_path / "none") == ()


def test_a_disk_without_second_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise OSError(errno.EPERM, "no links")

    (tmp_path / "d.zip").write_bytes(b"old d")
    monkeypatch.setattr(os, "link", never)
    atomic.write_together(pair(tmp_path, kept=True))
    assert contents(tmp_path) == {"d.zip": b"new d", "r.zip": b"new r", "k": b"old d"}
