"""A hiding set that is chosen for a plan: by letters of the counts, never by the counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.published_margins import Support, sum_factors
from tabprotect.engine.protection.suppressing.choice import SEARCH, HidingChoice, choose
from tabprotect.engine.protection.suppressing.letters import (
    HALF,
    LARGEST,
    OFTEN,
    SPREAD,
    LetterLaw,
    as_text,
    from_text,
    most_in_classes,
    usual_half,
)
from tabprotect.engine.protection.suppressing.sensitive import (
    ALSO,
    COSTS,
    INSIDERS,
    LEVEL,
    LEVEL_PERCENT,
    PLANNED_LEVEL,
    STATUSES,
    TOTALS,
    WHOLE_RANGE,
    ZEROS,
    never_zero,
    task_of,
)
from tabprotect.engine.protection.suppressing.task import Task
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication

LETTERS = "letters"
"""Disclosed: the letters of the hidden inner cells, in the order of the cells."""


_DEFAULTS = {
    one.name: one.default
    for one in (LEVEL_PERCENT, TOTALS, ZEROS, INSIDERS, COSTS, WHOLE_RANGE, STATUSES, ALSO, SEARCH)
}


def usual_values(values: Values) -> Values:
    """The values of a plan where nothing but the letters is asked for, those of letters among ``values``."""
    own = {HALF.name: values[HALF], LARGEST.name: values[LARGEST]}
    return Values(_DEFAULTS | own | {LEVEL.name: PLANNED_LEVEL})


@dataclass(frozen=True, eq=False)
class PlannedPattern:
    """What is hidden by a plan. Confidential.

    Attributes
    ----------
    publication
    law
    letters : int64 (inner cells,)
    task
        That of the plan.
    choice
        ``None`` where the plan asks for more than can be had: all that is not zero is hidden.
    hidden : bool (published cells,)
    """

    publication: Publication
    law: LetterLaw
    letters: Ints
    task: Task
    choice: HidingChoice | None
    hidden: Bools

    @property
    def disclosed(self) -> dict[str, object]:
        """What the release states beside the rule."""
        of_hidden = self.letters[self.hidden[inner_run(self.publication)]]
        return {LARGEST.name: self.law.largest, LETTERS: as_text(of_hidden)}


def inner_run(publication: Publication) -> slice:
    """The published cells that are the inner ones.

    Raises
    ------
    ValueError
        Where they are not published.
    """
    at = publication.domains.index(publication.domain)
    return slice(int(publication.starts[at]), int(publication.starts[at + 1]))


def plan(
    problem: Problem, publication: Publication, values: Values, key: bytes, progress: Progress = SILENT
) -> PlannedPattern:
    """Draw letters, and choose a hiding set that protects all that are planned as at risk.

    Parameters
    ----------
    values
        As for :func:`task_of`, with those of letters.
    key
        That of the letters.

    Raises
    ------
    InputError
        For a given status that the rule contradicts.
    """
    if values[STATUSES]:
        # What contradicts the true counts is refused, not what contradicts the plan.
        task_of(problem, publication, values)
    rule, half = problem.at_risk, values[HALF] or usual_half(publication.domain)
    told = _grand_total(publication) is not None and not values[STATUSES]
    largest = most_in_classes(rule, half, values[LARGEST], problem.table if told else None)
    law = LetterLaw(rule, half, largest, _of_zeros(values, rule))
    return hide(problem, publication, values, law, law.draw(problem.table, key), progress)


def hide(
    problem: Problem,
    publication: Publication,
    values: Values,
    law: LetterLaw,
    letters: Ints,
    progress: Progress = SILENT,
) -> PlannedPattern:
    """Choose a hiding set for letters, int64 (inner cells,): of the table only zeros and labels matter."""
    task = _planned_task(law, problem, publication, letters, values)
    try:
        choice = choose(task, values[SEARCH], progress)
    except InfeasibleError:
        hidden = task.primary | ((task.values > 0) & np.isfinite(task.cost))
        if task.forced is not None:
            hidden |= task.forced
        return PlannedPattern(publication, law, letters, task, None, hidden)
    return PlannedPattern(publication, law, letters, task, choice, choice.hidden)


def _planned_task(
    law: LetterLaw, problem: Problem, publication: Publication, letters: Ints, values: Values
) -> Task:
    """The task that the plan sets: every letter P is primary, and so are planned totals at risk."""
    planned = replace(problem, table=law.plan(problem.table, letters), at_risk=law.at_risk)
    task = task_of(planned, publication, values, planned=True)
    cost, total = task.cost.copy(), _grand_total(publication)
    # A zero that is told by its letter would be hidden in vain.
    run = inner_run(publication)
    told = letters == len(law.planned) - 1
    cost[run][told] = np.inf
    primary = task.primary
    if law.zeros:
        # Where P may be of zeros, a sum of no other letter may be as small as any of them.
        sums = publication.incidence
        primary = primary | ((sums @ ((letters > 0) & ~told) == 0) & (sums @ (letters == 0) > 0))
    if total is not None:
        # Its own count decides the classes.
        cost[total] = np.inf
    return replace(task, primary=primary, cost=cost)


def _grand_total(publication: Publication) -> int | None:
    if () not in publication.margins:
        return None
    return int(publication.starts[publication.margins.index(())])


def law_of(publication: Publication, values: Values, rule: SmallCount) -> LetterLaw:
    """The law of stated values, the largest class among them."""
    half = values[HALF] or usual_half(publication.domain)
    largest = most_in_classes(rule, half, values[LARGEST], None)
    return LetterLaw(rule, half, largest, _of_zeros(values, rule))


def _of_zeros(values: Values, rule: SmallCount) -> float:
    """The chance of the letter P for a zero."""
    if never_zero(values, rule):
        return 0.0
    return OFTEN if values[ZEROS] == "often" else SPREAD


def stated_largest(domain: Domain, earlier: Sequence[Release]) -> int | None:
    """The largest count in a class that the last release by letters of the same variables states."""
    for release in reversed(earlier):
        # Open rounding has letters, too, and no classes.
        stated = release.mechanism.parameters
        if {LETTERS, LARGEST.name} <= set(stated) and set(release.domain.names) == set(domain.names):
            return int(str(stated[LARGEST.name]))
    return None


def told_by_letters(
    release: Release,
    shown: tuple[Publication, Ints],
    hidden: Bools,
    stated: tuple[Values, SmallCount, object],
) -> CellFactors:
    """What is published is true, and what is hidden has its letter: nothing else depends on the counts.

    Parameters
    ----------
    shown
        The publication, and the published numbers, int64 (size,).
    hidden : bool (size,)
    stated
        The values of the plan, the rule, and the letters of the hidden inner cells as they are published.

    Raises
    ------
    InputError
        If the letters are not those of so many cells.
    """
    (publication, counts), (values, rule, text) = shown, stated
    law = law_of(publication, values, rule)
    run = inner_run(publication)
    at = run.start + np.flatnonzero(hidden[run])
    # 0 stands for a hidden sum, and numbers beyond all shown ones for letters.
    numbers = np.where(hidden, 0, counts + 1)
    first = int(numbers.max(initial=0)) + 1
    numbers[at] = first + from_text(text, len(at), law)

    def weigh(number: int, size: int) -> Support:
        if number >= first:
            return law.support(number - first)
        return (number - 1, number - 1, None) if number else (int(not law.zeros), UNBOUNDED, None)

    # Other coins than the house's are those of one release.
    own = f"{LETTERS} {law.half}" if release.mechanism.coins == "house" else ""
    return replace(sum_factors(release, (publication, numbers), weigh), own_chance=own)
