"""The cheapest hiding set by cutting planes: rounds of an integer programme, then repairs.

A round takes the cheapest hiding set that satisfies all cuts so far and asks the attackers; where
an interval does not hold, their answer is another cut. Nothing left to cut: the set is as cheap
as any (within the gap). Where rounds get slow, a dive along the relaxed programme gives a hiding
set, cells that nothing needs are published again, and neighbourhoods (a few dozen hidden numbers
and all published ones open again, the rest as it is) make it cheaper until the work is spent.

All limits are counts of work, so that the same table always gives the same set.

Source: Fischetti and Salazar 2001; Danna, Rothberg and Le Pape 2005, *Exploring relaxation
induced neighborhoods*, for repairing a set in parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.suppressing.hiding_problem import Aim, HidingProblem
from tabprotect.engine.protection.suppressing.hiding_sets.attackers import Cut
from tabprotect.engine.protection.suppressing.hiding_sets.master import Master, bridges, equation_cuts
from tabprotect.engine.protection.suppressing.hiding_sets.promise import Promise
from tabprotect.engine.protection.suppressing.pattern import lacking
from tabprotect.engine.protection.suppressing.published_numbers import equations
from tabprotect.engine.solver import NEAR
from tabprotect.languages.messages import message

GAP, ROUGH = 0.01, 0.05
"""The gap of a round's programme, and a rougher one while many intervals do not hold."""

MANY, AT_FIRST, SLOW = 20, 0.3, 0.7
"""How many intervals are many, and the share of them that the first round may leave, and every
further one of those before it; else rounds are given up."""

MANY_AIMS = 200
"""Ends of intervals from which on boxes are asked first whether they can be kept at all."""

ROUND, QUESTIONS, ROUNDS = 4e5, 32, 0.9
"""Microseconds and questions of the integer programme of a round, and the share of all work that
rounds may take; where it takes more, rounds are given up."""

FEWEST, TENTH, GROW, REST, EASY = 12, 0.1, 1.15, 0.1, 2e4
"""Hidden numbers of a neighbourhood, at least and as a share of all at first, how fast they
change, what share need not be open in the last one, and microseconds of an easy programme."""

SURE = 0.9
"""Share in the relaxed programme from which a number is taken as hidden."""

ASKING, DIVE, STEPS, LEAST = 8e4, 0.6, 10, 200
"""Microseconds of asking the attackers at a relaxed point, the share of all work after which none
are asked there, and the least numbers that are fixed: one in so many of those in between, and of
all."""

DIVES = 0.35
"""The share of all work after which no further dive begins."""

TRIES, FEW = 8, 12
"""Rounds of one neighbourhood, and questions of an integer programme in it."""

GAIN = 5e-4
"""The least gain of a neighbourhood, as a share of the cost."""


@dataclass(frozen=True, eq=False)
class Found:
    """A hiding set. Confidential.

    Attributes
    ----------
    hidden : bool (numbers,)
    cost : float
        Cost of what is hidden beyond the numbers that are hidden in any case.
    bound : float
        No hiding set costs less.
    """

    hidden: Bools
    cost: float
    bound: float


