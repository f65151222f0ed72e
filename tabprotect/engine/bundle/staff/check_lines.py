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
    about,
    exceeded,
    learned,
    nothing_expected,
)
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import capital, in_100, joined, message, plural

State = Literal["passed", "told", "mind", "failed"]
"""The states of a line: as it should be; for information only; needs attention; beyond a limit."""


CHANCE = {
    "house": message("Chance came from the house key: nobody could choose it."),
    "fresh": message("Chance came from this computer: nobody could choose or repeat it."),
    "given": message("A fixed seed was used."),
}
"""Where the coins of a release come from, in a sentence."""


@dataclass(frozen=True)
class CheckLine:
    """A statement with its state.

    Attributes
    ----------
    staff
        True if it reveals something of the original.
    cells
        True if it is about cells that can be shown.
    word, finding, rest
        Of a headline: its state in a word, what was found, and what else is to be said.
    names
        The tables it speaks of, where it only counts them.
    coins
        True if the coins it speaks of can still be drawn from the house key.
    """

    state: State
    text: str
    staff: bool = False
    cells: bool = False
    word: str = ""
    finding: str = ""
    rest: str = ""
    names: str = ""
    coins: bool = False


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
    failing, why = verdict.failing, ""
    if failing and verdict.known <= verdict.limit:
        # Another limit than that of all known cells: of one table, another reader, or a guess.
        why = table_lines(verdict)[0].text
    elif verdict.insiders.fails(verdict.limits):
        why = insider_lines(verdict)[0].text
    elif not failing and together is not None and together.passed is False:
        why = capital(read_together(together))
    if failing or why:
        return _headline("failed", message("Not ready"), verdict, why)
    if not verdict.judged:
        return _headline("mind", message("Not judged yet"), verdict)
    if not verdict.complete:
        return _headline("mind", message("One question open"), verdict, verdict.not_whole)
    if question:
        return _headline("mind", message("One question open"), verdict, question)
    if verdict.certain:
        return _headline("mind", message("Within the limits"), verdict)
    return _headline("passed", message("Ready"), verdict)


def _headline(state: State, word: str, verdict: Verdict, rest: str = "") -> CheckLine:
    """The state in a word, what readers would know, and what else is to be said."""
    found, limit = counted(verdict)
    rest = joined(filter(None, (limit, rest)), " ")
    text = message("{word}: {found}.", word, found)
    return CheckLine(
        state, joined(filter(None, (text, rest)), " "), word=word, finding=capital(found), rest=rest
    )


def counted(verdict: Verdict) -> tuple[str, str]:
    """What readers would know, as part of a sentence, and a sentence on how many may be known.

    With the original it is the true figure, which is confidential, with the limit as a whole number.
    """
    if not verdict.judged:
        return NOT_WORKED_OUT, ""
    staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
    known = "" if staff is None else staff.known_of_all
    if staff is None or not known:
        return learned(verdict, verdict.limit), ""
    if not staff.at_risk_cells:
        return known, ""
    return known, message("Limit: {limit:,}.", int(verdict.limit + ROUNDING))


def computed(verdict: Verdict) -> str:
    """What readers work out themselves, where the headline counts the truth; empty elsewhere."""
    staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
    if staff is None or not staff.known_of_all or nothing_expected(verdict):
        return ""
    return message(
        "From the release alone readers expect {about} small counts and would be sure of {known:,}.",
        about(verdict.at_risk),
        verdict.known,
    )


def would_know(verdict: Verdict) -> str:
    """The meaning of *would know*, with the small count that comes nearest to it."""
    staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
    if staff is None or staff.worst is None or not verdict.judged:
        return ""
    return message(
        "Would know: a reader who has the release and our description of the method is more than "
        "{limit} sure of the true count. Closest: {cell}.",
        in_100(verdict.limits.belief_limit),
        staff.worst.sentence,
    )


def published_line(verdict: Verdict) -> CheckLine:
    """The verdict on a published release, in one sentence."""
    rest = "" if verdict.complete else verdict.not_whole
    return _headline(headline(verdict).state, message("Published"), verdict, rest)


def read_together(verdict: Verdict, beside: str = message("what left before"), *, more: int = 0) -> str:
    """What a reader of this release and of earlier ones would know, in words.

    Parameters
    ----------
    more
        How many small counts more than from this release by itself.
    """
    together = (
        plural(
            more,
            "together with {beside} readers would know {more:,} more small count",
            "together with {beside} readers would know {more:,} more small counts",
            beside,
            more,
        )
        if more
        else message("together with {beside}", beside)
    )
    if not verdict.judged:
        return message("{together}: {NOT_WORKED_OUT}: {note}", together, NOT_WORKED_OUT, verdict.note)
    if verdict.failing:
        return message("{together}: {verdict}", together, verdict.sentence)
    knows = learned(verdict, verdict.limit)
    if verdict.complete:
        return message("{together}: {knows}.", together, knows)
    return message("{together}: {knows}. {unjudged}", together, knows, verdict.unjudged)


