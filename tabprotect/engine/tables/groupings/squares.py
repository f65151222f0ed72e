"""Squares of a grid by their codes, larger squares that hold them, and squares merged where few people live.

Source: the codes of grids of the European statistical system, such as ``1kmN2689E4337`` and ``250mN268900E433725``:
the south-west corner in the largest power of ten that the side is a multiple of, or in metres after a system of
coordinates, ``CRS3035RES1000mN2689000E4337000``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

MOST_SIDES = 3
"""Larger squares, each twice as wide as the one before, that are likely to be levels."""

_CODE = re.compile(r"(CRS\d{1,6}RES)?(\d{1,4})(k?m)N(\d{1,9})E(\d{1,9})")


@dataclass(frozen=True)
class Square:
    """A square of a grid: its side and its south-west corner, in metres.

    Attributes
    ----------
    system
        What stands before the code: a system of coordinates, or nothing.
    """

    side: int
    north: int
    east: int
    system: str = ""

    def __str__(self) -> str:
        """The code."""
        unit = 1 if self.system else _unit(self.side)
        long = not self.system and self.side % 1000 == 0
        side = f"{self.side // 1000}km" if long else f"{self.side}m"
        return f"{self.system}{side}N{self.north // unit}E{self.east // unit}"

    def within(self, side: int) -> Square:
        """The larger square that holds it."""
        return Square(side, self.north // side * side, self.east // side * side, self.system)


def _unit(side: int) -> int:
    digits = str(side)
    return int("1" + "0" * (len(digits) - len(digits.rstrip("0"))))


def square_of(category: str) -> Square | None:
    """The square whose code a category is."""
    code = _CODE.fullmatch(category)
    side = int(code[2]) * (1000 if code[3] == "km" else 1) if code is not None else 0
    if code is None or not side:
        return None
    unit = 1 if code[1] else _unit(side)
    return Square(side, int(code[4]) * unit, int(code[5]) * unit, code[1] or "")


def squares_of(categories: Sequence[str], *, alike: bool = True) -> tuple[Square, ...]:
    """The squares that all categories are, of one system of coordinates; none where they are anything else.

    Parameters
    ----------
    alike
        False if their sides may differ, as where some of them are merged.
    """
    read = [one for one in map(square_of, categories) if one is not None]
    kinds = {(one.side if alike else 0, one.system) for one in read}
    return tuple(read) if len(read) == len(categories) and len(kinds) == 1 else ()


def merged(last: Mapping[str, int], *, least: int) -> dict[str, str]:
    """What each square is put into: four of one become one where the last counts are too small.

    From the largest squares down each is cut in four as long as no quarter with anybody in it has fewer
    than ``least`` people. Take counts that are public already: groups by the counts that are protected
    would tell of them.

    Parameters
    ----------
    last
        Public counts by the codes of the finest squares, those without anybody among them.

    Raises
    ------
    InputError
        For what is no code of a square, and squares of several sides.
    """
    squares = squares_of(list(last))
    if not squares:
        raise InputError(
            message("these are not the codes of squares of one side"), hint=message("such as 1kmN2689E4337")
        )
    sides = [squares[0].side * 2**step for step in reversed(range(MOST_SIDES + 1))]
    group, whole = [square.within(sides[0]) for square in squares], set[Square]()
    for side in sides[1:]:
        quarter = [square.within(side) for square in squares]
        people = Counter[Square]()
        for one, count in zip(quarter, last.values(), strict=True):
            people[one] += count
        whole |= {into for into, one in zip(group, quarter, strict=True) if 0 < people[one] < least}
        group = [into if into in whole else one for into, one in zip(group, quarter, strict=True)]
    return {code: str(into) for code, into in zip(last, group, strict=True)}
