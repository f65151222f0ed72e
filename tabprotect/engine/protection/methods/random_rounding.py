"""Random rounding: every published count goes to one of the two multiples of a base beside it.

A count with rest r when divided by the base b goes up with probability r/b and down otherwise, so
that the expected published count is the true one. Multiples of the base stay as they are. Every
cell of every published table is rounded on its own, so totals are near the sum of their parts but
do not equal it; a reader who adds up many cells averages the noise away, and a reader who knows
the totals learns more than from the cells alone. The posterior takes all published tables into
account.

Of a sparse table of four and more variables and at most 200 cells the inner cells and the tables of one
variable are published, if no tables are named: by all of them readers would know too many counts. That it
is sparse, on average or in two cells of five, is seen in the rounded inner cells alone, so that the choice
tells nothing.

A number that is published twice, such as the total of a single category, is rounded once.

Example: to base 3, a count of 4 is published as 3 with probability 2/3 and as 6 with
probability 1/3.

Sources: Fellegi 1975; Nargundkar and Saveland 1972.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.fitting.margin_variance import deviation_left
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_margins import (
    INNER_NOTE,
    MOST_JOINED,
    Support,
    counts_of,
    informative,
    main_first,
    sum_factors,
)
from tabprotect.engine.protection.rounding.rounding_base import BASE, reaches, require_multiple, require_reach
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS, fewer_by_inner, publication_of
from tabprotect.engine.release.likelihood import CellFactors, Rerun, independent
from tabprotect.engine.release.published_numbers import PublishedNumbers
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

JOINED = range(2_000, 20_001)
"""Inner cells of tables of up to three variables whose totals chains over loose sums take with them;
of fewer the joint chain does."""


class RandomRounding(Method):
    """Random rounding: registered as ``random_rounding``."""

    name = "random_rounding"
    label = message("Random rounding")
    trial_work = 6.0
    judged_up_to = 10_000
    parameters = (BASE, MARGINS, GROUPINGS)
    ladder = tuple({"base": base} for base in (2, 3, 4, 5, 7, 10))
    guarantees = promises(
        "multiples_of_base",
        ("within_base", message("No count changes by the base or more.")),
        "unbiased",
        "zeros_kept",
        "non_negative",
        "complete",
        "posterior",
    )
    limits = MappingProxyType({"multiples_of_base": BASE, "within_base": BASE})

    calibrations = (
        CalibrationPlan({"base": 3}),
        CalibrationPlan({"base": 3, "margins": "A:B - 1"}, ((3.0,) * 6,) * 6, runs=80),
        CalibrationPlan({"base": 2, "margins": "A + B"}, runs=130),
    )

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Round every published number once."""
        base = values[BASE]
        publication = publication_of(problem.table.domain, values)
        counts = publication.added_up(problem.table)
        require_reach(base, counts)
        cells, inverse = publication.distinct
        numbers = counts[cells]
        rest = numbers % base
        up = generator.integers(0, base, len(numbers)) < rest
        tables = publication.tables((numbers - rest + base * up)[inverse])
        inner = next((one for one in tables if one.domain == publication.domain), None)
        fewer = None if inner is None else fewer_by_inner(inner, values, cautious=True)
        if fewer is None:
            return Draft(main_first(tables, publication.domain))
        chosen = publication_of(problem.table.domain, values | {MARGINS.name: fewer.formula}).margins
        tables = tuple(one for one in tables if one.domain.names in chosen)
        return Draft(
            main_first(tables, publication.domain),
            disclosed={MARGINS.name: fewer.formula},
            sentence=fewer.sentence,
        )

    def transitions(self, release: Release) -> tuple[tuple[int, Floats], ...]:
        """The two multiples beside each count up to the base."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        base = values[BASE]
        up = np.arange(base) / base
        each = [np.concatenate([[1 - p], np.zeros(base - 1), [p]]) for p in up]
        return (*((0, chances) for chances in each), (base, np.ones(1)))

    def likelihood(self, release: Release) -> CellFactors:
        """Given the true counts the published numbers are independent: one factor for each."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        base = values[BASE]

        def weigh(count: int, _: int) -> Support:
            return _true_counts(count, base)

        publication = publication_of(release.domain, values)
        used, counts = _informative(publication, counts_of(release, publication))
        if used is not publication:
            return sum_factors(release, (used, counts), weigh, note=INNER_NOTE, left_out=("joint_noise",))
        # Tables that a base is too large for are refused: none of them was published so.
        refused = int(counts.max()) <= base and release.domain.size <= MOST_JOINED
        rerun = Rerun(_accepted(publication, base), exact=True) if refused else None
        return sum_factors(release, (used, counts), weigh, rerun=rerun)

    def numbers(self, release: Release) -> PublishedNumbers | None:
        """All published numbers, each rounded by itself."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        base = values[BASE]
        publication = publication_of(release.domain, values)
        return PublishedNumbers.of(
            publication,
            counts_of(release, publication),
            lambda count: _true_counts(count, base),
            variance=_variance(base),
        )

    def deviation_left(self, domain: Domain, values: Values) -> float | None:
        """Find it by least squares over all published tables."""
        publication = publication_of(domain, values)
        if len(publication.margins) == 1:
            return None
        return deviation_left(publication, _variance(values[BASE]))

    def table_likelihood(self, release: Release, number: int) -> CellFactors | None:
        """A table whose rounding the posterior of a large table leaves out, by itself."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        publication = publication_of(release.domain, values)
        used, _ = _informative(publication, counts_of(release, publication))
        if used is publication:
            return None
        base = values[BASE]
        return independent(
            release.tables[number],
            lambda count: _true_counts(count, base),
            note=INNER_NOTE,
            left_out=("joint_noise",),
        )


def _informative(publication: Publication, counts: Ints) -> tuple[Publication, Ints]:
    few = publication.domain.ndim <= 3
    return informative(publication, counts, joined=JOINED if few else range(0))


def _variance(base: int) -> float:
    """The mean variance over all remainders."""
    return (base**2 - 1) / 6


def _accepted(publication: Publication, base: int) -> Callable[[Table, np.random.Generator], float]:
    def estimate(original: Table, _: np.random.Generator) -> float:
        return float(reaches(base, publication.added_up(original)))

    return estimate


def _true_counts(published: int, base: int) -> Support:
    """Return what a published multiple may come from: the nearer, the likelier."""
    require_multiple(base, published)
    low, high = max(published - base + 1, 0), published + base - 1
    return low, high, np.log(1 - np.abs(np.arange(low, high + 1) - published) / base)


PLUGIN = RandomRounding()
