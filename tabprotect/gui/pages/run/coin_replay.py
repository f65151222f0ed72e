"""The coins of a run, step by step: the running table after any of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints
from tabprotect.engine.protection.problem import RunEvidence, Steps
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import message

SIGNS = {1: "+", -1: "\u2212", 0: "leave"}


@dataclass(frozen=True, eq=False)
class Replay:
    """A finished run, step by step whatever the order of the cycles; confidential like its record."""

    moves: MoveSet
    record: RunEvidence

    @property
    def steps(self) -> Steps:
        """Return what the coins said and what was done."""
        assert self.record.steps is not None
        return self.record.steps

    def __len__(self) -> int:
        return int(self.steps.coins.size)

    def cycle(self, step: int) -> int:
        """Return which cycle a step is, from 0; -1 where none could be taken."""
        return int(self.steps.cycles[step])

    def pattern(self, step: int) -> npt.NDArray[np.int8]:
        """The cycle of a step as an array of the table's shape; empty where none was taken."""
        cycle = self.cycle(step)
        if cycle < 0:
            return np.zeros(self.moves.domain.shape, dtype=np.int8)
        return self.moves.array(cycle)

    def coin(self, step: int) -> int:
        """Return what the coin said."""
        return int(self.steps.coins.reshape(-1)[step])

    def done(self, step: int) -> int:
        """Return what was done: 0 also where the step was blocked."""
        return int(self.steps.effective.reshape(-1)[step])

    def is_blocked(self, step: int) -> bool:
        """Return True if the step was blocked."""
        return bool(self.steps.blocked.reshape(-1)[step])

    def table_after(self, steps: int) -> Ints:
        """The running table after so many steps, of the table's shape. O(entries)."""
        done = np.flatnonzero(self.steps.effective.reshape(-1)[:steps])
        by_cycle = np.zeros(len(self.moves), dtype=np.int64)
        np.add.at(by_cycle, self.steps.cycles[done], self.steps.effective.reshape(-1)[done])
        state = self.record.problem.table.counts.reshape(-1).copy()
        moves = self.moves
        np.add.at(state, moves.cells, moves.signs * by_cycle[moves.rows])
        return state.reshape(moves.domain.shape)

    def step_text(self, step: int) -> str:
        """One step in words."""
        cycle = self.cycle(step)
        if cycle < 0:
            return message(
                "Step {step} of {self}: no cycle runs through positive cells, the table stays.",
                step + 1,
                len(self),
            )
        passes, each = self.steps.coins.shape
        where = message("cycle {cycle}", cycle + 1)
        if passes > 1:
            where = message("pass {step}, {where}", step // each + 1, where)
        coin, done = self.coin(step), self.done(step)
        if self.is_blocked(step):
            what = message("the coin says {SIGNS}, the cycle is blocked by a zero", SIGNS[coin])
        elif not coin:
            what = message("the coin says leave")
        else:
            what = (
                message("the coin says {SIGNS}: the cycle is added", SIGNS[coin])
                if done > 0
                else message("the coin says {SIGNS}: the cycle is subtracted", SIGNS[coin])
            )
        return message("Step {step} of {self}, {where}: {what}.", step + 1, len(self), where, what)
