"""The audit of a suppression pattern: the exact interval it leaves to every suppressed cell.

A reader who knows the published cells (and that counts are whole, not negative, and not zero
where zeros are never hidden) can narrow each suppressed one down to an interval. In two-way tables it is found by maximum flows and is
sharp; elsewhere by linear programmes, and by integer programmes where these are fractional.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.suppressing.near_tables.deviation import ENDLESS, Deviation
from tabprotect.engine.protection.suppressing.near_tables.two_way_flows import TwoWayFlows
from tabprotect.engine.protection.suppressing.pattern import Steady, engine
from tabprotect.engine.protection.suppressing.task import LowerEnds
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import capital, joined, message, plural

MOST_BY_FLOWS, MOST_BY_PROGRAMMES = 1_500, 150_000
"""Most suppressed cells, and suppressed times published cells, for which intervals are cheap."""

NEARLY = 3
"""Width up to which the sentence counts an interval as narrow."""


@dataclass(frozen=True, eq=False)
class Audit:
    """The intervals of the suppressed cells. Confidential: it carries true counts.

    Attributes
    ----------
    cells : int64 (suppressed,)
        Published cells by number.
    values : int64 (suppressed,)
        Their true counts.
    lower, upper : int64 (suppressed,)
        The interval; ``upper`` is ``ENDLESS`` or more where nothing limits the cell.
    sharp : bool (suppressed,)
        Whether a table with the lower and one with the upper count is known to exist; else the
        true interval may be narrower.
    unprotected : int64
        Sensitive cells whose interval does not contain their protection interval.
    """

    cells: Ints
    values: Ints
    lower: Ints
    upper: Ints
    sharp: Bools
    unprotected: Ints

    @property
    def exact(self) -> bool:
        """Return True if all intervals are sharp."""
        return bool(self.sharp.all())

    @property
    def disclosed(self) -> Ints:
        """Suppressed cells that a reader knows exactly."""
        known: Ints = self.cells[self.lower == self.upper]
        return known

    def bounded_within(self, width: int) -> int:
        """Suppressed cells whose interval is no wider than ``width``."""
        return int((self.upper - self.lower <= width).sum())

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        number = len(self.cells)
        if not number:
            return message("No cell is hidden.")
        parts = [
            plural(
                number,
                "for the hidden cell at least {least} counts stay possible",
                "for each of the {number} hidden cells at least {least} counts stay possible",
                number,
                NEARLY + 2,
            )
            if not self.bounded_within(NEARLY)
            else plural(
                self.bounded_within(NEARLY),
                "for {few} of {number} hidden cells at most {most} counts stay possible",
                "for {few} of {number} hidden cells at most {most} counts stay possible",
                self.bounded_within(NEARLY),
                number,
                NEARLY + 1,
            )
        ]
        known = len(self.disclosed)
        if known:
            parts.append(
                plural(known, "{known} of them is known exactly", "{known} of them are known exactly", known)
            )
        weak = len(self.unprotected)
        if weak:
            parts.append(
                plural(
                    weak,
                    "{weak} unsafe cell lacks its interval",
                    "{weak} unsafe cells lack their interval",
                    weak,
                )
            )
        if not self.exact:
            parts.append(message("some intervals may be narrower than shown"))
        return capital(joined(parts, "; ")) + "."

    def as_json(self, publication: Publication) -> dict[str, object]:
        """Return it for ``Draft.findings``: every suppressed cell with its interval."""
        return {
            "sentence": self.sentence,
            "exact": self.exact,
            "suppressed": len(self.cells),
            "disclosed": len(self.disclosed),
            f"within_{NEARLY}": self.bounded_within(NEARLY),
            "unprotected": len(self.unprotected),
            "cells": [
                {
                    "cell": publication.cell_text(int(cell)),
                    "count": int(value),
                    "lower": int(low),
                    "upper": None if high >= ENDLESS else int(high),
                    "exact": bool(sharp),
                }
                for cell, value, low, high, sharp in zip(
                    self.cells, self.values, self.lower, self.upper, self.sharp, strict=True
                )
            ],
        }


def is_cheap(publication: Publication, suppressed: Bools) -> bool:
    """Return True if all intervals take well under a second; else they are found on demand."""
    hidden = int(suppressed.sum())
    if TwoWayFlows.fits(publication):
        return hidden <= MOST_BY_FLOWS
    return hidden * publication.size <= MOST_BY_PROGRAMMES


def audit(
    publication: Publication,
    table: Table,
    suppressed: Bools,
    *,
    levels: Mapping[str, Ints] | None = None,
    never_zero: bool = False,
    progress: Progress = SILENT,
) -> Audit:
    """Bound every suppressed cell.

    Parameters
    ----------
    table
        The original.
    suppressed : bool (published cells,)
    levels
        ``below`` and ``above``, int64 (published cells,): the protection levels that sensitive
        cells must have; 0 for others.
    never_zero
        Whether readers know that no hidden cell is zero.

    Raises
    ------
    Interrupted
        When cancelled.
    """
    if suppressed.shape != (publication.size,):
        raise InputError(message("the suppressed cells are those of another table"))
    values = publication.added_up(table)
    first, inverse = publication.distinct
    # A number that is published once is known wherever it stands.
    hidden = np.ones(len(first), dtype=np.bool_)
    hidden[inverse[~suppressed]] = False
    cells = first[hidden]
    inner = table.counts.reshape(-1)
    lower_ends = LowerEnds.of(publication, inner, never_zero=never_zero)
    room = values - lower_ends.published, inner - lower_ends.inner
    ahead, behind, proven = _Bounding(publication, room, cells, Steady(progress)).run()
    place = np.full(len(first), -1, dtype=np.int64)
    place[hidden] = np.arange(len(cells))
    every = np.flatnonzero(suppressed)
    at = place[inverse[every]]
    lower, upper = values[every].copy(), values[every].copy()
    sharp = np.ones(len(every), dtype=np.bool_)
    free = at >= 0
    lower[free] -= behind[at[free]]
    upper[free] += ahead[at[free]]
    sharp[free] = proven[at[free]]
    unprotected = np.zeros(0, dtype=np.int64)
    if levels is not None:
        too_high = (levels["below"][every] > 0) & (lower > values[every] - levels["below"][every])
        too_low = (levels["above"][every] > 0) & (upper < values[every] + levels["above"][every])
        unprotected = every[too_high | too_low]
    return Audit(every, values[every], lower, upper, sharp, unprotected)


class _Bounding:
    """Both ends of each interval; a table that proves one end also widens many other intervals."""

    def __init__(
        self, publication: Publication, room: tuple[Ints, Ints], cells: Ints, progress: Progress
    ) -> None:
        self._progress = progress
        self._cells = cells
        cost = np.full(publication.size, np.inf)
        self._engine = engine(publication, room, cost, progress)
        self._engine.open(cells)
        self._place = np.full(publication.size, -1, dtype=np.int64)
        self._place[cells] = np.arange(len(cells))
        # How far each cell is known to move up and down.
        self._moves = {1: np.zeros(len(cells), np.int64), -1: np.zeros(len(cells), np.int64)}

    def run(self) -> tuple[Ints, Ints, Bools]:
        """Return how far up and down, and whether both are sharp, each (cells,)."""
        ends = {1: np.zeros(len(self._cells), np.int64), -1: np.zeros(len(self._cells), np.int64)}
        sharp = np.ones(len(self._cells), dtype=np.bool_)
        for number, cell in enumerate(self._cells.tolist()):
            self._progress.report("audit", number / len(self._cells))
            for sign in (1, -1):
                known = int(self._moves[sign][number])
                most, proven, found = self._engine.extreme(cell, sign, known)
                if found is not None:
                    self._credit(found)
                ends[sign][number] = most
                sharp[number] &= proven
        return ends[1], ends[-1], sharp

    def _credit(self, found: Deviation) -> None:
        at = self._place[found.cells]
        for sign, most in ((1, found.ahead), (-1, found.behind)):
            reach = sign * found.change * min(most, ENDLESS // int(np.abs(found.change).max()))
            for way in (1, -1):
                self._moves[way][at] = np.maximum(self._moves[way][at], way * reach)
