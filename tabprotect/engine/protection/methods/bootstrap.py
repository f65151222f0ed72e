"""Heer's bootstrap: the records are drawn anew, with replacement, until no count moves too far.

As many records as there are were drawn with replacement from the records behind the table, M times,
and the counts averaged and rounded (M is odd, so that there are no ties); the result was accepted
only where every average is within S standard errors sqrt(x (1 - x / n)) of its true count x, n
being the number of records. A zero stays zero, unless zeros are replaced. With M = 1 the grand
total is exact; with M > 1 the rounded averages need not add up to it, and the number of records is
stated beside them. S, M and n are public, so that the probability of every possible original can be
computed.

With zeros=V every count of 0 is replaced by V before the records are drawn, so that no published zero
is proof of a true one, and no count that is published proves that anybody is there; the cells where
nobody can be stay empty. V, and how many counts were replaced, are stated. The sources
speak of such a replacement and leave its value and its form open: this is the plainest, one whole number
for all; for each zero V records more are drawn, and the grand total is that much higher.

Example. Counts 1, 2, 7 of n = 10 records with S = 1.5: the standard errors are 0.95, 1.26 and
1.45, so that 0..2, 1..3 (0.11 rounded up, 3.9 rounded down) and 5..9 are allowed; 2, 2, 6 may be
published, 3, 1, 6 may not.

Drawing until a table is accepted takes M / (2 Phi(S sqrt M) - 1)^cells samples, 1.7 million for
100 cells with S = 1.5 and M = 1. Here one draw is enough: the M samples together are one
multinomial sample of M n records, whose cells are independent Poisson counts given their sum and
their ranges; the sum is taken apart exactly. The findings state what drawing blindly would cost.

The jack-knife and the random-sample method, which the sources name beside it, are none of this: the jack-knife
leaves each record out in turn, so that every count is published as it is or one lower, and who
compares the tables has the records; the random-sample method publishes the counts of a sample of the
records, drawn without replacement. Neither is offered.

Source: Heer 1993, as described by Domingo-Ferrer and Mateo-Sanz 1999, section 2. Whether an
average or each single sample is held to the ranges is left open there; the average is, as the
costs printed there imply.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError, ParameterError, TooLargeError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.resampling.truncated_laws import (
    MOST_SPAN,
    QUALITY,
    averaged,
    boxed,
    law_of_cell,
    limits,
    multinomial,
    weighed,
)
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_WIDTH = 2_000_000
"""Numbers of records weighed for one draw: about a second, and a preview takes several draws.
"""


TOTAL = "total"
"""Disclosed by the run: the number of records that are drawn."""

REPLACED = "replaced"
"""Disclosed by the run: how many zeros were replaced."""

ZEROS: Parameter[int | None] = Parameter(
    "zeros",
    message("Zeros replaced by"),
    message("What a count of 0 is taken for when the records are drawn. Without a value a zero stays zero."),
    "integer",
    low=1,
    high=99,
    unit=message("records"),
    may_be_unstated=True,
)


SAMPLES: Parameter[int] = Parameter(
    "M",
    message("Samples averaged M"),
    message("An odd number of samples whose average is published. More are truer, and protect less."),
    "integer",
    1,
    low=1,
    high=99,
    unit=message("samples"),
)


class Bootstrap(Method):
    """Bootstrap of the records: registered as ``bootstrap``."""

    name = "bootstrap"
    label = message("Bootstrap of the records")
    trial_work = 45.0
    judged_up_to = 1_024
    ladder = tuple({"M": samples} for samples in (9, 7, 5, 3, 1))
    parameters = (QUALITY, SAMPLES, ZEROS)
    guarantees = promises(
        "non_negative",
        "zeros_kept",
        ("bounded", message("No average moves by more than S standard errors of the true count.")),
        ("total_kept", message("The grand total is exact (M = 1).")),
        "additive",
        "complete",
        "posterior",
    )

    calibrations = (
        CalibrationPlan({"S": 1.5, "M": 1}, (1.0, 1.8, 0.6), runs=200),
        CalibrationPlan({"S": 1.5, "M": 3}, (1.0, 1.8, 0.6), runs=450),
        CalibrationPlan({"S": 1.5, "M": 1, "zeros": 1}, (1.0, 1.8, 0.6), runs=200),
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """S and an odd M; the number of records that a mechanism states is let through."""
        values = super().resolve(domain, {k: v for k, v in given.items() if k not in (TOTAL, REPLACED)})
        if values[SAMPLES] % 2 == 0:
            raise ParameterError(
                {"M": message("must be odd, is {values}", values["M"])},
                hint=message("the average of two has ties"),
            )
        return values

    def promised(self, values: Values) -> tuple[str, ...]:
        """Several samples lose the total; zeros that are replaced, what holds of the true counts."""
        lost = {"total_kept"} if values[SAMPLES] > 1 else set()
        if values.get(ZEROS.name) is not None:
            lost = {"total_kept", "zeros_kept", "bounded"}
        return tuple(name for name in self.guarantees if name not in lost)

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """One accepted sample, by taking the sum of records apart."""
        quality, samples = values[QUALITY], values[SAMPLES]
        domain, counts = problem.table.domain, problem.table.counts.reshape(-1)
        zeros = _Zeros.of(domain, values)
        true, counts = counts, zeros.replaced(counts)
        total = int(counts.sum())
        if samples * total >= 2**52:
            raise InputError(
                message("{total:,} records are too many to be drawn {samples} times", total, samples),
                hint=message("take another method"),
            )
        progress.report(message("drawing the records"), 0.0)
        held = np.flatnonzero(counts)
        known, law, times = np.unique(counts[held], return_inverse=True, return_counts=True)
        box = limits(known, total, quality, samples)
        _check(box, times)
        tree, log_chance = boxed(known, times, box, samples)
        sums = tree.draw(samples * total, generator) if len(held) else held
        out = np.zeros(domain.size, dtype=np.int64)
        # Cells with one true count are alike: any order among them will do.
        cells = held[np.argsort(law.reshape(-1), kind="stable")]
        out[cells] = averaged(sums[np.argsort(tree.laws, kind="stable")], samples)
        table = Table.dense(domain, out.reshape(domain.shape))
        findings = _costs(domain.size, quality, samples, log_chance if len(held) else 0.0)
        stated = {TOTAL: total} | ({REPLACED: int((counts != true).sum())} if zeros.value else {})
        return Draft((PublishedTable(table),), disclosed=stated, findings=findings)

    def likelihood(self, release: Release) -> CellFactors:
        """Ranges of the true counts, their total, and the exact probability of the whole."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        quality, samples = values[QUALITY], values[SAMPLES]
        total = release.mechanism.parameters.get(TOTAL)
        if type(total) is not int or not 0 <= total < 2**52:
            raise InputError(message('the mechanism states no number of records as "total"'))
        published = release.table
        if published.domain != release.domain or release.tables[0].suppressed is not None:
            raise InputError(message("the bootstrap publishes every inner cell"))
        if samples == 1 and published.total != total:
            raise InputError(
                message("the published counts add up to {total}, not to {total2}", published.total, total)
            )
        counts = published.counts.reshape(-1)
        zeros = _Zeros.of(release.domain, values)
        replaced = release.mechanism.parameters.get(REPLACED, 0)
        if type(replaced) is not int or not 0 <= replaced <= len(counts) or (replaced and not zeros.value):
            raise InputError(message('the mechanism states no number of zeros as "{REPLACED}"', REPLACED))
        seen, kind = np.unique(counts, return_inverse=True)
        kinds = [zeros.behind(one) for one in weighed(seen, np.full_like(seen, total), quality, samples)]
        kind = kind.reshape(-1)
        people = total - (zeros.value or 0) * replaced
        if zeros.value and zeros.nobody.any():
            kind = np.where(zeros.nobody, len(kinds), kind)
            kinds.append((0, 0, None))
        cells = np.arange(len(counts), dtype=np.int64)
        starts = np.append(cells, [len(cells), 2 * len(cells)])
        factors = CellFactors.of(
            release.domain,
            release.tables,
            (starts, np.concatenate([cells, cells])),
            np.append(kind, len(kinds)).astype(np.int64),
            [*kinds, (people, people, None)],
        )
        return replace(
            factors,
            rerun=_rerun(counts, total, (quality, samples), zeros, kinds[0][2] is not None),
            note=message("Left out: that the counts were drawn together, given their sum."),
            left_out=("pattern_choice",),
        )


