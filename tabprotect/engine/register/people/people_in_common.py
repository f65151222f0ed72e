"""What earlier releases tell of one whose people may be counted in them, too. Confidential.

Nobody has to know whether they are: where a reader of all of them learns nothing beyond the limits if they
are, it makes no difference. Only where it does is the house asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.disclosure.counts_verdict import judged_table
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.people import People
from tabprotect.engine.register.people.parts_of_whole import Counted, Whole, may_be_part, shared_domain
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.verdict_figures import TableVerdict
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

FEW_CHANGES = 4
"""People who came or went, up to whom a reader believes that no others did."""


@dataclass(frozen=True, eq=False)
class InCommon:
    """What a reader of a release and of earlier ones learns of people who are counted in several.

    Attributes
    ----------
    read, unread
        The numbers of the earlier ones that were read with it, and of those that could not be.
    asked
        The numbers of those of which the house has to say whether the people are the same.
    tables
        The verdict on everything that follows.
    """

    read: tuple[int, ...] = ()
    unread: frozenset[int] = frozenset()
    asked: tuple[int, ...] = ()
    tables: tuple[TableVerdict, ...] = ()


@dataclass(frozen=True, eq=False)
class InCommonReading:
    """A release, and how earlier ones are read that may count its people.

    Attributes
    ----------
    original
        Of the release at hand.
    own
        The release.
    people
        What the house has said.
    limits
    """

    original: Table
    own: Evidence
    people: People
    limits: Gate
    progress: Progress = SILENT

    def of(self, others: Iterable[tuple[int, Evidence]]) -> InCommon:
        """Read earlier releases, by their numbers."""
        wholes: list[tuple[int, Counted]] = []
        parts: list[tuple[int, Counted]] = []
        read: set[int] = set()
        unread: set[int] = set()
        asked: set[int] = set()
        tables: list[TableVerdict] = []

        def judge(numbers: Sequence[int], group: Whole) -> None:
            if any((rest.counts < 0).any() for rest in group.rests()) or not group.may_be:
                # Nobody can be in both.
                return
            try:
                found = self._judged(group)
            except InputError:
                return
            except InfeasibleError:
                unread.update(numbers)
                asked.update(self._open(numbers))
                return
            read.update(numbers)
            tables.extend(found)
            if any(one.fails(self.limits) for one in found):
                asked.update(self._open(numbers))

        for number, other in others:
            answer = self.people.of(number)
            names = shared_domain(self.own.release.domain, other.release.domain).names
            if answer in ("other", "same") or not names:
                continue
            counted = Counted.of(other, names)
            part, whole = may_be_part(self.original.margin(names), counted)
            if answer in (None, "part"):
                wholes += [(number, counted)] * part
                parts += [(number, counted)] * whole
            if answer in ("corrected", "later") or not (part or whole):
                placed = self._placed(counted)
                if placed is not None:
                    read.add(number)
                    tables.append(placed)
                    asked.update(self._open([number]) if placed.known else [])
        for number, counted in wholes:
            judge([number], Whole(counted, (self._own(counted),)))
        for number, counted in parts:
            judge([number], Whole(self._own(counted), (counted,)))
        for group in _several(parts):
            numbers, each = zip(*group, strict=True)
            judge(numbers, Whole(self._own(each[0]), tuple(each)))
        for number, counted in wholes:
            for other_number, other_part in parts + wholes:
                if other_number != number and other_part.domain.names == counted.domain.names:
                    both = Whole(counted, (self._own(counted), other_part))
                    judge([number, other_number], both)
        return InCommon(tuple(sorted(read)), frozenset(unread), tuple(sorted(asked)), tuple(tables))

    def _open(self, numbers: Sequence[int]) -> list[int]:
        return [number for number in numbers if self.people.of(number) is None]

    def _own(self, other: Counted) -> Counted:
        return Counted.of(self.own, other.domain.names)

    def _judged(self, group: Whole) -> list[TableVerdict]:
        """The verdict on the parts, the rest and the whole, by the rules of all of them."""
        limits = replace(
            self.limits, at_risk=together_at_risk(self.limits, [one.evidence for one in group.members])
        )
        told = [judged_table("user", belief, limits) for belief in group.sums_of_rest()]
        if any(one.fails(limits) for one in told):
            # No posterior is needed to see it.
            return told
        return [*told, *(judged_table("user", belief, limits) for belief in group.beliefs(self.progress))]

    def _placed(self, earlier: Counted) -> TableVerdict | None:
        """The people who came or went and whose cells a reader knows, where no more did than have to."""
        now = self._own(earlier)
        if now.domain != earlier.domain:
            return None
        changes = []
        for margin in now.exact:
            before = next((m for m in earlier.exact if set(margin.domain.names) <= set(m.domain.names)), None)
            if before is not None:
                changes.append(
                    (margin.domain.names, margin.counts - before.margin(margin.domain.names).counts)
                )
        moved = [names for names, change in changes if change.any()]
        if not moved:
            return None
        most = max(int(np.abs(change).sum()) for _, change in changes)
        if most > FEW_CHANGES:
            return None
        places = _certain_changes(now.domain, changes)
        counts = np.abs(places)
        rows = np.zeros(len(counts), dtype=np.int64), counts, np.ones((1, 1))
        limits = replace(self.limits, at_risk=SmallCount(1, max(self.limits.at_risk.high, FEW_CHANGES)))
        return judged_table("user", TableBelief(now.domain, True, None, rows, "exact"), limits)


def together_at_risk(limits: Gate, evidence: Iterable[Evidence]) -> SmallCount:
    """The counts that are at risk by the rule of any of several releases."""
    stated = [one.release.mechanism.gate for one in evidence]
    rules = [limits.at_risk, *(gate.at_risk for gate in stated if gate is not None)]
    return SmallCount(min(rule.low for rule in rules), max(rule.high for rule in rules))


def _several(parts: Sequence[tuple[int, Counted]]) -> Iterable[list[tuple[int, Counted]]]:
    """Releases of parts of one whole of whom nobody need be in two, as many as there may be."""
    left = [one for one in parts if one[1].domain.names == parts[0][1].domain.names]
    for size in range(len(left), 1, -1):
        for some in combinations(left[:MOST_PARTS], size):
            yield list(some)


MOST_PARTS = 4
"""Parts of a whole that are tried together."""


def _certain_changes(domain: Domain, changes: Sequence[tuple[tuple[str, ...], Ints]]) -> Ints:
    """The change of each cell that is the same however the fewest people came and went; 0 elsewhere."""
    from scipy.optimize import LinearConstraint, milp

    size = domain.size
    cells = np.arange(size, dtype=np.int64)
    rows, ends = [], []
    for names, change in changes:
        key = domain.project_keys(cells, names)
        for place, value in enumerate(change.reshape(-1)):
            row = (key == place).astype(np.float64)
            rows.append(np.concatenate([row, -row]))
            ends.append(value)
    sums = LinearConstraint(np.array(rows), np.array(ends), np.array(ends))
    each, whole = np.ones(2 * size), np.ones(2 * size, dtype=np.int64)
    fewest = milp(each, constraints=[sums], integrality=whole)
    if fewest.x is None:
        return np.zeros(size, dtype=np.int64)
    found = np.rint(fewest.x[:size] - fewest.x[size:]).astype(np.int64)
    few = LinearConstraint(each[None], -np.inf, round(fewest.fun))
    for cell in np.flatnonzero(found):
        aim = np.zeros(2 * size)
        aim[[cell, size + cell]] = 1.0, -1.0
        for way in (1, -1):
            other = milp(way * aim, constraints=[sums, few], integrality=whole)
            if other.x is not None and round(way * other.fun) != found[cell]:
                found[cell] = 0
                break
    return found
