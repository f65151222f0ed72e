"""``export``: the public tables of a release bundle in another format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.bundle.tables.export import STREAM, Exporting, export, export_cube
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.table_writing import format_to_write
from tabprotect.engine.options import option_field, position
from tabprotect.languages.messages import joined, message, plural


@dataclass(frozen=True, kw_only=True)
class Export(Exporting):
    """Arguments of ``export``."""

    release: Path = position(metavar="RELEASE.zip")
    out: Path = option_field(
        metavar="FILE",
        help=message(
            "one cube with its totals; apart: the main table, others as FILE_2, FILE_3, ... or sheets of one "
            "workbook; - for standard output"
        ),
    )


@command("export", example="tabprotect export release.zip --format csv --out table.csv")
def run(asked: Export, console: Console) -> int:
    """Write the tables; what the format leaves out is said before."""
    keep_apart([asked.release], [None if asked.out == STREAM else asked.out])
    if asked.apart and asked.out == STREAM:
        raise UsageError(message("several files do not go to standard output"))
    kind = format_to_write(asked.out, asked.format)
    verified = bundle.verify(asked.release, progress=console)
    release = verified.release
    for remark in verified.remarks:
        console.say(remark)
    if release.magnitudes and asked.apart:
        raise UsageError(message("magnitudes are one cube with their totals: leave --apart out"))
    if not release.magnitudes and (asked.apart or not kind.cube):
        return _apart(asked, kind, verified, console)
    made = export_cube(release, asked.out, kind, asked, check=verified.fingerprint)
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


def _apart(asked: Export, kind: Format, verified: bundle.Verification, console: Console) -> int:
    """Write a file for each table."""
    release = verified.release
    lost = [s for published in release.tables for s in kind.loses(published.table.domain)]
    limits = list(dict.fromkeys(lost))
    for limit in limits:
        console.say(limit)
    written = export(release, asked.out, kind, asked, check=verified.fingerprint)
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
    verified: bundle.Verification,
    tables: Sequence[Mapping[str, object]],
    limits: Sequence[str],
) -> dict[str, object]:
    return {
        "out": str(asked.out),
        "format": kind.name,
        "title": verified.release.title,
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
