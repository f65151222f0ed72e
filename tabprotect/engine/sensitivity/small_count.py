"""The small-count rule: a cell is at risk if its count lies in a declared range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class SmallCount:
    """At risk: ``low <= count <= high``. A rule, not a mask: intruders may know it."""

    low: int = 1
    high: int = 2

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high:
            raise ParameterError(
                {"at_risk": message("{low}..{high} is not a range from 0 up", self.low, self.high)}
            )

    @classmethod
    def parse(cls, text: str) -> SmallCount:
        """Parse ``"1..2"`` or ``"3"``.

        Raises
        ------
        ParameterError
            If it is neither.
        """
        low, dots, high = text.partition("..")
        try:
            return cls(int(low), int(high) if dots else int(low))
        except ValueError:
            raise ParameterError({"at_risk": message("must look like 1..2, is {text}", repr(text))}) from None

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """Return it as it is written: ``1..2``."""
        return f"{self.low}..{self.high}"

    @property
    def words(self) -> str:
        """Return it as a sentence has it: ``1 or 2``."""
        if self.low == self.high:
            return str(self.low)
        if self.high == self.low + 1:
            return message("{low} or {high}", self.low, self.high)
        return message("{low} to {high}", self.low, self.high)

    def mask(self, counts: Ints) -> Bools:
        """Mask of the counts that are at risk, same shape."""
        return (counts >= self.low) & (counts <= self.high)


Judged = Literal["at_risk", "all"]
"""The cells that have to stay wide: the at-risk ones, or all of them."""

JUDGED: dict[Judged, str] = {
    "at_risk": message("the small counts: what passes or is refused then tells something of them"),
    "all": message("every cell, zeros too: what passes or is refused then tells of the margins alone"),
}


def judged_counts(at_risk: SmallCount, judged: Judged, total: int) -> SmallCount:
    """Range of the counts of the judged cells in a table with so many records."""
    return at_risk if judged == "at_risk" else SmallCount(0, max(total, at_risk.high))
