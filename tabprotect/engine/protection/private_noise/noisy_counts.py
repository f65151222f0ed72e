"""Base of the methods that add whole-number noise of a fixed law to every published count."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, expm1, log1p
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError, ParameterError, TooLargeError
from tabprotect.engine.fitting.margin_variance import deviation_left
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_margins import (
    INNER_NOTE,
    Support,
    counts_of,
    informative,
    main_first,
    sum_factors,
)
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.release.likelihood import CellFactors, independent
from tabprotect.engine.release.privacy import Privacy, Spent
from tabprotect.engine.release.published_numbers import PublishedNumbers
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import INT64_MAX
from tabprotect.languages.messages import message

MOST_WEIGHTS = 2**25
"""Most weights, over all different published counts together: 256 MiB."""


CAP: Parameter[int | None] = Parameter(
    "cap",
    message("Cap"),
    message(
        "No count moves by more than this: larger noise is drawn again. None by default; with one "
        "the promise holds but for a small probability."
    ),
    "integer",
    low=1,
    high=1_000_000,
    unit=message("counts"),
)

DECIMALS = 4
"""Most decimals of a budget, which is taken as that very fraction so that draws are exact."""

FAR = 45.0
"""Noise whose probability is so far (in logs) below that of 0 is left out of posteriors."""


FAR_NOTE = message("Noise beyond {reach:,}, of a probability below 1e-15, is taken as impossible.")


def budget_of(value: float) -> Fraction:
    """A budget as the fraction that its decimals say.

    Raises
    ------
    ValueError
        Where it has more than ``DECIMALS`` decimals.
    """
    exact = Fraction(repr(value))
    if (exact * 10**DECIMALS).denominator != 1:
        raise ValueError(message("must have at most {DECIMALS} decimals, is {value}", DECIMALS, value))
    return exact


@dataclass(frozen=True)
class NoiseLaw:
    """Noise z with probabilities proportional to exp(-share * abs(z) ** power).

    Attributes
    ----------
    share
        Share of the budget for one sub-table.
    power
        1 for discrete Laplace, 2 for discrete Gaussian noise.
    cap
        The largest absolute noise, if there is a limit.
    """

    share: Fraction
    power: int
    cap: int | None

    @cached_property
    def reach(self) -> int:
        """The absolute noise that holds all of the law, or all but 1e-15.

        Raises
        ------
        TooLargeError
            Where the noise is spread so widely that its law does not fit into memory.
        """
        reach = ceil(float((FAR / float(self.share)) ** (1 / self.power)))
        reach = reach if self.cap is None else min(reach, self.cap)
        if reach > MOST_WEIGHTS // 4:
            raise TooLargeError(
                message("noise of up to {reach:,} is too much to be weighed", reach),
                hint=message("publish fewer tables, or take a larger budget"),
            )
        return reach

    @property
    def capped(self) -> bool:
        """Return True if there is no noise beyond the reach."""
        return self.cap == self.reach

    def logs(self, noise: Ints) -> Floats:
        """Log weights of noise, up to a constant."""
        return -float(self.share) * np.abs(noise).astype(np.float64) ** self.power

    def true_counts(self, counts: Ints) -> Callable[[int], Support]:
        """The true counts behind each published count, with their log weights.

        Raises
        ------
        TooLargeError
            When there are too many different published counts to weigh each.
        """
        kinds = len(np.unique(counts))
        if kinds * (2 * self.reach + 1) > MOST_WEIGHTS:
            raise TooLargeError(
                message(
                    "{kinds:,} different counts with noise of up to {reach:,} are too many to be weighed",
                    kinds,
                    self.reach,
                ),
                hint=message("a posterior needs a larger budget, or fewer tables"),
            )

        def weigh(count: int) -> Support:
            if self.capped and count < -self.reach:
                raise InputError(message("a published count of {count} is beyond the cap", count))
            low = max(count - self.reach, 0)
            high = (count if self.capped else max(count, 0)) + self.reach
            return low, high, self.logs(np.arange(low, high + 1) - count)

        return weigh

    @property
    def note(self) -> str:
        """Say what the posterior leaves out, in words; empty where it leaves out nothing."""
        return "" if self.capped else FAR_NOTE.format(reach=self.reach)

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        if self.cap is None and self.power == 1:
            return 2 * exp(-self.share) / expm1(-self.share) ** 2
        noise = np.arange(-self.reach, self.reach + 1).astype(np.float64)
        return float(self.chances @ noise**2)

    def ruled_out(self, margins: int) -> float:
        """The probability that a count of a record's shows what is impossible without the record.

        That is noise at the cap itself, upwards or downwards, in any of the sub-tables.
        """
        return 0.0 if self.cap is None else -expm1(margins * log1p(-float(self.chances[-1])))

    @property
    def chances(self) -> Floats:
        """Probabilities of noise from -reach to reach."""
        weights = np.exp(self.logs(np.arange(-self.reach, self.reach + 1)))
        return np.asarray(weights / weights.sum())


class NoisyCounts(Method):
    """Base of methods whose budget is shared out over the published sub-tables.

    Attributes
    ----------
    budget
        Name of the parameter that holds the budget.
    power
        Of the :class:`NoiseLaw`.
    """

    budget: ClassVar[Parameter[float]]
    power: ClassVar[int]
    guarantees = promises(
        "unbiased",
        ("within_deviation", message("No count moves by more than the cap.")),
        (
            "differential_privacy",
            message(
                "One record more or less changes no probability of a release by "
                "more than the budget allows (with a cap: but for a small probability)."
            ),
        ),
        "complete",
        "posterior",
    )
    limits = MappingProxyType({"within_deviation": CAP})
    calibrations = (
        CalibrationPlan({"margins": "A:B - 1"}, ((1.2,) * 6,) * 6, runs=50),
        CalibrationPlan({"margins": "A:B + A - 1", "cap": 2}, runs=80),
    )

    @abstractmethod
    def spent(self, law: NoiseLaw, margins: int) -> Spent:
        """The budget of so many sub-tables, each with noise of that law."""

    @abstractmethod
    def noise(self, generator: np.random.Generator, law: NoiseLaw, size: int) -> Ints:
        """Exact draws of a law, int64 (size,)."""

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """Refuse a budget from which noise cannot be drawn exactly."""
        values = super().resolve(domain, given)
        try:
            budget_of(values[self.budget])
        except ValueError as error:
            raise ParameterError({self.budget.name: str(error)}) from None
        return values

    def promised(self, values: Values) -> tuple[str, ...]:
        """Leave out the promise of a largest change where the noise has no cap."""
        capped = values[CAP] is not None
        return tuple(n for n in self.guarantees if capped or n != "within_deviation")

    def privacy(self, domain: Domain, values: Values) -> Privacy:
        """The budget; with a cap what holds but for counts that the cap rules out."""
        margins = len(publication_of(domain, values).margins)
        spent = self.spent(self._law(values, margins), margins)
        return Privacy(**vars(spent), total=spent)

    def _law(self, values: Values, margins: int) -> NoiseLaw:
        share = budget_of(values[self.budget]) / margins
        return NoiseLaw(share, self.power, values[CAP])

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Noise for every published number, the same for numbers that are the same sum."""
        publication = publication_of(problem.table.domain, values)
        law = self._law(values, len(publication.margins))
        counts = publication.added_up(problem.table)
        if int(counts.max(initial=0)) > INT64_MAX // 2:
            raise InputError(message("a count is too large for noise within 9.2e18"))
        cells, inverse = publication.distinct
        progress.report(message("drawing the noise"), 0.0)
        try:
            noise = self.noise(generator, law, len(cells))
        except OverflowError:
            raise InputError(
                message("the shares of the budget are too small for exact draws"),
                hint=message("publish fewer tables, or take a budget with fewer decimals"),
            ) from None
        # Where nobody can be there is nothing to protect: whose zeros these are is public.
        noise[publication.nobody[cells]] = 0
        noisy = (counts[cells] + noise)[inverse]
        tables = main_first(publication.tables(noisy), publication.domain)
        negative = int((noisy < 0).sum())
        return Draft(
            tables,
            findings={message("share of each table"): float(law.share), message("negative counts"): negative},
        )

    def likelihood(self, release: Release) -> CellFactors:
        """Given the true counts the published numbers are independent: one factor for each."""
        publication, law = self._of(release)
        used, counts = informative(publication, counts_of(release, publication))
        weigh = law.true_counts(counts)
        whole = used is publication
        return sum_factors(
            release,
            (used, counts),
            lambda count, _: weigh(count),
            note=law.note if whole else f"{law.note} {INNER_NOTE}".strip(),
            left_out=() if whole else ("joint_noise",),
            signed=True,
        )

    def table_likelihood(self, release: Release, number: int) -> CellFactors | None:
        """The likelihood of a published table that the posterior of a large table leaves out."""
        publication, law = self._of(release)
        if informative(publication, counts_of(release, publication))[0] is publication:
            return None
        own = release.tables[number]
        weigh = law.true_counts(own.table.counts)
        return independent(own, weigh, note=f"{law.note} {INNER_NOTE}".strip(), left_out=("joint_noise",))

    def numbers(self, release: Release) -> PublishedNumbers | None:
        """All published numbers, each with noise of its own."""
        publication, law = self._of(release)
        counts = counts_of(release, publication)
        try:
            weigh = law.true_counts(counts)
        except TooLargeError:
            return None
        return PublishedNumbers.of(publication, counts, weigh, variance=law.variance)

    def deviation_left(self, domain: Domain, values: Values) -> float | None:
        """Find it by least squares over all published tables."""
        publication = publication_of(domain, values)
        margins = len(publication.margins)
        return None if margins == 1 else deviation_left(publication, self._law(values, margins).variance)

    def _of(self, release: Release) -> tuple[Publication, NoiseLaw]:
        """The published sub-tables, and the law of each count's noise."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        publication = publication_of(release.domain, values)
        return publication, self._law(values, len(publication.margins))

    def transitions(self, release: Release) -> tuple[tuple[int, Floats], ...]:
        """The law around 0 and around 1."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        law = self._law(values, len(publication_of(release.domain, values).margins))
        return tuple((count - law.reach, law.chances) for count in (0, 1))
