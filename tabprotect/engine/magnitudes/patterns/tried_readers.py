"""What an audit of hidden sums tried, one by one: who could estimate whom, and how closely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.magnitudes.patterns.pattern import EVERYBODY
from tabprotect.engine.magnitudes.readers.attack_problem import AttackProblem, AttackTarget
from tabprotect.engine.magnitudes.readers.audit import Audit
from tabprotect.engine.magnitudes.readers.reader_programme import NEAR, ReaderProgramme
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.languages.messages import message

LISTED = 400
"""The most unsafe sums whose readers are listed."""


@dataclass(frozen=True)
class TriedReader:
    """A reader and the largest other contributor of a hidden sum. Confidential.

    Attributes
    ----------
    cell
        The sum's number.
    reader
        Who reads: those who put together what they know, nobody for an outsider.
    own
        What they put into the sum.
    target, true
        Who is estimated, and what he put in.
    upper
        The most that the reader can think he put in; at least that where ``more``.
    more
        Whether the search ended once it was enough.
    needed
        What the rules ask that to be.
    """

    cell: int
    reader: tuple[str, ...]
    own: int
    target: str
    true: int
    upper: int
    more: bool
    needed: int

    @property
    def off(self) -> float:
        """Return by how much the estimate is too high, as a share of what is estimated."""
        return (self.upper - self.true) / max(1, self.true)

    @property
    def holds(self) -> bool:
        """Return True if the reader does not come too near."""
        return self.upper >= self.needed


def tried_readers(
    table: MagnitudeTable,
    rules: Sequence[MagnitudeRule],
    pattern: tuple[Bools, Bools],
    *,
    weights: str = "sample",
    progress: Progress = SILENT,
) -> tuple[TriedReader, ...]:
    """The readers of every unsafe sum, or of a sample of them, the closest first.

    Parameters
    ----------
    pattern : bool (cells,), bool (cells,)
        The sums that are unsafe, and all that are hidden.

    Raises
    ------
    Interrupted
    """
    primary, hidden = pattern
    puzzle = AttackProblem(table, tuple(rules), weights)
    same = puzzle.equations.same
    unsafe = np.zeros(len(hidden), dtype=bool)
    unsafe[same[primary]] = True
    small = len(puzzle.equations.places) <= EVERYBODY
    items = Audit(puzzle, unsafe, every=small, most=LISTED).items(hidden)
    programme = ReaderProgramme(puzzle, hidden)
    found = []
    for number, item in enumerate(items):
        if number % 20 == 0:
            progress.report(message("trying contributors as readers"), number / len(items))
        found.append(_tried(puzzle, item, programme.most(item)))
    return tuple(sorted(found, key=lambda one: (one.holds, one.off, one.cell)))


def _tried(puzzle: AttackProblem, item: AttackTarget, most: float) -> TriedReader:
    holding, own = puzzle.pooled([item.cell])
    inside = np.isin(holding, item.reader)
    mine, total = int(own[inside].sum()), int(puzzle.value[item.cell])
    others = np.flatnonzero(~inside)
    target = int(others[np.argmax(np.abs(own[others]))])
    return TriedReader(
        item.cell,
        tuple(puzzle.table.names[one] for one in item.reader),
        mine,
        puzzle.table.names[int(holding[target])],
        int(own[target]),
        total + int(most + NEAR) - mine,
        most >= item.need - NEAR,
        total + item.need - mine,
    )
