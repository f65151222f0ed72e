"""The weight that a likelihood of factors gives one original, by its definition."""

from __future__ import annotations

import math

import numpy as np

from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.tables.table import Table


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
