"""Tables whose people may be part of those of earlier releases: what leaves, and what is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabprotect as tp

MEN = np.array([[4, 0, 3, 1], [1, 10, 4, 0], [0, 3, 5, 4], [10, 1, 0, 2]])
WOMEN = np.array([[5, 5, 1, 6], [0, 1, 3, 1], [15, 0, 11, 8], [9, 5, 6, 8]])
ALL = np.array([[20, 1, 2, 5], [3, 9, 1, 4], [2, 7, 12, 1], [6, 2, 3, 30]])
ONE_FEWER = ALL - np.eye(1, 16, dtype=int).reshape(4, 4)


def table(counts: np.ndarray) -> tp.Table:
    cells = [(f"r{i + 1}", f"c{j + 1}", int(counts[i, j])) for i, j in np.ndindex(*counts.shape)]
    rows, columns, numbers = zip(*cells, strict=True)
    return tp.Table.from_frame({"r": list(rows), "c": list(columns), "count": list(numbers)})


class Shelf:
    """Releases one after the other, by one register."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0

    def leaves(self, counts: np.ndarray, method: str = "cyclic_perturbation", **asked: Any) -> tp.Protection:
        self.number += 1
        people = asked.pop("people", None)
        given = {} if people is None else {"people": people}
        return tp.protect(table(counts), method, **given, **asked).publish(self.folder / f"{self.number}.zip")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


BLOCKS = {"method": "suppression", "choice": "blocks"}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2)], ids=["all", "women", "all-but-men"])
def test_men_women_and_all_of_them(shelf: Shelf, order: tuple[int, ...]) -> None:
    """One subtraction gives (r4, c2) and (r4, c4) of the men: the last of them does not leave.

    The women and all are enough: the men need not have been published.
    """
    tables = [MEN, WOMEN, MEN + WOMEN]
    for number in order[:-1]:
        shelf.leaves(tables[number], **BLOCKS)
    with pytest.raises(tp.RefusedError, match="Together with") as refused:
        shelf.leaves(tables[order[-1]], **BLOCKS)
    assert "other:" in refused.value.hint


@pytest.mark.parametrize(("first", "second"), [(ALL, ALL[:3]), (ALL[:3], ALL)], ids=["whole", "part"])
def test_a_category_that_is_left_out(shelf: Shelf, first: np.ndarray, second: np.ndarray) -> None:
    """The kept sums of columns differ by the row that is left out, with its count of 2."""
    shelf.leaves(first)
    with pytest.raises(tp.RefusedError, match="may be counted in no"):
        shelf.leaves(second)
    assert shelf.leaves(second, people="other:1").verdict.accepted


def test_one_person_fewer_is_placed(shelf: Shelf) -> None:
    shelf.leaves(ALL)
    with pytest.raises(
        tp.RefusedError, match=r"One person of \(r1, c1\) left: known. Some of these people may"
    ):
        shelf.leaves(ONE_FEWER)


def test_what_both_state_places_nobody(shelf: Shelf) -> None:
    """The sums of rows differ by one person, as both tables say; nothing else of theirs is of the same variables."""
    shelf.leaves(ALL)
    renamed = table(ONE_FEWER[:, ::-1]).to_frame().rename(columns={"c": "d"})
    other = tp.Table.from_frame(renamed)
    assert tp.protect(other, people="later:1").publish(shelf.folder / "other.zip").verdict.accepted


def test_one_person_who_moved_is_placed(shelf: Shelf) -> None:
    """One fewer in one cell and one more in another: by the fewest changes both are known."""
    moved = ALL.copy()
    moved[0, 0], moved[3, 3] = moved[0, 0] - 1, moved[3, 3] + 1
    shelf.leaves(ALL)
    told = r"One person of \(r1, c1\) left: known. One person came to \(r4, c4\): known"
    with pytest.raises(tp.RefusedError, match=told):
        shelf.leaves(moved)


def test_many_who_came_and_went_are_not_asked_about(shelf: Shelf) -> None:
    generator = np.random.default_rng(1)
    large = generator.poisson(40, (4, 4))
    later = np.maximum(large + generator.integers(-6, 7, (4, 4)), 3)
    shelf.leaves(large)
    assert shelf.leaves(later).verdict.accepted


def test_sums_that_tell_nothing_of_the_rest(shelf: Shelf) -> None:
    """With sums of rows alone kept in both, nothing of the row that is left out follows from sums."""
    shelf.leaves(ALL, "random_rounding")
    assert shelf.leaves(ALL[:3], "random_rounding").verdict.accepted


def test_an_answer_is_kept(shelf: Shelf) -> None:
    shelf.leaves(ALL)
    shelf.leaves(ALL[:3], people="other:1")
    # The same table again: the register knows the answer.
    again = tp.protect(table(ALL[:3])).publish(shelf.folder / "again.zip")
    assert again.verdict.accepted


def test_an_answer_about_no_release(shelf: Shelf) -> None:
    shelf.leaves(ALL)
    with pytest.raises(tp.ParameterError, match="7"):
        shelf.leaves(ALL[:3], people=["part:7", "other:1"])
    with pytest.raises(tp.ParameterError, match="people"):
        shelf.leaves(ALL[:3], people="strangers")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0)], ids=["all-last", "all-first"])
def test_by_letters_what_others_hide_is_hidden_too(shelf: Shelf, order: tuple[int, ...]) -> None:
    """Tables leave one after the other, and no small count is a sum or difference of two."""
    tables = [MEN, WOMEN, MEN + WOMEN]
    hidden: dict[int, np.ndarray] = {}
    for number in order:
        left = shelf.leaves(tables[number], "suppression")
        assert left.verdict.complete
        before, hidden[number] = list(hidden.values()), left.release.inner.hidden
        assert all((hidden[number] | (tables[number] == 0))[one].all() for one in before)
    if len(order) < 3:
        # The sums of rows and columns of all three would settle two counts.
        with pytest.raises(tp.RefusedError, match="2 for certain"):
            shelf.leaves(WOMEN, "suppression")
        return
    for one, (other, third) in ((0, (1, 2)), (1, (0, 2)), (2, (0, 1))):
        small = hidden[one] & (tables[one] <= 2)
        assert not (small & ~hidden[other] & ~hidden[third]).any()
