"""The file of a register as it was when all of it was last found whole. Confidential.

Reading every line, seal and bundle takes longer with each release. Where the file is to the byte the one that
was read, by all that the system says of it, nothing in it has changed; what the program itself enters
afterwards leaves it whole. A file that anybody else touched is read as a whole again.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import time
from hashlib import sha256

from tabprotect.engine import agency
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.paths import is_there
from tabprotect.engine.register.register_chain import address_mark

FILE = "register-whole.json"
"""Where the states of files are kept, under a seal of the key."""

TICK = 0.01
"""Seconds within which two changes of a file may bear the same time."""

KEPT = 16
"""Registers whose states are kept."""


def is_as_found(name: str, key: bytes) -> bool:
    """Return True if a file is as it was when the register was found whole."""
    sealed = _sealed(name, key)
    return sealed is not None and _read().get(address_mark(name)) == sealed


def remember_whole(name: str, key: bytes) -> None:
    """Keep the state of a file that was found whole; the caller holds it, so that nobody changes it."""
    # A change within the tick of the last one would bear the same time.
    time.sleep(TICK)
    sealed = _sealed(name, key)
    if sealed is None:
        return
    known = _read()
    known.pop(address_mark(name), None)
    latest = dict(list(known.items())[1 - KEPT :]) | {address_mark(name): sealed}
    # Without it the next look reads all.
    with contextlib.suppress(InputError):
        write_bytes(agency.folder() / FILE, json.dumps(latest).encode(), private=True)


def _sealed(name: str, key: bytes) -> str | None:
    path = agency.register_file(name)
    try:
        # With a log of its own beside it the file says nothing of what is in it.
        if path is None or is_there(f"{path}-wal"):
            return None
        # Never opened: closing it would give up the locks that SQLite holds on it in this process.
        at = path.stat()
    except OSError:
        return None
    state = [at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino, at.st_dev]
    return hmac.new(key, f"tabprotect register file\n{state}".encode(), sha256).hexdigest()


def _read() -> dict[str, str]:
    try:
        found = json.loads((agency.folder() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
