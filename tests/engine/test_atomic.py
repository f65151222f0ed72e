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
