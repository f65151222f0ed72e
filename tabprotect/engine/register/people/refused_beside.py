"""What it tells that other settings were refused beside earlier releases. Confidential.

A reader of all takes some people for possible. What was refused is drawn again for these, and judged beside the
same releases: by as much as those for whom it is refused differ from all, every belief is moved. Sums that all
releases together state are the same for everybody who is possible: no refusal moves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.belief.evidence import Evidence, OfRelease
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.disclosure.counts_verdict import judged_table
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.register.people.judged_people import judged_whole, people_apart
from tabprotect.engine.register.people.parts_of_whole import Counted, together_at_risk
from tabprotect.engine.register.people.possible_wholes import Group
from tabprotect.engine.release.mechanism import Gate, Mechanism
from tabprotect.engine.tables.table import Table

LOOKS = (24, 48, 96)
"""People whom a reader takes for possible, for whom what was refused is drawn again: more where the first
leave too much in doubt."""

DOUBT = 0.05
"""The largest standard error of a belief by which is judged."""


@dataclass(frozen=True, eq=False)
class RefusedBeside:
    """Mechanisms that were refused beside earlier releases, before a release that is read with these.

    Attributes
    ----------
    original
        Of the release at hand.
    own
        The release.
    refused
        ``None`` for one that is not known.
    limits
    """

    original: Table
    own: Evidence
    refused: tuple[Mechanism | None, ...]
    limits: Gate
    progress: Progress

    def tells_little(self, read: Sequence[Group]) -> bool:
        """Return True if no belief is brought beyond the limits.

        Asked of who has the most of them: what was refused, was so for what all of them tell.

        Parameters
        ----------
        read
            The wholes and parts that are within the limits.

        Raises
        ------
        InfeasibleError
            Where there is no posterior.
        """
        most = max((len(group.members) for group in read), default=0)
        every = [group for group in read if len(group.members) == most]
        return bool(every) and all(self._stays_within(group) for group in every)

    def _stays_within(self, group: Group) -> bool:
        found = self.known(group)
        if found is None:
            return False
        beliefs, error = found
        rules = together_at_risk(self.limits, [one.evidence for one in group.members])
        # A belief that may be beyond the limit within its error counts as beyond it.
        limit = self.limits.belief_limit
        limit -= 2 * error * (limit * (1 - limit)) ** 0.5
        limits = replace(self.limits, at_risk=rules, belief_limit=limit)
        apart = (one for belief in beliefs for one in people_apart(belief, group.shared))
        return not any(judged_table("user", one, limits).fails(limits) for one in apart)

    def known(self, group: Group) -> tuple[list[TableBelief], float] | None:
        """What a reader who knows of the refusals believes of small counts, and the standard error of an
        even chance; ``None`` where too little is known of them, or too few would be refused."""
        known = [one for one in self.refused if one is not None]
        at = next(
            place for place, one in enumerate(group.members) if one.evidence.release is self.own.release
        )
        own = group.members[at]
        if own.domain != self.original.domain or len(known) < len(self.refused):
            return None
        chance = OfRelease(self.own.release, "what was refused beside others").generator()
        people = group.drawn(LOOKS[-1], self.progress)
        again: list[bool] = []
        for look in LOOKS:
            mine = people[at][len(again) : look, own.placed(group.shared)]
            again += [all(self._again(one, table, (group, at), chance) for one in known) for table in mine]
            refused = np.array(again)
            # That none is let out among so many is no proof: one more, which is, moves nothing.
            spread = 1 / max(refused.sum(), 1) - 1 / (len(refused) + 1)
            error = 0.5 * float(spread) ** 0.5
            if error <= DOUBT:
                tables = group.grouped([one[: len(refused)] for one in people])
                rules = together_at_risk(self.limits, [one.evidence for one in group.members])
                values = range(rules.low, rules.high + 1)
                beliefs = zip(group.beliefs(self.progress), tables, strict=True)
                return [_moved(one, table, refused, values) for one, table in beliefs], error
            if error > 2 * DOUBT:
                # Four times as many would be too few.
                break
        return None

    def _again(
        self, mechanism: Mechanism, people: Ints, place: tuple[Group, int], chance: np.random.Generator
    ) -> bool:
        """Return True if a draw of a mechanism is refused beside the others of a whole and its parts."""
        group, at = place
        table = Table.dense(self.original.domain, people.reshape(self.original.domain.shape))
        method, problem = methods()[mechanism.method], Problem(table, self.limits.at_risk)
        values = method.resolve_for(problem, dict(mechanism.parameters))
        release, _ = method.perform(problem, values, chance, self.progress)
        members = list(group.members)
        members[at] = Counted.of(Evidence(release), members[at].domain.names)
        again = group.of_others(members)
        return any(one.fails(self.limits) for one in judged_whole(again, self.limits, self.progress))


def _moved(belief: TableBelief, tables: Ints, refused: Bools, values: range) -> TableBelief:
    """A belief of small counts, moved by as much as draws of its cells that are refused differ from all."""
    cells = np.arange(tables.shape[1])
    chances = [
        belief.probability(value, cells)
        + (tables[refused] == value).mean(axis=0)
        - (tables == value).mean(axis=0)
        for value in values
    ]
    rows = cells, np.full(len(cells), values.start), np.clip(np.stack(chances, axis=1), 0.0, 1.0)
    return replace(belief, rows=rows, source=None)
