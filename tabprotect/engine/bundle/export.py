"""Export of published tables to any registered format, for those who cannot use a bundle."""

from __future__ import annotations

import gzip
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.release.release import Release


def export(release: Release, path: Path, kind: Format) -> dict[Path, tuple[str, ...]]:
    """Write every published table: the main one to ``path``, others beside it with a number.

    All files are made before the first is written.

    Returns
    -------
    dict
        The variables of each file, by its path.

    Raises
    ------
    InputError
        When the format cannot carry a table, or a file cannot be written.
    """
    made: dict[Path, bytes] = {}
    beside: dict[Path, bytes] = {}
    variables: dict[Path, tuple[str, ...]] = {}
    for number, published in enumerate(release.tables, 1):
        out = path if number == 1 else _numbered(path, number)
        try:
            data = kind.publish(published.table, published.suppressed, release.title)
        except InputError as error:
            raise error.in_file(out) from None
        made[out] = gzip.compress(data, mtime=0) if out.suffix.lower() == ".gz" else data
        variables[out] = published.table.domain.names
        more = kind.beside(published.table, out, published.suppressed, published=True)
        beside |= {out.with_name(name): content for name, content in more.items()}
    for out, data in {**beside, **made}.items():
        write_bytes(out, data)
    return variables


def _numbered(path: Path, number: int) -> Path:
    """Add a number to a file name: ``t.sdmx.csv`` becomes ``t_2.sdmx.csv``."""
    stem, dot, endings = path.name.partition(".")
    return path.with_name(f"{stem}_{number}{dot}{endings}")
