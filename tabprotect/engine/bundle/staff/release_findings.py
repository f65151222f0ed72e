"""The findings on a release before it leaves: a headline, then groups of them.

The window's Release page, the dossier and the report all show these, so that they agree. What is
made from :class:`Protected` is confidential.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from tabprotect.engine.assessment.sample_uniques import sample_uniques
from tabprotect.engine.errors import InputError
from tabprotect.engine.protection.descriptions.run_summary import RunSummary
from tabprotect.engine.protection.problem import GIVEN_SEED, Protected, Staff, StaffVerdict
from tabprotect.engine.release.findings import Finding, FindingGroup, State, in_words, listed, said
from tabprotect.engine.release.limits import ROUNDING
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.verdict_figures import (
    READER,
    SAID,
    Verdict,
    about,
    kept_in_words,
    nothing_expected,
)
from tabprotect.engine.tables.design_weights import DesignWeights
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import capital, in_100, joined, message

WORDS: Mapping[State, str] = {
    "failed": message("Not ready"),
    "passed": message("Ready"),
    "mind": message("One question open"),
    "told": "",
}

CHANCE = {
    "house": message("Chance came from the house key, which draws the same again: nobody could choose it."),
    "fresh": message("Chance came from this computer: nobody could choose or repeat it."),
    "given": message("A fixed seed was used."),
}
"""Where the coins of a release come from, in a sentence."""

BEFORE = message("Has this left before?")


def headline(
    verdict: Verdict,
    together: Verdict | None = None,
    *,
    question: str = "",
    published: bool = False,
    public: bool = False,
) -> Finding:
    """The verdict in one sentence, with its number.

    Parameters
    ----------
    together
        The verdict on this release together with earlier ones of the same original.
    question
        What is still to be decided, in a sentence: nothing is ready before.
    published
        True if it has left: its colour stays that of the verdict, and nothing is open any more.
    public
        True if the truth may not be counted.
    """
    state: State = "passed"
    word, why = "", ""
    if verdict.failing or verdict.insiders.fails(verdict.limits):
        # The headline's own number says that too many are known in all.
        own = bool(verdict.failing) and verdict.known > verdict.limit
        found = verdict.findings if verdict.failing else verdict.insiders.findings(verdict.limits)
        state, why = "failed", "" if own else found[0].text
    elif together is not None and together.passed is False:
        state, why = "failed", read_together(together)
    elif not verdict.judged:
        state, word = "mind", message("Not judged yet")
    elif not verdict.complete or question:
        state, why = "mind", verdict.not_whole or question
    elif verdict.certain:
        state, word = "mind", message("Within the limits")
    if published:
        word, why = message("Published"), verdict.not_whole
    first, limit = counted(verdict, public=public)
    rest = joined(filter(None, (limit, why)), " ")
    return replace(first, state=state, word=word or WORDS[state], rest=rest)


def in_brief(verdict: Verdict, together: Verdict | None = None, *, public: bool = False) -> str:
    """The headline without its word, who comes nearest, and what readers of several releases would know."""
    line = headline(verdict, together, public=public)
    found = [replace(line, word="")]
    if line.state != "failed" and verdict.judged:
        truth = verdict.staff if isinstance(verdict, StaffVerdict) and not public else None
        if truth is not None and truth.worst is not None:
            found.append(said(message("Closest: {cell}.", truth.worst.sentence)))
        found += verdict.insiders.findings(verdict.limits)
        found += () if verdict.groups is None else verdict.groups.findings(verdict.limits)
        found += [] if together is None else [said(read_together(together))]
    return in_words(found)


def counted(verdict: Verdict, *, public: bool = False) -> tuple[Finding, str]:
    """Say what readers would know, and a sentence on how many may be known.

    With the original it is the true figure, which is confidential, with the limit as a whole number.
    """
    if not verdict.judged:
        return Finding("not_worked_out"), ""
    staff = verdict.staff if isinstance(verdict, StaffVerdict) and not public else None
    if staff is None or (staff.at_risk_cells and staff.mean_belief is None):
        return verdict.known_found, ""
    if not staff.at_risk_cells:
        return Finding("no_small_counts", staff=True), ""
    limit = Finding("limit", values={"limit": int(verdict.limit + ROUNDING)})
    return staff.known_found, limit.text


def known_in(verdict: Verdict, *, public: bool = False) -> int:
    """How many a reader would know, as the headline counts them; of sums those that anybody comes too near."""
    if not public and isinstance(verdict, StaffVerdict) and verdict.audit is not None:
        return verdict.audit.broken + verdict.audit.known
    return int(str(counted(verdict, public=public)[0].values.get("known", 0)))


def beside_headline(verdict: Verdict) -> str:
    """Say what readers work out themselves, and the small count that comes nearest to being known.

    Empty where the headline does not count the truth.
    """
    staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
    if staff is None or not verdict.judged:
        return ""
    found = []
    if staff.mean_belief is not None and not nothing_expected(verdict):
        found.append(Finding("expected", values={"about": about(verdict.at_risk), "known": verdict.known}))
    if staff.worst is not None:
        limit = in_100(verdict.limits.belief_limit)
        found.append(Finding("closest", values={"limit": limit, "cell": staff.worst.sentence}))
    return in_words(found)


def read_together(verdict: Verdict, beside: str = message("what left before"), *, more: int = 0) -> str:
    """Say what a reader of this release and of earlier ones would know, in words.

    Parameters
    ----------
    more
        How many small counts more than from this release by itself.
    """
    found = list(verdict.findings)
    if verdict.judged and not verdict.failing:
        found = [verdict.known_found, *([said(verdict.unjudged)] if verdict.unjudged else [])]
    if more:
        return in_words([Finding("more_known", values={"n": more, "beside": beside}), *found])
    return in_words([replace(found[0], where=message("Together with {beside}", beside)), *found[1:]])


def limits_said(gate: Gate | None) -> str:
    """Say how much readers may know, in a sentence; empty where no gate is stated."""
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


def stated(gate: Gate | None) -> Finding:
    """The verdict as a release states it. Public."""
    if gate is None:
        return Finding("no_verdict", "mind")
    if gate.passed is None and not gate.left_out:
        return Finding("not_worked_out", "mind", rest=limits_said(gate))
    kinds: Mapping[bool | None, tuple[str, State]] = {
        None: ("not_all_judged", "mind"),
        True: ("within_limits", "passed"),
        False: ("beyond_limits", "failed"),
    }
    kind, state = kinds[gate.passed]
    return Finding(kind, state, {"parts": listed(gate.left_out)}, rest=limits_said(gate))


def of_tables(verdict: Verdict) -> tuple[Finding, ...]:
    """One finding on each judged table and reader, failures first.

    Tables in which a reader expects nothing at risk share one.
    """
    failing, found = verdict.failing, []
    harmless = [t for t in verdict.tables if t.judged and t not in failing and nothing_expected(t)]
    for table in sorted(verdict.tables, key=lambda t: t not in failing):
        if table in harmless:
            continue
        one, fine = table.finding(verdict.limits), False
        if table.judged:
            fine = table not in failing and not (table.certain or table.left_out)
            one = replace(one, rest=message("{way}.", capital(SAID[table.way])))
        else:
            one = replace(one, kind="unjudged", values={"who": READER[table.who], "way": SAID[table.way]})
        state: State = "failed" if table in failing else "passed" if fine else "mind"
        found.append(replace(one, state=state, shows="" if fine else "cells"))
        if only_small := max(table.small_known - table.known, 0):
            found.append(Finding("only_small", values={"n": only_small}, where=table.label, shows="cells"))
    found += [*verdict.insiders.findings(verdict.limits), *verdict.change_found]
    if not failing and verdict.groups is not None:
        found += verdict.groups.findings(verdict.limits)
    labels = list(dict.fromkeys(t.label for t in harmless))
    if len(labels) == 1:
        found.append(replace(harmless[0].finding(verdict.limits), state="passed"))
    elif labels:
        every = len(dict.fromkeys(t.label for t in verdict.tables))
        values = {"number": len(labels), "every": every, "names": joined(labels, "; ")}
        found.append(Finding("none_expected_in_some", "passed", values, shows="tables"))
    return tuple(found)


HARDLY = 0.9
"""Share of small counts that are published as they are from which a release hides next to nothing."""


def protection(protected: Protected, summary: RunSummary, verdict: Verdict | None) -> FindingGroup:
    """Say what happened to the at-risk cells. Confidential."""
    cycles = isinstance(protected.release.mechanism.values.get("cycles"), MoveSet)
    broken = cycles and summary.margins_preserved is False
    staff = verdict.staff if isinstance(verdict, StaffVerdict) else None
    # Where no reader would know any small count, nobody can tell which are published as they are.
    none_known = verdict is not None and staff is not None and verdict.complete and not staff.known
    # The number of unchanged counts is neither good nor, by itself, bad.
    words = in_words(summary.findings(hard_to_tell=none_known))
    run = said(words, "failed" if broken else "told", staff=True)
    found = [run]
    if verdict is not None:
        found = [*of_tables(verdict), run, *([said(verdict.note, "mind")] if verdict.note else [])]
        found += [] if staff is None else of_staff(staff)
        share = summary.unchanged_share
        if not verdict.known and summary.at_risk_cells and HARDLY <= share < 1:
            found.append(Finding("hardly_changed", "mind", {"tenths": int(10 * share)}, staff=True))
        # The last: what they are, and what is to be decided about them, stands below.
        found += (
            [said(kept_in_words(verdict.exact_small_margins), "mind")] if verdict.exact_small_margins else []
        )
    problem = protected.record.problem
    if problem.weights is not None and (words := _both_readers(problem.table, problem.weights)):
        found.append(said(words, staff=True))
    return FindingGroup(message("Protection"), tuple(found))


@lru_cache(maxsize=4)
def _both_readers(table: Table, weights: DesignWeights) -> str:
    """What is found out about people of a survey by who knows that they are in it, and by who does not."""
    try:
        return sample_uniques(table, weights).line()
    except InputError:
        # Too large for a model, or weights below 1: ``check`` says which.
        return ""


def of_staff(staff: Staff) -> list[Finding]:
    """Say what the house counts in the original. Confidential."""
    known, stuck = bool(staff.known), staff.stuck
    found = [replace(staff.finding, state="mind" if known else "told", shows="cells" if known else "")]
    return found + [Finding("stuck", "mind", {"n": stuck}, staff=True)] * bool(stuck)


def honesty(protected: Protected, *, final: bool = False) -> FindingGroup:
    """The title, the source of randomness, and the decisions. Confidential.

    Parameters
    ----------
    final
        Whether it is published: its coins are no longer chosen.
    """
    record, title = protected.record, protected.release.title
    seed = said(message("{said}.", capital(GIVEN_SEED)), "mind", shows="" if final else "coins")
    found = [
        Finding("title", "passed", {"title": title}) if title else Finding("no_title", "mind"),
        seed if record.seed_given else said(CHANCE[record.coins], "passed"),
    ]
    # The finding on the seed says it.
    decisions = (text for text in record.decisions if text != GIVEN_SEED)
    return FindingGroup(
        message("Honesty"), (*found, *(Finding("decision", "mind", {"text": text}) for text in decisions))
    )


def bundle_files(checks: Iterable[str]) -> FindingGroup:
    """The checks a bundle passed, as :func:`verify_bytes` names them. Public."""
    return FindingGroup(message("Files"), tuple(said(text, "passed") for text in checks))


def magnitude_headline(
    verdict: Verdict, *, staff: bool, published: bool = False, question: str = ""
) -> Finding:
    """The verdict on magnitudes in one sentence; for ``staff`` with what was tried with the contributions.

    As of :func:`headline`.
    """
    first, *rest = [
        *(verdict.tried if staff and isinstance(verdict, StaffVerdict) else ()),
        *verdict.findings,
    ]
    state: State = "failed" if verdict.passed is False else "passed" if verdict.passed else "mind"
    if question and state == "passed" and not published:
        state, rest = "mind", [*rest, said(question)]
    word = message("Published") if published else WORDS[state]
    return replace(first, state=state, word=word, rest=in_words(rest))


def magnitude_protection(done: Protected, verdict: StaffVerdict) -> FindingGroup:
    """Say what protects magnitudes, and what of that was not judged. Confidential."""
    found = [replace(one, staff=True, shows="cells") for one in verdict.tried[:1]]
    if found:
        primary = done.record.primary
        second = int((done.release.magnitude_table.hidden & ~primary).sum())
        found.append(
            Finding("hidden_sums", values={"n": int(primary.sum()), "secondary": second}, staff=True)
        )
    outsider = verdict.outsider
    if outsider is not None and outsider.worst is not None:
        near = bool(outsider.known)
        state: State = "mind" if near else "passed"
        found.append(replace(outsider.guesses(verdict.limits), state=state, shows="cells" if near else ""))
    found += [Finding("left_out", "mind", {"parts": listed([kind])}) for kind in verdict.left_out]
    return FindingGroup(message("Protection"), tuple(found))
