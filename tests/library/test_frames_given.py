"""Frames as notebooks have them, in and out."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import tabprotect as tp
from tabprotect.engine.errors import InputError

PEOPLE = pd.DataFrame({"region": ["n", "n", "s", "s", "s"], "sex": ["f", "m", "f", "m", "m"]})
CELLS = {("n", "f"): 1, ("n", "m"): 1, ("s", "f"): 1, ("s", "m"): 2}


def test_what_an_index_or_keys_classify() -> None:
    crosstab = pd.crosstab(PEOPLE["region"], PEOPLE["sex"])
    series = PEOPLE.groupby(["region", "sex"]).size()
    rows = {"region": ["n", "n", "s", "s"], "sex": ["f", "m", "f", "m"], "count": [1, 1, 1, 2]}
    for given in (crosstab, series, rows):
        table = tp.Table.from_frame(given)
        assert table.domain.names == ("region", "sex") and table.counts.tolist() == [[1, 1], [1, 2]]
    named = tp.Table.from_frame(CELLS, variables=["region", "sex"])
    assert named == tp.Table.from_frame(series)
    with pytest.raises(InputError, match="keys of a dict"):
        tp.Table.from_frame({("a", "b"): 1, "c": 2})


def test_frames_come_back_in_the_kind_asked_for() -> None:
    table = tp.Table.from_frame(CELLS)
    assert type(table.to_frame("polars")).__module__.startswith("polars")
    assert type(table.to_frame()).__module__.startswith("pandas")
    assert table.to_frame("dict")["count"] == [1, 1, 1, 2]
    with pytest.raises(InputError, match="no frames of the kind") as caught:
        table.to_frame("polar")
    assert "polars" in caught.value.hint


def test_a_notebook_shows_no_counts_of_a_table() -> None:
    table = tp.Table.from_frame({("a", "x"): 7919, ("a", "y"): 4, ("b", "x"): 7, ("b", "y"): 9})
    shown = table._repr_html_()
    assert "CONFIDENTIAL" in shown and "7919" not in shown
    done = tp.protect(table, "random_rounding", base=5, seed=1, accept_weak=True)
    assert "<table>" in done._repr_html_()
    import pyarrow as pa

    assert pa.table(table).column_names[-1] == "count"


def test_records_in_a_frame_are_counted_as_those_of_a_file(tmp_path: Path) -> None:
    """Levels, bands, code lists, record keys, design weights: the table and its noise are the same."""
    key = random.Random(1).random
    rows = [
        {"n1": n[0], "n2": n, "sex": s, "age": a, "key": round(key(), 9), "weight": 1 + a % 3 / 2}
        for n in ("a1", "a2", "b1")
        for s in "fm"
        for a in range(30)
    ]
    (tmp_path / "sex.csv").write_text("sex,any\nf,all\nm,all\n")
    people = pd.DataFrame(rows)
    people.to_csv(tmp_path / "people.csv", index=False)
    asked: dict[str, Any] = {
        "by": ["geo", "sex", "age"],
        "levels": {"geo": ["n1", "n2"]},
        "bands": {"age": [5, 15]},
        "code_lists": {"sex": tmp_path / "sex.csv"},
        "record_key": "key",
        "design_weight": "weight",
    }
    there = tp.tabulate(tmp_path / "people.csv", **asked)
    noise = tp.protect(there, "cell_key", D=3, V=2, accept="a trial").release
    columns = {name: people[name].tolist() for name in people}
    for frame in (people, pl.DataFrame(rows), pl.DataFrame(rows).to_arrow(), columns):
        here = tp.tabulate(frame, **asked)
        assert here == there
        assert here.history.project.record_keys == there.history.project.record_keys
        weights, others = here.history.project.weights, there.history.project.weights
        assert weights is not None and others is not None and weights.sums == others.sums
        assert tp.protect(here, "cell_key", D=3, V=2, accept="a trial").release.tables == noise.tables


def test_categories_of_records_in_a_frame() -> None:
    people = pd.DataFrame({"sex": pd.Categorical(["f", "m", "f"], ["m", "f", "x"]), "age": [7.0, None, 12.0]})
    table = tp.tabulate(people, by=["sex", "age"], bands={"age": 10})
    assert [v.categories for v in table.domain.variables] == [("m", "f", "x"), ("0-9", "10-19", "(missing)")]
    drawn = tp.tabulate(people, by=["sex"], draw_keys=True).history.project.record_keys
    assert drawn is not None and drawn.domain.names == ("sex",)
    assert tp.tabulate(people, by="sex").counts.tolist() == [1, 2, 0]


@pytest.mark.parametrize("keyword", ["weight", "record_key", "design_weight", "measure"])
def test_a_column_that_is_not_there_is_named_with_its_keyword(keyword: str) -> None:
    with pytest.raises(tp.InputError, match=f"^{keyword}: the records have no variable 'sx'") as caught:
        tp.tabulate(PEOPLE, by=["region"], **{keyword: "sx"})
    assert "sex" in caught.value.hint
