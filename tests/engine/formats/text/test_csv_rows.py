"""Rows as CSV: quoted where they must be, exact, and read again by the standard library."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from tabprotect.engine.formats.text.csv_rows import csv_rows


def test_fields_come_back_as_they_were() -> None:
    rows = [["a,b", 'say "so"', "two\nlines", ""], ["é", " blank ", "tab\t", "end"]]
    text = csv_rows(["one", "two", "three", "four"], rows)
    assert list(csv.reader(io.StringIO(text, newline=""))) == [["one", "two", "three", "four"], *rows]
    assert text.endswith("end\n") and "\r" not in text


def test_nothing_is_an_empty_field_and_numbers_are_exact() -> None:
    assert csv_rows(["n", "p", "q"], [[2**62, 0.1 + 0.2, None]]) == (f"n,p,q\n{2**62},{0.1 + 0.2!r},\n")


def test_rows_may_be_generated_and_parted_by_tabs() -> None:
    def rows() -> Iterator[list[object]]:
        yield ["a,b", 1]

    assert csv_rows(["x", "y"], rows(), delimiter="\t") == "x\ty\na,b\t1\n"
