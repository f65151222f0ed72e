"""A rate, or the difference of two, of the population that a table is of, given releases.

``smokes=yes | region=north`` is the share of ``smokes=yes`` among ``region=north``; with
``region=north, south`` the share in the north less that in the south. True tables are drawn given the
releases and a log-linear model, the rate given each of them (Jeffreys' beta law).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.estimate import LEVEL, Estimate, tails
from tabprotect.engine.belief.model_fit import ModelReading
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

DRAWS = 4_000
"""Tables drawn under the model."""

PUBLISHED = 20_000
"""Rates drawn of the published table taken as true."""


@dataclass(frozen=True)
class Ratio:
    """A rate that is asked for: a category of one variable, given one or two categories of another."""

    of: tuple[str, str]
    given: str
    among: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Ratio:
        """Parse ``A=a1 | B=b1`` and ``A=a1 | B=b1, b2``.

        Raises
        ------
        ParameterError
            When the text is neither.
        """
        of, bar, given = text.partition("|")
        name, equal, category = (part.strip() for part in of.partition("="))
        other, sign, among = (part.strip() for part in given.partition("="))
        found = tuple(part.strip() for part in among.split(",") if part.strip())
        if not (bar and equal and sign and name and category and other) or len(found) not in (1, 2):
            raise ParameterError(
                {"rate": message("cannot read {text}", repr(text))},
                hint=message("write A=a1 | B=b1 for a rate, A=a1 | B=b1, b2 for the difference of two"),
            )
        return cls((name, category), other, found)

    @property
    def text(self) -> str:
        """Write it as it was asked for."""
        return f"{self.of[0]}={self.of[1]} | {self.given}={', '.join(self.among)}"

    def counts(self, domain: Domain, tables: Ints) -> tuple[Ints, Ints]:
        """The counts of the category and of all, int64 (draws, one or two)."""
        axes = domain.axis(self.of[0]), domain.axis(self.given)
        if axes[0] == axes[1]:
            raise ParameterError({"rate": message("a variable has no rate among itself")})
        rest = tuple(1 + k for k in range(domain.ndim) if k not in axes)
        both = tables.sum(axis=rest)
        if axes[0] > axes[1]:
            both = both.swapaxes(1, 2)
        at = domain.variables[axes[0]].code(self.of[1])
        among = [domain.variables[axes[1]].code(one) for one in self.among]
        return both[:, at][:, among], both.sum(axis=1)[:, among]

    def drawn(self, domain: Domain, tables: Ints, generator: np.random.Generator) -> Floats:
        """A rate, or a difference, given each table, float64 (draws,)."""
        hits, every = self.counts(domain, tables)
        rates = generator.beta(hits + 0.5, every - hits + 0.5)
        return rates[:, 0] - (rates[:, 1] if len(self.among) == 2 else 0.0)


@dataclass(frozen=True)
class Rate(Estimate):
    """A rate, or the difference of two, given releases."""

    ratio: Ratio
    note: str = ""
    json_keys = f"rate=ratio.text {Estimate.json_keys}"

    @property
    def name(self) -> str:
        return self.ratio.text


def pairs(domain: Domain) -> LogLinear:
    """The model in which any two variables go together."""
    names = domain.names
    terms = [f"{a}*{b}" for k, a in enumerate(names) for b in names[k + 1 :]]
    return LogLinear.of(domain, " + ".join(terms or names))


def rate(
    reading: ModelReading, ratio: Ratio, *, model: LogLinear | None = None, level: float = LEVEL
) -> Rate:
    """A rate, or the difference of two.

    Parameters
    ----------
    model
        What is taken to go together; any two variables by default.

    Raises
    ------
    InputError, ParameterError
        When a variable or a category is unknown.
    """
    domain, generator, ends = reading.found.domain, reading.generator, tails(level)
    taken: list[float] | None = None
    if reading.found.is_published.all():
        counts = np.maximum(reading.found.published.counts, 0)[None]
        drawn = ratio.drawn(domain, np.repeat(counts, PUBLISHED, axis=0), generator)
        taken = np.quantile(drawn, ends).tolist()
    ratio.counts(domain, np.zeros((1, *domain.shape), dtype=np.int64))
    imputed = reading.imputed(pairs(domain) if model is None else model, DRAWS)
    given: list[float] | None = None
    if not imputed.note:
        given = np.quantile(ratio.drawn(domain, imputed.tables, generator), ends).tolist()
    return Rate(given, taken, level, imputed.effective, ratio, imputed.note)
