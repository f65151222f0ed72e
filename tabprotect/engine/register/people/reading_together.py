"""Which earlier releases are read together with one, and what readers of all of them learn. Confidential."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tabprotect.engine.agency import key as house_key
from tabprotect.engine.agency import made_register
from tabprotect.engine.bundle.verify import checked_before
from tabprotect.engine.chained_log import NO_LINES, Head
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import BundleError, InfeasibleError, InputError, ParameterError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.people import Kin, People
from tabprotect.engine.protection.problem import Problem, StaffVerdict
from tabprotect.engine.register.register_chain import Damage, missing_lines
from tabprotect.engine.register.register_entry import (
    PEOPLE,
    Earlier,
    OriginalMarks,
    RefusedMechanism,
    marks_of,
    marks_of_magnitudes,
    related,
)
from tabprotect.engine.release.findings import kinds
from tabprotect.engine.release.mechanism import Gate, Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined

if TYPE_CHECKING:
    from tabprotect.engine.belief.evidence import Evidence
    from tabprotect.engine.register.kept_bundles import Files
    from tabprotect.engine.register.people.overlapping import OverlapEvidence
    from tabprotect.engine.register.people.people_in_common import InCommon
    from tabprotect.engine.register.register import Register

Drawn = tuple[tuple[Earlier, Release], ...]
"""Earlier publications with their releases, the closest first."""

Counted = list[tuple[Earlier, "Evidence"]]
"""Earlier publications with what they say of counts, the closest first."""


@dataclass(frozen=True, eq=False)
class JointReading:
    """The releases that were read together, with their verdict.

    Attributes
    ----------
    read
        The earlier ones that were read.
    unread
        Those of the same records that could not be, by their numbers.
    verdict
        What readers of all of them learn; ``None`` where none of them tells anything further.
    judged_on
        All that the verdict follows from.
    asked
        The release at hand, the limits and the earlier ones.
    questions
        The numbers of those of which the house has to say whether they count the same people.
    unweighed
        Whether it is not known that what else was refused beside them tells little enough.
    changes
        Whether nothing stands against it but that the people are, or may be, the same some time later.
    placed
        Who came or went and is known, in words.
    """

    read: tuple[Earlier, ...]
    unread: frozenset[int]
    verdict: StaffVerdict | None
    judged_on: object = None
    asked: tuple[object, ...] = ()
    questions: tuple[int, ...] = ()
    unweighed: bool = False
    changes: bool = False
    placed: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ReadingTogether:
    """A release, and how earlier ones are read with it.

    Attributes
    ----------
    problem
    release
        The release at hand; ``None`` for the earlier ones alone.
    policy
        The limits.
    looked_up
        What the register holds.
    """

    problem: Problem
    release: Release | None
    policy: AgencyPolicy | Gate | None
    looked_up: LookedUp
    progress: Progress = SILENT

    def opened(self, earlier: Sequence[Earlier]) -> Drawn:
        """Those of the same original, or of coarser and finer tables of its records."""
        mine = marks(self.problem)
        return tuple(self.looked_up.releases(_closest(earlier, mine), self.progress))

    def of(self, earlier: Sequence[Earlier], opened: Drawn) -> JointReading:
        """Read together what they say of counts: tables of their own, or numbers beside magnitudes.

        What was read a moment ago stands, and so does a verdict on the same.

        Parameters
        ----------
        opened
            The releases of :meth:`opened`.

        Raises
        ------
        InfeasibleError
            Where the counts of the release at hand are not laid out.
        """
        # A posterior imports the solvers: the first paint does not wait for them.
        from tabprotect.engine.belief.counts_among import counts_among
        from tabprotect.engine.register.people.other_order import in_order

        known = self.looked_up.read
        asked = (self.release, self.policy, tuple(earlier))
        for one in known:
            if one.asked[0] is self.release and one.asked[1:] == asked[1:]:
                return one
        counted, silent = _counts_of(opened)
        if self.release is not None:
            counted = [(one, in_order(other, self.problem.table.domain)) for one, other in counted]
        earlier = [one for one in earlier if one.entry.number not in silent]
        at_hand = None if self.release is None else counts_among(self.release)
        own = [] if at_hand is None else [at_hand]
        read, unread, looked_at = _read(earlier, counted, self.problem, own)
        # The latest first.
        every = [*own, *(other for _, other in read)]
        beside: list[tuple[Earlier, OverlapEvidence]] = []
        if own:
            rest = [one for one in earlier if one.entry.number not in looked_at]
            beside, more = self._beside(rest, every)
            unread |= more
        telling = [(one, overlap) for one, overlap in beside if overlap.tells]
        people = self._in_common(earlier, at_hand, {one.entry.number for one, _ in (*read, *beside)})
        bounded = self._bounded(earlier) - set(people.read)
        unread = (unread - set(people.read) | people.unread) - bounded
        questions = tuple(number for number in people.asked if number not in bounded)
        found, judged_on, changes = None, None, False
        if read or telling or people.tables:
            others = [overlap.other.draw for _, overlap in telling]
            draws = [one.draw for one in every]
            judged_on = (self.problem.table, self.policy, draws, others, people.read)
            same = (reading.verdict for reading in known if reading.judged_on == judged_on)
            found = next(same, None) or self._joint(every, [overlap for _, overlap in telling])
            changes = people.changes and not found.failing
            if people.tables:
                found = replace(found, tables=(*found.tables, *people.tables))
        both = [*(one for one, _ in read), *(one for one, _ in telling)]
        both += [one for one in earlier if one.entry.number in people.read and one not in both]
        reading = JointReading(
            tuple(both), unread, found, judged_on, asked, questions, people.unweighed, changes, people.placed
        )
        known.append(reading)
        return reading

    def _bounded(self, earlier: Sequence[Earlier]) -> set[int]:
        """Private releases beside a private one: what both tell of anybody is bounded by what both spend."""
        if self.release is None or self.release.mechanism.privacy is None:
            return set()
        others = (one.entry for one in earlier if one.relation in ("records", "variables"))
        return {entry.number for entry in others if entry.publication.spent is not None}

    def _in_common(self, earlier: Sequence[Earlier], own: Evidence | None, known: set[int]) -> InCommon:
        """What releases tell whose people may be part of those at hand, or these of theirs."""
        from tabprotect.engine.register.people.people_in_common import InCommon, InCommonReading

        wanted = [one for one in earlier if one.relation == "variables" and one.entry.number not in known]
        refused = self._refused_beside(own)
        if own is None or not wanted:
            return InCommon(unweighed=bool(refused))
        problem = self.problem
        counted, _ = _counts_of(self.looked_up.releases(wanted, self.progress))
        people = _answered(problem.people, self.looked_up.earlier)
        # Where a margin is alike all of them are the same but for a correction.
        alike = (one.entry.number for one in self.looked_up.earlier if one.relation == "records")
        corrected: list[tuple[int, Kin]] = [(n, "corrected") for n in alike if people.of(n) is None]
        reading = InCommonReading(
            problem.table,
            own,
            People((*people.answers, *corrected)),
            self._limits(own),
            refused,
            self.progress,
            problem.record_keys is not None,
        )
        return reading.of((one.entry.number, other) for one, other in counted)

    def _refused_beside(self, own: Evidence | None) -> tuple[Mechanism | None, ...]:
        """What was refused beside earlier releases before, but for what is at hand itself."""
        if own is None:
            return ()
        found: list[Mechanism | None] = []
        for one in self.looked_up.refused.values():
            if one.beside:
                mechanism = one.mechanism(self.problem.table.domain, self.problem.table)
                if mechanism is None or not same_draw(mechanism, own.release):
                    found.append(mechanism)
        return tuple(found)

    def _beside(
        self, rest: Sequence[Earlier], every: Sequence[Evidence]
    ) -> tuple[list[tuple[Earlier, OverlapEvidence]], frozenset[int]]:
        """Return what releases of other variables of the same records tell, and which are not read."""
        wanted = [one for one in rest if one.relation in ("records", "variables")]
        if not wanted:
            return [], frozenset()
        from tabprotect.engine.register.people import overlapping
        from tabprotect.engine.register.people.grouped_categories import groups_between
        from tabprotect.engine.register.people.limits_of_all import LimitsOfAll
        from tabprotect.engine.register.people.rings import Ring, ring_among

        own, table = marks(self.problem), self.problem.table
        counted, silent = _counts_of(self.looked_up.releases(wanted, self.progress))
        # What cannot be opened was not read.
        unread = {one.entry.number for one in wanted if one.relation == "records"}
        unread -= silent | {one.entry.number for one, _ in counted}
        found: list[tuple[Earlier, OverlapEvidence]] = []
        more: list[tuple[Earlier, OverlapEvidence]] = []
        known = [*every, *(other for _, other in counted)]
        for one, other in counted:
            margins = _shared(one, own)
            if one.relation == "variables" and (
                not overlapping.other_categories(table.domain, other.release.domain)
                or not overlapping.same_total(table, other)
                or not groups_between(table, other, (), alike=True)
            ):
                # Other records under the same names, or some of these.
                continue
            overlap = overlapping.overlap_evidence(table, every, other, margins, known)
            if overlap is None:
                unread.add(one.entry.number)
            else:
                (more if overlap.open else found).append((one, overlap))
        limits = self._limits(every[0])
        together = [*every, *(overlap.other for _, overlap in found)]
        closed = bool(ring_among([one.release.domain for one in together]))
        closed = closed and not Ring(together, limits, self.progress).tells_little()
        if more or closed:
            groups = [group for _, overlap in more for group in overlap.open]
            together += [overlap.other for _, overlap in more]
            if LimitsOfAll(together, limits, groups, self.progress).tells_little():
                found += more
            else:
                unread |= {one.entry.number for one, _ in (*more, *(found if closed else ()))}
                found = [] if closed else found
        return found, frozenset(unread)

    def _limits(self, own: Evidence) -> Gate:
        limits = self.policy
        if isinstance(limits, Gate):
            return limits
        return (limits or AgencyPolicy()).of_release(own.release, self.problem.at_risk)

    def _joint(self, every: Sequence[Evidence], beside: Sequence[OverlapEvidence]) -> StaffVerdict:
        """Return what readers of all of them learn, about the cells of the finest table, the latest first;
        and of the tables of other variables that this one tells something of."""
        problem = self.problem

        def judged(
            one: Evidence, earlier: Sequence[Release | Evidence], original: Table | None = None
        ) -> StaffVerdict:
            limits = self.policy
            if one.known is not None and not isinstance(limits, Gate):
                # Of numbers beside magnitudes no gate of their own is stated.
                limits = (limits or AgencyPolicy()).of_release(one.release, problem.at_risk, problem.roles)
            found = verdict(_plain(one), limits, earlier, original, progress=self.progress)
            # What was promised with one release is kept beside the others.
            promised = [replace(found.limits, at_risk=rule) for rule in rules - {found.limits.at_risk}]
            broken = [
                verdict(_plain(one), kept, earlier, progress=self.progress).failing for kept in promised
            ]
            return replace(found, tables=tuple(chain(found.tables, *broken)))

        read = (*every, *(overlap.other for overlap in beside))
        gates = (one.release.mechanism.gate for one in read)
        rules = {gate.at_risk for gate in gates if gate is not None and gate.counts}
        finest = max(every, key=lambda one: one.release.domain.size)
        # Nothing is known here of the true counts of a finer table.
        original = problem.table if finest.release.domain == problem.table.domain else None
        known = [overlap.of_this for overlap in beside if overlap.of_this is not None]
        found = []
        if len(every) > 1 or known or not beside:
            rest = [_plain(one) for one in reversed(every) if one is not finest]
            found = [judged(finest, [*rest, *known], original)]
        for overlap in beside:
            if overlap.of_other is not None:
                found.append(judged(overlap.other, [overlap.of_other]))
        return replace(
            found[0],
            tables=tuple(table for one in found for table in one.tables),
            left_out=kinds(*(one.left_out for one in found)),
            note=joined(dict.fromkeys(one.note for one in found if one.note), " "),
        )


def same_draw(refused: Mechanism, release: Release) -> bool:
    """Return True if a release is the draw that a mechanism was refused with: that is no choice between two.

    By the coins of the house, or without any, it is; by others there was another one.
    """
    leaving = release.mechanism
    if refused.coins is not None or leaving.coins not in (None, "house"):
        return False
    alike = all(leaving.parameters.get(name) == value for name, value in refused.parameters.items())
    return refused.method == leaving.method and alike


def by_people(problem: Problem, looked_up: LookedUp) -> list[Earlier]:
    """Earlier publications, with those as of variables of the same names alone that count other people.

    A margin may be alike where one record was corrected, or by chance: of the same records all are. Of few
    people all counts may be.
    """
    from tabprotect.engine.register.people.overlapping import same_variables

    table, found = problem.table, list(looked_up.earlier)
    alike = [one for one in found if one.relation == "records"]
    said = {one.entry.number: problem.people.of(one.entry.number) for one in found}
    apart = {one.entry.number for one in alike if said[one.entry.number] not in (None, "same")}
    apart |= {number for number, kin in said.items() if kin == "other"}
    # Without a register no key of the house is made.
    if alike and problem.magnitudes is None:
        mine = marks(problem)
        for one, release in looked_up.releases(alike):
            if release.tables and len(same_variables(table.domain, release.domain)) > _shared(one, mine):
                apart.add(one.entry.number)
    return [replace(one, relation="variables") if one.entry.number in apart else one for one in found]


def _answered(people: People, earlier: Sequence[Earlier]) -> People:
    """What the house says now of who is counted, and what it has said when the table left before."""
    before: dict[int, Kin] = {}
    for one in reversed(earlier):
        if one.relation in ("original", "renamed"):
            said = str(one.entry.publication.gate.get(PEOPLE, ""))
            before |= {n: kin for n, kin in People.parse(said).answers if n}
    return People(tuple(sorted((before | dict(people.answers)).items())))


def marks(problem: Problem) -> OriginalMarks:
    """The fingerprints of an original under the house's key; computed once for each."""
    if problem.magnitudes is not None:
        return marks_of_magnitudes(problem.magnitudes.table, house_key())
    asked = (house_key(), problem.record_keys)
    known = _FOUND.get(problem.table)
    if known is None or known[0] != asked:
        known = asked, marks_of(problem.table, *asked)
        _FOUND[problem.table] = known
    return known[1]


