"""What a published table says about the original: shapes of likelihood, no method by name.

A method states one of these from its *disclosed* parameters alone; the posterior knows the
shapes and no method. One shape so far: a known sequence of moves, each taken by a coin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

BlockingRule = Literal["any_zero", "negative", "none"]

BLOCKING_RULES: dict[BlockingRule, str] = {
    "any_zero": (
        "A cycle that touches a zero is not applied. A zero stays zero: a reader knows that "
        "every published positive count was positive."
    ),
    "negative": (
        "A cycle is not applied in a direction that would make a cell negative. Zeros can rise; "
        "small counts drift up a little."
    ),
    "none": (
        "Every cycle is applied. Cells can become negative: for analysis, not for release "
        "without a look."
    ),
}


@dataclass(frozen=True)
class MoveSequence:
    """Each step adds one move with probability alpha, subtracts it with beta, unless blocked.

    Steps run through ``moves`` in order, ``passes`` times, each on the running table.

    Attributes
    ----------
    published
        The released table.
    moves
        The cycles in the order they are applied.
    alpha, beta
        Chance of adding and of subtracting; the rest leaves the table.
    passes
        Rounds over the whole list.
    rule
        When a step is blocked (``BLOCKING_RULES``).
    """

    published: Table
    moves: MoveSet
    alpha: float
    beta: float
    passes: int
    rule: BlockingRule

    @property
    def gamma(self) -> float:
        """The chance that a coin leaves the table.

        Exactly 0 where alpha and beta add up to 1 but for rounding: 1 - 0.7 - 0.3 is 5.6e-17,
        which would make impossible originals possible.
        """
        gamma = 1.0 - (self.alpha + self.beta)
        return gamma if gamma > 1e-12 else 0.0


Likelihood = MoveSequence
