"""Likelihoods of sequences of moves, and random priors with their weights as plain functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, lgamma, log
from typing import Any

import numpy as np

from tabprotect.engine.posterior.prior import CellTable, NegativeBinomial, Poisson, Positive, Prior, Uniform
from tabprotect.engine.release.likelihood import BlockingRule, MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table


def sequence(
    published: Any,
    moves: MoveSet,
    rule: BlockingRule,
    *,
    alpha: float = 0.25,
    beta: float | None = None,
    passes: int = 1,
) -> MoveSequence:
    table = Table.dense(moves.domain, published)
    return MoveSequence(table, moves, alpha, alpha if beta is None else beta, passes, rule)


def random_prior(rng: np.random.Generator, size: int) -> tuple[Prior, Any]:
    """A prior and its weight as a plain function (cell, count)."""
    kind = rng.integers(5)
    mean = rng.gamma(2.0, 1.0, size)
    if kind == 0:
        return Uniform(), lambda cell, count: 1.0
    if kind == 1:
        chosen = np.flatnonzero(rng.random(size) < 0.5)
        members = set(chosen.tolist())
        return Positive(chosen), lambda cell, count: float(count >= 1 or cell not in members)
    if kind == 2:
        return Poisson(mean), lambda cell, count: exp(
            count * log(mean[cell]) - mean[cell] - lgamma(count + 1)
        )
    if kind == 3:
        r = 1.7
        return NegativeBinomial(mean, r), lambda cell, count: exp(
            lgamma(count + r)
            - lgamma(count + 1)
            - lgamma(r)
            + r * log(r / (r + mean[cell]))
            + count * log(mean[cell] / (r + mean[cell]))
        )
    weights = {
        int(c): {int(v): float(rng.random()) for v in rng.permutation(8)[:6]}
        for c in rng.permutation(size)[:3]
    }
    entries = [(c, v, w) for c, row in weights.items() for v, w in row.items()]
    keys, values, numbers = map(np.array, zip(*entries, strict=True))
    return (
        CellTable(keys, values, numbers),
        lambda cell, count: weights[cell].get(count, 0.0) if cell in weights else 1.0,
    )


def moves_of(
    domain: Domain,
    cycles: Iterable[tuple[Iterable[Sequence[int]], Iterable[Sequence[int]]]],
    *,
    margins: MarginSet | None = None,
) -> MoveSet:
    """Cycles from (cells with +, cells with -) each, cells as index tuples."""
    arrays = []
    for plus, minus in cycles:
        array = np.zeros(domain.shape, dtype=np.int64)
        for sign, side in ((1, plus), (-1, minus)):
            for index in side:
                array[tuple(index)] = sign
        arrays.append(array)
    return MoveSet.from_arrays(domain, arrays, margins=margins)
