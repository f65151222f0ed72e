"""Which cells a table's rule makes sensitive, how far they must stay open, and what hiding costs.

Everything here follows from the parameters of suppression and from the table; given statuses
have the last word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.suppressing.given_statuses import GivenStatuses
from tabprotect.engine.protection.suppressing.task import Insiders, Task
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.publication import Publication

Values = Mapping[str, object]

DEAREST = 10.0
"""What hiding the grand total costs, times the dearest other cell."""


def never_zero(values: Values, rule: SmallCount) -> bool:
    """Whether readers know that no hidden cell is zero: zeros are neither sensitive nor allowed."""
    return values["zeros"] == "published" and rule.low > 0


def task_of(problem: Problem, publication: Publication, values: Values) -> Task:
    """What a table's rule and the parameters ask for.

    Raises
    ------
    InputError
        For a given status that the rule contradicts.
    """
    counts: Ints = np.asarray(publication.incidence @ problem.table.counts.reshape(-1))
    rule = problem.at_risk
    primary = rule.mask(counts)
    # A sum of no cells at all is zero for every reader.
    primary &= np.diff(publication.incidence.indptr) > 0
    level = _level(counts, values, rule)
    below, above = level, level
    cost = _cost(publication, counts, values)
    forced = None
    if values["statuses"]:
        given = GivenStatuses.of(str(values["statuses"]), publication)
        _check(given, publication, primary, counts if never_zero(values, rule) else None)
        primary = primary | given.sensitive
        cost = np.where(np.isnan(given.cost) | np.isinf(cost), cost, given.cost)
        cost[given.published] = np.inf
        forced = given.hidden
        below = np.where(given.below >= 0, given.below, level)
        above = np.where(given.above >= 0, given.above, level)
    return Task(
        publication,
        problem.table,
        primary,
        below,
        above,
        cost,
        cast(Insiders, values["insiders"]),
        never_zero(values, rule),
        forced,
    )


def _level(counts: Ints, values: Values, rule: SmallCount) -> Ints:
    """The largest of what is asked for: a number, a share, the whole range of the rule."""
    percent = cast(float, values["level_percent"])
    level: Ints = np.maximum(
        cast(int, values["level"]), np.ceil(counts * (percent / 100)).astype(np.int64)
    )
    if values["whole_range"]:
        level = np.maximum(level, np.maximum(counts - rule.low, rule.high - counts))
    return level


def _check(
    given: GivenStatuses,
    publication: Publication,
    primary: Bools,
    counts: Ints | None,
) -> None:
    name = publication.cell_text
    wrong = np.flatnonzero((given.published | given.safe) & primary)
    if len(wrong):
        raise InputError(
            "a cell that the rule makes sensitive is given as safe",
            cell=name(int(wrong[0])),
            hint="leave the cell out of the given statuses, or narrow the rule",
        )
    if counts is None:
        return
    zero = np.flatnonzero((given.hidden | given.sensitive) & (counts == 0) & ~primary)
    if len(zero):
        raise InputError(
            "an empty cell is given as hidden",
            cell=name(int(zero[0])),
            hint="readers take hidden cells for cells that are not empty",
        )


def _cost(publication: Publication, counts: Ints, values: Values) -> Floats:
    cost = np.ones(len(counts))
    if values["costs"] == "count":
        cost += counts
    elif values["costs"] == "log":
        cost += np.log1p(counts)
    if values["zeros"] == "published":
        cost[counts == 0] = np.inf
    if values["totals"] == "published":
        largest = max(domain.size for domain in publication.domains)
        for m, domain in enumerate(publication.domains):
            if domain.size < largest:
                cost[publication.starts[m] : publication.starts[m + 1]] = np.inf
    if () in publication.margins:
        # Without it nothing limits what was hidden, and no posterior can be computed.
        total = int(publication.starts[publication.margins.index(())])
        cost[total] = max(cost[total], DEAREST * cost[np.isfinite(cost)].max(initial=1.0))
    return cost