@dataclass(frozen=True, eq=False)
class _Zeros:
    """What a count of 0 is replaced by, if by anything, and where nobody can be, bool (cells,)."""

    value: int | None
    nobody: Bools

    @classmethod
    def of(cls, domain: Domain, values: Values) -> _Zeros:
        nobody = np.asarray(domain.structural_cells(), dtype=np.bool_).reshape(-1)
        return cls(values.get(ZEROS.name), nobody)  # type: ignore[arg-type]

    def replaced(self, counts: Ints) -> Ints:
        """The counts that the records are drawn by, int64 (cells,)."""
        if self.value is None:
            return counts
        return np.where((counts == 0) & ~self.nobody, self.value, counts)

    def behind(self, kind: tuple[int, int, Floats | None]) -> tuple[int, int, Floats | None]:
        """The true counts behind a published one, given the counts that may have been drawn by."""
        low, high, logs = kind
        if self.value is None or high == 0:
            # Only where nobody can be is 0 what was drawn by.
            return kind
        if not low <= self.value <= high:
            first = max(low, 1)
            return first, high, None if logs is None else logs[first - low :]
        if logs is None:
            return 0, high, None
        # A zero is as likely to be published so as the count that took its place.
        out = np.full(high + 1, -np.inf)
        out[low:] = logs
        out[0] = logs[self.value - low]
        return 0, high, out


