"""Coarsening: categories are merged into groups, and the coarser table is published exactly.

Categories of some variables were merged into the stated groups and the counts of each group added
up. Every published count is exact; nothing else was changed. Small counts remain wherever the
groups themselves are small.

Example. Ages 0-9, 10-19, 20-29 with the counts 1, 7, 12; "wide:age=0-9>0-19,10-19>0-19,20-29>20-29"
publishes the variable wide with 8 and 12. What a reader knows of the 1 is that it lies in 0..8:
1 in 9 under a uniform prior.

A group that still holds a small count publishes it as it is: a reader is certain of it, and the
release is refused where that is so too often. A variable with two groupings is published by both at once, which
is as fine as the two together.

The posterior is exact: each published count is the sum of inner cells that occur in no other one.

Source: Willenborg and de Waal 2001, section 6 (global recoding of tables).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_margins import counts_of, sum_factors
from tabprotect.engine.protection.subtables import GROUPINGS, given_groupings
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message


class Coarsening(Method):
    """Coarser categories: registered as ``coarsening``."""

    name = "coarsening"
    label = message("Coarser categories")
    trial_work = 17.0
    parameters = (
        replace(
            GROUPINGS,
            help=message(
                "The groups, named: wide:age=0-9>0-19,10-19>0-19,20-29>20-29; further variables "
                "after a semicolon; or a file. Each takes the place of the variable that it groups."
            ),
        ),
    )
    guarantees = promises(
        ("exact", message("Every published count is exact.")),
        "additive",
        "non_negative",
        "zeros_kept",
        "complete",
        "posterior",
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """Ask for at least one grouping that merges something."""
        values = super().resolve(domain, given)
        groupings = given_groupings(domain, values)
        if not any(len(set(g.groups)) < len(g.groups) for g in groupings):
            raise ParameterError(
                {
                    GROUPINGS.name: message("nothing is merged")
                    if groupings
                    else message("no groups are given")
                },
                hint=message("name the groups of a variable, such as wide:age=0-9>0-19,10-19>0-19"),
            )
        return values

    def trial_parameters(self, domain: Domain) -> dict[str, object]:
        """The categories of the first variable, two by two."""
        variable = domain.variables[0]
        pairs = [f"{c}>{i // 2 + 1}" for i, c in enumerate(variable.categories)]
        return {GROUPINGS.name: f"{variable.name}_merged:{variable.name}={','.join(pairs)}"}

    def is_random(self, values: Values) -> bool:
        """Return False: no chance is in it."""
        return False

    def publishes_true_counts(self, release: Release) -> bool:
        """No: the coarser table is what protects, so that its own small counts are judged."""
        return False

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Add up the groups."""
        (table,) = _publication(problem.table.domain, values).sums(problem.table)
        rule = problem.at_risk
        at_risk = [int(rule.mask(t.counts).sum()) for t in (problem.table, table)]
        return Draft(
            (PublishedTable(table),),
            findings={"at_risk_before": at_risk[0], "at_risk_after": at_risk[1]},
            sentence=message("Of {at_risk:,} small counts {at_risk2:,} remain.", at_risk[0], at_risk[1]),
        )

    def likelihood(self, release: Release) -> CellFactors:
        """Each published count is the true sum of its own inner cells."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        publication = _publication(release.domain, values)
        counts = counts_of(release, publication)
        return sum_factors(release, (publication, counts), lambda count, _: (count, count, None))


def _publication(domain: Domain, values: Values) -> Publication:
    """The one published table: a grouped variable's place is taken by its groupings."""
    groupings = given_groupings(domain, values)
    grouped = {grouping.of for grouping in groupings}
    names = [name for name in domain.names if name not in grouped]
    return Publication(domain, ((*names, *(g.name for g in groupings)),), groupings)


PLUGIN = Coarsening()
