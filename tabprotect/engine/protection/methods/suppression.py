"""Suppression: sensitive counts are not published, nor what would reveal them.

Primary cells are those that the sensitivity rule names, totals among them. Hiding only these
would not do: what is left and the totals give them back. So further, secondary cells are hidden
until every primary one keeps its protection interval: whatever a reader computes from the
published cells, the interval they can narrow a primary count down to contains everything from
the count less the protection level to the count plus it (not below 0). Everything that is
published is exact.

Which cells: for one primary cell after the other the cheapest set of cells that can make up for
a change of it, by flows in two-way tables (thousands of primary cells in a second) and by linear
programmes else; cells that are hidden already cost nothing. Then the dearest secondary cells
that no interval needs are published again. The costs say what is kept rather: large counts, or
as many cells as possible. The same table gives the same pattern every time.

Then the audit, always: the exact interval of every suppressed cell, and how many can be bounded
closely. Statuses are those of tau-ARGUS: S safe, U primary, M secondary, P must be published, E
empty. A reader sees only that a cell is suppressed.

People who are alone in a cell know its count and could undo the protection of another one; by
default none of them can alone, and on request not all of them together. Zeros are published
unless allowed as secondary cells; where zeros are sensitive (a rule from 0 up) they are primary.

What a reader learns: the published counts exactly, and of the suppressed ones what these leave
open. But which cells were hidden tells something too, if the rule is known. The posterior of a
small table takes the whole choice into account, by protecting each possible original again; a
posterior that ignores the choice believes in originals that would have been hidden otherwise.

Worked example: in the 4 x 4 table 15 1 3 1 / 20 10 10 15 / 3 10 10 2 / 12 14 7 2 hiding the
counts 1 and 2 and three more cells leaves 15 tables, three without a suppressed zero, and no
count is safe; protection intervals of 2 need larger cells in their company.

Sources: Kelly, Golden and Assad 1992; Cox 1995; Fischetti and Salazar 2001; Hundepool et al.
2012, Statistical Disclosure Control, chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, cast

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints, Letters
from tabprotect.engine.errors import InfeasibleError, ParameterError
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_sums import counts_of, rank, sum_factors
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS, publication_of
from tabprotect.engine.protection.suppressing.audit import audit
from tabprotect.engine.protection.suppressing.pattern import INSIDERS, Insiders, Task, select
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, Rerun
from tabprotect.engine.release.published import PublishedTable
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.contributors import Contributors
from tabprotect.engine.sensitivity.dominance import Dominance
from tabprotect.engine.sensitivity.n_rule import NRule
from tabprotect.engine.sensitivity.p_percent import PPercent
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

Values = Mapping[str, object]

RULES = {
    "small_count": "The table's own at-risk rule: counts in a range. It is published.",
    "n_rule": "Fewer than n contributors. Kept secret.",
    "dominance": "The n largest contributors hold more than k percent. Kept secret.",
    "p_percent": "The largest contribution can be estimated to within p percent. Kept secret.",
}
TOTALS = {
    "allowed": "Totals may be hidden; they cost more.",
    "published": "Totals are published unless they are sensitive themselves.",
}
ZEROS = {
    "published": "Zeros are published unless they are sensitive.",
    "allowed": "Zeros may be hidden to protect others.",
}
COSTS = {
    "count": "Hide small counts: the sum of the hidden counts is small.",
    "unity": "Hide few cells.",
    "log": "Between the two.",
}

NOTE = (
    "This posterior knows what is published, and not that the choice of the hidden cells itself "
    "tells something."
)


class Suppression(Method):
    """Hide sensitive cells and what would reveal them."""

    name: ClassVar[str] = "suppression"
    label: ClassVar[str] = "Suppression"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        MARGINS,
        GROUPINGS,
        Parameter(
            "rule",
            "Sensitivity rule",
            "Which cells are primary.",
            "choice",
            "small_count",
            choices=RULES,
            public=False,
        ),
        Parameter("n", "n", "Of the n-rule and of dominance.", "integer", 3, 1, 1000, public=False),
        Parameter(
            "k", "k", "Of dominance.", "real", 75.0, 0.0, 100.0, unit="percent", public=False
        ),
        Parameter("p", "p", "Of the p% rule.", "real", 10.0, 0.0, unit="percent", public=False),
        Parameter(
            "level",
            "Protection level",
            "How far a sensitive count must stay open, downwards and upwards.",
            "integer",
            2,
            1,
            10**9,
            unit="counts",
        ),
        Parameter(
            "level_percent",
            "Protection level in percent",
            "The same as a share of the count; the larger of the two holds.",
            "real",
            0.0,
            0.0,
            1000.0,
            unit="percent",
        ),
        Parameter(
            "totals",
            "Totals",
            "Whether totals may be hidden.",
            "choice",
            "allowed",
            choices=TOTALS,
        ),
        Parameter(
            "zeros", "Zeros", "Whether zeros may be hidden.", "choice", "published", choices=ZEROS
        ),
        Parameter(
            "insiders",
            "People alone in a cell",
            "Against whom the intervals hold.",
            "choice",
            "one",
            choices=dict(INSIDERS),
        ),
        Parameter("costs", "Costs", "What is rather kept.", "choice", "count", choices=COSTS),
    )
    guarantees: ClassVar[Mapping[str, str]] = {
        "exact": "Every published count is the true one.",
        "no_at_risk": "No at-risk count is published.",
        "intervals_protected": "Every sensitive cell keeps its protection interval; audited.",
        "posterior": "What a reader can believe about each count can be computed.",
    }

    def is_random(self, values: Values) -> bool:
        """Never: the same table gives the same pattern."""
        return False

    def promised(self, values: Values) -> tuple[str, ...]:
        """Other rules than that of small counts may leave small counts published."""
        names = tuple(self.guarantees)
        if values.get("rule") == "small_count":
            return names
        return tuple(name for name in names if name != "no_at_risk")

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> dict[str, object]:
        """As for every method; and the rule's own limits."""
        values = super().resolve(domain, given)
        _rule(values, SmallCount())
        return values

    def draw(
        self,
        problem: Problem,
        values: Values,
        generator: np.random.Generator,
        progress: Progress = SILENT,
    ) -> Draft:
        """Choose the pattern, and audit it."""
        publication = publication_of(problem.table.domain, values)
        task = _task(problem, publication, values)
        suppressed = select(task, progress)
        levels = {
            "below": np.where(task.primary, task.below, 0),
            "above": np.where(task.primary, task.above, 0),
        }
        found = audit(publication, problem.table, suppressed, levels=levels, progress=progress)
        letters = _letters(task, suppressed)
        ordered = []
        # The main table first.
        for m in sorted(
            range(len(publication.domains)),
            key=lambda m: rank(publication.domains[m], publication.domain),
        ):
            run = slice(int(publication.starts[m]), int(publication.starts[m + 1]))
            domain = publication.domains[m]
            counts = Table.dense(domain, task.values[run].reshape(domain.shape))
            published = PublishedTable.hiding(counts, suppressed[run].reshape(domain.shape))
            ordered.append((published, letters[run].reshape(domain.shape)))
        public_rule = values["rule"] == "small_count"
        return Draft(
            tuple(published for published, _ in ordered),
            disclosed={"at_risk": str(problem.at_risk)} if public_rule else {},
            statuses=tuple(each for _, each in ordered),
            findings={
                "primary cells": int(task.primary.sum()),
                "secondary cells": int((suppressed & ~task.primary).sum()),
                "audit": found.as_json(publication),
            },
            sentence=found.sentence,
        )

    def likelihood(self, release: Release) -> CellFactors:
        """Published counts are the true ones; the choice of the hidden cells by choosing again."""
        given = dict(release.mechanism.parameters)
        at_risk = given.pop("at_risk", None)
        values = self.resolve(release.domain, given)
        publication = publication_of(release.domain, values)
        counts = counts_of(release, publication)
        hidden = _hidden(release, publication)
        rule = None if at_risk is None else SmallCount.parse(str(at_risk))
        # A zero is hidden only where it is sensitive or may be secondary.
        never_zero = rule is not None and rule.low > 0 and values["zeros"] == "published"
        rerun = None
        if rule is not None:
            cost = 500.0 + 100.0 * publication.domain.size
            rerun = Rerun(_again(publication, values, rule, hidden), exact=True, cost=cost)
        # One more than the count, so that 0 can stand for none.
        return sum_factors(
            release,
            publication,
            np.where(hidden, 0, counts + 1),
            lambda shown, size: (
                (shown - 1, shown - 1, None) if shown else (int(never_zero), UNBOUNDED, None)
            ),
            rerun=rerun,
            note=NOTE,
        )


