"""Trial runs of cycles: copies of tables side by side in one array, thousands of them a second."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.fitting.synthetic_tables import expected_counts, synthetic_counts
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.cycle_runs.forward_walk import Walker
from tabprotect.engine.protection.cycle_runs.sequence import DISCLOSED_ORDERS
from tabprotect.engine.protection.problem import Preview, Problem, Steps, changes
from tabprotect.engine.protection.simulate import STAGE, Runs, trial_coins, trial_generator
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.moves import MoveSet

CHOOSING_WORK = 5_000_000
"""Most cell updates in the trials of one design."""

PREVIEW_WORK = 8_000_000
"""Most cell updates in a preview (about a fifth of a second)."""


STEP_COST = 100
"""Cost of a step, in cell updates, where each copy takes its own cycle."""

DRAWN_ORDERS = 12
"""Orders that a preview tries where the order is drawn."""

AT_ONCE = 10_000_000
"""Counts in one array: about 100 MB."""

PREVIEWED = Runs(2000, 2, PREVIEW_WORK)

FEWEST, TABLES, RUNS = 8, 32, 32
"""Numbers of synthetic tables (of large tables, of small ones) and of runs on each."""

SMALL = SmallCount()
"""The counts that trials judge: the smallest ones, whatever rule the table has."""

STUCK = 0.9
"""Share of runs that publish a count unchanged from which it counts as stuck."""


def side_by_side(
    walker: Walker, tables: Ints, runs: int, generator: np.random.Generator, progress: Progress = SILENT
) -> tuple[Ints, Steps]:
    """Changes of so many runs on each of the tables, int64 (cells, tables, runs), and their steps.

    Parameters
    ----------
    tables : int64 (cells, tables)
    """
    state = np.repeat(tables, runs, axis=1)
    steps = walker.run(state, generator, progress)
    return state.reshape(*tables.shape, runs) - tables[:, :, None], steps


def preview_cycles(problem: Problem, values: Values, progress: Progress = SILENT) -> Preview:
    """Preview the mechanism on a table by runs on copies of it."""
    walker = Walker.of(values)
    moves = walker.moves
    counts = problem.table.counts.reshape(-1)
    judged = problem.at_risk.mask(counts)
    at_risk = int(judged.sum())
    if not at_risk:
        judged = counts > 0
    each = len(moves.cells) * walker.steps / len(moves)
    if walker.order == "positive":
        each += STEP_COST * walker.steps
    runs = PREVIEWED.of_cost(each)
    # As many copies as fit; a drawn order is that of all copies that run together.
    batch = int(np.clip(AT_ONCE // max(len(counts), walker.steps), 1, runs))
    if walker.order in DISCLOSED_ORDERS:
        batch = min(batch, -(-runs // DRAWN_ORDERS))
    generator = trial_coins(problem.table.domain)
    blocked, came = np.zeros(len(moves)), np.zeros(len(moves))
    stuck, change = 0, Counter[int]()
    for done in range(0, runs, batch):
        size = min(batch, runs - done)
        progress.report(STAGE, done / runs)
        moved, steps = side_by_side(walker, counts[:, None], size, generator)
        change += changes(moved[judged])
        stuck += int(steps.blocked.sum())
        if walker.order != "positive":
            np.add.at(blocked, steps.cycles, steps.blocked.sum(axis=2).reshape(-1))
            np.add.at(came, steps.cycles, size)
    # Under negative only a coin that wants to move can be refused: share of those.
    asked = walker.alpha + walker.beta if walker.rule in ("negative", "reversible") else 1.0
    found = Preview.of_changes(at_risk=at_risk, judged=int(judged.sum()), runs=runs, change=change)
    return replace(
        found,
        blocked_share=stuck / (walker.steps * runs * asked),
        blocked_by_cycle=blocked / np.maximum(came * asked, 1e-300),
    )


@dataclass(frozen=True)
class Tried:
    """Figures of many runs on tables.

    Attributes
    ----------
    stuck, unchanged
        Share of small counts that (almost) never change, and mean chance that one is unchanged.
    repeated
        Mean chance that two runs publish the same number for a small count: the mean belief in
        the true count of a reader who sees that cell alone and takes all counts as equally likely.
    change
        Mean absolute change of a count, over all cells.
    """

    stuck: float
    unchanged: float
    repeated: float
    change: float

    @classmethod
    def of(cls, moved: Ints, chosen: Bools) -> Tried:
        """The figures of some runs.

        Parameters
        ----------
        moved : int64 (cells, tables, runs)
        chosen : bool (cells, tables)
            The small counts.
        """
        change = float(np.abs(moved).mean())
        if not chosen.any():
            return cls(0.0, 1.0, 1.0, change)
        runs = moved.shape[2]
        small = moved[chosen]
        same = (small == 0).mean(axis=1)
        pairs = [(small == np.roll(small, k, axis=1)).mean() for k in range(1, runs // 2 + 1)]
        return cls(float((same >= STUCK).mean()), float(same.mean()), float(np.mean(pairs)), change)


def tried_cycles(
    moves: MoveSet,
    values: Values,
    tables: Ints,
    generator: np.random.Generator,
    progress: Progress = SILENT,
    small: SmallCount = SMALL,
) -> Tried:
    """Run cycles on tables int64 (cells, tables).

    Parameters
    ----------
    values
        Public parameters of the mechanism.
    small
        Which counts ``stuck`` and ``unchanged`` are about.
    """
    walker = Walker.of(values | {"cycles": moves})
    each = max(len(moves.cells) * walker.steps // len(moves), 1)
    number = Runs(tables.shape[1], work=CHOOSING_WORK).of_cost(each * RUNS)
    runs = Runs(RUNS, 4, CHOOSING_WORK).of_cost(each * number)
    taken = tables[:, :number]
    moved, _ = side_by_side(walker, taken, runs, generator, progress)
    chosen = small.mask(taken)
    return Tried.of(moved, chosen if chosen.any() else taken > 0)


@dataclass(frozen=True, eq=False)
class TrialTables:
    """Synthetic tables with given kept margins, on which every design meets the same random numbers.

    Attributes
    ----------
    counts : int64 (cells, tables)
    """

    kept: KeptMargins
    counts: Ints

    @classmethod
    def of(cls, kept: KeptMargins, zeros: Bools | None = None, progress: Progress = SILENT) -> TrialTables:
        """Negative binomial counts of shape 1 around the counts expected from the margins.

        Parameters
        ----------
        zeros : bool (cells,)
            Cells that are empty whatever the data are.
        """
        mu = expected_counts(kept, zeros, progress)
        # A large table has small counts enough in a few: a design touches a cell about four times.
        number = Runs(TABLES, FEWEST, CHOOSING_WORK).of_cost(RUNS * 16 * len(mu))
        return cls(kept, synthetic_counts(mu, number, _coins(kept), shape=1.0))

    def tried(self, moves: MoveSet, values: Values, progress: Progress = SILENT) -> Tried:
        """Figures of cycles run on these tables."""
        return tried_cycles(moves, values, self.counts, _coins(self.kept, stream=1), progress)


def _coins(kept: KeptMargins, stream: int = 0) -> np.random.Generator:
    return trial_generator("synthetic", kept.counts.tobytes(), stream=stream)
