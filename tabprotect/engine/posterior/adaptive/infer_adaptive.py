"""The posterior where the current table chooses the cycles: originals listed, or drawn."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.cycles.cycle_family import Family
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.adaptive.adaptive_tables import adaptive_originals
from tabprotect.engine.posterior.adaptive.adaptive_walk import AdaptiveWalk
from tabprotect.engine.posterior.agreement import worth
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.moves.drawn_tables import over_listed, shares_of, whole_tables
from tabprotect.engine.posterior.moves.signature_model import require_possible
from tabprotect.engine.posterior.populations import drawn, separate, separate_sizes
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.progress import Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import AdaptiveSequence
from tabprotect.languages.messages import message

MOST_UPDATES = 8 * 10**9
"""Most masses evaluated by one estimate when no number of draws is asked for (about a minute)."""


def infer_adaptive(
    likelihood: AdaptiveSequence,
    prior: Prior,
    approach: Approach,
    randomness: Randomness | None,
    progress: Progress,
) -> Posterior:
    """Answer as ``infer`` does."""
    family = Family.of(likelihood.moves)
    _check(likelihood, prior, family)
    listed = None if approach.way == "monte_carlo" else adaptive_originals(likelihood, family, progress)
    if listed is not None and not np.isfinite(listed.log_likelihood).any():
        raise InputError(
            message("the published table cannot come from so many steps of this mechanism"),
            hint=message("the table and the mechanism do not belong together"),
        )
    if listed is not None:
        log_weight = listed.log_likelihood + prior.log_weight(family.touched, listed.counts).sum(axis=1)
        possible = log_weight > -np.inf
        if not possible.any():
            raise InfeasibleError(
                message("the prior excludes every original that could have become the published table"),
                hint=message("choose a wider prior"),
            )
        changes = listed.counts[possible] - likelihood.published.counts.reshape(-1)[family.touched]
        reason = message("all {counts:,} possible originals were listed", len(changes))
        originals = changes, log_weight[possible]
        return over_listed(likelihood.published, prior, reason, originals, _rows(likelihood, family))
    if approach.way == "exact":
        raise InfeasibleError(
            message("too many originals could have become the published table for an exact posterior"),
            hint=message("take Monte Carlo, or fewer steps"),
        )
    generator = (randomness or Randomness.fresh()).generator()
    walk = AdaptiveWalk(likelihood, family, prior)
    found = _estimated(walk, approach.draws, generator, progress)
    return replace(found, reason=message("asked for")) if approach.way == "monte_carlo" else found


def _check(likelihood: AdaptiveSequence, prior: Prior, family: Family) -> None:
    published = likelihood.published
    domain, counts = published.domain, published.counts.reshape(-1)
    if published.has_negative:
        raise InputError(
            message("a published count is negative, which cycles through positive cells never make"),
            cell=domain.cell_text(domain.unflat(int(np.flatnonzero(counts < 0)[0]))),
            hint=message("the table and the mechanism do not belong together"),
        )
    untouched = np.setdiff1d(np.arange(domain.size), family.touched)
    require_possible(prior, published, untouched)
    low, high = prior.support(family.touched)
    now = counts[family.touched]
    never = (low > now + likelihood.steps) | (high < now - likelihood.steps) | (low > high)
    if never.any():
        cell = domain.unflat(int(family.touched[never][0]))
        raise InfeasibleError(
            message("the prior excludes every original that cell {cell} could have", domain.cell_text(cell)),
            hint=message("choose a prior that allows counts near the published one"),
        )


def _rows(likelihood: AdaptiveSequence, family: Family) -> Ints:
    """The row of each cell; untouched cells share a last row that never changes."""
    out = np.full(likelihood.published.domain.size, len(family.touched), dtype=np.int64)
    out[family.touched] = np.arange(len(family.touched))
    return out


def _estimated(
    walk: AdaptiveWalk, draws: int | None, generator: np.random.Generator, progress: Progress
) -> Posterior:
    family, published = walk.family, walk.likelihood.published.counts.reshape(-1)
    affordable = MOST_UPDATES // max(walk.updates, 1)
    size, populations = separate_sizes(draws, affordable, walk.largest_population)
    found = separate(walk.population, size, populations, generator, progress)
    changes = [(drawn - published[family.touched, None]).T for drawn in found]
    span = max(int(np.abs(change).max(initial=0)) for change in changes)
    each = np.stack([shares_of(change, span) for change in changes])
    mean = each.mean(axis=0)
    variance = each.var(axis=0, ddof=1) / populations
    error = np.sqrt(variance)
    return Posterior(
        published=walk.likelihood.published,
        prior=walk.prior,
        way="monte_carlo",
        reason=message("too many originals are possible to list"),
        group_of_cell=_rows(walk.likelihood, family),
        first=published - span,
        chances=mean,
        draw_originals=partial(_drawn, walk),
        count_originals=lambda: None,
        standard_errors=error,
        error=float(error.max(initial=0.0)),
        effective_sample_size=worth(mean, variance, populations * size, size),
        draws=populations * size,
    )


def _drawn(walk: AdaptiveWalk, number: int, generator: np.random.Generator, progress: Progress) -> Ints:
    """Whole originals, int64 (number, cells), of as many populations as that takes."""
    found = drawn(
        walk.population, walk.largest_population, (number, len(walk.family.touched)), generator, progress
    )
    published = walk.likelihood.published.counts.reshape(-1)
    return whole_tables(
        found - published[walk.family.touched], _rows(walk.likelihood, walk.family), published
    )
