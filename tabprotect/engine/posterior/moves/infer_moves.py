"""The posterior of a sequence of moves: exact if the moves overlap little, else simulated."""

from __future__ import annotations

from functools import partial

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.moves import sampling
from tabprotect.engine.posterior.moves.drawn_tables import MOST_LISTED, narrow_tables, of_tables, whole_tables
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.moves.enumeration import enumerated_originals, number_of_originals
from tabprotect.engine.posterior.moves.independent_parts import of_elimination
from tabprotect.engine.posterior.moves.signature_model import GroupModel, group_model
from tabprotect.engine.posterior.moves.sum_sweep import SumLaws
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.progress import Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.languages.messages import message


def _exact_because(exact: Elimination) -> str:
    if exact.thinned is None:
        return message("the cycles overlap little enough (width {width})", exact.width)
    return message(
        "exact for this release: {dropped:,} kinds of cells are published too "
        "large to block a cycle, and the others overlap little enough (width {width})",
        exact.thinned.dropped,
        exact.width,
    )


def drawn_because(model: GroupModel) -> str:
    """Say why the posterior is drawn, and what would make it exact."""
    if model.symmetric:
        return message(
            "the cycles overlap too much for a formula; the mechanism run backwards draws "
            "originals exactly as a reader should believe them"
        )
    remedies = [
        *([message("fewer passes")] if model.passes > 1 else []),
        *([message("fewer repeats")] if model.compact().repeats > 1 else []),
        message("lower strips"),
    ]
    if model.log_prior is None:
        remedies.append(
            message("or alpha and beta alike, which is drawn exactly")
            if model.coin.rule == "negative"
            else message("or the rule negative, which is drawn exactly")
        )
    return message("the cycles overlap too much for the exact way; it takes {remedies}", ", ".join(remedies))


def infer_moves(
    likelihood: MoveSequence,
    prior: Prior,
    approach: Approach,
    randomness: Randomness | None,
    progress: Progress,
) -> Posterior:
    """See :func:`infer`. Cells that always move together share the distribution of their change."""
    model = group_model(likelihood, prior, progress)
    sig = model.signatures
    # Untouched cells belong to a last group that never changes.
    group_of_cell = np.where(sig.group_of_cell < 0, model.groups, sig.group_of_cell)
    published = likelihood.published.counts.reshape(-1)
    certain = np.zeros((1, 2 * model.span + 1))
    certain[0, model.span] = 1.0
    exact = None if approach.way == "monte_carlo" else Elimination.of(model, progress)
    if exact is None and approach.way == "exact":
        raise InfeasibleError(
            message("the cycles overlap too much for an exact posterior"),
            hint=message("take Monte Carlo, fewer passes, or lower strips of swaps"),
        )
    if exact is not None:
        return Posterior(
            published=likelihood.published,
            prior=prior,
            way="exact",
            reason=_exact_because(exact),
            group_of_cell=group_of_cell,
            first=published - model.span,
            chances=np.concatenate([exact.changes(progress), certain]),
            draw_originals=of_tables(exact.draw, group_of_cell, published),
            draw_narrow=narrow_tables(exact.draw, group_of_cell, published, model.span),
            count_originals=lambda: number_of_originals(model),
            list_originals=lambda: _listed(model, published),
            exact_sums=SumLaws(exact, group_of_cell, published),
            parts=of_elimination(exact, group_of_cell, published),
        )
    generator = (randomness or Randomness.fresh()).generator()
    walk = sampling.BackwardWalk(model)
    found = sampling.estimate(walk, draws=approach.draws, generator=generator, progress=progress)
    asked = approach.way == "monte_carlo"
    return Posterior(
        published=likelihood.published,
        prior=prior,
        way="monte_carlo",
        reason=message("asked for") if asked else drawn_because(model),
        group_of_cell=group_of_cell,
        first=published - model.span,
        chances=np.concatenate([found.changes, certain]),
        draw_originals=of_tables(partial(sampling.draw, walk), group_of_cell, published),
        draw_narrow=narrow_tables(partial(sampling.draw, walk), group_of_cell, published, model.span),
        count_originals=lambda: number_of_originals(model),
        standard_errors=np.concatenate([found.standard_errors, np.zeros_like(certain)]),
        error=float(found.standard_errors.max(initial=0.0)),
        effective_sample_size=found.effective_sample_size,
        draws=found.draws,
        independent=model.symmetric,
        list_originals=lambda: _listed(model, published),
    )


def _listed(model: GroupModel, published: Ints) -> tuple[Ints, Floats] | None:
    """Every original with its probability; ``None`` if there are too many."""
    found = enumerated_originals(model)
    if found is None or len(found[1]) * len(published) > MOST_LISTED:
        return None
    groups, changes, log_weights = found
    column = np.full(model.groups + 1, len(groups), dtype=np.int64)
    column[groups] = np.arange(len(groups))
    weight = np.exp(log_weights - log_weights.max())
    # Untouched cells stay as published.
    own = column[model.signatures.group_of_cell]
    return whole_tables(changes, own, published), weight / weight.sum()
