"""Counts beside magnitudes of the same records that left before: against a list of all originals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import numpy as np
import pytest
from magnitude_cases import table_of
from small_tables import every_table

from tabprotect.engine.agency import key
from tabprotect.engine.arrays import Bools
from tabprotect.engine.belief import counts_among as views
from tabprotect.engine.belief.counts_among import counts_among
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.public import files, to_bytes
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.protection.problem import MagnitudeProblem, Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.left_before import LeftBefore, left_before
from tabprotect.engine.register.people.counts_and_magnitudes import other_measures
from tabprotect.engine.register.people.reading_together import LookedUp
from tabprotect.engine.register.register_entry import (
    Earlier,
    LeavingPublication,
    RegisterEntry,
    marks_of,
    marks_of_magnitudes,
)
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.table import Table

LIMITS = AgencyPolicy().limits()


def magnitudes(seed: int, shape: tuple[int, int] = (2, 3)) -> MagnitudeTable:
    """A random table with one to five records in a cell."""
    generator = np.random.default_rng(seed)
    cells = product(*map(range, shape))
    return table_of(
        {(i, j, f"u{i}{j}{k}"): 5 for i, j in cells for k in range(int(generator.integers(1, 6)))}, shape
    )


def numbered(table: MagnitudeTable, columns: tuple[int, ...], *, n: bool = True) -> Release:
    """The table without the inner cells of two columns, with how many records the others are of."""
    cells = table.cells
    hidden = (cells.nodes[0] < 2) & np.isin(cells.nodes[1], columns)
    problem = MagnitudeProblem(table=table, publish=("n",) if n else ())
    published = problem.published(cells.value, hidden)
    if published.units is not None:
        published = replace(published, units=published.units * ~hidden)
    return Release.of_magnitudes(published, "suppression")


def counted(table: MagnitudeTable, columns: tuple[int, ...]) -> Release:
    """The counts without the inner cells of two columns."""
    found = counts_among(numbered(table, columns))
    assert found is not None
    return found.release


def beside(table: MagnitudeTable, at_hand: Release, *before: Release) -> tuple[LeftBefore, bool]:
    """What a release and earlier ones of these records tell together, and whether something is left out."""
    counts = marks_of(table.units, key())
    problem = (
        Problem.of_magnitudes(MagnitudeProblem(table=table)) if at_hand.magnitudes else Problem(table.units)
    )
    earlier: list[Earlier] = []
    kept: dict[int, Mapping[str, bytes]] = {}
    for number, release in enumerate(before, 1):
        marks = marks_of_magnitudes(table, key()) if release.magnitudes else counts
        data = to_bytes(release, page=False)
        left = LeavingPublication(marks, sha256(data), "suppression", "", {}, (), "we")
        entry = RegisterEntry(number, datetime.now(UTC), left)
        alike = bool(release.magnitudes) == bool(at_hand.magnitudes)
        earlier.append(Earlier(entry, "original" if alike else "records"))
        kept[number] = files(release, page=False)
    found = LookedUp("", tuple(earlier), _kept=kept)
    asked = left_before(problem, release=at_hand, policy=LIMITS, looked_up=found)
    return asked, other_measures(problem, at_hand, found).unweighed or asked.unjudged


def originals(units: Table, *hidden: Bools) -> np.ndarray:
    """All tables (originals, rows, columns) that agree with what each of these patterns shows."""
    true = units.counts
    every = every_table(true.size, int(true.sum())).reshape(-1, *true.shape)
    fits = (every > 0).all(axis=(1, 2))
    fits &= (every.sum(axis=1) == true.sum(axis=0)).all(axis=1)
    fits &= (every.sum(axis=2) == true.sum(axis=1)).all(axis=1)
    for one in hidden:
        fits &= (every[:, ~one] == true[~one]).all(axis=1)
    return every[fits]


def pattern(columns: tuple[int, ...]) -> Bools:
    found = np.zeros((2, 3), dtype=bool)
    found[:, columns] = True
    return found


@pytest.mark.parametrize("of_counts", [True, False])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("columns", [(0, 1), (1, 2), (0, 1, 2)])
def test_counts_and_numbers_are_read_as_two_measures_of_one_release(
    seed: int, columns: tuple[int, ...], of_counts: bool
) -> None:
    table = magnitudes(seed)
    sums, counts = numbered(table, (0, 1)), counted(table, columns)
    at_hand, before = (counts, sums) if of_counts else (sums, counts)
    found, left_out = beside(table, at_hand, before)
    every = originals(table.units, pattern((0, 1)), pattern(columns))
    small = np.stack([(every == value).mean(axis=0) for value in (1, 2)])
    if columns == (0, 1):
        # The same cells are hidden: it is one draw, which is read once.
        assert found.together is None and not found.unread and not left_out
        return
    assert found.together is not None and [one.entry.number for one in found.read] == [1]
    (inner,) = (one for one in found.together.tables if one.inner)
    assert inner.at_risk == pytest.approx(float(small.sum()))
    assert inner.known == int((small.max(axis=0) > LIMITS.belief_limit).sum())
    # One column hidden by both: nothing is left to guess.
    assert (len(every) > 1) == (columns == (0, 1, 2))
    assert not left_out and found.refuses(AgencyPolicy(), "") == (inner.known > 0)


def test_sums_without_numbers_leave_the_verdict_on_counts() -> None:
    table = magnitudes(1)
    bare, counts = numbered(table, (0, 1), n=False), counted(table, (1, 2))
    for at_hand, before in ((counts, bare), (bare, counts)):
        found, left_out = beside(table, at_hand, before)
        assert found.together is None and not found.unread and not left_out


def test_what_cannot_be_laid_out_is_not_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = magnitudes(1)
    sums, counts = numbered(table, (0, 1)), counted(table, (1, 2))

    def refused(*given: object) -> None:
        raise InfeasibleError("so many cells")

    monkeypatch.setattr(views, "_laid_out", refused)
    for at_hand, before in ((counts, sums), (sums, counts)):
        found, left_out = beside(table, at_hand, before)
        assert found.unread_numbers == (1,) and found.together is None and left_out


def test_counts_of_fewer_variables_are_read_with_the_numbers() -> None:
    """Counts by one variable, and numbers by two: what is judged is the finer table."""
    table = magnitudes(2)
    sums, margin = numbered(table, (0, 1)), table.units.margin(["r"])
    coarse = methods()["random_rounding"].run(Problem(margin), {"base": 3}, Randomness.seeded(1)).release
    left = LeavingPublication(marks_of_magnitudes(table, key()), "1" * 64, "suppression", "", {}, (), "we")
    earlier = (Earlier(RegisterEntry(1, datetime.now(UTC), left), "records"),)
    looked_up = LookedUp("", earlier, _kept={1: files(sums, page=False)})
    found = left_before(Problem(margin), release=coarse, policy=LIMITS, looked_up=looked_up)
    assert found.together is not None and not found.unjudged
    every = originals(table.units, pattern((0, 1)))
    small = np.stack([(every == value).mean(axis=0) for value in (1, 2)])
    (inner,) = (one for one in found.together.tables if one.inner)
    assert inner.at_risk == pytest.approx(float(small.sum()))


def test_three_releases_are_read_together() -> None:
    table = magnitudes(2)
    before = counted(table, (1, 2)), counted(table, (0, 2))
    found, left_out = beside(table, numbered(table, (0, 1)), *before)
    assert found.together is not None and not left_out
    assert found.together.known >= int(np.isin(table.units.counts, (1, 2)).sum()) > 0
