"""Decision files: flags with their decisions as CSV (for a spreadsheet) or JSON. CONFIDENTIAL.

A CSV file has a column for each variable, then ``count``, ``rules``, ``reasons``, and ``decision``,
``to``, ``who``, ``when``, ``why``, which a person fills in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError, in_file
from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.engine.formats.text.rows import TextRows
from tabprotect.engine.output_checking.flags_and_decisions import DECIDED, Checked, Decision
from tabprotect.engine.paths import read_text
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.engine.plain_values.encoding import keyed
from tabprotect.languages.messages import joined, message

FORMAT = "tabprotect-decisions-1"
_FOUND = ("count", "rules", "reasons")
_DECIDED = ("decision", "to", "who", "when", "why")


def write_decisions(checked: Checked, path: Path) -> None:
    """Write a decision file, for its owner's eyes alone; ``.json`` is JSON, all else CSV."""
    data = (
        json.dumps(as_json(checked), ensure_ascii=False, indent=1) + "\n"
        if path.suffix.lower() == ".json"
        else _csv(checked)
    )
    write_bytes(path, data.encode("utf-8"), private=True)


def as_json(checked: Checked) -> dict[str, object]:
    """Return what a decision file in JSON holds."""
    return {"format": FORMAT, **keyed(checked, "status variables cells=flags")}


def _csv(checked: Checked) -> str:
    rows = (
        [
            *flag.cell,
            flag.count,
            joined(flag.reasons, "; "),
            joined(flag.reasons.values(), "; "),
            *keyed(flag, DECIDED).values(),
        ]
        for flag in checked.flags
    )
    return csv_rows([*checked.variables, *_FOUND, *_DECIDED], rows)


def read_decisions(path: Path, variables: tuple[str, ...]) -> dict[tuple[str, ...], Decision]:
    """The decisions of a file by cell; rows without one are left out.

    Raises
    ------
    InputError
        With the line or the cell of what is no decision.
    """
    with in_file(path):
        rows = _json_rows(path) if path.suffix.lower() == ".json" else _csv_rows(path, variables)
        found: dict[tuple[str, ...], Decision] = {}
        for line, cell, given in rows:
            if not given.get("decision"):
                continue
            if len(cell) != len(variables) or cell in found:
                raise InputError(
                    message("the cell is decided twice")
                    if cell in found
                    else message("not a cell of this table"),
                    line=line,
                    cell=f"({', '.join(cell)})",
                )
            found[cell] = _decision(given, line, cell)
        return found


_Row = tuple[int | None, tuple[str, ...], Mapping[str, str]]


def _csv_rows(path: Path, variables: tuple[str, ...]) -> list[_Row]:
    source = TextRows(path, delimiter=None)
    rows = list(source.rows())
    header = [*variables, *_FOUND, *_DECIDED]
    if rows[:1] != [header]:
        raise InputError(
            message("these are no decisions on this table"),
            line=1,
            hint=message("columns: {header}", ", ".join(header)),
        )
    out: list[_Row] = []
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(header):
            raise InputError(
                message("the row has {row} fields, the first {header}", len(row), len(header)),
                line=source.line(number),
            )
        given = dict(zip(_DECIDED, row[-len(_DECIDED) :], strict=True))
        out.append((source.line(number), tuple(row[: len(variables)]), given))
    return out


def _json_rows(path: Path) -> list[_Row]:
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise InputError(message("this is no JSON of decisions")) from None
    cells = data.get("cells") if isinstance(data, dict) and data.get("format") == FORMAT else None
    if not isinstance(cells, list):
        raise InputError(
            message("this is no JSON of decisions"), hint=message("check writes one: --out FILE.json")
        )
    out: list[_Row] = []
    for entry in cells:
        if not isinstance(entry, dict) or not isinstance(entry.get("cell"), list):
            raise InputError(message("an entry names no cell"))
        given = {k: "" if entry.get(k) is None else str(entry[k]) for k in _DECIDED}
        out.append((None, tuple(map(str, entry["cell"])), given))
    return out


def _decision(given: Mapping[str, str], line: int | None, cell: tuple[str, ...]) -> Decision:
    where = f"({', '.join(cell)})"
    to = given["to"].strip()
    if to and natural(to) is None:
        raise InputError(message("{to} is no count", repr(to[:40])), line=line, cell=where)
    try:
        return Decision(
            given["decision"].strip(), given["who"], given["when"], given["why"],
            natural(to),
        )  # fmt: skip
    except InputError as error:
        raise InputError(error.message, line=line, cell=where, hint=error.hint) from None
