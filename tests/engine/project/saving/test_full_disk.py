"""A disk that is full at any one write: told in words, and everything stays as it was."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pytest
import sqlalchemy as sa

from tabprotect.engine import atomic
from tabprotect.engine.agency import register_address
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.errors import InputError
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import open_table, set_title
from tabprotect.engine.register.register import Register

BLOCK = 2048
"""Bytes that go to the disk at once."""


def protected(title: str) -> History:
    history = History()
    for order in (
        open_table(source="example:duncan-roehrig-4x4"),
        set_title(title=title),
        protect(seed=2**127 + 5),
    ):
        history, _ = history.do(order)
    return history


def fills_up(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """From that write on the disk takes nothing, not even what is tried again."""
    done = [0]

    class Disk(io.FileIO):
        def write(self, data: object) -> int:
            done[0] += 1
            if done[0] >= after:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(memoryview(data)[:BLOCK])  # type: ignore[arg-type]

    def opened(number: int, mode: str) -> io.BufferedWriter:
        assert mode == "wb"
        return io.BufferedWriter(Disk(number, "w"), BLOCK)

    monkeypatch.setattr(atomic.os, "fdopen", opened)


def entries() -> list[str]:
    """What the register has; nothing in it is damaged."""
    with Register(str(register_address())) as register:
        found = register.contents()
    assert not found.damaged
    return [entry.publication.bundle for entry in found.entries]


def test_publishing_on_a_disk_that_fills_up(tmp_path: Path) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    orders = {"release": str(release), "dossier": str(dossier), "overwrite": True}
    protected("first").do(publish(**orders))
    old, known = (release.read_bytes(), dossier.read_bytes()), entries()
    second = protected("second")
    for after in range(1, 100):
        with pytest.MonkeyPatch.context() as patch:
            fills_up(patch, after)
            try:
                second.do(publish(**orders, again="another title"))
            except InputError as error:
                assert "the disk is full" in error.message  # noqa: PT017
                assert error.file in (str(release), str(dossier))  # noqa: PT017
            else:
                break
        assert (release.read_bytes(), dossier.read_bytes()) == old
        assert sorted(path.name for path in tmp_path.glob(".*")) == []
        assert entries() == known
    assert after > 5
    assert len(entries()) == 2
    assert {confidential.read(one).release.title for one in tmp_path.glob("d*.zip")} == {"first", "second"}


def test_a_register_that_finds_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    orders = {"release": str(release), "dossier": str(dossier), "overwrite": True}
    protected("first").do(publish(**orders))
    old, known = (release.read_bytes(), dossier.read_bytes()), entries()

    def no_more(connection: object, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]

    # More than fits into the pages that are there.
    second = protected("second" * 2000)
    sa.event.listen(sa.engine.Engine, "connect", no_more)
    try:
        with pytest.raises(InputError, match="full"):
            second.do(publish(**orders, again="another title"))
    finally:
        sa.event.remove(sa.engine.Engine, "connect", no_more)
    assert (release.read_bytes(), dossier.read_bytes()) == old
    assert entries() == known


def test_saving_on_a_disk_that_fills_up(tmp_path: Path) -> None:
    path = tmp_path / "work.tabprotect"
    storage.save(protected("first"), path)
    old, second = path.read_bytes(), protected("second")
    for after in range(1, 100):
        with pytest.MonkeyPatch.context() as patch:
            fills_up(patch, after)
            try:
                storage.save(second, path)
            except InputError as error:
                assert "the disk is full" in error.message  # noqa: PT017
            else:
                break
        assert path.read_bytes() == old
        assert list(tmp_path.iterdir()) == [path]
    assert after > 3
    assert storage.load(path).project.title == "second"
