"""Tests of models; that of independence also says how strong the association is, as Cramer's V."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.plain_values.encoding import Encodable, keyed
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.posterior.strength import Strength
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class ModelTest(Encodable):
    """A test of a model: a chi-square, its degrees of freedom and the p-value.

    Attributes
    ----------
    told
        The share that the releases tell of how far the table is from the model; 1 for a known table.
    """

    statistic: float
    degrees: float
    p: float
    share_known: float = 1.0
    json_keys = "statistic degrees p"

    @classmethod
    def of_table(cls, model: LogLinear, counts: Ints) -> ModelTest:
        """Pearson's test of a table that is taken as true; negative counts count as none."""
        from scipy.special import chdtrc

        table = np.maximum(counts, 0)[None]
        fitted = model.fit(table)
        off = np.divide((table - fitted) ** 2, fitted, out=np.zeros_like(fitted), where=fitted > 0)
        value = float(off.sum())
        return cls(value, float(model.degrees), float(chdtrc(max(model.degrees, 1), value)))


def independence_model(domain: Domain) -> LogLinear:
    """The model under which no variable goes with another."""
    return LogLinear(domain, tuple((name,) for name in domain.names))


@dataclass(frozen=True)
class Independence:
    """The test whether the variables of the true table go together, given what was published.

    Attributes
    ----------
    test
        Rao's score test of independence given the releases; ``None`` where it is not reached.
    strength
        Cramer's V, of two variables.
    published_test, published_strength
        The same of the published table taken as true; ``None`` where counts are missing.
    level
        Of the intervals.
    """

    test: ModelTest | None
    strength: Strength | None
    published_test: ModelTest | None
    published_strength: Strength | None
    level: float

    @classmethod
    def of(
        cls,
        domain: Domain,
        test: ModelTest | None,
        strength: Strength | None,
        published: Ints | None,
        level: float,
    ) -> Independence:
        """Test by what the releases say, and by the published counts if they are whole."""
        naive, taken = None, None
        if published is not None:
            naive = ModelTest.of_table(independence_model(domain), published)
            taken = Strength.of_table(published, level)
        return cls(test, strength, naive, taken, level)

    def as_json(self, *, strength: bool) -> dict[str, object]:
        """Return what ``--json`` prints: the test, or Cramer's V as well."""
        of_strength = "estimate=strength.estimate interval=strength.interval level"
        more = f" {of_strength} published_interval=published_strength.interval" if strength else ""
        return keyed(self, f"test published_test{more}")

    def lines(self, *, strength: bool) -> list[str]:
        """The test as text, or Cramer's V."""
        if strength:
            return self._strength_lines()
        out = []
        if self.test is not None:
            out.append(message("Test of independence given the release: p = {p:.3g}", self.test.p))
        if self.published_test is not None:
            p = self.published_test.p
            out.append(message("With the published counts taken as true: p = {p:.3g}", p))
        return out

    def _strength_lines(self) -> list[str]:
        out = []
        if self.strength is not None:
            out.append(
                message(
                    "Cramer's V of the population given the release: {estimate:.3f} ({level:.0f} % "
                    "interval {low:.3f} to {high:.3f})",
                    self.strength.estimate,
                    100 * self.level,
                    *self.strength.interval,
                )
            )
        if self.published_strength is not None:
            out.append(
                message(
                    "With the published counts taken as true: {low:.3f} to {high:.3f}",
                    *self.published_strength.interval,
                )
            )
        return out
