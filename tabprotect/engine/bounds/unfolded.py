"""Releases that name levels of variables, as releases of a table with an axis for each level.

A released level (``region@nuts2``) is a variable of its own beside the finer levels that are
released too. Cells whose levels contradict each other hold nobody. A margin that names a finer
level says as much with all coarser ones added, so that these cells are zeros of a released margin:
then nothing beyond the margins is known, and all that holds of releases holds of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.table import Table


@dataclass(frozen=True, eq=False)
class Unfolded:
    """A table and a release of it, each released level on an axis of its own.

    Attributes
    ----------
    table
        Over the released variables and levels.
    margins
        With every coarser level that they tell.
    cells : int64 (m,)
        The asked cells in that table.
    open : bool (m,)
        Which of them share their released categories with another cell of the original table, so
        that nothing but zero bounds them from below.
    structure
        Where groupings cross that no margin names together: which pairs of groups there are, as
        tables of 1 and 0.
    """

    table: Table
    margins: MarginSet
    cells: Ints
    open: Bools
    structure: tuple[Table, ...]


def unfolded(table: Table, release: MarginSet, cells: Ints) -> Unfolded:
    """A release (margins by variable or level, none contained in another) of a table."""
    domain = table.domain
    used = _used(domain, release)
    names = [name for axis in used for name in axis]
    margins = tuple(
        tuple(name for name in names if domain.tells(margin, name)) for margin in release
    )
    over = Domain(tuple(domain[name] for name in names))
    if all(len(axis) < 2 for axis in used):
        small = table.margin(names)
    else:
        keys, values = table.cells
        small = Table.sparse(over, _keys(domain, names, keys), values)
    structure = []
    for axis, chosen in enumerate(used):
        if len(chosen) > 1 and not any(set(chosen) <= set(margin) for margin in margins):
            own = Domain((domain.variables[axis],))
            pairs = _keys(own, chosen, np.arange(own.size, dtype=np.int64))
            there = np.unique(pairs)
            structure.append(
                Table.sparse(Domain(tuple(own[n] for n in chosen)), there, np.ones_like(there))
            )
    return Unfolded(
        small, margins, _keys(domain, names, cells), _open(domain, used, cells), tuple(structure)
    )


def _used(domain: Domain, release: MarginSet) -> list[list[str]]:
    """The released names of each axis, in the domain's order."""
    used: list[list[str]] = [[] for _ in domain.variables]
    for name in dict.fromkeys(name for margin in release for name in margin):
        used[domain.axis_of(name)].append(name)
    return [sorted(axis, key=domain.order) for axis in used]


def _codes(domain: Domain, name: str, keys: Ints) -> Ints:
    axis, level = domain.place(name)
    stride = int(np.prod(domain.shape[axis + 1 :], dtype=object))
    codes = (keys // stride) % domain.shape[axis]
    return codes if level is None else level.codes[codes]


def _keys(domain: Domain, names: Sequence[str], keys: Ints) -> Ints:
    out = np.zeros(len(keys), dtype=np.int64)
    for name in names:
        out = out * len(domain[name].categories) + _codes(domain, name, keys)
    return out


def _open(domain: Domain, used: Sequence[Sequence[str]], cells: Ints) -> Bools:
    out = np.zeros(len(cells), dtype=np.bool_)
    for variable, chosen in zip(domain.variables, used, strict=True):
        if variable.name in chosen:
            continue
        own = Domain((variable,))
        groups = _keys(own, chosen, np.arange(own.size, dtype=np.int64))
        _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        shared = sizes[group.reshape(-1)] > 1
        out |= shared[_codes(domain, variable.name, cells)]
    return out
