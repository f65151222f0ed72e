"""The released set in a query space too large to list: judged query by query. Confidential.

With forty variables, 2^40 queries cannot be examined after each release. A query is judged when it
is asked for, from the released cliques at the cells that are not zero; once refused it stays
refused, and so does all above it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion_evidence import Verdict
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.release_set import Consequence, ReleaseSet
from tabprotect.engine.ways_to_bound import BoundsWay
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class AskedReleaseSet(ReleaseSet):
    """:class:`ReleaseSet` with ``allowed`` empty; both refused frontiers hold what was asked."""

    _verdicts: dict[Query, Verdict] = field(default_factory=dict, compare=False)

    @staticmethod
    def _bounded_by(bounds: BoundsWay) -> BoundsWay:
        if bounds not in ("auto", "decomposable"):
            raise InputError(
                message("bounds by {bounds} need every cell, and there are too many", bounds),
                hint=message("take decomposable bounds"),
            )
        return "decomposable"

    def refuse(self, query: Query) -> ReleaseSet:
        if query in self.unreleasable or query in self.released:
            return self
        asked = np.array([query], dtype=np.int64)
        bad = self.criterion.screen(self.evidence, self.released.members, asked, self.threshold).bad
        proved = self.proved.add(query) if bad[0] else self.proved
        return replace(self, unreleasable=self.unreleasable.add(query), proved=proved)

    def allows(self, query: Query) -> bool:
        if query in self.released:
            return True
        if query in self.unreleasable or self.judgement.verdict != "safe":
            return False
        return self._verdict(query) == "safe"

    def status(self, query: Query) -> str:
        if query in self.released:
            return "released"
        if self.allows(query):
            return "candidate"
        bad = query in self.proved or self._verdict(query) == "bad"
        return "unreleasable" if bad else "unknown"

    def preview(self, query: Query, progress: Progress = SILENT) -> Consequence:
        """Refuse: what a release makes impossible is among too many queries to look at.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            message("what becomes impossible cannot be listed: there are too many tables"),
            hint=message("take a rule that does not ask for it"),
        )

    @property
    def refused(self) -> int:
        """Number of refused sub-tables, those above them not counted."""
        return len(self.unreleasable)

    @property
    def undecided(self) -> int:
        """Number of these that are refused only because nothing is proved."""
        return sum(query not in self.proved for query in self.unreleasable)

    def _verdict(self, query: Query) -> Verdict:
        found = self._verdicts.get(query)
        if found is None:
            found = self._verdicts[query] = self.standard.judge(
                self.released.add(query).members, decide_only=True
            ).verdict
        return found

    def _outside(self, unreleasable: Frontier) -> Ints:
        return np.zeros(0, dtype=np.int64)

    def _examined(self, progress: Progress) -> ReleaseSet:
        fresh = replace(self, _verdicts={})
        if self.judgement.verdict == "safe":
            return fresh
        everything = Frontier(self.evidence.lattice, (0,), upward=True)
        proved = everything if self.judgement.verdict == "bad" else self.proved
        return replace(fresh, unreleasable=everything, proved=proved)
