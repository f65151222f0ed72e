"""``bounds``: what released margins say about the cells of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.cli.arguments import TableReading, open_source
from tabprotect.cli.declaring import check_measure, command
from tabprotect.cli.output import Console
from tabprotect.engine.bounds.bounding import bounds
from tabprotect.engine.bounds.bounds import Bounds
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.options import Options, option_field, part, position
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.query_space.sums.sum_evidence import SumEvidence
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.ways_to_bound import BOUNDS_WAYS, BoundsWay
from tabprotect.languages.messages import joined, message, plural

SHOWN = 40
"""Cells that are printed for people; ``--json`` gives all."""


@dataclass(frozen=True, kw_only=True)
class Bounding(Options):
    """Arguments of ``bounds``."""

    table: str = position(metavar="TABLE", help=message("a file or example:NAME"))
    release: Sequence[str] = option_field(
        (),
        metavar="A,B",
        help=message('a released margin; repeat for more ("": the grand total)'),
        repeated=True,
    )
    measure: str | None = option_field(
        None, metavar="NAME", help=message("the table holds sums of this measure: by who contributes to them")
    )
    rule: Sequence[str] = option_field(
        ("p=10",),
        measure="magnitudes",
        metavar="RULE",
        repeated=True,
        help=message("which sums are bounded: those it finds unsafe (default: p=10). CONFIDENTIAL"),
    )
    cells: str = option_field("at-risk", choices=["at-risk", "all"])
    at_risk: str = option_field(
        str(SmallCount()), metavar="1..2", measure="counts", help=message("the small counts")
    )
    bounds: BoundsWay = option_field(
        "auto",
        measure="counts",
        help=joined((message("{name}: {text}", name, text) for name, text in BOUNDS_WAYS.items()), "; "),
    )
    reading: TableReading = part(TableReading, but=["cells", "order"])


@command("bounds", example="tabprotect bounds example:czech-autoworkers --release A,B --release C,D")
def run_bounds(asked: Bounding, console: Console) -> None:
    """Print the bounds. They name true counts: the output is confidential."""
    check_measure(asked, "counts" if asked.measure is None else "magnitudes")
    if asked.measure is not None:
        _of_sums(asked, asked.measure, console)
        return
    rule = SmallCount.parse(asked.at_risk)
    table = open_source(asked.table, asked.reading, console).project.counted
    lattice = Lattice.of(table.domain)
    found = bounds(
        table,
        lattice.margins(lattice.parse(text) for text in asked.release),
        cells="all" if asked.cells == "all" else (rule.low, rule.high),
        method=asked.bounds,
        progress=console,
    )
    cells = _rows(table.domain, found)
    console.result(
        lambda: {
            "exact": found.exact,
            "bounds": found.method,
            "why": found.why,
            "cells": [
                {"index": index, "count": table[index], "lower": low, "upper": high}
                for index, low, high in cells
            ],
        },
        _lines(table, found),
    )


def _of_sums(asked: Bounding, measure: str, console: Console) -> None:
    """Print what somebody who contributes nothing can work out of sums."""
    sums = open_source(asked.table, asked.reading, console).project.summed(measure)
    evidence = SumEvidence.of(sums)
    released = [evidence.lattice.parse(text) for text in asked.release]
    cells = np.arange(len(sums.cells))
    if asked.cells == "at-risk":
        cells = np.flatnonzero(sensitive_cells(sums, rules_of(asked.rule)).unsafe)
    low, high = evidence.bounds(released, cells, console)
    found = [
        {"cell": evidence.text(cell), "value": sums.shown(value), "lower": least, "upper": most}
        for cell, value, least, most in zip(
            cells.tolist(), sums.cells.value[cells].tolist(), low.tolist(), high.tolist(), strict=True
        )
    ]
    tightest = [found[at] for at in np.argsort(high - low, kind="stable")[:SHOWN].tolist()]
    said = plural(
        len(found),
        "{rows:,} sum, tightest first; true sums are shown: CONFIDENTIAL.",
        "{rows:,} sums, tightest first; true sums are shown: CONFIDENTIAL.",
        len(found),
    )
    lines = [
        message("{cell}: {value:,}, bounds {lower:,.0f} to {upper:,.0f}", *row.values()) for row in tightest
    ]
    if len(found) > SHOWN:
        lines.append(message("... and {rows:,} more (--json gives all)", len(found) - SHOWN))
    console.result({"measure": measure, "exact": True, "bounds": "lp", "cells": found}, [said, *lines])


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