def _again(
    publication: Publication, values: Values, rule: SmallCount, hidden: Bools
) -> Callable[[Table, np.random.Generator], float]:
    """1 for an original of which these very cells would be hidden, else 0."""

    def estimate(original: Table, generator: np.random.Generator) -> float:
        task = _task(Problem(original, at_risk=rule), publication, values)
        if (task.primary & ~hidden).any():
            return 0.0
        try:
            return float(np.array_equal(select(task), hidden))
        except InfeasibleError:
            return 0.0

    return estimate


def _hidden(release: Release, publication: Publication) -> Bools:
    by_names = {p.table.domain.names: p.hidden for p in release.tables}
    return np.concatenate([by_names[d.names].reshape(-1) for d in publication.domains])


def _rule(values: Values, at_risk: SmallCount) -> SmallCount | NRule | Dominance | PPercent:
    n, k, p = (cast(float, values[name]) for name in ("n", "k", "p"))
    if values["rule"] == "n_rule":
        return NRule(int(n))
    if values["rule"] == "dominance":
        return Dominance(int(n), k)
    if values["rule"] == "p_percent":
        return PPercent(p)
    return at_risk


def _task(problem: Problem, publication: Publication, values: Values) -> Task:
    counts: Ints = np.asarray(publication.incidence @ problem.table.counts.reshape(-1))
    rule = _rule(values, problem.at_risk)
    if isinstance(rule, SmallCount):
        primary = rule.mask(counts)
    elif problem.contributors is None:
        raise ParameterError(
            {"rule": "nothing is known of the largest contributions of the cells"},
            hint="take small_count",
        )
    else:
        primary = rule.mask(_added(problem.contributors, publication))
    # A sum of no cells at all is zero for every reader.
    primary &= np.diff(publication.incidence.indptr) > 0
    percent = cast(float, values["level_percent"])
    level = np.maximum(
        cast(int, values["level"]), np.ceil(counts * (percent / 100)).astype(np.int64)
    )
    return Task(
        publication,
        problem.table,
        primary,
        np.minimum(level, counts),
        level,
        _cost(publication, counts, values),
        cast(Insiders, values["insiders"]),
    )


