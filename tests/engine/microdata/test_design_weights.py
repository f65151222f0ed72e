"""Tabulating records with design weights."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.microdata.coding import AddedUp
from tabprotect.engine.microdata.tabulate import tabulate, tabulate_with_keys
from tabprotect.engine.tables.design_weights import SCALE

RECORDS = "sex,age,w,key\nf,1,2.5,0.1\nm,1,10,0.2\nf,1,0.0000014,0.3\nm,2,1e1,0.4\nf,2,7,0.5\n"


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_sums_and_range(tmp_path: Path) -> None:
    path = put(tmp_path / "r.csv", RECORDS)
    found = tabulate_with_keys(path, ["sex", "age"], also=AddedUp(design_weight="w", record_key="key"))
    assert found.table == tabulate(path, ["sex", "age"])
    assert found.weights is not None and found.record_keys is not None
    # The third weight is taken to six decimals.
    expected = [[2_500_001, 7_000_000], [10_000_000, 10_000_000]]
    assert found.weights.sums.counts.tolist() == expected
    assert (found.weights.low, found.weights.high) == (1, 10_000_000)
    assert found.record_keys.counts.tolist() == [[40_000_000, 50_000_000], [20_000_000, 40_000_000]]
    alone = tabulate_with_keys(path, ["age"], also=AddedUp(design_weight="w"))
    assert alone.record_keys is None and alone.weights is not None
    assert alone.weights.sums.counts.tolist() == [12_500_001, 17_000_000]
    assert tabulate_with_keys(path, ["age"]).weights is None


def test_a_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    sql = "SELECT * FROM (VALUES ('f', 2.25::DOUBLE), ('f', 5e-6), ('m', 1e8)) AS r(sex, w)"
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")
    weights = tabulate_with_keys(path, ["sex"], also=AddedUp(design_weight="w")).weights
    assert weights is not None
    assert weights.sums.counts.tolist() == [2_250_005, 10**14]
    assert (weights.low, weights.high) == (5, 10**14)


@settings(max_examples=8, deadline=None)
@given(records=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 10**10)), min_size=1))
def test_exact_margins(records: list[tuple[int, int, int]], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("w") / "r.csv"
    lines = [f"{a},{b},{w // SCALE}.{w % SCALE:06}" for a, b, w in records]
    path.write_text("a,b,w\n" + "\n".join(lines) + "\n")
    found = tabulate_with_keys(path, ["a", "b"], also=AddedUp(design_weight="w"))
    assert found.weights is not None
    domain = found.table.domain
    for index in range(domain.size):
        cell = domain.unflat(index)
        labels = tuple(map(int, domain.labels(cell)))
        mine = [Fraction(w, SCALE) for a, b, w in records if (a, b) == labels]
        assert found.weights.sums[cell] == sum(mine) * SCALE
        assert found.table[cell] == len(mine)
    assert found.weights.low == min(w for *_, w in records)
    assert found.weights.high == max(w for *_, w in records)


@pytest.mark.parametrize(
    ("old", "new", "words", "line"),
    [
        ("m,1,10,", "m,1,-1,", "'-1' is no number from 0", 3),
        ("m,1,10,", "m,1,,", "'' is no number", 3),
        ("f,2,7,", "f,2,seven,", "'seven' is no number", 6),
        ("f,2,7,", "f,2,2000000000,", "'2000000000' is no number from 0 to 10", 6),
        ("f,2,7,", "f,2,nan,", "'nan' is no number", 6),
    ],
)
def test_weights_that_are_none(old: str, new: str, words: str, line: int, tmp_path: Path) -> None:
    path = put(tmp_path / "r.csv", RECORDS.replace(old, new))
    with pytest.raises(InputError, match=words) as wrong:
        tabulate_with_keys(path, ["sex"], also=AddedUp(design_weight="w"))
    assert wrong.value.line == line


def test_columns_that_do_not_go_together(tmp_path: Path) -> None:
    path = put(tmp_path / "r.csv", RECORDS)
    with pytest.raises(ParameterError, match=r"design_weight.*not beside sums of other weights"):
        tabulate_with_keys(path, ["sex"], also=AddedUp(weight="age", design_weight="w"))
    with pytest.raises(InputError, match="named twice"):
        tabulate_with_keys(path, ["sex", "w"], also=AddedUp(design_weight="w"))
    with pytest.raises(InputError, match="no variable 'none'"):
        tabulate_with_keys(path, ["sex"], also=AddedUp(design_weight="none"))


def test_weights_beyond_what_can_be_added(tmp_path: Path) -> None:
    path = put(tmp_path / "r.csv", "a,w\n" + "x,1000000000\n" * 9_300)
    with pytest.raises(InputError, match="add up to more"):
        tabulate_with_keys(path, ["a"], also=AddedUp(design_weight="w"))
