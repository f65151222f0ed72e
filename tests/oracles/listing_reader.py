"""A reader who lists every original and runs the public mechanism on each: nothing of the engine's
posterior, its listing or its likelihoods.

What is used of the engine is what every reader has: the program's own forward run for methods
without chance, and plain laws written down in ``listing_laws`` for those with chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from listing_laws import PARTS
from originals import TooManyError, grouped, summed

from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain

__all__ = ["Figures", "Reader", "TooManyError"]


@dataclass(frozen=True)
class Figures:
    """What the reader would know of one table's judged cells."""

    at_risk: float
    known: int
    certain: int


class Reader:
    """Everything public about one release, read by enumeration.

    Raises
    ------
    TooManyError
        When more than ``most`` originals keep what is published.
    """

    def __init__(self, release: Release, rule: SmallCount, most: int) -> None:
        self.release, self.rule, self.domain = release, rule, release.domain
        self.parts = PARTS[release.mechanism.method](release, rule, most)

    @property
    def listed(self) -> int:
        """Originals, of all parts that say nothing of each other."""
        return sum(len(part.originals) for part in self.parts)

    def _summed(self, table: Domain) -> list[tuple[int, ...]]:
        if set(table.names) <= set(self.domain.names):
            return summed(self.domain, table.names)
        return grouped(self.domain, table, str(self.release.mechanism.parameters["groupings"]))

    def _sums(self, cells: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Of some cells in every original, and the weights of these."""
        (part,) = (part for part in self.parts if set(cells) <= set(part.cells))
        columns = [part.cells.index(cell) for cell in cells]
        return part.originals[:, columns].sum(axis=1), part.weights

    def insider(self, limit: float) -> Figures:
        """The best informed of those who are, at even odds or better, alone in an inner cell."""
        (part,) = self.parts
        values = range(self.rule.low, self.rule.high + 1)
        best = np.zeros(self.domain.size)
        inside = np.zeros(self.domain.size)
        for cell in range(self.domain.size):
            alone = part.originals[:, cell] == 1
            share = float(part.weights[alone].sum())
            if share < 0.5 - 1e-12:
                continue
            for other in set(range(self.domain.size)) - {cell}:
                chances = [
                    float(part.weights[alone & (part.originals[:, other] == v)].sum()) / share
                    for v in values
                ]
                best[other] = max(best[other], *chances)
                inside[other] = max(inside[other], sum(chances))
        known, certain = int((best > limit).sum()), int((best > 1 - 1e-9).sum())
        return Figures(float(inside.sum()), known, certain)

    def figures(self, table: Domain, judged: np.ndarray | None, limit: float) -> Figures:
        """Of the cells of a margin (or the inner table), or those of them that are judged."""
        at_risk, known, certain = 0.0, 0, 0
        for number, cells in enumerate(self._summed(table)):
            if judged is not None and not judged[number]:
                continue
            sums, weights = self._sums(cells)
            chances = [
                float(weights[sums == value].sum())
                for value in range(self.rule.low, self.rule.high + 1)
            ]
            at_risk += sum(chances)
            known += max(chances) > limit
            certain += max(chances) > 1 - 1e-9
        return Figures(at_risk, known, certain)
