"""Controlled tabular adjustment: sensitive counts become safe ones, and all others make room.

Every small count that would be published is replaced by a safe one: the nearest count below the small ones (0, for the usual rule) or the nearest above it, whichever is closer. That
would break the totals; so the other counts move, as little as possible in sum (L1) or in squares
(L2), never below the small counts' upper neighbour, and zeros stay zero. Everything published
adds up, in whole numbers. Totals that are not sensitive move only where they must: totals that are small themselves have to change, and then not all the others can stay. They can also be
kept exactly, which not every table allows, or move like all other counts. Where the nearest safe
counts leave no such table the other ones are tried by an integer programme; where it is proved
that there is none the totals in conflict are named, and where none was found within the stated
work that is said instead.

What a table costs is said before a search begins: changes of counts, sums, and the nodes of the
search tree at most. nodes stops it earlier, or lets it go on, with the best table so far.

No random number is used: the same table is adjusted in the same way every time.

What a reader learns: a published 0 was a 0 or a small count, the count just above the range
may have been a small one, and no other count moved by more than the largest change, which is
published. For small tables the posterior also adjusts every original that is possible by these
limits, and keeps those that give this very table; adjusting by a fixed rule tells much more than
the limits alone.

Worked example: 15 1 3 1 / 20 10 10 15 / 3 10 10 2 / 12 14 7 2 with the small counts 1 and 2 becomes
16 0 4 0 / 20 11 10 14 / 3 10 9 3 / 11 14 7 3: all totals are kept, no count moved by more than 1.

Sources: Dandekar and Cox 2002; Castro 2006, European J. Oper. Res. 171; Hundepool et al. 2012,
Statistical Disclosure Control, section 4.6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_margins import counts_of, main_first, sum_factors
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS, publication_of
from tabprotect.engine.protection.suppressing.nearest_table import (
    MOST_NODES,
    AdjustmentTarget,
    Distance,
    Rivals,
    Totals,
    nearest_safe,
    search_cost,
)
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

NOTE = message(
    "How far counts can have moved is counted in, not that the nearest table was taken: that tells more."
)


DISTANCE: Parameter[Distance] = Parameter(
    "distance",
    message("Distance"),
    message("What is kept small."),
    "choice",
    "l1",
    choices={
        "l1": message("The sum of all changes is least: few counts move."),
        "l2": message("The sum of squares is least: no count moves far."),
    },
)

TOTALS: Parameter[Totals] = Parameter(
    "totals",
    message("Totals"),
    message("Whether totals move."),
    "choice",
    "spared",
    choices={
        "spared": message("Totals that are not small move only where they must, and as little as they can."),
        "kept": message("Totals that are not small are published exactly; not every table allows that."),
        "moved": message("Totals may move like every other count."),
    },
)

NODES: Parameter[int] = Parameter(
    "nodes",
    message("Effort"),
    message(
        "Nodes of each search after which the nearest table found so far is taken; fewer in "
        "large tables, and none in small ones, which are searched to the end. A count, not a time: "
        "every machine adjusts alike."
    ),
    "integer",
    MOST_NODES,
    low=1,
    high=100_000,
    unit=message("nodes"),
)


class ControlledTabularAdjustment(Method):
    """Move at-risk counts to safe ones, and all others least."""

    name: ClassVar[str] = "controlled_tabular_adjustment"
    label: ClassVar[str] = message("Controlled tabular adjustment")
    parameters: ClassVar[tuple[Parameter[object], ...]] = (MARGINS, GROUPINGS, DISTANCE, TOTALS, NODES)
    trial_work = 15_000.0
    guarantees = promises(
        ("no_at_risk", message("No small count is published, and no published count looks like one.")),
        ("additive", message("Everything that is published adds up.")),
        ("non_negative", message("No count is negative.")),
        ("zeros_kept", message("Zeros stay zero.")),
        ("bounded", message("No count moves by more than the largest change, which is published.")),
        "complete",
        ("posterior", message("What a reader can believe about each count can be computed.")),
    )

    calibrations = (CalibrationPlan(runs=100),)

    def is_random(self, values: Values) -> bool:
        """Never: the same table is adjusted in the same way."""
        return False

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Find the nearest safe table."""
        if problem.at_risk.low < 1:
            raise ParameterError(
                {"at_risk": message("empty cells cannot be adjusted: nobody is in them")},
                hint=message("take a rule from 1 up, for example 1..2"),
            )
        publication = publication_of(problem.table.domain, values)
        adjusted = _adjusted(problem.table, publication, problem.at_risk, values, progress)
        true = publication.added_up(problem.table)
        tables = publication.sums(adjusted)
        moved = np.abs(publication.stack(tables) - true)[publication.distinct[0]]
        sensitive = int(problem.at_risk.mask(true[publication.distinct[0]]).sum())
        largest = _largest(publication, problem.table, adjusted, problem.at_risk)
        changed = int((moved > 0).sum())
        return Draft(
            main_first(tables, publication.domain),
            disclosed={"at_risk": str(problem.at_risk), "largest_change": largest},
            hidden=None if problem.table.domain in publication.domains else adjusted,
            findings={
                message("sensitive counts"): sensitive,
                message("changed counts"): changed,
                message("sum of changes"): int(moved.sum()),
                message("largest change of a safe count"): largest,
            },
            sentence=message(
                "{sensitive} sensitive counts became safe ones; {changed} counts moved in "
                "all, safe ones by {largest} at most.",
                sensitive,
                changed,
                largest,
            ),
        )

    def likelihood(self, release: Release) -> CellFactors:
        """Limits for every true count; then the adjustment as a whole."""
        given = dict(release.mechanism.parameters)
        rule, most = _stated(given)
        values = self.resolve(release.domain, given)
        publication = publication_of(release.domain, values)
        counts = counts_of(release, publication)
        kept = values[TOTALS] == "kept"

        def weigh(count: int, size: int) -> tuple[int, int, None]:
            return *_limits(count, rule, 0 if kept and size > 1 else most), None

        return sum_factors(
            release,
            (publication, counts),
            weigh,
            rerun=Rerun(
                _again(counts, publication, values, rule, most),
                exact=True,
                cost=search_cost(counts, values[DISTANCE]),
                programmes=True,
            ),
            note=NOTE,
            left_out=("pattern_choice",),
        )


