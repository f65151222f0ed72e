"""The released set with both frontiers, kept up to date as releases happen. Confidential.

There are three regions: released; allowed (proved safe to release next, on its own); refused. The
refused region only grows and the allowed one only shrinks, so each release re-examines no more than
what was allowed before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.equal_rows import place_among
from tabprotect.engine.errors import InfeasibleError, ParameterError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import RiskCriterion, Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence, RiskJudgement, TightCell
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Lattice, Query, in_order
from tabprotect.engine.ways_to_bound import BoundsWay
from tabprotect.languages.messages import joined, message

PARTIALS = 16
"""Most partial results of one look at every query."""


@dataclass(frozen=True)
class Consequence:
    """Consequences of releasing one query, before it happens.

    Attributes
    ----------
    judgement
        Judgement of the released set with the query added.
    newly_released
        Number of sub-tables that become released.
    newly_unreleasable
        Frontier of what could be released before and cannot after.
    lost
        Number of sub-tables in that region.
    """

    query: Query
    judgement: RiskJudgement
    newly_released: int
    newly_unreleasable: Frontier
    lost: int


@dataclass(frozen=True)
class ReleaseSet:
    """Released margins of one table, and what may follow. Build with :meth:`begin`.

    Attributes
    ----------
    standard
        What every release of the table is held to.
    released
        The released frontier.
    judgement
        Judgement of what is released.
    allowed : int64, sorted
        Every query whose release is proved safe now, the released ones included.
    unreleasable
        The minimal refused queries.
    proved
        The minimal queries that are proved bad; other refused queries are undecided.
    """

    standard: Standard
    released: Frontier
    judgement: RiskJudgement
    allowed: Ints
    unreleasable: Frontier
    proved: Frontier

    @classmethod
    def begin(
        cls, standard: Standard, *, released: Iterable[Query] = (), progress: Progress = SILENT
    ) -> ReleaseSet:
        """The state of a table with some margins released (only the total if none are given).

        Raises
        ------
        ParameterError
            If the threshold is negative.
        Interrupted
            If cancelled.
        """
        if standard.threshold < 0:
            raise ParameterError(
                {"beta": message("must be a whole number from 0 up, is {threshold}", standard.threshold)}
            )
        standard = replace(standard, bounds=cls._bounded_by(standard.bounds))
        lattice = standard.evidence.lattice
        frontier = Frontier.below(lattice, (0, *released))
        judgement = standard.judge(frontier.members, progress=progress)
        nothing = Frontier(lattice, (), upward=True)
        none: Ints = np.zeros(0, dtype=np.int64)
        start = cls(standard, frontier, judgement, none, nothing, nothing)
        return replace(start, allowed=start._outside(nothing))._examined(progress)

    @property
    def evidence(self) -> Evidence:
        """The table with the figures of all its margins."""
        return self.standard.evidence

    @property
    def criterion(self) -> RiskCriterion:
        """Return what judges a release."""
        return self.standard.criterion

    @property
    def threshold(self) -> int:
        """Return what the criterion's figure must reach."""
        return self.standard.threshold

    @property
    def bounds(self) -> BoundsWay:
        """Return how cells are bounded."""
        return self.standard.bounds

    def release(self, query: Query, progress: Progress = SILENT) -> ReleaseSet:
        """The state after one more release; the caller has decided that it may happen."""
        frontier = self.released.add(query)
        if frontier is self.released:
            return self
        # An allowed query was proved safe, perhaps as part of something larger: in a large table it
        # can take seconds to prove it again by itself.
        proved = self.allows(query)
        cheap = proved and not self.criterion.decides(self.evidence, self.bounds)
        standard = self.standard
        if cheap and self.bounds == "auto":
            standard = replace(standard, bounds="decomposable")
        judgement = standard.judge(frontier.members, decide_only=True, progress=progress)
        if proved and judgement.verdict == "unknown":
            judgement = replace(judgement, verdict="safe", tight=())
        return replace(self, released=frontier, judgement=judgement)._examined(progress)

    def release_all(self, queries: Sequence[Query], progress: Progress = SILENT) -> ReleaseSet:
        """The state after several more releases: as after one release at a time, but with one look.

        If only screening decides, they are released one at a time, since what was proved bad on the
        way stays so.
        """
        if self.criterion.decides(self.evidence, self.bounds) and len(queries) > 1:
            frontier = self.released.add(*queries)
            judgement = self.standard.judge(frontier.members, decide_only=True, progress=progress)
            if judgement.verdict != "unknown":
                return replace(self, released=frontier, judgement=judgement)._examined(progress)
        state = self
        for query in queries:
            state = state.release(query, progress)
        return state

    def resumed(
        self, released: Frontier, unreleasable: Frontier, proved: Frontier, progress: Progress = SILENT
    ) -> ReleaseSet:
        """The state that had these frontiers, under the same evidence and threshold."""
        judgement = self.standard.judge(released.members, decide_only=True, progress=progress)
        return replace(
            self,
            released=released,
            judgement=judgement,
            allowed=self._outside(unreleasable),
            unreleasable=unreleasable,
            proved=proved,
        )

    def refuse(self, query: Query) -> ReleaseSet:
        """The state after somebody has been told that a query is refused for good."""
        return self

    def allows(self, query: Query) -> bool:
        """Return True if the query is released or proved safe to release next."""
        at = int(np.searchsorted(self.allowed, query))
        return at < len(self.allowed) and int(self.allowed[at]) == query

    def status(self, query: Query) -> str:
        """``released``, ``candidate``, ``unreleasable`` or ``unknown``."""
        if query in self.released:
            return "released"
        if self.allows(query):
            return "candidate"
        return "unreleasable" if query in self.proved else "unknown"

    def judge(self, query: Query, progress: Progress = SILENT) -> RiskJudgement:
        """Judge the released set with one query added, with its tight cells, at once."""
        return self.standard.judge(self.released.add(query).members, quick=True, progress=progress)

    def preview(self, query: Query, progress: Progress = SILENT) -> Consequence:
        """The consequences of releasing a query, whether or not that is allowed."""
        after = self.release(query, progress)
        gone = np.setdiff1d(self.allowed, after.allowed, assume_unique=True)
        return Consequence(
            query,
            after.judgement,
            after.released.size - self.released.size,
            Frontier(self.evidence.lattice, tuple(in_order(_minimal_in(gone))), upward=True),
            len(gone),
        )

    @cached_property
    def refused(self) -> int:
        """Number of refused sub-tables, proved bad or undecided."""
        return self.evidence.lattice.size - len(self.allowed)

    @cached_property
    def undecided(self) -> int:
        """Number of sub-tables refused only because nothing is proved."""
        return self.refused - self.proved.size

    def require_some_one_way(self) -> None:
        """Raise if the threshold forbids every one-way table by itself.

        Raises
        ------
        InfeasibleError
            With the names of the cells.
        """
        tight: dict[str, TightCell] = {}
        # The coarsest levels are the safest.
        lattice = self.evidence.lattice
        for v in (v for v, above in enumerate(lattice.coarser) if not above):
            alone = self.criterion.judge(self.evidence, (1 << v,), self.threshold)
            if alone.verdict == "safe":
                return
            tight |= {cell.text: cell for cell in alone.tight[:3]}
        raise InfeasibleError(
            message(
                "the threshold {threshold} forbids even the one-way tables: they leave too tight {tight}",
                self.threshold,
                ", ".join(list(tight)[:5]),
            ),
            hint=message("lower the threshold or merge rare categories"),
            detail=joined(
                (message("{text}: {lower}..{upper}", c.text, c.lower, c.upper) for c in tight.values()), "\n"
            ),
        )

    @staticmethod
    def _bounded_by(bounds: BoundsWay) -> BoundsWay:
        """The way actually taken for the requested one."""
        return bounds

    def _outside(self, unreleasable: Frontier) -> Ints:
        """The allowed queries if nothing but these is refused."""
        every = self.evidence.lattice.every
        return every[~unreleasable.covers(every)]

    def _examined(self, progress: Progress) -> ReleaseSet:
        """Both regions brought up to date with ``released`` and ``judgement``."""
        lattice = self.evidence.lattice
        if self.judgement.verdict != "safe":
            # A larger release is never safer: nothing is allowed any more.
            everything = Frontier(lattice, (0,), upward=True)
            proved = everything if self.judgement.verdict == "bad" else self.proved
            return replace(self, allowed=self.allowed[:0], unreleasable=everything, proved=proved)
        progress.report("frontiers", 0.0)
        asked = self.allowed[~self.released.covers(self.allowed)]
        found = self.criterion.screen(self.evidence, self.released.members, asked, self.threshold)
        progress.report("frontiers", 0.0)
        safe, bad = _closed(asked, found.safe, found.bad)
        progress.report("frontiers", 0.0)
        return self._parted(asked, *self._decided(asked, safe, bad, progress))

    def _parted(self, asked: Ints, safe: Bools, bad: Bools) -> ReleaseSet:
        """Both regions, from what is proved about each query that was asked about (n,)."""
        lattice = self.evidence.lattice
        inside = self.released.covers(self.allowed)
        allowed = np.sort(np.concatenate([self.allowed[inside], asked[safe]]))
        return replace(
            self,
            allowed=allowed,
            unreleasable=Frontier(lattice, tuple(in_order(_minimal_outside(lattice, allowed))), upward=True),
            proved=self.proved.add(*_minimal_in(asked[bad])),
        )

    def _decided(self, asked: Ints, safe: Bools, bad: Bools, progress: Progress) -> tuple[Bools, Bools]:
        """Decide what screening left open, one by one; each verdict settles its neighbours.

        The partial result of a report is what is proved so far, by screening first.
        """
        if not self.criterion.decides(self.evidence, self.bounds):
            return safe, bad
        size = np.bitwise_count(asked)
        waiting = ~(safe | bad)
        total = reported = int(waiting.sum())
        while waiting.any():
            left = np.flatnonzero(waiting)
            # Not every single one needs a report.
            due = len(left) == total or reported - len(left) >= total / PARTIALS
            so_far = self._parted(asked, safe, bad) if due else None
            reported = len(left) if due else reported
            progress.report("frontiers", 1 - len(left) / total, so_far)
            # The largest: most stay safe after one more release, and settle all below them.
            at = left[size[left].argmax()]
            query = int(asked[at])
            verdict = self.standard.judge(
                self.released.add(query).members, decide_only=True, progress=progress
            ).verdict
            waiting[at] = False
            if verdict == "safe":
                below = (asked & query) == asked
                safe |= below
                waiting &= ~below
            elif verdict == "bad":
                above = (asked & query) == query
                bad |= above
                waiting &= ~above
        return safe, bad


