"""The posterior where cells exchanged units: the steps run once more from what is published.

Under the law that the steps keep these are independent exact draws of the original; another belief weighs
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.margins import laws_of, standard_errors
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Factorial, Prior, Uniform
from tabprotect.engine.progress import Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import ExchangeSteps
from tabprotect.engine.swaps import exchanges
from tabprotect.languages.messages import message

DRAWS, FEWEST_DRAWS = 10_000, 200
"""Draws of a posterior, and the fewest where each takes long."""

DRAWN_WORK = 2 * 10**8
"""Cells looked at and steps taken in all draws but the fewest, some seconds."""

STEP_WORK = 20
"""What a step costs, in cells looked at."""

MOST_HELD = 2**25
"""Counts of all originals that are drawn to be weighed."""


def infer_exchange(
    likelihood: ExchangeSteps,
    prior: Prior,
    approach: Approach,
    randomness: Randomness | None,
    progress: Progress,
) -> Posterior:
    """Answer as ``infer`` does."""
    if likelihood.published.has_negative:
        raise InputError(message("a published count is negative, which no exchange makes it"))
    if approach.way == "exact":
        raise InfeasibleError(
            message("of exchange steps there are independent draws, but no exact laws"),
            hint=message("take Monte Carlo"),
        )
    asked = _Asked(likelihood, prior)
    generator = (randomness or Randomness.fresh()).generator()
    number = approach.draws or max(min(DRAWS, DRAWN_WORK // asked.work), FEWEST_DRAWS)
    theta = likelihood.plan.theta
    own = prior == Factorial(theta) or (theta == 0 and isinstance(prior, Uniform))
    return (asked.drawn if own else asked.weighed)(number, generator, progress)


@dataclass(frozen=True, eq=False)
class _Asked:
    likelihood: ExchangeSteps
    prior: Prior

    @property
    def published(self) -> Ints:
        return self.likelihood.published.counts.reshape(-1)

    @property
    def work(self) -> int:
        """Of one draw."""
        return len(self.published) + STEP_WORK * int(self.likelihood.plan.steps(self.published).sum())

    def draw(self, number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        """Joint draws under the law that is kept, int64 (number, cells)."""
        progress.report(message("exchanging once more"), 0.0)
        return self.likelihood.plan.tables(self.published, number, generator)

    def _changes(
        self, number: int, generator: np.random.Generator, progress: Progress
    ) -> Iterator[tuple[Ints, Ints]]:
        done = 0
        for cells, by, _, copies in self.likelihood.plan.changes(self.published, number, generator):
            progress.report(message("exchanging once more"), done / number)
            done += copies
            yield cells, by

    def drawn(self, number: int, generator: np.random.Generator, progress: Progress) -> Posterior:
        """From independent draws. Cells that never changed share a row."""
        published, span = self.published, 4
        seen = np.zeros((len(published), 2 * span + 1), dtype=np.int32)
        for cells, by in self._changes(number, generator, progress):
            if (most := int(np.abs(by).max(initial=0))) > span:
                seen, span = np.pad(seen, ((0, 0), (most - span,) * 2)), most
            exchanges.tally(len(cells), cells * (2 * span + 1) + (by + span), seen.reshape(-1))
        moved = np.flatnonzero(seen.any(axis=1))
        rows = np.concatenate([seen[moved], np.zeros_like(seen[:1])]).astype(np.float64)
        rows[:, span] = number - rows.sum(axis=1)
        row = np.full(len(published), len(moved), dtype=np.int64)
        row[moved] = np.arange(len(moved))
        chances: Floats = rows / number
        errors = standard_errors(chances, number)
        return Posterior(
            published=self.likelihood.published,
            prior=self.prior,
            way="monte_carlo",
            reason=message("the exchange steps were run once more from what is published"),
            group_of_cell=row,
            first=published - span,
            chances=chances,
            draw_originals=self.draw,
            count_originals=lambda: None,
            standard_errors=errors,
            error=float(errors.max(initial=0.0)),
            effective_sample_size=float(number),
            draws=number,
            independent=True,
        )

    def weighed(self, number: int, generator: np.random.Generator, progress: Progress) -> Posterior:
        """From draws weighed by another belief.

        Raises
        ------
        InfeasibleError
            Where no draw is possible by it.
        """
        size = len(self.published)
        tables = self.draw(max(min(number, MOST_HELD // size), 1), generator, progress)
        keys = np.arange(size)
        logs = (self.prior.log_weight(keys, tables)).sum(axis=1)
        if self.likelihood.plan.theta:
            logs = logs - Factorial(self.likelihood.plan.theta).log_weight(keys, tables).sum(axis=1)
        peak = logs.max()
        if peak == -np.inf:
            raise InfeasibleError(
                message("the prior excludes every original that was drawn"),
                hint=message("choose a wider prior"),
            )
        weights = np.exp(logs - peak)
        weights /= weights.sum()
        effective = 1.0 / float((weights**2).sum())
        first, chances = laws_of(tables, weights)
        errors = standard_errors(chances, effective)

        def again(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
            return np.asarray(tables[generator.choice(len(tables), number, p=weights)])

        return Posterior(
            published=self.likelihood.published,
            prior=self.prior,
            way="monte_carlo",
            reason=message("draws of the exchange steps were weighed by the prior"),
            group_of_cell=np.arange(size),
            first=first,
            chances=chances,
            draw_originals=again,
            count_originals=lambda: None,
            standard_errors=errors,
            error=float(errors.max(initial=0.0)),
            effective_sample_size=effective,
            draws=len(tables),
        )
