"""How far apart one record more or less makes a release: (epsilon, delta), in two measures.

For methods that protect every published number by itself, by the same law. Two tables are
neighbours when they differ by one record; a record counts once in every published table, whose
epsilons and deltas are added up. Every true count from 0 up is looked at, not only those that are
there, so that neither figure says anything of the original.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message

DELTA = 1e-6
"""The delta for which epsilon is computed."""

EPSILON = 1.0
"""The epsilon for which delta is computed."""

NEGLIGIBLE = 1e-12
"""Probability that numbers at the ends of infinite laws may have left out."""

Law = tuple[int, Floats]
"""The lowest published count, and the probabilities from there on."""


def excess(p: Law, q: Law, epsilon: float) -> float:
    """The largest P(event) - e^epsilon Q(event), over all events."""
    first = min(p[0], q[0])
    size = max(p[0] + len(p[1]), q[0] + len(q[1])) - first
    laid = np.zeros((2, size))
    for row, (start, chances) in zip(laid, (p, q), strict=True):
        row[start - first : start - first + len(chances)] = chances
    return float(np.maximum(laid[0] - math.exp(epsilon) * laid[1], 0.0).sum())


class DifferentialPrivacy(Measure):
    """Base of both measures: the laws of the published numbers for neighbouring counts."""

    direction = "lower is better"
    noun = "risk"

    def _pairs(self, release: Release) -> list[tuple[Law, Law]]:
        """The laws of neighbouring counts, both ways round."""
        laws = methods()[release.mechanism.method].transitions(release)
        if laws is None:
            raise NotComputable(message("the method does not protect each number by itself"))
        pairs = list(pairwise(laws))
        return [*pairs, *((q, p) for p, q in pairs)]


class Delta(DifferentialPrivacy):
    """Differential privacy: delta at epsilon a fixed delta: registered as ``dp_delta``."""

    name = "dp_delta"
    label = message("Differential privacy: delta at epsilon {EPSILON:g}", EPSILON)
    unit = message("probability")
    text = message(
        "With which probability a release shows one record more clearly than by a factor of "
        "e.\n\nThe smallest delta for which the method is ({EPSILON:g}, delta)-differentially "
        "private: over all\nneighbouring true counts the largest P(event | one) - e^epsilon "
        "P(event | other), with epsilon\nshared evenly by the published tables, and their "
        "deltas added up (1 at most). 1 where a count is\npublished as it is. For methods that "
        "protect each number by itself; noise of the tables is taken\nas independent.\n\nSource: "
        "Dwork and Roth 2014, definition 2.4 and theorem 3.16.",
        EPSILON,
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the law of the method alone."""
        tables = len(case.release.tables)
        worst = max(excess(p, q, EPSILON / tables) for p, q in self._pairs(case.release))
        return Figure(min(1.0, tables * worst))


class Epsilon(DifferentialPrivacy):
    """Differential privacy: epsilon at delta a fixed delta: registered as ``dp_epsilon``."""

    name = "dp_epsilon"
    label = message("Differential privacy: epsilon at delta {DELTA:g}", DELTA)
    unit = message("epsilon")
    text = message(
        "By which factor e^epsilon one record changes probabilities, but for delta {DELTA:g}.\n\n"
        "The smallest epsilon for which the method is (epsilon, {DELTA:g})-differentially "
        "private, over all\nneighbouring true counts, with delta shared evenly by the published "
        "tables, and their epsilons\nadded up. There is none where some number tells "
        "neighbouring counts apart with a larger probability:\na zero that stays zero, a "
        "bounded noise. For methods that protect each number by itself; noise of\nthe tables is "
        "taken as independent.\n\nSource: Dwork and Roth 2014, definition 2.4 and theorem 3.16.",
        DELTA,
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the law of the method alone, by bisection."""
        tables = len(case.release.tables)
        share = DELTA / tables + NEGLIGIBLE
        pairs = self._pairs(case.release)
        high = 64.0
        worst = max(excess(p, q, high) for p, q in pairs)
        if worst > share:
            raise NotComputable(
                message(
                    "not differentially private at delta {DELTA:g}: a published number tells "
                    "neighbouring counts apart with probability {worst:.2g}",
                    DELTA,
                    worst,
                )
            )
        low = 0.0
        while high - low > 1e-9:
            middle = (low + high) / 2
            if max(excess(p, q, middle) for p, q in pairs) > share:
                low = middle
            else:
                high = middle
        return Figure(tables * high)


PLUGINS = (Epsilon(), Delta())
