"""The law of what a sequence of cycles makes of an original, and originals with other weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.margins import laws_of
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import Progress
from tabprotect.engine.release.likelihood import MoveSequence

RULES = ("any_zero", "negative", "none")
"""Blocking rules whose draws can all be enumerated."""


def forward_law(likelihood: MoveSequence, table: Ints) -> dict[bytes, float]:
    """P(release | original) of every release, by the bytes of its counts (cells,)."""
    law: dict[bytes, float] = {np.ascontiguousarray(table, dtype=np.int64).tobytes(): 1.0}
    coins = ((1, likelihood.alpha), (-1, likelihood.beta), (0, likelihood.gamma))
    for step in range(len(likelihood.moves) * likelihood.passes):
        cells, signs = likelihood.moves.entries(step % len(likelihood.moves))
        after: dict[bytes, float] = {}
        for before, chance in law.items():
            counts = np.frombuffer(before, dtype=np.int64)
            stuck = likelihood.rule == "any_zero" and bool((counts[cells] == 0).any())
            for sign, share in coins:
                if not share:
                    continue
                moved = counts.copy()
                moved[cells] += sign * signs
                below = likelihood.rule == "negative" and bool((moved[cells] < 0).any())
                key = before if stuck or below else moved.tobytes()
                after[key] = after.get(key, 0.0) + chance * share
        law = after
    return law


def weighted(found: Posterior, tables: Ints, weights: Floats) -> Posterior:
    """The posterior with other weights of its originals; those without weight are ruled out."""
    tables, weights = tables[weights > 0], weights[weights > 0]
    first, chances = laws_of(tables, weights)
    cumulative = np.cumsum(weights)

    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        at = np.searchsorted(cumulative, generator.random(number) * cumulative[-1], side="right")
        return np.asarray(tables[np.minimum(at, len(tables) - 1)], dtype=np.int64)

    return replace(
        found,
        group_of_cell=np.arange(len(first)),
        first=first,
        chances=chances,
        draw_originals=draw,
        count_originals=lambda: len(tables),
        list_originals=lambda: (tables, weights),
        exact_sums=None,
    )
