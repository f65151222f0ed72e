"""How sure an intruder who guesses is of a person's sensitive category.

Mean over the key groups that occur in the original of the probability of the surest guess, from
the expected inner cells.

Source: Langsrud and Lupp 2021, tables 9 and 10.
"""

from __future__ import annotations

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, mean
from tabprotect.engine.assessment.measure import Measure


class GuessProbability(Measure):
    """Registered as ``guess_probability``."""

    name = "guess_probability"
    label = "Guessing: surest guess"
    unit = "probability"
    direction = "lower is better"
    noun = "risk"
    needs = (
        "restored",
        "expected",
        "key",
    )
    over = "key groups"

    def compute(self, case: AssessedRelease) -> Figure:
        """From the expected inner cells."""
        disclosures = case.disclosures("guessing")

        sure = disclosures.released.probability
        value = mean(sure[disclosures.occupied], "the original is empty")
        return Figure(value, case.by_group(sure, disclosures.occupied))


PLUGIN = GuessProbability()
