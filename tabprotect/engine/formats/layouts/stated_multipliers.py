"""Multipliers that a file states: its thousands of persons become persons, or are asked about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.languages.messages import message

UNIT_MULT = "UNIT_MULT"
"""SDMX's attribute: the power of ten by which the values are multiplied."""

MOST_POWER = 15

ONE = frozenset({"unit", "units", "one", "ones", "number", "none", "persons"})
"""Words for figures that are no multiples."""

_WORDS = (
    (10**6, r"millions?|millioner|millionen|miljoner|miljoonaa|mio\.?|mill\.?|mils|mln|1[ .,]?000[ .,]?000|millones|milioni"),
    (10**3, r"thousands?|thousand|tusen\w*|tausend\w*|ths(_\w+)?|'?000s|milliers?|miles|mila|migliaia|duizend\w*|1[ .,]?000"),
)  # fmt: skip
_SAID = [
    (factor, re.compile(rf"(?<![\w.,])(?:{words})(?![\w.,]?\d)(?!\w)", re.IGNORECASE))
    for factor, words in _WORDS
]


def multiplier_in(unit: str) -> int:
    """What a unit in words says that figures are multiplied by: 1,000 for ``thousand persons``; else 1."""
    # A rate per 1,000 is no multiple.
    if re.search(r"\b(per|pro|par|por)\b|/", unit, re.IGNORECASE):
        return 1
    return next((factor for factor, words in _SAID if words.search(unit)), 1)


_BRACKETS = re.compile(r"[(\[]([^)\]]*)[)\]]|\b(?:in|en|i)\s+([^,;]{1,24})$", re.IGNORECASE)


def units_in(titles: Iterable[str]) -> list[str]:
    """What titles say of units: in brackets, or at their end behind ``in``."""
    return [found[1] or found[2] for title in titles for found in _BRACKETS.finditer(title)]


def refuse_multiples(units: Collection[str], reading: Reading) -> None:
    """Refuse figures whose unit says in words that they are multiples, unless it is said what they are.

    Raises
    ------
    InputError
        With the unit.
    """
    for unit in units:
        factor = multiplier_in(unit)
        if factor > 1 and reading.scale is None:
            raise InputError(
                message("the unit of the figures is {unit}", repr(unit)),
                hint=message(
                    "say what they are multiplied by: --scale {factor}; or, if they are whole persons as they "
                    "stand: --scale 1",
                    factor,
                ),
            )


def refuse_several(units: Collection[str]) -> None:
    """Refuse observations of several units, which no table of counts holds side by side."""
    if len(units) > 1:
        raise InputError(
            message("the observations are in several units: {units}", ", ".join(map(repr, list(units)[:5]))),
            hint=message(
                "open the observations of one unit: --where VARIABLE=VALUE of the variable that tells them apart, "
                "or ask the service for one"
            ),
        )


def check_unit_variables(cells: CellList, reading: Reading) -> None:
    """Refuse multiples where a variable of one category says what the unit is, or several units are mixed."""
    for axis, name in enumerate(cells.names):
        if name.strip().casefold() in UNIT_NAMES:
            labels = cells.labels.get(name, {})
            codes = cells.categories[axis]
            refuse_multiples([text for code in codes for text in (code, labels.get(code, ""))], reading)


UNIT_NAMES = frozenset({"unit", "units", "unit_measure", "einheit", "unité", "unidad", "enhed", "enhet"})
"""Variables whose categories are units."""


def power_of(text: object) -> int:
    """A power of ten as a file states it: as its exponent, or in words.

    Raises
    ------
    InputError
        For one that is none.
    """
    said = str(text).strip().casefold()
    try:
        power = int(said or "0")
    except ValueError:
        factor = 1 if said in ONE else multiplier_in(said)
        power = len(str(factor)) - 1 if factor > 1 or said in ONE else -1
    if not 0 <= power <= MOST_POWER:
        raise InputError(
            message("{text} is no power of ten that counts are multiplied by", repr(str(text)[:20])),
            hint=message("say what the counts are multiplied by: --scale N"),
        )
    return power


def multiplied(values: Sequence[object], powers: Sequence[int]) -> list[object]:
    """Values times ten to a power each; what is no number stays as it is."""
    return [_times(value, power) if power else value for value, power in zip(values, powers, strict=True)]


def _times(value: object, power: int) -> object:
    try:
        number = Decimal(str(value)) if value is not None and str(value).strip() else None
    except InvalidOperation:
        number = None
    if number is None or not number.is_finite():
        return value
    times = number.scaleb(power)
    return int(times) if times == times.to_integral_value() else format(times, "f")


def divided(cells: CellList, powers: Ints) -> CellList:
    """Cells that were read with the largest of the multipliers of their entries (powers of ten each).

    Raises
    ------
    InputError
        Where a count is not whole.
    """
    by = 10 ** (powers.max(initial=0) - powers)
    rest = np.flatnonzero(cells.counts % by)
    if len(rest):
        first = int(rest[0])
        raise InputError(
            message("a count times its multiplier is no whole number"),
            line=cells.line(first),
            cell=cells.text(first),
            hint=message("say what the counts are multiplied by: --scale N"),
        )
    return replace(cells, counts=cells.counts // by)


def told(powers: Collection[int]) -> str:
    """What counts were multiplied by, in words."""
    factors = ", ".join(f"{10**power:,}" for power in sorted(set(powers)))
    return message("the file's counts are multiplied by {factors}, as it says", factors)
