"""Parsing counts, as written by people and programs, into exact whole numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.foreign.workbook_names import FAILED, NO_RESULT
from tabprotect.engine.tables.table import INT64_MAX
from tabprotect.languages.messages import message

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_DECIMAL = re.compile(r"([+-]?[0-9]{1,40})([.,])([0-9]{1,40})")
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:[ .,'\u2019\u00a0\u202f][0-9]{3})+(?:[.,][0-9]+)?")


NO_COUNT = message(
    "counts are whole numbers; means, shares, rates and sums are none; round weighted counts first"
)


class NotACountError(ValueError):
    """A text that is no count: why, what to do about it, and its index among several texts."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why, self.hint = why, hint
        self.at = 0


def parse_count(text: str, *, decimal: str | None = None, scale: int | None = None) -> int:
    """Parse one count, with its sign; the caller knows whether it may be negative.

    A fraction of zeros is a whole number (``3.0``; ``4373664,00`` as tau-ARGUS writes it), except
    that ``1,000`` and ``1.000`` could also mean a thousand and are refused.

    Parameters
    ----------
    decimal
        ``"."`` or ``","``: the mark before decimals, which settles what ``1,000`` means.
    scale
        What the number is multiplied by; its decimals must vanish. ``None`` if nobody says it.

    Raises
    ------
    NotACountError
    """
    if scale not in (None, 1):
        return _scaled(text.strip(), decimal, scale or 1)
    stripped = text.strip()
    if not stripped:
        raise NotACountError(message("the count is empty"), message("write 0 where a cell is empty"))
    if stripped == NO_RESULT:
        raise NotACountError(
            message("the cell holds a formula without its result"),
            message("open the workbook in a spreadsheet program and save it"),
        )
    if FAILED.fullmatch(stripped):
        raise NotACountError(
            message("a formula failed: {stripped}", stripped),
            message('mend it; or say what it means: --marks "{stripped}=missing"', stripped),
        )
    found = _DECIMAL.fullmatch(stripped)
    if not _WHOLE.fullmatch(stripped) and not (found and (decimal is None or found[2] == decimal)):
        raise (
            NotACountError(
                message("{stripped} has separators between its digits", repr(stripped)),
                message("write counts as plain digits"),
            )
            if _GROUPED.fullmatch(stripped)
            else NotACountError(
                message("{stripped} is not a number", repr(stripped[:60])),
                message("every cell needs its count: a suppressed or missing one cannot be protected"),
            )
        )
    value = int(_without_fraction(stripped, decimal, scale, *found.groups()) if found else stripped)
    if abs(value) > INT64_MAX:
        raise NotACountError(
            message("the count {stripped} is larger than 9.2e18", stripped),
            message("check it for a typing error"),
        )
    return value


def _without_fraction(
    text: str, decimal: str | None, scale: int | None, whole: str, mark: str, fraction: str
) -> str:
    """The whole part of a number whose fraction is nothing but zeros."""
    if fraction == "000" and decimal is None and len(whole.lstrip("+-0")) in (1, 2, 3):
        raise NotACountError(
            message("{stripped} can mean {whole} or {whole}000", repr(text), whole),
            message("write counts as plain digits, or say what the decimal mark is"),
        )
    if fraction.strip("0") and mark == ",":
        raise NotACountError(
            message("{stripped} is not a whole number (decimal comma or thousands separator?)", repr(text)),
            message("write counts as plain digits; magnitudes are not counts"),
        )
    if fraction.strip("0"):
        raise NotACountError(message("{stripped} is not a whole number", repr(text)), NO_COUNT)
    return whole


def _scaled(text: str, decimal: str | None, scale: int) -> int:
    """A number with decimals, multiplied exactly."""
    found = _DECIMAL.fullmatch(text)
    whole, mark, fraction = found.groups() if found else (text, "", "")
    if not _WHOLE.fullmatch(whole) or (mark and decimal not in (None, mark)):
        return parse_count(text, decimal=decimal, scale=1)
    value, rest = divmod(abs(int(whole + fraction)) * scale, 10 ** len(fraction))
    if rest:
        raise NotACountError(
            message("{text} times {scale:,} is not a whole number", repr(text), scale), NO_COUNT
        )
    return parse_count(f"-{value}" if whole.startswith("-") else str(value), scale=1)


def parse_counts(
    texts: Sequence[str], *, decimal: str | None = None, scale: int | None = None
) -> tuple[Ints, int]:
    """Parse many counts as int64 (n,), and how many of them were written with decimals.

    Raises
    ------
    NotACountError
        With ``at`` set.
    """
    whole = "".join(texts)
    if scale in (None, 1) and whole.isascii() and whole.isdigit():
        try:
            return np.fromiter(map(int, texts), dtype=np.int64, count=len(texts)), 0
        except (ValueError, OverflowError):
            pass
    values = np.empty(len(texts), dtype=np.int64)
    decimals = 0
    for at, text in enumerate(texts):
        try:
            values[at] = parse_count(text, decimal=decimal, scale=scale)
        except NotACountError as error:
            error.at = at
            raise
        decimals += scale in (None, 1) and ("." in text or "," in text)
    return values, decimals
