"""Binomial resampling of each count, put right so that known totals stay exact.

Every count x was drawn anew: how many of n records fall into a cell that holds x of them, a
binomial count, redrawn until it is within S standard errors sqrt(x (1 - x / n)) of x. The few
units by which the counts then missed their total were taken off (or added) one by one, from cells
drawn in proportion to the room they have left. The stated totals are exact: the grand total, or
those of one margin, n then being the total of each of its cells. A zero stays zero, and so does a
count that is alone in its total. S and the margin are public, so that the probability of every
possible original can be computed. Small counts are a little too low on average (about 0.2 at a
count of 1 for S up to 2).

Example. The row 1, 2, 7 with its total of 10 kept and S = 1.5: the ranges are 0..2, 1..3 and
5..9. Suppose 2, 3, 6 are drawn, one too many. The room above the lower ends is 2, 2 and 1: the
unit is taken from the first cell with chance 2/5, giving 1, 3, 6.

The probability of a release given an original is exact: what was put right is a coefficient of a
product of polynomials, one for each cell. Because putting right pulls counts back, a small count
is its true one more often than the draw alone would make it.

Source: Domingo-Ferrer and Mateo-Sanz 1999, section 3 (the cell-oriented method).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.equal_rows import by_number, equal_rows
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Parameter, Values, resolve
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.resampling import compensation
from tabprotect.engine.protection.resampling.truncated_laws import QUALITY, weighed
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import terms
from tabprotect.engine.tables.margins import maximal_margins
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

CELL, STEP = 1.0, 3e-3
"""Nominal microseconds of a cell and of a step of the exact chance of an original."""

MOST_WORK = 3e9
"""Steps up to which the exact probability of a release is offered (some seconds)."""


MOST_RECORDS = 2**52


KEPT: Parameter[str] = Parameter(
    "kept",
    message("Margin kept"),
    message(
        "The margin whose counts stay exact, as a formula: a for the totals of a, a:b for the "
        "table of both. Without one the grand total alone."
    ),
    "formula",
    "",
)


class BinomialCompensated(Method):
    """Binomial resampling with compensation: registered as ``binomial_compensated``."""

    name = "binomial_compensated"
    label = message("Binomial resampling with compensation")
    trial_work = 45.0
    judged_up_to = 1_024
    parameters = (QUALITY, KEPT)
    ladder = tuple({"S": step / 4} for step in range(2, 17))
    guarantees = promises(
        ("margins_kept", message("The stated margin is published exactly.")),
        "total_kept",
        "non_negative",
        "zeros_kept",
        ("bounded", message("No count moves by more than S of its standard errors.")),
        "additive",
        "complete",
        "posterior",
    )

    calibrations = (CalibrationPlan({"S": 1.5, "kept": "A"}, runs=500),)

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """S, and a formula with a single largest margin short of the table itself."""
        values = resolve(self.parameters, given)
        values |= {"kept": values["kept"] or ""}
        _margin(domain, values)
        return values

    def kept(self, domain: Domain, values: Values) -> Publication:
        """The stated margin, or the grand total."""
        return Publication.of(domain, (_margin(domain, values),))

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Draw every count, then put each block right."""
        domain = problem.table.domain
        if problem.table.total >= MOST_RECORDS:
            raise InputError(
                message("{total:,} records are too many to be drawn", problem.table.total),
                hint=message("take another method"),
            )
        progress.report(message("drawing the counts"), 0.0)
        block = _blocks(domain, values)
        counts = problem.table.counts.reshape(-1)
        out = compensation.draw(counts, block, values[QUALITY], generator)
        table = Table.dense(domain, out.reshape(domain.shape))
        # A count without company in its total has nowhere to go.
        others = np.bincount(block, weights=counts > 0)[block]
        alone = int(((others == 1) & problem.at_risk.mask(counts) & (counts > 0)).sum())
        return Draft((PublishedTable(table),), findings={"at_risk_alone_in_their_total": alone})

    def likelihood(self, release: Release) -> CellFactors:
        """Ranges of the true counts, the totals kept, and the exact probability of the whole."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        quality, published = values[QUALITY], release.table
        if published.domain != release.domain or release.tables[0].suppressed is not None:
            raise InputError(message("the method publishes every inner cell"))
        counts = published.counts.reshape(-1)
        if int(counts.min()) < 0 or published.total >= MOST_RECORDS:
            raise InputError(message("a published count is negative, or the counts are too large"))
        block = _blocks(release.domain, values)
        sums = np.zeros(int(block.max()) + 1, dtype=np.int64)
        np.add.at(sums, block, counts)
        # Cells with one published count and one total are alike.
        first, kind = equal_rows([counts, sums[block]])
        kinds = weighed(counts[first], sums[block][first], quality)
        totals, total_kind = np.unique(sums, return_inverse=True)
        order, ends = by_number(block, len(sums))
        size = len(counts)
        cells = np.arange(size, dtype=np.int64)
        factors = CellFactors.of(
            release.domain,
            release.tables,
            (np.concatenate([cells, size + ends]), np.concatenate([cells, order])),
            np.concatenate([kind, len(kinds) + total_kind.reshape(-1)]),
            [*kinds, *((int(n), int(n), None) for n in totals)],
        )
        return replace(
            factors,
            rerun=_rerun(counts, (order, ends), quality, kinds[0][2] is not None),
            note=message("Left out: that the counts were put right to their totals."),
            left_out=("pattern_choice",),
        )


def _margin(domain: Domain, values: Values) -> tuple[str, ...]:
    formula = values[KEPT] or "1"
    try:
        margins = maximal_margins(domain, terms(formula, domain.known_names, everything=domain.names))
    except InputError as error:
        raise ParameterError({"kept": error.message}, hint=error.hint) from None
    if len(margins) != 1:
        found = " and ".join(" × ".join(margin) for margin in margins) or "nothing"
        raise ParameterError(
            {"kept": message("names {found}: one margin can be kept", found)},
            hint=message("keep one of them; cyclic perturbation keeps several"),
        )
    if margins[0] == domain.names:
        raise ParameterError({"kept": message("is the table itself: no count could move")})
    return margins[0]


def _blocks(domain: Domain, values: Values) -> Ints:
    """The cell of the kept margin that each inner cell adds into, int64 (cells,)."""
    return Publication.of(domain, (_margin(domain, values),)).keys(0)


def _rerun(out: Ints, blocks: tuple[Ints, Ints], quality: float, cellwise: bool) -> Rerun | None:
    """The whole probability over that of the cells on their own, which the factors hold."""
    order, ends = blocks
    parts = [order[a:b] for a, b in pairwise(ends.tolist()) if out[order[a:b]].any()]
    work = sum(compensation.work_of(out[block], quality) for block in parts)
    if work > MOST_WORK:
        return None

    def beyond(originals: Ints) -> Floats:
        logs = np.zeros(len(originals))
        for block in parts:
            alone, more = compensation.log_chances(originals[:, block], out[block], quality)
            logs += more if cellwise else alone + more
        return logs

    # A constant that keeps the figures of large tables within floating point.
    scale = beyond(out[None])

    def many(originals: Ints, _generator: np.random.Generator) -> Floats:
        return np.exp(np.minimum(beyond(originals) - scale, 700.0))

    def estimate(original: Table, generator: np.random.Generator) -> float:
        return float(many(original.counts.reshape(1, -1), generator)[0])

    cost = 20.0 + CELL * len(out) + STEP * work / compensation.AT_ONCE
    return Rerun(estimate, exact=True, cost=cost, many=many)


PLUGIN = BinomialCompensated()
