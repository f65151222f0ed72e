"""True tables drawn given releases under several priors, as one mixture that serves any other prior.

A draw is weighed by how much likelier it is under what is asked for than under the mixture of all
priors that it was drawn under (Owen and Zhou 2000). The shares of these in the mixture follow from the
draws themselves (Meng and Wong 1996; Shirts and Chodera 2008). What all weighed draws are worth tells
whether an answer may rest on them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import NegativeBinomial, Poisson, Prior
from tabprotect.engine.progress import SILENT, Progress

DRAWS = 2_000
"""True tables drawn under each prior."""

LEAST_EFFECTIVE = 100.0
"""Draws that are worth less are no basis for an interval."""

WANTED = 200.0
"""What draws are to be worth before no others are looked for."""

WIDER = 4.0
"""Dispersion of the prior that tables are drawn under, in mean counts: the variance is a quarter more."""

CLOSE = 0.02
"""Change of the square root of a mean at which the rounds of a fit end: draws are weighed anyway."""

ROUNDS = 200
"""Most rounds in which the shares of the priors are worked out."""

Believing = Callable[[Prior], Posterior]
"""The posterior given the releases under a prior."""


class TableDraws:
    """Draws of the true table given releases, and the priors they were drawn under.

    Attributes
    ----------
    tables : int64 (draws, cells)
    """

    def __init__(self) -> None:
        self.tables: Ints = np.zeros((0, 0), dtype=np.int64)
        self._priors: list[Prior] = []
        self._numbers: list[int] = []
        self._independent = 1.0
        self._log: Floats | None = None

    @classmethod
    def of(
        cls, believing: Believing, prior: Prior, generator: np.random.Generator, progress: Progress = SILENT
    ) -> TableDraws:
        """The draws under one prior."""
        out = cls()
        out.draw(believing, prior, generator, progress)
        return out

    def draw(
        self, believing: Believing, prior: Prior, generator: np.random.Generator, progress: Progress = SILENT
    ) -> None:
        """Draw tables under a prior, and take them in."""
        self.take_posterior(believing(prior), prior, generator, progress)

    def take_posterior(
        self, found: Posterior, prior: Prior, generator: np.random.Generator, progress: Progress = SILENT
    ) -> None:
        """Take in draws of a posterior under a prior."""
        if found.effective_sample_size is not None:
            self._independent = min(self._independent, found.effective_sample_size / DRAWS)
        self.take(prior, found.draw_originals(DRAWS, generator, progress))

    def take(self, prior: Prior, tables: Ints) -> None:
        """Take in tables drawn under a prior."""
        flat = tables.reshape(len(tables), -1)
        self.tables = np.concatenate([self.tables, flat]) if self._priors else flat
        self._priors.append(prior)
        self._numbers.append(len(flat))
        self._log = None

    def density(self, prior: Prior) -> Floats:
        """Log of how likely each draw is under a prior, up to a constant, float64 (draws,)."""
        cells = np.arange(self.tables.shape[1])
        return np.asarray(prior.log_weight(cells[None], self.tables).sum(axis=1))

    @property
    def log(self) -> Floats:
        """Log of how likely each draw was to be drawn, but for what the releases say of it."""
        if self._log is None:
            each = np.stack([self.density(prior) for prior in self._priors])
            shares = np.log(np.array(self._numbers) / len(self.tables))[:, None]
            constants = np.zeros(len(each))
            for _ in range(ROUNDS if len(each) > 1 else 0):
                mixture = log_sums(each - constants[:, None] + shares)
                found = log_sums((each - mixture).T) - np.log(len(self.tables))
                found -= found[0]
                near = np.abs(found - constants).max() < 1e-9
                constants = found
                if near:
                    break
            self._log = log_sums(each - constants[:, None] + shares)
        return self._log

    def weights(self, wanted: Floats) -> Floats:
        """The share of each draw where ``wanted`` says in logs how likely it should be."""
        log = wanted - self.log
        weights = np.exp(log - log.max())
        return np.asarray(weights / weights.sum())

    def worth(self, weights: Floats) -> float:
        """Return what weighed draws are worth as independent ones."""
        return self._independent / float((weights**2).sum())


def log_sums(logs: Floats) -> Floats:
    """Log of the sum of exponentials over the first axis."""
    peak = logs.max(axis=0)
    return np.asarray(peak + np.log(np.exp(logs - peak).sum(axis=0)))


def around(
    believing: Believing,
    start: TableDraws,
    fitted: Callable[[Floats], Floats],
    *,
    rounds: int,
    draws: tuple[np.random.Generator, Progress],
) -> tuple[TableDraws, Floats]:
    """Draws around the means that a model expects of the table, given the releases, and these means.

    The means are the model's fit to what is expected of the table under themselves (EM of Dempster,
    Laird and Rubin 1977); draws at hand are weighed for that as long as they are worth it.

    Parameters
    ----------
    fitted
        The means, float64 (cells,), that a model fits to a table of expected counts.
    rounds
        Most rounds.
    """
    found = start
    means = fitted(found.tables.mean(axis=0))
    for _ in range(rounds):
        weights = found.weights(found.density(Poisson(means)))
        if found.worth(weights) < WANTED:
            found = TableDraws.of(believing, spread(means), *draws)
            weights = found.weights(found.density(Poisson(means)))
            if found.worth(weights) < WANTED:
                # What the releases say is far from the model: the wider prior's draws follow them.
                found.draw(believing, Poisson(means), *draws)
                weights = found.weights(found.density(Poisson(means)))
        before, means = means, fitted(weights @ found.tables)
        if np.abs(np.sqrt(means) - np.sqrt(before)).max() < CLOSE:
            break
    return found, means


def spread(means: Floats) -> Prior:
    """A prior around means that is a little wider than Poisson: its draws serve other means too."""
    return NegativeBinomial(means, WIDER * float(means.mean()))
