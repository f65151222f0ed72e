"""The heads of registers as this house has seen them last, so that a cut tail shows. Confidential."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from tabprotect.engine import house
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.register.register_chain import Head

FILE = "register-heads.json"


def seen_heads(name: str) -> tuple[Head, ...]:
    """The head that a register had when it was last written to from here; none if that is unknown."""
    found = _read().get(_key(name))
    try:
        return () if found is None else (Head(int(str(found[0])), str(found[1])),)
    except (TypeError, ValueError, IndexError, KeyError):
        return ()


def remember_head(name: str, head: Head) -> None:
    """Keep a head, if it is later than the one that is kept."""
    known = seen_heads(name)
    if known and known[0].lines >= head.lines:
        return
    all_of_them = _read() | {_key(name): [head.lines, head.chain]}
    # What cannot be kept is no reason to publish nothing: the dossier has the head as well.
    with contextlib.suppress(InputError):
        write_bytes(house.folder() / FILE, json.dumps(all_of_them).encode(), private=True)


def _read() -> dict[str, list[object]]:
    try:
        found = json.loads((house.folder() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _key(name: str) -> str:
    """A register's address without telling it."""
    if name.startswith("sqlite:///"):
        name = str(Path(name.removeprefix("sqlite:///")).resolve())
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:32]
