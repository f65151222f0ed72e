"""Letters of sums: the law, that a plan sees nothing else, and what readers believe who are told letters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from magnitude_cases import drawn, hidden_square, suppressed, table_of

from tabprotect.engine.errors import BundleError, InputError, ParameterError
from tabprotect.engine.magnitudes.patterns import letters
from tabprotect.engine.magnitudes.patterns.letters import planned, suppress_by_letters
from tabprotect.engine.magnitudes.patterns.pattern import SuppressionRequest, suppress
from tabprotect.engine.magnitudes.readers import size_letters
from tabprotect.engine.magnitudes.readers.beliefs import ContributorView, hidden_beliefs
from tabprotect.engine.magnitudes.readers.size_letters import (
    NO_LETTER,
    as_text,
    classes,
    drawn_classes,
    finest,
    from_text,
    log_chances,
)
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.sensitivity.magnitude_rules import rules_of

RULES = rules_of(["p=10"])
P10 = SuppressionRequest(rules=RULES)
KEY = b"a key of the house"


@pytest.mark.parametrize("size", [1, 7, 250])
def test_letters_are_drawn_by_the_law_that_is_stated(size: int) -> None:
    """All numbers of a fine grid: the shares are the chances, and nothing is excluded."""
    numbers = (np.arange(200_000) + 0.5) / 200_000
    found = drawn_classes(np.full(len(numbers), size), numbers)
    every = np.arange(classes(np.array([size]))[0] - 40, classes(np.array([size]))[0] + 41)
    law = np.exp([log_chances(np.array([one]), np.array([float(size)]))[0] for one in every])
    assert law.sum() == pytest.approx(1, abs=1e-12) and (law > 0).all()
    shares = np.array([(found == one).mean() for one in every])
    assert np.abs(shares - law).max() < 2e-5


def inner_cells(table: MagnitudeTable) -> np.ndarray:
    shape = tuple(len(v.nodes) for v in table.variables)
    return finest(shape, tuple(len(v.categories) for v in table.variables), table.cells.key)


def changed(table: MagnitudeTable, cell: int, factor: int) -> MagnitudeTable:
    """The same contributors, with other contributions to one finest sum."""
    at = np.searchsorted(table.cells.key, next(table.row_keys(table.rows.codes))) == cell
    own = np.where(at, table.rows.own * factor, table.rows.own)
    rows = replace(table.rows, own=own, weighted=own, shadow=own, cost=own)
    return replace(table, rows=rows)


@settings(max_examples=10, derandomize=True, deadline=None)
@given(st.integers(0, 99), st.integers(2, 9))
def test_a_letter_looks_at_its_own_sum_alone(seed: int, factor: int) -> None:
    table = table_of(drawn(seed, (3, 3)), (3, 3))
    cell = int(np.flatnonzero(inner_cells(table))[seed % 9])
    numbers = letters._numbers(table, KEY, 1)
    before, plan = planned(table, numbers, 1.0)
    other, planned_other = planned(changed(table, cell, factor), numbers, 1.0)
    differs = before != other
    assert not differs[np.arange(len(differs)) != cell].any()
    moved = plan.rows.own != planned_other.rows.own
    at = np.searchsorted(table.cells.key, next(table.row_keys(table.rows.codes)))
    assert set(at[moved].tolist()) <= {cell}


def test_a_letter_that_looks_at_a_neighbour_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: sizes are compared with the largest of the table."""
    plain = letters.drawn_classes
    monkeypatch.setattr(letters, "drawn_classes", lambda v, u: plain(v, u) + (v == v.max()))
    with pytest.raises(AssertionError):
        test_a_letter_looks_at_its_own_sum_alone()


def same_plan(table: MagnitudeTable, number: int) -> MagnitudeTable:
    """Another original for which the same letters are drawn."""
    numbers = letters._numbers(table, KEY, 1)
    own, unsafe = table.rows.own, suppressed_letters(table)
    _, plan = planned(table, numbers, 1.0)
    generator = np.random.default_rng(number)
    for _ in range(500):
        at = generator.random(len(own)) < 0.2
        tried = np.maximum(1, own + np.where(at, generator.integers(-3, 4, len(own)), 0))
        rows = replace(table.rows, own=tried, weighted=tried, shadow=tried, cost=tried)
        other = replace(table, rows=rows)
        _, again = planned(other, numbers, 1.0)
        same = np.array_equal(again.rows.own, plan.rows.own)
        if same and np.array_equal(suppressed_letters(other), unsafe) and (tried != own).any():
            return other
    raise LookupError


def suppressed_letters(table: MagnitudeTable) -> np.ndarray:
    numbers = letters._numbers(table, KEY, 1)
    unsafe = letters.sensitive_cells(table, RULES).unsafe
    return letters._counted_unsafe(table, RULES, unsafe, numbers[:, 3])


@pytest.mark.parametrize("seed", [1, 4])
def test_the_same_letters_hide_the_same_sums(seed: int) -> None:
    table = table_of(drawn(seed, (3, 3)), (3, 3))
    other = same_plan(table, seed)
    found, again = (suppress_by_letters(one, P10, KEY, 1) for one in (table, other))
    assert np.array_equal(found.hidden, again.hidden)
    assert np.array_equal(found.letters, again.letters)
    assert found.hidden[suppressed_letters(table)].all() and found.primary.sum() > 0


