"""How the parameters of a release were chosen from the margins it keeps. Public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose
from typing import Literal

from tabprotect.engine.errors import InputError
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
class Tuned:
    """The parameters taken, and why; public.

    Attributes
    ----------
    use
        By the loss of which use.
    change
        The parameters that were chosen.
    accepted
        The share of synthetic tables whose release passed at the first draw.
    tables
        Their number.
    loss, default_loss
        The expected loss, and that of the parameters there were before.
    """

    use: Use
    change: Mapping[str, object]
    accepted: float
    tables: int
    loss: float
    default_loss: float

    def as_json(self) -> dict[str, object]:
        """``tuned`` of a mechanism."""
        return {
            "use": self.use,
            "parameters": dict(self.change),
            "accepted": self.accepted,
            "tables": self.tables,
            "loss": self.loss,
            "default_loss": self.default_loss,
        }

    @classmethod
    def from_json(cls, data: object) -> Tuned:
        """Read from a mechanism.

        Raises
        ------
        InputError
            If it is not of the form in which it is written.
        """
        try:
            assert isinstance(data, Mapping) and data["use"] in USES
            assert isinstance(data["parameters"], Mapping) and type(data["tables"]) is int
            numbers = [data[name] for name in ("accepted", "loss", "default_loss")]
            assert all(type(one) in (int, float) for one in numbers)
            found = cls(data["use"], data["parameters"], numbers[0], data["tables"], *numbers[1:])
            assert found.as_json() == data
        except (AssertionError, KeyError, TypeError):
            raise InputError(message('the mechanism\'s "{KEY}" is not as it was written', KEY)) from None
        return found

    def agrees(self, other: Tuned) -> bool:
        """Return True if the same was chosen, by figures that are equal but for rounding.

        The loss before is no part of the choice: parameters that were given before are not stated.
        """
        chosen, others = ((one.use, dict(one.change), one.tables) for one in (self, other))
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
