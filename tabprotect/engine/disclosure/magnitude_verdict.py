"""The verdict on a release of sums: how near readers come to what one contributor put in.

The figures of the outsider follow from the release alone, and anybody gets the same. What contributors
know is not in it: who has the contributions adds the audit that was made with them.

*Why factors are judged whole.* With a prior of 1/x for the target, and whatever a reader knows of the
other contributions and their factors, what is left of the sum is x times a factor of the published law.
The best guess is then near with the probability that it has for one who is alone in the cell; not
knowing the others as well averages such guesses, which is no better than the best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.disclosure.together import numbers_known
from tabprotect.engine.protection.registered import magnitude_methods
from tabprotect.engine.release.findings import Finding, in_words
from tabprotect.engine.release.left_out import Omission, kinds, listed
from tabprotect.engine.release.limits import ROUNDING
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class ContributorsAudit:
    """An audit with the contributions themselves. Confidential.

    Attributes
    ----------
    readers, items
        How many readers were tried, and how many pairs of a reader and an unsafe sum.
    exactly, within
        Pairs in which the reader would know a contribution exactly, or too nearly.
    broken
        Sums that are not protected.
    unsafe
        Sums that tell too much by the rules.
    known
        Those among them whose best guess is near with more than the limit.
    audited, to_audit
        Unsafe sums that readers were tried on, and all of them, sums of the same records once.
    share
        How near is too near by the rules, in percent; empty where they do not say.
    narrow
        Hidden sums that tell too much and of which so little stays possible that the second largest's
        best guess of the largest contribution comes near with more than the limit.
    """

    readers: int
    items: int
    exactly: int
    within: int
    broken: int
    unsafe: int
    known: int = 0
    audited: int = 0
    to_audit: int = 0
    share: str = ""
    narrow: int = 0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Say what came of it. Confidential."""
        near = (
            message("within {share} % of another's value", self.share)
            if self.share
            else message("too near to another's value")
        )
        values: dict[str, object] = {"readers": self.readers, "near": near, "n": self.broken or self.narrow}
        if self.broken:
            return (Finding("broken", "failed", values, staff=True),)
        audited = {"audited": self.audited, "unsafe": self.to_audit}
        tried = Finding("narrow", "mind", values) if self.narrow else Finding("nobody_near", "passed", values)
        sample = () if self.audited == self.to_audit else (Finding("sampled", values=audited, staff=True),)
        return (replace(tried, staff=True), *sample)

    def as_json(self) -> dict[str, object]:
        """The entry ``audit``."""
        return {
            "readers": self.readers,
            "items": self.items,
            "exactly": self.exactly,
            "within": self.within,
            "audited": self.audited,
            "unsafe": self.to_audit,
            "narrow": self.narrow,
        }


@dataclass(frozen=True)
class MagnitudeVerdict:
    """The verdict on published magnitudes: what readers learn.

    Attributes
    ----------
    limits
        By which it is judged.
    cells, hidden
        Sums, and those that are not published.
    worst
        The largest probability that an outsider's best guess comes near the value of one who is alone;
        ``None`` where that was not worked out.
    known
        Sums for which it is above the limit.
    left_out
        The kinds of what is left out.
    audit
        With the contributions; ``None`` for who has the release alone.
    reason
        Whether there is a reason for what is beyond the limits or was not judged.
    numbers
        Sums of which readers know how many contribute.
    """

    limits: Gate
    cells: int
    hidden: int
    worst: float | None
    known: int
    left_out: tuple[Omission, ...] = ()
    audit: ContributorsAudit | None = None
    reason: bool = False
    numbers: int = 0

    @property
    def passed(self) -> bool | None:
        """True if it keeps the limits, ``None`` where that is not known of all of it."""
        if self.audit is None:
            return self.limits.passed
        if self.audit.broken or self.audit.known:
            return False
        return None if self.left_out else True

    @property
    def gate(self) -> Gate:
        """The limits with what came of them, as the release states them."""
        limits = self.limits
        left_out = tuple(self.left_out)
        return replace(limits, passed=self.passed, left_out=left_out, reason=self.reason)

    @property
    def tried(self) -> tuple[Finding, ...]:
        """Say what was tried with the contributions, where sums are hidden. Confidential."""
        return () if self.audit is None or not self.hidden else self.audit.findings

    @property
    def guesses(self) -> Finding:
        """Say how near an outsider's best guess comes."""
        beyond = "near_hidden_beyond" if self.known else "near_hidden"
        values = {
            "n": self.known,
            "within": self.limits.within,
            "worst": math.ceil(100 * (self.worst or 0.0) - ROUNDING),
            "limit": round(100 * self.limits.belief_limit),
        }
        return Finding(beyond if self.hidden else "near_guess", values=values)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Say what was found, without what only the house knows."""
        found = [] if self.worst is None else [self.guesses]
        if self.known and not self.hidden:
            found.append(Finding("sums_known", values={"n": self.known}))
        if self.numbers:
            found.append(Finding("numbers_known", values={"n": self.numbers}))
        if self.left_out:
            found.append(Finding("left_out", "mind", {"parts": listed(self.left_out)}))
        return tuple(found) or (Finding("sums_judged"),)

    @property
    def sentence(self) -> str:
        """The verdict in words, without what only the house knows."""
        return in_words(self.findings)

    @property
    def staff_sentence(self) -> str:
        """The verdict with what was tried with the contributions. Confidential."""
        return in_words((*self.tried, *self.findings))

    def as_json(self) -> dict[str, object]:
        """The figures for ``--json``."""
        return {
            "passed": self.passed,
            "accepted": self.passed is True or self.reason,
            "within": self.limits.within,
            "belief_limit": self.limits.belief_limit,
            "cells": self.cells,
            "hidden": self.hidden,
            "belief": None if self.worst is None else round(self.worst, 6),
            "known": self.known,
            "numbers_known": self.numbers,
            "complete": not self.left_out,
            "left_out": list(self.left_out),
            "sentence": self.sentence,
        }


def limits_of(policy: HousePolicy) -> Gate:
    """The limits of a house for sums."""
    return Gate(within=policy.within, belief_limit=policy.belief_limit)


def magnitude_verdict(
    release: Release,
    limits: Gate | None = None,
    *,
    audit: ContributorsAudit | None = None,
    unsafe: Bools | None = None,
    more: tuple[Omission, ...] = (),
) -> MagnitudeVerdict:
    """Judge a release of sums as its readers see it.

    Parameters
    ----------
    limits
        By default those that the release states, else those of the program.
    audit
        What was tried with the contributions; its ``known`` is filled in here.
    unsafe : bool (cells,)
        The sums that have to be protected, for who has the contributions.
    more
        Kinds of what else was not judged.
    """
    table, gate = release.magnitude_table, release.mechanism.gate
    limits = limits or gate or limits_of(HousePolicy())
    method = magnitude_methods()[release.mechanism.method]
    found = method.outsider(release, limits.near)
    near = found is not None and found > limits.belief_limit + ROUNDING
    worst = None if found is None else float(found.max(initial=0.0))
    if audit is not None and unsafe is not None and found is not None and not table.hidden.any():
        known = int((near & unsafe).sum())
        audit = replace(audit, items=len(table.key), within=known, known=known)
    return MagnitudeVerdict(
        limits,
        len(table.key),
        int(table.hidden.sum()),
        worst,
        int(np.sum(near)),
        kinds(method.left_out(release), more, () if gate is None else gate.left_out),
        audit,
        gate is not None and gate.reason,
        int(numbers_known(table).sum()),
    )
