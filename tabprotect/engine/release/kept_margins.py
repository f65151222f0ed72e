"""Small sums that a release publishes exactly on purpose. Public: everybody reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabprotect.engine.encoding import Encodable
from tabprotect.languages.messages import joined, message, plural


@dataclass(frozen=True)
class KeptSum(Encodable):
    """A sum of inner cells that is an at-risk count and is published exactly.

    Attributes
    ----------
    table
        The variables of the margin; none for the grand total.
    cell
        Their categories.
    count
    """

    table: tuple[str, ...]
    cell: tuple[str, ...]
    count: int


MOST_NAMED = 3
"""Sums that are named; the others are counted."""


def named(kept: Sequence[KeptSum]) -> str:
    """Say which they are, the first few by name; empty for none."""
    if not kept:
        return ""
    first = joined(
        (
            message("{cell}: {count}", joined(one.cell, ", ") or message("grand total"), one.count)
            for one in kept[:MOST_NAMED]
        ),
        "; ",
    )
    more = len(kept) - MOST_NAMED
    return first if more <= 0 else message("{first}; and {more:,} more", first, more)


def said(kept: Sequence[KeptSum]) -> str:
    """Say how many there are, in words; empty for none."""
    if not kept:
        return ""
    return plural(
        len(kept),
        "{number:,} kept sum is small and goes out as it is.",
        "{number:,} kept sums are small and go out as they are.",
        len(kept),
    )
