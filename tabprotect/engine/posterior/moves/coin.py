"""One step backwards: the tables before it that lead to the table after it, with their masses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Floats, SignedInts
from tabprotect.engine.release.likelihood import BlockingRule

IMPOSSIBLE = -1e8
"""Log ratios below it mean impossible; infinities would give undefined differences."""

FAR = 2**14
"""Stands for the smallest count of an empty set of cells; fits int16."""


@dataclass(frozen=True)
class Coin:
    """The chances of adding, subtracting and leaving, and the rule that blocks a step."""

    alpha: float
    beta: float
    gamma: float
    rule: BlockingRule

    def masses(self, low_plus: SignedInts, low_minus: SignedInts) -> tuple[Floats, Floats, Floats]:
        """Backward masses of the coefficients -1, 0, +1: P(table after | table before).

        Parameters
        ----------
        low_plus, low_minus
            Smallest count *after* the step among the cells the move adds to and among those it
            subtracts from; they broadcast against each other.
        """
        shape = np.broadcast_shapes(low_plus.shape, low_minus.shape)
        if self.rule == "none":
            return (
                np.full(shape, self.beta),
                np.full(shape, self.gamma),
                np.full(shape, self.alpha),
            )
        if self.rule == "any_zero":
            # Before the step no cell was zero, so a cell that it added to is at least 2 now.
            undo_plus = (low_plus >= 2) & (low_minus >= 0)
            undo_minus = (low_plus >= 0) & (low_minus >= 2)
            leave = np.where((low_plus <= 0) | (low_minus <= 0), 1.0, self.gamma)
        else:
            undo_plus = (low_plus >= 1) & (low_minus >= 0)
            undo_minus = (low_plus >= 0) & (low_minus >= 1)
            # A coin that would have made a cell negative was refused and left the table unchanged.
            leave = np.full(shape, self.gamma)
            leave += np.where(low_minus <= 0, self.alpha, 0.0)
            leave += np.where(low_plus <= 0, self.beta, 0.0)
        return np.where(undo_minus, self.beta, 0.0), leave, np.where(undo_plus, self.alpha, 0.0)

    def ratio_masses(
        self, plus: Floats, minus: Floats, *, drawn: bool = False
    ) -> tuple[Floats, Floats, Floats]:
        """:meth:`masses` for the rule ``reversible``, from the weights of the neighbouring tables.

        Parameters
        ----------
        plus, minus
            Log ratio of the weight of the table after the step with the move added once more (taken
            away) to its own; ``IMPOSSIBLE`` or less where a count would be negative.
        drawn
            Whether to return the chances of the mechanism run backwards: the posterior when the
            prior is the rule's own weight.
        """
        up, down = (
            np.where(d > IMPOSSIBLE, np.exp(np.minimum(d, 0.0)), 0.0) for d in (plus, minus)
        )
        leave = self.gamma + self.alpha * (1.0 - up) + self.beta * (1.0 - down)
        if drawn:
            return self.beta * up, leave, self.alpha * down
        from_plus, from_minus = (
            np.where(d > IMPOSSIBLE, np.exp(np.minimum(-d, 0.0)), 0.0) for d in (minus, plus)
        )
        return self.beta * from_minus, leave, self.alpha * from_plus

    def log_masses(self, low_plus: SignedInts, low_minus: SignedInts) -> list[Floats]:
        """Logarithms of :meth:`masses`; -inf is impossible."""
        at = (np.clip(low_plus, -1, 2) + 1) * 4 + (np.clip(low_minus, -1, 2) + 1)
        return [log[at] for log in self._logs]

    @cached_property
    def _logs(self) -> Floats:
        """Log masses of -1, 0, +1 by the two smallest counts: nothing differs outside -1..2."""
        low = np.arange(-1, 3)
        masses = self.masses(np.repeat(low, 4), np.tile(low, 4))
        with np.errstate(divide="ignore"):
            return np.log(np.stack(masses))
