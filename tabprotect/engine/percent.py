"""Shares as every sentence writes them: ``5 %``, with a space before the unit."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{100 * share:.0f} %"
