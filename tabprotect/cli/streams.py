"""Standard input and output in place of files (``-``)."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.cli.output import Console

if TYPE_CHECKING:
    from tabprotect.engine.formats.format import Format
    from tabprotect.engine.tables.table import Table

STREAM = "-"


@contextmanager
def as_file(source: str) -> Iterator[str]:
    """A path that can be read more than once: for ``-`` a file of what standard input holds."""
    if source != STREAM:
        yield source
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input.csv"
        path.write_bytes(sys.stdin.buffer.read())
        yield str(path)


def to_stream(table: Table, kind: Format, strict: bool, console: Console) -> int:
    """Write a table's file to standard output, and nothing else there."""
    domain, notes = kind.held(table.domain, strict=strict)
    for note in notes:
        console.say(note)
    sys.stdout.buffer.write(kind.write(table.on(domain)))
    sys.stdout.buffer.flush()
    return 0