def _adjusted(
    table: Table, publication: Publication, rule: SmallCount, values: Values, progress: Progress
) -> Table:
    return nearest_safe(publication, table, rule, _wanted(values), progress)


def _wanted(values: Values) -> AdjustmentTarget:
    return AdjustmentTarget(values[DISTANCE], values[TOTALS], values[NODES])


def _inner(publication: Publication, counts: Ints, like: Table) -> Table:
    """The inner counts that are published; those that are not as in another table."""
    incidence, inner = publication.incidence.tocsr(), like.counts.reshape(-1).copy()
    alone = np.diff(incidence.indptr) == 1
    inner[incidence.indices[incidence.indptr[:-1][alone]]] = counts[alone]
    return Table.dense(like.domain, inner.reshape(like.domain.shape))


def _largest(publication: Publication, table: Table, adjusted: Table, rule: SmallCount) -> int:
    """The largest change of a published count that was not at risk."""
    true = publication.added_up(table)
    moved = np.abs(publication.added_up(adjusted) - true)
    return int(moved[~rule.mask(true)].max(initial=0))


def _limits(count: int, rule: SmallCount, most: int) -> tuple[int, int]:
    """The true counts that may have become a published one."""
    below, above = rule.low - 1, rule.high + 1
    if rule.low <= count <= rule.high:
        raise InputError(
            message("a published count is {count}; this mechanism publishes no small count", count)
        )
    if count < rule.low:
        return count, rule.high if count == below else count
    if count == above:
        return rule.low, count + most
    return max(above, count - most), count + most


def _stated(given: dict[str, object]) -> tuple[SmallCount, int]:
    """The rule and the largest change, taken out of the disclosed parameters."""
    rule, most = given.pop("at_risk", None), given.pop("largest_change", None)
    if not isinstance(rule, str) or type(most) is not int or most < 0:
        raise InputError(
            message("the mechanism does not state its rule for small counts and its largest change"),
            hint=message("take the mechanism that came with the table"),
        )
    return SmallCount.parse(rule), most


def _again(
    counts: Ints, publication: Publication, values: Values, rule: SmallCount, most: int
) -> Callable[[Table, np.random.Generator], float]:
    """1 for an original that would be adjusted to this very table, else 0."""
    rivals: list[Rivals] = []

    def estimate(original: Table, generator: np.random.Generator) -> float:
        if not rivals:
            published = _inner(publication, counts, original)
            rivals.append(Rivals(publication, published, rule, _wanted(values)))
        (others,) = rivals
        if others.usable and others.rule_out(original):
            return 0.0
        try:
            adjusted = _adjusted(original, publication, rule, values, SILENT)
        except InfeasibleError:
            return 0.0
        others.add(adjusted)
        found = publication.added_up(adjusted)
        same = np.array_equal(found, counts)
        return float(same and _largest(publication, original, adjusted, rule) == most)

    return estimate


PLUGIN = ControlledTabularAdjustment()
