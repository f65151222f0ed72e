"""Rules that say which sums tell too much of one contributor, in whole-number arithmetic.

Sizes of contributions are ``x1 >= x2 >= ...``, their sum ``X``. Every rule is a whole number ``S``
for a cell: the cell is unsafe where ``S > 0``, and the sum has to be uncertain upwards by ``S`` over
the rule's ``unit``, rounded up.

Sources: the SDC handbook, 2nd edition, chapter 4; tau-ARGUS 4.1, manual, 2.5 and 4.4; the
(n, p)-rule of the query spaces. The pq rule's level is derived: the handbook's table 4.4 is 100/q
times too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.decoding import natural
from tabprotect.engine.errors import ParameterError
from tabprotect.languages.messages import joined, message

NAMES = {"n": 1, "niss": 2, "dominance": 2, "request": 1, "p": 1, "pq": 2}
"""The rules and how many numbers each takes."""

EXAMPLES = ("p=10", "p=10,coalition=2", "pq=20,50", "dominance=1,85", "n=3", "niss=3,60", "request=70")

LARGE = 2**62


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


@dataclass(frozen=True)
class MagnitudeRule:
    """One rule with its numbers, which are confidential.

    Attributes
    ----------
    name
        ``p``, ``pq``, ``dominance``, ``n``, ``niss`` or ``request``.
    numbers
    coalition
        How many contributors may put together what they know (the p % rule).
    """

    name: str
    numbers: tuple[Fraction, ...]
    coalition: int = 1

    @property
    def written(self) -> str:
        """As it is given: ``p=10,coalition=2``. Confidential."""
        numbers = ",".join(f"{float(number):g}" for number in self.numbers)
        coalition = f",coalition={self.coalition}" if self.coalition > 1 else ""
        return f"{self.name}={numbers}{coalition}"

    @property
    def ranks(self) -> int:
        """Return how many of the largest contributions it looks at."""
        if self.name == "dominance":
            return int(self.numbers[0])
        return self.coalition + 1 if self.name == "p" else 2

    @property
    def letter(self) -> str:
        """Say what it says of a cell in the SDMX list of confidentiality reasons."""
        if self.name in ("n", "niss"):
            return "A"
        if self.name == "dominance":
            return "O" if self.numbers[0] == 1 else "T" if self.numbers[0] == 2 else "M"
        return "M"

    @property
    def order(self) -> int:
        """Return which of several rules that hold is named: n, one, two, p, others."""
        return ("n", "niss", "dominance1", "dominance2", "p", "pq", "dominance", "request").index(
            f"dominance{self.numbers[0]}"
            if self.name == "dominance" and self.numbers[0] in (1, 2)
            else self.name
        )

    def excess(self, cells: CellContributions) -> tuple[Ints, int]:
        """``S`` of each cell (whole numbers, of any size) and the unit that it is counted in."""
        cells = cells.targeted()
        top, total = cells.top, cells.total
        if self.name == "n":
            few = (cells.nonzero > 0) & (cells.nonzero < int(self.numbers[0]))
            return few.astype(np.int64), 1
        if self.name == "niss":
            few = (cells.nonzero > 0) & (cells.nonzero < int(self.numbers[0]))
            share, unit = _dominance(total, top[:, :1], self.numbers[1])
            return np.where(few & (share <= 0), 1, share), unit
        if self.name == "dominance":
            return _dominance(total, top[:, : int(self.numbers[0])], self.numbers[1])
        if self.name == "request":
            return self._requested(cells)
        first, rest = top[:, 0], total - top[:, : self.ranks].sum(axis=1)
        p, q = self.numbers[0], Fraction(100) if self.name == "p" else self.numbers[1]
        unit = p.denominator * q.denominator
        return _combined(int(p * unit), first, -int(q * unit), rest), 100 * unit

    def _requested(self, cells: CellContributions) -> tuple[Ints, int]:
        share, unit = _dominance(cells.total, cells.top[:, :1], self.numbers[0])
        out = np.where(cells.asked[:, 0], share, 0)
        if len(self.numbers) > 1:
            few = cells.asked.any(axis=1) & (cells.nonzero < int(self.numbers[1]))
            out = np.where(few & (out <= 0), 1, out)
        return out, unit

    def unsafe(self, cells: CellContributions) -> Bools:
        """Return which cells it hides."""
        return np.asarray(self.excess(cells)[0] > 0)

    def upper(self, cells: CellContributions) -> Ints:
        """By how much the upper end of a reader's interval has to exceed each sum; 0 if safe."""
        excess, unit = self.excess(cells)
        return np.where(excess > 0, -(-excess // unit), 0).astype(np.int64)


def _combined(a: int, x: Ints, b: int, y: Ints) -> Ints:
    """``a x + b y``, exactly."""
    most = abs(a) * int(np.abs(x).max(initial=0)) + abs(b) * int(np.abs(y).max(initial=0))
    if most >= LARGE:
        return np.asarray(a * x.astype(object) + b * y.astype(object))
    return a * x + b * y


def _dominance(total: Ints, top: Ints, k: Fraction) -> tuple[Ints, int]:
    """``100 (x1 + .. + xn) - k X`` in units of k, which is the level that hides it."""
    return _combined(100 * k.denominator, top.sum(axis=1), -k.numerator, total), k.numerator


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The findings of several rules about cells.

    Attributes
    ----------
    unsafe : bool (cells,)
    upper : int64 (cells,)
        The largest level of all rules.
    rule : int64 (cells,)
        The number of the rule that is named; -1 for none.
    """

    unsafe: Bools
    upper: Ints
    rule: Ints


def judge(rules: Sequence[MagnitudeRule], cells: CellContributions) -> Sensitivity:
    """Return what the rules say together: a cell is safe if every rule finds it so."""
    unsafe = np.zeros(len(cells.total), dtype=bool)
    upper = np.zeros(len(cells.total), dtype=np.int64)
    named = np.full(len(cells.total), -1, dtype=np.int64)
    # What several rules hide is named by the first of them in the order of reasons.
    for number in sorted(range(len(rules)), key=lambda n: -rules[n].order):
        found = rules[number].upper(cells)
        upper = np.maximum(upper, found)
        unsafe |= found > 0
        named[found > 0] = number
    return Sensitivity(unsafe, upper, named)


def most_ranks(rules: Sequence[MagnitudeRule]) -> int:
    """Return how many of the largest contributions the rules look at."""
    return max((rule.ranks for rule in rules), default=1)


def rules_of(texts: Sequence[str]) -> tuple[MagnitudeRule, ...]:
    """Rules as they are written: ``p=10,coalition=2``.

    Raises
    ------
    ParameterError
        For a rule that there is not, that has other numbers, or that never hides anything.
    """
    if not texts:
        raise ParameterError(
            {"rule": message("no rule is given")},
            hint=message("for example {examples}", joined(EXAMPLES, ", ")),
        )
    return tuple(map(_rule_of, texts))


def _rule_of(text: str) -> MagnitudeRule:
    name, _, said = text.strip().partition("=")
    parts = [part.strip() for part in said.split(",")]
    named = [part for part in parts if "=" in part]
    if name not in NAMES:
        raise _refused(text, message("there is no rule of this name"))
    coalition = 1
    for part in named:
        key, _, value = part.partition("=")
        if key != "coalition" or name != "p" or natural(value) is None or int(value) < 1:
            raise _refused(text, message("coalition is a whole number of at least 1, of the p rule"))
        coalition = int(value)
    try:
        numbers = tuple(Fraction(part) for part in parts if part not in named)
    except (ValueError, ZeroDivisionError):
        raise _refused(text, message("a number is expected")) from None
    more = 1 if name == "request" else 0
    if not NAMES[name] <= len(numbers) <= NAMES[name] + more:
        raise _refused(text, message("{name} takes {n} numbers", name, NAMES[name]))
    rule = MagnitudeRule(name, numbers, coalition)
    if why := _never(rule):
        raise _refused(text, why)
    return rule


def _never(rule: MagnitudeRule) -> str:
    """Say why a rule means nothing; empty if it means something."""
    first = rule.numbers[0]
    if rule.name in ("n", "niss", "dominance") and (first.denominator != 1 or first < 1):
        return message("a number of contributors is a whole number of at least 1")
    if rule.name == "n" and first < 2:
        return message("with n = 1 no cell is unsafe")
    if rule.name in ("p", "pq") and first <= 0:
        return message("with p = 0 no cell is unsafe: give n instead")
    if rule.name == "pq" and not first < rule.numbers[1]:
        return message("p has to be smaller than q")
    share = rule.numbers[-1] if rule.name in ("niss", "dominance") else first
    if rule.name in ("niss", "dominance", "request") and not 0 < share < 100:
        return message("the share lies between 0 and 100 %: with 100 no cell is unsafe, give n instead")
    return ""


def _refused(text: str, why: str) -> ParameterError:
    return ParameterError(
        {"rule": message("{text}: {why}", repr(text), why)},
        hint=message("for example {examples}", joined(EXAMPLES, ", ")),
    )
