"""All that has left, read together: what a reader of every release would know. Confidential.

Releases of the same people are read together where they are of one table, or of coarser and finer tables of
its records, each draw once. Releases of which one may count a part of the people of another are read as a whole
and its parts, unless the house has said that they are others. What cannot be read is told by its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tabprotect.engine.agency import made_register
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.progress import SILENT, PartialProgress, Progress
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.problem import StaffVerdict
from tabprotect.engine.register.people.reading_together import Counted, LookedUp
from tabprotect.engine.register.register_chain import Damage, lost, missing_lines
from tabprotect.engine.register.register_entry import (
    PEOPLE,
    Earlier,
    OriginalMarks,
    RegisterEntry,
    numbers_said,
)
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import joined, message, plural

if TYPE_CHECKING:
    from tabprotect.engine.belief.evidence import Evidence
    from tabprotect.engine.register.people.possible_wholes import Group
    from tabprotect.engine.release.mechanism import Gate


@dataclass(frozen=True)
class ReadTogether(Encodable):
    """Releases that are read together.

    Attributes
    ----------
    numbers
        Of the releases, in order.
    variables
        Of the finest of their tables; none where they could not be read.
    verdict
        What a reader of all of them learns; ``None`` where that is not worked out.
    beside
        Numbers of further releases of the same people, which are not read with these.
    what
        ``draws`` of one table, or ``parts`` of a whole, if the people of the one are among those of the other.
    """

    numbers: tuple[int, ...]
    variables: tuple[str, ...] = ()
    verdict: StaffVerdict | None = None
    beside: tuple[int, ...] = ()
    what: Literal["draws", "parts"] = "draws"
    json_keys = "what numbers variables at_risk known certain verdict beside"

    @property
    def at_risk(self) -> float | None:
        """Expected number of small counts in their tables."""
        return None if self.verdict is None else self.verdict.at_risk

    @property
    def known(self) -> int | None:
        """Number of them that are known."""
        return None if self.verdict is None else self.verdict.known

    @property
    def certain(self) -> int | None:
        """Number of them that are certain."""
        return None if self.verdict is None else self.verdict.certain

    @property
    def said(self) -> str:
        """What a reader of them would know, and what was not read with them."""
        known = (
            message("what they tell was not worked out") if self.verdict is None else self.verdict.sentence
        )
        if self.what == "parts":
            return message("If they are parts of one another: {said}", known)
        if not self.beside:
            return known
        beside = joined(map(str, self.beside), ", ")
        return f"{known} " + message("Not read with them: no. {beside}, of the same people.", beside)

    @property
    def line(self) -> str:
        """The same on one line."""
        names = " x ".join(self.variables)
        return message("No. {numbers}  {variables}  {said}", numbers_said(self.numbers), names, self.said)


@dataclass(frozen=True)
class AllRead(Encodable):
    """All that a register holds, read together.

    Attributes
    ----------
    releases
        How many have left.
    groups
        Those that are read together, in the order of their first numbers.
    damaged
        What is not as it was entered.
    parts
        Those whose people may be a whole and parts of it, with what follows if they are.
    """

    releases: int = 0
    groups: tuple[ReadTogether, ...] = ()
    damaged: tuple[Damage, ...] = ()
    parts: tuple[ReadTogether, ...] = ()
    json_keys = "confidential releases at_risk known certain groups parts damaged lost"

    confidential = True

    @property
    def lost(self) -> bool:
        """Return True if more may have left."""
        return lost(self.damaged)

    @property
    def at_risk(self) -> float:
        """Expected number of small counts in all tables."""
        return sum(one.at_risk or 0.0 for one in self.groups)

    @property
    def known(self) -> int:
        """Number of small counts that a reader of everything knows."""
        return sum(one.known or 0 for one in self.groups)

    @property
    def certain(self) -> int:
        """Number of small counts that are certain."""
        return sum(one.certain or 0 for one in self.groups)

    @property
    def lines(self) -> tuple[str, ...]:
        """What is read together, one line each."""
        return (*(one.line for one in self.groups), *(one.line for one in self.parts))

    @property
    def sentence(self) -> str:
        """What a reader of everything knows."""
        if not self.groups:
            return (
                message("What has left is not known.")
                if self.lost
                else message("Nothing has left this house yet.")
            )
        said = plural(
            self.releases,
            "A reader of the one release knows {known:,} of about {at_risk:,.0f} small counts, {certain:,} for certain.",
            "A reader of all {releases:,} releases knows {known:,} of about {at_risk:,.0f} small counts, {certain:,} for certain.",
            self.releases,
            self.known,
            self.at_risk,
            self.certain,
        )
        telling = [one for one in self.parts if one.known]
        if not telling:
            return said
        more = message(
            "If no. {numbers} count some of the same people, more is known.",
            joined(map(str, sorted({n for one in telling for n in one.numbers})), ", "),
        )
        return f"{said} {more}"


def read_all(register: str | None = None, *, number: int = 0, progress: Progress = SILENT) -> AllRead:
    """Read all that has left, by people and variables.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.
    number
        Of a release, to read those of its people alone.

    Raises
    ------
    InputError, ParameterError
        If the register cannot be read, or belongs to another key.
    Interrupted
        If cancelled.
    """
    if (place := made_register(register)) is None:
        return AllRead(damaged=missing_lines(register))
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        found = opened.contents()
    looked_up = LookedUp(place)
    wanted = [
        people
        for people in _by_people(found.entries)
        if not number or number in [one.number for one in people]
    ]
    groups: list[ReadTogether] = []
    for at, people in enumerate(wanted):
        groups += _read(people, looked_up, PartialProgress(progress, at, len(wanted)))
    groups.sort(key=lambda one: one.numbers)
    parts = _parts(found.entries, number, looked_up, progress)
    return AllRead(len(found.entries), tuple(groups), found.damaged, tuple(parts))


def _by_people(entries: Sequence[RegisterEntry]) -> list[list[RegisterEntry]]:
    """The entries of the same people, by any mark of records that they have in common."""
    groups: dict[int, list[RegisterEntry]] = {}
    of_mark: dict[str, int] = {}
    for entry in entries:
        marks = _of_people(entry.publication.marks)
        joining = sorted({of_mark[mark] for mark in marks if mark in of_mark})
        own = joining[0] if joining else entry.number
        groups.setdefault(own, []).append(entry)
        of_mark.update((mark, own) for mark in marks)
        for other in joining[1:]:
            groups[own] += groups.pop(other)
            of_mark = {mark: own if group == other else group for mark, group in of_mark.items()}
    return [sorted(group, key=lambda one: one.number) for group in groups.values()]


def _of_people(marks: OriginalMarks) -> set[str]:
    return {mark for mark in (marks.original, marks.unlabelled, *marks.records) if mark}


def _read(people: Sequence[RegisterEntry], looked_up: LookedUp, progress: Progress) -> list[ReadTogether]:
    """The releases of some people, those together that can be read so."""
    # Late: a posterior imports the solvers.
    from tabprotect.engine.belief.counts_among import counts_among

    opened = list(looked_up.releases([Earlier(entry, "original") for entry in people], progress))
    counted: Counted = []
    for one, release in opened:
        with suppress(InfeasibleError, InputError):
            if (counts := counts_among(release)) is not None:
                counted.append((one, counts))
    groups: list[Counted] = []
    for one, evidence in sorted(counted, key=lambda pair: -pair[1].release.domain.size):
        fitting = (group for group in groups if _holds(group[0], (one, evidence)))
        if (group := next(fitting, None)) is None:
            groups.append([(one, evidence)])
        else:
            group.append((one, evidence))
    every = {entry.number for entry in people}
    found = [_together(group, every, progress) for group in groups]
    read = {number for one in found for number in one.numbers}
    alone = [(one.entry.number, release) for one, release in opened if one.entry.number not in read]
    found += [_alone(number, release, every - {number}, progress) for number, release in alone]
    left = every - read - {number for number, _ in alone}
    return found + [
        ReadTogether((number,), beside=tuple(sorted(every - {number}))) for number in sorted(left)
    ]


def _parts(
    entries: Sequence[RegisterEntry], number: int, looked_up: LookedUp, progress: Progress
) -> list[ReadTogether]:
    """Releases whose people may be a whole and parts of it: what follows if they are."""
    from tabprotect.engine.belief.evidence import Evidence
    from tabprotect.engine.register.people.people_in_common import MOST_JUDGED, MOST_LOOKED_AT
    from tabprotect.engine.register.register_rows import MOST_ALIKE

    latest = entries[-MOST_ALIKE:]
    shared = [one for one in latest if any(_may_share(one, other) for other in latest if other is not one)]
    opened = looked_up.releases([Earlier(entry, "variables") for entry in shared], progress)
    counted: Counted = []
    for one, release in opened:
        with suppress(InfeasibleError, InputError):
            if release.counted:
                counted.append((one, Evidence(release)))
    found, tries = list[ReadTogether](), MOST_JUDGED
    groups = _wholes(counted)
    for numbers, group, limits in groups[:MOST_LOOKED_AT]:
        if (number and number not in numbers) or not group.can_be:
            continue
        judged = None if tries <= 0 else _judged_parts(group, limits, progress)
        tries -= 1
        found.append(ReadTogether(numbers, group.shared.names, judged, what="parts"))
    left = {one for numbers, _, _ in groups[MOST_LOOKED_AT:] for one in numbers}
    left |= {one.number for one in entries[:-MOST_ALIKE]}
    return [*found, *([ReadTogether(tuple(sorted(left)), what="parts")] if left else [])]


def _may_share(one: RegisterEntry, other: RegisterEntry) -> bool:
    """Return True if one of two releases may count a part of the people of the other."""
    later, earlier = (one, other) if one.number > other.number else (other, one)
    mine, theirs = later.publication.marks, earlier.publication.marks
    if _of_people(mine) & _of_people(theirs) or not mine.shares_names(theirs):
        return False
    said = People.parse(str(later.publication.gate.get(PEOPLE, "")))
    return said.of(earlier.number) not in ("other", "same")


def _wholes(counted: Counted) -> list[tuple[tuple[int, ...], Group, Gate]]:
    """Wholes and parts that may tell something, the fewest releases and the smallest rest first."""
    from tabprotect.engine.register.people.parts_of_whole import Counted as Summed
    from tabprotect.engine.register.people.parts_of_whole import shared_domain
    from tabprotect.engine.register.people.possible_wholes import PossibleWholes
    from tabprotect.engine.register.people.unions import Unions

    found: dict[tuple[tuple[int, ...], int], tuple[int, Group, Gate]] = {}
    for one, own in counted:
        limits = own.release.mechanism.gate
        if limits is None or not limits.counts:
            limits = AgencyPolicy().of_release(own.release)
        alike: dict[tuple[str, ...], list[tuple[int, Summed]]] = {}
        for other, evidence in counted:
            names = shared_domain(own.release.domain, evidence.release.domain).names
            if other is not one and names and _may_share(one.entry, other.entry):
                with suppress(InfeasibleError, InputError):
                    alike.setdefault(names, []).append((other.entry.number, Summed.of(evidence, names)))
        for names, parts in alike.items():
            with suppress(InfeasibleError, InputError):
                own_sums = Summed.of(own, names)
                for left, numbers, group in PossibleWholes(own_sums, [], parts, limits.at_risk.high).groups():
                    key = (one.entry.number, *numbers)
                    if isinstance(group, Unions) and one.entry.number < max(numbers):
                        # Of the latest, once.
                        continue
                    found.setdefault((tuple(sorted(key)), one.entry.number), (left, group, limits))
    ordered = sorted(found.items(), key=lambda one: (len(one[0][0]), one[1][0], one[0]))
    return [(numbers, group, limits) for (numbers, _), (_, group, limits) in ordered]


def _judged_parts(group: Group, limits: Gate, progress: Progress) -> StaffVerdict | None:
    from tabprotect.engine.register.people.judged_people import judged_whole

    with suppress(InputError, InfeasibleError, ParameterError):
        ways = (judged_whole(each, limits, progress) for each in (group, *group.without_rest))
        # Somebody is left over or nobody: of the two ways the one that tells more.
        found = [StaffVerdict(tuple(tables), limits, 1) for tables in ways]
        return max(found, key=lambda one: (one.known, one.certain, one.at_risk))
    return None


def _holds(finest: tuple[Earlier, Evidence], other: tuple[Earlier, Evidence]) -> bool:
    """Return True if one is a release of the other's table, or of a coarser one of its records."""
    from tabprotect.engine.posterior.together.coarser import is_coarser

    (one, fine), (two, coarse) = finest, other
    mine, own = one.entry.publication.marks, two.entry.publication.marks
    if coarse.release.domain == fine.release.domain:
        return mine.original == own.original
    shared = set(mine.records) & set(own.records)
    return (
        is_coarser(coarse.release.domain, fine.release.domain) and len(shared) >= coarse.release.domain.ndim
    )


def _together(group: Counted, every: set[int], progress: Progress) -> ReadTogether:
    """What a reader of several releases learns of the cells of the finest table."""
    numbers = sorted(one.entry.number for one, _ in group)
    drawn = {evidence.draw: evidence for _, evidence in reversed(group)}
    finest = group[0][1]
    rest = [_plain(evidence) for evidence in drawn.values() if evidence.draw != finest.draw]
    return ReadTogether(
        tuple(numbers),
        finest.release.domain.names,
        _judged(_plain(finest), rest, progress),
        tuple(sorted(every - set(numbers))),
    )


def _alone(number: int, release: Release, beside: Iterable[int], progress: Progress) -> ReadTogether:
    """What a reader of a release learns that says nothing of counts, or too much to be laid out."""
    found = _judged(release, (), progress)
    return ReadTogether((number,), release.domain.names, found, tuple(sorted(beside)))


def _plain(one: Evidence) -> Release | Evidence:
    return one.release if one.known is None else one


def _judged(
    finest: Release | Evidence, rest: Sequence[Release | Evidence], progress: Progress
) -> StaffVerdict | None:
    with suppress(InputError, InfeasibleError, ParameterError):
        return verdict(finest, None, rest, progress=progress)
    return None
