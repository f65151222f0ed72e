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
from tabprotect.engine.options import Naming, Options, option_field, option_named, part, position
from tabprotect.engine.output_checking import output_queue as outputs
from tabprotect.engine.output_checking.acro_files import is_acro, read_acro, write_acro
from tabprotect.engine.output_checking.decision_files import as_json, read_decisions, write_decisions
from tabprotect.engine.output_checking.flags_and_decisions import Checked, CheckRules, Decision, flag_cells
from tabprotect.engine.output_checking.output_queue import is_queue
from tabprotect.engine.output_checking.risk_appetite import RiskAppetite, beside
from tabprotect.engine.output_checking.risk_appetite import read as read_appetite
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
        metavar="TABLE",
        help=message("a file, a project, example:NAME, ACRO's results.json, or a queue of outputs"),
    )
    rules: Path | None = option_field(
        None,
        metavar="FILE",
        help=message(
            "the rules of the project, .toml or .yaml as SACRO's (default: risk_appetite.toml or .yaml beside "
            "the table); what is asked here goes before"
        ),
    )
    threshold: int | None = option_field(
        None, metavar="N", help=message("flag counts below it (default: as the rules have it, else 10)")
    )
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
    queue: Path | None = option_field(
        None,
        metavar="FILE.json",
        help=message(
            "put the table into this queue of outputs, CONFIDENTIAL; check FILE.json lists it, and --decide "
            "NUMBER=approve or NUMBER=reject decides"
        ),
    )
    out: Path | None = option_field(
        None,
        metavar="FILE",
        help=message("the flags and decisions, CONFIDENTIAL: .csv, .json, or results.json as ACRO's"),
    )
    reading: TableReading = part(TableReading)


@command("check", example="tabprotect check example:duncan-roehrig-4x4 --threshold 5")
def run(asked: Check, console: Console) -> int:
    """Print the flags; exit code 5 while a cell is undecided or rejected."""
    keep_apart([asked.table], [asked.out, asked.queue])
    if asked.decide and not (asked.who and asked.why):
        raise UsageError("--decide goes with --who and --why")
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    if is_queue(Path(asked.table)):
        return _queue(asked, console, when)
    table: Table | None = None
    appetite, sums = RiskAppetite(), False
    uniques: SampleUniques | None = None
    if is_acro(Path(asked.table)):
        if asked.sampled is not None:
            raise UsageError("--sampled is about one table of counts, not about ACRO's outputs")
        checked = read_acro(Path(asked.table))
    else:
        project = open_source(asked.table, asked.reading, console).project
        table = project.original
        found = asked.rules or beside(asked.table)
        appetite = appetite if found is None else read_appetite(found)
        rules = appetite.rules
        rules = CheckRules(
            rules.threshold if asked.threshold is None else asked.threshold,
            asked.zeros or rules.zeros,
            rules.classes and not asked.no_classes,
        )
        checked = flag_cells(table, rules, project.statuses)
        if project.magnitudes is not None:
            from tabprotect.engine.output_checking.flagged_sums import with_sums

            sums = True
            checked = with_sums(checked, project.magnitudes.table, appetite.rules_of_sums)
        if project.weights is not None or asked.sampled is not None:
            from tabprotect.engine.assessment.sample_uniques import sample_uniques

            uniques = sample_uniques(table, project.weights, fraction=asked.sampled)
    if asked.decisions is not None:
        checked = checked.decided(read_decisions(asked.decisions, checked.variables))
    checked = checked.decided(_decided(checked, asked, when))
    if asked.out is not None:
        _write(checked, table, asked.out, when)
    if asked.queue is not None:
        outputs.write(outputs.read(asked.queue).with_output(asked.table, checked), asked.queue)
    idle = appetite.idle(sums=sums)
    data = as_json(checked) | {
        "out": asked.out and str(asked.out),
        "queue": asked.queue and str(asked.queue),
        "not_of_counts": idle,
        "confidential": True,
    }
    told = [message("Of the rules these say nothing of this table: {names}", ", ".join(idle))] if idle else []
    lines = [*_lines(checked, asked.out), *told]
    if uniques is not None:
        data["sample_uniques"] = uniques.to_json()
        lines.append(uniques.line())
    console.result(data, lines)
    return OPEN[checked.status]


def _queue(asked: Check, console: Console, when: str) -> int:
    """List a queue, with decisions; exit code 5 while an output waits, was rejected or changed."""
    alone = ("table", "decide", "who", "why")
    idle = [option_named(Check, name).word for name in asked.given if name not in alone]
    idle += [one.word for one in asked.reading.stated()]
    if idle:
        raise UsageError(message("{options}: goes with a table, not with a queue", ", ".join(idle)))
    path = Path(asked.table)
    found = outputs.read(path)
    for name, decision in asked.decide:
        number = natural(name)
        if number is None:
            raise UsageError(message("in a queue, decide by the number of the output: {name}", repr(name)))
        found = found.decided(number, decision, comment=asked.why, who=asked.who, when=when)
    if asked.decide:
        outputs.write(found, path)
    lines = [
        message(
            "{number}  {file}  {status}, {flagged} flagged  {decision}",
            one.number,
            one.file,
            one.status,
            one.flagged,
            one.said,
        )
        for one in found.outputs
    ]
    lines.append(message("{open} of {outputs} outputs may not leave yet.", found.open, len(found.outputs)))
    console.result({"outputs": found.outputs, "open": found.open, "confidential": True}, lines)
    return RefusedError.exit_code if found.open else 0


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
