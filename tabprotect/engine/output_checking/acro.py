"""ACRO's ``results.json``: outputs that researchers ask to take out, with what ACRO flagged.

Each result has a uid, a status (pass, review, fail; approved after a decision), files, and an outcome
by column and row. Cells flagged here are one table's; those of a file read are by output, row and column.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.csv_text import write_csv
from tabprotect.engine.output_checking.checked import Checked, Flag
from tabprotect.engine.tables.table import Table

VERSION = "1.0.2"
"""Of ACRO, whose layout this is; its viewer asks for the same major and minor version."""
UID = "output_0"
VARIABLES = ("output", "row", "column")
SUFFIX = "results.json"
_CHECKS = {
    "threshold": "MinimumThresholdCheck",
    "zero": "PresenceOfZeroCheck",
    "class": "RequiredZeroCheck",
}
_FINE = ("", "ok", "nan")


def is_acro(path: Path) -> bool:
    """Whether a file is a ``results.json`` of ACRO, by its name."""
    return path.name.lower().endswith(SUFFIX)


def write_acro(checked: Checked, table: Table, path: Path, *, when: str) -> Path:
    """Write ``results.json`` and beside it the table it is about. CONFIDENTIAL.

    Rows are the categories of all variables but the last, columns those of the last.

    Returns
    -------
    Path
        The table's file.
    """
    domain = table.domain
    flagged = {flag.cell: flag for flag in checked.flags}
    outcome: dict[str, dict[str, str]] = {}
    cells: dict[str, list[list[int]]] = {name: [] for name in _CHECKS.values()}
    width = domain.shape[-1] if domain.ndim else 1
    for number, index in enumerate(np.ndindex(*domain.shape)):
        labels = domain.labels(index)
        flag = flagged.get(labels)
        text = "ok" if flag is None else "; ".join(flag.reasons) + "; "
        outcome.setdefault(labels[-1] if labels else "", {})[" | ".join(labels[:-1])] = text
        for rule in () if flag is None else flag.reasons:
            cells[_CHECKS[rule]].append([number // width, number % width])
    summary = {name: len(places) for name, places in cells.items()}
    file = path.with_name(f"{UID}_0.csv")
    comments = [
        f"({', '.join(f.cell)}): {f.decision.what} by {f.decision.who} at {f.decision.when}: "
        f"{f.decision.why}"
        for f in checked.flags
        if f.decision is not None
    ]
    result = {
        "uid": UID,
        "status": checked.status,
        "type": "table",
        "properties": {"method": "crosstab"},
        "files": [{"name": file.name, "sdc": {"summary": summary, "cells": cells}}],
        "outcome": outcome,
        "command": "tabprotect check",
        "summary": f"{checked.status}; "
        + "; ".join(f"{name}: {n} cells may need suppressing" for name, n in summary.items() if n),
        "timestamp": when,
        "comments": comments,
        "exception": "",
    }
    data = {"version": VERSION, "results": {UID: result}}
    write_bytes(file, write_csv(table), private=True)
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
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
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    except (ValueError, RecursionError):
        raise InputError("this is no JSON", file=path, hint="finalise the outputs again") from None
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, dict) or "version" not in data:
        raise InputError(
            "this is no results.json of ACRO", file=path, hint="it has a version and results"
        )
    flags: list[Flag] = []
    for uid, result in results.items():
        if not isinstance(result, dict):
            raise InputError(f"the result {uid!r} is no object", file=path)
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
        part: f"flagged by ACRO: {part}" for part in filter(None, map(str.strip, text.split(";")))
    }
