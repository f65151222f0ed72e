"""The posterior where cells exchanged units: the steps run once more from what is published.

Under the law that the steps keep these are independent exact draws of the original; another belief weighs
them. Several releases are read together by chains over the steps to all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Ints, Signs
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.agreement import mixing
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.margins import standard_errors
from tabprotect.engine.posterior.posterior import NARROW_COUNTS, IndependentPart, Posterior
from tabprotect.engine.posterior.prior import Factorial, KnowingZeros, Prior, Uniform
from tabprotect.engine.posterior.swaps.weighed import held, weighed
from tabprotect.engine.progress import Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import ExchangeSteps
from tabprotect.engine.swaps import exchanges
from tabprotect.engine.swaps.exchange_paths import CHAINS, ExchangePaths
from tabprotect.languages.messages import message

DRAWS, FEWEST_DRAWS = 10_000, 200
"""Draws of a posterior, and the fewest where each takes long."""

DRAWN_WORK = 2 * 10**8
"""Cells looked at and steps taken in all draws but the fewest, some seconds."""

MOST_NARROW = NARROW_COUNTS + 1

STEP_WORK = 20
"""What a step costs, in cells looked at."""


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
    if isinstance(prior, KnowingZeros):
        # No step brings anybody there.
        prior = prior.prior
    asked = _Asked(likelihood, prior)
    generator = (randomness or Randomness.fresh()).generator()
    number = approach.draws or max(min(DRAWS, DRAWN_WORK // asked.work), FEWEST_DRAWS)
    if likelihood.beside:
        return asked.together(number, generator, progress)
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

    def narrow(self, number: int, generator: np.random.Generator, progress: Progress) -> Signs:
        """The same in eight bits."""
        progress.report(message("exchanging once more"), 0.0)
        return self.likelihood.plan.narrow(self.published, number, generator, MOST_NARROW)

    def some_strata(self, most: int, generator: np.random.Generator) -> IndependentPart | None:
        """Strata in an order by chance until they have so many cells."""
        plan = self.likelihood.plan
        number = -(-most // (plan.shape[1] * plan.shape[2]))
        if number >= plan.shape[0]:
            return None
        cells, part = plan.part(generator.permutation(plan.shape[0])[:number])
        order, published = np.argsort(cells), self.published[cells]

        def draw(number: int, generator: np.random.Generator, progress: Progress) -> Signs:
            return part.narrow(published, number, generator, MOST_NARROW)[:, order]

        return IndependentPart(cells[order], draw)

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
        chances = np.zeros((len(moved) + 1, seen.shape[1]))
        chances[:-1] = seen[moved]
        del seen
        chances[:, span] = number - chances.sum(axis=1)
        chances /= number
        row = np.full(len(published), len(moved), dtype=np.int64)
        row[moved] = np.arange(len(moved))
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
            draw_narrow=self.narrow,
            some_parts=self.some_strata,
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
        tables = self.draw(held(number, len(self.published)), generator, progress)
        keys = np.arange(len(self.published))
        logs = self.prior.log_weight(keys, tables).sum(axis=1)
        if self.likelihood.plan.theta:
            logs = logs - Factorial(self.likelihood.plan.theta).log_weight(keys, tables).sum(axis=1)
        reason = message("draws of the exchange steps were weighed by the prior")
        return weighed(self.likelihood.published, self.prior, tables, logs, reason)

    def together(self, number: int, generator: np.random.Generator, progress: Progress) -> Posterior:
        """From chains over the steps of all releases.

        Raises
        ------
        InputError
            Where the releases keep different sums.
        InfeasibleError
            Where the steps are too many, or no draw is possible by the prior.
        """
        releases = (self.likelihood, *self.likelihood.beside)
        published = np.stack([one.published.counts.reshape(-1) for one in releases])
        kept = [one.kept.added_up(one.published).tobytes() for one in releases]
        if len(set(kept)) > 1:
            raise InputError(
                message("no original fits all these releases"),
                hint=message("check that they are of one and the same table"),
            )
        theta = self.prior.theta if isinstance(self.prior, Factorial) else 0.0
        paths = ExchangePaths(tuple(one.plan for one in releases), published, theta)
        drawn = paths.drawn(held(number, published.size) // CHAINS, generator, progress)
        r_hat, worth = mixing(drawn, np.ones(drawn[:, 0].shape, dtype=np.bool_))
        tables = np.moveaxis(drawn, 2, 1).reshape(-1, drawn.shape[1])
        logs = np.zeros(len(tables))
        if not isinstance(self.prior, Uniform | Factorial):
            logs = self.prior.log_weight(np.arange(tables.shape[1]), tables).sum(axis=1)
        reason = message("the exchange steps of all releases were followed from one original")
        found = weighed(self.likelihood.published, self.prior, tables, logs, reason)
        effective = (found.effective_sample_size or 0.0) / float((1 / np.maximum(worth, 1e-9)).mean())
        errors = standard_errors(found.chances, effective)
        return replace(
            found,
            standard_errors=errors,
            error=float(errors.max(initial=0.0)),
            effective_sample_size=effective,
            r_hat=r_hat,
        )
