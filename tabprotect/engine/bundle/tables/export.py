"""Export of published tables to any registered format, for those who cannot use a bundle."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle.tables.about import Telling, about_release
from tabprotect.engine.bundle.tables.cube import TOTAL as USUAL_TOTAL
from tabprotect.engine.bundle.tables.cube import cube_of, with_numbers
from tabprotect.engine.bundle.tables.data_package import STATUS, VALUE, magnitude_rows
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError, in_file
from tabprotect.engine.formats.agencies.csvw import SUFFIX, description
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.registered import format_names
from tabprotect.engine.formats.statuses import CONF_STATUS, CONFIDENTIAL, FREE
from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.engine.options import option_field
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.variable import AT, TOTAL
from tabprotect.languages.messages import message

MOST_BY_ITSELF = 2_000
"""The most cells of a workbook that has a sheet of intervals without being asked for it."""

TABLE_SHEET, INTERVALS_SHEET = "Table", "Intervals"

STREAM = Path("-")
"""Standard output in place of a file."""


@dataclass(frozen=True, kw_only=True)
class Exporting(Telling):
    """The form of exported tables, and what is told beside their numbers."""

    format: str | None = option_field(
        None, choices=format_names(), help=message("where the name of the file does not say it")
    )
    apart: bool = option_field(False, help=message("a file for each table, without totals among its cells"))
    total_code: str | None = option_field(
        None,
        label=message("Code of totals"),
        metavar="T",
        help=message("the category of totals (default: the source's own, else {code})", USUAL_TOTAL[0]),
    )
    strict: bool = option_field(
        False, help=message("refuse quotation marks that the format cannot hold, which become typographic")
    )
    add: Literal["intervals", "nothing"] | None = option_field(
        None,
        label=message("Beside each number"),
        shell="--with",
        choices={
            "intervals": message("the interval that holds the true count with 90 %, and the best estimate"),
            "nothing": message("the published numbers alone"),
        },
        help=message(
            "the interval that holds the true count with 90 %, and the best estimate (default in a workbook of up "
            "to {most:,} counts: a sheet of its own); or nothing",
            MOST_BY_ITSELF,
        ),
    )


INTERVALS = message(
    "From lower to upper lies the true count with a chance of 90 in 100 at least, where all counts that fit "
    "the published ones are as likely as each other; estimate is its mean."
)

USUAL = Exporting()
"""One cube that says what the release says."""


def export(
    of: Release | Mapping[str, Release],
    path: Path,
    kind: Format,
    asked: Exporting = USUAL,
    *,
    title: str = "",
    check: str = "",
) -> list[tuple[Path, Cube]]:
    """Write what :func:`files_of` makes: the file of each table, and the table.

    Raises
    ------
    InputError, ParameterError
        As there, or when a file cannot be written.
    """
    made, written = files_of(of, path, kind, asked, title=title, check=check)
    for out, data in made.items():
        write_bytes(out, data)
    return written


def files_of(
    of: Release | Mapping[str, Release],
    path: Path,
    kind: Format,
    asked: Exporting = USUAL,
    *,
    title: str = "",
    check: str = "",
) -> tuple[dict[Path, bytes], list[tuple[Path, Cube]]]:
    """Every published table as files: the main one as ``path``, others beside it with a number.

    A workbook has them all in one file, each with its totals.

    Parameters
    ----------
    of
        A release, or those of the tables of a set by name.
    title
        Of the whole set.
    check
        That of :func:`.about.about_release`; of a set that of its manifest.

    Returns
    -------
    dict, list
        The bytes of each file; the file of each table, and the table.

    Raises
    ------
    InputError
        When the format cannot carry a table.
    ParameterError
        For a code of totals where there are none, for the tables of a set in several files, and for
        intervals.
    """
    if asked.add == "intervals":
        raise ParameterError(
            {"add": message("intervals stand in one cube of one release, with its totals")},
            hint=message("export each release by itself, as CSV, Parquet, PX, JSON-stat, SDMX or a workbook"),
        )
    if isinstance(of, Release):
        releases, about = {"": of}, about_release(of, check, asked)
    else:
        releases = dict(of)
        _check_book(kind, asked)
        tables = {one.table.domain.names: one for release in of.values() for one in release.tables}
        whole = replace(next(iter(of.values())), tables=tuple(tables.values()), title=title)
        about = about_release(whole, check, asked, several=True)
    if asked.total_code and not kind.book:
        raise ParameterError(
            {"total_code": message("a file for each table has no totals")},
            hint=message("leave it out, or write a workbook: FILE.xlsx or FILE.ods"),
        )
    written: list[tuple[Path, Cube]] = []
    for name, release in releases.items():
        own = replace(about, title=release.title) if name else about
        cubes = _sheets(release, asked.total_code) if kind.book else [*map(_cube, release.tables)]
        for cube in cubes:
            out = path if kind.book or not written else _numbered(path, len(written) + 1)
            written.append((out, replace(cube, name=name, about=own)))
    made: dict[Path, bytes] = {}
    several: dict[Path, list[Cube]] = {}
    for out, cube in written:
        with in_file(out):
            domain, _ = kind.held(cube.table.domain, strict=asked.strict)
        several.setdefault(out, []).append(cube.on(domain))
    for out, cubes in several.items():
        more = kind.beside(cubes[0], out, published=True)
        made |= {out.with_name(name): content for name, content in more.items()}
        with in_file(out):
            data = kind.publish_all(cubes)
        made[out] = gzip.compress(data, mtime=0) if out.suffix.lower() == ".gz" else data
    return made, written


def _check_book(kind: Format, asked: Exporting) -> None:
    """Refuse to write a set as anything but one workbook."""
    if not kind.book:
        raise InputError(
            message("a set is written as one workbook"), hint=message("name it FILE.xlsx or FILE.ods")
        )
    if asked.apart:
        raise ParameterError(
            {"apart": message("the tables of a set have sheets of their own")}, hint=message("leave it out")
        )


def _sheets(release: Release, total_code: str | None) -> list[Cube]:
    return [
        cube_of(part, total_code) if total_code or len(part.tables) > 1 else _cube(part.tables[0])
        for part in _with_their_totals(release)
    ]


def _cube(published: PublishedTable) -> Cube:
    return Cube(published.table, published.suppressed)


def _with_their_totals(release: Release) -> list[Release]:
    """A release for each table that is no total of another, with the tables that are totals of it."""
    of = [{name.partition(AT)[0] for name in one.table.domain.names} for one in release.tables]
    largest = [one for n, one in enumerate(of) if not any(one < other for other in of) and one not in of[:n]]
    return [
        replace(release, tables=tuple(t for t, names in zip(release.tables, of, strict=True) if names <= one))
        for one in largest
    ]


@dataclass(frozen=True)
class Exported:
    """All published tables as one file.

    Attributes
    ----------
    content
    beside
        Further files by their names.
    notes
        What the format leaves out or has replaced.
    variables, shape
        Of the file, totals among its categories.
    hidden
        Its cells that are not published.
    totals
        The code of totals of each variable.
    cube
        What was written; ``None`` where rows of the public table are.
    """

    content: bytes
    beside: Mapping[str, bytes]
    notes: list[str]
    variables: tuple[str, ...]
    shape: tuple[int, ...]
    hidden: int
    totals: Mapping[str, str]
    cube: Cube | None = None


def exported(
    release: Release,
    path: Path,
    kind: Format,
    asked: Exporting = USUAL,
    *,
    check: str = "",
    progress: Progress = SILENT,
) -> Exported:
    """All published tables as one file, with totals and the groups of levels as categories.

    Parameters
    ----------
    path
        After which further files are named.
    check
        The SHA-256 of the bundle, which notes name.

    Raises
    ------
    InputError
        When there is no one cube, or the format cannot carry it.
    """
    if release.magnitudes and asked.add != "intervals":
        table = release.magnitude_table
        if kind.name == "csv":
            totals = {v.name: asked.total_code or TOTAL for v in table.variables}
            hidden = int(table.hidden.sum())
            about = about_release(release, check, asked)
            behind = (STATUS, CONF_STATUS, *table.beside)
            beside = {}
            if about.says_anything:
                cube = replace(cube_of(release, asked.total_code), about=about)
                beside[path.name + SUFFIX] = description(path.name, cube, VALUE, behind)
            return Exported(_csv(table, totals), beside, [], tuple(totals), table.shape, hidden, totals)
        if not kind.cube:
            raise InputError(
                message("{label} holds no sums with their totals", kind.label), hint=message("write CSV")
            )
        check_decimals(table.decimals, kind)
    cube = cube_of(release, asked.total_code)
    left_out: list[str] = []
    if asked.add == "intervals":
        cube = _with_intervals(cube, release, kind, asked, progress)
    if release.magnitudes and kind.side_by_side:
        cube = with_numbers(cube, release.magnitude_table)
    elif release.magnitudes and release.magnitude_table.beside:
        left_out = [message("The numbers and means beside the sums are left out.")]
    domain, notes = kind.held(cube.table.domain, strict=asked.strict)
    about = about_release(release, check, asked)
    doubted = replace(about, notes=(*about.notes, INTERVALS))
    cube = replace(cube.on(domain), about=doubted if asked.add == "intervals" else about)
    content = None
    if asked.add is None and kind.book and not release.magnitudes and domain.size <= MOST_BY_ITSELF:
        try:
            figures = kind.as_held(_with_intervals(cube, release, kind, asked, progress))
            sheets = [replace(cube, name=TABLE_SHEET), replace(figures, name=INTERVALS_SHEET, about=doubted)]
            content = kind.publish_all(sheets)
        except (InfeasibleError, InputError) as error:
            left_out = [message("Without intervals: {message}.", error.message)]
    known = any(variable.labels for variable in release.domain.variables)
    front = cube.across[0] if cube.figures else domain
    return Exported(
        content or kind.publish(cube),
        kind.beside(cube, path, published=True),
        [*(kind.loses(domain) if known and not kind.labels_beside else ()), *notes, *left_out],
        front.names,
        front.shape,
        0 if cube.hidden is None else int(cube.hidden.reshape(*front.shape, -1)[..., 0].sum()),
        dict(cube.totals),
        cube,
    )


def export_cube(
    release: Release,
    path: Path,
    kind: Format,
    asked: Exporting = USUAL,
    *,
    check: str = "",
    progress: Progress = SILENT,
) -> Exported:
    """Write what :func:`exported` makes.

    Raises
    ------
    InputError
        As there, or when a file cannot be written.
    """
    with in_file(path):
        made = exported(release, path, kind, asked, check=check, progress=progress)
    if path == STREAM:
        sys.stdout.buffer.write(made.content)
        sys.stdout.buffer.flush()
        return made
    for name, more in made.beside.items():
        write_bytes(path.with_name(name), more)
    zipped = path.suffix.lower() == ".gz"
    write_bytes(path, gzip.compress(made.content, mtime=0) if zipped else made.content)
    return replace(made, notes=[*made.notes, *(message("beside it: {name}", name) for name in made.beside)])


def _with_intervals(cube: Cube, release: Release, kind: Format, asked: Exporting, progress: Progress) -> Cube:
    # Late: only who asks waits for what computes posteriors.
    from tabprotect.engine.bundle.tables.intervals import with_intervals

    if not (kind.side_by_side and kind.decimals):
        raise ParameterError(
            {"add": message("{label} holds one number a cell, without decimals", kind.label)},
            hint=message("write CSV, Parquet, PX, JSON-stat, SDMX or a workbook"),
        )
    return with_intervals(cube, release, asked.total_code, progress)


def check_decimals(decimals: int, kind: Format | None = None) -> None:
    """Refuse magnitudes with decimals where the format does not hold them; none holds true ones."""
    if decimals and not (kind is not None and kind.decimals):
        raise InputError(
            message("the sums have {n} decimals, which this format does not hold", decimals),
            hint=message(
                "write CSV, PX, JSON-stat or SDMX, or sum the measure in smaller units, as whole numbers"
            ),
        )


def _csv(table: PublishedMagnitudes, totals: Mapping[str, str]) -> bytes:
    """Write ``table.csv`` with the status of the SDMX list beside."""
    rows = (
        [
            *(code if label == TOTAL else label for label, code in zip(labels, totals.values(), strict=True)),
            *(value, status, CONFIDENTIAL if status else FREE, *more),
        ]
        for labels, (value, status, *more) in magnitude_rows(table)
    )
    return csv_rows([*totals, VALUE, STATUS, CONF_STATUS, *table.beside], rows).encode()


def _numbered(path: Path, number: int) -> Path:
    """Add a number to a file name: ``t.sdmx.csv`` becomes ``t_2.sdmx.csv``."""
    stem, dot, endings = path.name.partition(".")
    return path.with_name(f"{stem}_{number}{dot}{endings}")
