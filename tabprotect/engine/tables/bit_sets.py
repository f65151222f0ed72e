"""Sets of small whole numbers (variables) as the bits of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_


def bits(members: int) -> Iterator[int]:
    """The numbers in a set, ascending."""
    while members:
        low = members & -members
        yield low.bit_length() - 1
        members ^= low


def union(sets: Iterable[int]) -> int:
    """The numbers that are in any of the sets."""
    return reduce(or_, sets, 0)
