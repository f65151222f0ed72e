"""The file of a register as it was when all of it was last found whole. Confidential.

Reading every line, seal and bundle takes longer with each release. Where the file is to the byte the one that
was read, by all that the system says of it, nothing in it has changed; what the program itself enters
afterwards leaves it whole. A file that anybody else touched is read as a whole again.
"""

from __future__ import annotations

import contextlib
import hmac
import json
from hashlib import sha256
from pathlib import Path

from tabprotect.engine import agency
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.register.register_chain import address_mark

FILE = "register-whole.json"
"""Where the states of files are kept, under a seal of the key."""

KEPT = 16
"""Registers whose states are kept."""


def changes_of(name: str) -> int | None:
    """The number of changes that SQLite counts in a file; ``None`` where none is counted."""
    path = agency.register_file(name)
    try:
        with (path or Path()).open("rb") as file:
            head = file.read(28)
    except OSError:
        return None
    # With a log of its own beside it the file says nothing of what is in it.
    return int.from_bytes(head[24:28], "big") if head[18:20] == b"\1\1" else None


def is_as_found(name: str, key: bytes) -> bool:
    """Return True if a file is as it was when the register was found whole."""
    sealed = _sealed(name, key)
    return sealed is not None and _read().get(address_mark(name)) == sealed


def remember_whole(name: str, key: bytes) -> None:
    """Keep the state of a file that was found whole."""
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
    path, changes = agency.register_file(name), changes_of(name)
    if path is None or changes is None:
        return None
    at = path.stat()
    state = [changes, at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino, at.st_dev]
    return hmac.new(key, f"tabprotect register file\n{state}".encode(), sha256).hexdigest()


def _read() -> dict[str, str]:
    try:
        found = json.loads((agency.folder() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
