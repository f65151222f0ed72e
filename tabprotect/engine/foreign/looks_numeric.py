"""What was meant as a number, whether it is a valid one or not."""

from __future__ import annotations

import re
from collections.abc import Collection

_NUMBER_LIKE = re.compile(r"[+-]?[0-9][0-9., '\u2019\u00a0\u202f]*(?:[eE][+-]?[0-9]+)?")


def looks_numeric(text: str) -> bool:
    """Return True if a field was meant as a number (valid or not: negative, with commas, ...)."""
    return _NUMBER_LIKE.fullmatch(text.strip()) is not None


def mostly_numeric(texts: Collection[str]) -> bool:
    """Return True if most of some fields were meant as numbers."""
    return 2 * sum(map(looks_numeric, texts)) > len(texts)
