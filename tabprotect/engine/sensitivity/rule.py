"""A rule that says which cells are sensitive: one file in ``rules/``, whose docstring is its page.

Sizes of contributions are ``x1 >= x2 >= ...``, their sum ``X``. A rule for magnitudes is a whole number
``S`` for a cell: the cell is unsafe where ``S > 0``, and the sum has to be uncertain upwards by ``S`` over
the rule's ``unit``, rounded up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.options import Measure
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.registry import Documented
from tabprotect.languages.messages import message

Numbers = tuple[Fraction, ...]

LARGE = 2**62


class SensitivityRule(Documented, Encodable, ABC):
    """Base of the rules of either measure.

    Attributes
    ----------
    name, label
        The registered name (that of the file), and the name for people.
    measure
        What it judges.
    examples
        As it is written.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    measure: ClassVar[Measure]
    examples: ClassVar[tuple[str, ...]]
    json_keys = "name label measure help examples"


class CountRule(SensitivityRule):
    """A rule for counts."""

    measure = "counts"

    @abstractmethod
    def sensitive(self, counts: Ints, written: str) -> Bools:
        """Mask of the cells that it names, shape of the counts.

        Raises
        ------
        ParameterError
            If it is written otherwise.
        """


class ContributorRule(SensitivityRule):
    """A rule for magnitudes, by the sizes of contributions.

    Attributes
    ----------
    numbers, more
        How many numbers it takes, and how many may be given besides.
    coalitions
        Whether contributors may put together what they know.
    asks
        What each of its numbers is, in a word or two, for a form.
    says
        What it says, in a sentence.
    place
        Which of several rules that hold is named: the one of the lowest place.
    """

    measure = "magnitudes"
    numbers: ClassVar[int] = 1
    more: ClassVar[int] = 0
    coalitions: ClassVar[bool] = False
    asks: ClassVar[tuple[str, ...]] = ()
    says: ClassVar[str] = ""
    place: ClassVar[int]

    @abstractmethod
    def excess(self, numbers: Numbers, coalition: int, cells: CellContributions) -> tuple[Ints, int]:
        """``S`` of each cell (whole numbers, of any size) and the unit that it is counted in."""

    def never(self, numbers: Numbers) -> str:
        """Say why it means nothing with these numbers; empty if it means something."""
        return ""

    def ranks(self, numbers: Numbers, coalition: int) -> int:
        """Return how many of the largest contributions it looks at."""
        return 2

    def letter(self, numbers: Numbers) -> str:
        """Say what it says of a cell in the SDMX list of confidentiality reasons."""
        return "M"

    def order(self, numbers: Numbers) -> int:
        """Its place with these numbers."""
        return self.place


@dataclass(frozen=True, eq=False)
class CellContributions:
    """The contributions to some cells, as far as rules look at them.

    Attributes
    ----------
    total : int64 (cells,)
        The sum of sizes.
    top : int64 (cells, ranks)
        The largest sizes, in falling order.
    nonzero : int64 (cells,)
        How many contributors are not zero.
    asked, waived : bool (cells, ranks)
        Of the largest: who asked for protection, who waived it.
    """

    total: Ints
    top: Ints
    nonzero: Ints
    asked: Bools
    waived: Bools

    @classmethod
    def ranked(cls, total: Ints, top: Ints, nonzero: Ints) -> CellContributions:
        """Return where nobody asked and nobody waived."""
        no = np.zeros(top.shape, dtype=bool)
        return cls(total, top, nonzero, no, no)

    def targeted(self) -> CellContributions:
        """The largest who did not waive first, then the others; 0 where everybody waived."""
        if not self.waived.any():
            return self
        top = self.top.copy()
        first = np.argmax(~self.waived, axis=1)
        for number in np.flatnonzero(self.waived[:, 0]):
            one = first[number]
            target = self.top[number, one] if not self.waived[number, one] else 0
            top[number] = [target, *np.delete(self.top[number], one)]
        none = self.waived.all(axis=1) | ((self.top > 0) & ~self.waived).sum(axis=1).__eq__(0)
        return CellContributions(self.total, top, np.where(none, 0, self.nonzero), self.asked, self.waived)


def combined(a: int, x: Ints, b: int, y: Ints) -> Ints:
    """``a x + b y``, exactly."""
    most = abs(a) * int(np.abs(x).max(initial=0)) + abs(b) * int(np.abs(y).max(initial=0))
    if most >= LARGE:
        return np.asarray(a * x.astype(object) + b * y.astype(object))
    return a * x + b * y


def share_excess(total: Ints, top: Ints, k: Fraction) -> tuple[Ints, int]:
    """``100 (x1 + .. + xn) - k X`` in units of k, which is the level that hides it."""
    return combined(100 * k.denominator, top.sum(axis=1), -k.numerator, total), k.numerator


def known_ratio(p: Fraction, q: Fraction, ranks: int, cells: CellContributions) -> tuple[Ints, int]:
    """``p x1 - q (X - x1 - .. - xn)`` per hundred: how nearly others know what is left."""
    first, rest = cells.top[:, 0], cells.total - cells.top[:, :ranks].sum(axis=1)
    unit = p.denominator * q.denominator
    return combined(int(p * unit), first, -int(q * unit), rest), 100 * unit


def few(number: Fraction, cells: CellContributions) -> Bools:
    """The cells of fewer contributors than a number, that have any."""
    return (cells.nonzero > 0) & (cells.nonzero < int(number))


def no_number(number: Fraction) -> str:
    """Say that a number of contributors is none; empty if it is one."""
    if number.denominator == 1 and number >= 1:
        return ""
    return message("a number of contributors is a whole number of at least 1")


def no_share(share: Fraction) -> str:
    """Say that a share hides nothing, or everything; empty if it is one."""
    if 0 < share < 100:
        return ""
    return message("the share lies between 0 and 100 %: with 100 no cell is unsafe, give n instead")
