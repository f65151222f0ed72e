"""The verdict on a release of sums: how near readers come to what one contributor put in.

The figures of the outsider follow from the release alone, and anybody gets the same. What contributors
know is not in it: who has the contributions adds the audit that was made with them.

*Why factors are judged whole.* With a prior of 1/x for the target, and whatever a reader knows of the
other contributions and their factors, what is left of the sum is x times a factor of the published law.
The best guess is then near with the probability that it has for one who is alone in the cell; not
knowing the others as well averages such guesses, which is no better than the best.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.disclosure.together import numbers_known
from tabprotect.engine.magnitudes.methods.multipliers import MultiplierLaw
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums, SumsGate
from tabprotect.engine.release.left_out import Kind, kinds, listed
from tabprotect.engine.release.limits import ROUNDING
from tabprotect.languages.messages import at_most_in_100, in_100, joined, message, plural

MOST_HIDDEN = 60
"""Up to this many hidden sums an outsider's beliefs about them are worked out."""


@dataclass(frozen=True)
class ContributorsAudit:
    """What was tried with the contributions. Confidential.

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
    def sentence(self) -> str:
        """What the verdict's card says to staff."""
        near = (
            message("within {share} % of another's value", self.share)
            if self.share
            else message("too near to another's value")
        )
        if not self.broken:
            tried = message(
                "Nobody among {tried:,} businesses and groups tried could come {near}.", self.readers, near
            )
            if self.narrow:
                tried = plural(
                    self.narrow,
                    "Nobody among {tried:,} businesses and groups tried could come {near} by an upper bound; "
                    "by the best guess somebody could, in {n:,} hidden sum.",
                    "Nobody among {tried:,} businesses and groups tried could come {near} by an upper bound; "
                    "by the best guess somebody could, in {n:,} hidden sums.",
                    self.readers,
                    near,
                    self.narrow,
                )
            return joined(filter(None, [tried, self.sampled]), " ")
        return plural(
            self.broken,
            "{broken:,} sum is not protected: somebody could come {near}.",
            "{broken:,} sums are not protected: somebody could come {near}.",
            self.broken,
            near,
        )

    @property
    def sampled(self) -> str:
        """How many unsafe sums were not audited, in words; empty where all were."""
        if self.audited == self.to_audit:
            return ""
        return message(
            "A sample was audited: {audited:,} of {unsafe:,} unsafe sums.", self.audited, self.to_audit
        )

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
    """What readers learn from published sums.

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

    limits: SumsGate
    cells: int
    hidden: int
    worst: float | None
    known: int
    left_out: tuple[Kind, ...] = ()
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
    def gate(self) -> SumsGate:
        """The limits with what came of them, as the release states them."""
        limits = self.limits
        left_out = tuple(self.left_out)
        return replace(limits, passed=self.passed, left_out=left_out, reason=self.reason)

    @property
    def guesses(self) -> str:
        """How near an outsider's best guess comes; empty where that was not worked out."""
        if self.worst is None:
            return ""
        if self.hidden:
            return self._guessed
        return message(
            "An outsider's best guess of the value of one who is alone in a cell comes within "
            "{within:g} % with a probability of at most {worst} (limit {limit}).",
            self.limits.within,
            at_most_in_100(self.worst),
            in_100(self.limits.belief_limit),
        )

    @property
    def _guessed(self) -> str:
        """How near guesses of hidden sums come."""
        within, limit = self.limits.within, in_100(self.limits.belief_limit)
        worst = at_most_in_100(self.worst or 0.0)
        if not self.known:
            return message(
                "A best guess of a hidden sum comes within {within:g} % of it with a probability of at most "
                "{worst} (limit {limit}).",
                within,
                worst,
                limit,
            )
        return plural(
            self.known,
            "{known:,} hidden sum can be guessed to within {within:g} % with a probability of {worst} "
            "(limit {limit}): it would give its contributor away if it had only one.",
            "{known:,} hidden sums can be guessed to within {within:g} % with a probability of up to "
            "{worst} (limit {limit}): each would give its contributor away if it had only one.",
            self.known,
            within,
            worst,
            limit,
        )

    @property
    def sentence(self) -> str:
        """The verdict in words, without what only the house knows."""
        said = []
        if self.worst is not None:
            said.append(self.guesses)
        if self.known and not self.hidden:
            said.append(
                plural(
                    self.known,
                    "{known:,} sum would be known if it were that of one contributor.",
                    "{known:,} sums would be known if each were that of one contributor.",
                    self.known,
                )
            )
        if self.numbers:
            said.append(
                plural(
                    self.numbers,
                    "How many contribute is published, or follows, of {n:,} sum: readers were taken to "
                    "know who is alone.",
                    "How many contribute is published, or follows, of {n:,} sums: readers were taken to "
                    "know who is alone.",
                    self.numbers,
                )
            )
        if self.left_out:
            said.append(message("Not worked out: {parts}.", listed(self.left_out)))
        return joined(said, " ") or message("Every sum was judged.")

    @property
    def staff_sentence(self) -> str:
        """The verdict with what was tried with the contributions. Confidential."""
        if self.audit is None or not self.hidden:
            return self.sentence
        return joined([self.audit.sentence, self.sentence], " ")

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


