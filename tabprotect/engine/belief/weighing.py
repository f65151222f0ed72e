"""A posterior within an effort, given the likelihoods of one or several releases."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeGuard

from tabprotect.engine.belief.effort import AT_WORST, COMPARED_RUNS, LEAST_DRAWS, LEAST_EFFECTIVE, Effort
from tabprotect.engine.errors import InfeasibleError, TooLargeError
from tabprotect.engine.posterior.agreement import SETTLED
from tabprotect.engine.posterior.approach import Way
from tabprotect.engine.posterior.factors.cell_laws import cell_laws
from tabprotect.engine.posterior.factors.components import split_components
from tabprotect.engine.posterior.infer import (
    infer,
    infer_jointly,
    multiplied,
    posterior_joined,
    same_variables,
)
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior, Uniform
from tabprotect.engine.posterior.together.coarser import over_finer
from tabprotect.engine.progress import Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import (
    AdaptiveSequence,
    CellFactors,
    ExchangeSteps,
    Likelihood,
    MoveSequence,
    RecordSwaps,
    SwappedFirst,
)
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

CHOICE_NOTE = message("What the choice of all published counts together says is left out.")


@dataclass(frozen=True, eq=False)
class Weighing:
    """A prior, and what the posterior may take."""

    prior: Prior
    effort: Effort
    randomness: Randomness
    progress: Progress

    def together(self, likelihoods: Sequence[Likelihood]) -> Posterior:
        """The posterior given several releases; of a single one by itself."""
        domain = likelihoods[0].domain
        likelihoods = [_over(one, domain) for one in likelihoods]
        same_variables(domain, likelihoods[1:], coarser=True)
        sums = [one for one in likelihoods if one.domain != domain]
        if sums:
            # Steps over sums of cells are followed for whole originals, listed or drawn.
            first = self.together([one for one in likelihoods if one.domain == domain])
            draws = self.effort.draws
            return posterior_joined(first, sums, self.randomness, self.progress, draws=draws)
        # Swaps are drawn, and weighed by the others.
        likelihoods = sorted(
            multiplied(likelihoods),
            key=lambda one: not isinstance(one, RecordSwaps | SwappedFirst | ExchangeSteps),
        )
        if len(likelihoods) == 1:
            return self.of(likelihoods[0])
        asked = self.effort.way
        if asked != "monte_carlo" and not any(map(chosen, likelihoods)):
            chance = None if asked == "exact" else self.randomness
            joint = infer_jointly(likelihoods, self.prior, chance, self.progress)
            if joint is not None:
                return self._published_first(self._settled(joint), likelihoods[0])
        # How each is looked at by itself: listing is asked for separately.
        way: Way = "monte_carlo" if asked == "monte_carlo" else "auto"
        alone = replace(self, effort=replace(self.effort, way=way, draws=None))
        known: Posterior | None = None
        bases = (
            1 if isinstance(likelihoods[0], RecordSwaps | SwappedFirst | ExchangeSteps) else self.effort.bases
        )
        for number, likelihood in enumerate(likelihoods[:bases]):
            base = alone.of(likelihood)
            known = base if known is None else known
            if asked == "monte_carlo" or base.way != "exact" or base.list_originals() is None:
                continue
            others = [other for k, other in enumerate(likelihoods) if k != number]
            found = posterior_joined(base, others, self.randomness, self.progress)
            return replace(found, published=known.published, hidden=known.hidden)
        assert known is not None
        if asked == "exact":
            raise InfeasibleError(
                message("the originals of none of these releases can be listed, so there is no exact way"),
                hint=message("take Monte Carlo"),
            )
        draws = self.effort.draws
        return posterior_joined(known, likelihoods[1:], self.randomness, self.progress, draws=draws)

    def _published_first(self, found: Posterior, first: Likelihood) -> Posterior:
        """The same beside the published counts of the first release."""
        if not isinstance(first, CellFactors):
            return replace(found, published=first.published)
        alone = replace(self, effort=replace(self.effort, way="auto", draws=None)).of(plain(first))
        return replace(found, published=alone.published, hidden=alone.hidden)

    def of(self, likelihood: Likelihood) -> Posterior:
        """The posterior given one release."""
        if isinstance(likelihood, RecordSwaps | SwappedFirst | ExchangeSteps):
            return self._settled(self._infer(likelihood, self.effort))
        if not isinstance(likelihood, CellFactors):
            return self._settled(self._of_moves(likelihood))
        if likelihood.rerun is None:
            return self._settled(self._of_factors(likelihood))
        most = self.effort.weighed(likelihood.rerun, likelihood.domain.size)
        if self.effort.weighing == 0 or most == 0:
            return self.of(plain(likelihood))
        if most is not None:
            return self._counted(likelihood, most)
        found = self._of_factors(likelihood)
        if self.effort.settled and _says_little(found) and not _unsettled(found):
            return self.of(plain(likelihood))
        return self._settled(found)

    def _settled(self, found: Posterior) -> Posterior:
        """The same, unless it is simulated and nothing can be judged by it."""
        if self.effort.settled and _unsettled(found):
            raise InfeasibleError(message("the simulated posterior has not settled: nothing to judge by"))
        if self.effort.settled and _says_little(found):
            raise InfeasibleError(
                message(
                    "the simulated posterior is worth {effective_sample_size:.0f} independent "
                    "draws only: too few to judge by",
                    found.effective_sample_size,
                )
            )
        return found

    def _of_moves(self, likelihood: MoveSequence | AdaptiveSequence) -> Posterior:
        effort, size = self.effort, likelihood.domain.size
        if effort.joined is None:
            draws = self._draws(likelihood)
            too_few = effort.updates is not None and draws is not None and draws < LEAST_DRAWS
            return self._infer(likelihood, replace(effort, draws=draws), exact=too_few)
        if isinstance(likelihood, MoveSequence):
            if likelihood.drawn_exactly:
                return self._infer(likelihood, replace(effort, draws=None))
            # It is known at once whether there is an exact way.
            with suppress(InfeasibleError):
                return self._infer(likelihood, effort, exact=True)
        if size > effort.joined:
            raise _hanging_together(size)
        if not effort.draws:
            raise TooLargeError(
                message("it takes long: worked out in the first {COMPARED_RUNS} runs only", COMPARED_RUNS)
            )
        return self._infer(likelihood, effort)

    def _draws(self, likelihood: MoveSequence | AdaptiveSequence) -> int | None:
        """Originals that may be drawn; ``None`` for as many as the way itself takes."""
        effort = self.effort
        if effort.updates is None:
            return effort.draws
        # Every step of an adaptive sequence weighs all cycles.
        steps = likelihood.steps if isinstance(likelihood, AdaptiveSequence) else likelihood.passes
        updates = max(len(likelihood.moves.cells) * steps, 1)
        drawn_exactly = isinstance(likelihood, MoveSequence) and likelihood.drawn_exactly
        # Independent draws take no more than their steps: the fewest that tell something are worth it.
        dear = LEAST_DRAWS * updates > AT_WORST * effort.updates or not drawn_exactly
        least = 1 if dear and isinstance(likelihood, MoveSequence) else LEAST_DRAWS
        most = max(min(effort.most_draws, effort.updates // updates), least)
        return max(int(most * effort.share), min(most, LEAST_DRAWS))

    def _of_factors(self, likelihood: CellFactors) -> Posterior:
        """Weigh by the factors, and by the choice of the whole table where there is one."""
        effort, joined = self.effort, 0
        if effort.joined is not None:
            joined = _joined(likelihood)
            if joined > effort.joined:
                raise _hanging_together(joined)
            if not joined:
                effort = replace(effort, steps=None)
        try:
            return self._infer(likelihood, effort, exact=not effort.chains)
        except TooLargeError:
            if not joined:
                raise
            raise TooLargeError(
                message(
                    "{joined:,} cells hang together in too many ways for a comparison: ask for the "
                    "posterior of one release",
                    joined,
                )
            ) from None

    def _counted(self, likelihood: CellFactors, most: int) -> Posterior:
        """Weigh by the choice of the whole table too, where no more originals fit than given."""
        without = self.of(plain(likelihood))
        number = without.count_originals() if without.way == "exact" else None
        if number is None or number > most:
            return without
        # What was counted is within the work.
        effort = replace(self.effort, steps=None, weighing=None)
        try:
            return self._infer(likelihood, effort, exact=True)
        except InfeasibleError:
            return without

    def _infer(self, likelihood: Likelihood, effort: Effort, *, exact: bool = False) -> Posterior:
        approach = replace(effort, way="exact") if exact else effort
        return infer(likelihood, self.prior, approach, self.randomness, self.progress)


def plain(likelihood: CellFactors) -> CellFactors:
    """Return what the published counts say one by one, without the choice of them all; with a note."""
    return replace(
        likelihood,
        rerun=None,
        note=likelihood.note or CHOICE_NOTE,
        left_out=likelihood.left_out or ("pattern_choice",),
    )


def _over(likelihood: Likelihood, domain: Domain) -> Likelihood:
    """A likelihood of sums of a finer table's cells where it is one by factors of a coarser one."""
    if likelihood.domain == domain:
        return likelihood
    known = plain(likelihood) if chosen(likelihood) else likelihood
    return over_finer(known, domain) or likelihood


def chosen(likelihood: Likelihood) -> TypeGuard[CellFactors]:
    """Tell whether the choice of all published counts together says more than each by itself."""
    return isinstance(likelihood, CellFactors) and likelihood.rerun is not None


def _unsettled(found: Posterior) -> bool:
    return found.r_hat is not None and found.r_hat > SETTLED


def _says_little(found: Posterior) -> bool:
    effective = found.effective_sample_size
    return effective is not None and effective < LEAST_EFFECTIVE


def _hanging_together(cells: int) -> TooLargeError:
    return TooLargeError(
        message("{cells:,} cells hang together: too many for a posterior in a comparison", cells)
    )


def _joined(likelihood: CellFactors) -> int:
    """Cells that more than one published sum joins."""
    parts = split_components(cell_laws(likelihood, Uniform())).components
    return sum(len(part.cells) for part in parts if len(part.sums) > 1)
