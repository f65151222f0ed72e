"""Which wholes and parts are judged: those that tell nothing are left out, by listing everybody."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect as tp
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.protection.people import People
from tabprotect.engine.register import register_rows
from tabprotect.engine.register.people import people_in_common
from tabprotect.engine.register.people.people_in_common import InCommonReading
from tabprotect.engine.register.people.possible_wholes import PossibleWholes
from tabprotect.engine.register.register import Register
from tabprotect.engine.register.register_entry import numbers_said
from tabprotect.engine.tables.table import Table
from tests.engine.register.test_parts_of_whole import by_listing, counted, listed, released
from tests.engine.register.test_register import publication

HIGH = 2


@given(
    st.lists(st.integers(0, 6), min_size=4, max_size=4).filter(lambda some: max(some) > 2),
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
    st.integers(0, 9),
    st.sampled_from(["random_rounding", "cyclic_perturbation"]),
)
@settings(max_examples=12, deadline=None)
def test_what_is_left_out_tells_nothing(part: list[int], rest: list[int], seed: int, method: str) -> None:
    """Neither table is believed otherwise than by itself, and nobody at risk is left over."""
    own = np.array(part).reshape(2, 2)
    whole = own + np.array(rest).reshape(2, 2)
    releases = [released(counts, method, seed + n) for n, counts in enumerate((whole, own))]
    of_whole, of_part = map(counted, releases)
    tables = [listed(one) for one in releases]
    for one, (every, weights) in zip((of_whole, of_part), tables, strict=True):
        low, high = one.cell_ends
        assert (every[weights > 0] >= low).all() and (every[weights > 0] <= high).all()
    if list(PossibleWholes(of_part, [(1, of_whole)], [], HIGH).groups()):
        return
    by_all = by_listing(releases[0], [releases[1]])
    assert not by_all[2, :, : HIGH + 1].any()
    for law, (every, weights) in zip(by_all, tables, strict=False):
        for cell in range(4):
            alone = np.bincount(every[:, cell], weights, law.shape[1]) / weights.sum()
            width = law.shape[1]
            assert law[cell] == pytest.approx(alone[:width], abs=1e-12)
            # Counts that are listed without any chance may be beyond.
            assert not alone[width:].any()


def test_sets_of_parts_are_tried_the_closest_first() -> None:
    counts = np.array([[9, 6], [7, 8]])
    own = counted(released(counts, "cyclic_perturbation"))
    parts = [(n, counted(released(counts // 4, "cyclic_perturbation", n))) for n in range(1, 5)]
    found = [numbers for _, numbers, _ in PossibleWholes(own, [], parts, HIGH).groups()]
    # Of one alone three and more are left over everywhere.
    assert len(found) == len(set(found)) == 6 + 4 + 1
    assert not list(
        PossibleWholes(own, [], [(9, counted(released(4 * counts, "random_rounding")))], HIGH).groups()
    )


def test_parts_that_are_no_parts_of_each_other_are_tried_together() -> None:
    """Four regions: beside one of them and all, the three others leave nobody."""
    regions = np.diag([9, 8, 7, 6])[:, None] + np.array([[[2], [0]]])
    releases = [
        (n, counted(released(region, "cyclic_perturbation", n))) for n, region in enumerate(regions, 1)
    ]
    whole = 9, counted(released(regions.sum(axis=0), "cyclic_perturbation"))
    found = [
        numbers for _, numbers, _ in PossibleWholes(releases[0][1], [whole], [], HIGH, releases[1:]).groups()
    ]
    assert (2, 3, 4, 9) in found and len(found) == len(set(found))


def test_that_men_and_women_are_all_follows_from_their_titles() -> None:
    """Neither is a part of the other, and no total is stated: only who knows that nobody is left over subtracts."""
    men, women = np.array([[[2, 3, 1], [3, 1, 0], [0, 0, 9]], [[1, 1, 1], [2, 1, 0], [0, 0, 12]]])
    left = [
        Evidence(released(counts, "small_count_rounding", seed))
        for seed, counts in enumerate((men + women, men, women), 1)
    ]
    table = Table.dense(left[2].release.domain, women)
    reading = InCommonReading(table, left[2], People(), AgencyPolicy().limits())
    found = reading.of([(1, left[0]), (2, left[1])])
    assert found.asked == (1, 2) and sum(one.certain for one in found.tables if one.inner) == 1
    assert not reading.of([(1, left[0])]).asked
    # The men are others, and may be in the same whole.
    for said, asked in (("other:2", (1,)), ("other:1,2", ())):
        answered = replace(reading, people=People.parse(said))
        assert answered.of([(1, left[0]), (2, left[1])]).asked == asked


def test_of_many_tables_of_the_same_variables_the_latest_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(register_rows, "MOST_ALIKE", 2)
    one = publication()
    other = replace(one.marks, original="c" * 64, records=(), unlabelled="")
    with Register(str(tmp_path / "register.sqlite"), new=True) as register:
        register.add(one, b"")
        for number in range(2, 6):
            marks = replace(other, original=f"{number:064}")
            register.add(replace(one, marks=marks, bundle=f"{number:064}"), b"")
        for _ in range(2):
            found = register.bearing_on(one.marks)
            assert [entry.number for entry in found.entries] == [1, 4, 5] and found.older == (2, 3)
        found = register.bearing_on(one.marks, [3])
        assert [entry.number for entry in found.entries] == [1, 3, 4, 5] and found.older == (2,)


@pytest.mark.parametrize("older", [False, True], ids=["judged", "read"])
def test_where_there_are_too_many_the_house_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: bool
) -> None:
    """Nothing is let out for want of time to look at it, and one answer is enough."""
    if older:
        monkeypatch.setattr(register_rows, "MOST_ALIKE", 1)
    else:
        monkeypatch.setattr(people_in_common, "MOST_JUDGED", 0)
    counts = [[4, 0, 3], [1, 10, 4], [2, 3, 5]]

    def leaves(number: int, **said: str) -> tp.Protection:
        cells = [
            ("ab"[0] + str(i), f"c{j}", 3 * number * n)
            for i, row in enumerate(counts)
            for j, n in enumerate(row)
        ]
        rows, columns, numbers = zip(*cells, strict=True)
        table = tp.Table.from_frame({"r": list(rows), "c": list(columns), "count": list(numbers)})
        return tp.protect(table, "random_rounding", **said).publish(tmp_path / f"{number}.zip")

    for number in (1, 2):
        leaves(number, people="other")
    with pytest.raises(tp.RefusedError, match="may be counted in no"):
        leaves(3)
    assert leaves(3, people="other").verdict.accepted


def test_numbers_are_said_by_the_ends_of_runs() -> None:
    assert numbers_said([7, 1, 2, 3, 9, 10]) == "1 to 3, 7, 9, 10"
