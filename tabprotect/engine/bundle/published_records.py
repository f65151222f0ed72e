"""The records behind a release whose numbers add up: swapped ones, one for each unit that was counted."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import numpy as np

from tabprotect.engine.atomic import replacing
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.errors import InputError
from tabprotect.engine.microdata.record_files import GivenRecords
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message

MOST_RECORDS = 10**8


def published_records(source: str) -> GivenRecords | None:
    """The records of a release bundle, with a column for each level; ``None`` for another file.

    Raises
    ------
    BundleError, InputError
        For a bundle that is not intact, or whose counts are none of records.
    """
    path = Path(source)
    if path.suffix.lower() != ".zip" or not zipfile.is_zipfile(path):
        return None
    try:
        return records_of(bundle.verify(path).release)
    except InputError as error:
        raise error.in_file(path) from None


def records_of(release: Release) -> GivenRecords:
    """One record for each unit of the table of all variables.

    Raises
    ------
    InputError
        Where parts of the release do not add up, or a count is hidden: other tables would not agree with it.
    """
    inner = None if release.magnitudes else release.inner
    promised = methods()[release.mechanism.method].promised(release.mechanism.values)
    if (
        inner is None
        or inner.suppressed is not None
        or "additive" not in promised
        or inner.table.has_negative
    ):
        raise InputError(
            message("this release is no table of records: its counts are hidden, or do not add up"),
            hint=message("tables of one's own add up from a release by record_swapping"),
        )
    table = inner.table
    keys, counts = table.cells
    if int(counts.sum()) > MOST_RECORDS:
        raise InputError(message("{people:,} records are too many to be listed", int(counts.sum())))
    columns: dict[str, np.ndarray] = {}
    orders: dict[str, tuple[str, ...]] = {}
    for variable, codes in zip(
        table.domain.variables, np.unravel_index(keys, table.domain.shape), strict=True
    ):
        each = np.repeat(codes, counts)
        columns[variable.name] = np.array(variable.categories, dtype=object)[each]
        orders[variable.name] = tuple(variable.categories)
        for level in variable.named.values():
            if level.name not in table.domain.names:
                columns[level.name] = np.array(level.groups, dtype=object)[each]
                orders[level.name] = tuple(dict.fromkeys(level.groups))
    return GivenRecords(columns, orders)


def write_records(records: GivenRecords, path: Path) -> int:
    """Write them as a CSV file; their number.

    Raises
    ------
    InputError
        When it cannot be written, or is to be another kind of file.
    """
    if path.suffix.lower() != ".csv":
        raise InputError(message("records are written as CSV: --out NAME.csv"), file=path)
    columns = list(records.columns.values())
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(records.columns)
        rows.writerows(zip(*(column.tolist() for column in columns), strict=True))
        text.detach()
    return len(columns[0])