def test_vintages_draw_the_same_letters_of_what_is_the_same() -> None:
    table = table_of(drawn(5), (4, 4))
    cell = int(np.flatnonzero(inner_cells(table))[3])
    this, last = (suppress_by_letters(one, P10, KEY, 1).letters for one in (table, changed(table, cell, 3)))
    assert this is not None and last is not None
    assert (this[np.arange(len(this)) != cell] == last[np.arange(len(last)) != cell]).all()


def test_beliefs_are_weighed_by_letters() -> None:
    """One degree of freedom: the first of the square lies in [3, 6], with its letter's law upon it."""
    published = hidden_square()
    told = np.full(16, NO_LETTER, dtype=np.int64)
    told[[0, 1, 4, 5]] = classes(np.array([4, 3, 2, 1]))
    chance = np.random.default_rng(0)
    found = {one.cell: one.belief for one in hidden_beliefs(published, ContributorView(), 0.1, chance, told)}
    first = np.linspace(3, 6, 30_001)
    # What the square leaves open: rows of 7 and 3, columns of 6 and 4.
    square = np.stack([first, 7 - first, 6 - first, first - 3], axis=1)
    weight = np.exp(log_chances(told[[0, 1, 4, 5]], square).sum(axis=1))
    ends = np.searchsorted(first, first * 1.1 / 0.9, side="right")
    summed = np.append(0, np.cumsum(weight))
    best = (summed[ends] - summed[:-1]).max() / summed[-1]
    assert found[0] == pytest.approx(best, abs=2e-3)
    plain = {one.cell: one.belief for one in hidden_beliefs(published, ContributorView(), 0.1, chance)}
    assert plain[0] == pytest.approx((6 - 54 / 11) / 3, abs=2e-3) and found[0] != pytest.approx(plain[0])


def test_usual_tables_leave_nothing_unjudged_and_others_say_so() -> None:
    table = table_of(drawn(0), (4, 4))
    done = suppressed(table, RULES)
    assert done.verdict.left_out == () and done.verdict.passed
    assert done.release.mechanism.parameters["choice"] == "letters"
    assert done.verdict.audit.broken == done.verdict.audit.narrow == 0
    cheapest = suppressed(table, RULES, choice="cheapest")
    assert cheapest.verdict.left_out == ("pattern_choice",)
    assert np.array_equal(cheapest.release.magnitude_table.hidden, suppress(table, P10).hidden)
    assert "letters" not in cheapest.release.mechanism.parameters


def test_what_tells_too_much_by_letters_is_the_cheapest_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(drawn(0), (4, 4))
    tried = []

    def broken(table: MagnitudeTable, wanted: SuppressionRequest, key: bytes, draw: int, progress: object):
        tried.append(draw)
        found = suppress_by_letters(table, wanted, key, draw)
        return replace(found, broken=(letters_target(),))

    monkeypatch.setattr(letters, "suppress_by_letters", broken)
    done = suppressed(table, RULES)
    assert tried == [1, 2, 3] and done.release.mechanism.parameters["choice"] == "cheapest"
    assert done.verdict.left_out == ("pattern_choice",)
    tried.clear()
    asked = suppressed(table, RULES, choice="letters")
    assert tried == [1, 2, 3] and asked.verdict.audit.broken == 1


def letters_target():
    from tabprotect.engine.magnitudes.readers.attack_problem import AttackTarget

    return AttackTarget(0, (), 1)


def test_letters_are_refused_by_name_where_there_are_none() -> None:
    table = table_of(drawn(0), (4, 4))
    weighted = replace(table, weighted=True)
    with pytest.raises(ParameterError, match="choice"):
        suppressed(weighted, RULES, choice="letters")
    with pytest.raises(ParameterError, match="choice"):
        suppressed(table, RULES, choice="letters", zeros="5")
    assert suppressed(weighted, RULES).release.mechanism.parameters["choice"] == "cheapest"


def test_published_letters_are_read_as_they_are_written() -> None:
    assert from_text(as_text(np.array([3, -1, 12])), 3).tolist() == [3, -1, 12]
    for text, number in (("3 4", 3), ("3 x", 2), (None, 1), ("1e3", 1)):
        with pytest.raises(InputError, match="letter"):
            from_text(text, number)
    assert size_letters.classes(np.array([0, 1])).tolist() == [0, 0]


def test_a_bundle_states_a_letter_for_each_hidden_finest_sum() -> None:
    from tabprotect.engine.bundle import public
    from tabprotect.engine.bundle.verify import verify_bytes
    from tests.engine.bundle.test_verify import edited, resealed

    release = suppressed(table_of(drawn(0), (4, 4)), RULES).release
    files = public.files(release, page=False)
    assert verify_bytes(resealed(files)).release.mechanism.parameters["choice"] == "letters"
    bad = resealed(edited(files, "mechanism.json", lambda data: data.update(letters=data["letters"] + " 3")))
    with pytest.raises(BundleError, match="letter"):
        verify_bytes(bad)
