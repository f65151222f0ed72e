"""The rounding base: its parameter, its limits, and the true counts behind a rounded one."""

from __future__ import annotations

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.parameters import Parameter
from tabprotect.languages.messages import message

BASE: Parameter[int] = Parameter(
    "base",
    message("Base"),
    message("Counts are rounded to multiples of it."),
    "integer",
    3,
    low=2,
    high=10_000,
)


def reaches(base: int, counts: Ints) -> bool:
    """Return True if some published count is as large as the base, or none is positive."""
    return not 0 < int(counts.max(initial=0)) < base


def require_reach(base: int, counts: Ints) -> None:
    """Refuse a base that is larger than every published count.

    Raises
    ------
    InputError
        Naming the largest count.
    """
    if not reaches(base, counts):
        largest = int(counts.max())
        raise InputError(
            message("the base {base} is larger than every count (the largest is {largest})", base, largest),
            hint=message("take a base of at most {largest}, or publish totals too", largest),
        )


def require_multiple(base: int, published: int) -> None:
    """Refuse a published count that rounding to a base cannot give.

    Raises
    ------
    InputError
        Naming the count.
    """
    if published % base:
        raise InputError(
            message("a published count of {published} is no multiple of {base}", published, base),
            hint=message("take the mechanism that came with the table"),
        )