def limits_said(gate: Gate | None) -> str:
    """How much readers may know, in a sentence; empty where no gate is stated."""
    if gate is None:
        return ""
    return message(
        "Of the small counts ({at_risk}) that a reader expects in a table at most {share} "
        "may be known; known is what a reader is more than {limit} sure of; a guess at one "
        "may be right {often} times at most.",
        gate.at_risk.words,
        in_100(gate.share),
        in_100(gate.belief_limit),
        in_100(gate.mean_belief_limit),
    )


def stated(gate: Gate | None) -> CheckLine:
    """The verdict as a release states it. Public."""
    if gate is None:
        return CheckLine("mind", message("This release states no verdict on what its readers learn."))
    limits = limits_said(gate)
    if gate.passed is None:
        return CheckLine(
            "mind",
            message(
                "Not all that readers learn was worked out; left out: {left_out}. {limits}",
                listed(gate.left_out) or NOT_WORKED_OUT,
                limits,
            ),
        )
    if gate.passed:
        return CheckLine(
            "passed",
            message("This release is within its limits. {limits}", limits),
            finding=message("This release is within its limits"),
            rest=limits,
        )
    text = message("This release is beyond its limits and was published by a decision. {limits}", limits)
    finding = message("This release is beyond its limits and was published by a decision")
    return CheckLine("failed", text, finding=finding, rest=limits)


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
        which, way = table.label, SAID[table.way]
        if not table.judged:
            text = message("{which}: what {who} learns: {way}.", which, READER[table.who], way)
        else:
            text = message("{which}: {knows}; {way}.", which, exceeded(table, verdict.limits), way)
        bad: State = "failed" if table in failing else "mind"
        fine = table.judged and table not in failing and not (table.certain or table.left_out)
        lines.append(CheckLine("passed" if fine else bad, text, cells=not fine))
        if only_small := max(table.small_known - table.known, 0):
            text = message(
                "{which}: sure that a count is small, without knowing which it is: {more:,} more.",
                which,
                only_small,
            )
            lines.append(CheckLine("told", text, cells=True))
    lines += insider_lines(verdict)
    if harmless:
        labels = list(dict.fromkeys(t.label for t in harmless))
        every = len(dict.fromkeys(t.label for t in verdict.tables))
        text = (
            message("{table}: a reader expects no small counts.", labels[0])
            if len(labels) == 1
            else message(
                "In {number:,} of the {every:,} tables a reader expects no small counts.", len(labels), every
            )
        )
        named = joined(labels, "; ") if len(labels) > 1 else ""
        lines.append(CheckLine("passed", text, names=named))
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
    said = summary.said(hard_to_tell=_none_known(verdict))
    lines = [CheckLine("failed" if broken else "told", said, staff=True)]
    if verdict is not None:
        lines = [*table_lines(verdict), *lines]
        lines += [CheckLine("mind", verdict.note)] if verdict.note else []
        staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
        lines += [] if staff is None else _staff(staff)
        lines += _hardly_changed(summary, verdict)
        # The last: what they are, and what is to be decided about them, stands below.
        lines += kept_line(verdict)
    return CheckGroup("Protection", tuple(lines))


def _none_known(verdict: Verdict | None) -> bool:
    """Whether readers of all tables together know none of the small counts that there are."""
    staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
    return staff is not None and verdict is not None and verdict.complete and not staff.known


HARDLY = 0.9
"""Share of small counts that are published as they are from which a release hides next to nothing."""


def _hardly_changed(summary: RunSummary, verdict: Verdict) -> list[CheckLine]:
    """A warning where readers know none and yet most small counts stand there as they are."""
    share = summary.unchanged_share
    if verdict.known or not summary.at_risk_cells or not HARDLY <= share < 1:
        return []
    text = message(
        "Readers would know none, but {tenths} in 10 small counts are published unchanged: hardly "
        "anything was changed.",
        int(10 * share),
    )
    return [CheckLine("mind", text, staff=True)]


def _staff(staff: Staff) -> list[CheckLine]:
    known = bool(staff.known)
    lines = [CheckLine("mind" if known else "told", staff.sentence, staff=True, cells=known)]
    if staff.stuck:
        text = plural(
            staff.stuck,
            "No cycle can move {number:,} small count of this table.",
            "No cycle can move {number:,} small counts of this table.",
            staff.stuck,
        )
        lines.append(CheckLine("mind", text, staff=True))
    return lines


def honesty(protected: Protected, *, final: bool = False) -> CheckGroup:
    """The title, the source of randomness, and the decisions. Confidential.

    Parameters
    ----------
    final
        Whether it is published: its coins are no longer chosen.
    """
    record, title = protected.record, protected.release.title
    lines = [
        CheckLine("passed", message("Title: {title}", title))
        if title
        else CheckLine("mind", message("The release has no title.")),
        CheckLine("mind", message("{said}.", capital(GIVEN_SEED)), coins=not final)
        if record.seed_given
        else CheckLine("passed", CHANCE[record.coins]),
    ]
    lines += [
        CheckLine("mind", message("Decision: {text}", text))
        for text in record.decisions
        # The line on the seed says it.
        if text != GIVEN_SEED
    ]
    return CheckGroup("Honesty", tuple(lines))


def bundle_files(checks: tuple[str, ...]) -> CheckGroup:
    """The checks a bundle passed, as :func:`verify_bytes` names them. Public."""
    return CheckGroup("Files", tuple(CheckLine("passed", text) for text in checks))
