"""Levels of codes by their first characters: 1, 11 and 111 are places within each other.

Squares of a grid have levels by the side of the larger ones, in metres, in the place of characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.groupings.squares import MOST_SIDES, squares_of
from tabprotect.languages.messages import message

MOST_LONG = 16
"""Characters of the longest code that is taken for one: longer ones are names."""

_CODE = re.compile(r"[0-9A-Za-z][0-9A-Za-z._]*")
_MARKS = "._"
"""Signs between the parts of a code, which no group ends in."""


def is_code(category: str) -> bool:
    """Return True if a category may be a code: letters, digits and points, a digit among them or all
    capitals."""
    return (
        len(category) <= MOST_LONG
        and _CODE.fullmatch(category) is not None
        and (category.isupper() or any(map(str.isdigit, category)))
    )


def first_characters(categories: Sequence[str], digits: int) -> list[str]:
    """The group of each category: its first characters; itself where it has no more, or is no code.

    Of squares the larger one with a side of so many metres.
    """
    if squares := squares_of(categories):
        fits = digits > 0 and digits % squares[0].side == 0
        return [str(square.within(digits)) if fits else str(square) for square in squares]
    return [category[:digits].rstrip(_MARKS) if is_code(category) else category for category in categories]


def check_digits(categories: Sequence[str], levels: Mapping[str, int]) -> None:
    """Refuse levels that are none.

    Parameters
    ----------
    levels
        What a level is called -> the number of characters.

    Raises
    ------
    InputError
        For less than one character, two levels by the same number, and for a number by which nothing
        is put together.
    """
    for name, digits in levels.items():
        if digits < 1:
            raise InputError(
                message("a level goes by at least 1 digit, not {digits}", digits),
                hint=message("for example 1 and 2 where the codes have 3"),
            )
        if len(set(first_characters(categories, digits))) == len(set(categories)):
            raise InputError(
                message("the first {digits} digits put no codes together ({name})", digits, name),
                hint=message("take fewer of them"),
            )
    numbers = sorted(levels.values())
    if any(a == b for a, b in pairwise(numbers)):
        raise InputError(message("two levels go by the same number of digits"))


def usual_digits(categories: Sequence[str]) -> tuple[int, ...]:
    """The numbers of characters by which codes are likely to have levels, the coarsest first.

    Those of the shorter codes, where codes of some lengths stand in each other; else each number that
    puts the codes of the one before apart. Nothing where they are no codes or follow on each other as
    numbers do, or where next to nothing is put together.
    """
    if squares := squares_of(categories):
        sides = [squares[0].side * 2**step for step in range(1, MOST_SIDES + 1)]
        return tuple(side for side in reversed(sides) if len({square.within(side) for square in squares}) > 1)
    codes = [category for category in categories if is_code(category)]
    if len(codes) < 3 or 2 * len(codes) < len(categories) or _follow(codes):
        return ()
    lengths = sorted({len(code) for code in codes})
    if len(lengths) > 1:
        if _within(codes, lengths):
            return tuple(lengths[:-1])
        if all(map(str.isdigit, codes)):
            return ()
    found: list[int] = []
    groups = 1
    for number in range(1, lengths[-1]):
        made = len(set(first_characters(codes, number)))
        # Half as many groups as codes at most: else nearly all of them stand alone.
        if made > groups and 2 * made <= len(codes):
            found.append(number)
            groups = made
    return tuple(found)


def _follow(codes: Sequence[str]) -> bool:
    """Return True if they are numbers that follow on each other: most of them, as ages and years do, or those
    where another digit begins, as 9 and 10 of counts do."""
    if not all(map(str.isdigit, codes)):
        return False
    numbers = {int(code) for code in codes}
    if max(numbers) - min(numbers) < 2 * len(codes):
        return True
    longer = {10**digits for digits in range(1, MOST_LONG)}
    return any(number - 1 in numbers for number in numbers & longer)


def _within(codes: Sequence[str], lengths: Sequence[int]) -> bool:
    """Return True if most longer codes begin with a shorter one that is there."""
    known = set(codes)
    longer = [code for code in codes if len(code) > lengths[0]]
    inside = sum(any(code[:n].rstrip(_MARKS) in known for n in lengths if n < len(code)) for code in longer)
    return 2 * inside > len(longer)
