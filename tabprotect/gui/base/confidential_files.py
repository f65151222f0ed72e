"""Names of confidential files, which say that they stay in the house."""

from __future__ import annotations

from pathlib import Path

MARK = "CONFIDENTIAL"


def marked(path: Path) -> Path:
    """The path with the mark in its file name, added if it is missing."""
    if MARK in path.name:
        return path
    return path.with_name(f"{path.stem}-{MARK}{path.suffix}")
