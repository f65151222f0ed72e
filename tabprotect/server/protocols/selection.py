"""Which values of a variable a request selects, in the expressions of PxWebApi 2.

Codes, and ``*`` (also before or behind a text), ``?`` for one character, ``top(n)`` and
``bottom(n)`` with an offset, ``range(a,b)``, ``from(a)`` and ``to(a)``; letters of both cases alike.
Source: PxWebApi 2, selection expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from tabprotect.languages.messages import message
from tabprotect.server.problems import HttpProblem

_PARTS = re.compile(r"\[[^\]]*\]|(?:range|top|bottom)\([^)]*\)|[^,]+", re.IGNORECASE)
_CALL = re.compile(r"(range|top|bottom|from|to)\((.*)\)", re.IGNORECASE | re.DOTALL)
_COUNTS = re.compile(r"([1-9]\d{0,8})(?:,(\d{1,9}))?", re.ASCII)


def listed(text: str) -> list[str]:
    """``a,b`` as its parts; one with commas stands in brackets."""
    found = [part.strip() for part in _PARTS.findall(text)]
    bare = [part[1:-1].strip() if part.startswith("[") and part.endswith("]") else part for part in found]
    return [part for part in bare if part]


def selected(categories: Sequence[str], expressions: Iterable[str]) -> tuple[int, ...]:
    """The places of the categories that the expressions select, ascending, each once.

    Raises
    ------
    HttpProblem
        ``invalid_query``: an expression that means nothing, or a category that there is not.
    """
    places = {place for text in expressions for place in _of_one(categories, text)}
    return tuple(sorted(places))


def place_of(categories: Sequence[str], code: str) -> int | None:
    """The place of a category, as it is written or in letters of the other case; else ``None``."""
    if code in categories:
        return categories.index(code)
    alike = [n for n, name in enumerate(categories) if name.casefold() == code.casefold()]
    return alike[0] if len(alike) == 1 else None


def _of_one(categories: Sequence[str], text: str) -> Iterable[int]:
    place = place_of(categories, text)
    if place is not None:
        return (place,)
    called = _CALL.fullmatch(text)
    if called is not None:
        return _CALLED[called[1].lower()](categories, called[2])
    if "*" in text or "?" in text:
        return _matching(categories, text)
    raise HttpProblem("invalid_query", message("there is no value {text}", repr(text[:40])))


def _matching(categories: Sequence[str], text: str) -> list[int]:
    inner = text.strip("*")
    if "*" in inner or len(text) - len(inner) > 2 or text in ("**", "*" + inner + "**"):
        raise _meaningless(text)
    pattern = "".join(
        ".*" if letter == "*" else "." if letter == "?" else re.escape(letter) for letter in text
    )
    wanted = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return [n for n, name in enumerate(categories) if wanted.fullmatch(name)]


def _first(categories: Sequence[str], inside: str) -> range:
    count, offset = _counts(inside)
    return range(len(categories))[offset : offset + count]


def _last(categories: Sequence[str], inside: str) -> range:
    count, offset = _counts(inside)
    end = max(0, len(categories) - offset)
    return range(max(0, end - count), end)


def _between(categories: Sequence[str], inside: str) -> range:
    # A code may hold a comma: the split at which both sides are codes is meant.
    for at in (n for n, letter in enumerate(inside) if letter == ","):
        ends = [place_of(categories, part.strip()) for part in (inside[:at], inside[at + 1 :])]
        if None not in ends:
            low, high = sorted(end for end in ends if end is not None)
            return range(low, high + 1)
    raise _meaningless(f"range({inside})")


def _behind(categories: Sequence[str], inside: str) -> range:
    return range(_end(categories, inside), len(categories))


def _up_to(categories: Sequence[str], inside: str) -> range:
    return range(_end(categories, inside) + 1)


def _end(categories: Sequence[str], code: str) -> int:
    place = place_of(categories, code.strip())
    if place is None:
        raise HttpProblem("invalid_query", message("there is no value {text}", repr(code[:40])))
    return place


def _counts(inside: str) -> tuple[int, int]:
    found = _COUNTS.fullmatch(inside.replace(" ", ""))
    if found is None:
        raise _meaningless(inside)
    return int(found[1]), int(found[2] or 0)


def _meaningless(text: str) -> HttpProblem:
    return HttpProblem("invalid_query", message("the selection {text} means nothing here", repr(text[:40])))


_CALLED: Mapping[str, Callable[[Sequence[str], str], range]] = {
    "top": _first,
    "bottom": _last,
    "range": _between,
    "from": _behind,
    "to": _up_to,
}
