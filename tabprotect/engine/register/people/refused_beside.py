"""What it tells that other settings were refused beside earlier releases. Confidential.

A reader of all takes some people for possible. What was refused is drawn again for these, and judged beside the
same releases: the share that is refused bounds what every belief can become (``posterior.widening``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence, OfRelease
from tabprotect.engine.disclosure.refusals import at_least
from tabprotect.engine.disclosure.widened import cells_may_fail
from tabprotect.engine.posterior.widening import Widening
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.register.people.parts_of_whole import Counted, judged_whole, together_at_risk
from tabprotect.engine.register.people.possible_wholes import Group
from tabprotect.engine.release.mechanism import Gate, Mechanism
from tabprotect.engine.tables.table import Table

TRIED = 16
"""People whom a reader takes for possible, for whom what was refused is drawn again."""


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
        """Return True if no belief can be brought beyond the limits.

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
        for group in every:
            widening = self._widening(group)
            rules = together_at_risk(self.limits, [one.evidence for one in group.members])
            limits = replace(self.limits, at_risk=rules)
            beliefs = [*group.sums_of_rest(), *group.beliefs(self.progress)]
            if widening is None or any(cells_may_fail(one, widening, limits) for one in beliefs):
                return False
        return bool(every)

    def _widening(self, group: Group) -> Widening | None:
        """What is known of the chance that all of it is refused; ``None`` for nothing."""
        known = [one for one in self.refused if one is not None]
        at = next(
            place for place, one in enumerate(group.members) if one.evidence.release is self.own.release
        )
        own = group.members[at]
        if own.domain != self.original.domain or len(known) < len(self.refused):
            return None
        drawn = group.drawn(TRIED, self.progress)[at][:, own.placed(group.shared)]
        chance = OfRelease(self.own.release, "what was refused beside others").generator()
        hits = sum(all(self._again(one, people, (group, at), chance) for one in known) for people in drawn)
        return Widening(0.0, at_least(TRIED, hits))

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
