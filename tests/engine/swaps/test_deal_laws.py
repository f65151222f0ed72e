"""The closed form of one deal: the reference, by other formulas, and where digits are lost."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.arrays import Floats
from tabprotect.engine.swaps import deal_laws

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "swapping.json").read_text())


def laid_out(law: deal_laws.Law, size: int) -> Floats:
    out = np.zeros(size)
    out[law[0] : law[0] + len(law[1])] = law[1]
    return out


def quarters(records: int, inside: int, having: int, count: int, rate: float) -> deal_laws.Quarters:
    sizes = count, inside - count, having - count, records - inside - having + count
    both, area, kind, others = (deal_laws.binomial(size, rate) for size in sizes)
    return both, area, kind, others


@pytest.mark.parametrize("case", REFERENCE["cells_deal"], ids=lambda c: f"{c['N']}-{c['m']}-{c['y']}")
def test_the_row_of_a_count_is_the_reference(case: dict[str, float]) -> None:
    given_ = tuple(int(case[name]) for name in ("N", "n", "m", "y"))
    found = laid_out(deal_laws.dealt_again(*given_, case["r"]), 500)
    expected = np.array(case["exchangeable"])
    assert found[: len(expected)] == pytest.approx(expected, abs=1e-12)
    mean = float(found @ np.arange(500))
    assert mean == pytest.approx(case["mean"], abs=1e-10)
    left = float(deal_laws.eigenvalues(int(case["N"]), case["r"], 2)[1])
    assert left == pytest.approx(case["lambda1"], abs=1e-12)
    # What is left of a departure from independence: the posterior mean, and users' estimate.
    middle = given_[1] * given_[2] / given_[0]
    assert mean == pytest.approx(middle + left * (given_[3] - middle), abs=1e-10)


def test_eigenvalues_are_the_reference() -> None:
    (case,) = REFERENCE["lambda_values"]
    found = deal_laws.eigenvalues(case["N"], case["r"], len(case["deal"]))
    assert found == pytest.approx(np.array(case["deal"]), abs=1e-12)


def test_rates_by_attribute_are_the_reference() -> None:
    case = REFERENCE["cell_by_attribute"]
    table, rates = np.array(case["published"]), np.array(case["rates"])
    for cell in case["cells"]:
        g, a = (np.arange(3) == cell[name] for name in ("area", "attribute"))
        laws = [
            deal_laws.drawn(table[np.ix_(places, kinds)].sum(axis=0), rates[kinds])
            for places, kinds in ((g, a), (g, ~a), (~g, a), (~g, ~a))
        ]
        law = deal_laws.by_quarters((laws[0], laws[1], laws[2], laws[3]), int(table[g, a][0]))
        assert law is not None
        expected = np.array(cell["law"])
        found = laid_out(law, 20)[cell["lo"] : cell["lo"] + len(expected)]
        assert found == pytest.approx(expected, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_both_ways_to_a_row_agree(data: st.DataObject) -> None:
    records = data.draw(st.integers(2, 60))
    inside, having = data.draw(st.integers(0, records)), data.draw(st.integers(0, records))
    low = max(0, inside + having - records)
    count = data.draw(st.integers(low, min(inside, having)))
    rate = data.draw(st.sampled_from([0.05, 0.2, 0.5, 0.95]))
    law = deal_laws.by_quarters(quarters(records, inside, having, count, rate), count)
    assert law is not None
    one = laid_out(law, records + 1)
    assert one.sum() == pytest.approx(1.0)
    if not deal_laws.loses_digits(records, inside, having, count):
        other = laid_out(deal_laws.dealt_again(records, inside, having, count, rate), records + 1)
        assert one == pytest.approx(other, abs=1e-11)


def test_far_from_independence_digits_are_lost_and_found() -> None:
    # Thirty of thirty with a rare trait live in one of fifty areas.
    asked = 1500, 40, 30, 30
    assert deal_laws.loses_digits(*asked)
    law = deal_laws.by_quarters(quarters(*asked, 0.1), 30)
    assert law is not None
    found = laid_out(law, 31)
    assert (found >= 0).all() and found.sum() == pytest.approx(1.0)
    middle, left = 40 * 30 / 1500, deal_laws.eigenvalues(1500, 0.1, 2)[1]
    assert float(found @ np.arange(31)) == pytest.approx(middle + left * (30 - middle), abs=1e-9)


def test_chances_divided_by_tiny_ones_keep_their_digits() -> None:
    # K(y -> x) / pi(x) = K(x -> y) / pi(y), the right side without a tiny divisor.
    records, inside, having, count, rate = 1250, 60, 25, 1, 0.2
    low, before = deal_laws.independent(records, inside, having)
    row = deal_laws.by_quarters(quarters(records, inside, having, count, rate), count, deal_laws.FAR_TAIL)
    assert row is not None and low == row[0] == 0
    for x in (0, 5, 12, 25):
        back = deal_laws.by_quarters(quarters(records, inside, having, x, rate), x, deal_laws.FAR_TAIL)
        assert back is not None
        assert row[1][x] / before[x] == pytest.approx(laid_out(back, 26)[count] / before[count], rel=1e-9)


def test_epsilon_is_the_reference() -> None:
    for name, (_, expected, _) in REFERENCE["epsilon"]["pure"].items():
        records, rate = name.split(",")
        assert deal_laws.epsilon(int(records), float(rate)) == pytest.approx(expected, abs=5e-5)
    assert deal_laws.epsilon(100, 0.0) == float("inf")
    assert deal_laws.epsilon(100, 1.0) == 0.0
