"""The posterior where records changed places: the swap run once more from what is published.

What a reader assumes who assumes nothing is that every assignment of places to the records of a class
is equally likely. Under one deal the laws of counts, and of sums of cells that are the records of some
places with some attributes, are then exact; else they are those of independent exact draws. Another
belief about one count weighs its law; about whole tables, the draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.margins import standard_errors
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Exchangeable, Factorial, KnowingZeros, OneCell, Prior, Uniform
from tabprotect.engine.posterior.swaps.swap_laws import SwapLaws
from tabprotect.engine.posterior.swaps.weighed import held, weighed
from tabprotect.engine.progress import Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import RecordSwaps
from tabprotect.engine.swaps.swap_plan import SwapRuns
from tabprotect.languages.messages import message

DRAWS, FEWEST_DRAWS = 6_000, 600
"""Draws of a posterior that is drawn, and the fewest where the records are many."""

DRAWN_RECORDS = 4 * 10**7
"""Records whose places are drawn, in all draws but the fewest."""


def infer_swaps(
    likelihood: RecordSwaps,
    prior: Prior,
    approach: Approach,
    randomness: Randomness | None,
    progress: Progress,
) -> Posterior:
    """Answer as ``infer`` does."""
    if likelihood.published.has_negative:
        raise InputError(message("a published count is negative, which no record can make it"))
    if isinstance(prior, KnowingZeros):
        # No plan brings anybody there.
        prior = prior.prior
    prior = Exchangeable() if isinstance(prior, Uniform) else prior
    # Given what a swap keeps the law without association is the exchangeable one.
    even = isinstance(prior, Factorial) and prior.theta == 1.0
    of_cells = even or (isinstance(prior, OneCell) and prior.cells is None)
    laws = SwapLaws(likelihood, prior if isinstance(prior, OneCell) else None)
    asked = _Asked(likelihood, prior, laws, SwapRuns(likelihood.plan, laws.published, backwards=True))
    found = laws.of_cells(progress) if of_cells and approach.way != "monte_carlo" else None
    if found is not None:
        return replace(asked.exact(*found), weakened=laws.weakened())
    if approach.way == "exact":
        raise InfeasibleError(
            message("of these swaps there are independent draws, but no exact laws"),
            hint=message("take Monte Carlo"),
        )
    generator = (randomness or Randomness.fresh()).generator()
    number = approach.draws or max(min(DRAWS, DRAWN_RECORDS // max(asked.runs.records, 1)), FEWEST_DRAWS)
    drawn = (asked.drawn if of_cells else asked.weighed)(number, generator, progress)
    return replace(drawn, weakened=laws.weakened())


@dataclass(frozen=True, eq=False)
class _Asked:
    likelihood: RecordSwaps
    prior: Prior
    laws: SwapLaws
    runs: SwapRuns

    def draw(self, number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        """Joint draws under the exchangeable belief, int64 (number, cells)."""
        out = np.empty((number, len(self.laws.published)), dtype=np.int64)
        done = 0
        for tables in self.runs.tables(number, generator):
            progress.report(message("swapping once more"), done / number)
            out[done : done + len(tables)] = tables
            done += len(tables)
        return out

    def exact(self, group_of_cell: Ints, first: Ints, chances: Floats) -> Posterior:
        """From the laws of all counts."""
        return Posterior(
            published=self.likelihood.published,
            prior=self.prior,
            way="exact",
            reason=message("one deal has a closed form"),
            group_of_cell=group_of_cell,
            first=first,
            chances=chances,
            draw_originals=self.draw,
            count_originals=lambda: None,
            exact_sums=self.laws,
        )

    def drawn(self, number: int, generator: np.random.Generator, progress: Progress) -> Posterior:
        """From independent draws of the exchangeable belief."""
        published = self.laws.published
        cells = np.arange(len(published))
        span, done = 8, 0
        seen = np.zeros((len(published), 2 * span + 1))
        for tables in self.runs.tables(number, generator):
            progress.report(message("swapping once more"), done / number)
            done += len(tables)
            if (most := int(np.abs(tables - published).max(initial=0))) > span:
                wider = max(most, 2 * span)
                seen, span = np.pad(seen, ((0, 0), (wider - span,) * 2)), wider
            at = cells * (2 * span + 1) + (tables - published + span)
            seen += np.bincount(at.reshape(-1), minlength=seen.size).reshape(seen.shape)
        chances = self.laws.weighed_rows(published - span, seen / number)
        errors = standard_errors(chances, number)
        return Posterior(
            published=self.likelihood.published,
            prior=self.prior,
            way="monte_carlo",
            reason=message("the swap was run once more from what is published"),
            group_of_cell=cells,
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
        """From draws weighed by a belief about whole tables.

        Raises
        ------
        InfeasibleError
            Where no draw is possible by it.
        """
        tables = self.draw(held(number, len(self.laws.published)), generator, progress)
        logs = self.laws.log_weights(tables, self.prior)
        reason = message("draws of the swap run once more were weighed by the prior")
        return weighed(self.likelihood.published, self.prior, tables, logs, reason)
