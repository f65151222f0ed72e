"""Separators and line ends within fields: every reader of text splits as the one who wrote it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tabprotect
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table

INSIDE = ("", "\t", "\n", ",", ";", "|", '"', "\t\n", ",;")
MARKED = st.sampled_from(INSIDE)


def written(rows: list[list[object]], delimiter: str, end: str, *, all_quoted: bool) -> bytes:
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return text.getvalue().encode()


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    marks=st.lists(MARKED, min_size=6, max_size=6),
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    all_quoted=st.booleans(),
)
def test_names_and_categories_hold_any_separator(
    tmp_path: Path, marks: list[str], delimiter: str, end: str, all_quoted: bool
) -> None:
    a, b, *texts = [f"{name}{mark}z" for name, mark in zip("abuvxy", marks, strict=True)]
    rows, columns = texts[:2], texts[2:]
    path = tmp_path / "t.csv"
    listed: list[list[object]] = [[r, c, n] for n, (r, c) in enumerate((r, c) for r in rows for c in columns)]
    path.write_bytes(written([[a, b, "count"], *listed], delimiter, end, all_quoted=all_quoted))
    domain = read_table(path).table.domain
    assert domain.names == (a, b)
    assert [v.categories for v in domain.variables] == [tuple(rows), tuple(columns)]
    grid: list[list[object]] = [[a, *columns], [rows[0], 5, 6], [rows[1], 7, 8]]
    path.write_bytes(written(grid, delimiter, end, all_quoted=all_quoted))
    domain = read_table(path, Reading(form="grid", columns="k")).table.domain
    assert [v.categories for v in domain.variables] == [tuple(rows), tuple(columns)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("inside", ["\n", "\r\n", "\t"])
def test_records_under_a_name_of_two_lines(inside: str, end: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    people: list[list[object]] = [["x", f"u{inside}z"], ["x", "v"], ["y", "v"]]
    path.write_bytes(written([["a", f"b{inside}z"], *people], ",", end, all_quoted=False))
    table = tabprotect.tabulate(path, by=["a", f"b{inside}z"])
    assert table.counts.tolist() == [[1, 1], [0, 1]]
