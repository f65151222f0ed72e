"""Two releases of one table by two methods: what the verdict says of both, and who lists every original."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from listing_reader import Reader, TooManyError

from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError, TabprotectError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.table import Table

LIMITS = AgencyPolicy().limits()

MOST = 3_000
"""Originals of one reader, and of both."""

RERUN = 200
"""The same where the program is run on each."""

GIVEN: Mapping[str, Mapping[str, object]] = {
    "suppression": {"choice": "cheapest"},
    "coarsening": {},
    "publish_margins": {"margins": "A + B"},
    "cyclic_perturbation": {"cycles": "strips-2", "blocking": "negative"},
    "random_rounding": {"base": 3},
    "controlled_rounding": {"base": 2},
    "small_count_rounding": {"base": 3},
    "controlled_tabular_adjustment": {"choice": "nearest"},
    "cell_key": {"D": 2, "V": 1, "js": 0, "margins": "A:B - 1"},
    "discrete_laplace": {"epsilon": 3.0, "margins": "A:B - 1", "cap": 2},
    "discrete_gaussian": {"margins": "A:B - 1", "cap": 2},
    "bootstrap": {"S": 1.5, "M": 1},
    "binomial_compensated": {"S": 1.5},
    "post_randomisation": {"pstay": "0.7"},
}

RUN_AGAIN = ("suppression", "coarsening", "publish_margins", "controlled_rounding", "small_count_rounding")


Weights = dict[tuple[int, ...], float]
"""The weight of every original."""


def released(name: str, table: Table, generator: np.random.Generator) -> Release | None:
    """One draw that the method lets out."""
    method = methods()[name]
    given = GIVEN[name] or method.trial_parameters(table.domain)
    try:
        problem = Problem(table)
        release, draft = method.perform(problem, method.resolve_for(problem, given), generator)
    except TabprotectError:
        return None
    return None if method.acceptance_failure(draft.findings) else release


def listed(reader: Reader) -> Weights:
    """Every original with its weight."""
    found = {(): 1.0}
    if math.prod(len(part.originals) for part in reader.parts) > MOST:
        raise TooManyError
    cells: list[int] = []
    for part in reader.parts:
        each = list(zip(map(tuple, part.originals.tolist()), part.weights.tolist(), strict=True))
        found = {(*had, *more): one * two for had, one in found.items() for more, two in each}
        cells += part.cells
    order = np.argsort(cells)
    return {tuple(np.array(one)[order].tolist()): weight for one, weight in found.items() if weight > 0}


def read(name: str, table: Table, generator: np.random.Generator) -> tuple[Release, Weights] | None:
    """One draw of a method and every original with its weight; ``None`` where nobody can list them."""
    release = released(name, table, generator)
    if release is None:
        return None
    try:
        return release, listed(Reader(release, LIMITS.at_risk, RERUN if name in RUN_AGAIN else MOST))
    except TooManyError:
        return None


def compared(first: tuple[Release, Weights], second: tuple[Release, Weights]) -> str | None:
    """How two releases of a table are read: ``exact``, ``drawn``, or what was left out; ``None`` of one draw.

    Raises
    ------
    AssertionError
        Where the verdict says otherwise than who lists all originals.
    """
    (one, mine), (two, theirs) = first, second
    if (one.mechanism, one.tables) == (two.mechanism, two.tables):
        # Equal releases by coins that nobody drew anew are one draw.
        return None
    both = {original: weight * theirs[original] for original, weight in mine.items() if original in theirs}
    total = sum(both.values())
    assert total > 0, "no original is left"
    chances = np.zeros((one.domain.size, LIMITS.at_risk.high + 1))
    for original, weight in both.items():
        for cell, count in enumerate(original):
            if LIMITS.at_risk.low <= count <= LIMITS.at_risk.high:
                chances[cell, count] += weight / total
    try:
        found = verdict(two, LIMITS, [one])
    except (InfeasibleError, InputError, ParameterError) as error:
        return f"refused: {type(error).__name__}"
    if not found.complete:
        return f"left out: {', '.join(map(str, found.left_out))}"
    (inner,) = (judged for judged in found.tables if judged.inner and judged.who == "user")
    slack = 1e-7 if inner.way == "exact" else 6 * (inner.error or 0.0) + 1e-7
    expected = float(chances.sum())
    assert abs(inner.at_risk - expected) <= slack * one.domain.size, (inner.at_risk, expected)
    top = chances.max(axis=1)
    least, most = ((top > LIMITS.belief_limit + way * slack).sum() for way in (1, -1))
    assert least <= inner.known <= most, (inner.known, top)
    return "exact" if inner.way == "exact" else "drawn"
