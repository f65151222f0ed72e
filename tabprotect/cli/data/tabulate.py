"""``tabulate`` and ``record-keys``: counts from records, and keys for them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tabprotect.cli.arguments import (
    band,
    cut,
    keep_apart,
    level_names,
    levels,
    names,
    once,
    setting,
)
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.formats.table_writing import format_to_write, write_table
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.history import History
from tabprotect.engine.project.in_one_go import absolute
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.table_verbs import tabulate
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.groupings.nesting import chains


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    counting = verbs.add("tabulate", run_tabulate)
    counting.add_argument(
        "microdata",
        help="a file of records, a folder or a pattern of them, people.duckdb#TABLE, "
        "postgresql://HOST/BASE#TABLE, or example:NAME",
    )
    counting.add_argument(
        "--by",
        type=names,
        default=(),
        metavar="A,B",
        help="the variables to count by; those that the options below name are counted by anyway",
    )
    add_counting(counting)
    counting.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="TABLE.csv",
        help="a table in any format, or a project (.tabprotect, CONFIDENTIAL), which keeps keys and weights",
    )
    keys = verbs.add("record-keys", run_record_keys)
    keys.add_argument("microdata", type=Path, help="CSV or Parquet file of records")
    keys.add_argument("--column", default="record_key", metavar="K", help="its name")
    keys.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="KEYED",
        help="a copy, CSV or Parquet, CONFIDENTIAL",
    )


def add_counting(counting: argparse.ArgumentParser) -> None:
    """The options that say how records are counted."""
    counting.add_argument(
        "--band",
        type=band,
        action="append",
        default=[],
        metavar="AGE:5",
        dest="bands",
        help="count a variable of whole numbers in bands of this width: 0-4, 5-9, ...; several "
        "widths are levels: age@band5, age@band20",
    )
    counting.add_argument(
        "--cut",
        type=cut,
        action="append",
        default=[],
        metavar="AGE:0,15,65",
        dest="cuts",
        help="count it in bands that begin there: 0-14, 15-64, 65+",
    )
    counting.add_argument(
        "--code-list",
        type=setting,
        action="append",
        default=[],
        metavar="VARIABLE=FILE",
        dest="code_lists",
        help="count codes by their groups: a CSV file whose first column is named for the "
        "variable, or a hierarchy (.hrc); FILE@LEVEL chooses among several",
    )
    counting.add_argument(
        "--level-names",
        type=level_names,
        action="append",
        default=[],
        metavar="VARIABLE=COUNTRY,NUTS1",
        help="what the levels of a hierarchy (.hrc) are called, the coarsest first; else "
        "VARIABLE_1, VARIABLE_2, ..., the deepest being the codes' own",
    )
    counting.add_argument(
        "--levels",
        type=levels,
        action="append",
        default=[],
        metavar="NUTS1,NUTS2,NUTS3=NUTS",
        help="columns that nest, the coarsest first, as the levels of one variable",
    )
    counting.add_argument("--weight", metavar="W", help="a column of whole-number weights")
    keyed = counting.add_mutually_exclusive_group()
    keyed.add_argument(
        "--record-key", metavar="K", help="a column of record keys, kept in a project for cell keys"
    )
    keyed.add_argument(
        "--draw-record-keys",
        action="store_true",
        help="draw record keys now, kept in this project only: other tabulations will not agree",
    )
    counting.add_argument(
        "--design-weight",
        metavar="W",
        help="a column of survey weights, kept in a project beside the counts",
    )


def run_tabulate(args: argparse.Namespace, console: Console) -> int:
    """Write the counts as a long-form CSV file, or with keys and weights as a project."""
    keep_apart([args.microdata], [args.out])
    as_project = args.out.suffix == storage.SUFFIX
    if (args.record_key is not None or args.draw_record_keys) and not as_project:
        raise UsageError(f"record keys are kept in a project only: --out NAME{storage.SUFFIX}")
    if args.design_weight is not None and not as_project:
        raise UsageError(f"weights are kept in a project only: --out NAME{storage.SUFFIX}")
    keep_apart([file for _, file in args.code_lists], [args.out])
    order = counted(args, args.microdata, args.by)
    history, _ = History().do(order, progress=console)
    table = history.project.original
    if as_project:
        storage.save(history, args.out)
    else:
        write_table(table, args.out, format_to_write(args.out))
    shape = " x ".join(map(str, table.domain.shape))
    data = {
        "out": str(args.out),
        "variables": list(table.domain.names),
        "shape": list(table.domain.shape),
        "cells": table.domain.size,
        "positive_cells": len(table.cells[0]),
        "levels": {v.name: [g.name for g in v.levels] for v in table.domain.variables if v.coarser},
        "total": table.total,
        "record_keys": history.project.record_keys is not None,
        "record_keys_drawn": args.draw_record_keys,
        "design_weights": history.project.weights is not None,
    }
    said = [f"{args.out}: {', '.join(table.domain.names)} ({shape}), total {table.total:,}"]
    said += [
        f"{v.name} has the levels {', '.join(f'{v.name}@{level.name}' for level in v.levels)}"
        for v in table.domain.variables
        if v.coarser
    ]
    if not as_project and (lost := format_to_write(args.out).loses(table.domain)):
        said.append(f"{' '.join(lost)} A project ({storage.SUFFIX}) keeps all.")
    for chain in chains(table):
        said.append(
            f"{', '.join(chain)} nest: --levels {','.join(chain)}=NAME counts them as one variable"
        )
    if args.draw_record_keys:
        said.append(
            "record keys were drawn for this table: other tabulations of the same file will not "
            "agree with it (record-keys writes keys into the file, for all of them)"
        )
    console.result(data, said)
    return 0


def counted(args: argparse.Namespace, records: str, by: Sequence[str]) -> Order:
    """The command that counts records by some variables, as the options say."""
    code_lists = once(args.code_lists, "--code-list")
    return tabulate(
        source=absolute(records),
        by=list(by),
        weight=args.weight,
        record_key=args.record_key,
        design_weight=args.design_weight,
        bands=_bands(args.bands) or None,
        cuts=once(args.cuts, "--cut") or None,
        code_lists={name: absolute(file) for name, file in code_lists.items()} or None,
        levels=once(args.levels, "--levels") or None,
        level_names=once(args.level_names, "--level-names") or None,
        draw_keys=args.draw_record_keys,
    )


def _bands(given: list[tuple[str, int]]) -> dict[str, int | list[int]]:
    """The width of each variable's bands, or its widths."""
    found: dict[str, list[int]] = {}
    for name, width in given:
        found.setdefault(name, []).append(width)
    return {name: widths[0] if len(widths) == 1 else widths for name, widths in found.items()}


def run_record_keys(args: argparse.Namespace, console: Console) -> int:
    """Write a copy of the records with a key each, from the operating system's randomness."""
    keep_apart([args.microdata], [args.out])
    # Late: DuckDB costs a tenth of the program's start.
    from tabprotect.engine.microdata.record_keys import add_record_keys

    records = add_record_keys(
        args.microdata,
        args.out,
        column=args.column,
        randomness=Randomness.fresh(),
        progress=console,
    )
    data = {"out": str(args.out), "column": args.column, "records": records, "confidential": True}
    said = (
        f"{args.out}: {records:,} record{'' if records == 1 else 's'}, keys in {args.column}. "
        "CONFIDENTIAL: keep them for good."
    )
    console.result(data, [said])
    return 0
