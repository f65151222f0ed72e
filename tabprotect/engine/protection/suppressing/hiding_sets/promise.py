"""The check that every interval holds: for both ends of each, a table that nobody can rule out.

One programme serves many ends: a change that moves other sensitive numbers far enough, or its
opposite where there is room for it, proves theirs, too. Proofs are kept from one hiding set to
the next and hold as long as all the numbers that they move are hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.suppressing.hiding_problem import Aim, HidingProblem
from tabprotect.engine.protection.suppressing.hiding_sets.attackers import SHORT, Attackers, Cut
from tabprotect.engine.protection.suppressing.near_tables.linear_moves import LARGE
from tabprotect.engine.protection.suppressing.near_tables.two_way_flows import TwoWayFlows
from tabprotect.engine.protection.suppressing.pattern import lacking
from tabprotect.engine.protection.suppressing.task import Task
from tabprotect.engine.solver import NEAR
from tabprotect.languages.messages import message, plural

ROUTE = 150.0
"""Microseconds of a usual core for a way through hidden cells of a two-way table. Stated."""

PUSHED = 1_000
"""Numbers from which ends are pushed along a tableau before a programme is solved."""

FEW = 20
"""Ends up to which each is given a way of its own at once."""

MOVED = 1e-7
"""Changes in a programme's solution below this count as none."""

BROKEN = 1e-3
"""Least violation by a relaxed point for which a cut is added."""

NOBODY: Ints = np.zeros(0, dtype=np.int64)


