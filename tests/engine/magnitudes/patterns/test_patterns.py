"""Hidden sums: the cheapest patterns, no reader with a contribution of his own sees through."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from contributors_attack import broken, grid
from hypothesis import given, settings
from hypothesis import strategies as st
from magnitude_cases import drawn, table_of

from tabprotect.engine.errors import Interrupted
from tabprotect.engine.magnitudes.patterns import pattern as patterns
from tabprotect.engine.magnitudes.patterns.pattern import Pattern, SuppressionRequest, suppress
from tabprotect.engine.magnitudes.patterns.unions import SOUND, faults
from tabprotect.engine.magnitudes.readers import reader_programme
from tabprotect.engine.magnitudes.readers.attack_problem import AttackProblem
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.sensitivity.magnitude_rules import rules_of

CASES = json.loads((Path(__file__).parents[3] / "reference" / "magnitudes.json").read_text())["cases"]
P10 = SuppressionRequest(rules=rules_of(["p=10"]))


def hidden_cells(table: MagnitudeTable, found: Pattern) -> set[tuple[int, int]]:
    """Totals after all categories, as the oracle has them."""
    return {
        (int(table.cells.nodes[0, n]), int(table.cells.nodes[1, n])) for n in np.flatnonzero(found.hidden)
    }


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["id"].startswith("pattern/")], ids=lambda case: case["id"]
)
def test_the_cheapest_pattern_is_that_of_brute_force(case, monkeypatch) -> None:
    monkeypatch.setattr(patterns, "costs", lambda table, cost: 1 + table.cells.holdings)
    rows = {(i, j, h): v for i, j, h, v in case["input"]["rows"]}
    table = table_of(rows, (3, 3))
    found = suppress(table, P10)
    assert (1 + table.cells.holdings)[found.secondary].sum() == case["expected"]["cost_of_secondaries"]
    assert not found.broken
    assert not broken(grid(rows, (3, 3)), (3, 3), hidden_cells(table, found), 0.1)


def test_the_attack_finds_what_other_patterns_leave_open() -> None:
    case = next(c for c in CASES if c["id"] == "pattern/3x3/2005")
    rows = {(i, j, h): v for i, j, h, v in case["input"]["rows"]}
    naive = {divmod(cell, 4) for cell in case["expected"]["naive_pattern"]}
    found = broken(grid(rows, (3, 3)), (3, 3), naive, 0.1)
    assert {tuple(4 * i + j for i, j in group) for group, _, _ in found} == {(6,), (6, 10)}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_contributor_sees_through_a_pattern(seed: int) -> None:
    rows = drawn(seed)
    table = table_of(rows, (4, 4))
    found = suppress(table, P10)
    assert not found.broken
    assert not broken(grid(rows, (4, 4)), (4, 4), hidden_cells(table, found), 0.1)


@st.composite
def contributions(draw: st.DrawFn) -> dict[tuple[int, int, str], int]:
    """A 2 x 3 table in which groups may stand in several cells, and some cells have one contributor."""
    rows: dict[tuple[int, int, str], int] = {}
    for i in range(2):
        for j in range(3):
            for k in range(draw(st.integers(1, 4))):
                name = draw(st.sampled_from(["g0", "g1", "g2", f"u{i}{j}{k}"]))
                rows[i, j, name] = rows.get((i, j, name), 0) + draw(st.integers(1, 500))
    return rows


@settings(max_examples=12, derandomize=True, deadline=None)
@given(contributions())
def test_the_attack_by_definition_finds_nothing(rows: dict[tuple[int, int, str], int]) -> None:
    table = table_of(rows, (2, 3))
    found = suppress(table, P10)
    if not found.broken:
        assert not broken(grid(rows, (2, 3)), (2, 3), hidden_cells(table, found), 0.1)


def test_what_is_near_by_is_enough(monkeypatch) -> None:
    """Large tables are read and repaired near by first: the pattern stands against the same attack."""
    monkeypatch.setattr(reader_programme, "WHOLE_AT_ONCE", 0)
    monkeypatch.setattr(patterns, "REPAIRED_WHOLE", 0)
    monkeypatch.setattr(patterns, "MOST_CELLS", 0)
    rows = drawn(2)
    table = table_of(rows, (4, 4))
    found = suppress(table, P10)
    assert not found.broken
    assert not broken(grid(rows, (4, 4)), (4, 4), hidden_cells(table, found), 0.1)


def test_coalitions_are_readers() -> None:
    # In each cell of a square two know together what the third has; a third hidden row would hide it.
    rows = {(i, j, f"u{i}{j}{k}"): 100 for i in range(3) for j in range(3) for k in range(3)}
    table = table_of(rows, (3, 3))
    alone = suppress(table, P10)
    assert not alone.hidden.any()
    pairs = suppress(table, SuppressionRequest(rules=rules_of(["p=10,coalition=2"])))
    assert pairs.primary.sum() == 9 and not pairs.broken and not pairs.everybody
    assert pairs.tally.readers > 2 * 9


def test_a_union_that_is_forgotten_is_found(monkeypatch) -> None:
    # Two holdings alone in their cells of a row: each computes the other's from the row's total.
    rows = {(i, j, f"u{i}{j}{k}"): 100 for i in range(3) for j in range(3) for k in range(3)}
    for j in (0, 1):
        for k in (1, 2):
            del rows[0, j, f"u0{j}{k}"]
    for k in (1, 2):
        del rows[1, 0, f"u10{k}"], rows[1, 1, f"u11{k}"]
    monkeypatch.setattr(patterns, "mend_unions", lambda *_: [])
    monkeypatch.setattr(patterns._Work, "mend", lambda *_: None)
    monkeypatch.setattr(patterns, "MOST_CELLS", 0)
    table = table_of(rows, (3, 3))
    found = suppress(table, P10)
    assert broken(grid(rows, (3, 3)), (3, 3), hidden_cells(table, found), 0.1)
    assert found.broken


def test_what_was_published_last_year_stays_unless_unsafe() -> None:
    rows = drawn(5)
    table = table_of(rows, (4, 4))
    first = suppress(table, P10)
    again = suppress(table, SuppressionRequest(rules=P10.rules, frozen=~first.hidden))
    assert np.array_equal(first.hidden, again.hidden)


def test_a_table_that_cannot_be_protected_says_so() -> None:
    rows = drawn(5)
    table = table_of(rows, (4, 4))
    frozen = np.ones(len(table.cells), dtype=bool)
    assert suppress(table, SuppressionRequest(rules=P10.rules, frozen=frozen)).broken


class BrokenOff:
    """Progress that is broken off while the audit is under way."""

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        if fraction > 0 and stage == "trying contributors as readers":
            raise Interrupted


def test_an_audit_that_is_broken_off_keeps_what_is_done() -> None:
    rows = drawn(1, (10, 12))
    table = table_of(rows, (10, 12))
    found = suppress(table, P10, BrokenOff())
    assert 0 < found.tally.audited < found.tally.unsafe and not found.everybody
    puzzle = AttackProblem(table, P10.rules)
    # What is hidden so far stands, and nothing was forgotten of its unions.
    assert np.all(found.hidden[found.primary]) and np.all(faults(puzzle, found.hidden) == SOUND)
