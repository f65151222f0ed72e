"""Shares as every sentence writes them: ``5 %``, as the unit after its number."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share in whole hundredths."""
    return f"{100 * share:.0f} %"
