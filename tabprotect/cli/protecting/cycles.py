"""``cycles design`` and ``cycles check``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tabprotect.cli.arguments import add_reading, names, open_source, shape_sizes
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.cycles.constructions.for_margins import ProvedDesign, design_for_margins
from tabprotect.engine.cycles.constructions.triangular import TriangularSettings
from tabprotect.engine.cycles.cycle_report import check_cycles, public_support
from tabprotect.engine.cycles.designs import DESIGNS, design, in_place
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.formats.structural_zeros import read_zeros
from tabprotect.engine.release.likelihood import BLOCKING_RULES
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import all_margins, maximal_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import joined, message, plural


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    group = verbs.group("cycles")
    create = group.add("design", run_design, message("make a cycle set from a shape, or for kept sums"))
    create.add_argument("--shape", type=shape_sizes, metavar="4,4")
    create.add_argument("--table", metavar="TABLE", help=message("take shape, names and margins of a table"))
    create.add_argument(
        "--kind",
        default="default",
        metavar="KIND",
        help=message("{DESIGNS}, or order-R (keeps the R-way margins only)", joined(DESIGNS, ", ")),
    )
    create.add_argument("--keep-order", type=int, metavar="R", help=message("the same as --kind order-R"))
    create.add_argument(
        "--margins",
        type=names,
        nargs="+",
        metavar="A,B",
        help=message("the margins the set claims to keep (all of one variable less than the table)"),
    )
    _add_keeping(create)
    create.add_argument("--height", type=int, metavar="H", help=message("of strips: rows of a block"))
    create.add_argument(
        "--repeats", type=int, default=1, metavar="K", help=message("each cycle K times in place")
    )
    create.add_argument("--cap", type=int, help=message("of triangular: touches to stay below (4)"))
    create.add_argument(
        "--lambda",
        type=float,
        dest="weight",
        metavar="LAMBDA",
        help=message("of triangular: what a cell that may be zero costs (4)"),
    )
    create.add_argument("--theta", type=float, help=message("of triangular: how much counts spread (1)"))
    create.add_argument("--out", type=Path, metavar="FILE", help=message("JSON, or a 4ti2 .mat file"))
    add_reading(create)
    examine = group.add("check", run_check, message("examine a cycle set, on its own or on a table"))
    examine.add_argument("cycles", type=Path, metavar="cycles.json")
    examine.add_argument("--table", metavar="TABLE")
    examine.add_argument("--blocking", choices=list(BLOCKING_RULES), default="any_zero")
    examine.add_argument("--passes", type=int, default=1)
    _add_keeping(examine)
    add_reading(examine)


def _add_keeping(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep", metavar="FORMULA", help=message("the margins to keep, for example geo + region*age")
    )
    parser.add_argument(
        "--groupings", metavar="TEXT|FILE", default="", help=message("of categories, for the formula")
    )
    parser.add_argument(
        "--zeros", type=Path, metavar="FILE", help=message("cells that are empty whatever the data are")
    )


def _kept(args: argparse.Namespace, domain: Domain, known: tuple[Grouping, ...] = ()) -> Publication:
    """Return what is to be kept: as said, or every margin of one variable less than the table.

    ``known`` are groupings that came with the cycles.
    """
    groupings = parse_groupings(args.groupings, domain)
    named = {grouping.name for grouping in groupings}
    groupings += tuple(grouping for grouping in known if grouping.name not in named)
    if args.keep is None:
        return Publication(domain, all_margins(domain), groupings).maximal()
    return Publication.of(domain, args.keep, groupings).maximal()


def run_design(args: argparse.Namespace, console: Console) -> int:
    """Write a cycle set; to standard output where no file is named."""
    if (args.shape is None) == (args.table is None):
        raise UsageError(message("say either --shape or --table"))
    table = None if args.table is None else open_source(args, console).project.original
    domain = Domain.of_shape(args.shape) if table is None else table.domain
    kind = args.kind if args.keep_order is None else f"order-{args.keep_order}"
    options = {"height": args.height, "cap": args.cap, "lambda": args.weight, "theta": args.theta}
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    zeros = None if args.zeros is None else read_zeros(args.zeros, domain)
    found: dict[str, object] = {}
    if kind == "triangular":
        if "height" in given:
            raise UsageError("--height is of strips")
        given = {"weight" if name == "lambda" else name: given[name] for name in given}
        publication = _kept(args, domain)
        kept = KeptMargins.even(publication) if table is None else KeptMargins.of(publication, table)
        designed = design_for_margins(kept, TriangularSettings(**given), zeros=zeros, progress=console)
        moves = in_place(designed.moves, args.repeats)
        zeros = ~designed.support
        found = _proof(designed, moves)
    else:
        moves = design(domain, kind, given | {"repeats": args.repeats})
        if args.keep is not None:
            kept_margins = _kept(args, domain)
            moves = moves.keeping(kept_margins.margins, kept_margins.groupings)
        support = public_support(moves, table, zeros, console)
        zeros = None if support is None else ~support
    if args.margins is not None:
        moves = moves.keeping(maximal_margins(domain, args.margins))
    if args.margins is not None or args.keep is not None:
        broken = moves.violations(most=1)
        if broken:
            raise InputError(str(broken[0]), hint=message("take a design that keeps this margin"))
    if args.out is None:
        print(json.dumps(cycle_files.to_json(moves, zeros), separators=(",", ":")))
        return 0
    cycle_files.write(moves, args.out, zeros)
    data = {
        "out": str(args.out),
        "kind": kind,
        "cycles": len(moves),
        "shape": list(domain.shape),
        "margins": [list(m) for m in moves.margins],
        **found,
    }
    lines = [plural(len(moves), "{out}: {moves} cycle", "{out}: {moves} cycles", args.out, len(moves))]
    if found.get("deficit"):
        more = message("one sum") if found["deficit"] == 1 else message("{found} sums", found["deficit"])
        lines.append(
            message("More than was asked for stays exact, by {more}: cycles check names them.", more)
        )
    console.result(data, lines)
    return 0


def _proof(found: ProvedDesign, moves: MoveSet) -> dict[str, object]:
    """Return what a design for kept margins spans, and how often its cycles touch a cell."""
    plus, minus = moves.touches
    return {
        "rank": found.rank,
        "dimension": found.dimension,
        "deficit": found.deficit,
        "completed": found.completed,
        "public_zeros": int((~found.support).sum()),
        "most_touches": int((plus + minus).max()),
    }


def run_check(args: argparse.Namespace, console: Console) -> int:
    """Print the report. Broken margins are a finding, not a failure: the exit code stays 0."""
    if args.passes < 1:
        raise UsageError("--passes must be at least 1")
    table = None if args.table is None else open_source(args, console).project.original
    moves, zeros = cycle_files.read_designed(args.cycles, domain=None if table is None else table.domain)
    if args.keep is not None:
        kept = _kept(args, moves.domain, moves.groupings)
        if set(kept.margins) != set(moves.margins):
            # What was known to be empty followed from the margins that the cycles were made for.
            zeros = None
        moves = moves.keeping(kept.margins, kept.groupings)
    if args.zeros is not None:
        zeros = read_zeros(args.zeros, moves.domain)
    report = check_cycles(
        moves, table=table, zeros=zeros, rule=args.blocking, passes=args.passes, progress=console
    )
    marks = {"ok": "ok     ", "warning": "warning", "bad": "BAD    "}
    console.result(
        report.as_json(), (message("{marks}  {text}", marks[s.verdict], s.text) for s in report.statements)
    )
    return 0
