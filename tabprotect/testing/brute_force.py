"""Posteriors by their definition alone: every original tried, and weighed by what was said of it.

Nothing of the engine's posterior is used. For tables of a few cells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.release.likelihood import AdaptiveSequence, CellFactors, Likelihood, MoveSequence
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

Cells = tuple[int, ...]


def every_original(likelihood: Likelihood, prior: Prior, most: int) -> dict[Cells, float]:
    """{flat original: probability} of all tables with counts up to ``most``; only possible ones.

    The posterior itself where ``prior`` allows no larger count.
    """
    size = likelihood.domain.size
    values = np.arange(most + 1)
    logs = np.array([prior.log_weight(cell, values) for cell in range(size)])
    out: dict[Cells, float] = {}
    for cells in itertools.product(range(most + 1), repeat=size):
        log = sum(logs[cell, count] for cell, count in enumerate(cells))
        if log > -math.inf and (chance := chance_of(likelihood, cells)):
            out[cells] = math.exp(log) * chance
    total = sum(out.values())
    return {cells: mass / total for cells, mass in out.items()}


def marginals(found: Mapping[Cells, float], most: int) -> Floats:
    """The distribution of each cell, (cells, most + 1)."""
    cells = np.array(list(found))
    weights = np.array(list(found.values()))
    out = np.zeros((cells.shape[1], most + 1))
    for cell in range(cells.shape[1]):
        out[cell] = np.bincount(cells[:, cell], weights, minlength=most + 1)
    return out


def chance_of(likelihood: Likelihood, original: Cells) -> float:
    """P(release | original), up to a factor that does not depend on the original."""
    if isinstance(likelihood, CellFactors):
        return weight(likelihood, Table.dense(likelihood.domain, _shaped(likelihood, original)))
    published = tuple(likelihood.published.counts.reshape(-1).tolist())
    if isinstance(likelihood, AdaptiveSequence):
        rule, sequence = "any_zero", [None] * likelihood.steps
    else:
        assert isinstance(likelihood, MoveSequence)
        rule = likelihood.rule
        sequence = [*range(len(likelihood.moves))] * likelihood.passes
    law = outcomes(
        original,
        likelihood.moves,
        alpha=Fraction(likelihood.alpha),
        beta=Fraction(likelihood.beta),
        rule=rule,
        sequence=sequence,
    )
    return float(law.get(published, 0))


def weight(likelihood: CellFactors, original: Table, seed: int = 0) -> float:
    """Product of the factors and of what the mechanism says beyond them; 0 where impossible."""
    counts, log = original.counts.reshape(-1), 0.0
    for f in range(likelihood.factors):
        mine = likelihood.cells[likelihood.starts[f] : likelihood.starts[f + 1]]
        kind, total = likelihood.kind[f], int(counts[mine].sum())
        low, high = likelihood.low[kind], likelihood.high[kind]
        if not low <= total <= high:
            return 0.0
        run = likelihood.logs[likelihood.log_starts[kind] : likelihood.log_starts[kind + 1]]
        log += float(run[total - low]) if len(run) else 0.0
    beyond = 1.0
    if likelihood.rerun is not None:
        beyond = likelihood.rerun.estimate(original, np.random.default_rng(seed))
    return math.exp(log) * beyond


def outcomes(
    original: Cells,
    moves: MoveSet,
    *,
    alpha: Fraction,
    beta: Fraction,
    rule: str,
    sequence: Sequence[int | None],
) -> dict[Cells, Fraction]:
    """P(published | original) of a sequence of cycles; ``None`` is one that the table chooses.

    Every outcome of choice and coin, forwards, from the mechanism's words alone.
    """
    arrays = [moves.array(i).reshape(-1).astype(int) for i in range(len(moves))]
    coins = ((1, alpha), (-1, beta), (0, 1 - alpha - beta))
    law: dict[Cells, Fraction] = {original: Fraction(1)}
    for cycle in sequence:
        after: dict[Cells, Fraction] = {}
        for now, mass in law.items():
            x = np.array(now)
            tried = [arrays[cycle]] if cycle is not None else [m for m in arrays if (x[m != 0] > 0).all()]
            if not tried:
                after[now] = after.get(now, Fraction(0)) + mass
            for m in tried:
                for coin, chance in coins:
                    then = x + coin * m
                    blocked = (rule == "any_zero" and (x[m != 0] == 0).any()) or (
                        rule == "negative" and then.min() < 0
                    )
                    cells = now if blocked else tuple(then.tolist())
                    after[cells] = after.get(cells, Fraction(0)) + mass / len(tried) * chance
        law = after
    return {cells: mass for cells, mass in law.items() if mass}


def _shaped(likelihood: CellFactors, original: Cells) -> np.ndarray:
    return np.array(original).reshape(likelihood.domain.shape)
