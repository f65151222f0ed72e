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

    def insiders(self, limit: float) -> float | None:
        """The chance that somebody alone in an inner cell learns another at-risk count."""
        alone = learning = 0.0
        for cell in range(self.domain.size):
            (part,) = (part for part in self.parts if cell in part.cells)
            own = part.originals[:, part.cells.index(cell)] == 1
            share = float(part.weights[own].sum())
            alone += share
            learns = share > 0 and any(
                part.weights[own & same].sum() / share > limit >= part.weights[same].sum()
                for other in set(part.cells) - {cell}
                for value in range(self.rule.low, self.rule.high + 1)
                for same in [part.originals[:, part.cells.index(other)] == value]
            )
            learning += share * learns
        return learning / alone if alone > 1e-9 else None

    def figures(self, table: Domain, judged: np.ndarray | None, limit: float) -> Figures:
        """Of the cells of a margin (or the inner table), or those of them that are judged."""
        at_risk, known, certain = 0.0, 0, 0
        for number, cells in enumerate(self._summed(table)):
            if judged is not None and not judged[number]:
                continue
            sums, weights = self._sums(cells)
            chances = [
                float(weights[sums == value].sum()) for value in range(self.rule.low, self.rule.high + 1)
            ]
            at_risk += sum(chances)
            known += max(chances) > limit
            certain += max(chances) > 1 - 1e-9
        return Figures(at_risk, known, certain)
