"""The quality sheet of releases as one workbook, or as one report with a page for each table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.formats.workbooks.sheet_writing import Sheet, SheetCell
from tabprotect.engine.formats.workbooks.xlsx_writing import xlsx_bytes
from tabprotect.engine.paths import is_folder
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.report.quality import DECIMALS, Quality, Value, of_original, of_release
from tabprotect.engine.report.report import Edition, page_bytes, rendered
from tabprotect.languages.messages import message
from tabprotect.languages.translation import figures_apart

SHEETS = (".xlsx",)


@dataclass(frozen=True)
class QualityReport:
    """What the template is filled with: a page for each table."""

    tables: Sequence[Quality]
    staff: bool


def sources(paths: Sequence[Path], edition: Edition) -> list[Path]:
    """The bundles of given files and folders, or their dossiers; in the order of their names.

    Raises
    ------
    InputError
        Where a folder has none.
    """
    found: list[Path] = []
    for path in paths:
        if not is_folder(path):
            found.append(path)
            continue
        inside = [one for one in sorted(path.rglob("*.zip")) if _is_dossier(one) is (edition == "staff")]
        if not inside:
            raise InputError(
                message("no dossier is in this folder")
                if edition == "staff"
                else message("no release bundle is in this folder"),
                file=path,
            )
        found += inside
    return found


def _is_dossier(path: Path) -> bool | None:
    try:
        return confidential.is_dossier(archive.load(path))
    except BundleError:
        return None


def qualities(paths: Sequence[Path], edition: Edition, progress: Progress = SILENT) -> list[Quality]:
    """Each table of the files, in figures.

    Raises
    ------
    BundleError
        When a file is damaged, forged or unsafe to open.
    InputError
        When the staff edition of a release bundle is asked for, or of magnitudes.
    """
    found: list[Quality] = []
    files = sources(paths, edition)
    stage = message("the quality of each table")
    for number, path in enumerate(files):
        progress.report(stage, number / len(files))
        found += _of_file(path, edition, progress)
    return found


def _of_file(path: Path, edition: Edition, progress: Progress) -> Iterator[Quality]:
    data = archive.load(path)
    try:
        is_dossier = confidential.is_dossier(data)
        if edition == "public":
            bundle = confidential.bundle_within(data) if is_dossier else data
            yield from of_release(path.name, verify_bytes(bundle).release, progress)
            return
        if not is_dossier:
            raise InputError(
                message("the staff edition tells of the original, which is not in a release bundle"),
                file=path,
                hint=message("name the dossier; or make the edition for readers: --edition public"),
            )
        yield from of_original(path.name, confidential.open_dossier(data).protected)
    except BundleError as error:
        text = message("{name}: {message}", path.name, error.message)
        raise BundleError(text, hint=error.hint, detail=error.detail) from None


@figures_apart()
def quality_bytes(found: Sequence[Quality], out: Path) -> bytes:
    """The sheet of all tables by the suffix of its file: a workbook, HTML or PDF."""
    if out.suffix.lower() in SHEETS:
        return _workbook(found)
    return page_bytes(rendered("quality.html", QualityReport(found, any(q.confidential for q in found))), out)


def _workbook(found: Sequence[Quality]) -> bytes:
    """A row for each table; of the house one for each margin beside."""
    names = dict.fromkeys(name for one in found for name in one.row)
    rows = [[one.row.get(name) for name in names] for one in found]
    sheets = {"Quality": _sheet([*names], rows, 4)}
    margins: list[list[str | Value]] = [[q.file, q.table, *margin] for q in found for margin in q.margins]
    if margins:
        columns = ["file", "table", "margin", "mean_absolute_change", "largest_change"]
        sheets["Margins"] = _sheet(columns, margins, 3)
    return xlsx_bytes(sheets, message("Quality of published tables"), DECIMALS)


def _sheet(names: Sequence[str], rows: Sequence[Sequence[str | Value]], labels: int) -> Sheet:
    cells = [[SheetCell(name, "across" if at >= labels else "head") for at, name in enumerate(names)]]
    cells += [[_cell(value) for value in row] for row in rows]
    widths = [max(10, *(min(len(str(row[at].value)), 40) for row in cells)) for at in range(len(names))]
    return Sheet(cells, widths, 1, labels, filtered=True)


def _cell(value: str | Value) -> SheetCell:
    if value is None:
        return SheetCell("")
    return SheetCell(
        value, "" if isinstance(value, str) else "number" if isinstance(value, float) else "whole"
    )
