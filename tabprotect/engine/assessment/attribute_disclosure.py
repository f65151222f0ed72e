"""Attribute disclosure: guesses of an intruder who knows a person's key variables.

The risk of Langsrud and Lupp (2021), section 6. A key group is a combination of categories of the
key variables. With counts e over the sensitive categories a guess is right with probability
max(e) / sum(e). A person of the group knows more: they take themselves off, so that one category
with a count loses min(1, e), and guess about the rest. Probability 1 is exact disclosure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Floats

Intruder = Literal["guessing", "know_yourself"]

CERTAIN = 1 - 1e-6
"""Probability from which a guess is exact disclosure: expected counts are fitted."""

BETA = 0.5
"""Precision weighs twice as much as recall."""

TINY = 1e-9
"""Expected counts below it are taken as 0."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """Guesses of the sensitive category, group by group.

    Attributes
    ----------
    probability : float64 (groups,)
        Probability of the surest guess; 0 where there is nobody to guess about.
    disclosed : bool (groups, categories)
        Categories that the intruder takes for certain.
    """

    probability: Floats
    disclosed: Bools


def guess(counts: Floats, intruder: Intruder) -> Guesses:
    """The guesses from counts of key groups.

    Parameters
    ----------
    counts : float64 (groups, categories of the sensitive variable)
    """
    counts = np.where(counts < TINY, 0.0, counts)
    ways = [counts]
    if intruder == "know_yourself":
        ways = []
        for category in range(counts.shape[1]):
            rest = counts.copy()
            rest[:, category] -= np.minimum(1.0, rest[:, category])
            # Nobody of the group is in a category without a count.
            rest[counts[:, category] == 0] = 0.0
            ways.append(rest)
    probability = np.zeros(len(counts))
    disclosed = np.zeros(counts.shape, dtype=np.bool_)
    for rest in ways:
        total = rest.sum(axis=1, keepdims=True)
        shares = np.divide(rest, total, out=np.zeros_like(rest), where=total > TINY)
        probability = np.maximum(probability, shares.max(axis=1, initial=0.0))
        disclosed |= shares >= CERTAIN
    return Guesses(probability, disclosed)


@dataclass(frozen=True, eq=False)
class Disclosures:
    """Exact disclosures in the original and in the expected counts of a release. Confidential.

    Attributes
    ----------
    original, released
        Over the same key groups.
    occupied : bool (groups,)
        Groups with anybody in the original.
    """

    original: Guesses
    released: Guesses
    occupied: Bools

    @classmethod
    def of(cls, original: Floats, released: Floats, intruder: Intruder) -> Disclosures:
        """Make one from counts (groups, categories)."""
        return cls(guess(original, intruder), guess(released, intruder), original.sum(axis=1) > 0)

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """Exact disclosures in the original, in the release (of groups that occur in the
        original), and in both, where the category is the same."""
        a = self.original.disclosed
        b = self.released.disclosed & self.occupied[:, None]
        return int(a.any(axis=1).sum()), int(b.any(axis=1).sum()), int((a & b).any(axis=1).sum())

    @property
    def f_beta(self) -> float:
        """Weighted harmonic mean of precision and recall; 0 where nothing is disclosed in either
        (equation 5)."""
        a, b, c = self.counts
        below = BETA**2 * a + b
        return (1 + BETA**2) * c / below if below else 0.0
