"""The posterior where records changed places before a further method protected the table.

Swaps keep the law without association, whatever the sums are that they keep: so the original is what comes
of drawing the swapped table from its posterior under that law, given what is published, and swapping it once
more. Counts are expected there as the published sums have it. Another belief weighs the draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Factorial, KnowingZeros, OneCell, Poisson, Prior, Uniform
from tabprotect.engine.posterior.swaps.weighed import held, weighed
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import SwappedFirst
from tabprotect.engine.swaps.swap_plan import SwapPlan, swapped_back
from tabprotect.languages.messages import message

DRAWS, FEWEST_DRAWS = 6_000, 400
"""Draws of a posterior, and the fewest where the records are many."""

DRAWN_RECORDS = 2 * 10**7
"""Records whose places are drawn, in all draws but the fewest."""

LEAST_EXPECTED, WEIGHED_FROM = 0.1, 1.0
"""Of a cell, as a share of the mean count: a published sum of 0 may be noise. Where draws are weighed the
law that they are drawn by is wider."""


def infer_swapped_first(
    likelihood: SwappedFirst,
    prior: Prior,
    approach: Approach,
    randomness: Randomness | None,
    progress: Progress,
    infer: Callable[..., Posterior],
) -> Posterior:
    """Answer as ``infer`` does, which answers for the swapped table."""
    if approach.way == "exact":
        raise InfeasibleError(
            message("of a method after a swap there are draws, but no exact laws"),
            hint=message("take Monte Carlo"),
        )
    if isinstance(prior, KnowingZeros):
        # No plan brings anybody there.
        prior = prior.prior
    plain = isinstance(prior, Uniform) or (isinstance(prior, Factorial) and prior.theta == 1.0)
    least = LEAST_EXPECTED if plain or isinstance(prior, OneCell) else WEIGHED_FROM
    even = Poisson(expected(likelihood, least), knows=message("knows the published sums"))
    generator = (randomness or Randomness.fresh()).generator()
    swapped = infer(likelihood.then, even, Approach(steps=approach.steps), randomness, progress)
    records = max(int(swapped.mean.sum()), likelihood.domain.size)
    number = approach.draws or max(min(DRAWS, DRAWN_RECORDS // records), FEWEST_DRAWS)
    number = held(number, likelihood.domain.size)
    starts = swapped.sample(number, generator, SILENT).reshape(number, -1)
    progress.report(message("swapping once more"), 0.0)
    tables = swapped_back(likelihood.plan, starts, generator)
    cells, logs = np.arange(tables.shape[1]), np.zeros(number)
    if not plain and not (isinstance(prior, OneCell) and prior.cells is None):
        logs = prior.log_weight(cells, tables).sum(axis=1)
        if not isinstance(prior, OneCell):
            logs = logs - even.log_weight(cells, tables).sum(axis=1)
    reason = message("the swapped table was drawn given what is published, and swapped once more")
    found = weighed(likelihood.published, even if plain else prior, tables, logs, reason)
    if plain or not isinstance(prior, OneCell) or prior.cells is not None:
        return found
    values = found.first[:, None] + np.arange(found.chances.shape[1])
    before = np.exp(even.log_weight(np.broadcast_to(cells[:, None], values.shape), values))
    rows = np.where(found.chances > 0, found.chances * prior.weight(values, before), 0.0)
    total = rows.sum(axis=1, keepdims=True)
    return replace(found, chances=np.divide(rows, total, out=np.zeros_like(rows), where=total > 0))


def expected(likelihood: SwappedFirst, least: float = LEAST_EXPECTED) -> Floats:
    """What is expected of each cell by the published sums of places and of kinds, class by class."""
    plan = likelihood.plan
    found = np.maximum(likelihood.published.counts.reshape(-1), 0)
    counts = np.maximum(found, least * max(float(found.mean()), LEAST_EXPECTED))
    classes = _moved_within(plan)
    number = int(classes.max(initial=0)) + 1
    records = np.bincount(classes, counts, minlength=number)[classes]
    out = np.ones(len(counts))
    for key, size in ((plan.place, plan.places), (plan.kind, len(plan.match))):
        at = classes * size + key
        out *= np.bincount(at, counts, minlength=number * size)[at]
    return np.asarray(out / records)


def _moved_within(plan: SwapPlan) -> Ints:
    """The class of each cell within which records can get anywhere, int64 (cells,)."""
    return plan.classes(plan.levels[0])
