"""Frames as notebooks have them, in and out."""

from __future__ import annotations

import pandas as pd
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
