"""Small count rounding: small counts go to zero or to the base, so that none is published.

Small inner cells are rounded to zero or to the base, larger ones stay as they are, and everything
published is computed from one rounded table: it adds up, it is consistent between tables, and no
published count lies strictly between zero and the base.

By open book, the default, each small count gets a letter by a public law: with chance gamma it may
go either way, else it goes down or up at random so that it is right on average. Totals are rounded
at random, too. A programme that sees letters and drawn totals alone then settles the counts that
may go either way, so that the published totals are near the drawn ones. Letters and drawn totals
are published. As the programme never sees a count, what it does tells nothing, however it works:
the posterior is a product of what each letter and each drawn total says.

Its price is in the totals. On 34 tables of 25 to 600 cells to base 3 the mean error of a total is
1.1, and the largest 9; by the nearest choice they are .7 and 4. Totals of two counts, and from three
variables on of fewer than 13, are not drawn, since they would give counts away: they follow from their parts.

The nearest choice is that of Langsrud and Lupp: as few inner cells as possible change, those that
add into a small published count, and those go up that keep the published counts as near as possible
to the true ones. A small inner cell that could be derived from published zeros and differences is
rounded too. Chance decides only between equally good candidates. A reader knows of a published count
how many inner cells it has, that each of them changed by less than the base, and that the grand
total is within half a base; what the choice tells beyond that is followed in small tables only, and
takes a reason in others. It is the choice for published tables that do not all follow from one, and
for max_round beside force_inner and zero_candidates: force_inner rounds every small inner cell, also
where it is only seen inside larger published counts; zero_candidates lets zeros go up. The rounded
inner table stays in the house unless it is itself among the published tables.

With max_round above base - 1 larger counts become multiples too: no published count up to it is
anything else.

Example: party by age and by sex (Langsrud and Lupp 2021, base 3), by the nearest choice, publishes 57
persons for 56, and one of its two young or old members of party B disappears into a zero, the other
into a three.

Sources: Langsrud and Heldal 2018; Langsrud and Lupp 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Codes, Ints
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_margins import (
    Support,
    counts_of,
    inner_cells,
    main_first,
    sum_factors,
    with_total,
)
from tabprotect.engine.protection.rounding.open_rounding import GAMMA, LEAST, Choosing, OpenBook
from tabprotect.engine.protection.rounding.rounding_base import BASE, reaches, require_reach
from tabprotect.engine.protection.rounding.small_rounding import RoundingRules, SmallCounts, keys_of
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS, publication_of
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_PERMUTED = 6
"""Inner cells up to which all permutations of them are tried."""

MOST_RERUN = 24
"""Inner cells up to which readers are taken to run the rounding themselves."""

MOST_JOINED = 2_000
"""Inner cells up to which what is known of their total goes into the posterior."""


NOTE = message(
    "Every table whose counts can have been rounded to the published ones, one by one, is taken as "
    "equally likely; that they were rounded together says more."
)


CHOICE: Parameter[Literal["open", "nearest"]] = Parameter(
    "choice",
    message("Choice"),
    message("Which small counts go up."),
    "choice",
    "open",
    choices={
        "open": message(
            "Counts and totals are rounded at random; what is left open makes them meet, and tells nothing."
        ),
        "nearest": message("Those that keep all published counts nearest to the true ones."),
    },
    # Bundles from before there was a choice state none.
    may_be_unstated=True,
)

MAX_ROUND: Parameter[int] = Parameter(
    "max_round",
    message("Largest rounded count"),
    message("Published counts up to this are multiples of the base; base - 1 if not given."),
    "integer",
    low=1,
    high=20_000,
)

FORCE_INNER: Parameter[bool] = Parameter(
    "force_inner",
    message("Round all small inner cells"),
    message("Also those that are only seen inside larger published counts."),
    "flag",
    False,
)

ZERO_CANDIDATES: Parameter[bool] = Parameter(
    "zero_candidates",
    message("Zeros may go up"),
    message("Zeros inside small published counts may become the base."),
    "flag",
    False,
)

STEP: Parameter[int] = Parameter(
    "step",
    message("Exchanged at a time"),
    message("Candidates exchanged together while the choice is improved."),
    "integer",
    1,
    low=1,
    high=100,
)


class SmallCountRounding(Choosing):
    """Small count rounding: registered as ``small_count_rounding``."""

    name = "small_count_rounding"
    label = message("Small count rounding")
    trial_work = 15.0
    judged_up_to = 10_000
    parameters = (
        *(BASE, CHOICE, MAX_ROUND, MARGINS, GROUPINGS),
        *(FORCE_INNER, ZERO_CANDIDATES, STEP, GAMMA, LEAST),
    )
    only_nearest = ("force_inner", "zero_candidates", "step")
    guarantees = promises(
        ("additive", message("The published tables add up, and agree with each other.")),
        ("none_below_base", message("No count strictly between zero and the base is published.")),
        ("bounded", message("The grand total changes by at most half the base.")),
        ("zeros_kept", message("A zero stays zero (without zero_candidates).")),
        "non_negative",
        ("consistent", message("The same count is the same number in every published table.")),
        "complete",
        "posterior",
    )
    limits = MappingProxyType({"none_below_base": BASE})
    most_trials = 25

    calibrations = (
        CalibrationPlan({"base": 3}, runs=260),
        CalibrationPlan({"base": 3, "choice": "nearest"}),
        CalibrationPlan({"base": 3, "margins": "A + B"}),
        CalibrationPlan({"base": 2, "max_round": 3, "zero_candidates": True}, runs=120),
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """Complete ``max_round``; it is at least base - 1."""
        values = super().resolve(domain, given)
        least = values[BASE] - 1
        if values["max_round"] is None:
            values |= {"max_round": least}
        elif values[MAX_ROUND] < least:
            raise ParameterError(
                {"max_round": message("must be at least {least}, one less than the base", least)},
                hint=message("leave it out"),
            )
        return values

    def promised(self, values: Values) -> tuple[str, ...]:
        """Zeros stay where they may not go up; the total is bounded where all is rounded together."""
        without = {"zeros_kept"} if values[ZERO_CANDIDATES] else set()
        if values.get("choice") == "open":
            without.add("bounded")
        return tuple(n for n in self.guarantees if n not in without)

    def book(self, domain: Domain, values: Values) -> OpenBook:
        """Only small counts are rounded."""
        rules = _rules(values)
        return OpenBook.of(domain, values, rules.base, rules.most)

    def told(self, table: Table, values: Values) -> Ints | None:
        """By open book, larger inner counts stay: only those up to a multiple of the base are unknown."""
        if values[CHOICE] != "open":
            return None
        book, rules = self.book(table.domain, values), _rules(values)
        if book.publication.domains[book.finest] != table.domain:
            return None
        counts, top = table.counts.reshape(-1), -(-rules.most // rules.base) * rules.base
        return np.where(counts > top, counts, [[0], [top]])

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Round the inner cells and add up."""
        rules = _rules(values)
        if values[CHOICE] == "open":
            tables, disclosed = self.book(problem.table.domain, values).draw(
                problem.table, generator, progress
            )
            return Draft(main_first(tables, problem.table.domain), disclosed=disclosed)
        publication = publication_of(problem.table.domain, values)
        small = SmallCounts(problem.table, publication, rules)
        require_reach(rules.base, small.sums)
        rounded = small.round(generator.permutation, progress)
        return Draft(
            main_first(publication.sums(rounded.inner), publication.domain),
            hidden=rounded.inner if small.inner is None else None,
            findings={
                message("inner cells changed"): rounded.changed,
                message("rounded because they could be derived"): rounded.derived,
                "rounds": rounded.rounds,
                message("change of the total"): rounded.inner.total - problem.table.total,
            },
        )

    def likelihood(self, release: Release) -> CellFactors:
        """Return what each published count may come from; then the rounding as a whole."""
        values = self.resolve(release.domain, {"choice": "nearest", **release.mechanism.parameters})
        rules = _rules(values)
        if values[CHOICE] == "open":
            return self.book(release.domain, values).likelihood(release)
        publication = publication_of(release.domain, values)
        counts = counts_of(release, publication)
        half = rules.base // 2
        if publication.domain not in publication.domains:
            total = int(counts[: publication.starts[1]].sum())
            factors = sum_factors(
                release,
                (publication, counts),
                lambda count, size: _true_sum(count, size, rules),
                rerun=_rerun(counts, publication, rules, release.domain.size),
                note=NOTE,
                left_out=("pattern_choice",),
            )
            return with_total(factors, (max(total - half, 0), total + half, None))
        # All other published counts are sums of these.
        alone, inner = inner_cells(publication, counts)
        total = int(inner.sum())
        known = (inner % rules.base != 0) | (inner > rules.most + rules.base)
        factors = sum_factors(
            release,
            (alone, inner),
            lambda count, _: _true_cell(count, rules),
            rerun=_rerun(counts, publication, rules, int((~known).sum())),
            note=NOTE,
            left_out=("pattern_choice",),
        )
        if publication.domain.size > MOST_JOINED:
            return factors
        return with_total(factors, (max(total - half, 0), total + half, None))