class CuttingPlanes:
    """One search. Confidential.

    Parameters
    ----------
    problem
    most_work : float
        Microseconds of a usual core, counted and not timed.
    """

    def __init__(self, problem: HidingProblem, most_work: float, progress: Progress = SILENT) -> None:
        self._problem = problem
        self._progress = progress
        self._most = most_work
        adding = equations(problem.task.publication)
        self.master = Master(problem, bridges(adding, problem.always, problem.may_move))
        self.master.add(equation_cuts(adding, problem.room, problem.needs, problem.always, problem.may_move))
        self.promise = Promise(problem, progress)
        self._generator = np.random.Generator(np.random.PCG64(1))
        self._best: Bools | None = None
        self._size = 0.0
        self._exhausted = False
        self._suspects: dict[Aim, None] = {}
        self._bound = 0.0
        self._lost: list[Aim] = problem.aims

    def impossible(self) -> list[int]:
        """Published cells that stay unprotected even with everything hidden that may be.

        Checked only where a count other than zero must be published; else all cells can be
        protected, or the search finds out.
        """
        problem = self._problem
        if not (~problem.may_move & (problem.room > 0)).any():
            return []
        self._progress.report(message("whether it can be done at all"), 0.0)
        self.promise.hide(problem.may_move)
        first, inverse = problem.task.publication.distinct
        aims = problem.aims
        if len(aims) > MANY_AIMS:
            # A box shows most at once; a programme over all numbers for each end would take minutes.
            left = inverse[lacking(problem.task, problem.published(problem.may_move), self._progress)]
            open_ = set(left.tolist())
            aims = [aim for aim in aims if aim[0] in open_]
        lost, _ = self.promise.lacking(aims)
        return sorted({int(first[number]) for number, _ in lost})

    def run(self, start: Bools | None = None) -> Found | None:
        """The cheapest hiding set found; None where none was.

        Parameters
        ----------
        start : bool (numbers,)
            A hiding set that is known.
        """
        self._best = start
        if not self._rounds():
            while self._dive():
                pass
            self._improve()
            self._relax()
        if self._best is None:
            return None
        return Found(self._best, self.master.cost(self._best), self._bound)

    @property
    def _spent(self) -> bool:
        return self._work > self._most

    @property
    def _work(self) -> float:
        return self.promise.attackers.work + self.master.work

    def _consider(self, hidden: Bools | None) -> None:
        if hidden is None:
            return
        if self._best is None or self.master.cost(hidden) < self.master.cost(self._best):
            self._best = hidden

    def _report(self) -> None:
        self._progress.report(message("secondary suppression"), min(0.99, self._work / self._most))

    def _rounds(self) -> bool:
        """Solve in rounds; return True if the cheapest hiding set was found."""
        lost: list[Aim] | None = None
        while self._work < ROUNDS * self._most:
            self._report()
            rough = lost is not None and len(lost) > MANY
            gap = ROUGH if rough else GAP
            questions = int(np.clip(self.master.questions(ROUND), FEW, QUESTIONS))
            chosen = self.master.solve(questions=questions, gap=gap, progress=self._progress)
            if chosen is None:
                return False
            self._bound = max(self._bound, chosen.bound)
            if not chosen.optimal and chosen.cost > chosen.bound * (1 + ROUGH):
                return False
            hidden = chosen.share > 0.5
            self.promise.hide(hidden)
            share = AT_FIRST if self._lost is self._problem.aims else SLOW
            most = max(MANY, int(share * len(self._lost)))
            # What did not hold is asked first: it tells most.
            lost, cuts = self.promise.lacking(lost, most)
            if not lost:
                lost, cuts = self.promise.lacking(most=most)
            if not lost:
                self._consider(hidden)
                return self.master.cost(hidden) <= self._bound * (1 + GAP)
            self.master.add(cuts)
            self._lost = lost
            if len(lost) == most:
                return False
        return False

    def _relax(self) -> None:
        """The bound of the relaxed programme with all cuts."""
        relaxed = self.master.relax(np.zeros(0, dtype=np.int64), self._progress)
        if relaxed is not None:
            self._bound = max(self._bound, relaxed.bound)

    def _dive(self) -> bool:
        """Return True if another dive, which knows more cuts, may be worth while."""
        before = self._best
        self._consider(self._dived())
        return self._best is not before and self._work < DIVES * self._most

    def _dived(self) -> Bools | None:
        """Dive for a hiding set: fix step by step what the relaxed programme is sure of."""
        free = self.master.free
        fixed = np.zeros(0, dtype=np.int64)
        lost = self._lost
        while True:
            self._report()
            chosen = self.master.relax(fixed, self._progress)
            if chosen is None:
                return None
            share = np.clip(chosen.share, 0.0, 1.0)
            share[share > 1 - NEAR], share[share < NEAR] = 1.0, 0.0
            between = free[share[free] % 1 > 0]
            before = free[share[free] == 1.0]
            if len(between):
                self.master.add(self._lacking_at(share, lost))
                order = between[np.argsort(-share[between], kind="stable")]
                least = max(1, len(order) // STEPS, len(free) // LEAST)
                sure = max(least, int((share[order] >= SURE).sum()))
                fixed = np.union1d(fixed, np.concatenate([before, order[:sure]]))
                continue
            hidden = share > 0.5
            self.promise.hide(hidden)
            lost, cuts = self.promise.lacking(lost)
            if not lost:
                lost, cuts = self.promise.lacking()
            if not lost:
                return self._tidied(hidden)
            self.master.add(cuts)
            fixed = np.union1d(fixed, before)

    def _lacking_at(self, share: Floats, lost: list[Aim]) -> list[Cut]:
        """Cuts that a relaxed point violates; where the check takes long, those of a few ends."""
        if self._work > DIVE * self._most:
            return []
        number = int(ASKING / self.promise.attackers.each)
        if number >= len(self._problem.aims):
            return self.promise.lacking_at(share, self._problem.aims)
        chosen = self._generator.permutation(len(lost))[: max(1, number)]
        return self.promise.lacking_at(share, [lost[k] for k in chosen])

    def _tidied(self, hidden: Bools) -> Bools:
        """Publish again, the costliest first, what no interval needs."""
        extra = self.master.free[hidden[self.master.free]]
        for number in extra[np.argsort(-self._problem.cost[extra], kind="stable")].tolist():
            if self._spent:
                break
            fewer = hidden.copy()
            fewer[number] = False
            if not self.master.allows(fewer.astype(np.float64)):
                continue
            self.promise.hide(fewer)
            # Where much hangs on it a neighbourhood gains more than another proof of it all.
            if self.promise.open > MANY:
                continue
            lost, cuts = self.promise.lacking()
            if lost:
                self.master.add(cuts)
            else:
                hidden = fewer
        return hidden

    def _improve(self) -> None:
        """Search neighbourhoods of the best set until the work is spent or they cover everything."""
        while self._best is not None and not self._spent and not self._exhausted:
            self._report()
            if self.master.cost(self._best) <= self._bound * (1 + 1e-9):
                return
            self._consider(self._neighbour(self._best))

    def _neighbour(self, best: Bools) -> Bools | None:
        """A cheaper hiding set near the best one, or None.

        The next neighbourhood is smaller after a hard programme and larger after an easy one.
        """
        extra = self.master.free[best[self.master.free]]
        if not len(extra):
            return None
        if not self._size:
            self._size = max(FEWEST, TENTH * len(extra))
        before = self.master.work, self.promise.attackers.work
        fixed = np.setdiff1d(extra, self._together(best, extra))
        found = self._cheaper(fixed, self.master.cost(best) * (1 - GAIN))
        easy = self.master.work - before[0]
        easy -= max(EASY, self.promise.attackers.work - before[1])
        self._size *= GROW if easy <= 0 else 1 / GROW
        self._size = min(max(self._size, FEWEST), len(extra))
        # There is nothing beyond (nearly) all of it.
        self._exhausted = found is None and len(fixed) <= REST * len(extra)
        return found

    def _cheaper(self, fixed: Ints, below: float) -> Bools | None:
        """A hiding set with some numbers that costs no more; None where none was found."""
        for _ in range(TRIES):
            chosen = self.master.solve(
                fixed=fixed, below=below, questions=FEW, gap=GAIN, progress=self._progress
            )
            if chosen is None:
                if not len(fixed):
                    self._bound = max(self._bound, below)
                return None
            if not len(chosen.share):
                return None
            hidden = chosen.share > 0.5
            self.promise.hide(hidden)
            # What did not hold lately tells most, and the rest need not be asked then.
            lost, cuts = self.promise.lacking(list(self._suspects), most=MANY)
            if not lost:
                lost, cuts = self.promise.lacking(most=MANY)
            if not lost:
                return hidden
            self._suspects |= dict.fromkeys(lost)
            self.master.add(cuts)
            if self._spent or not chosen.optimal:
                break
        return None

    def _together(self, best: Bools, extra: Ints) -> Ints:
        """Hidden numbers that proofs move together, starting from a random one."""
        size = int(self._size)
        seed = int(self._generator.choice(extra))
        near = self.promise.beside(seed, best)
        near = near[np.isin(near, extra) & (near != seed)]
        self._generator.shuffle(near)
        found = np.append(seed, near[: size - 1])
        if len(found) < size:
            rest = np.setdiff1d(extra, found)
            self._generator.shuffle(rest)
            found = np.concatenate([found, rest[: size - len(found)]])
        return found
