"""How often a reader is right where the release seems to give a person's category away.

The expected inner cells are taken as the reader's data. In key groups where they show one
sensitive category only, the reader attributes it: TCAP is the share of the original's people of
the group who are in that category, averaged over these groups with the expected counts as
weights. Groups without anybody in the original are left out; 0 where no group looks disclosed.

Source: Taub, Elliot, Pampaka and Smith 2018, Differential correct attribution probability for
synthetic data.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message


class Tcap(Measure):
    """Targeted correct attribution (TCAP): registered as ``tcap``."""

    name = "tcap"
    label = message("Targeted correct attribution (TCAP)")
    unit = message("probability")
    direction = "lower is better"
    noun = "risk"
    needs = ("restored", "expected", "key")
    over = "key groups"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the expected inner cells."""
        disclosures = case.disclosures("guessing")
        original, expected = case.by_key(case.inner), case.by_key(case.expected)
        targets = disclosures.released.disclosed & disclosures.occupied[:, None]
        at = np.asarray(targets.any(axis=1))
        people = original.sum(axis=1)
        right = np.full(len(original), np.nan)
        right[at] = (original * targets).sum(axis=1)[at] / people[at]
        weight = expected.sum(axis=1)[at]
        value = float((right[at] * weight).sum() / weight.sum()) if at.any() else 0.0
        return Figure(value, case.by_group(right, at))


PLUGIN = Tcap()
