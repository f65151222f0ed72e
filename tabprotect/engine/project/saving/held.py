"""Locks on files while the program runs, and on a project so that only one window opens it."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from tabprotect.engine.agency import user_name
from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message


class InUseError(InputError):
    """The error for a project that another window has open."""


def hold(file: IO[str]) -> bool:
    """Lock a file for this program; the system unlocks it however the program ends."""
    if sys.platform == "win32":
        import msvcrt

        try:
            # The lock lies beyond the text, so that others can still read it.
            file.seek(2**20)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class HeldProject:
    """A project file held by this window; others learn who has it open.

    A lock file beside it says so. One left behind by a killed program blocks nobody.

    Raises
    ------
    InUseError
        When another window has it open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._beside = self.path.with_name(f".{self.path.name}.lock")
        self._file: IO[str] | None = None
        # If nothing can be written beside it, the project itself cannot be saved there either.
        with contextlib.suppress(OSError):
            self._file = self._opened()
        if self._file is None:
            return
        while not hold(self._file) or not self._is_there():
            if self._is_there():
                who = self._who()
                self._file.close()
                raise InUseError(
                    message("it is open in another window{who}", who),
                    file=self.path,
                    hint=message("go on there, or open a copy that is saved under another name"),
                )
            # Who had it removed the file in between: a lock on what is gone keeps nobody out.
            self._file.close()
            self._file = self._opened()
        self._file.seek(0)
        self._file.truncate()
        json.dump(_self(), self._file)
        self._file.flush()

    def _opened(self) -> IO[str]:
        number = os.open(self._beside, os.O_CREAT | os.O_RDWR, 0o600)
        return os.fdopen(number, "r+", encoding="utf-8")

    def _is_there(self) -> bool:
        """Return True if the file that is open is the one beside the project."""
        assert self._file is not None
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), os.stat(self._beside))
        except OSError:
            return False

    def _who(self) -> str:
        """Say who has it open and since when, as far as the lock file says."""
        assert self._file is not None
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            self._file.seek(0)
            said = json.loads(self._file.read(10_000))
            who, where, since = (str(said[name])[:80] for name in ("who", "where", "since"))
            return message(": that of {who} on {where}, since {since}", who, where, since)
        return ""

    def release(self) -> None:
        """Release the lock."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._beside.unlink(missing_ok=True)
            self._file.close()
            self._file = None


def _self() -> dict[str, str]:
    who = user_name() or "somebody"
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return {"who": who, "where": platform.node() or message("this machine"), "since": since}
