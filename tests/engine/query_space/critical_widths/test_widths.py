"""Critical widths: the report's numbers, brute force, pruning, workers."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from small_tables import exact_width, tables

from tabprotect.engine.errors import InputError, Interrupted, ParameterError
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.critical_widths.at_risk import AtRiskCells
from tabprotect.engine.query_space.critical_widths.widths import critical_widths, parsimonious_bounds
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.workers.spreading import parse_workers


def test_all_64_widths_of_the_czech_table(czech_evidence: Evidence, niss: dict[str, Any]) -> None:
    widths, lattice = czech_evidence.widths, czech_evidence.lattice
    letters = niss["table3_to_table2"]
    expected = {
        lattice.query(letters[c] for c in name): w for name, w in niss["widths_table3_letters"].items()
    }
    assert {q: widths[q] for q in range(64)} == expected
    printed = niss["published_table3"]
    assert len(printed) == 35
    for name, width in printed.items():
        assert widths[lattice.query(letters[c] for c in name)] == width


def test_order_and_chain(czech: Table, niss: dict[str, Any]) -> None:
    # The report's letters run the other way: so does this table's order of variables.
    counts = czech.counts.transpose()
    domain = Domain(tuple(reversed(czech.domain.variables)))
    evidence = Evidence.gather(Table.dense(domain, counts), SmallCount(1, 2))
    lattice, widths = evidence.lattice, evidence.widths
    letters = niss["table3_to_table2"]
    expected = [lattice.query(letters[c] for c in name) for name in niss["list_L"]]
    assert widths.ordered() == expected
    chain = widths.chain()
    assert [q.bit_count() for q in chain] == list(range(7))
    values = [widths[q] for q in chain]
    assert values == sorted(values, reverse=True)
    assert list(widths.as_json()["widths"].values()) == [  # type: ignore[attr-defined]
        niss["widths_table3_letters"][name] for name in niss["list_L"]
    ]


def test_thirteen_variables(kdd: Table, niss: dict[str, Any]) -> None:
    expected = niss["kdd13_b"]
    cells = AtRiskCells(kdd, SmallCount(1, 2))
    assert cells.size == expected["ones"] + expected["twos"]
    widths = critical_widths(cells)
    assert int(widths.values.sum()) == expected["sum_w"]
    for limit, number in expected["n_w_le"].items():
        assert int((widths.values <= int(limit)).sum()) == number
    size = np.bitwise_count(np.arange(1 << 13))
    for row in expected["by_dim"]:
        here = widths.values[size == row["dim"]]
        assert (here.min(), here.max(), (here > 3).sum()) == (row["min"], row["max"], row["n_gt_3"])
    lattice = widths.lattice
    for pair, width in expected["two_way"].items():
        assert widths[lattice.query(pair.split("|"))] == width


@settings(max_examples=60, deadline=None)
@given(tables())
def test_widths_are_exact_bounds_of_the_most_parsimonious_release(table: Table) -> None:
    cells = AtRiskCells(table, SmallCount(1, 2))
    widths = critical_widths(cells)
    singles = [1 << v for v in range(table.domain.ndim)]
    for query in range(1 << table.domain.ndim):
        assert widths[query] == exact_width(table, [query, *singles], 1, 2)
        assert widths[query] == np.subtract(*parsimonious_bounds(cells, query)).min()


@settings(max_examples=60, deadline=None)
@given(tables())
def test_sparse_zeros_and_pieces_change_nothing(table: Table) -> None:
    rule = SmallCount(0, 1)
    if not rule.mask(table.counts).any():
        return
    dense = critical_widths(AtRiskCells(table, rule))
    keys, counts = table.cells
    sparse = critical_widths(AtRiskCells(Table.sparse(table.domain, keys, counts), rule))
    assert np.array_equal(dense.values, sparse.values)
    for query in range(1 << table.domain.ndim):
        kept = [name for v, name in enumerate(table.domain.names) if query >> v & 1]
        margin = table.margin(kept).counts
        index = np.argwhere(rule.mask(table.counts))
        own = [int(margin[tuple(i[v] for v in range(table.domain.ndim) if query >> v & 1)]) for i in index]
        assert int(dense.smallest[query]) == min(own)


def test_processes_give_the_same(czech: Table) -> None:
    cells = AtRiskCells(czech, SmallCount(1, 2))
    alone, spread = critical_widths(cells), critical_widths(cells, workers=2)
    assert np.array_equal(alone.values, spread.values)
    assert np.array_equal(alone.smallest, spread.smallest)


def test_a_packaged_program_has_no_processes(czech: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(InputError, match="one process"):
        critical_widths(AtRiskCells(czech, SmallCount(1, 2)), workers=2)


def test_large_counts_are_summed_exactly() -> None:
    huge = 2**60
    table = Table.dense(Domain.of_shape((2, 2)), [[huge + 1, 1], [3, huge]])
    widths = critical_widths(AtRiskCells(table, SmallCount(1, 2)))
    assert int(widths.smallest[0b01]) == huge + 2
    assert int(widths.smallest[0b10]) == huge + 1


def test_cancelling_and_bad_input(czech: Table) -> None:
    watcher = Cancellable()
    watcher.cancel()
    with pytest.raises(Interrupted):
        critical_widths(AtRiskCells(czech, SmallCount(1, 2)), progress=watcher)
    with pytest.raises(InputError, match="no small counts"):
        AtRiskCells(Table.dense(Domain.of_shape((2, 2)), [[5, 6], [7, 8]]), SmallCount(1, 2))
    with pytest.raises(InputError, match="negative"):
        AtRiskCells(Table.dense(Domain.of_shape((2, 2)), [[1, -1], [7, 8]]), SmallCount(1, 2))
    wide = Table.sparse(Domain.of_shape((2,) * 21), [3, 5], [1, 9])
    cells = AtRiskCells(wide, SmallCount(1, 2))
    with pytest.raises(InputError, match="too many"):
        critical_widths(cells)
    for text in ("0", "-1", "many"):
        with pytest.raises(ParameterError, match="workers"):
            parse_workers(text)
    assert parse_workers("3") == 3 and parse_workers("tcp://a:1") == "tcp://a:1"


def test_queries_by_name() -> None:
    lattice = Lattice(("A", "B", "x,y"))
    assert lattice.parse("B, A") == 0b011 and lattice.text(0b011) == "A,B"
    assert lattice.parse("x,y") == 0b100 and lattice.parse("") == 0
    for text, message in (("A,A", "twice"), ("A,Z", "no variable 'Z'"), ("A,,B", "no variable ''")):
        with pytest.raises(InputError, match=message):
            lattice.parse(text)
    assert list(lattice.level(2)) == [0b011, 0b101, 0b110]
    assert set(lattice.below(0b011)) == {0b001, 0b010}
    assert set(lattice.above(0b001)) == {0b011, 0b101}


def test_the_texts_of_all_queries_are_those_of_each() -> None:
    lattice = Lattice(("a,b", 'c"d', "e"))
    assert lattice.texts == [lattice.text(query) for query in lattice.every.tolist()]
    assert lattice.texts[3] == '"a,b","c""d"'
