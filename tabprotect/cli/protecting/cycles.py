"""``cycles design`` and ``cycles check``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tabprotect.cli.arguments import TableReading, open_source
from tabprotect.cli.declaring import command, names
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.cycles.constructions.for_margins import ProvedDesign, design_for_margins
from tabprotect.engine.cycles.cycle_report import check_cycles, public_support
from tabprotect.engine.cycles.designing import Designing, Keeping
from tabprotect.engine.cycles.designs import design, in_place
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.formats.structural_zeros import zeros_of
from tabprotect.engine.options import option_field, part, position
from tabprotect.engine.plain_values.encoding import keyed
from tabprotect.engine.protection.cycle_runs.cycle_parameters import EXCHANGE
from tabprotect.engine.release.likelihood import BLOCKING_RULES
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import all_margins, maximal_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message, plural


def shape_sizes(text: str) -> list[int]:
    """``4,4`` as a shape."""
    try:
        found = [int(part) for part in text.replace("x", ",").split(",")]
    except ValueError:
        raise ValueError(message("not a shape such as 4,4: {text}", repr(text))) from None
    if min(found) < 1:
        raise ValueError(message("a size is below 1: {text}", repr(text)))
    return found


@dataclass(frozen=True, kw_only=True)
class CyclesDesign(Designing):
    """Arguments of ``cycles design``."""

    shape: Sequence[int] | None = option_field(None, metavar="4,4", read=shape_sizes)
    table: str | None = option_field(
        None, metavar="TABLE", help=message("take shape, names and margins of a table")
    )
    keep_order: int | None = option_field(
        None, in_place_of="kind", metavar="R", help=message("the same as --kind order-R")
    )
    margins: Sequence[Sequence[str]] | None = option_field(
        None,
        several=True,
        read=names,
        metavar="A,B",
        help=message("the margins the set claims to keep (all of one variable less than the table)"),
    )
    out: Path | None = option_field(None, metavar="FILE", help=message("JSON, or a 4ti2 .mat file"))
    reading: TableReading = part(TableReading, needs="table")


@dataclass(frozen=True, kw_only=True)
class CyclesCheck(Keeping):
    """Arguments of ``cycles check``."""

    cycles: Path = position(metavar="cycles.json")
    table: str | None = option_field(None, metavar="TABLE")
    blocking: str = option_field(
        "any_zero", needs="table", choices=[rule for rule in BLOCKING_RULES if rule != EXCHANGE]
    )
    passes: int = option_field(1, needs="table")
    reading: TableReading = part(TableReading, needs="table")


def _kept(asked: Keeping, domain: Domain, known: tuple[Grouping, ...] = ()) -> Publication:
    """Return what is to be kept: as said, or every margin of one variable less than the table.

    ``known`` are groupings that came with the cycles.
    """
    groupings = parse_groupings(asked.groupings, domain)
    named = {grouping.name for grouping in groupings}
    groupings += tuple(grouping for grouping in known if grouping.name not in named)
    if asked.keep is None:
        return Publication(domain, all_margins(domain), groupings).maximal()
    return Publication.of(domain, asked.keep, groupings).maximal()


@command(
    "cycles design",
    help=message("make a cycle set from a shape, or for kept sums"),
    example="tabprotect cycles design --shape 4,4 --kind strips --out cycles.json",
)
def run_design(asked: CyclesDesign, console: Console) -> None:
    """Write a cycle set; to standard output where no file is named."""
    if (asked.shape is None) == (asked.table is None):
        raise UsageError(message("say either --shape or --table"))
    table = None if asked.table is None else open_source(asked.table, asked.reading, console).project.original
    domain = Domain.of_shape(asked.shape or ()) if table is None else table.domain
    kind = asked.kind if asked.keep_order is None else f"order-{asked.keep_order}"
    zeros = None if asked.zeros is None else zeros_of(asked.zeros, domain)[1]
    found: dict[str, object] = {}
    if kind == "triangular":
        publication = _kept(asked, domain)
        kept = KeptMargins.even(publication) if table is None else KeptMargins.of(publication, table)
        designed = design_for_margins(kept, asked.settings, zeros=zeros, progress=console)
        moves = in_place(designed.moves, asked.repeats)
        zeros = ~designed.support
        found = _proof(designed, moves)
    else:
        moves = design(domain, kind, asked.parameters)
        if asked.keep is not None:
            kept_margins = _kept(asked, domain)
            moves = moves.keeping(kept_margins.margins, kept_margins.groupings)
        support = public_support(moves, table, zeros, console)
        zeros = None if support is None else ~support
    if asked.margins is not None:
        moves = moves.keeping(maximal_margins(domain, asked.margins))
    if asked.margins is not None or asked.keep is not None:
        broken = moves.violations(most=1)
        if broken:
            raise InputError(str(broken[0]), hint=message("take a design that keeps this margin"))
    if asked.out is None:
        print(json.dumps(cycle_files.to_json(moves, zeros), separators=(",", ":")))
        return
    cycle_files.write(moves, asked.out, zeros)
    data = {
        "out": str(asked.out),
        "kind": kind,
        "cycles": len(moves),
        "shape": domain.shape,
        "margins": [list(m) for m in moves.margins],
        **found,
    }
    lines = [plural(len(moves), "{out}: {moves} cycle", "{out}: {moves} cycles", asked.out, len(moves))]
    if found.get("deficit"):
        more = message("one sum") if found["deficit"] == 1 else message("{found} sums", found["deficit"])
        lines.append(
            message("More than was asked for stays exact, by {more}: cycles check names them.", more)
        )
    console.result(data, lines)


def _proof(found: ProvedDesign, moves: MoveSet) -> dict[str, object]:
    """Return what a design for kept margins spans, and how often its cycles touch a cell."""
    plus, minus = moves.touches
    return {
        **keyed(found, "rank dimension deficit completed"),
        "public_zeros": int((~found.support).sum()),
        "most_touches": int((plus + minus).max()),
    }


@command(
    "cycles check",
    help=message("examine a cycle set, on its own or on a table"),
    example="tabprotect cycles check cycles.json --table example:duncan-roehrig-4x4",
)
def run_check(asked: CyclesCheck, console: Console) -> None:
    """Print the report. Broken margins are a finding, not a failure: the exit code stays 0."""
    if asked.passes < 1:
        raise UsageError("--passes must be at least 1")
    table = None if asked.table is None else open_source(asked.table, asked.reading, console).project.original
    moves, zeros = cycle_files.read_designed(asked.cycles, domain=None if table is None else table.domain)
    if asked.keep is not None:
        kept = _kept(asked, moves.domain, moves.groupings)
        if set(kept.margins) != set(moves.margins):
            # What was known to be empty followed from the margins that the cycles were made for.
            zeros = None
        moves = moves.keeping(kept.margins, kept.groupings)
    if asked.zeros is not None:
        zeros = zeros_of(asked.zeros, moves.domain)[1]
    report = check_cycles(
        moves, table=table, zeros=zeros, rule=asked.blocking, passes=asked.passes, progress=console
    )
    marks = {"ok": "ok     ", "warning": "warning", "bad": "BAD    "}
    console.result(
        report.as_json(), (message("{marks}  {text}", marks[s.verdict], s.text) for s in report.statements)
    )
