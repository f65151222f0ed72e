"""``rules``: which sums of a magnitude table tell too much of a contributor."""

from __future__ import annotations

import argparse
from pathlib import Path

from tabprotect.cli.output import Console
from tabprotect.cli.rule_options import add_rules
from tabprotect.cli.verbs import Verbs
from tabprotect.engine.magnitudes.files.table_files import read_magnitudes
from tabprotect.engine.magnitudes.tables.sensitive_cells import cell_rows, sensitive_cells
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.said import joined, say


def add(verbs: Verbs) -> None:
    """Declare the command."""
    judging = verbs.add("rules", run)
    judging.add_argument("table", type=Path, metavar="T.parquet", help=say("a magnitude table"))
    add_rules(judging)


def run(args: argparse.Namespace, console: Console) -> int:
    """Judge every cell, totals among them."""
    rules = rules_of(args.rules)
    table = read_magnitudes(args.table)
    found = sensitive_cells(table, rules, weights=args.weights)
    rows = list(cell_rows(table, rules, found))
    unsafe = int(found.unsafe.sum())
    data = {"cells": rows, "unsafe": unsafe, "measure": table.measure, "confidential": True}
    lines = [
        say("{index}: {value} of {holdings}, {rule}, upper level {level}", *_words(row))
        for row in rows
        if row["unsafe"]
    ]
    said = say("{unsafe:,} of {cells:,} cells are unsafe. CONFIDENTIAL", unsafe, len(table.cells))
    console.result(data, [*lines, said])
    return 0


def _words(row: dict[str, object]) -> tuple[object, ...]:
    index = row["index"]
    assert isinstance(index, dict)
    named = joined((f"{name}={value}" for name, value in index.items()), ", ")
    return named, row["value"], row["holdings"], row["rule"], row["upper_level"]
