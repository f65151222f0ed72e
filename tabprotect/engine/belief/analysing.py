"""What the commands, the library and the window answer when somebody analyses releases.

One place decides what the figures rest on: tables drawn under the analysis itself where nothing else is
assumed beforehand, else draws of a posterior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabprotect.engine.belief.estimate import LEVEL
from tabprotect.engine.belief.evidence import PriorKnowledge
from tabprotect.engine.belief.model_fit import TESTED, ModelReading, fit_releases
from tabprotect.engine.posterior.analysis import (
    AnalysisSummary,
    ModelSummary,
    Statistic,
    analyse,
    chi_square,
    cramers_v,
    fit_model,
)
from tabprotect.engine.posterior.independence import Independence
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release

STATISTICS: dict[str, Statistic] = {"chi_square": chi_square, "cramers_v": cramers_v}
"""Those that come with a test given the releases."""


@dataclass
class Analysing:
    """Releases of one original that somebody analyses.

    Attributes
    ----------
    releases
        None of them where only the posterior is known: sums of cells.
    posterior
        Theirs under the prior that was asked for.
    knowing
        What is known beside what was published.
    """

    releases: Sequence[Release]
    posterior: Posterior
    knowing: PriorKnowledge
    chance: Randomness
    progress: Progress = SILENT

    @cached_property
    def alone(self) -> ModelReading:
        """Return what the releases say by themselves, whatever the prior."""
        known = self.posterior if isinstance(self.posterior.prior, Uniform) else None
        return ModelReading.of(self.releases, self.knowing, self.chance, self.progress, known=known)

    @property
    def reading(self) -> ModelReading | None:
        """The same; ``None`` where the posterior assumes something, or is of other cells."""
        if not self.releases or not isinstance(self.posterior.prior, Uniform):
            return None
        return self.alone if self.alone.found.domain == self.posterior.domain else None

    def statistic(
        self, statistic: Statistic, name: str, *, draws: int, level: float = LEVEL
    ) -> AnalysisSummary:
        """A statistic over draws of the posterior; with the test, if it is one of ``STATISTICS``."""
        found = analyse(
            self.posterior, statistic, name, generator=self._generator, draws=draws, progress=self.progress
        )
        return replace(found, independence=self.independence(statistic, level))

    def independence(self, statistic: Statistic, level: float = LEVEL) -> Independence | None:
        """Return what the releases alone say of independence, if a statistic is about it."""
        if statistic not in STATISTICS.values() or self.posterior.domain.size > TESTED:
            return None
        return None if self.reading is None else self.reading.independence(level)

    def fit(self, model: LogLinear, *, draws: int) -> ModelSummary:
        """A log-linear model, its log odds ratios and its test."""
        if (reading := self.reading) is not None:
            return fit_releases(reading, model, draws=draws)
        return fit_model(
            self.posterior, model, generator=self._generator, draws=draws, progress=self.progress
        )

    @property
    def _generator(self) -> np.random.Generator:
        return self.chance.generator()
