"""Flags by hand: small counts, empty cells, groups of which everybody is in one category."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.output_checking.flags_and_decisions import CheckRules, flag_cells
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

TABLE = Table.dense(
    Domain.of({"sex": ["f", "m"], "age": ["young", "old", "oldest"]}), np.array([[10, 9, 0], [0, 1, 12]])
)


def rules_of(**given: object) -> dict[tuple[str, ...], list[str]]:
    checked = flag_cells(TABLE, CheckRules(**given))  # type: ignore[arg-type]
    return {flag.cell: list(flag.reasons) for flag in checked.flags}


def test_counts_from_one_up_to_below_the_threshold() -> None:
    assert rules_of(classes=False) == {("f", "old"): ["threshold"], ("m", "old"): ["threshold"]}
    assert rules_of(classes=False, threshold=9) == {("m", "old"): ["threshold"]}
    assert rules_of(classes=False, threshold=0) == rules_of(classes=False, threshold=1) == {}


def test_empty_cells_are_flagged_where_that_is_asked_for() -> None:
    found = rules_of(classes=False, threshold=0, zeros=True)
    assert found == {("f", "oldest"): ["zero"], ("m", "young"): ["zero"]}


def test_a_group_of_which_everybody_is_in_one_category() -> None:
    checked = flag_cells(TABLE, CheckRules(threshold=0))
    assert {flag.cell: flag.reasons["class"] for flag in checked.flags} == {
        ("f", "young"): "everybody of (young) is in sex = f",
        ("m", "oldest"): "everybody of (oldest) is in sex = m",
    }


def test_a_variable_of_one_category_tells_nothing() -> None:
    table = Table.dense(Domain.of({"v": ["a"], "w": ["x", "y"]}), np.array([[20, 30]]))
    assert flag_cells(table).status == "pass"


def test_flags_stand_in_the_order_of_the_table_with_their_counts() -> None:
    checked = flag_cells(TABLE, CheckRules(zeros=True))
    assert [(flag.cell, flag.count) for flag in checked.flags] == [
        (("f", "young"), 10),
        (("f", "old"), 9),
        (("f", "oldest"), 0),
        (("m", "young"), 0),
        (("m", "old"), 1),
        (("m", "oldest"), 12),
    ]


def test_a_threshold_is_no_negative_number() -> None:
    with pytest.raises(ParameterError, match="0 or more"):
        CheckRules(threshold=-1)
