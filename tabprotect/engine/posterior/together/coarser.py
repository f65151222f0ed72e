"""Releases of a table of fewer variables, beside one of more: what they say is of sums of its cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.release.likelihood import CellFactors, Likelihood
from tabprotect.engine.release.published_numbers import PublishedNumbers
from tabprotect.engine.tables.domain import Domain


def is_coarser(coarse: Domain, fine: Domain) -> bool:
    """Return True if a table has some of the variables of another, with the same categories."""
    known = dict(zip(fine.names, fine.variables, strict=True))
    return coarse.size < fine.size and all(
        name in known and one.categories == known[name].categories
        for name, one in zip(coarse.names, coarse.variables, strict=True)
    )


def sums_of(tables: Ints, fine: Domain, coarse: Domain) -> Ints:
    """The coarser tables of some tables, (tables, cells of the finer one)."""
    if coarse == fine:
        return tables
    members = _members(coarse, fine)
    return np.asarray(tables[:, members].sum(axis=2), dtype=np.int64)


def over_finer(likelihood: Likelihood, fine: Domain) -> CellFactors | None:
    """The same factors over the cells of a finer table; ``None`` where there are no such ones.

    What the whole published table says beyond its factors is left out.
    """
    coarse = likelihood.domain
    if not isinstance(likelihood, CellFactors) or not is_coarser(coarse, fine):
        return None
    members = _members(coarse, fine)
    return replace(
        likelihood,
        domain=fine,
        starts=likelihood.starts * members.shape[1],
        cells=members[likelihood.cells].reshape(-1).astype(np.int64),
        rerun=None,
    )


def numbers_over_finer(numbers: PublishedNumbers, fine: Domain) -> PublishedNumbers | None:
    """The same published numbers as sums over the cells of a finer table; ``None`` where they are
    not, or something is believed of the coarser cells beforehand."""
    coarse = numbers.domain
    if coarse == fine:
        return numbers
    if not is_coarser(coarse, fine) or (numbers.believed >= 0).any():
        return None
    members = _members(coarse, fine)
    place = [fine.axis(name) for name in coarse.names]
    in_order = place == sorted(place)
    tables = tuple(
        replace(
            table,
            # The axes of a table stand in the order of the variables.
            axes=tuple(place[axis] for axis in table.axes) if in_order and table.axes is not None else None,
        )
        for table in numbers.tables
    )
    return replace(
        numbers,
        domain=fine,
        tables=tables,
        starts=numbers.starts * members.shape[1],
        cells=members[numbers.cells].reshape(-1).astype(np.int64),
        believed=np.full(fine.size, -1, dtype=np.int64),
    )


def _members(coarse: Domain, fine: Domain) -> Ints:
    """The flat cells of the finer table in each cell of the coarser one, (cells, each)."""
    at = np.indices(fine.shape).reshape(len(fine.shape), -1)
    axes = [at[fine.axis(name)] for name in coarse.names]
    key = np.ravel_multi_index(axes, coarse.shape) if axes else np.zeros(fine.size, dtype=np.int64)
    return np.argsort(key, kind="stable").reshape(coarse.size, fine.size // coarse.size)
