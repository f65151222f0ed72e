"""The budget of differential privacy that a release spends. Public: mechanisms state it.

Neighbours are originals that differ by one record more or less. The measures are those of (epsilon,
delta) and of zero-concentrated differential privacy (rho): Dwork and Roth 2014, Bun and Steinke 2016.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log, sqrt
from typing import Final, Literal

from tabprotect.engine.plain_values.decoding import AsWritten
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.languages.messages import joined, message

NEIGHBOURS: Final = "one record more or less"
"""What originals differ by between which a release tells little."""

DELTA = 1e-6
"""The probability at which rho is said as an epsilon."""

KEY = "privacy"
"""The name under which a mechanism states its budget."""


@dataclass(frozen=True)
class Spent(Encodable):
    """A budget by its measures; ``None`` for one that does not apply."""

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None

    @classmethod
    def together(cls, several: Iterable[Spent]) -> Spent:
        """The budget of several releases of the same records: each measure adds up."""
        found = tuple(several)

        def total(measures: Iterable[float | None]) -> float | None:
            known = [one for one in measures if one is not None]
            return sum(known) if known else None

        return cls(
            total(one.epsilon for one in found),
            total(one.delta for one in found),
            total(one.rho for one in found),
        )

    def times(self, number: int) -> Spent:
        """The budget of as many releases that each spend this one."""
        return Spent.together([self] * number)

    @property
    def as_epsilon(self) -> float:
        """Everything as one epsilon: rho for a delta of :data:`DELTA` (Bun and Steinke 2016)."""
        rho = self.rho or 0.0
        return (self.epsilon or 0.0) + rho + 2 * sqrt(rho * log(1 / DELTA))

    @property
    def words(self) -> str:
        """The measures as part of a sentence."""
        parts = []
        if self.epsilon is not None:
            parts.append(message("epsilon {epsilon:g}", self.epsilon))
        if self.delta:
            parts.append(message("delta {delta:.2g}", self.delta))
        if self.rho is not None:
            parts.append(
                message(
                    "rho {rho:g} (epsilon {epsilon:.2f} at delta {delta:g})",
                    self.rho,
                    Spent(rho=self.rho).as_epsilon,
                    DELTA,
                )
            )
        return joined(parts, ", ")


@dataclass(frozen=True)
class Privacy(Spent, AsWritten):
    """The budget that a mechanism states, as the method's parameter says it.

    Attributes
    ----------
    total
        Over all published tables.
    """

    neighbours: Literal["one record more or less"] = NEIGHBOURS
    total: Spent = Spent()
    key = KEY
