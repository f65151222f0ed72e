"""Figures of what a reader learns of whole groups of people. Public: a function of the release alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.release.findings import Finding
from tabprotect.engine.release.limits import LEAST_EXPECTED, ROUNDING, Limits
from tabprotect.languages.messages import in_100, message

NO_GROUP = 1e-9
"""Expected groups below which there is no mean belief."""


@dataclass(frozen=True)
class Groups(Encodable):
    """What a reader learns of whole groups of people in one table, or in all.

    Attributes
    ----------
    shared
        The sensitive variables, each in turn.
    least
        People from which on a group counts.
    number
        Expected number of such groups; ``None`` where nothing was worked out.
    whole
        Expected number of them in which all share a category.
    squares
        The sum of the squares of these beliefs.
    known
        Number of groups of which that is believed with more than the limit.
    error
        The largest standard error of a belief, 0 if exact.
    judged
        Whether the limits judge it; it is told otherwise.
    open
        Whether a limit could be broken by what is bounded and not taken in.
    """

    shared: tuple[str, ...]
    least: int
    number: float | None
    whole: float = 0.0
    squares: float = 0.0
    known: int = 0
    error: float = 0.0
    judged: bool = False
    open: bool = False
    json_keys = "groups=expected groups_known groups_mean_belief=mean_belief"

    @property
    def expected(self) -> float | None:
        """The expected number of groups that share a category; ``None`` where it is not known."""
        return None if self.number is None else self.whole

    @property
    def groups_known(self) -> int | None:
        """The number of those that are known; ``None`` where it is not known."""
        return None if self.number is None else self.known

    @property
    def mean_belief(self) -> float | None:
        """What the reader expects their belief to be over the groups that do share one."""
        return self.squares / self.whole if self.number is not None and self.whole >= NO_GROUP else None

    @classmethod
    def of_all(cls, tables: Sequence[Groups]) -> Groups | None:
        """The figures of several tables; those of which nothing is known count for nothing."""
        if not tables:
            return None
        told = [one for one in tables if one.number is not None]
        shared = tuple(dict.fromkeys(name for one in tables for name in one.shared))
        return cls(
            shared,
            tables[0].least,
            sum(one.number or 0.0 for one in told) if told else None,
            sum(one.whole for one in told),
            sum(one.squares for one in told),
            sum(one.known for one in told),
            max((one.error for one in told), default=0.0),
            tables[0].judged,
        )

    def fails(self, limits: Limits) -> bool:
        """True if the limits judge it, and it is beyond them: the limits that small counts have."""
        return self.judged and (
            self.known > limits.share * self.whole
            or (self.mean_belief or 0.0) > limits.mean_belief_limit + ROUNDING
        )

    def findings(self, limits: Limits) -> tuple[Finding, ...]:
        """What is to be said of it; nothing where it is told only, and there is none."""
        if self.number is None:
            return (Finding("groups_unknown", "mind" if self.judged else "told"),)
        none = not self.known and self.whole < LEAST_EXPECTED
        if none and not self.judged:
            return ()
        one = len(self.shared) == 1
        what = message("category of {name}", self.shared[0]) if one else message("category")
        values = {
            "of": round(self.number),
            "least": self.least,
            # Of less than one in words: "less than 1 is believed".
            "n": max(round(self.whole), 1),
            "believed": message("less than 1")
            if 0 < self.whole < 0.5
            else message("{groups:,}", round(self.whole)),
            "what": what,
            "known": self.known,
            "limit": int(limits.share * self.whole + ROUNDING),
            "chance": in_100(self.mean_belief or 0.0),
            "often": in_100(limits.mean_belief_limit),
        }
        if none:
            return (Finding("groups_none", values=values),)
        if not self.fails(limits):
            return (Finding("groups", values=values),)
        beyond = "groups_known" if self.known > limits.share * self.whole else "groups_guess"
        return (Finding(beyond, "failed", values),)
