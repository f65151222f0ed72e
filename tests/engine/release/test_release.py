"""A release: no count stands where one is suppressed, no table twice, nothing of an original."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DOMAIN = Domain.of({"v": ["a", "b"], "w": ["x", "y"]})
TABLE = Table.dense(DOMAIN, np.array([[1, 2], [3, 4]]))
HIDDEN = np.array([[True, False], [False, False]])
MECHANISM = Mechanism("random_rounding", DOMAIN, {})


def test_a_suppressed_cell_holds_no_count() -> None:
    with pytest.raises(InputError, match="carries a count"):
        PublishedTable(TABLE, HIDDEN)
    published = PublishedTable.hiding(TABLE, HIDDEN)
    assert published.table.counts.tolist() == [[0, 2], [3, 4]]
    assert published.hidden.tolist() == HIDDEN.tolist()


def test_the_suppressed_cells_are_of_the_tables_shape() -> None:
    with pytest.raises(InputError, match="another table"):
        PublishedTable(TABLE, np.zeros(4, dtype=np.bool_))


def test_nothing_suppressed_is_said_in_one_way() -> None:
    plain = PublishedTable(TABLE, np.zeros((2, 2), dtype=np.bool_))
    assert plain.suppressed is None and plain == PublishedTable(TABLE)
    assert not plain.hidden.any() and plain.hidden.shape == (2, 2)


def test_a_hidden_zero_is_not_a_published_one() -> None:
    table = Table.dense(DOMAIN, np.array([[0, 2], [3, 4]]))
    assert PublishedTable(table, HIDDEN) != PublishedTable(table)


def test_the_mask_cannot_be_changed_from_outside() -> None:
    mask = HIDDEN.copy()
    published = PublishedTable.hiding(TABLE, mask)
    mask[:] = False
    assert published.hidden[0, 0]
    with pytest.raises(ValueError, match="read-only"):
        published.hidden[0, 0] = False


def test_a_release_has_each_table_once() -> None:
    with pytest.raises(InputError, match="at least one"):
        Release((), MECHANISM)
    with pytest.raises(InputError, match="two tables over the same"):
        Release((PublishedTable(TABLE), PublishedTable(TABLE)), MECHANISM)


def test_the_main_table_is_the_first_and_the_inner_one_is_of_the_original() -> None:
    margin = PublishedTable(TABLE.margin(["v"]))
    both = Release((margin, PublishedTable(TABLE)), MECHANISM)
    assert both.table == TABLE.margin(["v"]) and both.domain == DOMAIN
    assert both.inner == PublishedTable(TABLE)
    assert Release((margin,), MECHANISM).inner is None
    assert Release.of(TABLE, MECHANISM, "Health").title == "Health"
