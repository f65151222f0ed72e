"""``rules``: which sums of a magnitude table tell too much of a contributor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tabprotect.cli.arguments import MAGNITUDES
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.engine.magnitudes.files.table_files import read_magnitudes
from tabprotect.engine.magnitudes.tables.sensitive_cells import cell_rows, sensitive_cells
from tabprotect.engine.options import Options, part, position
from tabprotect.engine.project.options import Judging
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.messages import joined, message, plural


@dataclass(frozen=True, kw_only=True)
class Rules(Options):
    """Arguments of ``rules``."""

    table: Path = position(metavar="T.parquet", help=message("a magnitude table"))
    judging: Judging = part(Judging, group=MAGNITUDES)


@command("rules", example="tabprotect rules turnover.parquet --rule p=10")
def run(asked: Rules, console: Console) -> None:
    """Judge every cell, totals among them."""
    rules = rules_of(asked.judging.rules)
    table = read_magnitudes(asked.table)
    found = sensitive_cells(table, rules, weights=asked.judging.reading)
    rows = list(cell_rows(table, rules, found))
    unsafe = int(found.unsafe.sum())
    data = {"cells": rows, "unsafe": unsafe, "measure": table.measure, "confidential": True}
    lines = [_words(row) for row in rows if row["unsafe"]]
    said = message("{unsafe:,} of {cells:,} cells are unsafe. CONFIDENTIAL", unsafe, len(table.cells))
    console.result(data, [*lines, said])


def _words(row: dict[str, object]) -> str:
    index, holdings = row["index"], row["holdings"]
    assert isinstance(index, dict) and isinstance(holdings, int)
    return plural(
        holdings,
        "{named}: {value} from {holdings:,} contributor, unsafe by {rule}; protection level {level}",
        "{named}: {value} from {holdings:,} contributors, unsafe by {rule}; protection level {level}",
        joined((f"{name}={value}" for name, value in index.items()), ", "),
        _figure(row["value"]),
        holdings,
        row["rule"],
        _figure(row["upper_level"]),
    )


def _figure(value: object) -> str:
    """A sum with its thousands apart."""
    return message("{value:,}", value) if isinstance(value, int | float) else str(value)
