"""The statements on a release of sums before it leaves, as pages show them."""

from __future__ import annotations

from collections.abc import Sequence

from tabprotect.engine.bundle.staff.check_lines import CheckGroup, CheckLine, State
from tabprotect.engine.disclosure.magnitude_verdict import MagnitudeVerdict
from tabprotect.engine.disclosure.protected_sums import ProtectedSums
from tabprotect.engine.release.left_out import SAID
from tabprotect.languages.messages import capital, joined, message, plural

WORDS: dict[State, str] = {
    "failed": message("Not ready"),
    "passed": message("Ready"),
    "mind": message("One question open"),
    "told": "",
}


def sums_headline(
    verdict: MagnitudeVerdict, *, staff: bool, published: bool = False, question: str = ""
) -> CheckLine:
    """The verdict in one sentence; for ``staff`` with what was tried with the contributions.

    ``question`` is what is still to be decided: nothing is ready before. Of a published release nothing
    is open any more; its colour stays that of the verdict.
    """
    told = verdict.audit if staff and verdict.hidden else None
    first = verdict.sentence if told is None else told.sentence
    rest = "" if first == verdict.sentence else verdict.sentence
    state: State = "failed" if verdict.passed is False else "passed" if verdict.passed else "mind"
    if question and state == "passed" and not published:
        state, rest = "mind", joined(filter(None, (rest, question)), " ")
    word = message("Published") if published else WORDS[state]
    return CheckLine(state, verdict.staff_sentence, word=word, finding=first, rest=rest)


def sums_protection(done: ProtectedSums, verdict: MagnitudeVerdict) -> CheckGroup:
    """What protects a release, and what of that was not judged. Confidential."""
    lines = []
    audit = verdict.audit
    if audit is not None and verdict.hidden:
        state: State = "failed" if audit.broken else "mind" if audit.narrow else "passed"
        lines.append(CheckLine(state, audit.sentence, staff=True, cells=True))
        second = int((done.release.hidden & ~done.primary).sum())
        lines.append(
            CheckLine(
                "told",
                plural(
                    int(done.primary.sum()),
                    "{primary:,} sum is hidden as unsafe, {secondary:,} to protect others.",
                    "{primary:,} sums are hidden as unsafe, {secondary:,} to protect others.",
                    int(done.primary.sum()),
                    second,
                ),
                staff=True,
            )
        )
    if verdict.worst is not None:
        near = bool(verdict.known)
        lines.append(CheckLine("mind" if near else "passed", verdict.guesses, cells=near))
    lines += [
        CheckLine("mind", capital(message("not worked out: {what}.", SAID[kind])))
        for kind in verdict.left_out
    ]
    return CheckGroup(message("Protection"), tuple(lines))


def sums_files(checks: Sequence[str]) -> CheckGroup:
    """What was checked of the bundle."""
    return CheckGroup(message("Files"), tuple(CheckLine("passed", text) for text in checks))
