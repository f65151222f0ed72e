"""Decomposable releases by simulated annealing: one legal edge of the graph at a time.

The state is a chordal graph; its cliques are the released frontier. Adding or removing an
edge ij with common neighbours S changes the number of released sub-tables by ``2^|S|`` and the
lower bounds by one combination of four margins, so a proposal costs microseconds. The walk starts
from the one-way tables; every state on the way satisfies the threshold.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 5; edge rules of decomposable graphs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.errors import Interrupted
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.utility import Worth

ANNEALING_PROPOSALS = 100_000
"""Edges proposed in all, over every start."""

COSTLY_PROPOSALS = 4_000
"""The same where each release is looked at anew."""

HOT, COLD = 40.0, 0.3
"""Temperatures, in sub-tables, at the start and at the end of each round."""

REPORT_EVERY = 500


@dataclass(frozen=True)
class Annealed:
    """The best graph found.

    Attributes
    ----------
    cliques
        Its frontier.
    complete
        False if the run was cancelled, which keeps the best so far.
    """

    cliques: tuple[Query, ...]
    complete: bool


ROUNDS = 4
"""Coolings, each from the best state so far."""


def anneal(
    standard: Standard,
    worth: Worth,
    generator: np.random.Generator,
    *,
    proposals: int = ANNEALING_PROPOSALS,
    progress: Progress = SILENT,
) -> Annealed:
    """Search for the best decomposable release in several coolings from the one-way tables.

    The one-way tables must meet the standard. The same generator gives the same result.
    Cancelling keeps the best so far; each report's partial result is that frontier.
    """
    lattice = standard.evidence.lattice
    variables, axis_of = lattice.variables, lattice.axis_of
    best: tuple[Query, ...] = lattice.axes
    best_value = 0.0
    if len(best) < 2:
        return Annealed(best, True)
    each = max(1, (min(proposals, COSTLY_PROPOSALS) if worth.costly else proposals) // ROUNDS)
    cooling = (COLD / HOT) ** (1 / each)
    try:
        for number in range(ROUNDS):
            walk, value, heat = standard.walk(), 0.0, HOT * worth.scale
            first = generator.integers(variables, size=each).tolist()
            second = generator.integers(variables - 1, size=each).tolist()
            chances = generator.random(each).tolist()
            for step in range(each):
                if step % REPORT_EVERY == 0:
                    progress.report("annealing", (number + step / each) / ROUNDS, best)
                heat *= cooling
                i, j = first[step], second[step]
                j += j >= i
                if axis_of[i] == axis_of[j]:
                    continue
                joined = walk.joined(i, j)
                if not (walk.can_delete(i, j) if joined else walk.can_add(i, j)):
                    continue
                change = worth.edge(walk, i, j)
                if joined:
                    if chances[step] >= math.exp(-change / heat):
                        continue
                    change = -change
                walk.toggle(i, j)
                value += change
                if value > best_value:
                    best, best_value = walk.tree().cliques, value
    except Interrupted:
        return Annealed(best, False)
    return Annealed(best, True)
