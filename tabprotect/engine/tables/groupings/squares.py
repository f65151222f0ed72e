"""Squares of a grid by their codes, larger squares that hold them, and squares merged where few people live.

Source: the codes of grids of the European statistical system, such as ``1kmN2689E4337`` and ``250mN268900E433725``:
the south-west corner in the largest power of ten that the side is a multiple of, or in metres after a system of
coordinates, ``CRS3035RES1000mN2689000E4337000``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

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


def squares_of(categories: Sequence[str]) -> tuple[Square, ...]:
    """The squares that all categories are, of one side; none where they are anything else."""
    found = [_CODE.fullmatch(category) for category in categories]
    read = []
    for code in found:
        if code is None:
            return ()
        side = int(code[2]) * (1000 if code[3] == "km" else 1)
        unit = 1 if code[1] else _unit(side)
        read.append(Square(side, int(code[4]) * unit, int(code[5]) * unit, code[1] or ""))
    return tuple(read) if len({(square.side, square.system) for square in read}) == 1 and read[0].side else ()


def merged(last: Mapping[str, int], *, least: int, largest: int) -> dict[str, str]:
    """What each square is put into: four of one become one where the last counts are too small.

    From the largest squares down each is cut in four as long as no quarter with anybody in it has fewer
    than ``least`` people. Take counts that are public already: groups by the counts that are protected
    would tell of them.

    Parameters
    ----------
    last
        Public counts by the codes of the finest squares, those without anybody among them.
    largest
        The side of the largest squares in metres: the finest one times a power of two.

    Raises
    ------
    InputError
        For what is no code of a square, squares of several sides, and a side that is no such multiple.
    """
    squares = squares_of(list(last))
    if not squares:
        raise InputError(
            message("these are not the codes of squares of one side"), hint=message("such as 1kmN2689E4337")
        )
    times, rest = divmod(largest, squares[0].side)
    if rest or times < 1 or times & (times - 1):
        raise InputError(
            message("{largest} m is not {side} m times 2, 4, 8 and so on", largest, squares[0].side)
        )
    counts = np.array(list(last.values()))
    group, whole = [square.within(largest) for square in squares], set[Square]()
    side = largest
    while side > squares[0].side:
        side //= 2
        quarter = [square.within(side) for square in squares]
        people: dict[Square, int] = {}
        for one, count in zip(quarter, counts.tolist(), strict=True):
            people[one] = people.get(one, 0) + count
        whole |= {into for into, one in zip(group, quarter, strict=True) if 0 < people[one] < least}
        group = [into if into in whole else one for into, one in zip(group, quarter, strict=True)]
    return {code: str(into) for code, into in zip(last, group, strict=True)}
