"""Controlled rounding: all counts become multiples of a base, and the tables still add up.

Every inner cell goes to one of the two multiples of the base beside it; multiples of the base stay
(zero-restricted). Totals are the sums of their rounded parts.

By open book, the default from two variables on, each count between multiples gets a letter by a public law: with chance
gamma it may go either way, else it goes down or up at random so that it is right on average. Totals
are rounded at random, too. A programme that sees letters and drawn totals alone then settles the
counts that may go either way, so that the published totals are near the drawn ones. Letters and
drawn totals are published. As the programme never sees a count, what it does tells nothing, however
it works: the posterior is a product of what each letter and each drawn total says.

Its price is in the totals, which may go further than the base. On 34 tables of 25 to 600 cells to
base 3 the mean error of a total is 1.5, and the largest 11; by the nearest choice they are .8 and 2.
Totals of two counts, and from three variables on of fewer than 13, are not drawn, since they would give
counts away: they follow from their parts.

The cumulative choice, the default of one variable, is for tables that nest in one another, such as levels. The
cells stand in a line in which every total is a run, their running sums plus one number below the
base, drawn once, are rounded down, and what is published are the differences. So every count and
every total stays within the base and is right on average, with one draw for all; the posterior is
that of a chain of as many states as the base.

The nearest choice takes, of all roundings that move no published count by the base, the one nearest
to the table: the smallest sum of |rounded - true| over the published counts, found by integer
programming, the same each time. For two-way tables, with or without nested groupings, there is always
one. From three ways on there may be none; the margins that contradict each other are then named. A
reader can ask of each table that fits whether it would have been rounded to what is published; the
posterior does so where there are few enough of them to ask, and a larger table takes a reason.

The unbiased choice (two-way tables; Cox 1987) draws among the roundings that add up so that the
expected published count is the true one, cell by cell and total by total. The cox choice is the same
procedure without chance: along each closed walk through rests it takes the likelier, shorter step. A
walk begins in the first row with a rest and goes each time to the first rest of the column or row
other than the one it came by; of equal steps the first cell goes down. A reader runs it on every
table that fits.

Example: the table 15 1 3 1 / 20 10 10 15 / 3 10 10 2 / 12 14 7 2 becomes to base 3, by the nearest
choice, 15 0 3 0 / 21 9 12 15 / 3 9 9 3 / 12 15 6 3 (rows 18 57 24 36, columns 51 33 30 21, total
135), one of several roundings that add up; 1,025,908,683 tables fit it.

What a table costs by the nearest choice is said before the search begins: counts between multiples,
sums, and the nodes of the search tree at most. nodes stops it earlier, or lets it go on, with the
best rounding so far.

Sources: Cox and Ernst 1982; Cox 1987; Duncan and Roehrig 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_margins import (
    INNER_NOTE,
    Support,
    counts_of,
    informative,
    inner_cells,
    main_first,
    sum_factors,
)
from tabprotect.engine.protection.rounding.controlled_programme import MOST_NODES, ControlledProgramme
from tabprotect.engine.protection.rounding.cox_rounding import (
    chance_of_rounding,
    round_unbiased,
    round_without_chance,
)
from tabprotect.engine.protection.rounding.cumulative_rounding import Remainders, line_of, rounded
from tabprotect.engine.protection.rounding.open_rounding import GAMMA, LEAST, Choosing, OpenBook
from tabprotect.engine.protection.rounding.rounded_again import (
    RoundedAgain,
    of_used,
    published_names,
    without_unused,
)
from tabprotect.engine.protection.rounding.rounding_base import BASE, reaches, require_multiple, require_reach
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS, publication_of
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_RERUN = 36
"""Cells of the original up to which readers are taken to run the rounding themselves."""


NOTE = message(
    "Every table that agrees with the published counts to less than the base is taken to be "
    "rounded to them equally well; the rule that chose this rounding says a little more."
)


CHOICE: Parameter[Literal["open", "cumulative", "nearest", "cox", "unbiased"]] = Parameter(
    "choice",
    message("Choice"),
    message("Which of the roundings that add up."),
    "choice",
    "open",
    choices={
        "open": message(
            "Counts and totals are rounded at random; what is left open makes them meet, and tells nothing."
        ),
        "cumulative": message(
            "For tables that nest in one another, such as levels of one variable: each count and total is "
            "rounded at random, by less than the base, and all of them by one draw."
        ),
        "nearest": message("The rounding nearest to the table; no chance in it."),
        "cox": message(
            "Cox's procedure with the likelier step each time; no chance in it, two-way tables only."
        ),
        "unbiased": message(
            "A random rounding with the true counts as its expectation; two-way tables only."
        ),
    },
)

BY_WALKS = ("cox", "unbiased")
"""The choices that round a two-way table by closed walks."""

NODES: Parameter[int] = Parameter(
    "nodes",
    message("Effort"),
    message(
        "Nodes of the search after which the best rounding found so far is taken. A count, "
        "not a time: the same table is rounded alike on every machine."
    ),
    "integer",
    MOST_NODES,
    low=1,
    high=100_000,
    unit=message("nodes"),
)


class ControlledRounding(Choosing):
    """Controlled rounding: registered as ``controlled_rounding``."""

    name = "controlled_rounding"
    label = message("Controlled rounding")
    trial_work = 200.0
    judged_up_to = 10_000
    parameters = (BASE, CHOICE, MARGINS, GROUPINGS, NODES, GAMMA, LEAST)
    guarantees = promises(
        ("additive", message("The published tables add up, and agree with each other.")),
        "multiples_of_base",
        ("within_base", message("No count or total changes by the base or more.")),
        "zeros_kept",
        "non_negative",
        ("unbiased", message("Before the gate, E[published | original] = original (unbiased variant).")),
        "complete",
        "posterior",
    )
    limits = MappingProxyType({"multiples_of_base": BASE, "within_base": BASE})
    most_trials = 12

    calibrations = (
        CalibrationPlan({"base": 3}),
        CalibrationPlan({"base": 2, "choice": "nearest"}, runs=120),
        CalibrationPlan({"base": 2, "choice": "cox"}, runs=120),
        CalibrationPlan({"base": 3, "choice": "cumulative", "margins": "A + A:B"}, runs=120),
        CalibrationPlan({"base": 3, "choice": "unbiased"}, runs=80),
        CalibrationPlan({"base": 2, "choice": "unbiased", "margins": "A"}, runs=80),
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """Cox's procedure takes no groupings and at most two published variables.

        One variable is rounded along its categories where nothing else is asked for.
        """
        if domain.ndim == 1 and not any(
            given.get(name) is not None for name in (CHOICE.name, GAMMA.name, LEAST.name)
        ):
            alone = {**given, CHOICE.name: "cumulative"}
            if line_of(publication_of(domain, super().resolve(domain, alone))) is not None:
                given = alone
        values = super().resolve(domain, given)
        if values[CHOICE] == "cumulative" and line_of(publication_of(domain, values)) is None:
            raise ParameterError(
                {"choice": message("the published tables do not nest in one another, the inner cells last")},
                hint=message("publish tables each of which holds the one before, or take choice = open"),
            )
        if values[CHOICE] in BY_WALKS:
            used = published_names(publication_of(domain, values))
            grouped = sorted(used - set(domain.names))
            if grouped or len(used) > 2:
                reason = (
                    message("it rounds no groupings ({grouped})", ", ".join(grouped))
                    if grouped
                    else message("{used} variables are published", len(used))
                )
                raise ParameterError(
                    {"choice": message("Cox's procedure is for two-way tables: {reason}", reason)},
                    hint=message("publish two variables, or take choice = nearest"),
                )
        return values

    def is_random(self, values: Values) -> bool:
        """The nearest rounding, and Cox's by the likelier steps, are the same each time."""
        return values[CHOICE] not in ("nearest", "cox")

    def promised(self, values: Values) -> tuple[str, ...]:
        """Leave "unbiased" to what is; by open book totals may go further than the base."""
        without = set() if values[CHOICE] in ("unbiased", "cumulative") else {"unbiased"}
        without |= {"within_base"} if values[CHOICE] == "open" else set()
        return tuple(n for n in self.guarantees if n not in without)

    def book(self, domain: Domain, values: Values) -> OpenBook:
        """Every count is rounded."""
        return OpenBook.of(domain, values, values[BASE], None, values[NODES])

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Round all published counts together."""
        base = values[BASE]
        if values[CHOICE] == "open":
            tables, disclosed = self.book(problem.table.domain, values).draw(
                problem.table, generator, progress
            )
            return Draft(main_first(tables, problem.table.domain), disclosed=disclosed)
        if values[CHOICE] == "cumulative":
            publication = publication_of(problem.table.domain, values)
            inner = _cumulative(problem.table, publication, base, int(generator.integers(base)))
            return Draft(main_first(publication.sums(inner), publication.domain))
        table, publication = without_unused(problem.table, publication_of(problem.table.domain, values))
        counts = publication.added_up(table)
        require_reach(base, counts)
        findings: dict[str, object] = {}
        sentence = ""
        if values[CHOICE] == "cox":
            inner = Table.dense(table.domain, _by_cox(table.counts[None], base).reshape(table.domain.shape))
        elif self.is_random(values):
            inner = _unbiased(table, base, generator)
        else:
            nodes = values[NODES]
            nearest = ControlledProgramme(table, publication, base, nodes).nearest(progress)
            inner = nearest.inner
            findings = {"distance": nearest.distance, message("nearest is proven"): nearest.optimal}
            sentence = message(
                "The published counts differ from the true ones by {distance} in all", nearest.distance
            )
            sentence += (
                message("; no rounding is nearer.") if nearest.optimal else message(", the nearest found.")
            )
        published = main_first(publication.sums(inner), publication.domain)
        hidden = None if publication.domain in publication.domains else inner
        return Draft(published, hidden=hidden, findings=findings, sentence=sentence)

    def likelihood(self, release: Release) -> CellFactors:
        """Every true count is less than the base away; then the choice itself."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        base = values[BASE]
        if values[CHOICE] == "open":
            return self.book(release.domain, values).likelihood(release)
        publication = publication_of(release.domain, values)

        def weigh(count: int, _: int) -> Support:
            require_multiple(base, count)
            return max(count - base + 1, 0), count + base - 1, None

        counts = counts_of(release, publication)
        if values[CHOICE] == "cumulative":
            line = line_of(publication)
            assert line is not None
            alone, inner = inner_cells(publication, counts)
            whole = Remainders(inner, line, base).rerun()
            return sum_factors(
                release, (alone, inner), weigh, rerun=whole, note=NOTE, left_out=("pattern_choice",)
            )
        rerun = None
        if release.domain.size <= MOST_RERUN:
            # The unbiased variant is followed exactly where its inner cells are published.
            shown = len(published_names(publication)) == len(max(publication.margins, key=len))
            if values[CHOICE] == "cox":
                rerun = _cox_again(counts, publication, base)
            elif self.is_random(values):
                rerun = Rerun(_chance(counts, publication, base), exact=shown, programmes=True)
            else:
                rerun = RoundedAgain(counts, publication, base, values[NODES]).rerun()
        used, seen = informative(publication, counts)
        every = used is publication
        return sum_factors(
            release,
            (used, seen),
            weigh,
            rerun=rerun,
            note=NOTE if every else message("{INNER_NOTE} {NOTE}", INNER_NOTE, NOTE),
            left_out=("pattern_choice",) if every else ("joint_noise", "pattern_choice"),
        )


