"""What several commands ask."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import format_names
from tabprotect.engine.options import Options, option_field, part
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.examples import PREFIX
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from tabprotect.engine.formats.format import Format
    from tabprotect.engine.project.history import History
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


READING = message("reading the table")
MAGNITUDES = message("magnitude tables")


def keep_apart(inputs: Iterable[Path | str | None], outputs: Iterable[Path | None]) -> None:
    """Refuse to write over what is read: the original would be gone.

    Raises
    ------
    UsageError
        Naming the file.
    """
    read = {os.path.realpath(p) for p in inputs if p is not None and not str(p).startswith(PREFIX)}
    for path in outputs:
        if path is not None and os.path.realpath(path) in read:
            raise UsageError(message("{path} would be overwritten: it is what the command reads", path))


@dataclass(frozen=True, kw_only=True)
class TableReading(Options):
    """How a table is read: by options, and by a file of options, which go behind."""

    goes_with = "counts"

    options: Reading = part(
        Reading,
        group=READING,
        about=lambda: message(
            "formats: {format_names}; see resources/docs/formats.md", joined(format_names(), ", ")
        ),
    )
    reading: Path | None = option_field(
        None,
        group=READING,
        metavar="FILE.toml",
        help=message("these options from a file; those of the command line go before"),
    )

    @property
    def named(self) -> dict[str, object]:
        """All of them by name."""
        return {**({} if self.reading is None else Reading.file(self.reading)), **self.options.given}


def open_source(source: str, reading: TableReading, progress: Progress) -> History:
    """The table that a source means, read as its options say."""
    # Readers of releases, who open no project, do not wait for the commands of projects.
    from tabprotect.engine.project.workflow import opened

    with as_file(source) as table:
        return opened(table, Reading.of(reading.named), progress)


@dataclass(frozen=True, kw_only=True)
class Contributor(Options):
    """Who reads a release of magnitudes."""

    goes_with = "magnitudes"

    as_contributor: str | None = option_field(
        None,
        metavar="outsider|480@nace=24,region=North",
        help=message("who reads: nobody in particular, or somebody with this value in this cell"),
    )
    within: float = option_field(
        10.0, metavar="PERCENT", help=message("how near a guess has to come (default 10)")
    )
    rest: float = option_field(
        0.0,
        needs="as_contributor",
        metavar="PERCENT",
        help=message(
            "how much of what others put into his cell is not the largest one's, at most (default 0)"
        ),
    )
