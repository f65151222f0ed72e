"""Autosave, and recovery of what a killed program left behind."""

from __future__ import annotations

import contextlib
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from tabprotect.engine.atomic import unwritable
from tabprotect.engine.paths import is_there
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.saving.held import hold

_LOCK = ".lock"


@dataclass(frozen=True)
class Recoverable:
    """A project that was open when its program ended without closing it.

    Attributes
    ----------
    path
        The autosaved project file.
    name
        Its name inside the house.
    saved
        The time of the last autosave, in seconds since the epoch.
    """

    path: Path
    name: str
    saved: float

    def load(self) -> History:
        """Open the autosaved project.

        Raises
        ------
        InputError
            When even the autosaved file is damaged.
        """
        return storage.load(self.path)

    def discard(self) -> None:
        """Delete the autosaved project for good."""
        for path in (self.path, self.path.with_suffix(_LOCK)):
            path.unlink(missing_ok=True)


class Session:
    """One running program's autosave file in a folder of the user's own.

    Raises
    ------
    InputError
        When the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path = folder / f"{secrets.token_hex(8)}{storage.SUFFIX}"
            self._lock = self.path.with_suffix(_LOCK).open("w+", encoding="utf-8")
        except OSError as error:
            raise unwritable(folder, error) from None
        hold(self._lock)
        self._saved: History | None = None

    def save(self, history: History) -> bool:
        """Autosave, unless nothing changed since the last time; return True if it wrote.

        Raises
        ------
        InputError
            When the disk is full or the folder is gone.
        """
        if self._saved is history or history.project.kind == "empty":
            return False
        storage.save(history, self.path)
        self._lock.seek(0)
        self._lock.truncate()
        self._lock.write(json.dumps({"name": history.project.name}))
        self._lock.flush()
        self._saved = history
        return True

    def close(self) -> None:
        """End the session normally, leaving nothing to recover."""
        self._lock.close()
        Recoverable(self.path, "", 0.0).discard()


def _in_use(lock: Path) -> bool:
    try:
        with lock.open("r+", encoding="utf-8") as file:
            return not hold(file)
    except OSError:
        return True


def recoverable(folder: Path) -> list[Recoverable]:
    """The projects left in the folder by killed programs, newest first."""
    found = []
    for path in folder.glob(f"*{storage.SUFFIX}"):
        name = "untitled"
        lock = path.with_suffix(_LOCK)
        if is_there(lock) and _in_use(lock):
            continue
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            name = str(json.loads(lock.read_text(encoding="utf-8"))["name"])
        with contextlib.suppress(OSError):
            found.append(Recoverable(path, name, path.stat().st_mtime))
    return sorted(found, key=lambda r: -r.saved)
