"""The share of the expected small counts that a reader knows, or is certain of: two measures.

The verdict's own figures over the inner cells (or those of the main published table): cells where
one small count is believed with more than the belief limit, or as good as 1, over the number of
small counts that the reader expects. For a reader who assumes nothing and knows the mechanism.
"""

from __future__ import annotations

from typing import ClassVar

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.assessment.measure import Measure
from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.disclosure.counts_verdict import posterior_figures
from tabprotect.languages.messages import message


class ShareKnown(Measure):
    """Share of at-risk cells a reader knows: registered as ``share_known``."""

    name = "share_known"
    label = message("Share of small counts a reader knows")
    unit = message("share")
    direction = "lower is better"
    noun = "risk"
    needs = ("posterior",)
    over = "inner cells"
    which: ClassVar[str] = "known"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the posterior of the release."""
        found = posterior_figures(case.posterior, case.problem.at_risk, BELIEF_LIMIT)
        if not found.at_risk:
            raise NotComputable(message("a reader expects no small count"))
        return Figure(getattr(found, self.which) / found.at_risk, None, case.left_out)


class ShareCertain(ShareKnown):
    """Share of at-risk cells a reader is certain of: registered as ``share_certain``."""

    name = "share_certain"
    label = message("Share of small counts a reader is certain of")
    which = "certain"


PLUGINS = (ShareKnown(), ShareCertain())
