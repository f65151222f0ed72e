"""Remembered reading options, so that next year's file opens the same way. Kept in the house's folder.

Files are recognised by format and header, ignoring digits; only a digest and the options are kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from tabprotect.engine.agency import folder
from tabprotect.engine.atomic import make_folder, write_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.file_preview import HEAD, SHOWN, SIGN, FilePreview, is_text
from tabprotect.engine.formats.format import Format, RowFormat
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.paths import unreadable

FILE = "readings.json"
MOST = 500
"""The most readings that are kept; the oldest are forgotten."""


def remember(seen: FilePreview, reading: Reading) -> None:
    """Remember how such a file is read; does nothing without a header, or without options.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    header = [line.text for line in seen.lines if line.role == "header"]
    if not header or not reading.given:
        return
    readings = _known()
    key = _digest(seen.kind, header[-1])
    readings.pop(key, None)
    readings[key] = reading.given
    file = folder() / FILE
    try:
        make_folder(file.parent, private=True)
    except OSError as error:
        raise unreadable(file.parent, error) from None
    latest = dict(list(readings.items())[-MOST:])
    write_bytes(file, (json.dumps(latest, indent=1) + "\n").encode(), private=True)


def recalled(kind: Format, path: Path) -> Mapping[str, object]:
    """The options with which such files were read; empty if there were none."""
    known = _known()
    if not known or not isinstance(kind, RowFormat):
        return {}
    for line in first_lines(path, kind):
        found = known.get(_digest(kind, line))
        if found is not None:
            try:
                return Reading.of(found).given
            except InputError:
                return {}
    return {}


def first_lines(path: Path, kind: RowFormat) -> list[str]:
    """The first lines of a text, or the rows of a sheet."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if is_text(head, path):
        return head.decode("utf-8-sig", "replace").splitlines()[:SHOWN]
    try:
        rows = kind.whole(path, Reading())
    except InputError:
        return []
    return [SIGN.join(row.fields) for row in rows[:SHOWN]]


def _digest(kind: Format, header: str) -> str:
    # An encoding that is not known yet must not matter.
    plain = re.sub(r"[0-9]+", "0", re.sub(r"[^ -~]+", "?", header.strip().casefold()))
    return hashlib.sha256(f"{kind.name}\n{plain}".encode()).hexdigest()


def _known() -> dict[str, dict[str, object]]:
    path: Path = folder() / FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {} if not isinstance(data, dict) else {k: v for k, v in data.items() if isinstance(v, dict)}
