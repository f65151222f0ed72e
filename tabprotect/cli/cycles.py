"""``cycles design`` and ``cycles check``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tabprotect.cli.arguments import UsageError, add_reading, names, open_source, sizes
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.cycles import files
from tabprotect.engine.cycles.designs import DESIGNS, design
from tabprotect.engine.cycles.report import check
from tabprotect.engine.errors import InputError
from tabprotect.engine.release.likelihood import BLOCKING_RULES
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import maximal


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    group = verbs.group("cycles", "design and check cycle sets")
    create = group.add("design", run_design, "make a cycle set from a shape")
    create.add_argument("--shape", type=sizes, metavar="4,4")
    create.add_argument("--table", metavar="TABLE", help="take shape and names from a table")
    create.add_argument(
        "--kind",
        default="default",
        metavar="KIND",
        help=f"{', '.join(DESIGNS)}, or order-R (keeps the R-way margins only)",
    )
    create.add_argument("--keep-order", type=int, metavar="R", help="the same as --kind order-R")
    create.add_argument(
        "--margins",
        type=names,
        nargs="+",
        metavar="A,B",
        help="the margins the set claims to keep (all of one variable less than the table)",
    )
    create.add_argument("--out", type=Path, metavar="FILE", help="JSON, or a 4ti2 .mat file")
    add_reading(create)
    examine = group.add("check", run_check, "examine a cycle set, on its own or on a table")
    examine.add_argument("cycles", type=Path, metavar="cycles.json")
    examine.add_argument("--table", metavar="TABLE")
    examine.add_argument("--blocking", choices=list(BLOCKING_RULES), default="any_zero")
    examine.add_argument("--passes", type=int, default=1)
    add_reading(examine)


def run_design(args: argparse.Namespace, console: Console) -> int:
    """Write a cycle set; to standard output where no file is named."""
    if (args.shape is None) == (args.table is None):
        raise UsageError("say either --shape or --table")
    if args.shape is not None:
        domain = Domain.of_shape(args.shape)
    else:
        domain = open_source(args, console).project.original.domain
    kind = args.kind if args.keep_order is None else f"order-{args.keep_order}"
    moves = design(domain, kind)
    if args.margins is not None:
        moves = moves.keeping(maximal(domain, args.margins))
        broken = moves.violations(most=1)
        if broken:
            raise InputError(str(broken[0]), hint="take a design that keeps this margin")
    if args.out is None:
        print(json.dumps(files.to_json(moves), separators=(",", ":")))
        return 0
    text = (
        files.to_4ti2(moves)
        if args.out.suffix in (".mat", ".mar", ".gra")
        else json.dumps(files.to_json(moves), separators=(",", ":")) + "\n"
    )
    write_bytes(args.out, text.encode())
    data = {
        "out": str(args.out),
        "kind": kind,
        "cycles": len(moves),
        "shape": list(domain.shape),
        "margins": [list(m) for m in moves.margins],
    }
    console.result(data, [f"{args.out}: {len(moves)} cycles"])
    return 0


def run_check(args: argparse.Namespace, console: Console) -> int:
    """Print the report. Broken margins are a finding, not a failure: the exit code stays 0."""
    if args.passes < 1:
        raise UsageError("--passes must be at least 1")
    table = None if args.table is None else open_source(args, console).project.original
    moves = files.read(args.cycles, domain=None if table is None else table.domain)
    report = check(moves, table=table, rule=args.blocking, passes=args.passes)
    marks = {"ok": "ok     ", "warning": "warning", "bad": "BAD    "}
    console.result(report.as_json(), (f"{marks[s.verdict]}  {s.text}" for s in report.statements))
    return 0
