"""Releases to choose from, side by side: what each would give out and at what risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.query_space_state import evidence_of, standard_of
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.optimal.best_release import (
    ReleaseProposal,
    SearchMethod,
    judged_proposal,
    optimal,
)
from tabprotect.engine.query_space.registered import utilities
from tabprotect.engine.randomness import Randomness
from tabprotect.languages.said import say

REBUILT_CELLS = 20_000
"""Cells up to which a table is rebuilt from its margins for comparison."""


VERDICTS = {
    "safe": say("may go out"),
    "bad": say("too risky"),
    "unknown": say("not proved wide enough"),
}


@dataclass(frozen=True)
class Compared:
    """One release to compare.

    Attributes
    ----------
    rebuilt
        The share of records that the release alone puts into the right cells; ``None`` for
        tables too large to rebuild.
    """

    plan: ReleaseProposal
    rebuilt: float | None

    @property
    def safe(self) -> bool:
        """Whether it is proved to reach the threshold."""
        return self.plan.judgement.verdict == "safe"

    @property
    def verdict(self) -> str:
        """In words; a search that was stopped says so."""
        word = VERDICTS[self.plan.judgement.verdict]
        return word if self.plan.complete else say("{word}, best so far", word)


def compare(
    project: Project, queries: Sequence[Query], progress: Progress, *, complete: bool = True
) -> Compared:
    """Judge a release by the project's criterion."""
    standard = standard_of(project.plan, evidence_of(project, progress))
    found = judged_proposal(standard, queries, complete=complete, progress=progress)
    return _rebuilt(project, found, progress)


def search(project: Project, method: SearchMethod, progress: Progress) -> Compared:
    """The best release a method finds at the project's criterion and threshold."""
    standard = standard_of(project.plan, evidence_of(project, progress))
    found = optimal(standard, method, randomness=Randomness.fresh(), progress=progress)
    return _rebuilt(project, found, progress)


def _rebuilt(project: Project, found: ReleaseProposal, progress: Progress) -> Compared:
    table = project.original
    if table.domain.size > REBUILT_CELLS:
        return Compared(found, None)
    share = utilities()["reconstruction"].value(table, found.released, progress)
    return Compared(found, share)
