"""Export of published sums to any registered format that holds a cube."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle.sums.magnitude_bundle import STATUS, VALUE, sum_rows
from tabprotect.engine.bundle.sums.sums_cube import check_decimals, cube_of_sums
from tabprotect.engine.bundle.tables.export import STREAM, write_cube
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.statuses import CONF_STATUS, CONFIDENTIAL, FREE
from tabprotect.engine.magnitudes.tables.axis import TOTAL
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class WrittenSums:
    """What was written: notes for people, and the code of totals of each variable."""

    notes: list[str]
    totals: Mapping[str, str]


def export_sums(
    release: ReleasedSums, path: Path, kind: Format, *, total_code: str | None = None, strict: bool = False
) -> WrittenSums:
    """Write published sums, totals among the cells, hidden ones with the format's mark.

    Parameters
    ----------
    total_code
        The category of totals; by default ``Total``.
    strict
        True to refuse quotation marks where the format cannot hold them.

    Raises
    ------
    InputError
        When the format cannot carry them, or a file cannot be written.
    """
    totals = {v.name: total_code or TOTAL for v in release.variables}
    if kind.name == "csv":
        _write(path, csv_of_sums(release, totals))
        return WrittenSums([], totals)
    if not kind.cube:
        raise InputError(
            message("{label} holds no sums with their totals", kind.label), hint=message("write CSV")
        )
    try:
        check_decimals(release, held=kind.decimals)
        cube = cube_of_sums(release, total_code)
    except InputError as error:
        raise error.in_file(path) from None
    cube, notes = write_cube(cube, path, kind, title=release.title, strict=strict)
    return WrittenSums(notes, dict(cube.totals))


def csv_of_sums(release: ReleasedSums, totals: Mapping[str, str]) -> bytes:
    """As ``table.csv``, with the status of the SDMX list beside."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    names = [v.name for v in release.variables]
    rows.writerow([*names, VALUE, STATUS, CONF_STATUS, *release.beside])
    for labels, (value, status, *more) in sum_rows(release):
        named = [
            code if label == TOTAL else label for label, code in zip(labels, totals.values(), strict=True)
        ]
        rows.writerow([*named, value, status, CONFIDENTIAL if status else FREE, *more])
    return text.getvalue().encode()


def _write(path: Path, data: bytes) -> None:
    if path == STREAM:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_bytes(path, data)
