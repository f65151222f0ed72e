"""The rule exchange: which variables change places, how often, and what is kept.

The variables are split into three: a | b, with all others as strata. In every stratum a unit of one
cell and a unit of another exchange their b. Every table inside the strata and a, and inside the strata and
b, is kept. The split follows from the sums that are asked to be exact, else from the sizes of the table;
the rate from the sizes, and from the kept sums where too many runs would change nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.fitting.synthetic_tables import synthetic_counts
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.protection.cycle_runs.cycle_parameters import BLOCKING, EXCHANGE, THETA, set_ones
from tabprotect.engine.protection.simulate import trial_generator
from tabprotect.engine.protection.subtables import GROUPINGS, KEEP, kept_of
from tabprotect.engine.release.limits import NO_CHANGE_LIMIT
from tabprotect.engine.swaps.exchange_plan import ExchangePlan
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

SPLIT: Parameter[str | None] = Parameter(
    "split",
    message("Split of the variables"),
    message(
        "Of the rule exchange: the variables on both sides of an exchange, as a, b | c; the others are "
        "strata. Every table of one side and the strata is kept exactly. Left open, it follows from the "
        "kept sums, or from the sizes."
    ),
    "text",
    may_be_unstated=True,
)

STEP_RATE: Parameter[float | None] = Parameter(
    "rate",
    message("Steps a person"),
    message(
        "Of the rule exchange: how many steps are taken for each person counted in a stratum. Left open, it "
        "follows from the sizes."
    ),
    "real",
    low=1e-6,
    high=100.0,
    may_be_unstated=True,
)

OF_EXCHANGE = (SPLIT, STEP_RATE)

PLAIN_RATE = 0.15
"""Steps for each cell that is not empty, in about: it is touched three times in ten."""

UNITS = 200
"""People in a stratum on average, so that there are cells to exchange with."""

TABLES, RUNS, LOOKED_AT = 32, 8, 20_000
"""Synthetic tables and runs by which it is seen how often nothing changes, and the most cells of one: a
larger table takes so many steps that something always does."""

Split = tuple[tuple[str, ...], tuple[str, ...]]
"""The variables of both sides."""


@dataclass(frozen=True)
class ExchangeRule:
    """A split of the variables of a table."""

    domain: Domain
    split: Split

    @classmethod
    def of(cls, domain: Domain, values: Mapping[str, object]) -> ExchangeRule:
        """The split as values state it.

        Raises
        ------
        ParameterError
            Where it is none.
        """
        text = str(values[SPLIT.name])
        first, bar, second = text.partition("|")
        sides = tuple(tuple(filter(None, map(str.strip, one.split(",")))) for one in (first, second))
        named = [*sides[0], *sides[1]]
        unknown = [name for name in named if name not in domain.names]
        wrong = ""
        if not bar or not all(sides) or len(set(named)) < len(named):
            wrong = message("must name the variables of both sides once, as a, b | c")
        elif unknown:
            wrong = message("the table has no variable {unknown}", joined(unknown, ", "))
        if wrong:
            raise ParameterError(
                {SPLIT.name: wrong}, hint=message("there are {names}", joined(domain.names, ", "))
            )
        ordered = [tuple(name for name in domain.names if name in side) for side in sides]
        return cls(domain, (ordered[0], ordered[1]))

    @property
    def text(self) -> str:
        """The split as the parameter takes it."""
        return " | ".join(", ".join(side) for side in self.split)

    @property
    def strata(self) -> tuple[str, ...]:
        """The variables that stay together."""
        return tuple(name for name in self.domain.names if name not in {*self.split[0], *self.split[1]})

    def kept(self, values: Mapping[str, object]) -> Publication:
        """The margins that no step changes."""
        margins = tuple(
            tuple(name for name in self.domain.names if name in {*self.strata, *side}) for side in self.split
        )
        return Publication(self.domain, margins, kept_of(self.domain, {**values, KEEP.name: None}).groupings)

    def plan(self, values: Mapping[str, object]) -> ExchangePlan:
        """The steps with stated parameters."""
        domain = self.domain
        parts = (self.strata, *self.split)
        axes = [domain.names.index(name) for part in parts for name in part]
        cell = np.arange(domain.size).reshape(domain.shape).transpose(axes).reshape(-1)
        sizes = [math.prod(domain.shape[domain.names.index(name)] for name in part) for part in parts]
        rate, theta = Values(values)[STEP_RATE], Values(values)[THETA]
        return ExchangePlan(
            np.ascontiguousarray(cell),
            (sizes[0], sizes[1], sizes[2]),
            float(rate or 0.0),
            float(theta or 0.0),
            domain.structural_cells() if domain.structural else None,
        )


def chosen_split(domain: Domain, values: Mapping[str, object], people: int) -> ExchangeRule:
    """The split that keeps the sums asked for, else one by the sizes.

    Of the longest variables one stands on each side; the others are strata, unless these would hold
    fewer than ``UNITS`` people each: then the longest of them joins the side of fewer categories.

    Raises
    ------
    ParameterError
        Where no split keeps the sums.
    """
    size = dict(zip(domain.names, domain.shape, strict=True))
    if values.get(KEEP.name):
        sides = _keeping(domain, [set(margin) for margin in kept_of(domain, values).maximal().margins])
        rest = [name for name in domain.names if name not in sides[0] | sides[1]]
        both = sides[0] & sides[1]
        split = [sides[0] - both, sides[1] - both]
    else:
        names = sorted(domain.names, key=lambda name: -size[name])
        split, rest = [{names[0]}, {names[1]}], []
        strata = names[2:]
        while strata and math.prod(size[name] for name in strata) * UNITS > people:
            rest.append(strata.pop(0))
    for name in sorted(rest, key=lambda name: -size[name]):
        min(split, key=lambda side: math.prod(size[one] for one in side)).add(name)
    split.sort(key=lambda side: min(map(domain.names.index, side)))
    first, second = (tuple(name for name in domain.names if name in side) for side in split)
    return ExchangeRule(domain, (first, second))


def split_inside(domain: Domain, margins: Sequence[tuple[str, ...]]) -> ExchangeRule | None:
    """The split that keeps two of these margins, those of the most sums; ``None`` where two do not hold
    all variables.
    """
    every = set(domain.names)
    pairs = [(one, two) for one, two in itertools.combinations(margins, 2) if {*one, *two} == every]
    if not pairs:
        return None
    one, two = max(pairs, key=lambda pair: sum(domain.project(side).size for side in pair))
    split = (tuple(n for n in one if n not in two), tuple(n for n in two if n not in one))
    return ExchangeRule(domain, split)


def _keeping(domain: Domain, margins: Sequence[set[str]]) -> tuple[set[str], set[str]]:
    """Two sets of variables within one of which each margin is, the smallest ones."""
    found = []
    for sides in itertools.product((0, 1), repeat=len(margins)):
        both = [set[str]().union(*(m for m, s in zip(margins, sides, strict=True) if s == k)) for k in (0, 1)]
        if all(len(both[k]) < domain.ndim and (both[k] - both[1 - k] or not both[k]) for k in (0, 1)):
            found.append((len(both[0]) + len(both[1]), both))
    if not found or any(set(m) - set(domain.names) for m in margins):
        raise ParameterError(
            {
                KEEP.name: message(
                    "no exchange keeps all of these: it keeps the tables inside two sets of variables"
                )
            },
            hint=message("name the split, or take cycles: --set blocking=negative"),
        )
    first, second = min(found, key=lambda one: one[0])[1]
    return first, second


def plain_rate(domain: Domain, people: int) -> float:
    """A rate by the sizes alone: cells that are not empty are touched about equally often."""
    return round(PLAIN_RATE * min(1.0, domain.size / max(people, 1)), 4) or 1e-4


def expected_by_sides(plan: ExchangePlan, counts: Ints) -> tuple[Floats, Ints]:
    """The count expected in each flat cell, (cells,), from the sums that are kept; and these sums."""
    grid = counts[plan.cell].reshape(plan.shape)
    rows, columns = grid.sum(axis=2, keepdims=True), grid.sum(axis=1, keepdims=True)
    strata = np.maximum(grid.sum(axis=(1, 2), keepdims=True), 1).astype(np.float64)
    mean = np.empty(len(counts))
    mean[plan.cell] = (rows / strata * columns).reshape(-1)
    if plan.nobody is not None:
        mean[plan.nobody] = 0.0
    return mean, np.concatenate([rows.reshape(-1), columns.reshape(-1)])


@dataclass(frozen=True, eq=False)
class Unchanged:
    """How often exchange steps change nothing, from the kept sums alone."""

    plan: ExchangePlan
    counts: Ints

    @cached_property
    def _tables(self) -> tuple[Ints, Ints]:
        mean, margins = expected_by_sides(self.plan, self.counts)
        drawn = synthetic_counts(mean, TABLES, trial_generator("exchange", margins.tobytes()), shape=1.0)
        return drawn, margins

    def chance(self) -> float:
        """A mean over synthetic tables."""
        if len(self.counts) > LOOKED_AT:
            return 0.0
        tables, margins = self._tables
        steps = self.plan.steps(self.counts)
        coins = trial_generator("exchange", margins.tobytes(), stream=1)
        same = 0
        for table in tables.T:
            for _, _, whose, copies in self.plan.changes(np.ascontiguousarray(table), RUNS, coins, steps):
                same += copies - len(np.unique(whose))
        return float(same / (tables.shape[1] * RUNS))


def chosen_rate(rule: ExchangeRule, values: Mapping[str, object], table: Table) -> float:
    """The rate by the sizes, doubled until nothing changes seldom enough. Public: the kept sums tell."""
    rate = plain_rate(rule.domain, table.total)
    for _ in range(6):
        if Unchanged(rule.plan({**values, STEP_RATE.name: rate}), table.counts.reshape(-1)).chance() <= (
            NO_CHANGE_LIMIT
        ):
            break
        rate = round(2 * rate, 4)
    return rate


def without_cycles(
    values: Values, given: Mapping[str, object], others: Sequence[Parameter[object]]
) -> Values:
    """The values of the rule exchange, which has no cycles and no coin.

    Raises
    ------
    ParameterError
        Naming what was given and has no part in it.
    """
    unused = [one.name for one in others if given.get(one.name) not in (None, "", one.default)]
    if unused:
        raise ParameterError(
            {name: message("has no part in this rule") for name in unused},
            hint=message("leave it out, or take another blocking rule"),
        )
    return values | {
        **{one.name: one.default for one in others},
        THETA.name: values[THETA] or 0.0,
        BLOCKING.name: EXCHANGE,
        "groupings": values[GROUPINGS] or None,
    }


def without_exchange(values: Values) -> None:
    """Refuse parameters of exchange steps for another rule.

    Raises
    ------
    ParameterError
        Naming them.
    """
    if wrong := {one.name: message("goes with the rule exchange") for one in set_ones(OF_EXCHANGE, values)}:
        raise ParameterError(wrong, hint=message("take blocking=exchange, or leave it out"))
