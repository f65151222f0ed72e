"""Signature groups: cells that the same cycles touch with the same signs, and so move alike.

Nearly all properties of a cycle set (rank, known functionals, width, posterior)
depend on the groups only: a 1000 x 1000 table under the bidiagonal set has 1,000 groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints
from tabprotect.engine.cycles import cycle_steps
from tabprotect.engine.equal_rows import by_number
from tabprotect.engine.tables.moves import MoveSet


@dataclass(frozen=True, eq=False)
class Signatures:
    """The groups of touched cells.

    Attributes
    ----------
    group_of_cell : int64 (cells,)
        Group of each flat cell; -1 for a cell that no cycle touches.
    first_cell : int64 (groups,)
        The first cell of each group.
    starts, cycles, signs
        Compressed rows: group g is touched by ``cycles[starts[g]:starts[g + 1]]`` (ascending)
        with those ``signs``.
    """

    group_of_cell: Ints
    first_cell: Ints
    starts: Ints
    cycles: Ints
    signs: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.first_cell)

    def touching(self, group: int) -> tuple[Ints, npt.NDArray[np.int8]]:
        """The cycles that touch a group, and their signs."""
        span = slice(int(self.starts[group]), int(self.starts[group + 1]))
        return self.cycles[span], self.signs[span]

    @cached_property
    def groups(self) -> Ints:
        """The group of each touch."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def column(self) -> Ints:
        """The group of each cell; untouched cells belong to a last one that never changes."""
        return np.where(self.group_of_cell < 0, len(self), self.group_of_cell)

    @property
    def members(self) -> tuple[Ints, Ints]:
        """The touched cells, group by group, and where those of each group begin."""
        touched = np.flatnonzero(self.group_of_cell >= 0)
        cells = touched[np.argsort(self.group_of_cell[touched], kind="stable")]
        return cells, np.searchsorted(self.group_of_cell[cells], np.arange(len(self)))

    def lowest(self, counts: Ints) -> Ints:
        """The lowest count of each group."""
        cells, starts = self.members
        return np.minimum.reduceat(counts[cells], starts) if len(self) else counts[:0]

    @cached_property
    def of_cycles(self) -> tuple[Ints, Ints, npt.NDArray[np.int8]]:
        """Return by cycles where the groups that each touches begin, those groups, and the signs."""
        order, starts = by_number(self.cycles, int(self.cycles.max(initial=-1)) + 1)
        return starts, self.groups[order], self.signs[order]


def signatures(moves: MoveSet) -> Signatures:
    """Group the cells by the cycles that touch them and the signs.

    Exact, by a table of the lists of touches, once for each cycle set.
    """
    if moves not in _FOUND:
        _FOUND[moves] = _grouped(moves)
    return _FOUND[moves]


_FOUND: WeakKeyDictionary[MoveSet, Signatures] = WeakKeyDictionary()


def _grouped(moves: MoveSet) -> Signatures:
    size, entries = moves.domain.size, len(moves.cells)
    most = min(size, entries)
    bounds, touches = np.zeros(size + 2, dtype=np.int64), np.empty(entries, dtype=np.int64)
    table = np.full(1 << (2 * most).bit_length(), -1, dtype=np.int64)
    group_of_cell, first_cell = np.empty(size, dtype=np.int64), np.empty(most, dtype=np.int64)
    starts = np.empty(most + 1, dtype=np.int64)
    cycles, signs = np.empty(entries, dtype=np.int64), np.empty(entries, dtype=np.int8)
    found = cycle_steps.grouped(
        *(size, len(moves), moves.starts, moves.cells, moves.signs, bounds, touches, table),
        *(group_of_cell, first_cell, starts, cycles, signs),
    )
    if found == most:
        return Signatures(group_of_cell, first_cell, starts, cycles, signs)
    # Copies, so that no memory is held that is not used.
    last = int(starts[found])
    return Signatures(
        group_of_cell,
        first_cell[:found].copy(),
        starts[: found + 1].copy(),
        cycles[:last].copy(),
        signs[:last].copy(),
    )
