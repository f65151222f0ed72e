"""ACRO's ``results.json`` and what was checked here: flags and decisions, out and in.

Cells flagged here are one table's; those of a file read are by output, row and column.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.formats.layouts.acro_results import FILE, read_results, results_text
from tabprotect.engine.formats.layouts.crosstab import crosstab_csv
from tabprotect.engine.output_checking.flags_and_decisions import Checked, Flag
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

VARIABLES = ("output", "row", "column")
SUFFIX = "results.json"
_FINE = ("", "ok", "nan")


def is_acro(path: Path) -> bool:
    """Return True if a file is a ``results.json`` of ACRO, by its name."""
    return path.name.lower().endswith(SUFFIX)


def write_acro(checked: Checked, table: Table, path: Path, *, when: str) -> Path:
    """Write ``results.json`` and beside it the table it is about. CONFIDENTIAL.

    Rows are the categories of all variables but the last, columns those of the last.

    Returns
    -------
    Path
        The table's file.
    """
    file = path.with_name(FILE)
    comments = [
        message(
            "({cell}): {what} by {who} at {when}: {why}",
            ", ".join(f.cell),
            f.decision.what,
            f.decision.who,
            f.decision.when,
            f.decision.why,
        )
        for f in checked.flags
        if f.decision is not None
    ]
    flagged = {flag.cell: tuple(flag.reasons) for flag in checked.flags}
    text = results_text(table.domain, flagged, status=checked.status, when=when, comments=comments)
    write_bytes(file, crosstab_csv(table), private=True)
    write_bytes(path, text.encode("utf-8"), private=True)
    return file


def read_acro(path: Path) -> Checked:
    """The flagged cells of every output of a ``results.json``, by output, row and column.

    An output that is not passed and has no outcome by cell (a regression, a plot) is one flag.

    Raises
    ------
    InputError
        For a file that is none.
    """
    flags: list[Flag] = []
    for uid, result in read_results(path).items():
        found = _outcome(uid, result.get("outcome"))
        if not found and str(result.get("status")) not in ("pass", "approved"):
            said = str(result.get("summary") or result.get("status"))
            found = [Flag((uid, "", ""), None, {"status": said})]
        flags += found
    return Checked(VARIABLES, tuple(flags))


def _outcome(uid: str, outcome: object) -> list[Flag]:
    if not isinstance(outcome, Mapping):
        return []
    return [
        Flag((uid, str(row), str(column)), None, _reasons(str(text)))
        for column, rows in outcome.items()
        if isinstance(rows, Mapping)
        for row, text in rows.items()
        if str(text).strip().lower() not in _FINE
    ]


def _reasons(text: str) -> dict[str, str]:
    return {
        part: message("flagged by ACRO: {part}", part)
        for part in filter(None, map(str.strip, text.split(";")))
    }
