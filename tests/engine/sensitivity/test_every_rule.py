"""What holds for every registered rule for sensitive cells; the public check finds what is wrong with one."""

from __future__ import annotations

import pytest

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.sensitivity.magnitude_rules import sensitivity_rules
from tabprotect.engine.sensitivity.rule import CellContributions, CountRule, Numbers
from tabprotect.engine.sensitivity.rules.p import PPercent
from tabprotect.testing import CheckFailed, check_sensitivity_rule


@pytest.mark.parametrize("name", list(sensitivity_rules()))
def test_every_rule_passes(name: str) -> None:
    check_sensitivity_rule(sensitivity_rules()[name])


class Mine(PPercent):
    """A rule that nobody registered."""

    name = "mine"
    examples = ("mine=10",)


class FarSighted(Mine):
    """It looks at a contribution that it does not ask for."""

    def excess(self, numbers: Numbers, coalition: int, cells: CellContributions) -> tuple[Ints, int]:
        return cells.top[:, 0] - 3 * cells.top[:, -1], 1


class Neighbourly(Mine):
    """It judges a cell by those before it."""

    def excess(self, numbers: Numbers, coalition: int, cells: CellContributions) -> tuple[Ints, int]:
        return cells.top[:, 0].cumsum() - 10**5, 1


class Everything(CountRule):
    """It names every count."""

    name, label, examples = "everything", "Everything", ("1",)

    def sensitive(self, counts: Ints, written: str) -> Bools:
        return counts >= 0


def test_a_good_rule_passes_unregistered() -> None:
    check_sensitivity_rule(Mine)
    assert "mine" not in sensitivity_rules()


@pytest.mark.parametrize(
    ("rule", "said"),
    [(FarSighted, "largest contributions"), (Neighbourly, "by itself"), (Everything, "names all")],
)
def test_what_is_wrong_is_found(rule: type[CountRule | PPercent], said: str) -> None:
    with pytest.raises(CheckFailed, match=said):
        check_sensitivity_rule(rule)
