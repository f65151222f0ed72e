"""Bands of whole numbers, and groups of categories named by what they hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

_WHOLE = re.compile("[+-]?[0-9]{1,18}([.]0*)?")
_SPAN = re.compile("(-?[0-9]{1,18})(?: to |-)(-?[0-9]{1,18})")
_OPEN = re.compile("([0-9]{1,18})[+]")
_UNDER = re.compile("(?:under|below|<) ?([0-9]{1,18})")

Span = tuple[int | None, int | None]
"""The lowest and the highest number, ``None`` where there is none."""

MOST_NAMED = 3
"""Categories up to which a group names them all."""


def whole(text: str) -> int | None:
    """The whole number that a category is, if it is one."""
    text = text.strip()
    return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else None


def span_of(category: str) -> Span | None:
    """The numbers a category stands for: ``7``, ``5-9``, ``65+``, ``under 5``; else ``None``."""
    text = category.strip()
    number = whole(text)
    if number is not None:
        return number, number
    if found := _SPAN.fullmatch(text):
        low, high = int(found[1]), int(found[2])
        return (low, high) if low <= high else None
    if found := _OPEN.fullmatch(text):
        return int(found[1]), None
    if found := _UNDER.fullmatch(text):
        return None, int(found[1]) - 1
    return None


def span_text(low: int | None, high: int | None) -> str:
    """``0-4``; a band of one number is that number, an open one ``65+`` or ``under 5``."""
    if high is None:
        return "all" if low is None else f"{low}+"
    if low is None:
        return message("under {high}", high + 1)
    if low == high:
        return str(low)
    return f"{low}-{high}" if low >= 0 else message("{low} to {high}", low, high)


def cut_names(cuts: Sequence[int]) -> list[str]:
    """The names of the bands that begin at rising cut points; the first is below them all."""
    between = [span_text(a, b - 1) for a, b in pairwise(cuts)]
    return [span_text(None, cuts[0] - 1), *between, span_text(cuts[-1], None)]


def banded(categories: Sequence[str], width: int) -> list[str]:
    """The band of each category; what is no number is a group of its own.

    Raises
    ------
    InputError
        For a width below 1, no number at all, or a category that two bands share.
    """
    if width < 1:
        raise InputError(message("a band has a width of at least 1, not {width}", width))

    def band(number: int) -> str:
        low = number // width * width
        return span_text(low, low + width - 1)

    return _grouped(categories, band)


def cut_at(categories: Sequence[str], cuts: Sequence[int]) -> list[str]:
    """The band of each category where bands begin at rising cut points.

    Raises
    ------
    InputError
        As :func:`banded`, and for cut points that do not rise.
    """
    if not cuts or any(a >= b for a, b in pairwise(cuts)):
        raise InputError(message("cut points stand in rising order"), hint=message("for example 0,15,65"))
    names = cut_names(cuts)
    return _grouped(categories, lambda number: names[sum(number >= c for c in cuts)])


def _grouped(categories: Sequence[str], band: Callable[[int], str]) -> list[str]:
    spans = [span_of(category) for category in categories]
    if not any(spans):
        raise InputError(message("no category is a number"), hint=message("group the categories by name"))
    return [
        category if span is None else _band_of(category, span, band)
        for category, span in zip(categories, spans, strict=True)
    ]


def _band_of(category: str, span: Span, band: Callable[[int], str]) -> str:
    low, high = (None if number is None else band(number) for number in span)
    if low == high:
        assert low is not None
        return low
    if low is None or high is None:
        # An open category goes into a band that is open there too, and else stands alone.
        known = low or high or ""
        side = span.index(None)
        around = span_of(known)
        return known if around is not None and around[side] is None else category
    raise InputError(
        message("the category {category} lies in both {low} and {high}", repr(category), low, high),
        hint=message("let bands begin where the categories do"),
    )


def held_name(categories: Sequence[str], taken: Sequence[str] = ()) -> str:
    """Say what a group of categories is called: by what it holds, never by one of them.

    Numbers that follow on each other are a band (``0-4``, ``5-9``: ``0-9``); few categories are
    named all (``north, south``), many by the first, the last and their number. ``taken`` are names
    that are not to be used.
    """
    spans = sorted(
        (s for s in map(span_of, categories) if s is not None), key=lambda s: (s[0] is not None, s[0] or 0)
    )
    name = ""
    if len(spans) == len(categories) and all(
        a[1] is not None and a[1] + 1 == b[0] for a, b in pairwise(spans)
    ):
        name = span_text(spans[0][0], spans[-1][1])
    elif len(categories) <= MOST_NAMED:
        name = ", ".join(categories)
    else:
        name = message(
            "{categories} \u2026 {categories2} ({categories3})",
            categories[0],
            categories[-1],
            len(categories),
        )
    unique, number = name, 2
    while unique in taken:
        unique, number = message("{name} ({number})", name, number), number + 1
    return unique
