"""Names, texts and paths as SQL."""

from __future__ import annotations

import re
from pathlib import Path


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def file_literal(path: Path) -> str:
    """A path as DuckDB's glob pattern that matches nothing else, as an SQL string."""
    return literal(re.sub(r"([*?\[])", r"[\1]", str(path.absolute())))
