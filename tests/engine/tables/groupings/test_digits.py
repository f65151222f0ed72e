"""Levels of codes by their first digits."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.project.verbs.level_verbs import CategoryGroups, levels_of
from tabprotect.engine.tables.groupings.digits import first_characters, is_code, usual_digits
from tabprotect.engine.tables.variable import Variable

PLACES = tuple(f"{a}{b}{c}" for a, b, c in product("123", "1234", "12345"))


@pytest.mark.parametrize(
    ("categories", "digits"),
    [
        (PLACES, (1, 2)),
        # Codes of several lengths that stand in each other, in any order.
        (("1", "11", "111", "112", "12", "121", "2", "21", "211"), (1, 2)),
        (("C10.1", "C10.2", "C11.1", "C11.2", "C10", "C11", "C"), (1, 3)),
        (tuple(f"SE{a}{b}" for a in "12" for b in "123"), (3,)),
        # Numbers that follow on each other are ages or years.
        (tuple(map(str, range(104))), ()),
        (tuple(map(str, range(2015, 2023))), ()),
        # So are counts, where they grow by a digit without a gap.
        (tuple(map(str, [*range(1, 40), 45, 52, 77, 110, 134, 210, 480, 505])), ()),
        (("north", "south", "east"), ()),
        (("0-17", "18-39", "40-64"), ()),
        (("A", "B"), ()),
        # Each alone: nothing is put together.
        (("137", "250", "361"), ()),
    ],
)
def test_what_is_likely_meant(categories: tuple[str, ...], digits: tuple[int, ...]) -> None:
    assert usual_digits(categories) == digits


def test_codes_and_names() -> None:
    assert all(map(is_code, ("1", "111", "C10", "a1", "NACE", "C10.11")))
    assert not any(map(is_code, ("Unknown", "male", "0-17", "65+", "New York", "", "x" * 20 + "1")))


def test_each_level_lies_in_the_one_above_whatever_the_codes() -> None:
    categories = ("1", "11", "111", "12", "2", "Unknown", "C10.1", "C10")
    variable = Variable("place", categories)
    found = levels_of(
        variable, CategoryGroups(variable="place", digits={"fine": 3, "coarse": 1, "middle": 2})
    )
    assert [level.name for level in found] == ["coarse", "middle", "fine"]
    for above, below in pairwise(found):
        assert below.refines(above)
    assert found[0].groups == ("1", "1", "1", "1", "2", "Unknown", "C", "C")
    # A group never ends in the sign between two parts of a code.
    assert first_characters(("C10.1", "C10.2"), 4) == ["C10", "C10"]


@pytest.mark.parametrize(
    ("digits", "said"),
    [({"a": 0}, "at least 1 digit"), ({"a": 3}, "no codes together"), ({"a": 1, "b": 1}, "same number")],
)
def test_levels_that_are_none_are_refused(digits: dict[str, int], said: str) -> None:
    with pytest.raises(InputError, match=said):
        levels_of(Variable("place", PLACES), CategoryGroups(variable="place", digits=digits))


def test_one_way_at_a_time() -> None:
    with pytest.raises(InputError, match="one way"):
        levels_of(Variable("place", PLACES), CategoryGroups(variable="place", digits={"a": 1}, width=5))
