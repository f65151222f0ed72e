"""The table behind whatever a command line names: an example, a table file, or a project."""

from __future__ import annotations

from pathlib import Path

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project import storage
from tabprotect.engine.project.examples import Opened, open_table

PROJECT = ".tabprotect"


def open_source(
    source: str | Path,
    *,
    count: str | None = None,
    strip_totals: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    progress: Progress = SILENT,
) -> Opened:
    """Open ``example:NAME``, a table file (options as for ``read_table``) or a saved project.

    A project gives its original as it was last edited, with the cycles and the title chosen in it.

    Raises
    ------
    InputError
        For a faulty file, or a project without an original.
    """
    path = Path(source)
    if path.suffix.lower() == PROJECT:
        project = storage.load(path).project
        return Opened(project.original, project.moves, project.title, project.notes)
    return open_table(
        source,
        count=count,
        strip_totals=strip_totals,
        delimiter=delimiter,
        decimal=decimal,
        encoding=encoding,
        progress=progress,
    )
