"""Words before publishing: what labels would do, and what their order gives away."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.protection.descriptions.run_summary import remarks_on_labels, remarks_on_table
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def table(**variables: list[str]) -> Table:
    domain = Domain.of(variables)
    return Table.dense(domain, np.ones(domain.shape, dtype=np.int64))


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (['=HYPERLINK("http://evil")', "b"], "would run"),
        (["+1", "b"], "would run"),
        (["@SUM(A1)", "b"], "would run"),
        (["\t=1+1", "b"], "would run"),
        (["a\u202eb", "b"], "turns the direction"),
        (["\u2066a", "b"], "turns the direction"),
        (["caf\u00e9", "cafe\u0301"], "look alike"),
        (["\uff21", "A"], "look alike"),
        (["-5 to 0", "0 to 5", "1+1", "a@b", "\u05d0\u05d1", "caf\u00e9"], ""),
    ],
)
def test_labels(labels: list[str], words: str) -> None:
    found = remarks_on_labels(table(place=labels).domain)
    assert [r.kind for r in found] == (["label"] if words else [])
    assert all(words in r.message for r in found)
    # Nothing that a terminal or a window would obey is in the message itself.
    assert all(r.message.isprintable() and r.message.isascii() for r in found)


def test_names_of_variables_count_as_well() -> None:
    assert "would run" in remarks_on_labels(table(**{"=x": ["a", "b"]}).domain)[0].message
    alike = remarks_on_labels(Domain.of({"\u212b": ["a"], "\u00c5": ["b"]}))
    assert "of the variables look alike" in alike[0].message


@pytest.mark.parametrize(
    ("labels", "counts", "ranked"),
    [
        (["Z", "A", "M", "B"], [90, 50, 20, 7], True),
        (["Z", "A", "M", "B"], [7, 20, 50, 90], True),
        (["Z", "A", "M", "B"], [7, 20, 20, 90], True),
        (["Z", "A", "M", "B"], [7, 90, 20, 50], False),
        (["A", "B", "M", "Z"], [90, 50, 20, 7], False),
        (["0-4", "5-9", "10-14"], [9, 5, 2], False),
        (["Z", "A"], [9, 5], False),
        (["Z", "A", "M"], [5, 5, 5], False),
    ],
)
def test_categories_in_the_order_of_their_counts(labels: list[str], counts: list[int], ranked: bool) -> None:
    domain = Domain.of({"job": labels})
    found = remarks_on_table(Table.dense(domain, np.array(counts)))
    assert [r.kind for r in found] == (["category_order"] if ranked else [])
