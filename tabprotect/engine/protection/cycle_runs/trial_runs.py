"""Trial runs of cycles on a table: what they would do to it, before any coin of the run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.cycle_runs.forward_walk import Walker
from tabprotect.engine.protection.cycle_runs.sequence import DISCLOSED_ORDERS
from tabprotect.engine.protection.method import trial_generator
from tabprotect.engine.protection.problem import Problem

STEP_COST = 100
"""Cell updates that a step costs by itself where each copy takes its own cycle."""

DRAWN_ORDERS = 12
"""Orders that a preview tries where they are drawn."""


@dataclass(frozen=True)
class CycleTrial:
    """What many simulated runs did to one table."""

    at_risk: int
    judged: int
    unchanged_share: float
    change: dict[int, float]
    blocked_share: float
    blocked: Floats
    runs: int


def try_cycles(problem: Problem, values: Values, work: int, progress: Progress) -> CycleTrial:
    """Run the mechanism on copies of the table, about ``work`` cell updates in all."""
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
    runs = int(np.clip(work // max(each, 1), 2, 2000))
    # Copies side by side, as many as fit about 100 MB at once; a drawn order is that of a batch.
    batch = int(np.clip(10_000_000 // max(len(counts), walker.steps), 1, runs))
    if walker.order in DISCLOSED_ORDERS:
        batch = min(batch, -(-runs // DRAWN_ORDERS))
    generator = trial_generator(problem)
    unchanged = 0
    blocked, came = np.zeros(len(moves)), np.zeros(len(moves))
    stuck, change, done = 0, dict[int, float](), 0
    while done < runs:
        size = min(batch, runs - done)
        progress.report("trying the mechanism on this table", done / runs)
        state = np.repeat(counts[:, None], size, axis=1)
        steps = walker.run(state, generator)
        moved = state - counts[:, None]
        unchanged += int((moved[judged] == 0).sum())
        stuck += int(steps.blocked.sum())
        if walker.order != "positive":
            by_step = steps.blocked.sum(axis=2).reshape(-1)
            np.add.at(blocked, steps.cycles, by_step)
            np.add.at(came, steps.cycles, size)
        seen, times = np.unique(moved[judged], return_counts=True)
        for value, count in zip(seen.tolist(), times.tolist(), strict=True):
            change[value] = change.get(value, 0.0) + count
        done += size
    # Under negative only a coin that wants to move can be refused: share of those.
    asked = walker.alpha + walker.beta if walker.rule in ("negative", "reversible") else 1.0
    cells = int(judged.sum())
    return CycleTrial(
        at_risk=at_risk,
        judged=cells,
        unchanged_share=unchanged / (cells * runs) if cells else 1.0,
        change={k: v / (cells * runs) for k, v in sorted(change.items())},
        blocked_share=stuck / (walker.steps * runs * asked),
        blocked=blocked / np.maximum(came * asked, 1e-300),
        runs=runs,
    )
