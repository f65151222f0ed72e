"""``tabulate`` and ``record-keys``: counts from records, and keys for them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from tabprotect.cli.arguments import add_options, asked_for, keep_apart
from tabprotect.cli.output import Console
from tabprotect.cli.streams import STREAM, as_file, to_stream
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.formats.table_writing import format_to_write, write_table
from tabprotect.engine.options import options_of
from tabprotect.engine.project.options import MagnitudeTabulation, Tabulation
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.sources import magnitudes_tabulated
from tabprotect.engine.project.workflow import tabulated
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.groupings.nesting import chains
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message, plural


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    counting = verbs.add("tabulate", run_tabulate)
    counting.add_argument("microdata", help=options_of(Tabulation)[0].help)
    add_options(counting, MagnitudeTabulation)
    counting.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="TABLE.csv",
        help=message(
            "a table in any format, or a project (.tabprotect, CONFIDENTIAL), which keeps keys and weights"
        ),
    )
    keys = verbs.add("record-keys", run_record_keys)
    keys.add_argument("microdata", type=Path, help=message("CSV or Parquet file of records"))
    keys.add_argument("--column", default="record_key", metavar="K", help=message("its name"))
    keys.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="KEYED",
        help=message("a copy, CSV or Parquet, CONFIDENTIAL"),
    )


def run_tabulate(args: argparse.Namespace, console: Console) -> int:
    """Write the counts as a long-form CSV file, or with keys and weights as a project."""
    streams = str(args.out) == STREAM
    keep_apart([args.microdata], [None if streams else args.out])
    as_project = args.out.suffix == storage.SUFFIX
    if args.measure is not None:
        return _sum(args, console)
    asked = asked_for(Tabulation, args, source=args.microdata)
    if (asked.record_key is not None or asked.draw_keys) and not as_project:
        raise UsageError(
            message("record keys are kept in a project only: --out NAME{SUFFIX}", storage.SUFFIX)
        )
    if asked.design_weight is not None and not as_project:
        raise UsageError(message("weights are kept in a project only: --out NAME{SUFFIX}", storage.SUFFIX))
    keep_apart((asked.code_lists or {}).values(), [args.out])
    with as_file(args.microdata) as source:
        history = tabulated(asked_for(Tabulation, args, source=source), console)
    table = history.project.original
    if streams:
        return to_stream(table, format_to_write(args.out), False, console)
    if as_project:
        storage.save(history, args.out)
    else:
        write_table(table, args.out, format_to_write(args.out))
    project = history.project
    data = {
        "out": str(args.out),
        "variables": list(table.domain.names),
        "shape": list(table.domain.shape),
        "cells": table.domain.size,
        "positive_cells": len(table.cells[0]),
        "levels": {v.name: [g.name for g in v.levels] for v in table.domain.variables if v.coarser},
        "total": table.total,
        "record_keys": project.record_keys is not None,
        "record_keys_drawn": asked.draw_keys,
        "design_weights": project.weights is not None,
    }
    console.result(data, _told(table, args.out, drawn=asked.draw_keys))
    return 0


def _sum(args: argparse.Namespace, console: Console) -> int:
    """Write a magnitude table."""
    from tabprotect.engine.magnitudes.files.table_files import write_magnitudes

    if args.out.suffix.lower() not in (".parquet", ".pq"):
        raise UsageError(message("a magnitude table is written as Parquet: --out NAME.parquet"))
    keep_apart((args.code_lists and dict(args.code_lists).values()) or (), [args.out])
    with as_file(args.microdata) as source:
        table = magnitudes_tabulated(asked_for(MagnitudeTabulation, args, source=source), console)
    write_magnitudes(table, args.out)
    cells = table.cells
    data = {
        "out": str(args.out),
        "variables": [v.name for v in table.variables],
        "shape": [len(v.categories) for v in table.variables],
        "levels": {v.name: [g.name for g in v.levels] for v in table.variables if v.coarser},
        "measure": table.measure,
        "decimals": table.decimals,
        "cells": len(cells),
        "holdings": len(table.names),
        "units": int(table.rows.units.sum()),
        "negative": table.signed,
        "weights": table.weighted,
        "confidential": True,
    }
    said = message(
        "{out}: {measure} by {names}, {cells:,} cells with totals, {holdings:,} contributors. CONFIDENTIAL",
        args.out,
        table.measure,
        joined((v.name for v in table.variables), ", "),
        len(cells),
        len(table.names),
    )
    console.result(data, [said])
    return 0


def _told(table: Table, out: Path, *, drawn: bool) -> Iterator[str]:
    """Return what was counted, what the file loses, and what could be counted otherwise."""
    domain = table.domain
    yield message(
        "{out}: {names} ({shape}), total {total:,}",
        out,
        joined(domain.names, ", "),
        " x ".join(map(str, domain.shape)),
        table.total,
    )
    for v in domain.variables:
        if v.coarser:
            levels = joined((f"{v.name}@{level.name}" for level in v.levels), ", ")
            yield message("{name} has the levels {join}", v.name, levels)
    if out.suffix != storage.SUFFIX and (lost := format_to_write(out).loses(domain)):
        yield message("{lost} A project ({SUFFIX}) keeps all.", joined(lost, " "), storage.SUFFIX)
    for chain in chains(table):
        yield message(
            "{chain} nest: --levels {chain2}=NAME counts them as one variable",
            joined(chain, ", "),
            ",".join(chain),
        )
    if drawn:
        yield message(
            "record keys were drawn for this table: other tabulations of the same file will not "
            "agree with it (record-keys writes keys into the file, for all of them)"
        )


def run_record_keys(args: argparse.Namespace, console: Console) -> int:
    """Write a copy of the records with a key each, from the operating system's randomness."""
    keep_apart([args.microdata], [args.out])
    # Late: DuckDB costs a tenth of the program's start.
    from tabprotect.engine.microdata.record_keys import add_record_keys

    records = add_record_keys(
        args.microdata, args.out, column=args.column, randomness=Randomness.fresh(), progress=console
    )
    data = {"out": str(args.out), "column": args.column, "records": records, "confidential": True}
    said = plural(
        records,
        "{out}: {records:,} record, keys in {column}. CONFIDENTIAL: keep them for good.",
        "{out}: {records:,} records, keys in {column}. CONFIDENTIAL: keep them for good.",
        args.out,
        records,
        args.column,
    )
    console.result(data, [said])
    return 0
