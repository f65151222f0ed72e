"""ACRO's ``results.json``: the outputs that a researcher asks to release, each with its files.

Each result has a uid, a status (pass, review, fail; approved after a decision), files with the cells
that a check flagged, and an outcome by column and row. Cells are numbered in the file's rows and
columns of counts, from 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import isfile
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


@dataclass(frozen=True)
class ResultTable:
    """A table among the results, with its file.

    Attributes
    ----------
    uid, name, place
        Its output, the name of its file, and its number among the tables.
    holds
        What it holds if that is not counts: what its command aggregates by.
    flagged
        Row and column, from 0, of the cells that its checks list.
    shape
        The number of its rows and columns of cells; of a file without outcomes (0, 0).
    comments
        What was remarked on the output.
    """

    uid: str
    name: str
    place: int
    holds: str
    flagged: frozenset[tuple[int, int]]
    shape: tuple[int, int]
    comments: tuple[str, ...] = ()


def tables_of(path: Path) -> Iterator[ResultTable]:
    """The tables of a results file whose CSV files stand beside it.

    Raises
    ------
    InputError
        For a file that is no ``results.json``.
    """
    place = 0
    for uid, result in read_results(path).items():
        files = result.get("files")
        if result.get("type") != "table" or not isinstance(files, list):
            continue
        for file in files:
            name = file.get("name") if isinstance(file, dict) else None
            # Only the file name is used: the file is not to be trusted.
            if not isinstance(name, str) or Path(name).name != name or not name.endswith(".csv"):
                continue
            if isfile(path.parent / name):
                flagged = frozenset(_flagged(file.get("sdc")))
                said = result.get("comments")
                comments = tuple(map(str, said)) if isinstance(said, list) else ()
                shape = _shape(result.get("outcome"))
                yield ResultTable(uid, name, place, _holds(result), flagged, shape, comments)
                place += 1


_COUNTS = frozenset({"count", "size", "len"})
_AGGREGATE = re.compile(r"\baggfunc\s*=\s*(\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|[^,)]+)")
_SHARE = re.compile(r"\bnormalize\s*=\s*(?!False\b)")


def _holds(result: Mapping[str, object]) -> str:
    """What a table holds in place of counts, by its command; empty for counts."""
    command, properties = result.get("command"), result.get("properties")
    text = command if isinstance(command, str) else ""
    method = properties.get("method") if isinstance(properties, dict) else None
    if _SHARE.search(text):
        return message("shares")
    found = _AGGREGATE.search(text)
    if found is not None:
        names = [name.rpartition(":")[2].strip(" []{}()'\"") for name in found[1].split(",")]
        others = [name for name in names if name and name.rpartition(".")[2] not in _COUNTS]
        return joined(others, ", ")
    if "pivot_table" in (method, *re.findall(r"\bpivot_table\b", text)):
        # What pandas takes where nothing is said.
        return "mean"
    return "" if method in (None, "crosstab", "table") else str(method)


def _shape(outcome: object) -> tuple[int, int]:
    columns = [*outcome.values()] if isinstance(outcome, dict) else []
    rows = columns[0] if columns and isinstance(columns[0], dict) else {}
    return len(rows), len(columns)


def _flagged(sdc: object) -> Iterator[tuple[int, int]]:
    cells = sdc.get("cells") if isinstance(sdc, dict) else None
    for places in cells.values() if isinstance(cells, dict) else ():
        for place in places if isinstance(places, list) else ():
            if isinstance(place, list) and len(place) == 2 and all(type(at) is int for at in place):
                yield place[0], place[1]


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
