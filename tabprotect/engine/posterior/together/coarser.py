"""Releases of a table of fewer variables, beside one of more: what they say is of sums of its cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.engine.release.likelihood import CellFactors, Likelihood
from tabprotect.engine.tables.domain import Domain


def is_coarser(coarse: Domain, fine: Domain) -> bool:
    """Whether a table has some of the variables of another, with the same categories."""
    known = dict(zip(fine.names, fine.variables, strict=True))
    return coarse.size < fine.size and all(
        name in known and one.categories == known[name].categories
        for name, one in zip(coarse.names, coarse.variables, strict=True)
    )


def over_finer(likelihood: Likelihood, fine: Domain) -> CellFactors | None:
    """The same factors over the cells of a finer table; ``None`` where there are no such ones.

    What the whole published table says beyond its factors is left out.
    """
    coarse = likelihood.domain
    if not isinstance(likelihood, CellFactors) or not is_coarser(coarse, fine):
        return None
    at = np.indices(fine.shape).reshape(len(fine.shape), -1)
    axes = [at[fine.names.index(name)] for name in coarse.names]
    key = np.ravel_multi_index(axes, coarse.shape) if axes else np.zeros(fine.size, dtype=np.int64)
    each = fine.size // coarse.size
    cells = np.argsort(key, kind="stable").reshape(coarse.size, each)
    return replace(
        likelihood,
        domain=fine,
        starts=likelihood.starts * each,
        cells=cells[likelihood.cells].reshape(-1).astype(np.int64),
        rerun=None,
    )
