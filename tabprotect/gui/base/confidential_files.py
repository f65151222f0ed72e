"""Names of files that stay in the house: they say so."""

from __future__ import annotations

from pathlib import Path

MARK = "CONFIDENTIAL"


def marked(path: Path) -> Path:
    """The path with the mark in its name, added where it is missing."""
    if MARK in path.name:
        return path
    return path.with_name(f"{path.stem}-{MARK}{path.suffix}")