def _cumulative(table: Table, publication: Publication, base: int, start: int) -> Table:
    line = line_of(publication)
    assert line is not None
    inner = rounded(table.counts.reshape(-1), line, base, start)
    return Table.dense(table.domain, inner.reshape(table.domain.shape))


def _two_way(table: Table) -> Ints:
    """The counts as rows and columns; a table of fewer variables is a single row."""
    return table.counts.reshape(-1, table.domain.shape[-1] if table.domain.ndim else 1)


def _by_cox(tables: Ints, base: int) -> Ints:
    """Many tables rounded without chance, (tables, cells of one)."""
    last = tables.shape[-1] if tables.ndim > 1 else 1
    rounded = round_without_chance(tables.reshape(len(tables), -1, last), base)
    return rounded.reshape(len(tables), -1)


def _cox_again(counts: Ints, publication: Publication, base: int) -> Rerun:
    """Tell of many originals whether Cox's procedure makes the published counts of them."""
    small = of_used(publication)
    inner = Publication(publication.domain, (small.domain.names,))

    def many(originals: Ints, _: np.random.Generator) -> Floats:
        tables = inner.added_up_each(originals)
        found = small.added_up_each(_by_cox(tables.reshape(-1, *small.domain.shape), base))
        most = small.added_up_each(tables).max(axis=1, initial=0)
        # Too small a table would have been refused.
        right = (found == counts).all(axis=1) & ((most == 0) | (most >= base))
        return np.asarray(right.astype(np.float64))

    def estimate(original: Table, generator: np.random.Generator) -> float:
        return float(many(original.counts.reshape(1, -1), generator)[0])

    return Rerun(estimate, exact=True, cost=2.0, many=many)


def _chance(
    counts: Ints, publication: Publication, base: int
) -> Callable[[Table, np.random.Generator], float]:
    """The chance that the unbiased variant makes the published counts of an original."""

    def estimate(original: Table, generator: np.random.Generator) -> float:
        table, small = without_unused(original, publication)
        if not reaches(base, small.added_up(table)):
            return 0.0
        if small.domain not in small.domains:
            rounded = _unbiased(table, base, generator)
            return float(np.array_equal(small.added_up(rounded), counts))
        place = int(small.starts[small.domains.index(small.domain)])
        inner = counts[place : place + small.domain.size]
        true = _two_way(table)
        return chance_of_rounding(true, inner.reshape(true.shape), base)

    return estimate


def _unbiased(table: Table, base: int, generator: np.random.Generator) -> Table:
    rounded = round_unbiased(_two_way(table), base, generator)
    return Table.dense(table.domain, rounded.reshape(table.domain.shape))


PLUGIN = ControlledRounding()
