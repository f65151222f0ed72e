"""What a refusal tells, against counting every table of the total by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import alike, tables

from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.possible_tables import possible_tables
from tabprotect.engine.query_space.registered import criteria, criteria_of
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.refusal_price import Decision, RefusalPrice, refusal_price
from tabprotect.engine.sensitivity.small_count import Judged, SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

RULE = SmallCount(1, 2)


def begun(
    table: Table, released: tuple[int, ...] = (), cells: Judged = "at_risk", beta: int = 2
) -> ReleaseSet:
    evidence = Evidence.gather(table, RULE, cells=cells)
    return ReleaseSet.begin(Standard(evidence, criteria()["width"], beta), released=released)


def refused_by_hand(table: Table, queries: list[int], cells: Judged, beta: int) -> bool:
    left = alike(table, queries)
    narrow = left.max(axis=0) - left.min(axis=0) < beta
    if cells == "at_risk":
        narrow &= RULE.mask(table.counts)
    return bool(narrow.any())


def by_hand(table: Table, out: list[int], query: int, refused: list[int], cells: Judged) -> RefusalPrice:
    """Every table with the released margins asked again, one by one."""
    shares, numbers = [], []
    for asked in (refused, [*refused, query]):
        kept = []
        for counts in alike(table, out):
            other = Table.dense(table.domain, counts)
            opens = cells == "all" or bool(RULE.mask(counts).any())
            if (
                opens
                and not refused_by_hand(other, out, cells, 2)
                and all(refused_by_hand(other, [*out, one], cells, 2) for one in asked)
            ):
                kept.append(RULE.mask(counts))
        numbers.append(len(kept))
        shares.append(np.mean(kept, axis=0))
    moved = np.where(RULE.mask(table.counts), np.abs(shares[1] - shares[0]), -1.0)
    at = np.unravel_index(int(moved.argmax()), moved.shape)
    return RefusalPrice(
        math.log2(numbers[0] / numbers[1]),
        float(shares[0][at]),
        float(shares[1][at]),
        table.domain.labels(tuple(map(int, at))),
        *numbers,
    )


def test_a_refusal_is_priced_as_counted_by_hand() -> None:
    table = Table.dense(Domain.of_shape((2, 2, 2)), np.array([[[2, 1], [1, 1]], [[0, 2], [2, 0]]]))
    state = begun(table, (0b011,))
    assert state.judgement.verdict == "safe" and not state.allows(0b110)
    found = refusal_price(state, 0b110)
    assert found is not None and found == by_hand(table, [0b011], 0b110, [], "at_risk")
    assert found.bits > 0 and found.left < found.originals
    again = refusal_price(state, 0b110, history=[Decision(0b111, (0b011,), False)])
    assert again == by_hand(table, [0b011], 0b110, [0b111], "at_risk")
    assert again is not None and again.bits > 0
    # Known refusals are known: what follows from them tells nothing.
    both = [Decision(query, (0b011,), False) for query in (0b110, 0b111)]
    once_more = refusal_price(state, 0b111, history=both)
    assert once_more is not None and once_more.bits == 0 and once_more.largest_move == 0


@settings(max_examples=8, deadline=None)
@given(
    tables().filter(lambda table: table.domain.size <= 8),
    st.integers(0, 15),
    st.integers(0, 15),
    st.sampled_from(["at_risk", "all"]),
)
def test_prices_of_random_tables(table, out, query, cells) -> None:
    full = (1 << table.domain.ndim) - 1
    out, query = out & full, query & full
    state = begun(table, (out,), cells)
    if state.judgement.verdict != "safe":
        return
    found = refusal_price(state, query)
    if state.allows(query):
        assert found is None
    else:
        assert found == by_hand(table, [0, out], query, [], cells)


@pytest.mark.parametrize("name", sorted(criteria_of("counts")))
@pytest.mark.parametrize("cells", ["at_risk", "all"])
def test_a_criterion_refuses_many_tables_as_it_refuses_one(name: str, cells: Judged) -> None:
    table = Table.dense(Domain.of_shape((2, 3)), np.array([[2, 0, 1], [1, 4, 1]]))
    listed = possible_tables(table, (0b01,))
    assert listed is not None and len(listed) == 10 * 28
    criterion = criteria()[name]
    evidence = Evidence.gather(table, RULE, cells=cells)
    for margins in ((0b01,), (0b01, 0b10), (0b11,)):
        many = criterion.refuses(evidence, listed, margins, 2)
        # The base class asks one by one.
        one_by_one = super(type(criterion), criterion).refuses(evidence, listed, margins, 2)
        opens = evidence.cells.rule.mask(listed).any(axis=1)
        assert np.array_equal(many[opens], one_by_one[opens])


@settings(max_examples=15, deadline=None)
@given(tables(), st.integers(0, 15), st.integers(1, 3))
def test_over_all_cells_a_decision_depends_on_the_margins_alone(table, query, beta) -> None:
    """Two tables with the same asked margins get the same answer: no count at risk matters."""
    query &= (1 << table.domain.ndim) - 1
    verdicts = set()
    for counts in alike(table, [query])[:6]:
        verdicts.add(begun(Table.dense(table.domain, counts), (query,), "all", beta).judgement)
    assert len(verdicts) == 1 or len({v.verdict for v in verdicts}) == 1


def test_without_a_list_there_is_no_price(czech: Table) -> None:
    state = begun(czech, (0b11,), beta=10)
    assert not state.allows(0b11111) and refusal_price(state, 0b11111) is None
