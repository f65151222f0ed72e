"""The limits by which releases are judged. Public: every mechanism states its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.errors import ParameterError
from tabprotect.languages.messages import message

SHARE = 0.05
"""Share of the at-risk cells expected by a reader that may be known."""

MEAN_BELIEF_LIMIT = 2 / 3
"""A reader's guess at a small count may be right at most two times in three."""

NO_CHANGE_LIMIT = 0.05
"""Chance up to which a draw may change nothing at all: known beforehand from the kept sums."""

ATTEMPTS = 3
"""Most draws of a method with chance."""

LEAST_EXPECTED = 0.05
"""Expected at-risk cells below which a figure with one decimal is said as none."""

ROUNDING = 1e-12
"""The tolerance for sums of probabilities, so that what equals a limit keeps it."""


@dataclass(frozen=True)
class Limits:
    """The limits of what a reader may learn.

    Attributes
    ----------
    belief_limit, share
        Known: one at-risk value is believed with more than ``belief_limit``. At most ``share``
        of the expected at-risk cells of each judged table may be known.
    mean_belief_limit
        The most that a reader may expect their belief in the truth to be, over the at-risk cells of
        each judged table; 1 for no limit.
    small_share
        Share of the expected at-risk cells of each judged table of which a reader may be certain
        that they are at risk, whichever value they hold; 1 for no limit.
    insider_limit
        The highest chance with which somebody alone in a cell may learn another at-risk count;
        1 where that is told and not judged.
    """

    belief_limit: float = BELIEF_LIMIT
    share: float = SHARE
    mean_belief_limit: float = MEAN_BELIEF_LIMIT
    small_share: float = 1.0
    insider_limit: float = 1.0

    SHARES: ClassVar[tuple[str, ...]] = ("share", "mean_belief_limit", "small_share", "insider_limit")

    def __post_init__(self) -> None:
        wrong = {
            name: message("must be from 0 to 1, is {share}", getattr(self, name))
            for name in self.SHARES
            if not 0 <= getattr(self, name) <= 1
        }
        if not 0.5 <= self.belief_limit < 1:
            wrong["belief_limit"] = message(
                "must be at least 0.5 and below 1, is {belief_limit}", self.belief_limit
            )
        if wrong:
            raise ParameterError(wrong)
