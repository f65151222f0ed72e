"""Numbers and dates as a language writes them, by the head of its catalogue.

The head holds what the locale data of Unicode (CLDR) say of the language; `packaging/catalogue.py` writes it.

Sentences hold them as English writes them: ``31,577``, ``0.25``, ``.25``, ``12%``, ``3 May 2026``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from tabprotect.languages.catalogue import head
from tabprotect.languages.messages import MONTHS

_NUMBER = re.compile(
    r"(?P<sign>[-+<>~\u2212\u00b1\u2264\u2265]?\s?)(?P<whole>\d{1,3}(?:,\d{3})+|\d*)"
    r"(?:\.(?P<part>\d+))?(?P<percent>\s?%)?"
)
_DAY = re.compile(rf"(?P<day>\d{{1,2}}) (?P<month>{'|'.join(MONTHS)}) (?P<year>\d{{4}})")


NARROW = "\N{NARROW NO-BREAK SPACE}"
"""Between groups of three figures, wherever people read them as print has them."""


def grouped(count: int, space: str) -> str:
    """A whole number in groups of three figures apart by ``space``, with a true minus sign."""
    return f"{count:,}".replace(",", space).replace("-", "\N{MINUS SIGN}")


LARGE = 1_000_000
"""From here on a number of possibilities is told by its first figure and a power of ten."""

_RAISED = str.maketrans("0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


def large(count: int, space: str) -> str:
    """A number of possibilities: in full, or as ``4 × 10⁶⁶``."""
    if count < LARGE:
        return grouped(count, space)
    power = int(math.log10(count))
    # The logarithm is rounded: the figure before the point decides.
    power += (count >= 10 ** (power + 1)) - (count < 10**power)
    first = (2 * count // 10**power + 1) // 2
    if first == 10:
        first, power = 1, power + 1
    return f"{first} × 10{str(power).translate(_RAISED)}"


def number_writer(language: str, group: str = "") -> Callable[[str], str]:
    """A function that writes a number or a date of English as the language does.

    Parameters
    ----------
    group
        What is between thousands; empty for the language's own.
    """
    said = head(language)
    decimal, own, percent = (said[f"X-{name}"] for name in ("Decimal", "Group", "Percent"))
    group = group or own
    months = dict(zip(MONTHS, said["X-Months"].split(","), strict=True))

    def written(text: str) -> str:
        day = _DAY.fullmatch(text)
        if day is not None:
            parts = day.groupdict() | {"day": int(day["day"]), "month": months[day["month"]]}
            return said["X-Day"].format(**parts)
        found = _NUMBER.fullmatch(text)
        if found is None or not (found["whole"] or found["part"]):
            return text
        whole = found["whole"].replace(",", group) or "0"
        part = f"{decimal}{found['part']}" if found["part"] else ""
        return f"{found['sign']}{whole}{part}{percent if found['percent'] else ''}"

    return written
