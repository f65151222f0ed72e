"""How files of a look were read: next year's file opens the same way. Kept in the house's folder.

A look is a format and a header, digits aside; what is kept of it is a digest, and the options.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.look import Line, Look
from tabprotect.engine.formats.reading import Reading
from tabprotect.engine.house import folder

FILE = "readings.json"
MOST = 500
"""Looks that are kept; the oldest are forgotten."""


def remember(seen: Look, reading: Reading) -> None:
    """Keep how a file of this look is read; nothing where it has no header.

    Raises
    ------
    InputError
        Where the folder cannot be written.
    """
    header = [line for line in seen.lines if line.role == "header"]
    if not header or not reading.given:
        return
    known = _known()
    key = _digest(seen.kind.name, header[-1])
    known.pop(key, None)
    known[key] = reading.given
    path = folder() / FILE
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = dict(list(known.items())[-MOST:])
    write_bytes(path, (json.dumps(kept, indent=1) + "\n").encode(), private=True)


def recalled(kind: str, lines: Iterable[Line]) -> Mapping[str, object]:
    """The options that files of this look were read with; none where there was none."""
    known = _known()
    for line in lines:
        found = known.get(_digest(kind, line))
        if found is not None:
            try:
                return Reading.of(found).given
            except InputError:
                return {}
    return {}


def _digest(kind: str, line: Line) -> str:
    plain = re.sub(r"[0-9]+", "0", line.text.strip().casefold())
    return hashlib.sha256(f"{kind}\n{plain}".encode()).hexdigest()


def _known() -> dict[str, dict[str, object]]:
    path: Path = folder() / FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {k: v for k, v in data.items() if isinstance(v, dict)}
