"""The verdict on several releases that count some of the same people. Confidential."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.disclosure.counts_verdict import judged_table
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.register.people.parts_of_whole import Counted, together_at_risk
from tabprotect.engine.register.people.stated_margins import told_by_others
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.verdict_figures import TableVerdict
from tabprotect.engine.tables.domain import Domain


class SeveralReleases(Protocol):
    """Releases that count some of the same people, in one way."""

    @property
    def members(self) -> tuple[Counted, ...]:
        """All of them."""

    def sums_of_rest(self) -> list[TableBelief]:
        """What is believed of sums that all of them together state."""

    @property
    def shared(self) -> Domain:
        """The variables of all of them."""

    def place_of(self, at: int) -> tuple[int, Ints]:
        """Which of the beliefs is about a member, and the place of each shared cell there."""

    def beliefs(self, progress: Progress = SILENT) -> list[TableBelief]:
        """What is believed of the cells of all of them."""


def judged_whole(group: SeveralReleases, limits: Gate, progress: Progress = SILENT) -> list[TableVerdict]:
    """The verdict on the parts, the rest and the whole, by the rules of all of them.

    Raises
    ------
    InfeasibleError
        Where there is no posterior.
    InputError
        Where no people fit.
    """
    rules = together_at_risk(limits, [one.evidence for one in group.members])
    limits = replace(limits, at_risk=rules)
    told = [judged_table("user", belief, limits) for belief in group.sums_of_rest()]
    if any(one.fails(limits) for one in told):
        # No posterior is needed to see it.
        return told
    beliefs = group.beliefs(progress)
    told += [
        judged_table("user", one, limits) for belief in beliefs for one in people_apart(belief, group.shared)
    ]
    if any(one.fails(limits) for one in told):
        return told
    return [*told, *_of_finer(group, beliefs, limits, progress)]


def people_apart(belief: TableBelief, shared: Domain) -> list[TableBelief]:
    """A belief about several groups of people, each judged by itself: who is well hidden hides nobody else."""
    kinds = belief.domain.size // shared.size
    if not belief.inner or kinds < 2:
        return [belief]
    group = np.arange(belief.domain.size) % kinds
    return [replace(belief, judged=group == kind) for kind in range(kinds)]


def _of_finer(
    group: SeveralReleases, beliefs: Sequence[TableBelief], limits: Gate, progress: Progress
) -> Iterable[TableVerdict]:
    """The verdict on the tables of those who have more variables than all of them share."""
    for at, one in enumerate(group.members):
        if one.factors.domain.names == one.evidence.likelihood.domain.names or not len(one.factors.logs):
            continue
        of, rows = group.place_of(at)
        beside = told_by_others(one.evidence, one.factors, beliefs[of], rows[one.placed(group.shared)])
        if beside is not None:
            yield from verdict(one.evidence, limits, [beside], progress=progress).tables
