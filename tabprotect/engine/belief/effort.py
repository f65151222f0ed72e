"""How much work a posterior may take: the strength of the reader who is asked.

All limits but those of a comparison's patience are counted work, never time, so that a release and
a seed give one posterior on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tabprotect.engine.budgets import REWEIGHING_WORK
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.release.likelihood import Rerun

LEAST_EFFECTIVE = 100.0
"""Fewer effective draws are no basis to judge by."""

AT_WORST = 4
"""How many times the cell updates the fewest draws may take, where they are independent."""

LEAST_DRAWS = 400
"""Of a posterior that is judged: with fewer drawn originals nothing is."""

COMPARED_RUNS = 3
"""Runs of one configuration whose posterior is drawn in a comparison: a second or more each."""

PROGRAMME = 20
"""How many times as long a call of a mechanism takes that solves programmes."""


@dataclass(frozen=True, kw_only=True)
class Effort(Approach):
    """The work that a posterior may take, and what is judged by it.

    Attributes
    ----------
    name
        What the effort is for.
    updates
        Cell updates that drawing originals of moves may take, ``most_draws`` draws at most.
    share
        Of these draws, the share that is taken.
    chains
        Whether cells that hang together in too many ways are simulated by Markov chains.
    steps_once
        The ``steps`` where the method has no chance, and its one release is read once.
    cells
        Inner cells up to which a posterior is worked out.
    joined
        Of these that hang together by more than one published sum, or by moves.
    counted
        Whether originals are counted before they are weighed, and left unweighed where they are
        too many.
    joint
        The share of the work of putting all numbers of several tables together; 0: not at all.
    settled
        Whether a simulated posterior that says too little is refused.
    bases
        Of several releases read together, those whose originals are tried to be listed.
    tells
        Whether a verdict tells what is not judged: what somebody alone in a cell learns, and
        small sums that are published exactly.
    tells_refused
        Whether it tells that of a release too that does not keep the limits.
    """

    name: Literal["glance", "trial", "verdict", "comparison", "reader"]
    updates: int | None = None
    most_draws: int = 20_000
    share: float = 1.0
    chains: bool = True
    steps_once: int | None = None
    cells: int | None = None
    joined: int | None = None
    counted: bool = False
    joint: float = 1.0
    settled: bool = False
    bases: int | None = None
    tells: bool = True
    tells_refused: bool = True

    def weighed(self, rerun: Rerun, size: int) -> int | None:
        """Originals that may be weighed once they are counted; ``None``: they are not counted."""
        if not self.counted or self.weighing is None:
            return None
        call = rerun.cost_over(size) * (PROGRAMME if rerun.programmes else 1)
        return int(self.weighing / call) if rerun.exact else 0


READER = Effort(name="reader")
"""Whoever opens a bundle, and has the time."""

VERDICT = Effort(name="verdict", updates=2 * 10**8, weighing=REWEIGHING_WORK, settled=True, bases=1)
"""What the gate judges by, and whoever verifies it: the choice of the published numbers by as much
work as a reader has for it."""

ATTEMPT = replace(VERDICT, tells_refused=False)
"""What one of several draws is judged by, of which nobody sees those that fail."""

OTHERS = replace(VERDICT, tells=False)
"""What other releases are judged by, of which nothing is told but whether they pass."""

TRIAL = replace(VERDICT, name="trial", share=0.1, weighing=REWEIGHING_WORK / 10, joint=0.03, tells=False)
"""A verdict by fewer draws, of many that are tried."""

GLANCE = replace(TRIAL, name="glance", chains=False, steps=100_000, weighing=0, joint=0)
"""About a second."""

COMPARISON = Effort(
    name="comparison",
    draws=500,
    chains=False,
    steps=100_000,
    steps_once=4_000_000,
    cells=50_000,
    joined=64,
    weighing=5e5,
    counted=True,
    joint=0,
)
"""One of the many releases of a comparison."""
