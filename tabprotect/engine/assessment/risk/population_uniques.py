"""Share of the people alone in a cell of the survey whom a reader would find in the population.

Over the inner cells with one record (or those of the main published table): the belief that the count
is 1, for a reader who assumes nothing and knows the mechanism, times the chance that whoever is alone
in the survey is alone in the population, by a log-linear model and the design weights. A reader who
does not know who is in the survey needs both; for one who does, ``posterior_true`` holds.

Source: Skinner and Shlomo 2008.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable, mean
from tabprotect.engine.assessment.measure import Measure
from tabprotect.engine.assessment.sample_uniques import sample_uniques
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.design_weights import DesignWeights
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


class PopulationUniques(Measure):
    """Sample uniques found in the population: registered as ``population_uniques``."""

    name = "population_uniques"
    label = message("Sample uniques a reader would find in the population")
    unit = message("share of the sample uniques")
    direction = "lower is better"
    noun = "risk"
    needs = ("posterior", "weights")
    over = "inner cells"

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the posterior of the release and the weights of the original."""
        weights = case.weights
        domain = case.posterior.domain
        sums = true_table(weights.sums, domain, case.own.groupings)
        table = Table.dense(domain, case.believed)
        try:
            uniques = sample_uniques(table, DesignWeights(sums, weights.low, weights.high))
        except InputError as error:
            raise NotComputable(str(error)) from None
        found = np.full(domain.shape, np.nan)
        found[uniques.cells] = case.posterior.probability(case.believed)[uniques.cells] * uniques.alone
        share = mean(found[uniques.cells], message("no cell holds one person of the survey"))
        return Figure(share, found, case.left_out)


PLUGIN = PopulationUniques()
