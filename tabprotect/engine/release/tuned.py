"""How the parameters of a release were chosen from the margins it keeps. Public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose
from typing import Literal

from tabprotect.engine.plain_values.decoding import AsWritten
from tabprotect.languages.messages import capital, message, percent

KEY = "tuned"
"""The name under which a mechanism states it."""

Use = Literal["changes", "sums", "rates", "association"]

USES: Mapping[Use, str] = {
    "changes": message("the mean change of a count"),
    "sums": message("the mean change of the sum of two neighbouring categories"),
    "rates": message("the mean change of a share within the categories of the first variable"),
    "association": message("the mean change of Cramér's V of two variables"),
}
"""What a table is to be used for, and the loss by which parameters are judged then."""


@dataclass(frozen=True)
class Tuned(AsWritten):
    """The parameters taken, and why; public.

    Attributes
    ----------
    use
        By the loss of which use.
    parameters
        Those that were chosen.
    accepted
        The share of synthetic tables whose release passed at the first draw.
    tables
        Their number.
    loss, default_loss
        The expected loss, and that of the parameters there were before.
    """

    use: Use
    parameters: Mapping[str, object]
    accepted: float
    tables: int
    loss: float
    default_loss: float
    key = KEY

    def agrees(self, other: Tuned) -> bool:
        """Return True if the same was chosen, by figures that are equal but for rounding.

        The loss before is no part of the choice: parameters that were given before are not stated.
        """
        chosen, others = ((one.use, dict(one.parameters), one.tables) for one in (self, other))
        return (
            chosen == others
            and isclose(self.accepted, other.accepted)
            and isclose(self.loss, other.loss, rel_tol=1e-9, abs_tol=1e-12)
        )

    @property
    def sentence(self) -> str:
        """The choice in words."""
        return message(
            "{what} is expected to be {loss:.3g} instead of {before:.3g}; {accepted} of {tables} "
            "synthetic tables pass at the first draw.",
            capital(USES[self.use]),
            self.loss,
            self.default_loss,
            percent(self.accepted),
            self.tables,
        )
