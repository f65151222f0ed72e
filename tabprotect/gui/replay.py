"""The coins of a run, step by step: the running table after any of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.engine.protection.problem import Record, Steps
from tabprotect.engine.tables.moves import MoveSet

SIGNS = {1: "+", -1: "\u2212", 0: "leave"}


@dataclass(frozen=True, eq=False)
class Replay:
    """A finished run. Step ``p * cycles + i`` is cycle i of pass p; confidential like its record."""

    moves: MoveSet
    record: Record

    @property
    def steps(self) -> Steps:
        """What the coins said and what was done."""
        assert self.record.steps is not None
        return self.record.steps

    def __len__(self) -> int:
        return int(self.steps.coins.size)

    def pass_and_cycle(self, step: int) -> tuple[int, int]:
        """Which pass and which cycle a step is, both from 0."""
        return divmod(step, len(self.moves))

    def coin(self, step: int) -> int:
        """What the coin said."""
        return int(self.steps.coins[self.pass_and_cycle(step)])

    def done(self, step: int) -> int:
        """What was done: 0 also where the step was blocked."""
        return int(self.steps.effective[self.pass_and_cycle(step)])

    def is_blocked(self, step: int) -> bool:
        """Whether the step was blocked."""
        return bool(self.steps.blocked[self.pass_and_cycle(step)])

    def table_after(self, steps: int) -> npt.NDArray[np.int64]:
        """The running table after so many steps, of the table's shape. O(entries)."""
        coefficients = self.steps.effective.reshape(-1).astype(np.int64).copy()
        coefficients[steps:] = 0
        by_cycle = coefficients.reshape(self.steps.effective.shape).sum(axis=0)
        state = self.record.problem.table.counts.reshape(-1).copy()
        moves = self.moves
        np.add.at(state, moves.cells, moves.signs * by_cycle[moves.rows])
        return state.reshape(moves.domain.shape)

    def step_text(self, step: int) -> str:
        """One step in words."""
        number, cycle = self.pass_and_cycle(step)
        passes = len(self.steps.coins)
        where = f"pass {number + 1}, cycle {cycle + 1}" if passes > 1 else f"cycle {cycle + 1}"
        coin, done = self.coin(step), self.done(step)
        if self.is_blocked(step):
            what = f"the coin says {SIGNS[coin]}, the cycle is blocked by a zero"
        elif not coin:
            what = "the coin says leave"
        else:
            what = (
                f"the coin says {SIGNS[coin]}: the cycle is {'added' if done > 0 else 'subtracted'}"
            )
        return f"Step {step + 1} of {len(self)}, {where}: {what}."
