"""The gate as its reader knows it: the limits by which a release was judged, and the outcome.

The gate is a function of the release alone, so it changes no posterior and anybody can apply it
again. The number of draws that were needed is never disclosed, only the most there could have been.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.languages.said import say

SHARE = 0.05
"""Share of the at-risk cells expected by a reader that may be known."""

ATTEMPTS = 3
"""Most draws of a method with chance."""

MOST_ATTEMPTS = 100

CHANGED = say(
    "Other settings were refused for this table before, by the same gate; what that tells is left "
    "out."
)
"""Sentence for a release whose mechanism was changed after refusals."""

UNSTATED = say(
    "The bundle states no gate: what it would tell that other draws or originals were refused is "
    "left out."
)
"""Sentence for a bundle without a gate."""

READERS = ("uniform", "positive")
"""Beliefs that an intruder may be taken to start with: prior texts that name no file."""


@dataclass(frozen=True)
class Gate:
    """The public limits, stated in the mechanism.

    Attributes
    ----------
    belief_limit, share
        Known: one at-risk value is believed with more than ``belief_limit``. At most ``share``
        of the expected at-risk cells of each judged table may be known.
    at_risk
        The counts at risk.
    attempts_at_most
        Most draws there could have been; 1 for a method without chance.
    intruder
        Prior text of the intruder judged beside the user; empty for none.
    passed
        Whether the release passes; ``None`` if it could not be judged.
    changed
        Whether another mechanism, or other coins, were refused for the same table before.
    """

    belief_limit: float = BELIEF_LIMIT
    share: float = SHARE
    at_risk: SmallCount = field(default_factory=SmallCount)
    attempts_at_most: int = ATTEMPTS
    intruder: str = ""
    passed: bool | None = True
    changed: bool = False

    def __post_init__(self) -> None:
        wrong = {}
        if not 0.5 <= self.belief_limit < 1:
            wrong["belief_limit"] = say(
                "must be at least 0.5 and below 1, is {belief_limit}", self.belief_limit
            )
        if not 0 <= self.share <= 1:
            wrong["share"] = say("must be from 0 to 1, is {share}", self.share)
        if not 1 <= self.attempts_at_most <= MOST_ATTEMPTS:
            wrong["attempts_at_most"] = say("must be from 1 to {MOST_ATTEMPTS}", MOST_ATTEMPTS)
        if self.intruder not in ("", *READERS):
            wrong["intruder"] = say("must be empty or one of {READERS}", ", ".join(READERS))
        if wrong:
            raise ParameterError(wrong)

    def as_json(self) -> dict[str, object]:
        """As ``mechanism.json`` states it."""
        return {
            "attempts_at_most": self.attempts_at_most,
            "gate": {
                "belief_limit": self.belief_limit,
                "share": self.share,
                "at_risk": str(self.at_risk),
                "intruder": self.intruder,
                "passed": self.passed,
                # Left out if false: that is what a reader assumes.
                **({_CHANGED: True} if self.changed else {}),
            },
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Gate | None:
        """Read from a mechanism; ``None`` if none is stated.

        Raises
        ------
        InputError
            If it is not of the form in which gates are written.
        """
        stated = data.get("gate")
        if stated is None and "attempts_at_most" not in data:
            return None
        try:
            assert isinstance(stated, Mapping) and set(stated) - {_CHANGED} == set(_FIELDS)
            assert stated.get(_CHANGED, True) is True
            passed, attempts = stated["passed"], data["attempts_at_most"]
            assert passed is None or isinstance(passed, bool)
            assert type(attempts) is int
            numbers = [stated["belief_limit"], stated["share"]]
            assert all(type(number) in (int, float) for number in numbers)
            assert isinstance(stated["at_risk"], str) and isinstance(stated["intruder"], str)
            return cls(
                belief_limit=float(numbers[0]),
                share=float(numbers[1]),
                at_risk=SmallCount.parse(stated["at_risk"]),
                attempts_at_most=attempts,
                intruder=stated["intruder"],
                passed=passed,
                changed=_CHANGED in stated,
            )
        except (AssertionError, KeyError, ParameterError):
            raise InputError(say('the mechanism\'s "gate" is not as it was written')) from None


_FIELDS = ("belief_limit", "share", "at_risk", "intruder", "passed")

_CHANGED = "changed_after_refusal"

STATED = frozenset({"gate", "attempts_at_most"})
"""The names under which a mechanism states its gate."""