def _closed(asked: Ints, safe: Bools, bad: Bools) -> tuple[Bools, Bools]:
    """Close the masks: what is below a safe query is safe, what is above a bad one is bad."""
    safe, bad = safe.copy(), bad.copy()
    if not len(asked):
        return safe, bad
    size = np.bitwise_count(asked)
    every = np.int64(asked.max()).item().bit_length()
    for marks, sizes, add in (
        (safe, range(int(size.max()), 0, -1), False),
        (bad, range(int(size.max())), True),
    ):
        for dimension in sizes:
            here = asked[marks & (size == dimension)]
            for v in range(every):
                other = here | 1 << v if add else here & ~(1 << v)
                at = place_among(asked, other)
                marks[at[at >= 0]] = True
    return safe, bad


def _minimal_in(closed: Ints) -> list[Query]:
    """The minimal members of a sorted set that holds everything between any two of its members."""
    if not len(closed):
        return []
    fit = np.ones(len(closed), dtype=np.bool_)
    for v in range(int(closed.max()).bit_length()):
        has = (closed >> v) & 1 == 1
        fit[has] &= place_among(closed, closed[has] & ~(1 << v)) < 0
    return [int(query) for query in closed[fit]]


def _minimal_outside(lattice: Lattice, allowed: Ints) -> list[Query]:
    """The minimal queries outside a downward closed, sorted set (n,)."""
    if not len(allowed):
        return [0]
    out: list[Query] = []
    for v, coarser in enumerate(lattice.coarser):
        # Each is reached once: by adding its highest bit, which no other bit implies.
        larger = allowed[(allowed < 1 << v) & (allowed & coarser == coarser)] | 1 << v
        larger = larger[place_among(allowed, larger) < 0]
        for u in range(v):
            above = [w for w in range(u + 1, v + 1) if lattice.coarser[w] >> u & 1]
            has = (larger >> u) & 1 == 1
            for w in above:
                # Without a level that a finer one implies it is not a query.
                has &= (larger >> w) & 1 == 0
            fit = ~has
            fit[has] = place_among(allowed, larger[has] & ~(1 << u)) >= 0
            larger = larger[fit]
        out.extend(larger.tolist())
    return out
