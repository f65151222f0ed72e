"""Tables 3 to 10 of Langsrud & Lupp (2021), and what the paper says of many runs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tabprotect.engine.assessment.attribute_disclosure import Intruder, guess
from tabprotect.engine.assessment.comparing.compare import compare
from tabprotect.engine.assessment.comparing.comparison import Comparison
from tabprotect.engine.assessment.comparing.run_spec import Comparing, parse_spec
from tabprotect.engine.assessment.registered import measures
from tests.engine.assessment.party import (
    DOMAIN,
    FORMULA,
    KEY,
    PROBLEM,
    PUBLICATION,
    REFERENCE,
    case,
    inner,
    published,
)

COLUMNS = {"ckm": "table3_ckm", "scr": "table4_scr", "other": "scr_other_optimum_seed4"}


def figure(name: str, column: str) -> float:
    value = measures()[name].assess(case(published(COLUMNS[column]))).value
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("measure", "column", "table"),
    [
        ("hellinger_published", "ckm", "table3"),
        ("hellinger_published", "scr", "table4"),
        ("hellinger_published", "other", "table4_other"),
        ("hellinger_restored", "ckm", "table6"),
        ("hellinger_restored", "scr", "table4"),
    ],
)
def test_hellinger_utility(measure: str, column: str, table: str) -> None:
    expected = REFERENCE["hellinger"][table]["computed"]
    assert figure(measure, column) == pytest.approx(expected, abs=1e-10)


def test_true_and_restored_counts() -> None:
    looked_at = case(published("table3_ckm"))
    assert looked_at.truth.tolist() == published("table2_original").tolist()
    restored = published("table6_computed_LSfitNonNeg")
    assert looked_at.restored == pytest.approx(restored, abs=1e-9)


@pytest.mark.parametrize(
    ("column", "table"), [("ckm", "table7_computed_Mipf"), ("scr", "table8_computed_Mipf")]
)
def test_expected_inner_cells(column: str, table: str) -> None:
    found = case(published(COLUMNS[column])).expected
    assert found == pytest.approx(inner(table, "expected"), abs=1e-6)


@pytest.mark.parametrize(("intruder", "table"), [("guessing", "table9"), ("know_yourself", "table10")])
@pytest.mark.parametrize("column", ["original", "ckm", "scr"])
def test_disclosure_probabilities(intruder: Intruder, table: str, column: str) -> None:
    looked_at = case(published(COLUMNS.get(column, "table3_ckm")))
    cells = looked_at.inner if column == "original" else looked_at.expected
    groups = REFERENCE["probabilities"]["group"]
    place = [
        DOMAIN["age"].code(group.split()[0]) * 2 + DOMAIN["sex"].code(group.split()[1]) for group in groups
    ]
    found = guess(looked_at.by_key(cells), intruder).probability[place]
    exact = REFERENCE["probabilities"][f"{table}_computed"][column]
    assert found == pytest.approx(exact, abs=1e-6)
    assert found == pytest.approx(REFERENCE["probabilities"][f"{table}_paper"][column], abs=5.1e-5)


@pytest.mark.parametrize("column", ["ckm", "scr"])
@pytest.mark.parametrize(
    ("intruder", "table", "suffix"),
    [("guessing", "table9", ""), ("know_yourself", "table10", "_know_yourself")],
)
def test_risks(intruder: Intruder, table: str, suffix: str, column: str) -> None:
    looked_at = case(published(COLUMNS[column]))
    reference = REFERENCE["risk"][f"{table}_{column}"]
    assert looked_at.disclosures(intruder).counts == (reference["a"], reference["b"], reference["c"])
    assert figure(f"risk_fbeta{suffix}", column) == pytest.approx(reference["risk"], abs=1e-12)
    precision = measures()[f"risk_precision{suffix}"].assess(looked_at)
    recall = measures()[f"risk_recall{suffix}"].assess(looked_at)
    assert recall.value == pytest.approx(reference["c"] / reference["a"])
    if reference["b"]:
        assert precision.value == pytest.approx(reference["c"] / reference["b"])
    else:
        assert precision.value is None and "no key group" in precision.reason


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    specs = [*parse_spec("cell_key D=5 V=3 js=2"), *parse_spec("small_count_rounding base=3 choice=nearest")]
    wanted = ["hellinger_published", "hellinger_restored", "risk_fbeta", "risk_fbeta_know_yourself"]
    return compare(
        PROBLEM,
        specs,
        Comparing(
            seed=20211,
            measures=wanted,
            margins=FORMULA,
            key=KEY.variables,
            sensitive=KEY.sensitive,
            workers=1,
        ),
        runs_per_method=300,
    )


def test_rounding_has_the_two_outcomes_of_the_paper(comparison: Comparison) -> None:
    outcomes = Counter(
        tuple(
            round(float(run.values[name] or 0.0), 4)
            for name in ("hellinger_published", "risk_fbeta", "risk_fbeta_know_yourself")
        )
        for run in comparison.runs
        if run.configuration == 1
    )
    assert set(outcomes) == {(0.9457, 0.0, 0.7143), (0.946, 0.5556, 0.9091)}
    # Equally likely: 300 runs are within four standard errors of the half.
    assert abs(outcomes[0.9457, 0.0, 0.7143] - 150) < 35


def test_cell_keys_spread_as_in_the_paper(comparison: Comparison) -> None:
    found = comparison.summaries[0]
    for name, (low, high) in {
        "hellinger_published": (0.8866, 0.94),
        "hellinger_restored": (0.8902, 0.9663),
    }.items():
        spread = found[name]
        assert spread is not None
        assert (spread.low, spread.high) == pytest.approx((low, high), abs=0.012)
    # Shares of 4,000 runs by an independent program; 300 runs have a standard error of 0.03.
    for name, shares in {
        "risk_fbeta": {0.0: 0.508, 0.5556: 0.461, 1.0: 0.017},
        "risk_fbeta_know_yourself": {0.0: 0.376, 0.7143: 0.081, 0.9091: 0.497, 1.0: 0.042},
    }.items():
        values = np.array(comparison.figures(0, name), dtype=float)
        for value, share in shares.items():
            assert abs((np.abs(values - value) < 1e-4).mean() - share) < 0.1


def test_the_compared_cells_are_those_of_the_formula(comparison: Comparison) -> None:
    assert comparison.plan.compared.margins == PUBLICATION.margins
    assert all(c.parameters["margins"] == FORMULA for c in comparison.configurations)
