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
    (10**6, r"millions?|millioner|millionen|miljoner|miljoonaa|mio\.?|mill\.?|mils|mln|1[ .,]?000[ .,]?000|millones|milioni|milj\.?|milh\u00f5es"),
    (10**3, r"thousands?|thou\.?|tusen\w*|tausend\w*|tsd\.?|ths|'?000'?s?|milliers?|miles|mila|migliaia|milhares|duizend\w*|1[ .,]?000'?s?"),
)  # fmt: skip
_SAID = [
    (factor, re.compile(rf"(?<![^\W_])(?<![.,])(?:{words})(?![\w.,]?\d)(?![^\W_])", re.IGNORECASE))
    for factor, words in _WORDS
]
_SHARES = r"%|\u2030|per ?cent(s|ages?)?|pct|pro[zcs][ea]n\w*|percentages?|porcentajes?|pour ?cent(ages?)?|por ciento|percento|percentuale|prosenttia|promille|per mille"
_MEANS = r"index|indices|rates?|ratios?|means?|averages?|medians?|gennemsnit\w*|genomsnitt\w*|durchschnitt\w*|moyennes?|promedios?"
_MONEY = r"euros?|eur|usd|gbp|dkk|sek|nok|chf|jpy|dollars?|kroner|kronor|francs?|pounds?|yen"
_NO_COUNTS = re.compile(rf"(?<![^\W_])({_SHARES}|{_MEANS}|{_MONEY})(?![^\W_])", re.IGNORECASE)
_RATE = re.compile(
    r"\b(per|pro|je|par|por|pr\.?) (\d|capita|head|km|inhab|person|household|family|einwohner|kopf|habitant|inv)|/\s?km",
    re.IGNORECASE,
)
_CODES = re.compile(r"(PC|PCT|RT|IX|XDC|EUR|CP|CLV)\d*(_\w+)?")
"""Codes of units in SDMX that are of no counts."""


def counts_nothing(unit: str) -> bool:
    """Return True if a unit says that figures are no counts: shares, means, rates, money."""
    text = unit.strip()
    found = _CODES.fullmatch(text) or _NO_COUNTS.search(text) or _RATE.search(text)
    return found is not None


def multiplier_in(unit: str) -> int:
    """What a unit in words says that figures are multiplied by: 1,000 for ``thousand persons``; else 1."""
    # A rate per 1,000 is no multiple.
    if re.search(r"\b(per|pro|par|por)\b|/", unit, re.IGNORECASE):
        return 1
    return next((factor for factor, words in _SAID if words.search(unit)), 1)


_BRACKETS = re.compile(
    r"[(\[]([^)\]]*)[)\]]|\b(?:in|en|i)\s+([^,;]{1,24})$|^(?:tab\w*\s+\S+\s*)?((?:per ?cent|prozent|procent|pourcent|mean |average |median )\w*)",
    re.IGNORECASE,
)


def units_in(titles: Iterable[str]) -> list[str]:
    """What titles say of units: in brackets, at their end behind ``in``, or as their first word."""
    return [
        found[1] or found[2] or found[3]
        for title in titles
        for found in _BRACKETS.finditer(title.strip().rstrip("."))
    ]


def multiples_in(notes: Iterable[str]) -> list[str]:
    """What notes below a table say of multiples; of other units they speak of other things, too."""
    return [unit for unit in units_in(notes) if multiplier_in(unit) > 1]


def refuse_units(units: Collection[str], reading: Reading, *, multiplied: bool = False) -> None:
    """Refuse figures that are multiples or no counts by their unit, unless it is said what they are.

    Parameters
    ----------
    multiplied
        True if the file states multipliers beside its units.

    Raises
    ------
    InputError
        With the unit.
    """
    for unit in units if reading.scale is None else ():
        factor = 1 if multiplied else multiplier_in(unit)
        if counts_nothing(unit):
            raise InputError(
                message("the unit of the figures is {unit}: they are no counts", repr(unit.strip())),
                hint=message(
                    "take the counts behind them; sums are tabulated from records (--measure); if they are "
                    "whole persons as they stand: --scale 1"
                ),
            )
        if factor > 1:
            raise InputError(
                message("the unit of the figures is {unit}", repr(unit)),
                hint=message(
                    "say what they are multiplied by: --scale {factor}; or, if they are whole persons as they "
                    "stand: --scale 1",
                    factor,
                ),
            )


def refuse_several(units: Collection[str], variable: str = "") -> None:
    """Refuse observations of several units, which no table of counts holds side by side."""
    if len(units) > 1 and variable:
        raise InputError(
            message("the observations are in several units: {units}", ", ".join(map(repr, list(units)[:5]))),
            hint=message("open those of one: --where {variable}={one}", variable, next(iter(units))),
        )
    if len(units) > 1:
        raise InputError(
            message("the observations are in several units: {units}", ", ".join(map(repr, list(units)[:5]))),
            hint=message(
                "open the observations of one unit: --where VARIABLE=VALUE of the variable that tells them apart, "
                "or ask the service for one"
            ),
        )


def check_unit_variables(cells: CellList, reading: Reading) -> None:
    """Refuse what a variable of units says in its categories, and several of them side by side."""
    for name, code in (reading.where or {}).items():
        if name.strip().casefold() in UNIT_NAMES:
            refuse_units([code], reading)
    for axis, name in enumerate(cells.names):
        if name.strip().casefold() in UNIT_NAMES:
            labels = cells.labels.get(name, {})
            codes = cells.categories[axis]
            said = [text for code in codes for text in (code, labels.get(code, ""))]
            if any(counts_nothing(text) or multiplier_in(text) > 1 for text in said):
                refuse_several(codes, name)
            refuse_units(said, reading)


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
