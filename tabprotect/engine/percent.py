"""Shares as every sentence writes them: ``5 %``, as the unit after its number."""

from __future__ import annotations

from tabprotect.languages.said import say


def percent(share: float) -> str:
    """A share in whole hundredths."""
    return say("{share:.0f} %", share=100 * share)
