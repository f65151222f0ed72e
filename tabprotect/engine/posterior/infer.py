"""The posterior of a release: exact where it can be, else Monte Carlo with its error."""

from __future__ import annotations

from typing import Literal

from tabprotect.engine.posterior.adaptive.infer_adaptive import infer_adaptive
from tabprotect.engine.posterior.factors.infer_factors import infer_factors
from tabprotect.engine.posterior.knowing_zeros import KnowingZeros
from tabprotect.engine.posterior.moves.infer_moves import infer_moves
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior, Uniform
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import AdaptiveSequence, Likelihood, MoveSequence

Way = Literal["auto", "exact", "monte_carlo"]


def infer(
    likelihood: Likelihood,
    prior: Prior | None = None,
    *,
    way: Way = "auto",
    randomness: Randomness | None = None,
    draws: int | None = None,
    work: float | None = None,
    steps: int | None = None,
    progress: Progress = SILENT,
) -> Posterior:
    """The posterior distribution of every true cell.

    Parameters
    ----------
    prior
        Uniform when none is given. Structural zeros are zeros under every prior.
    way
        ``auto`` takes the exact way where its cost, known beforehand, allows it.
    randomness, draws
        For Monte Carlo: fresh by default (nothing confidential depends on it), and as many draws
        as take well under a minute.
    work
        Nominal microseconds that weighing whole originals may cost, where the mechanism says more
        than its factors. Where it is given, chains are limited, too (``CHAIN_WORK``).
    steps
        Of the exact way through cells that published sums join: beyond, it is given up. By
        default as many as take some seconds.

    Raises
    ------
    InputError
        When the published table cannot come from the mechanism.
    InfeasibleError
        When no original fits table, mechanism and prior; when ``way="exact"`` is too wide; or when
        neither the release nor the prior limits a count.
    """
    prior = Uniform() if prior is None else prior
    if likelihood.domain.structural:
        prior = KnowingZeros(prior, likelihood.domain)
    if isinstance(likelihood, MoveSequence):
        return infer_moves(
            likelihood, prior, way=way, randomness=randomness, draws=draws, progress=progress
        )
    if isinstance(likelihood, AdaptiveSequence):
        return infer_adaptive(
            likelihood, prior, way=way, randomness=randomness, draws=draws, progress=progress
        )
    return infer_factors(
        likelihood,
        prior,
        way=way,
        randomness=randomness,
        draws=draws,
        work=work,
        steps=steps,
        progress=progress,
    )
