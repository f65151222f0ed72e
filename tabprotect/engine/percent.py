"""Shares as every sentence writes them: ``5 %``, with a space before the unit."""

from __future__ import annotations

from tabprotect.languages.said import say


def percent(share: float) -> str:
    """A share in whole per cent."""
    return say("{share:.0f} %", 100 * share)
