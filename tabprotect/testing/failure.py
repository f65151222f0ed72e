"""How a check says what is wrong."""

from __future__ import annotations


class CheckFailed(AssertionError):  # noqa: N818 (a finding, told to whoever wrote the plug-in)
    """A plug-in does not do what all of its kind do; the text says what, and where it matters."""


def require(holds: bool, wrong: str) -> None:
    """Stop with a reason.

    Raises
    ------
    CheckFailed
        When it does not hold.
    """
    if not holds:
        raise CheckFailed(wrong)
