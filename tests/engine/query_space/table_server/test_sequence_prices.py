"""What refusals tell one after the other, against an adversary who keeps every answer.

Each price is that of a server which was run as a house runs it; the adversary, from the definition, runs
the server for every table of the total.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from sequence_adversary import World, all_queries, apart, tables_of

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.registered import criteria, rules
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server import refusal_price
from tabprotect.engine.query_space.table_server.decision import LogLine, Request, ServerState, serve
from tabprotect.engine.query_space.table_server.session import restored, snapshot
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

THRESHOLD = 2

ORDERS = 30

WHOLE = 4
"""Every original of a total up to this one is tried, and of each larger total ``FEW``."""

FEW = 4


def begun(counts: np.ndarray, rule: str = "myopic") -> ServerState:
    table = Table.dense(Domain.of_shape((2, 2, 2), list("ABC")), counts.reshape(2, 2, 2))
    evidence = Evidence.gather(table, SmallCount(1, 2), asked=True)
    releases = ReleaseSet.begin(Standard(evidence, criteria()["width"], THRESHOLD))
    return ServerState.begin(releases, rules()[rule])


def lines_of(counts: np.ndarray, queries: list[int]) -> list[LogLine]:
    state, out = begun(counts), []
    for query in queries:
        state, _, line = serve(state, Request("ann", query))
        out.append(line)
    return out


def named(text: str) -> list[int]:
    return [sum(1 << "ABC".index(letter) for letter in word) for word in text.split()]


@pytest.mark.parametrize(
    ("counts", "queries", "bits", "move"),
    [
        ("0 0 5 0 1 0 1 2", "ABC BC C AC B", 2.115, 0.179),
        ("1 2 2 3 1 0 0 0", "AC ABC B BC C AB", 0.229, 0.002),
    ],
)
def test_a_refusal_counts_in_the_light_of_what_was_out_then(
    counts: str, queries: str, bits: float, move: float
) -> None:
    price = lines_of(np.array(counts.split(), dtype=np.int64), named(queries))[-1].price
    assert price is not None
    assert (price.bits, price.largest_move) == pytest.approx((bits, move), abs=5e-4)


def compared(world: World, counts: np.ndarray, queries: list[int]) -> int:
    """Compare every price of a sequence with the adversary's; how many there were."""
    told = world.told(counts.tolist(), queries)
    number = 0
    for line, expected in zip(lines_of(counts, queries), told, strict=True):
        assert (line.price is None) == (expected is None)
        if line.price is not None and expected is not None:
            assert (line.price.originals, line.price.left) == (expected.originals, expected.left)
            assert line.price.bits == pytest.approx(expected.bits, abs=1e-12)
            assert line.price.largest_move == pytest.approx(expected.move, abs=1e-12)
            number += 1
    return number


def sequences(tables: np.ndarray, rng: np.random.Generator) -> int:
    """Each original asked in one of the random orders; how many refusals were priced."""
    orders = [list(map(int, rng.permutation(all_queries(3)))) for _ in range(ORDERS)]
    world = World.of(int(tables[0].sum()), 3, THRESHOLD)
    priced = 0
    for number, table in enumerate(tables):
        try:
            begun(table)
        except TabprotectError:
            # A table without cells at risk, or of which nothing may be released, is not served.
            continue
        priced += compared(world, table, orders[number % ORDERS])
    return priced


def test_prices_of_sequences_are_those_of_the_adversary() -> None:
    """All originals of a small total, some of the larger ones; the adversary lists all of a total.

    Those that differ by the order of categories alone are one. ``TABPROTECT_SEQUENCES`` takes all of
    the larger ones too, which is a minute.
    """
    rng = np.random.default_rng(23)
    every = bool(os.environ.get("TABPROTECT_SEQUENCES"))
    priced = 0
    for total in range(3, 9):
        tables = apart(tables_of(total, 8))
        few = every or total <= WHOLE
        priced += sequences(tables if few else rng.permutation(tables)[:FEW], rng)
    assert priced > 10 * ORDERS


def test_the_comparison_sees_a_refusal_judged_by_what_is_out_now(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = refusal_price._kept

    def now(judge, tables, out, history):  # type: ignore[no-untyped-def]
        changed = [refusal_price.Decision(one.query, out, one.allowed) for one in history]
        return kept(judge, tables, out, changed)

    monkeypatch.setattr(refusal_price, "_kept", now)
    monkeypatch.setattr(refusal_price, "_FOLLOWED", {})
    counts = np.array([0, 0, 5, 0, 1, 0, 1, 2])
    with pytest.raises(AssertionError):
        compared(World.of(9, 3, THRESHOLD), counts, named("ABC BC C AC B A"))


def test_decisions_outlive_a_snapshot() -> None:
    counts, queries = np.array([0, 0, 5, 0, 1, 0, 1, 2]), named("ABC BC C AC")
    state = begun(counts)
    for query in queries:
        state, _, _ = serve(state, Request("ann", query))
    assert len(state.decisions) == 2 and not any(one.allowed for one in state.decisions)
    again = restored(begun(counts), snapshot(state))
    assert again.decisions == state.decisions
    line = serve(again, Request("ann", 0b010))[2]
    assert line.price is not None and line.price.bits == pytest.approx(2.115, abs=5e-4)


def test_what_a_rule_puts_off_was_allowed() -> None:
    counts = np.array([0, 0, 5, 0, 1, 0, 1, 2])
    table = Table.dense(Domain.of_shape((2, 2, 2), list("ABC")), counts.reshape(2, 2, 2))
    evidence = Evidence.gather(table, SmallCount(1, 2), asked=True)
    releases = ReleaseSet.begin(Standard(evidence, criteria()["width"], THRESHOLD))
    state = ServerState.begin(releases, rules()["by_demand"], {"requests": 2})
    # Whoever asks for BC asks for C as well.
    for query in named("BC C AC A"):
        state, _, _ = serve(state, Request("ann", query))
    assert [(one.query, one.allowed) for one in state.decisions] == [(0b110, False), (0b101, True)]