class Promise:
    """The ends of all intervals, and the proofs of each. Confidential."""

    def __init__(self, problem: HidingProblem, progress: Progress = SILENT) -> None:
        self.problem = problem
        most = max((int(problem.needs[s].max(initial=1)) for s in (1, -1)), default=1)
        task = problem.task
        self.attackers = Attackers(task.publication, problem.room, task.inner_room, most, progress)
        self._flows: TwoWayFlows | None = None
        if TwoWayFlows.fits(task.publication):
            self._flows = TwoWayFlows(task.publication, task.room, np.zeros(len(task.room)))
        # Against nobody one programme proves many ends, and small ones take no time; against one
        # person after the other a push takes less.
        one_by_one = task.insiders in ("one", "outside")
        self._pushed = self._flows is None and one_by_one and len(problem.room) > PUSHED
        self._supports: list[Ints] = []
        # Sets of people are the bits of whole numbers.
        self._person, place = np.unique(problem.person, return_inverse=True)
        self._place = np.where(problem.person >= 0, place, -1)
        self._spared: dict[int, int] = {}
        self._people: list[int] = []
        self._alive: list[bool] = []
        self._whole: list[bool] = []
        self._proofs: dict[Aim, list[int]] = {}
        self._hidden: Bools = np.zeros(len(problem.room), dtype=np.bool_)
        self._held = {sign: np.zeros(len(problem.room), dtype=np.bool_) for sign in (1, -1)}

    def hide(self, hidden: Bools) -> None:
        """Go on to another hiding set, bool (numbers,)."""
        if self._flows is not None:
            first = self.problem.task.publication.distinct[0]
            self._flows.open(first[hidden & ~self._hidden])
            self._flows.close(first[self._hidden & ~hidden])
        self._hidden = hidden
        self.attackers.hide(hidden.astype(np.float64))
        for held in self._held.values():
            held[:] = False
        if not self._supports:
            return
        starts = np.cumsum([0, *map(len, self._supports)])[:-1]
        moving = hidden[np.concatenate(self._supports)]
        self._alive = alive = np.logical_and.reduceat(moving, starts).tolist()
        for aim, proofs in self._proofs.items():
            self._held[aim[1]][aim[0]] = self._enough(aim, [p for p in proofs if alive[p]])

    @property
    def open(self) -> int:
        """The number of ends without a known proof."""
        return len(self.problem.aims) - sum(int(held.sum()) for held in self._held.values())

    def lacking(
        self, aims: Sequence[Aim] | None = None, most: int | None = None
    ) -> tuple[list[Aim], list[Cut]]:
        """The ends that do not hold, at ``most`` so many, and for each what the hiding set lacks."""
        lost, cuts = [], []
        aims = self.problem.aims if aims is None else aims
        if self._flows is not None and len(aims) > FEW:
            self._hold_at_once(self._flows)
        for aim in aims:
            cut = self._prove(aim)
            if cut is not None:
                lost.append(aim)
                cuts.append(cut)
                if len(lost) == most:
                    break
        return lost, cuts

    def lacking_at(self, share: Floats, aims: Sequence[Aim]) -> list[Cut]:
        """The cuts that a relaxed point, float64 (numbers,), violates."""
        self.hide(share == 1.0)
        self.attackers.hide(share)
        cuts = []
        for aim in aims:
            if not self._holds(aim):
                number, sign = aim
                need = int(self.problem.needs[sign][number])
                reached, _ = self.attackers.push(number, sign, need, NOBODY)
                if reached < need * (1 - BROKEN):
                    cut = self.attackers.lack(number, need, self.problem.always, NOBODY)
                    if cut is not None and cut.share @ share[cut.numbers] < 1 - BROKEN:
                        cuts.append(cut)
        return cuts

    def whole_of(self, aims: Sequence[Aim]) -> int:
        """The number of given ends that have a proof in whole numbers."""
        return sum(any(self._whole[p] and self._alive[p] for p in self._proofs.get(aim, ())) for aim in aims)

    def beside(self, number: int, hidden: Bools) -> Ints:
        """The numbers that move along in the proofs that move a given hidden number."""
        self.hide(hidden)
        found = [
            support
            for support, alive in zip(self._supports, self._alive, strict=True)
            if alive and number in support
        ]
        return np.unique(np.concatenate([NOBODY, *found]))

    def _holds(self, aim: Aim) -> bool:
        return bool(self._held[aim[1]][aim[0]])

    def _enough(self, aim: Aim, alive: list[int]) -> bool:
        """Return True if the proofs of an end that are alive hold against every insider."""
        insiders = self.problem.task.insiders
        if not alive or insiders == "none":
            return bool(alive)
        if insiders == "all":
            others = ~self._spared_of(aim[0])
            return any(not self._people[p] & others for p in alive)
        return not self._shared(aim, alive)

    def _shared(self, aim: Aim, alive: list[int]) -> int:
        """The people who know a part of each of some proofs of an end."""
        shared = ~self._spared_of(aim[0])
        for proof in alive:
            shared &= self._people[proof]
        return shared

    def _spared_of(self, number: int) -> int:
        if number not in self._spared:
            spared = np.isin(self._person, list(self.problem.spared(number)))
            self._spared[number] = _bits(np.flatnonzero(spared), len(self._person))
        return self._spared[number]

    def _prove(self, aim: Aim) -> Cut | None:
        """Prove one end: None where it holds, else the cut that the hiding set lacks."""
        problem = self.problem
        number, sign = aim
        need = int(problem.needs[sign][number])
        insiders = problem.task.insiders
        barred = problem.barred(number) if insiders == "all" else NOBODY
        among = 0
        while not self._holds(aim):
            if insiders in ("one", "outside"):
                among = among or self._asked(aim)
                barred = self._known_to(among)
            found = self._way(aim, need, barred)
            if found is not None:
                self._enter(found)
                among = 0
                continue
            if among & (among - 1):
                # All of them is more than is asked for: half of them, in the end a single one.
                among = _first_half(among)
                continue
            reached, change = self.attackers.push(number, sign, need, barred)
            if reached < need * (1 - SHORT):
                cut = self.attackers.lack(number, need, problem.always, barred)
                # The dual values lack precision: any hiding set but this one.
                return cut if cut is not None else self._other()
            self._enter(change)
            among = 0
        return None

    def _hold_at_once(self, flows: TwoWayFlows) -> None:
        """Note the ends for which three hidden numbers that nobody knows make up."""
        problem, first = self.problem, self.problem.task.publication.distinct[0]
        known = (problem.task.person >= 0) & (problem.task.insiders != "none")
        for sign, held in self._held.items():
            asked = np.flatnonzero((problem.needs[sign] > 0) & ~held)
            if len(asked):
                needs = problem.needs[sign][asked]
                held[asked] = flows.at_once(first[asked], sign, needs, known)

    def _way(self, aim: Aim, need: int, barred: Ints) -> Floats | None:
        """A change of hidden numbers, without a sparse programme; ``None`` where none was found."""
        if self._flows is None:
            return self.attackers.way(*aim, need, barred) if self._pushed else None
        self.attackers.work += ROUTE
        first, inverse = self.problem.task.publication.distinct
        number, sign = aim
        found = self._flows.route(int(first[number]), sign, need, barred=first[barred], pay=False)
        if found is None:
            return None
        change = np.zeros(len(first))
        change[inverse[found.cells]] = found.change
        return change

    def _asked(self, aim: Aim) -> int:
        """People who each know a part of all proofs of an end, and are barred next: 0 without proofs."""
        alive = [p for p in self._proofs.get(aim, ()) if self._alive[p]]
        shared = self._shared(aim, alive) if alive else 0
        # A push that fails costs little: all at once. Else the first of them, the lowest bit.
        return shared if self._pushed else shared & -shared

    def _known_to(self, people: int) -> Ints:
        """The numbers that some people know."""
        if not people:
            return NOBODY
        known = np.frombuffer(people.to_bytes(len(self._person) // 8 + 1, "little"), np.uint8)
        flags = np.unpackbits(known, bitorder="little")
        return np.flatnonzero((flags[self._place] > 0) & (self._place >= 0))

    def _other(self) -> Cut:
        free = np.flatnonzero(self.problem.may_move & ~self._hidden)
        return Cut(free, np.ones(len(free)))

    def _enter(self, change: Floats) -> None:
        """Keep a change as a proof of every end that it, or its opposite, reaches."""
        problem = self.problem
        support = np.flatnonzero(np.abs(change) > MOVED)
        moved = change[support]
        rises = moved > 0
        room = problem.room[support[rises]] / moved[rises]
        back = min(1.0, float(room.min(initial=1.0))) if not self.attackers.bare else 0.0
        proof = len(self._supports)
        self._supports.append(support)
        place = self._place[support]
        self._people.append(_bits(place[place >= 0], len(self._person)))
        self._alive.append(True)
        whole = not self.attackers.bare and np.abs(moved - np.rint(moved)).max(initial=0.0) <= NEAR
        self._whole.append(bool(whole))
        for way, scale in ((1, 1.0), (-1, back)):
            for sign in (1, -1):
                need = problem.needs[sign][support]
                far = (need > 0) & (way * sign * moved * scale >= need * (1 - SHORT))
                held = self._held[sign]
                for number in support[far & ~held[support]].tolist():
                    proofs = self._proofs.setdefault((number, sign), [])
                    proofs.append(proof)
                    alive = [p for p in proofs if self._alive[p]]
                    held[number] = self._enough((number, sign), alive)


def _first_half(people: int) -> int:
    """The first half of a set of two or more."""
    half, left = 0, people
    for _ in range(people.bit_count() // 2):
        half |= left & -left
        left &= left - 1
    return half


def _bits(places: Ints, number: int) -> int:
    """A set of places as the bits of a whole number."""
    flags = np.zeros(number, dtype=np.uint8)
    flags[places] = 1
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


@dataclass(frozen=True, eq=False)
class KeptPromise:
    """The result of checking a pattern's intervals. Confidential.

    Attributes
    ----------
    unprotected : int64
        Sensitive published cells that lack their interval.
    ends, whole : int
        Ends of intervals, and how many were shown by a table of whole numbers. (Of the others it
        is known that fractional tables show them.)
    """

    unprotected: Ints
    ends: int
    whole: int

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        number = len(self.unprotected)
        if number:
            return plural(
                number,
                "{number} unsafe cell lacks its interval.",
                "{number} unsafe cells lack their interval.",
                number,
            )
        if self.whole == self.ends:
            return message("Every unsafe cell keeps its interval, proved in whole numbers.")
        some = (
            message(", in whole numbers for {whole:,} of {ends:,} ends", self.whole, self.ends)
            if 0 < self.whole < self.ends
            else ""
        )
        return message("Every unsafe cell keeps its interval, proved in fractional tables{some}.", some)


def check_intervals(task: Task, hidden: Bools, progress: Progress = SILENT) -> KeptPromise:
    """Check every interval with these published cells hidden, bool (size,).

    By flows where the publication is a network, by boxes of hidden cells in large tables, else
    by linear programmes.
    """
    problem = HidingProblem.of(task)
    aims, ends = problem.aims, len(problem.aims)
    first, inverse = task.publication.distinct
    by_flows = TwoWayFlows.fits(task.publication)
    if by_flows or len(first) > LARGE:
        missing = lacking(task, hidden, progress)
        if by_flows or not len(missing):
            return KeptPromise(missing, ends, ends if not len(missing) else 0)
        # Whatever a box did not show, a programme may.
        open_ = set(inverse[missing].tolist())
        aims = [aim for aim in aims if aim[0] in open_]
    promise = Promise(problem, progress)
    # A number that is published once is known wherever it stands.
    known = np.zeros(len(first), dtype=np.bool_)
    known[inverse[~hidden]] = True
    promise.hide(~known)
    lost = {number for (number, _) in promise.lacking(aims)[0]}
    cells = np.flatnonzero(task.primary & np.isin(inverse, list(lost)))
    return KeptPromise(cells, ends, ends - len(aims) + promise.whole_of(aims))
