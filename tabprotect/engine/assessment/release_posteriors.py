"""Posteriors of releases within a budget that is known beforehand."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from tabprotect.engine.assessment.figure import NotComputable
from tabprotect.engine.budgets import BELIEFS_CELLS as CELLS
from tabprotect.engine.budgets import BELIEFS_DRAWS as DRAWS
from tabprotect.engine.budgets import BELIEFS_JOINED as JOINED
from tabprotect.engine.budgets import BELIEFS_ONCE as ONCE
from tabprotect.engine.budgets import BELIEFS_PROGRAMME as PROGRAMME
from tabprotect.engine.budgets import BELIEFS_RUNS as RUNS
from tabprotect.engine.budgets import BELIEFS_SECONDS as SECONDS
from tabprotect.engine.budgets import BELIEFS_STEPS as STEPS
from tabprotect.engine.budgets import BELIEFS_WEIGHING as WEIGHING
from tabprotect.engine.budgets import MOST_FOUND
from tabprotect.engine.disclosure.cell_beliefs import CHOICE_NOTE, release_fingerprint
from tabprotect.engine.errors import InfeasibleError, Interrupted, TabprotectError, TooLargeError
from tabprotect.engine.posterior.factors.cell_laws import cell_laws
from tabprotect.engine.posterior.factors.components import split_components
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, Likelihood, MoveSequence, Rerun
from tabprotect.engine.release.release import Release


@dataclass(frozen=True)
class Budget:
    """What posteriors may cost. All limits but the last are known beforehand.

    Attributes
    ----------
    cells
        Inner cells up to which a posterior is asked for.
    joined
        Inner cells that hang together (by more than one published sum) up to which it is.
    steps
        Steps of the exact way through such cells, about half a microsecond each.
    once
        The same where the method has no chance: its one release is read once.
    joined_runs
        Runs of one configuration in which a posterior of moves that has to be drawn, which takes
        a second or more, is worked out.
    draws
        Draws of such a one.
    weighing
        Nominal microseconds up to which all originals are weighed by the choice of a whole table.
    seconds
        After which one is given up: a safety net, that figures never depend on where it holds.
    """

    cells: int = CELLS
    joined: int = JOINED
    steps: int = STEPS
    once: int = ONCE
    joined_runs: int = RUNS
    draws: int = DRAWS
    weighing: float = WEIGHING
    seconds: float = SECONDS


class _Deadline:
    """Progress that gives up after a time."""

    def __init__(self, seconds: float, progress: Progress) -> None:
        self._end = time.monotonic() + seconds
        self._progress = progress
        self._text = f"the posterior would take more than {seconds:g} s"

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        # The fraction is that of a part: whoever watches sees the runs.
        self._progress.report(stage, 0.0)
        if time.monotonic() > self._end:
            raise NotComputable(self._text)


_FOUND: dict[str, Posterior | str] = {}


def believe(
    release: Release, budget: Budget, *, joined: bool = True, progress: Progress = SILENT
) -> Posterior:
    """What a reader who assumes nothing believes of the inner cells, count by count.

    Exact where the release allows it, drawn for small tables where it does not. Where the method
    chooses a whole table at once (rounding, suppression), what this choice says beyond each
    published count is taken in where all originals can be weighed within the budget; else it is
    left out, the posterior says so, and a reader may know more.

    The posterior of an equal release is found again. One that is drawn takes its seed from the
    release: nothing confidential depends on it, and so no figure depends on which process works
    it out.

    Parameters
    ----------
    joined
        Whether one may be worked out that takes a second or more.

    Raises
    ------
    NotComputable
        Where none is affordable, or none is there, saying why.
    """
    name = release_fingerprint(release, repr((budget, joined))).hex()
    if name not in _FOUND:
        randomness = Randomness.seeded(int(name[:32], 16))
        try:
            found: Posterior | str = _worked_out(release, budget, joined, (randomness, progress))
        except Interrupted:
            raise
        except (NotComputable, TabprotectError) as error:
            found = str(error)
        while len(_FOUND) >= MOST_FOUND:
            _FOUND.pop(next(iter(_FOUND)))
        _FOUND[name] = found
    kept = _FOUND[name]
    if isinstance(kept, str):
        raise NotComputable(kept)
    return kept


def _worked_out(
    release: Release, budget: Budget, affordable: bool, means: tuple[Randomness, Progress]
) -> Posterior:
    size = release.domain.size
    if size > budget.cells:
        raise NotComputable(f"{size:,} cells are too many for a posterior in a comparison")
    mechanism = release.mechanism
    if not methods()[mechanism.method].is_random(mechanism.values):
        budget = replace(budget, steps=max(budget.steps, budget.once))
    return _of_likelihood(likelihood_of(release), budget, affordable, means)


def _weighed(
    likelihood: CellFactors,
    rerun: Rerun,
    budget: Budget,
    how: tuple[bool, Randomness, Progress],
) -> Posterior:
    """By the choice of the whole table too, where all originals can be weighed."""
    affordable, randomness, progress = how
    plain = replace(likelihood, rerun=None, note=likelihood.note or CHOICE_NOTE)
    found = _of_likelihood(plain, budget, affordable, (randomness, progress))
    number = found.count_originals() if found.way == "exact" and rerun.exact else None
    # Programmes take as long as hundreds of other calls.
    one = rerun.cost_over(likelihood.domain.size) * (PROGRAMME if rerun.programmes else 1)
    if number is None or number * one > budget.weighing:
        return found
    try:
        return infer(likelihood, way="exact", randomness=randomness, progress=progress)
    except InfeasibleError:
        return found


def _of_likelihood(
    likelihood: Likelihood, budget: Budget, affordable: bool, means: tuple[Randomness, Progress]
) -> Posterior:
    watch = _Deadline(budget.seconds, means[1])
    joined = likelihood.domain.size
    if isinstance(likelihood, CellFactors) and likelihood.rerun is not None:
        return _weighed(likelihood, likelihood.rerun, budget, (affordable, *means))
    if isinstance(likelihood, CellFactors):
        joined = _joined(likelihood)
    try:
        # Of a sequence of moves it is known at once whether there is an exact way.
        if isinstance(likelihood, MoveSequence) or not joined:
            return infer(likelihood, way="exact", progress=watch)
    except InfeasibleError:
        if isinstance(likelihood, MoveSequence) and likelihood.drawn_exactly:
            return infer(likelihood, way="monte_carlo", randomness=means[0], progress=watch)
        if not joined:
            raise
    if joined > budget.joined:
        raise NotComputable(
            f"{joined:,} cells hang together: too many for a posterior in a comparison"
        )
    if isinstance(likelihood, CellFactors):
        try:
            return infer(likelihood, way="exact", steps=budget.steps, progress=watch)
        except TooLargeError:
            raise NotComputable(
                f"{joined:,} cells hang together in too many ways for a comparison: ask for the "
                "posterior of one release"
            ) from None
    if not affordable:
        raise NotComputable(
            f"it takes long: worked out in the first {budget.joined_runs} runs only"
        )
    return infer(likelihood, way="auto", randomness=means[0], draws=budget.draws, progress=watch)


def _joined(likelihood: CellFactors) -> int:
    """Cells that more than one published sum joins."""
    parts = split_components(cell_laws(likelihood, Uniform())).components
    return sum(len(part.cells) for part in parts if len(part.sums) > 1)
