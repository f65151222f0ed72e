"""Before the coins: how likely a release is to pass the gate.

Estimated on synthetic tables, Poisson counts around the proportional fit of the margins that every
release states exactly: public things only, so that choosing a mechanism by it tells nobody anything.
Also, for staff alone, on the table itself: choosing by that tells a little.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InputError, Interrupted, TabprotectError
from tabprotect.engine.fitting.expected import fit
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.remedy import Remedy
from tabprotect.engine.release.gate import Gate
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

SYNTHETIC = 12
"""Synthetic tables, and trial runs on the table itself."""

WORK = 200_000
"""Cells of all tables that are tried for one estimate, beyond the least number."""

LEAST = 2
"""Tables at least; no more where the posterior of one has to be drawn."""

WORTH = 0.5
"""A remedy passes at least so often."""


@dataclass(frozen=True)
class Chance:
    """How often releases passed.

    Attributes
    ----------
    synthetic
        Share of synthetic tables; ``None`` where no margin is stated exactly.
    here
        Share of trial runs on the table itself. Confidential.
    runs
        Of each, at most.
    """

    synthetic: float | None
    here: float | None
    runs: int

    @property
    def unlikely(self) -> bool:
        """Whether most draws would be refused."""
        said = [share for share in (self.synthetic, self.here) if share is not None]
        return bool(said) and max(said) < WORTH

    @property
    def sentence(self) -> str:
        """In words, for staff."""
        said = []
        if self.synthetic is not None:
            said.append(f"{self.synthetic:.0%} of synthetic tables with the same margins")
        if self.here is not None:
            said.append(f"{self.here:.0%} of trial runs on this table (CONFIDENTIAL)")
        return f"The gate lets through {' and '.join(said)}." if said else ""


def chance(
    method: Method,
    problem: Problem,
    values: Mapping[str, object],
    limits: Gate,
    *,
    on_this_table: bool = True,
    progress: Progress = SILENT,
) -> Chance:
    """The chance of acceptance of one draw.

    Parameters
    ----------
    values
        As ``Method.resolve`` gives them.
    """
    runs = _runs(problem, method.is_random(values))
    generator = _generator(method, problem, "chance")
    tables = _synthetic(method.kept(problem.table.domain, values), problem, runs, generator)
    synthetic = None
    if tables:
        synthetic = _share(method, tables, values, limits, (generator, progress))
    here = None
    if on_this_table:
        here = _share(method, [problem] * runs, values, limits, (generator, progress))
    return Chance(synthetic, here, runs)


def _share(
    method: Method,
    problems: list[Problem],
    values: Mapping[str, object],
    limits: Gate,
    means: tuple[np.random.Generator, Progress],
) -> float:
    """Of one draw on each table, the share that passes."""
    generator, progress = means
    passed: list[bool] = []
    drawn = False
    for number, problem in enumerate(problems):
        if drawn and number >= LEAST:
            break
        progress.report("trying the gate", number / len(problems))
        try:
            release, _ = method.perform(problem, values, generator, progress)
            found = verdict(release, limits, progress=progress)
        except Interrupted:
            raise
        except TabprotectError:
            # A table that the method refuses gives no release.
            passed.append(False)
            continue
        drawn |= found.way != "exact"
        passed.append(found.accepted)
    return sum(passed) / len(passed)


def remedies(
    method: Method,
    problem: Problem,
    values: Mapping[str, object],
    limits: Gate,
    progress: Progress = SILENT,
) -> tuple[Remedy, ...]:
    """Other settings whose releases pass on synthetic tables, best first."""
    domain, found = problem.table.domain, []
    for text, change in method.alternatives(domain, values):
        try:
            other = method.resolve(domain, {**values, **change})
        except TabprotectError:
            continue
        passes = chance(
            method, problem, other, limits, on_this_table=False, progress=progress
        ).synthetic
        if passes is not None and passes >= WORTH:
            found.append(Remedy(text, change, passes))
    return tuple(sorted(found, key=lambda remedy: -remedy.chance))


def _runs(problem: Problem, random: bool) -> int:
    if not random:
        return 1
    return int(np.clip(WORK // max(problem.table.domain.size, 1), LEAST, SYNTHETIC))


def _generator(method: Method, problem: Problem, what: str) -> np.random.Generator:
    """The same estimate whenever it is asked for."""
    text = "\n".join([what, method.name, *problem.table.domain.names])
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def _synthetic(
    kept: MarginSet, problem: Problem, runs: int, generator: np.random.Generator
) -> list[Problem]:
    if not any(kept):
        return []
    domain = problem.table.domain
    publication = Publication(domain, kept)
    try:
        expected = fit(publication, publication.stack(publication.sums(problem.table))).cells
    except InputError:
        return []
    counts = generator.poisson(np.minimum(expected, 1e15), (runs, *domain.shape))
    return [Problem(Table.dense(domain, one), problem.at_risk) for one in counts]
