"""A project that one window has open."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from tabprotect.engine.project.saving import held
from tabprotect.engine.project.saving.held import HeldProject, InUseError

HOLDER = """
import sys
from pathlib import Path
from tabprotect.engine.project.saving import held
from tabprotect.engine.project.saving.held import HeldProject
held = HeldProject(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_window_learns_who_has_it_and_gets_it_later(tmp_path: Path) -> None:
    path = tmp_path / "work.tabprotect"
    first = HeldProject(path)
    beside = tmp_path / ".work.tabprotect.lock"
    assert beside.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InUseError, match=r"open in another window: that of .+ since 20") as caught:
        HeldProject(path)
    assert caught.value.exit_code == 3 and "a copy" in caught.value.hint
    first.release()
    first.release()
    assert list(tmp_path.iterdir()) == []
    HeldProject(path).release()


def test_of_three_windows_at_once_only_one_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, lock = tmp_path / "work.tabprotect", held.hold
    first, others = HeldProject(path), []

    def late(file: IO[str]) -> bool:
        # The second has opened the file of the first, which now goes; a third comes before it.
        monkeypatch.setattr(held, "hold", lock)
        first.release()
        others.append(HeldProject(path))
        return lock(file)

    monkeypatch.setattr(held, "hold", late)
    with pytest.raises(InUseError):
        HeldProject(path)
    others[0].release()
    HeldProject(path).release()
    assert list(tmp_path.iterdir()) == []


def test_a_killed_program_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "work.tabprotect"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ,
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        with pytest.raises(InUseError):
            HeldProject(path)
        other.kill()
        other.wait()
    HeldProject(path).release()
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_it_opens_all_the_same(tmp_path: Path) -> None:
    HeldProject(tmp_path / "none" / "work.tabprotect").release()


def test_words_of_a_strange_lock_file_are_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "work.tabprotect"
    first = HeldProject(path)
    (tmp_path / ".work.tabprotect.lock").write_text("[]")
    with pytest.raises(InUseError, match=r"open in another window$"):
        HeldProject(path)
    first.release()
