"""Rules for sums against the published and recomputed cases, in whole-number arithmetic."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.project import options
from tabprotect.engine.sensitivity.magnitude_rules import EXAMPLES, judge, rules_of
from tabprotect.engine.sensitivity.rule import CellContributions

CASES = json.loads((Path(__file__).parents[2] / "reference" / "magnitudes.json").read_text())["cases"]
RULES = {
    "p5": "p=5", "p10": "p=10", "p15": "p=15", "p25": "p=25",
    "p10_coalition2": "p=10,coalition=2", "nk1,85": "dominance=1,85", "nk1,90": "dominance=1,90",
    "nk2,80": "dominance=2,80", "nk2,90": "dominance=2,90", "nk3,75": "dominance=3,75",
    "n3": "n=3", "niss_n3_p60": "niss=3,60",
}  # fmt: skip


def one_cell(values: list[int]) -> CellContributions:
    top = np.zeros((1, max(4, len(values))), dtype=np.int64)
    top[0, : len(values)] = sorted(values, reverse=True)
    return CellContributions.ranked(np.array([sum(values)]), top, np.array([len(values)]))


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["id"].startswith("rules/") and isinstance(c["input"], list)],
    ids=lambda case: case["id"],
)  # fmt: skip
def test_rules_are_those_of_the_handbook(case) -> None:
    for name, expected in case["expected"].items():
        if name not in RULES:
            continue
        found = judge(rules_of([RULES[name]]), one_cell(case["input"]))
        unsafe, level = expected if isinstance(expected, list) else (expected, None)
        assert bool(found.unsafe[0]) == unsafe, name
        if level is not None:
            assert int(found.upper[0]) == math.ceil(Fraction(level)), name


@pytest.mark.parametrize("case", [c for c in CASES if c["id"].startswith("upl_pq/")])
def test_the_level_of_the_pq_rule_is_the_derived_one(case) -> None:
    given = case["input"]
    found = judge(rules_of([f"pq={given['p']},{given['q']}"]), one_cell(given["v"]))
    assert bool(found.unsafe[0]) == case["expected"]["unsafe"]
    assert int(found.upper[0]) == int(case["expected"]["upl_derived"])


@pytest.mark.parametrize(
    ("id", "rules"),
    [
        ("magnitude1/ref_p30", ["p=30"]),
        ("magnitude1/ref_p30c", ["p=30"]),
        ("magnitude1/ref_nk", ["dominance=1,80", "dominance=2,99"]),
    ],
)
def test_cells_of_magnitude1_are_those_of_another_program(id: str, rules: list[str]) -> None:
    expected = next(c for c in CASES if c["id"] == id)["expected"]
    for values, unsafe, level in expected.values():
        if values:
            found = judge(rules_of(rules), one_cell(values))
            assert bool(found.unsafe[0]) == unsafe
            if unsafe and level != "None":
                assert int(found.upper[0]) == math.ceil(Fraction(level))


def test_large_sums_are_judged_exactly() -> None:
    base = 9 * 10**17
    rest = base // 10
    assert not judge(rules_of(["p=10"]), one_cell([base, 5 + rest, rest])).unsafe[0]
    assert judge(rules_of(["p=10"]), one_cell([base, 5 + rest, rest - 1])).unsafe[0]


@pytest.mark.parametrize(
    "rule", ["p=0", "dominance=1,100", "n=1", "pq=50,20", "p=10,coalition=0", "x=3", "p=a", "n=2.5"]
)
def test_a_rule_that_never_hides_anything_is_refused(rule: str) -> None:
    with pytest.raises(ParameterError):
        rules_of([rule])


def test_a_waiver_takes_the_target_away() -> None:
    cell = one_cell([900, 60, 40, 10])
    waived = np.zeros(cell.top.shape, dtype=bool)
    waived[0, 0] = True
    found = judge(
        rules_of(["p=10"]), CellContributions(cell.total, cell.top, cell.nonzero, cell.asked, waived)
    )
    assert not found.unsafe[0]


def test_a_request_protects_who_asked() -> None:
    cell = one_cell([900, 60, 40])
    asked = np.zeros(cell.top.shape, dtype=bool)
    rules = rules_of(["request=70"])
    assert not judge(rules, cell).unsafe[0]
    asked[0, 0] = True
    assert judge(rules, CellContributions(cell.total, cell.top, cell.nonzero, asked, cell.waived)).unsafe[0]


def test_the_examples_that_options_name_are_those_of_the_rules() -> None:
    assert ", ".join(EXAMPLES) == options.EXAMPLES
