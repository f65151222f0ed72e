"""The statements on a release before it leaves: one sentence, then lines in three groups.

The window's Release page, the dossier and the report all use these, so that they agree. What is
made from :class:`Protected` is confidential.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tabprotect.engine.protection.descriptions.run_summary import RunSummary
from tabprotect.engine.protection.problem import GIVEN_SEED, Protected, Staff, StaffVerdict
from tabprotect.engine.release.kept_sums import said
from tabprotect.engine.release.left_out import listed
from tabprotect.engine.release.limits import ROUNDING
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.verdict_figures import (
    NOT_WORKED_OUT,
    READER,
    SAID,
    Verdict,
    exceeded,
    learned,
    nothing_expected,
)
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.said import capital, joined, percent, plural, say

State = Literal["passed", "told", "mind", "failed"]
"""The states of a line: as it should be; for information only; needs attention; beyond a limit."""


@dataclass(frozen=True)
class CheckLine:
    """A statement with its state.

    Attributes
    ----------
    staff
        True if it reveals something of the original.
    cells
        True if it is about cells that can be shown.
    """

    state: State
    text: str
    staff: bool = False
    cells: bool = False


@dataclass(frozen=True)
class CheckGroup:
    """The lines about one thing."""

    title: str
    lines: tuple[CheckLine, ...]


def headline(verdict: Verdict, together: Verdict | None = None, *, question: str = "") -> CheckLine:
    """The verdict in one sentence, with its number.

    Parameters
    ----------
    together
        The verdict on this release together with earlier ones of the same original.
    question
        What is still to be decided, in a sentence: nothing is ready before.
    """
    failing, knows = verdict.failing, counted(verdict)
    if failing and verdict.known > verdict.limit:
        return CheckLine("failed", say("Not ready: {knows}.", knows))
    if failing:
        # Another limit than that of all known cells: of one table, another reader, or a guess.
        return CheckLine("failed", say("Not ready: {text}", table_lines(verdict)[0].text))
    if verdict.insiders.fails(verdict.limits):
        return CheckLine("failed", say("Not ready: {text}", insider_lines(verdict)[0].text))
    if together is not None and together.passed is False:
        return CheckLine("failed", say("Not ready: {together}", read_together(together)))
    if not verdict.judged:
        return CheckLine("mind", say("Not judged: {NOT_WORKED_OUT}.", NOT_WORKED_OUT))
    if not verdict.complete:
        left_out = verdict.unjudged_parts
        return CheckLine(
            "mind", say("Not judged whole: {left_out}. Apart from that, {knows}.", left_out, knows)
        )
    if question:
        return CheckLine("mind", say("One question open: {knows}. {question}", knows, question))
    if verdict.certain:
        return CheckLine("mind", say("Within the limits: {knows}.", knows))
    return CheckLine("passed", say("Ready: {knows}.", knows))


def counted(verdict: Verdict) -> str:
    """What readers would know, as part of a sentence.

    With the original it is the true figure, which is confidential, with the limit as a whole number.
    """
    staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
    known = "" if staff is None else staff.known_of_all
    if staff is None or not known:
        return learned(verdict, verdict.limit)
    if not staff.at_risk_cells:
        return known
    return say("{known}. Limit: {limit:,}", known, int(verdict.limit + ROUNDING))


def computed(verdict: Verdict) -> str:
    """What readers work out themselves, where the headline counts the truth; empty elsewhere."""
    staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
    if staff is None or not staff.known_of_all or nothing_expected(verdict):
        return ""
    return say(
        "From the release alone, readers count on about {expected:,} small counts and would be "
        "sure of {known:,}.",
        round(verdict.at_risk),
        verdict.known,
    )


def would_know(verdict: Verdict) -> str:
    """The meaning of *would know*, with the small count that comes nearest to it."""
    staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
    if staff is None or staff.worst is None:
        return ""
    cell = joined(staff.worst.cell, ", ") or say("grand total")
    return say(
        "Would know: more than {limit} in 100 sure of the true count. Closest: {cell}, "
        "{chance} in 100.",
        f"{100 * verdict.limits.belief_limit:g}",
        cell,
        round(100 * staff.worst.belief),
    )


def published_line(verdict: Verdict) -> CheckLine:
    """The verdict on a published release, in one sentence."""
    if not verdict.judged:
        return CheckLine("mind", say("Published. {knows}.", capital(NOT_WORKED_OUT)))
    state, knows = headline(verdict).state, capital(counted(verdict))
    if verdict.complete:
        return CheckLine(state, say("Published. {knows}.", knows))
    left_out = verdict.unjudged_parts
    return CheckLine(
        state, say("Published, not judged whole: {left_out}. {knows}.", left_out, knows)
    )


def read_together(verdict: Verdict, beside: str = say("what left before")) -> str:
    """What a reader of this release and of earlier ones would know, in words."""
    if not verdict.judged:
        return say(
            "together with {beside}: {NOT_WORKED_OUT}: {note}", beside, NOT_WORKED_OUT, verdict.note
        )
    if verdict.failing:
        return say("together with {beside}: {verdict}", beside, verdict.sentence)
    knows = learned(verdict, verdict.limit)
    if verdict.complete:
        return say("together with {beside}: {knows}.", beside, knows)
    return say("together with {beside}: {knows}. {unjudged}", beside, knows, verdict.unjudged)


def stated(gate: Gate | None) -> CheckLine:
    """The verdict as a release states it. Public."""
    if gate is None:
        return CheckLine("mind", say("This release states no verdict on what its readers learn."))
    limits = say(
        "Of the counts of {at_risk} that a reader expects in a table at most {share} "
        "may be known, which is believed with a probability above {belief_limit:g}; a guess at one "
        "may be right at most {often} of the time.",
        gate.at_risk,
        percent(gate.share),
        gate.belief_limit,
        percent(gate.mean_belief_limit),
    )
    if gate.passed is None:
        return CheckLine(
            "mind",
            say(
                "What readers learn was not judged whole: {left_out}. {limits}",
                listed(gate.left_out) or NOT_WORKED_OUT,
                limits,
            ),
        )
    if gate.passed:
        return CheckLine("passed", say("This release is within its limits. {limits}", limits))
    text = say(
        "This release is beyond its limits and was published by a decision. {limits}", limits
    )
    return CheckLine("failed", text)


def table_lines(verdict: Verdict) -> tuple[CheckLine, ...]:
    """One line for each judged table and reader, failures first.

    Tables in which a reader expects nothing at risk share one line.
    """
    failing = verdict.failing
    lines = []
    harmless = [t for t in verdict.tables if t.judged and nothing_expected(t)]
    for table in sorted(verdict.tables, key=lambda t: t not in failing):
        if table in harmless:
            continue
        which = say("inner cells") if table.inner else say("table {label}", table.label)
        way, knows = SAID[table.way], exceeded(table, verdict.limits)
        if not table.judged:
            text = say(
                "{which}: what {who} learns was judged {SAID}.", which, READER[table.who], way
            )
        else:
            text = say("{which}: {knows}; judged {SAID}.", which, knows, way)
        bad: State = "failed" if table in failing else "mind"
        fine = table.judged and table not in failing and not (table.certain or table.left_out)
        lines.append(CheckLine("passed" if fine else bad, capital(text), cells=not fine))
        if only_small := max(table.small_known - table.known, 0):
            text = plural(
                only_small,
                "{which}: {who} could be certain of {only_small:,} cell that it is small, not "
                "which number it holds.",
                "{which}: {who} could be certain of {only_small:,} cells that they are small, not "
                "which number they hold.",
                which,
                READER[table.who],
                only_small,
            )
            lines.append(CheckLine("told", capital(text), cells=True))
    lines += insider_lines(verdict)
    if harmless:
        labels = dict.fromkeys(say("inner cells") if t.inner else t.label for t in harmless)
        lines.append(
            CheckLine(
                "passed",
                say("A reader expects no cell at risk in: {labels}.", ", ".join(labels)),
            )
        )
    return tuple(lines)


def insider_lines(verdict: Verdict) -> tuple[CheckLine, ...]:
    """What somebody alone in a cell learns; a line with a limit where that is judged."""
    found, limits = verdict.insiders, verdict.limits
    if found.fails(limits):
        return (CheckLine("failed", found.beyond(limits)),)
    return (CheckLine("told", found.sentence),) if found.chance else ()


def kept_line(verdict: Verdict) -> tuple[CheckLine, ...]:
    """How many small sums are published exactly, if any."""
    return (CheckLine("mind", said(verdict.kept_small)),) if verdict.kept_small else ()


def protection(protected: Protected, summary: RunSummary, verdict: Verdict | None) -> CheckGroup:
    """What happened to the at-risk cells. Confidential."""
    cycles = isinstance(protected.release.mechanism.values.get("cycles"), MoveSet)
    broken = cycles and summary.margins_preserved is False
    # The number of unchanged counts is neither good nor, by itself, bad.
    lines = [CheckLine("failed" if broken else "told", summary.sentence, staff=True)]
    if verdict is not None:
        lines = [*table_lines(verdict), *lines]
        lines += kept_line(verdict)
        lines += [CheckLine("mind", verdict.note)] if verdict.note else []
        staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
        lines += [] if staff is None else _staff(staff)
    return CheckGroup("Protection", tuple(lines))


def _staff(staff: Staff) -> list[CheckLine]:
    known = bool(staff.known)
    lines = [CheckLine("mind" if known else "told", staff.sentence, staff=True, cells=known)]
    if staff.stuck:
        cells = (
            say("1 at-risk cell")
            if staff.stuck == 1
            else say("{stuck:,} at-risk cells", staff.stuck)
        )
        lines.append(
            CheckLine("mind", say("No cycle can move {cells} in this table.", cells), staff=True)
        )
    return lines


def honesty(protected: Protected) -> CheckGroup:
    """The title, the source of randomness, and the decisions. Confidential."""
    record, title = protected.record, protected.release.title
    lines = [
        CheckLine("passed", say("Title: {title}", title))
        if title
        else CheckLine("mind", say("The release has no title.")),
        CheckLine("mind", say("{said}.", capital(GIVEN_SEED)))
        if record.seed_given
        else CheckLine("passed", say("Nobody chose the random numbers.")),
    ]
    lines += [
        CheckLine("mind", say("Decision: {text}", text))
        for text in record.decisions
        # The line on the seed says it.
        if text != GIVEN_SEED
    ]
    return CheckGroup("Honesty", tuple(lines))


def bundle_files(checks: tuple[str, ...]) -> CheckGroup:
    """The checks a bundle passed, as :func:`verify_bytes` names them. Public."""
    return CheckGroup("Files", tuple(CheckLine("passed", text) for text in checks))
