"""Which cells a table's rule makes sensitive, how far they must stay open, and what hiding costs.

Everything here follows from the parameters of suppression and from the table; given statuses
have the last word.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.suppressing.given_statuses import GivenStatuses, cells_named
from tabprotect.engine.protection.suppressing.task import Insiders, Task
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

LEVEL: Parameter[int | None] = Parameter(
    "level",
    message("Protection level"),
    message(
        "How far an unsafe count must stay open, downwards and upwards. Without a number 2, and 1 for the "
        "choice by letters."
    ),
    "integer",
    None,
    1,
    10**9,
    unit=message("counts"),
)

LEVEL_PERCENT: Parameter[float] = Parameter(
    "level_percent",
    message("Protection level in percent"),
    message("The same as a share of the count; the larger of the two holds."),
    "real",
    0.0,
    0.0,
    1000.0,
    unit=message("percent"),
)

TOTALS: Parameter[Literal["allowed", "published"]] = Parameter(
    "totals",
    message("Totals"),
    message("Whether totals may be hidden."),
    "choice",
    "allowed",
    choices={
        "allowed": message("Totals may be hidden; they cost more."),
        "published": message("Totals are published unless they are unsafe themselves."),
    },
)

ZEROS: Parameter[Literal["published", "allowed", "often"]] = Parameter(
    "zeros",
    message("Zeros"),
    message("Whether zeros may be hidden; often where a variable is sensitive and nothing is asked for."),
    "choice",
    "published",
    choices={
        "published": message("Zeros are published unless they are unsafe."),
        "allowed": message("Zeros may be hidden to protect others."),
        "often": message(
            "By letters, half of the zeros are hidden with the small counts: a zero that is shown tells more of "
            "its group than a small count does."
        ),
    },
)

INSIDERS: Parameter[Insiders] = Parameter(
    "insiders",
    message("People alone in a cell"),
    message("Against whom the intervals hold."),
    "choice",
    "one",
    choices={
        "none": message("A reader knows the published cells only."),
        "outside": message("Somebody who is alone in a cell learns no other cell that they are not part of."),
        "one": message(
            "Somebody who is alone in a cell knows its count: no such person learns another cell."
        ),
        "all": message("All who are alone in a cell put their counts together and learn no further cell."),
    },
)

COSTS: Parameter[Literal["count", "unity", "log"]] = Parameter(
    "costs",
    message("Costs"),
    message("What is rather kept."),
    "choice",
    "count",
    choices={
        "count": message("Hide small counts: the sum of the hidden counts is small."),
        "unity": message("Hide few cells."),
        "log": message("Between the two."),
    },
)

WHOLE_RANGE: Parameter[bool] = Parameter(
    "whole_range",
    message("The rule's whole range"),
    message("Every interval contains all counts the small-count rule names, whatever the level."),
    "flag",
    False,
)

STATUSES: Parameter[str | None] = Parameter(
    "statuses",
    message("Given statuses"),
    message("A tau-ARGUS a priori file: cells to hide or never to hide, unsafe ones, costs."),
    "statuses",
    public=False,
)

ALSO: Parameter[str | None] = Parameter(
    "also",
    message("Hidden in any case"),
    message(
        "Cells that are hidden besides, one a line by their categories, with nothing for a total; published. "
        "By letters, and where nothing is given, those that earlier releases of the same variables hide: "
        "what is hidden in one table of the same people is not shown by another. Zeros are never hidden so."
    ),
    "text",
    may_be_unstated=True,
)

USUAL_LEVEL, PLANNED_LEVEL = 2, 1
"""The protection level where none is given, and that of a plan."""

DEAREST = 10.0
"""Cost of hiding the grand total, as a multiple of that of the costliest other cell."""


def never_zero(values: Values, rule: SmallCount) -> bool:
    """Return True if readers know that no hidden cell is zero: zeros are neither sensitive nor allowed."""
    return values[ZEROS] == "published" and rule.low > 0


def task_of(problem: Problem, publication: Publication, values: Values, *, planned: bool = False) -> Task:
    """The task that a table's rule and the parameters set.

    Parameters
    ----------
    planned
        Whether it is a plan: given statuses have the last word over what it makes sensitive.

    Raises
    ------
    InputError
        For a given status that the rule contradicts.
    """
    counts: Ints = np.asarray(publication.incidence @ problem.table.counts.reshape(-1))
    rule = problem.at_risk
    primary = rule.mask(counts)
    # A sum of no cells at all is zero for every reader.
    nobody = np.diff(publication.incidence.indptr) == 0
    primary &= ~nobody
    level = _level(counts, values, rule)
    below, above = level, level
    cost = _cost(publication, counts, values)
    cost[nobody] = np.inf
    forced = None
    text = values[STATUSES]
    if text:
        given = GivenStatuses.of(text, publication)
        if planned:
            primary &= ~(given.published | given.safe)
        _check(given, publication, primary, counts if never_zero(values, rule) else None)
        primary = primary | given.sensitive
        cost = np.where(np.isnan(given.cost) | np.isinf(cost), cost, given.cost)
        cost[given.published] = np.inf
        forced = given.hidden
        below = np.where(given.below >= 0, given.below, level)
        above = np.where(given.above >= 0, given.above, level)
    if also := values.get(ALSO.name):
        besides = np.zeros(len(counts), dtype=np.bool_)
        besides[cells_named(str(also), publication)] = True
        besides &= (counts > 0) & np.isfinite(cost)
        forced = besides if forced is None else forced | besides
    return Task(
        publication,
        problem.table,
        primary,
        below,
        above,
        cost,
        values[INSIDERS],
        never_zero(values, rule),
        forced,
    )


def _level(counts: Ints, values: Values, rule: SmallCount) -> Ints:
    """The largest of what is asked for: a number, a share, the whole range of the rule."""
    percent = values[LEVEL_PERCENT]
    level: Ints = np.maximum(values[LEVEL] or USUAL_LEVEL, np.ceil(counts * (percent / 100)).astype(np.int64))
    if values[WHOLE_RANGE]:
        level = np.maximum(level, np.maximum(counts - rule.low, rule.high - counts))
    return level


def _check(given: GivenStatuses, publication: Publication, primary: Bools, counts: Ints | None) -> None:
    name = publication.cell_text
    wrong = np.flatnonzero((given.published | given.safe) & primary)
    if len(wrong):
        raise InputError(
            message("a cell that the rule makes unsafe is given as protected, to be published (p)")
            if given.published[wrong[0]]
            else message("a cell that the rule makes unsafe is given as safe (s)"),
            cell=name(int(wrong[0])),
            hint=message("leave the cell out of the given statuses, or narrow the rule"),
        )
    if counts is None:
        return
    zero = np.flatnonzero((given.hidden | given.sensitive) & (counts == 0) & ~primary)
    if len(zero):
        raise InputError(
            message("an empty cell is given as hidden"),
            cell=name(int(zero[0])),
            hint=message("readers take hidden cells for cells that are not empty"),
        )


def _cost(publication: Publication, counts: Ints, values: Values) -> Floats:
    cost = np.ones(len(counts))
    if values[COSTS] == "count":
        cost += counts
    elif values[COSTS] == "log":
        cost += np.log1p(counts)
    if values[ZEROS] == "published":
        cost[counts == 0] = np.inf
    if values[TOTALS] == "published":
        largest = max(domain.size for domain in publication.domains)
        for m, domain in enumerate(publication.domains):
            if domain.size < largest:
                cost[publication.starts[m] : publication.starts[m + 1]] = np.inf
    if () in publication.margins:
        # Without it nothing limits what was hidden, and no posterior can be computed.
        total = int(publication.starts[publication.margins.index(())])
        cost[total] = max(cost[total], DEAREST * cost[np.isfinite(cost)].max(initial=1.0))
    return cost
