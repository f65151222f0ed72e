"""``difference``: two vintages of one table, and what their releases tell about the change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tabprotect.cli.arguments import TableReading, open_source
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.assessment.revision import Revision, revision
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.options import Options, option_field, part, position
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message, plural

SHOWN = 40
"""Lines of each kind that are printed for people; ``--json`` gives all."""


@dataclass(frozen=True, kw_only=True)
class Difference(Options):
    """Arguments of ``difference``."""

    old: str = position(metavar="OLD", help=message("the earlier original"))
    new: str = position(metavar="NEW", help=message("the later original"))
    old_release: Path | None = option_field(None, metavar="A.zip", help=message("published of OLD"))
    new_release: Path | None = option_field(None, metavar="B.zip", help=message("published of NEW"))
    at_risk: str = option_field(
        "1..2",
        metavar="LOW..HIGH",
        help=message("a change of so many people singles them out (default 1..2)"),
    )
    reading: TableReading = part(TableReading, but=["order"])


@command("difference", example="tabprotect difference 2025.csv 2026.csv --old-release 2025.zip")
def run_difference(asked: Difference, console: Console) -> None:
    """Print what changed and what is told about it."""
    paths = [path for path in (asked.old_release, asked.new_release) if path is not None]
    if len(paths) == 1:
        raise UsageError("--old-release and --new-release go together")
    old, new = (_table(source, asked, console) for source in (asked.old, asked.new))
    releases = None
    if paths:
        before, after = (verify(path, progress=console).release for path in paths)
        releases = (before, after)
    found = revision(old, new, releases, rule=SmallCount.parse(asked.at_risk), progress=console)
    console.result(
        lambda: {
            "confidential": True,
            "variables": old.domain.names,
            "total": {"old": old.total, "new": new.total, "change": new.total - old.total},
            "came": found.came,
            "went": found.went,
            "changed": found.cells,
            "exact_sums": found.sums,
            "singled_out": {
                "cells": sum(cell.singles_out for cell in found.cells),
                "sums": sum(one.singles_out for one in found.sums),
            },
            "releases": len(paths),
            "way": found.way,
            "complete": not found.note,
            "note": found.note,
        },
        _lines(found, old, bool(paths)),
    )


def _table(source: str, asked: Difference, console: Console) -> Table:
    return open_source(source, asked.reading, console).project.original


def _lines(found: Revision, old: Table, released: bool) -> Iterator[str]:
    yield (
        message(
            "{cells:,} of {size:,} cells changed: {came:,} more, {went:,} fewer.",
            len(found.cells),
            old.domain.size,
            found.came,
            found.went,
        )
    )
    singled = [cell for cell in found.cells if cell.singles_out]
    how = (
        message("readers of both releases know")
        if released
        else message("would show where both are published")
    )
    yield plural(
        len(singled),
        "{singled:,} of these changes is of a few people and {how}.",
        "{singled:,} of these changes are of a few people and {how}.",
        len(singled),
        how,
    )
    yield from _cells(found, old)
    yield from _sums(found, released)
    if found.note:
        yield found.note
    yield message("These figures depend on the originals: keep them in the house.")


def _cells(found: Revision, old: Table) -> Iterator[str]:
    for cell in found.cells[:SHOWN]:
        belief = "" if cell.belief is None else message("  belief {belief:.2f}", cell.belief)
        if cell.belief_few_changes is not None:
            belief += message(", expecting few changes {belief_few_changes:.2f}", cell.belief_few_changes)
        mark = message("  singles out") if cell.singles_out else ""
        yield message(
            "{index}: {old} -> {new}{belief}{mark}",
            old.domain.cell_text(cell.index),
            cell.old,
            cell.new,
            belief,
            mark,
        )
    if len(found.cells) > SHOWN:
        yield message("... {cells:,} more; take --json", len(found.cells) - SHOWN)


def _sums(found: Revision, released: bool) -> Iterator[str]:
    if released:
        few = sum(one.singles_out for one in found.sums)
        yield (
            plural(
                len(found.sums),
                "{sums:,} sum that both releases publish exactly changed, {few:,} of them by a few people:",
                "{sums:,} sums that both releases publish exactly changed, {few:,} of them by a few people:",
                len(found.sums),
                few,
            )
        )
    for one in found.sums[:SHOWN]:
        said = joined((f"{n}={c}" for n, c in zip(one.names, one.labels, strict=True)), ", ")
        mark = message("  singles out") if one.singles_out else ""
        yield message("{value}: {change:+d}{mark}", said or message("grand total"), one.change, mark)
    if len(found.sums) > SHOWN:
        yield message("... {sums:,} more; take --json", len(found.sums) - SHOWN)