def limits_of(policy: HousePolicy) -> SumsGate:
    """The limits of a house for sums."""
    return SumsGate(policy.within, policy.belief_limit)


def magnitude_verdict(
    release: ReleasedSums,
    limits: SumsGate | None = None,
    *,
    audit: ContributorsAudit | None = None,
    unsafe: Bools | None = None,
    more: tuple[Kind, ...] = (),
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
    limits = limits or release.gate or limits_of(HousePolicy())
    found = outsider_beliefs(release, limits.within / 100)
    near = found is not None and found > limits.belief_limit + ROUNDING
    worst = None if found is None else float(found.max(initial=0.0))
    if audit is not None and unsafe is not None and found is not None and not release.hidden.any():
        known = int((near & unsafe).sum())
        audit = replace(audit, items=len(release.key), within=known, known=known)
    return MagnitudeVerdict(
        limits,
        len(release.key),
        int(release.hidden.sum()),
        worst,
        int(np.sum(near)),
        kinds(_left_out(release), more, () if release.gate is None else release.gate.left_out),
        audit,
        release.gate is not None and release.gate.reason,
        int(numbers_known(release).sum()),
    )


def _left_out(release: ReleasedSums) -> tuple[Kind, ...]:
    """What a release leaves out whoever judges it."""
    if release.method == "suppression":
        # With the numbers of the rules the choice could be made again.
        return ("pattern_choice",) if release.hidden.any() else ()
    if release.method == "cell_key":
        # Each sum has noise of its own, and what sums say together was not weighed.
        return ("joint_noise", "contributors")
    # Only one of the copies that a weight stands for has noise.
    return ("contributors",) if release.weighted else ()


def outsider_beliefs(release: ReleasedSums, within: float) -> np.ndarray | None:
    """An outsider's belief about every cell, float64 (cells,); ``None`` where it is too much work."""
    out = np.zeros(len(release.key))
    if release.method == "suppression" and int(release.hidden.sum()) > MOST_HIDDEN:
        return None
    if release.method == "multiplicative_noise":
        law = MultiplierLaw.of(release.parameters)
        size = np.abs(release.value)
        out[size != 0] = law.belief(within)
        for value in np.unique(size[(size != 0) & (size * law.most < law.COARSE)]).tolist():
            out[size == value] = law.rounded_belief(value, within)
        return out
    # Late: a project names verdicts, and its first paint does not wait for what solves programmes.
    from tabprotect.engine.magnitudes.readers.beliefs import ContributorView, beliefs

    for one in beliefs(release, ContributorView(), within):
        out[one.cell] = one.belief
    return out
