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
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.possible import Possible, keys_by, possible
from tabprotect.engine.tables.table import Table


@dataclass(frozen=True, eq=False)
class Unfolded:
    """A table and a release of it, each released level on an axis of its own.

    Attributes
    ----------
    table
        Over the released variables and levels.
    margins
        The margins, with every coarser level that they determine.
    cells : int64 (m,)
        The asked cells in that table.
    open : bool (m,)
        Whether each shares its released categories with another cell of the original table, so
        that only zero bounds it from below.
    structure
        The possible combinations of categories, as tables of 1 and 0, where groupings cross that no
        margin names together, and where structural zeros are.
    nobody : bool (m,)
        Whether each asked cell is a structural zero.
    """

    table: Table
    margins: MarginSet
    cells: Ints
    open: Bools
    structure: tuple[Table, ...]
    nobody: Bools


def unfolded(table: Table, release: MarginSet, cells: Ints) -> Unfolded:
    """Unfold a release (margins by variable or level, none contained in another) of a table.

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
        small = Table.sparse(over, keys_by(domain, names, keys), values)
    known = possible(domain)
    structure = []
    for one in known:
        chosen = [level for name in one.domain.names for level in used[domain.axis(name)]]
        if any(set(chosen) <= set(margin) for margin in margins):
            continue
        every = keys_by(one.domain, chosen, np.arange(one.domain.size, dtype=np.int64))
        there = np.unique(every[one.mask])
        if len(there) < len(np.unique(every)):
            structure.append(_ones(one.domain, chosen, there))
    for axis, chosen in enumerate(used):
        if len(chosen) > 1 and not any(set(chosen) <= set(margin) for margin in margins):
            own = Domain((domain.variables[axis],))
            pairs = keys_by(own, chosen, np.arange(own.size, dtype=np.int64))
            structure.append(_ones(own, chosen, np.unique(pairs)))
    return Unfolded(
        small,
        margins,
        keys_by(domain, names, cells),
        _open(domain, used, known, cells),
        tuple(structure),
        domain.structural_cells(cells),
    )


def _ones(own: Domain, names: Sequence[str], there: Ints) -> Table:
    return Table.sparse(Domain(tuple(own[n] for n in names)), there, np.ones_like(there))


def _used(domain: Domain, release: MarginSet) -> list[list[str]]:
    """The released names of each axis, in the domain's order."""
    used: list[list[str]] = [[] for _ in domain.variables]
    for name in dict.fromkeys(name for margin in release for name in margin):
        used[domain.axis_of(name)].append(name)
    return [sorted(axis, key=domain.order) for axis in used]


def _open(
    domain: Domain, used: Sequence[Sequence[str]], known: Sequence[Possible], cells: Ints
) -> Bools:
    out = np.zeros(len(cells), dtype=np.bool_)
    told = {name for one in known for name in one.domain.names}
    others = [Domain((v,)) for v in domain.variables if v.name not in told]
    single = [Possible(one, np.ones(one.size, dtype=np.bool_)) for one in others]
    for one in (*single, *known):
        names = one.domain.names
        chosen = [level for name in names for level in used[domain.axis(name)]]
        if not set(names) <= set(chosen):
            out |= one.shared(chosen)[keys_by(domain, names, cells)]
    return out
