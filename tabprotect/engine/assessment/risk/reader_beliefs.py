"""What a reader who assumes nothing believes of the small counts: three measures."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, mean
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


class ReaderBelief(Measure):
    """Base of the three measures of a reader's belief: the posterior under a flat prior."""

    unit = message("probability")
    direction = "lower is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"


class PosteriorSmall(ReaderBelief):
    """Belief that the count is small: registered as ``posterior_small``."""

    name = "posterior_small"
    label = message("Belief that the count is small")
    text = message(
        "How much a reader believes that a small count is small.\n\nMean over the small "
        "inner counts (or those of the main published table) of the posterior\n"
        "probability that the true count is one the rule calls small, for "
        "a reader who\nassumes nothing and knows the mechanism."
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the posterior of the release."""
        at_risk = case.at_risk
        belief = np.where(at_risk, case.posterior.small(case.problem.at_risk), np.nan)
        return Figure(float(belief[at_risk].mean()), belief, case.left_out)


class PosteriorTrue(ReaderBelief):
    """Belief in the true count: registered as ``posterior_true``."""

    name = "posterior_true"
    label = message("How sure a reader is of the true count")
    text = message(
        "How much a reader believes in the true count of a small count.\n\nMean over the "
        "small inner counts (or those of the main published table) of the posterior\n"
        "probability of their true count, for a reader who assumes nothing (uniform "
        "prior) and knows the\nmechanism. Where it is not known what the choice of a "
        'whole table tells, it is marked "at least".'
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the posterior of the release."""
        at_risk = case.at_risk
        belief = np.where(at_risk, case.posterior.probability(case.believed), np.nan)
        return Figure(float(belief[at_risk].mean()), belief, case.left_out)


class ExactDisclosure(ReaderBelief):
    """Exact disclosure of small counts: registered as ``exact_disclosure``."""

    name = "exact_disclosure"
    label = message("Exact disclosure of small counts")
    text = message(
        "How likely a published small count is the true one: P(X = k | X' = k).\n\nMean "
        "over the inner cells that are published with a count the rule "
        "calls small of\nthe posterior probability that this is the true count, for a "
        "reader who assumes nothing.\n\nSource: Domingo-Ferrer and Mateo-Sanz 1999, table "
        "1."
    )

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the posterior of the release."""
        case.require_counts()
        posterior = case.posterior
        counts = posterior.published.counts
        small = case.problem.at_risk.mask(counts) & posterior.is_published
        sure = np.where(small, posterior.probability(np.maximum(counts, 0)), np.nan)
        return Figure(mean(sure[small], message("no inner cell is published with a small count")), sure)


PLUGINS = (PosteriorSmall(), PosteriorTrue(), ExactDisclosure())
