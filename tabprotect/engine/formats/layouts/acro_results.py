"""ACRO's ``results.json``: the outputs that a researcher asks to release, each with its files.

Each result has a uid, a status (pass, review, fail; approved after a decision), files with the cells
that a check flagged, and an outcome by column and row. Cells are numbered in the file's rows and
columns of counts, from 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tabprotect.engine.budgets import ACRO_BYTES
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.crosstab import Crosstab
from tabprotect.engine.paths import read_text
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import joined, message

VERSION = "1.0.2"
"""The version of ACRO whose layout this is; its viewer requires the same major and minor version."""
UID = "output_0"
FILE = f"{UID}_0.csv"
CHECKS = {"threshold": "MinimumThresholdCheck", "zero": "PresenceOfZeroCheck", "class": "RequiredZeroCheck"}


def read_results(path: Path) -> Mapping[str, Mapping[str, object]]:
    """The results of a file by uid.

    Raises
    ------
    InputError
        For a file that is no ``results.json``.
    """
    try:
        data = json.loads(read_text(path, most=ACRO_BYTES))
    except (ValueError, RecursionError):
        raise InputError(
            message("this is no JSON"), file=path, hint=message("finalise the outputs again")
        ) from None
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, dict) or "version" not in data:
        raise InputError(
            message("this is no results.json of ACRO"),
            file=path,
            hint=message("it has a version and results"),
        )
    for uid, result in results.items():
        if not isinstance(result, dict):
            raise InputError(message("the result {uid} is no object", repr(uid)), file=path)
    return results


def results_text(
    domain: Domain,
    flagged: Mapping[tuple[str, ...], Sequence[str]],
    *,
    status: str,
    when: str = "",
    comments: Sequence[str] = (),
    file: str = FILE,
) -> str:
    """One crosstab as a ``results.json``.

    Parameters
    ----------
    flagged
        The rules that flag a cell, or its suppression, by the cell's categories.
    when
        The time, in ISO 8601.
    file
        The file that holds the counts.
    """
    layout = Crosstab.of(domain)
    outcome: dict[str, dict[str, str]] = {}
    cells: dict[str, list[list[int]]] = {name: [] for name in CHECKS.values()}
    heads = layout.header[-layout.width :]
    for number, index in enumerate(np.ndindex(*domain.shape)):
        row, column = divmod(number, layout.width)
        rules = flagged.get(domain.labels(index), ())
        text = "".join(message("{rule}; ", rule) for rule in rules) if rules else "ok"
        outcome.setdefault(heads[column], {})[" | ".join(layout.labels[row])] = text
        for rule in rules:
            if rule in CHECKS:
                cells[CHECKS[rule]].append([row, column])
    summary = {name: len(places) for name, places in cells.items()}
    result = {
        "uid": UID,
        "status": status,
        "type": "table",
        "properties": {"method": "crosstab"},
        "files": [{"name": file, "sdc": {"summary": summary, "cells": cells}}],
        "outcome": outcome,
        "fair": {},
        "command": "tabprotect",
        "summary": message("{status}; ", status)
        + joined(
            (message("{name}: {n} cells may need suppressing", name, n) for name, n in summary.items() if n),
            "; ",
        ),
        "timestamp": when,
        "comments": list(comments),
        "exception": "",
    }
    data = {"version": VERSION, "results": {UID: result}}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