def _true_cell(published: int, rules: RoundingRules) -> Support:
    """Return what a published inner cell may come from, gaps included."""
    base, most = rules.base, rules.most
    low, high = max(published - base, 0), published + base
    true = np.arange(low, high + 1)
    small = true <= most
    down = small & (true % base > 0) & (true - true % base == published)
    up = small & (true % base > 0) & (true - true % base + base == published)
    left = (true == published) & ((published % base == 0) | ~small)
    if rules.zeros:
        up |= small & (true % base == 0) & (true + base == published)
    possible = np.flatnonzero(down | up | left)
    if not len(possible):
        raise InputError(
            message("a published count of {published} is between multiples of {base}", published, base),
            hint=message("take the mechanism that came with the table"),
        )
    first, last = int(possible[0]), int(possible[-1])
    logs = np.full(last - first + 1, -np.inf)
    logs[possible - first] = 0.0
    return low + first, low + last, logs


def _true_sum(published: int, cells: int, rules: RoundingRules) -> Support:
    """Return what the sum of some inner cells may have been, from their rounded sum alone.

    A cell that went up is now at least the base and was at most base - 1 (a multiple: the base)
    less; a cell that went down was at most base - 1 more. What is left over the multiples of the
    base is in a cell that was not rounded.
    """
    base = rules.base
    if 0 < published < base or (published <= rules.most and published % base):
        raise InputError(
            message("a published count of {published} is between multiples of {base}", published, base),
            hint=message("take the mechanism that came with the tables"),
        )
    most_up = base if rules.zeros else base - 1
    low = published - most_up * min(cells, published // base)
    high = published + (base - 1) * (cells - (published % base > 0))
    return max(low, 0), high, None


def _rerun(counts: Ints, publication: Publication, rules: RoundingRules, unknown: int) -> Rerun | None:
    """The rounding of a candidate original, exactly over all permutations where they are few.

    Parameters
    ----------
    unknown
        How many inner cells may have been rounded.
    """
    exact = unknown <= MOST_PERMUTED
    known: list[Codes] = []

    def estimate(original: Table, generator: np.random.Generator) -> float:
        # At the first call: many posteriors need none.
        if not known and not original.is_sparse:
            known.append(keys_of(publication, np.arange(publication.domain.size)))
        small = SmallCounts(original, publication, rules, *known)
        if not reaches(rules.base, small.sums):
            return 0.0
        if exact:
            return small.chance(counts)
        return float(small.gives(counts, generator.permutation))

    return Rerun(estimate, exact) if unknown <= MOST_RERUN else None


def _rules(values: Values) -> RoundingRules:
    return RoundingRules(
        base=values[BASE],
        most=values[MAX_ROUND],
        inner="all" if values[FORCE_INNER] else "published",
        zeros=values[ZERO_CANDIDATES],
        step=values[STEP],
    )


PLUGIN = SmallCountRounding()
