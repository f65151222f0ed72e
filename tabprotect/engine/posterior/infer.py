"""The posterior of a release: exact where it can be, else Monte Carlo with its error."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior import sampling
from tabprotect.engine.posterior.elimination import Elimination
from tabprotect.engine.posterior.enumeration import number_of_originals
from tabprotect.engine.posterior.model import group_model
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior, Uniform
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import Likelihood

Way = Literal["auto", "exact", "monte_carlo"]


def infer(
    likelihood: Likelihood,
    prior: Prior | None = None,
    *,
    way: Way = "auto",
    randomness: Randomness | None = None,
    draws: int | None = None,
    progress: Progress = SILENT,
) -> Posterior:
    """The posterior distribution of every true cell.

    Parameters
    ----------
    prior
        Uniform when none is given.
    way
        ``auto`` takes the exact way where its cost, known beforehand, allows it.
    randomness, draws
        For Monte Carlo: fresh by default (nothing confidential depends on it), and as many draws
        as take well under a minute.

    Raises
    ------
    InputError
        When the published table cannot come from the mechanism.
    InfeasibleError
        When no original fits table, mechanism and prior; or when ``way="exact"`` is too wide.
    """
    prior = Uniform() if prior is None else prior
    model = group_model(likelihood, prior, progress)
    sig = model.signatures
    group_of_cell = np.where(sig.group_of_cell < 0, model.groups, sig.group_of_cell)
    certain = np.zeros((1, 2 * model.span + 1))
    certain[0, model.span] = 1.0
    exact = None if way == "monte_carlo" else Elimination.of(model, progress)
    if exact is None and way == "exact":
        raise InfeasibleError(
            "the cycles overlap too much for an exact posterior",
            hint="take Monte Carlo, fewer passes, or strips of swaps",
        )
    if exact is not None:
        return Posterior(
            published=likelihood.published,
            prior=prior,
            way="exact",
            reason=f"the cycles overlap little enough (width {exact.width})",
            group_of_cell=group_of_cell,
            changes=np.concatenate([exact.changes(progress), certain]),
            draw_changes=exact.draw,
            count_originals=lambda: number_of_originals(model),
        )
    generator = (randomness or Randomness.fresh()).generator()
    found = sampling.estimate(model, draws=draws, generator=generator, progress=progress)
    asked = way == "monte_carlo"
    return Posterior(
        published=likelihood.published,
        prior=prior,
        way="monte_carlo",
        reason="asked for" if asked else "the cycles overlap too much for the exact way",
        group_of_cell=group_of_cell,
        changes=np.concatenate([found.changes, certain]),
        draw_changes=partial(sampling.draw, model),
        count_originals=lambda: number_of_originals(model),
        standard_errors=np.concatenate([found.standard_errors, np.zeros_like(certain)]),
        error=float(found.standard_errors.max(initial=0.0)),
        effective_sample_size=found.effective_sample_size,
        draws=found.draws,
    )