def _cost(publication: Publication, counts: Ints, values: Values) -> Floats:
    cost = np.ones(len(counts))
    if values["costs"] == "count":
        cost += counts
    elif values["costs"] == "log":
        cost += np.log1p(counts)
    if values["zeros"] == "published":
        cost[counts == 0] = np.inf
    if values["totals"] == "published":
        largest = max(domain.size for domain in publication.domains)
        for m, domain in enumerate(publication.domains):
            if domain.size < largest:
                cost[publication.starts[m] : publication.starts[m + 1]] = np.inf
    return cost


def _letters(task: Task, suppressed: Bools) -> Letters:
    letters = np.full(len(suppressed), "S", dtype="<U1")
    letters[np.isinf(task.cost)] = "P"
    letters[task.values == 0] = "E"
    letters[suppressed] = "M"
    letters[task.primary] = "U"
    return letters


def _added(cells: Contributors, publication: Publication) -> Contributors:
    """Who stands behind the published sums; the largest of several cells are among their own."""
    incidence = publication.incidence
    top = cells.largest.shape[1]
    largest = np.zeros((publication.size, top))
    for cell in range(publication.size):
        inner = incidence.indices[incidence.indptr[cell] : incidence.indptr[cell + 1]]
        found = np.sort(cells.largest[inner].reshape(-1))[::-1][:top]
        largest[cell, : len(found)] = found
    return Contributors(
        np.asarray(incidence @ cells.number), np.asarray(incidence @ cells.total), largest
    )


PLUGIN = Suppression()
