"""The reader for the files that a command line names, begun while the program itself is still loading."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

FIRST: Mapping[str, str] = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "workbook"),
    **dict.fromkeys((".sav", ".zsav", ".dta", ".xpt", ".sas7bdat"), "labelled"),
    **dict.fromkeys((".rds", ".rdata", ".rda"), "r"),
    **dict.fromkeys((".parquet", ".pq", ".duckdb"), "connect"),
    ".xml": "xml",
}
"""What a reader is first asked about a file, by its suffix (`READERS` of the worker)."""

OF_RECORDS: Mapping[str, str] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".gz", ".tab", ".asc"), "connect"),
    **dict.fromkeys((".rds", ".rdata"), "r"),
}
"""The same where records are counted; as tables these are read here."""

COUNTING = ("tabulate", "record-keys", "--by")
"""Words of a command line that counts records."""


def questions(arguments: Sequence[str]) -> Iterator[str]:
    """Return what a reader will be asked by a command line, file by file."""
    kinds = {**FIRST, **OF_RECORDS} if any(word in arguments for word in COUNTING) else FIRST
    for word in arguments:
        path = word.rpartition("#")[0] or word
        do = kinds.get(os.path.splitext(path)[1].lower(), "")
        if do and os.path.isfile(path):
            yield do


def begin(arguments: Sequence[str]) -> None:
    """Start the reader that a command line will need, if it needs one."""
    do = next(questions(arguments), "")
    if do:
        # Late: it costs a command that reads no foreign file a hundredth of a second.
        from tabprotect.engine.foreign.reader import begin_for

        begin_for(do)
