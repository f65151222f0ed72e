"""The chance that a mechanism of cycles changes nothing at all, and a coin that keeps it low.

Both follow from the kept margins, which are published: the chance is a mean over synthetic tables
with the expected counts that the margins give, drawn with random numbers that the margins seed. It
tells nothing of the original, everybody can work it out again, and a coin chosen by it is a constant
of whatever is released.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from tabprotect.engine.fitting.synthetic_tables import expected_counts, synthetic_counts
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.cycle_runs.cycle_parameters import (
    ALPHA,
    BETA,
    BLOCKING,
    CYCLES,
    N_COVER,
    ORDER,
    PASSES,
    THETA,
    ZEROS,
    zeros_said,
)
from tabprotect.engine.protection.cycle_runs.forward_walk import Walker
from tabprotect.engine.protection.cycle_runs.trial_runs import CHOOSING_WORK, STEP_COST, side_by_side
from tabprotect.engine.protection.simulate import Runs, trial_generator
from tabprotect.engine.release.limits import NO_CHANGE_LIMIT
from tabprotect.engine.tables.kept_margins import KeptMargins

COINS = (0.25, 1 / 3, 0.38, 0.43)
"""Values of alpha = beta between which is chosen where none is given. Beyond the last the parity of a
change tells how often a coin fell."""

TRIED, TRIED_RUNS = Runs(1000, 4, CHOOSING_WORK), Runs(256, 1, CHOOSING_WORK)
"""Synthetic tables, and runs on each."""


def no_change(kept: KeptMargins, values: Values, progress: Progress = SILENT) -> float:
    """The chance that a draw publishes a table as it is, a mean over tables with the kept margins.

    Poisson counts around the expected ones: nearly always more than the chance for the table itself.

    Parameters
    ----------
    values
        Resolved parameters of the mechanism; the cycles keep the margins.
    """
    said = (CYCLES, ALPHA, BETA, PASSES, N_COVER, ORDER, BLOCKING, THETA, ZEROS)
    return _no_change(_Asked(kept, tuple((one.name, values[one.name]) for one in said), progress))


@dataclass(frozen=True)
class _Asked:
    """The cache key of a chance: all that it depends on; the progress is not part of it."""

    kept: KeptMargins
    values: tuple[tuple[str, object], ...]
    progress: Progress = field(compare=False)


@lru_cache(maxsize=16)
def _no_change(asked: _Asked) -> float:
    kept, values, progress = asked.kept, Values(dict(asked.values)), asked.progress
    walker = Walker.of(values)
    each = len(walker.moves.cells) * walker.steps // len(walker.moves)
    each += STEP_COST * walker.steps * (walker.order == "positive")
    tables = TRIED.of_cost(each * 16)
    expected = expected_counts(kept, zeros_said(kept.domain, values), progress)
    seed = kept.counts.tobytes()
    counts = synthetic_counts(expected, tables, trial_generator("no change", seed))
    coins = trial_generator("no change", seed, stream=1)
    moved, _ = side_by_side(walker, counts, TRIED_RUNS.of_cost(each * tables), coins, progress)
    return float((moved == 0).all(axis=0).mean())


def chosen_coin(kept: KeptMargins, values: Values, progress: Progress = SILENT) -> float:
    """The smallest of ``COINS`` with which nothing changes seldom enough; the largest if none does."""
    return next(
        (
            share
            for share in COINS[:-1]
            if no_change(kept, values | {"alpha": share, "beta": share}, progress) <= NO_CHANGE_LIMIT
        ),
        COINS[-1],
    )