def _check(box: tuple[Ints, Ints], times: Ints) -> None:
    """Refuse what would take minutes: what each count could be, and their sum, are laid out."""
    widths = (box[1] - box[0]).astype(np.float64)
    laid_out = float(widths.sum()) + math.sqrt(float(widths**2 @ times))
    if laid_out > MOST_WIDTH:
        raise TooLargeError(
            message(
                "the counts are so large that some {laid_out:,.0f} numbers of records would have to "
                "be weighed for one draw, more than {MOST_WIDTH:,}",
                laid_out,
                MOST_WIDTH,
            ),
            hint=message("take binomial_compensated, or a smaller quality bound S or fewer samples M"),
        )


def _rerun(out: Ints, total: int, drawn: tuple[float, int], zeros: _Zeros, cellwise: bool) -> Rerun | None:
    """The whole probability over that of the cells on their own, which the factors hold."""
    quality, samples = drawn
    low, high = limits(out, total, quality, samples)
    if 2 * int((high - low).max()) > MOST_SPAN:
        return None
    known: dict[bytes, float] = {}

    def beyond(x: Ints, n: int) -> float:
        log = _log_chance(x, out, n, quality, samples)
        if cellwise and log > -math.inf:
            log -= float(law_of_cell(x, out, n, quality, samples).sum())
        return log

    def estimate(original: Table, generator: np.random.Generator) -> float:
        x = zeros.replaced(original.counts.reshape(-1))
        if not known:
            # A constant that keeps the figures of large tables within floating point.
            known[b""] = beyond(out, int(out.sum()))
        # The same counts behind the same published ones are as probable in any order.
        same = x[np.lexsort((x, out))].tobytes()
        if same not in known:
            fits = int(x.sum()) == total and _reach(x, out, total, quality, samples)
            log = min(beyond(x, total) - known[b""], 700.0) if fits else -math.inf
            known[same] = math.exp(log)
        return known[same]

    widths = (high - low).astype(np.float64)
    laid_out = float(np.unique(widths).sum()) + math.sqrt(float(widths @ widths))
    return Rerun(estimate, exact=True, cost=500.0 + 15.0 * len(out) + 0.6 * laid_out)


def _reach(x: Ints, out: Ints, total: int, quality: float, samples: int) -> bool:
    """Return True if every count could lead to the published one."""
    low, high = limits(x, total, quality, samples)
    return bool(((averaged(low, samples) <= out) & (out <= averaged(high, samples))).all())


def _log_chance(x: Ints, out: Ints, total: int, quality: float, samples: int) -> float:
    """log P(published | original), both (cells,)."""
    if not x.any():
        return 0.0
    pairs, times = np.unique(np.stack([x, out])[:, x > 0], axis=1, return_counts=True)
    known, seen = pairs
    low, high = limits(known, total, quality, samples)
    within = boxed(known, times, (low, high), samples)[1]
    if samples == 1:
        return multinomial(known, seen, times) - within
    half = (samples - 1) // 2
    ends = np.maximum(low, samples * seen - half), np.minimum(high, samples * seen + half)
    return boxed(known, times, ends, samples)[1] - within


def _costs(cells: int, quality: float, samples: int, log_chance: float) -> dict[str, object]:
    """Return what drawing until a table is accepted would take, exactly and as Heer's formula has it."""
    within = math.log(math.erf(quality * math.sqrt(samples / 2.0)))
    logs = {"samples_blindly": -log_chance, "samples_blindly_normal": -cells * within}
    return {
        name: samples * math.exp(log) if log < 650 else f"10^{log / math.log(10):.0f}"
        for name, log in logs.items()
    }


PLUGIN = Bootstrap()
