"""Export of published tables to any registered format, for those who cannot use a bundle."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle.tables.cube import cube_of
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.cube import Cube
from tabprotect.languages.messages import message

STREAM = Path("-")
"""Standard output in place of a file."""


def export(release: Release, path: Path, kind: Format, *, strict: bool = True) -> dict[Path, tuple[str, ...]]:
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
    margins = {one.table.domain.names: (one.table, one.suppressed) for one in release.tables}
    for number, published in enumerate(release.tables, 1):
        out = path if number == 1 else _numbered(path, number)
        try:
            domain, _ = kind.held(published.table.domain, strict=strict)
            table = published.table.on(domain)
            data = kind.publish_among(table, published.suppressed, release.title, margins)
        except InputError as error:
            raise error.in_file(out) from None
        made[out] = gzip.compress(data, mtime=0) if out.suffix.lower() == ".gz" else data
        variables[out] = published.table.domain.names
        more = kind.beside(table, out, published.suppressed, published=True)
        beside |= {out.with_name(name): content for name, content in more.items()}
    for out, data in {**beside, **made}.items():
        write_bytes(out, data)
    return variables


def export_cube(
    release: Release, path: Path, kind: Format, *, total_code: str | None = None, strict: bool = False
) -> tuple[Cube, list[str]]:
    """Write all published tables as one cube, its totals and the groups of its levels as categories.

    Parameters
    ----------
    total_code
        The category of totals; by default the source's own, else ``T``.
    strict
        True to refuse quotation marks where the format cannot hold them.

    Returns
    -------
    Cube
        What was written, with notes on what was replaced.

    Raises
    ------
    InputError
        When there is no one cube, or the format cannot carry it.
    """
    try:
        cube = cube_of(release, total_code)
    except InputError as error:
        raise error.in_file(path) from None
    return write_cube(cube, path, kind, title=release.title, strict=strict)


def write_cube(
    cube: Cube, path: Path, kind: Format, *, title: str = "", strict: bool = False
) -> tuple[Cube, list[str]]:
    """Write a cube as :func:`export_cube` does."""
    try:
        domain, notes = kind.held(cube.table.domain, strict=strict)
        cube = cube.on(domain)
        data = kind.publish_cube(cube, title)
        beside = kind.beside_cube(cube, path, title)
    except InputError as error:
        raise error.in_file(path) from None
    if path == STREAM:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return cube, notes
    for name, more in beside.items():
        write_bytes(path.with_name(name), more)
        notes = [*notes, message("beside it: {name}", name)]
    write_bytes(path, gzip.compress(data, mtime=0) if path.suffix.lower() == ".gz" else data)
    return cube, notes


def _numbered(path: Path, number: int) -> Path:
    """Add a number to a file name: ``t.sdmx.csv`` becomes ``t_2.sdmx.csv``."""
    stem, dot, endings = path.name.partition(".")
    return path.with_name(f"{stem}_{number}{dot}{endings}")