_FOUND: WeakKeyDictionary[Table, tuple[tuple[bytes, Table | None], OriginalMarks]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class LookedUp:
    """The entries of a register that bear on a table, asked at once.

    Attributes
    ----------
    place
        The register's address; empty where there is none.
    earlier
        Earlier publications, the closest first.
    damaged
        What is not as it was entered.
    refused
        The mechanisms that the gate refused for the table, by their digests.
    head
        The last line of the register.
    older
        Numbers of further releases whose tables have variables of the same names.
    read
        What was read of it together with releases at hand.
    """

    place: str = ""
    earlier: tuple[Earlier, ...] = ()
    damaged: tuple[Damage, ...] = ()
    refused: Mapping[str, RefusedMechanism] = field(default_factory=dict)
    head: Head = NO_LINES
    older: tuple[int, ...] = ()
    _kept: dict[int, Files] = field(default_factory=dict, repr=False)
    read: list[JointReading] = field(default_factory=list, repr=False)

    def stands(self, opened: Register, own: OriginalMarks) -> bool:
        """Return True if nothing that bears on the table was entered since."""
        if opened.head() == self.head:
            return True
        named = [one.entry.number for one in self.earlier]
        now = opened.bearing_on(own, named)
        found = tuple(related(own, now.entries)), now.older, opened.refused(*own.of_refusals)
        return found == (self.earlier, self.older, self.refused)

    def spending(self, release: Release | None) -> tuple[Earlier, ...]:
        """The publications whose budgets may be spent on the people of a release, and those that bear on it.

        Who is counted in two private tables has spent both budgets, whatever their variables.
        """
        private = release is not None and release.mechanism.privacy is not None
        if not self.place or not (private or self.older):
            return self.earlier
        from tabprotect.engine.register.register import Register

        known = {one.entry.number for one in self.earlier}
        with Register(self.place) as opened:
            others = [one for one in opened.private_entries() if one.number not in known]
        wanted = (one for one in others if private or one.number in self.older)
        return *self.earlier, *(Earlier(one, "variables", named_alike=False) for one in wanted)

    def files(self, of: Sequence[Earlier]) -> list[tuple[Earlier, Files]]:
        """Publications whose bundles are kept, with their files, in order; not those of other labels."""
        wanted = [one for one in of if one.relation != "renamed"]
        new = [one.entry for one in wanted if one.entry.number not in self._kept]
        if new:
            from tabprotect.engine.register.register import Register

            with Register(self.place) as opened:
                kept = opened.files(new)
            self._kept.update((entry.number, kept.get(entry.number, {})) for entry in new)
        found = [(one, self._kept[one.entry.number]) for one in wanted]
        return [(one, files) for one, files in found if files]

    def releases(
        self, of: Sequence[Earlier], progress: Progress = SILENT
    ) -> Iterator[tuple[Earlier, Release]]:
        """Those that can be read, with their releases: not those of a missing plug-in or another version."""
        for one, files in self.files(of):
            release = _release_of(one.entry.publication.bundle, files)
            if release is not None:
                yield one, release


_READ: OrderedDict[str, Release] = OrderedDict()
"""What bundles say, by their digests, the latest last."""

MOST_READ = 1024
"""Bundles whose releases are at hand."""


def _release_of(fingerprint: str, files: Files) -> Release | None:
    """The release of a bundle that was verified when it left; read once."""
    if fingerprint not in _READ:
        try:
            _READ[fingerprint] = checked_before(files)
        except (BundleError, InputError, ParameterError):
            return None
        if len(_READ) > MOST_READ:
            _READ.popitem(last=False)
    return _READ[fingerprint]


def look_up(problem: Problem, register: str | None = None) -> LookedUp:
    """Ask the register once; a missing register or house key is not created.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.

    Raises
    ------
    InputError, ParameterError
        If the register cannot be read, or belongs to another key.
    """
    if (place := made_register(register)) is None:
        return LookedUp(damaged=missing_lines(register))
    from tabprotect.engine.register.register import Register

    own = marks(problem)
    with Register(place) as opened:
        found = opened.bearing_on(own, [number for number, _ in problem.people.answers])
        refused = opened.refused(*own.of_refusals)
        earlier = tuple(related(own, found.entries))
        # These are read whatever is asked of them.
        close = [one.entry for one in earlier if one.relation in ("original", "records")]
        kept: dict[int, Files] = {entry.number: {} for entry in close}
        kept.update(opened.files(close))
    return LookedUp(place, earlier, found.damaged, refused, found.head, found.older, kept)


def _plain(one: Evidence) -> Release | Evidence:
    return one.release if one.known is None else one


def _read(
    earlier: Sequence[Earlier], counted: Counted, problem: Problem, own: Sequence[Evidence]
) -> tuple[Counted, frozenset[int], set[int]]:
    """Those that are read together, each draw once; which of these tables cannot be; the numbers of
    all of them."""
    from tabprotect.engine.posterior.together.coarser import is_coarser

    nested = [(one, other) for one, other in counted if _nests(one, other.domain, problem)]
    domains = [problem.table.domain, *(other.domain for _, other in nested)]
    finest = max(domains, key=lambda domain: domain.size)
    whole = [
        (one, other) for one, other in nested if other.domain == finest or is_coarser(other.domain, finest)
    ]
    numbers = {one.entry.number for one in earlier if one.relation in ("original", "renamed")}
    numbers |= {one.entry.number for one, _ in nested}
    # Its categories may be in another order, or its bundle is not readable.
    numbers |= {one.entry.number for one in earlier if _holds(one, marks(problem))}
    unread = numbers - {one.entry.number for one, _ in whole}
    drawn = {one.draw for one in own}
    read = []
    for one, other in whole:
        if other.draw not in drawn:
            drawn.add(other.draw)
            read.append((one, other))
    return read, frozenset(unread), numbers


def _closest(earlier: Sequence[Earlier], mine: OriginalMarks) -> list[Earlier]:
    """Those of the same original, and those that may be of a coarser or finer table of its records."""
    return [
        one
        for one in earlier
        if one.relation != "records"
        or _shared(one, mine) >= min(_variables(mine), _variables(one.entry.publication.marks))
    ]


def _holds(one: Earlier, mine: OriginalMarks) -> bool:
    """Return True if one of two tables of counts has the margins of all variables of the other."""
    other = one.entry.publication.marks
    # A mark of the keys of the records is none of a margin.
    keys = all(len(each.records) > _variables(each) for each in (mine, other))
    wanted = min(_variables(mine), _variables(other)) + keys
    counts = one.relation == "records" and bool(other.unlabelled)
    return counts and _shared(one, mine) >= wanted


def _variables(marks: OriginalMarks) -> int:
    """The number of variables, or of those that have names of their own."""
    return len(marks.named) or len(marks.records)


def _shared(one: Earlier, mine: OriginalMarks) -> int:
    return len(set(one.entry.publication.marks.records) & set(mine.records))


def _nests(one: Earlier, domain: Domain, problem: Problem) -> bool:
    """Return True if an earlier release is of the same table, or of a coarser or finer one with the same
    margins."""
    from tabprotect.engine.posterior.together.coarser import is_coarser

    own, mine = problem.table.domain, marks(problem)
    if domain == own and (
        one.relation == "original" or (mine.unlabelled and one.entry.publication.marks.unlabelled)
    ):
        return one.relation == "original"
    # The mark of a magnitude table is of its contributions: its counts are marked by their margins.
    holds = domain == own or is_coarser(domain, own) or is_coarser(own, domain)
    return holds and _shared(one, mine) >= min(domain.ndim, own.ndim)


def _counts_of(opened: Iterable[tuple[Earlier, Release]]) -> tuple[Counted, set[int]]:
    """What releases say of counts, where it is laid out; the numbers of those that say nothing of them."""
    from tabprotect.engine.belief.counts_among import counts_among

    found: Counted = []
    silent = set()
    for one, release in opened:
        with suppress(InfeasibleError, InputError):
            counts = counts_among(release)
            if counts is None:
                silent.add(one.entry.number)
            else:
                found.append((one, counts))
    return found, silent
