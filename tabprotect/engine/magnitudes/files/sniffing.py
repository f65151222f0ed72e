"""Files of magnitude tables told from others, without what it takes to read them."""

from __future__ import annotations

from pathlib import Path

from tabprotect.engine.paths import is_file

KEY = "tabprotect.magnitudes"
"""The key of the metadata that says what the columns are."""


def is_magnitudes(path: Path) -> bool:
    """Return True if a file is a Parquet file of a magnitude table."""
    if not is_file(path):
        return False
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return False
        file.seek(max(0, path.stat().st_size - 2**24))
        return KEY.encode() in file.read()
