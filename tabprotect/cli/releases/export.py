"""``export``: the public tables of a release bundle in another format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.bundle.tables.export import STREAM, Exporting, export, export_cube
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.table_writing import format_to_write
from tabprotect.engine.options import option_field, position
from tabprotect.engine.paths import is_folder
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.cube import Cube
from tabprotect.languages.messages import joined, message, plural

if TYPE_CHECKING:
    from tabprotect.engine.bundle.set_bundles import VerifiedSet


@dataclass(frozen=True, kw_only=True)
class Export(Exporting):
    """Arguments of ``export``."""

    release: Path = position(metavar="RELEASE.zip|FOLDER", help=message("or the folder of a publication set"))
    out: Path = option_field(
        metavar="FILE",
        help=message(
            "one cube with its totals; apart: the main table, others as FILE_2, FILE_3, ... or sheets of one "
            "workbook, as a set is; - for standard output"
        ),
    )


@command("export", example="tabprotect export release.zip --format csv --out table.csv")
def run(asked: Export, console: Console) -> int:
    """Write the tables; what the format leaves out is said before."""
    keep_apart([asked.release], [None if asked.out == STREAM else asked.out])
    if asked.out == STREAM and (asked.apart or is_folder(asked.release)):
        raise UsageError(message("several files do not go to standard output"))
    kind = format_to_write(asked.out, asked.format)
    if is_folder(asked.release):
        return _set(asked, kind, console)
    verified = bundle.verify(asked.release, progress=console)
    release = verified.release
    for remark in verified.remarks:
        console.say(remark)
    if release.magnitudes and asked.apart:
        raise UsageError(message("magnitudes are one cube with their totals: leave --apart out"))
    if not release.magnitudes and (asked.apart or not kind.cube):
        return _apart(asked, kind, verified, console)
    made = export_cube(release, asked.out, kind, asked, check=verified.fingerprint, progress=console)
    for note in made.notes:
        console.say(note)
    if asked.out == STREAM:
        return 0
    table = {"out": str(asked.out), "variables": made.variables, "suppressed": made.hidden}
    data = _said(asked, kind, verified, [table], made.notes)
    if release.magnitudes:
        data["measure"] = release.magnitude_table.measure
    data |= {"shape": made.shape, "total_codes": made.totals}
    console.result(data, [_line(asked.out, kind, made.variables, made.hidden)])
    return 0


def _set(asked: Export, kind: Format, console: Console) -> int:
    """Write the tables of a set as one workbook."""
    from tabprotect.engine.bundle.set_bundles import verify_set

    found = verify_set(asked.release, progress=console)
    for remark in found.remarks:
        console.say(remark)
    written = export(found.by_table, asked.out, kind, asked, title=found.title, check=found.fingerprint)
    return _tables(asked, kind, found, found.by_table.values(), written, console)


def _apart(asked: Export, kind: Format, verified: bundle.Verification, console: Console) -> int:
    """Write a file for each table."""
    written = export(verified.release, asked.out, kind, asked, check=verified.fingerprint)
    return _tables(asked, kind, verified, [verified.release], written, console)


def _tables(
    asked: Export,
    kind: Format,
    verified: bundle.Verification | VerifiedSet,
    releases: Iterable[Release],
    written: Sequence[tuple[Path, Cube]],
    console: Console,
) -> int:
    """Say what was written of each table, and what the format leaves out."""
    domains = [published.table.domain for release in releases for published in release.tables]
    limits = list(dict.fromkeys(limit for domain in domains for limit in kind.loses(domain)))
    for limit in limits:
        console.say(limit)
    said = [
        (path, cube.table.domain.names, 0 if cube.hidden is None else int(cube.hidden.sum()))
        for path, cube in written
    ]
    tables: list[dict[str, object]] = [
        {"out": str(path), "variables": names, "suppressed": hidden} for path, names, hidden in said
    ]
    lines = [_line(path, kind, names, hidden) for path, names, hidden in said]
    console.result(_said(asked, kind, verified, tables, limits), lines)
    return 0


def _said(
    asked: Export,
    kind: Format,
    verified: bundle.Verification | VerifiedSet,
    tables: Sequence[Mapping[str, object]],
    limits: Sequence[str],
) -> dict[str, object]:
    return {
        "out": str(asked.out),
        "format": kind.name,
        "title": verified.release.title if isinstance(verified, bundle.Verification) else verified.title,
        "tables": tables,
        "limits": limits,
        "remarks": verified.remarks,
        "confidential": False,
    }


def _line(path: Path, kind: Format, names: Sequence[str], hidden: int) -> str:
    line = message("{path}: {label}, {names}", path, kind.label, joined(names, ", "))
    if not hidden:
        return line
    return line + plural(hidden, ", {count:,} hidden cell marked", ", {count:,} hidden cells marked", hidden)
