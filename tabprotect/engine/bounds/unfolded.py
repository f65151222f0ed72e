"""Releases that name levels of variables, as releases of a table with an axis for each level.

A released level (``region@nuts2``) is a variable of its own beside the finer levels that are
released too. Cells whose levels contradict each other hold nobody. A margin that names a finer
level says as much with all coarser ones added, so that these cells are zeros of a released margin:
then nothing beyond the margins is known, and all that holds of releases holds of these.

What is known beyond the margins are crossing groupings and structural zeros: which combinations of
released categories there are at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.budgets import DENSE_LIMIT
from tabprotect.engine.errors import TooLargeError
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
        Where groupings cross that no margin names together, and where structural zeros are: which
        combinations of categories there are, as tables of 1 and 0.
    nobody : bool (m,)
        Which of the asked cells are structural zeros.
    """

    table: Table
    margins: MarginSet
    cells: Ints
    open: Bools
    structure: tuple[Table, ...]
    nobody: Bools


def unfolded(table: Table, release: MarginSet, cells: Ints) -> Unfolded:
    """A release (margins by variable or level, none contained in another) of a table.

    Raises
    ------
    TooLargeError
        Where structural zeros join too many variables.
    """
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
    joined = _joined(domain)
    structure = []
    for own, mask in joined:
        chosen = [n for v in own.variables for n in used[domain.axis(v.name)]]
        if any(set(chosen) <= set(margin) for margin in margins):
            continue
        every = _keys(own, chosen, np.arange(own.size, dtype=np.int64))
        there = np.unique(every[mask])
        if len(there) < len(np.unique(every)):
            structure.append(_ones(own, chosen, there))
    for axis, chosen in enumerate(used):
        if len(chosen) > 1 and not any(set(chosen) <= set(margin) for margin in margins):
            own = Domain((domain.variables[axis],))
            pairs = _keys(own, chosen, np.arange(own.size, dtype=np.int64))
            structure.append(_ones(own, chosen, np.unique(pairs)))
    return Unfolded(
        small,
        margins,
        _keys(domain, names, cells),
        _open(domain, used, joined, cells),
        tuple(structure),
        domain.structural_cells(cells),
    )


def _ones(own: Domain, names: Sequence[str], there: Ints) -> Table:
    return Table.sparse(Domain(tuple(own[n] for n in names)), there, np.ones_like(there))


def _joined(domain: Domain) -> list[tuple[Domain, Bools]]:
    """The variables that structural zeros join, and which of their combinations there are."""
    groups: list[frozenset[str]] = []
    for zero in domain.structural:
        names = frozenset(name for name, _ in zero.where)
        near = [group for group in groups if group & names]
        groups = [*(group for group in groups if not group & names), names.union(*near)]
    found = []
    for group in groups:
        own = Domain(
            tuple(v for v in domain.variables if v.name in group),
            tuple(zero for zero in domain.structural if zero.where[0][0] in group),
        )
        if own.size > DENSE_LIMIT:
            raise TooLargeError(
                f"structural zeros join {own.size:,} combinations of categories: too many",
                hint="state them of fewer variables together",
            )
        found.append((own, ~own.structural_cells()))
    return found


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


def _open(
    domain: Domain,
    used: Sequence[Sequence[str]],
    joined: Sequence[tuple[Domain, Bools]],
    cells: Ints,
) -> Bools:
    out = np.zeros(len(cells), dtype=np.bool_)
    apart = {name for own, _ in joined for name in own.names}
    single = [Domain((v,)) for v in domain.variables if v.name not in apart]
    for own, mask in [*((one, np.ones(one.size, dtype=np.bool_)) for one in single), *joined]:
        chosen = [name for v in own.variables for name in used[domain.axis(v.name)]]
        if set(own.names) <= set(chosen):
            continue
        groups = _keys(own, chosen, np.arange(own.size, dtype=np.int64))
        _, group = np.unique(groups, return_inverse=True)
        sizes = np.bincount(group.reshape(-1), weights=mask)
        shared = sizes[group.reshape(-1)] > 1
        out |= shared[_keys(domain, own.names, cells)]
    return out
