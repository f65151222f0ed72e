"""Trials of a method: a stream of simulated releases, none of them published.

Previews, the chance to pass the gate, trials of every method and comparisons summarise this stream.
The same seed gives the same stream.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from tabprotect.engine.errors import TabprotectError, attempted
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, PartialProgress, Progress
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import joined, message

STAGE = message("trying the method on this table")

T = TypeVar("T")


def trial_seed(what: str, *of: object) -> int:
    """A 128-bit seed derived from what is tried, so that the figures can be reproduced.

    Parameters
    ----------
    what
        The purpose of the trial.
    of
        What the trial depends on: texts and numbers, or bytes as they are.
    """
    said = (one if isinstance(one, bytes) else str(one).encode() for one in of)
    digest = hashlib.sha256(what.encode() + b"\n".join(said)).digest()
    return int.from_bytes(digest[:16], "little")


def trial_generator(what: str, *of: object, stream: int = 0) -> np.random.Generator:
    """The random numbers of a trial, the same every time. See :func:`trial_seed`.

    Parameters
    ----------
    stream
        Number of one of several independent streams of the seed.
    """
    return np.random.Generator(np.random.PCG64(trial_seed(what, *of) + stream))


def trial_coins(domain: Domain, *what: str) -> np.random.Generator:
    """Random numbers for trials on a table with these variables."""
    return trial_generator(joined([*(what or ["trial"]), *domain.names], "\n"))


@dataclass(frozen=True)
class Runs:
    """The number of runs of a trial, limited by counted work and never by time.

    Attributes
    ----------
    most, least
        Runs on each table.
    work
        The cost that all runs together may have, beyond the least number of runs.
    faults
        Whether a fault of the program counts as a refusal, so that it does not end a long series.
    """

    most: int
    least: int = 1
    work: float = math.inf
    faults: bool = False

    def of_cost(self, each: float) -> int:
        """The number of runs at a given cost of each."""
        return int(max(self.least, min(self.most, self.work // max(each, 1))))


ONCE = Runs(1)


class Performing(Protocol):
    """The part of a method that trials need."""

    def is_random(self, values: Values) -> bool:
        """Return True if two runs may differ."""

    def perform(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> tuple[Release, Draft]:
        """Protect once, with every promise checked."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One simulated release, or the refusal. Confidential.

    Attributes
    ----------
    problem
        The table that was protected.
    outcome
        The release and its draft, or the refusal.
    """

    problem: Problem
    outcome: tuple[Release, Draft] | TabprotectError

    @property
    def refusal(self) -> TabprotectError | None:
        """The error for which there is no release; ``None`` where there is one."""
        return self.outcome if isinstance(self.outcome, TabprotectError) else None

    @property
    def done(self) -> tuple[Release, Draft]:
        """The release and its draft.

        Raises
        ------
        TabprotectError
            The refusal.
        """
        if isinstance(self.outcome, TabprotectError):
            raise self.outcome
        return self.outcome

    @property
    def release(self) -> Release:
        """The one of :attr:`done`."""
        return self.done[0]

    @property
    def draft(self) -> Draft:
        """The one of :attr:`done`."""
        return self.done[1]

    def judged(self, judge: Callable[[Release], T], *, faults: bool = False) -> T | TabprotectError:
        """The judgement of the release, or the error that prevents it: see :func:`attempted`."""
        if isinstance(self.outcome, TabprotectError):
            return self.outcome
        return attempted(partial(judge, self.release), faults=faults)

    @property
    def cost(self) -> int:
        """Number of published cells, and at least that of the table's."""
        size = self.problem.table.domain.size
        if self.refusal is not None:
            return size
        return max(size, sum(published.table.domain.size for published in self.release.tables))


def simulate(
    method: Performing,
    problems: Problem | Iterable[Problem],
    values: Values,
    runs: Runs = ONCE,
    *,
    generator: np.random.Generator,
    progress: Progress = SILENT,
) -> Iterator[Trial]:
    """Protect tables again and again.

    A refusal is an item of the stream and does not end it. A method without chance is tried once on
    each table. The caller stops reading when it has enough.

    Parameters
    ----------
    problems
        The tables, any number of them.
    values
        As ``Method.resolve`` gives them.
    runs
        Runs on each table; the cost of a run is taken from the first (see :attr:`Trial.cost`).
    generator
        The source of the coins of all runs, one after the other.

    Raises
    ------
    Interrupted
        When cancelled, at once.
    """
    tables = [problems] if isinstance(problems, Problem) else problems
    random = method.is_random(values)
    several = len(tables) if isinstance(tables, Sized) else 0
    for number, problem in enumerate(tables):
        # Of an endless stream of tables no share is done.
        table = PartialProgress(progress, number, several) if several else progress
        run, wanted = 0, runs.most if random else 1
        while run < wanted:
            part = PartialProgress(table, run, wanted)
            part.report(STAGE, 0.0)
            work = partial(method.perform, problem, values, generator, part)
            trial = Trial(problem, attempted(work, faults=runs.faults))
            yield trial
            run += 1
            if run == 1 and random:
                wanted = runs.of_cost(trial.cost)
