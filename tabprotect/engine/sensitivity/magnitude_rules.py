"""The rules for magnitudes as somebody writes them, and what several say together of cells, in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.engine.registry import Registry
from tabprotect.engine.sensitivity import rules as package
from tabprotect.engine.sensitivity.rule import CellContributions, ContributorRule, SensitivityRule
from tabprotect.languages.messages import joined, message


@cache
def sensitivity_rules() -> Registry[SensitivityRule]:
    """Every registered rule by name, of either measure."""
    return Registry(package, SensitivityRule, "rule", "sensitivity_rules")


EXAMPLES = tuple(
    example
    for rule in sorted(sensitivity_rules().ours, key=lambda one: (getattr(one, "place", 0), one.name))
    if isinstance(rule, ContributorRule)
    for example in rule.examples
)


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
        """Return it as it is given: ``p=10,coalition=2``. Confidential."""
        numbers = ",".join(f"{float(number):g}" for number in self.numbers)
        coalition = f",coalition={self.coalition}" if self.coalition > 1 else ""
        return f"{self.name}={numbers}{coalition}"

    @cached_property
    def kind(self) -> ContributorRule:
        """Its file."""
        found = sensitivity_rules()[self.name]
        assert isinstance(found, ContributorRule)
        return found

    @property
    def ranks(self) -> int:
        """Return how many of the largest contributions it looks at."""
        return self.kind.ranks(self.numbers, self.coalition)

    @property
    def letter(self) -> str:
        """Say what it says of a cell in the SDMX list of confidentiality reasons."""
        return self.kind.letter(self.numbers)

    @property
    def order(self) -> int:
        """Return which of several rules that hold is named: n, one, two, p, others."""
        return self.kind.order(self.numbers)

    def excess(self, cells: CellContributions) -> tuple[Ints, int]:
        """``S`` of each cell (whole numbers, of any size) and the unit that it is counted in."""
        return self.kind.excess(self.numbers, self.coalition, cells.targeted())

    def unsafe(self, cells: CellContributions) -> Bools:
        """Return which cells it hides."""
        return np.asarray(self.excess(cells)[0] > 0)

    def upper(self, cells: CellContributions) -> Ints:
        """Return by how much the upper end of a reader's interval has to exceed each sum; 0 if safe."""
        excess, unit = self.excess(cells)
        return np.where(excess > 0, -(-excess // unit), 0).astype(np.int64)


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
    return max((rule.ranks for rule in rules), default=0)


def rules_of(texts: Sequence[str]) -> tuple[MagnitudeRule, ...]:
    """Rules as they are written: ``p=10,coalition=2``.

    Raises
    ------
    ParameterError
        For a rule that there is not, that has other numbers, or that never hides anything.
    """
    if not texts:
        raise ParameterError({"rule": message("no rule is given")}, hint=message("say which: --rule p=10"))
    return tuple(map(_rule_of, texts))


def _rule_of(text: str) -> MagnitudeRule:
    name, _, said = text.strip().partition("=")
    parts = [part.strip() for part in said.split(",")]
    named = [part for part in parts if "=" in part]
    kind = sensitivity_rules()[name] if name in sensitivity_rules().names else None
    if not isinstance(kind, ContributorRule):
        raise _refused(text, message("there is no rule of this name"))
    coalition = 1
    for part in named:
        key, _, value = part.partition("=")
        if key != "coalition" or not kind.coalitions or natural(value) is None or int(value) < 1:
            raise _refused(text, message("coalition is a whole number of at least 1, of the p rule"))
        coalition = int(value)
    try:
        numbers = tuple(Fraction(part) for part in parts if part not in named)
    except (ValueError, ZeroDivisionError):
        raise _refused(text, message("a number is expected")) from None
    if not kind.numbers <= len(numbers) <= kind.numbers + kind.more:
        raise _refused(text, message("{name} takes {n} numbers", name, kind.numbers))
    if why := kind.never(numbers):
        raise _refused(text, why)
    return MagnitudeRule(name, numbers, coalition)


def _refused(text: str, why: str) -> ParameterError:
    return ParameterError(
        {"rule": message("{text}: {why}", repr(text), why)},
        hint=message("for example {examples}", joined(EXAMPLES, ", ")),
    )
