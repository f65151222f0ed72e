"""The audit of a pattern: unsafe sums against the contributors who could come near another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.magnitudes.readers.attack_problem import (
    AttackProblem,
    AttackTarget,
    AuditCounts,
    Reader,
    need_of,
    readers_of,
)
from tabprotect.engine.magnitudes.readers.reader_programme import NEAR, ReaderProgramme
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

Broken = tuple[AttackTarget, float]
"""What a reader comes too near to, and how far the sum can go for him."""


class Audit:
    """The audit of patterns of one table, one after the other.

    Parameters
    ----------
    unsafe
        By cell.
    every
        Whether all contributors near a cell are tried by programmes: for small tables.
    most
        The most unsafe cells that are looked at; a sample of them where there are more.
    """

    def __init__(self, puzzle: AttackProblem, unsafe: Bools, *, every: bool, most: int) -> None:
        self.puzzle, self.every = puzzle, every
        cells = np.flatnonzero(unsafe)
        self.unsafe = len(cells)
        # Spread over the table, and the same each time.
        at = np.arange(min(most, len(cells))) * len(cells) // max(1, min(most, len(cells)))
        self.cells: Ints = cells[at]
        self._needs: dict[tuple[int, Reader], int] = {}
        self._always: dict[int, list[AttackTarget]] = {}
        self._proved: dict[int, set[Reader]] = {}
        self._sound: set[int] = set()
        self.found: list[Broken] = []
        self._programme: ReaderProgramme | None = None

    def run(self, hidden: Bools, progress: Progress = SILENT) -> tuple[AuditCounts, list[Broken]]:
        """Return what a pattern leaves open; nothing that was proved is proved again while it only grows.

        Raises
        ------
        Interrupted
        """
        before = self._programme
        if before is None or bool(np.any(before.hidden & ~hidden)):
            self._proved.clear()
            self._sound.clear()
            before = None
        if before is None or not np.array_equal(before.hidden, hidden):
            self._programme = ReaderProgramme(self.puzzle, hidden, before)
        broken = self.found = []
        for number, cell in enumerate(self.cells.tolist()):
            if number % 20 == 0:
                progress.report(message("trying contributors as readers"), number / len(self.cells))
            of_cell = self._of_cell(cell, hidden)
            broken += of_cell
            (self._sound.discard if of_cell else self._sound.add)(cell)
        return self._tally(broken), broken

    def so_far(self) -> AuditCounts:
        """Return what was looked at, and found sound, before somebody broke it off."""
        return replace(self._tally([]), audited=len(self._sound))

    def _tally(self, broken: list[Broken]) -> AuditCounts:
        readers = {reader for _, reader in self._needs}
        exactly = sum(most <= NEAR for _, most in broken)
        return AuditCounts(
            len(readers), len(self._needs), len(self.cells), self.unsafe, exactly, len(broken) - exactly
        )

    def sound(self, hidden: Bools) -> bool:
        """Return True if no reader comes too near in a pattern."""
        programme = ReaderProgramme(self.puzzle, hidden)
        return all(
            programme.most(item) >= item.need - NEAR
            for cell in self.cells.tolist()
            for item in self._items(cell, hidden)
        )

    def items(self, hidden: Bools) -> list[AttackTarget]:
        """Every cell and reader that programmes look at, where nearness is possible at all."""
        return [item for cell in self.cells.tolist() for item in self._items(cell, hidden)]

    def _items(self, cell: int, hidden: Bools) -> list[AttackTarget]:
        if cell in self._always:
            return self._always[cell]
        readers = readers_of(self.puzzle, cell, self._near(cell, hidden), every=self.every)
        found = [item for item in (self._item(cell, one) for one in readers) if item.need > 0]
        if self.every:
            self._always[cell] = found
        return found

    def _item(self, cell: int, reader: Reader) -> AttackTarget:
        known = self._needs.get((cell, reader))
        if known is None:
            known = self._needs[cell, reader] = need_of(self.puzzle, cell, reader)
        return AttackTarget(cell, reader, known)

    def _near(self, cell: int, hidden: Bools) -> Ints:
        """The cells whose contributors are looked at by programmes."""
        sums = self.puzzle.equations
        if self.every:
            return sums.places
        touching = sums.touching.get(cell, [])
        children = [sums.children(e) for e in touching]
        parents = sums.parent[np.array(touching, dtype=np.int64)]
        beside = np.unique(np.concatenate([*children, parents]))
        return np.asarray(beside[hidden[beside]])

    def _of_cell(self, cell: int, hidden: Bools) -> list[Broken]:
        assert self._programme is not None
        proved = self._proved.setdefault(cell, set())
        out: list[Broken] = []
        for item in self._items(cell, hidden):
            if item.reader in proved:
                continue
            most = self._programme.most(item)
            if most < item.need - NEAR:
                out.append((item, most))
            else:
                proved.add(item.reader)
        return out
