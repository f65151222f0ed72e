"""``check``: output checking, from rules over flags to decisions."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.cli.arguments import TableReading, keep_apart, open_source
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.errors import InputError, RefusedError
from tabprotect.engine.options import Naming, Options, option_field, part, position
from tabprotect.engine.output_checking.acro_files import is_acro, read_acro, write_acro
from tabprotect.engine.output_checking.decision_files import as_json, read_decisions, write_decisions
from tabprotect.engine.output_checking.flags_and_decisions import Checked, CheckRules, Decision, flag_cells
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message, plural

if TYPE_CHECKING:
    from tabprotect.engine.assessment.sample_uniques import SampleUniques

SHOWN = 40
"""Flags that are printed for people."""
OPEN = {"pass": 0, "approved": 0, "review": RefusedError.exit_code, "fail": RefusedError.exit_code}


@dataclass(frozen=True, kw_only=True)
class Check(Options):
    """Arguments of ``check``."""

    table: str = position(
        metavar="TABLE", help=message("a file, a project, example:NAME, or ACRO's results.json")
    )
    threshold: int = option_field(10, metavar="N", help=message("flag counts below it (default 10)"))
    zeros: bool = option_field(False, help=message("flag empty cells, too"))
    no_classes: bool = option_field(
        False, help=message("do not flag cells that hold everybody of their line")
    )
    sampled: float | None = option_field(
        None,
        metavar="SHARE",
        help=message(
            "the share of the population in the survey, where no design weights are kept: how many "
            "people who are alone in a cell are alone in the population"
        ),
    )
    decisions: Path | None = option_field(None, metavar="FILE", help=message("a decision file, filled in"))
    decide: Sequence[tuple[str, str]] = option_field(
        (),
        repeated=True,
        metavar="CELL=DECISION",
        help=message("approve, reject or change:COUNT; CELL is its categories apart by commas, or all"),
        read=Naming().read,
    )
    who: str = option_field("", needs="decide", help=message("who decides, with --decide"))
    why: str = option_field("", needs="decide", metavar="REASON", help=message("the reason, with --decide"))
    out: Path | None = option_field(
        None,
        metavar="FILE",
        help=message("the flags and decisions, CONFIDENTIAL: .csv, .json, or results.json as ACRO's"),
    )
    reading: TableReading = part(TableReading)


@command("check", example="tabprotect check example:duncan-roehrig-4x4 --threshold 5")
def run(asked: Check, console: Console) -> int:
    """Print the flags; exit code 5 while a cell is undecided or rejected."""
    keep_apart([asked.table], [asked.out])
    if asked.decide and not (asked.who and asked.why):
        raise UsageError("--decide goes with --who and --why")
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    table: Table | None = None
    uniques: SampleUniques | None = None
    if is_acro(Path(asked.table)):
        if asked.sampled is not None:
            raise UsageError("--sampled is about one table of counts, not about ACRO's outputs")
        checked = read_acro(Path(asked.table))
    else:
        project = open_source(asked.table, asked.reading, console).project
        table = project.original
        rules = CheckRules(asked.threshold, asked.zeros, not asked.no_classes)
        checked = flag_cells(table, rules, project.statuses)
        if project.weights is not None or asked.sampled is not None:
            from tabprotect.engine.assessment.sample_uniques import sample_uniques

            uniques = sample_uniques(table, project.weights, fraction=asked.sampled)
    if asked.decisions is not None:
        checked = checked.decided(read_decisions(asked.decisions, checked.variables))
    checked = checked.decided(_decided(checked, asked, when))
    if asked.out is not None:
        _write(checked, table, asked.out, when)
    data = as_json(checked) | {"out": asked.out and str(asked.out), "confidential": True}
    lines = _lines(checked, asked.out)
    if uniques is not None:
        data["sample_uniques"] = uniques.to_json()
        lines.append(uniques.line())
    console.result(data, lines)
    return OPEN[checked.status]


NAMED = 10
"""Cells that an error names, at most."""


def _decided(checked: Checked, asked: Check, when: str) -> dict[tuple[str, ...], Decision]:
    found: dict[tuple[str, ...], Decision] = {}
    by_text = {",".join(flag.cell): flag.cell for flag in checked.flags}
    for cell, text in asked.decide:
        what, _, to = text.partition(":")
        if to and natural(to) is None:
            raise UsageError(message("{to} is no count", repr(to)))
        decision = Decision(what, asked.who, when, asked.why, int(to) if to else None)
        plain = ",".join(part.strip() for part in cell.split(","))
        if plain != "all" and plain not in by_text:
            raise InputError(
                message("the cell is not flagged"),
                cell=f"({cell})",
                hint=message("flagged are: {cells}", joined([*by_text][:NAMED], "; "))
                if by_text
                else message("no cell is flagged: leave --decide out"),
            )
        for one in by_text.values() if plain == "all" else (by_text[plain],):
            found[one] = decision
    return found


def _write(checked: Checked, table: Table | None, out: Path, when: str) -> None:
    if not is_acro(out):
        write_decisions(checked, out)
    elif table is None:
        raise UsageError(message("decisions on ACRO's outputs are written as .csv or .json"))
    else:
        write_acro(checked, table, out, when=when)


def _lines(checked: Checked, out: Path | None) -> list[str]:
    lines = [
        plural(
            len(checked.flags),
            "{status}: {flags:,} cell is flagged",
            "{status}: {flags:,} cells are flagged",
            checked.status,
            len(checked.flags),
        )
    ]
    for flag in checked.flags[:SHOWN]:
        said = message("({cell}): {values}", joined(flag.cell, ", "), joined(flag.reasons.values(), "; "))
        if flag.decision is not None:
            to = "" if flag.decision.to is None else message(" to {to}", flag.decision.to)
            said += message(
                " -> {what}{to}, {who}: {why}", flag.decision.what, to, flag.decision.who, flag.decision.why
            )
        lines.append(said)
    if len(checked.flags) > SHOWN:
        lines.append(message("... and {flags:,} more", len(checked.flags) - SHOWN))
    return [*lines, *([message("{out}: CONFIDENTIAL", out)] if out is not None else [])]
