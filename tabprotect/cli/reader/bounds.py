"""``bounds``: what released margins say about the cells of a table."""

from __future__ import annotations

import argparse

from tabprotect.cli.arguments import add_reading, open_source
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.engine.bounds.bounding import bounds
from tabprotect.engine.bounds.bounds import Bounds
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.ways_to_bound import BOUNDS_WAYS
from tabprotect.languages.messages import joined, message, plural

SHOWN = 40
"""Cells that are printed for people; ``--json`` gives all."""


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("bounds", run_bounds)
    command.add_argument("table", metavar="TABLE", help=message("a file or example:NAME"))
    command.add_argument(
        "--release",
        action="append",
        default=[],
        metavar="A,B",
        help=message('a released margin; repeat for more ("": the grand total)'),
    )
    command.add_argument("--cells", choices=["at-risk", "all"], default="at-risk")
    command.add_argument(
        "--at-risk", default=str(SmallCount()), metavar="1..2", help=message("the small counts")
    )
    command.add_argument(
        "--bounds",
        choices=list(BOUNDS_WAYS),
        default="auto",
        help=joined((message("{name}: {text}", name, text) for name, text in BOUNDS_WAYS.items()), "; "),
    )
    add_reading(command)


def run_bounds(args: argparse.Namespace, console: Console) -> int:
    """Print the bounds. They name true counts: the output is confidential."""
    rule = SmallCount.parse(args.at_risk)
    table = open_source(args, console).project.original
    lattice = Lattice.of(table.domain)
    found = bounds(
        table,
        lattice.margins(lattice.parse(text) for text in args.release),
        cells="all" if args.cells == "all" else (rule.low, rule.high),
        method=args.bounds,
        progress=console,
    )
    if console.as_json:
        console.result(_json(table, found), ())
    else:
        console.result({}, _lines(table, found))
    return 0


def _json(table: Table, found: Bounds) -> dict[str, object]:
    return {
        "exact": found.exact,
        "bounds": found.method,
        "why": found.why,
        "cells": [
            {"index": list(index), "count": table[index], "lower": low, "upper": high}
            for index, low, high in _rows(table.domain, found)
        ],
    }


def _rows(domain: Domain, found: Bounds) -> list[tuple[tuple[int, ...], int, int]]:
    indices = map(domain.unflat, found.cells.tolist())
    return list(zip(indices, found.lower.tolist(), found.upper.tolist(), strict=True))


def _lines(table: Table, found: Bounds) -> list[str]:
    rows = _rows(table.domain, found)
    tightest = sorted(rows, key=lambda row: row[2] - row[1])
    lines = [
        message("{why} (way: {method})", found.why, found.method),
        plural(
            len(rows),
            "{rows:,} cell, tightest first; true counts are shown: CONFIDENTIAL.",
            "{rows:,} cells, tightest first; true counts are shown: CONFIDENTIAL.",
            len(rows),
        ),
    ]
    for index, low, high in tightest[:SHOWN]:
        text = table.domain.cell_text(index)
        lines.append(
            message("{text}: count {table:,}, bounds {low:,} to {high:,}", text, table[index], low, high)
        )
    if len(rows) > SHOWN:
        lines.append(message("... and {rows:,} more (--json gives all)", len(rows) - SHOWN))
    return lines
