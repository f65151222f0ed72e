"""A program that is killed at random moments while it saves, autosaves and publishes."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tabprotect.engine import atomic
from tabprotect.engine.agency import register_address
from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.project.history import History
from tabprotect.engine.project.releasing import entering
from tabprotect.engine.project.saving import recovery, storage
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import open_table, set_title
from tabprotect.engine.register.register import Register

KILLS = 10
"""Of each kind."""


@pytest.fixture(scope="module")
def histories() -> tuple[History, History]:
    """A protected table, and the same under another title: other bytes everywhere."""
    found = []
    for title in ("first", "second"):
        history = History()
        for order in (
            open_table(source="example:duncan-roehrig-4x4"),
            set_title(title=title),
            protect(seed=2**127 + 5),
        ):
            history, _ = history.do(order)
        found.append(history)
    return found[0], found[1]


def killed(work: Callable[[int], None], after: float) -> None:
    """Do it again and again in a process of its own that is killed after some seconds."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(0)
            os.write(tell, b"x")
            for number in range(1, 100_000):
                work(number)
        finally:
            os._exit(1)
    os.close(tell)
    assert os.read(ready, 1) == b"x"
    os.close(ready)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def ends_at(stop: int, work: Callable[[], object]) -> bool:
    """Do it in a process that ends before its call number ``stop`` of the disk; or did it all?"""
    child = os.fork()
    if child == 0:
        left = [stop]
        for step in ("open", "fsync", "link", "replace", "unlink", "chmod", "mkdir"):

            def die(*given: object, r: object = getattr(os, step), **k: object) -> object:
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)
                return r(*given, **k)  # type: ignore[operator]

            setattr(os, step, die)
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 9)
    return status == 9


def test_no_crash_point_of_saving_costs_a_project(histories: tuple[History, History], tmp_path: Path) -> None:
    first, second = histories
    path = tmp_path / "work.tabprotect"
    old, whole = storage.to_bytes(first), storage.to_bytes(second)
    for stop in range(1, 40):
        path.write_bytes(old)
        ended = ends_at(stop, lambda: storage.save(second, path))
        assert path.read_bytes() in (old, whole)
        parts = [found for found in tmp_path.iterdir() if found != path]
        assert all(part.name.endswith(atomic.PART) for part in parts)
        if not ended:
            break
        for part in parts:
            part.unlink()
    assert not ended and path.read_bytes() == whole
    assert stop > 3


@pytest.mark.parametrize("before", [False, True])
def test_no_crash_point_of_an_autosave_costs_the_one_before(
    histories: tuple[History, History], tmp_path: Path, before: bool
) -> None:
    first, second = histories
    seen: list[list[str]] = []
    for stop in range(1, 40):
        folder = tmp_path / str(stop)

        def work(folder: Path = folder) -> None:
            session = recovery.Session(folder)
            if before:
                session.save(first)
            session.save(second)

        ended = ends_at(stop, work)
        found = [one.load().project.title for one in recovery.recoverable(folder)]
        assert found in ([], ["first"], ["second"])
        if not ended:
            break
        # Once it was there, an autosave is never lost.
        assert not seen or found >= seen[-1]
        seen.append(found)
    assert not ended and found == ["second"]
    assert (["first"] in seen) == before
    assert stop > 3


@pytest.mark.parametrize("case", ["new", "over another", "a set"])
def test_no_crash_point_after_the_registers_commit_leaves_a_release_that_nobody_can_account_for(
    histories: tuple[History, History], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    first, second = histories
    release, dossier = tmp_path / ("r" if case == "a set" else "r.zip"), tmp_path / "d.zip"
    orders = {"release": str(release), "dossier": str(dossier), "overwrite": True}
    if case == "a set":
        names = first.project.domain.names
        orders["tables"] = {"rows": names[0], "all": "*".join(names)}
    if case == "over another":
        first.do(publish(**orders))
    at_first = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    points: list[int] = []

    def look(whole: dict[Path, bytes]) -> None:
        """All that lies there is whole, and accounted for."""
        there = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
        named = {p: data for p, data in there.items() if not p.name.endswith(atomic.PART)}
        assert all(data in (whole.get(p), at_first.get(dossier), at_first.get(p))
                   for p, data in named.items())  # fmt: skip
        with Register(str(register_address())) as register:
            found = register.contents()
        assert not found.damaged
        bundles = {entry.publication.bundle for entry in found.entries}
        new = [p for p in named if p != dossier and p in whole and named[p] == whole[p]]
        if new:
            # The dossier is there before anything that it accounts for.
            assert named[dossier] == whole[dossier]
        sealed = [p for p in named if p == release or p.name == "manifest.json"]
        assert all(archive.sha256(named[p]) in bundles for p in sealed)

    def write(files: Sequence[atomic.Whole]) -> None:
        whole = {one.path: one.data for one in files}
        for stop in range(1, 100):
            ended = ends_at(stop, lambda: atomic.write_together(files))
            look(whole)
            for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
                path.unlink()
            for path, data in at_first.items():
                path.write_bytes(data)
            if not ended:
                break
            points.append(stop)
        atomic.write_together(files)

    monkeypatch.setattr(entering, "write_together", write)
    (second if case == "over another" else first).do(publish(**orders, again="a reason"))
    assert len(points) > 8


def moments(seed: int) -> list[float]:
    """Some milliseconds each."""
    chance = random.Random(seed)
    return [chance.uniform(0, 0.02) for _ in range(KILLS)]


def test_a_saved_project_is_whole(histories: tuple[History, History], tmp_path: Path) -> None:
    path = tmp_path / "work.tabprotect"
    written = {storage.to_bytes(history) for history in histories}
    for after in moments(1):
        killed(lambda number: storage.save(histories[number % 2], path), after)
        assert path.read_bytes() in written
        assert storage.load(path).project.title in ("first", "second")
    parts = {found.name for found in tmp_path.iterdir()} - {path.name}
    assert all(name.endswith(atomic.PART) for name in parts)


def test_an_autosave_is_offered_whole(histories: tuple[History, History], tmp_path: Path) -> None:
    for kill, after in enumerate(moments(2)):
        folder = tmp_path / str(kill)

        held: list[recovery.Session] = []

        def work(number: int, folder: Path = folder, mine: list[recovery.Session] = held) -> None:
            # Of the killed process, which alone holds its lock.
            mine[:] = mine or [recovery.Session(folder)]
            mine[0].save(histories[number % 2])

        killed(work, after)
        (found,) = recovery.recoverable(folder)
        assert found.load().project.title in ("first", "second")


def test_a_release_has_its_dossier_and_its_entry(histories: tuple[History, History], tmp_path: Path) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d.zip"

    def work(number: int) -> None:
        order = publish(release=str(release), dossier=str(dossier), overwrite=True)
        histories[number % 2].do(order)

    for after in moments(3):
        killed(work, after)
        # Every file is whole, and a dossier and an entry account for the release that is there.
        found = public.read(release)
        kept = [confidential.read(path).release for path in tmp_path.glob("d*.zip")]
        assert found.title in {one.title for one in kept}
        with Register(str(register_address())) as register:
            bundles = {entry.publication.bundle for entry in register.entries()}
        assert archive.sha256(release.read_bytes()) in bundles
