"""Bounds of beliefs where it is not worked out what happened before a release, but how likely it was.

Let w(x) in [s, 1] be the chance of all that happened from an original x, and r <= E w that of it on
average over the originals of a release. A belief b then becomes b' = E(w; A) / E w, and

    1 - (1 - b) / max(r, s b + 1 - b) <= b' <= b / max(r, b + s (1 - b)):

E(w; A) is at most min(b, E w - s (1 - b)) and at least max(s b, E w - (1 - b)), and a larger E w than
r is no worse than the one where both meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats

STEPS = 60
"""Most steps to the highest mean; a few are enough."""


@dataclass(frozen=True)
class Widening:
    """What is known of the chance of what happened before.

    Attributes
    ----------
    least
        The least chance from any original: no odds move by more than a factor of its inverse.
    share
        The least chance on average.
    """

    least: float = 1.0
    share: float = 1.0

    @property
    def larger(self) -> float:
        """The factor by which a belief becomes larger at most; infinite if nothing is known."""
        bound = max(self.least, self.share)
        return 1.0 / bound if bound else float("inf")

    def beside(self, other: Widening) -> Widening:
        """What is known of both together, if neither follows from the other."""
        share = max(self.least * other.share, other.least * self.share)
        return Widening(self.least * other.least, share)

    def ends(self, beliefs: Floats) -> tuple[Floats, Floats]:
        """The lowest and the highest that each belief can become."""
        others = 1.0 - beliefs
        low = 1.0 - others / np.maximum(np.maximum(self.share, self.least * beliefs + others), 1e-300)
        high = beliefs / np.maximum(np.maximum(self.share, beliefs + self.least * others), 1e-300)
        return np.clip(low, 0.0, beliefs), np.minimum(np.maximum(high, beliefs), 1.0)

    def mean_belief(self, beliefs: Floats) -> float:
        """The highest that the mean belief in the truth can become: the sum of squares by the sum.

        z^2 - m z is convex, so that the highest is at an end of each; m is found by Dinkelbach's
        iteration.
        """
        low, high = self.ends(beliefs.reshape(-1))
        mean = 1.0
        for _ in range(STEPS):
            at = np.where(high + low >= mean, high, low)
            total = float(at.sum())
            found = float((at**2).sum()) / total if total else 0.0
            if abs(found - mean) < 1e-15:
                break
            mean = found
        return mean


NOT_WIDENED = Widening()
"""Of beliefs in which all is taken in."""
