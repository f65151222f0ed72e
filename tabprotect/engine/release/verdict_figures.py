"""Figures of what a reader learns from a release. Public: a function of the release alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tabprotect.languages.said import capital, joined, plural, say

JudgedBy = Literal["exact", "exact_draws", "simulation", "bounds", "none"]
"""The way in which a posterior was found: exactly; by independent exact draws; by weighed or
dependent draws; only bounds; not at all."""

WAYS: tuple[JudgedBy, ...] = ("exact", "exact_draws", "simulation", "bounds", "none")
"""From the surest way to none."""

SAID = {
    "exact": say("exactly"),
    "exact_draws": say("by exact draws"),
    "simulation": say("by simulation"),
    "bounds": say("by bounds alone"),
    "none": say("not at all"),
}

Who = Literal["user", "intruder", "insider"]

READER: Mapping[Who, str] = {
    "user": say("a reader"),
    "intruder": say("an intruder"),
    "insider": say("somebody who is alone in a cell"),
}

NOT_WORKED_OUT = say("what a reader learns could not be worked out")

LEAST_EXPECTED = 0.05
"""Expected at-risk cells below which a figure with one decimal is said as none."""

CERTAIN = 1 - 1e-9
"""Belief from which on a count is certain: the rest is rounding."""


@dataclass(frozen=True)
class TableVerdict:
    """What one reader learns about the cells of one table.

    Attributes
    ----------
    who
        The reader.
    names
        The table's variables; none for the grand total.
    inner
        Whether its cells are the inner cells, published or not.
    cells
        Number of cells that were judged.
    at_risk
        Number of at-risk cells that the reader expects among them.
    known, certain
        Number of cells where one at-risk value is believed with more than the limit; as good as
        certain.
    way, error
        The way the posterior was found; the largest standard error of a probability, 0 if exact.
    note
        The part left out, in words; empty if none was.
    """

    who: Who
    names: tuple[str, ...]
    inner: bool
    cells: int
    at_risk: float
    known: int
    certain: int
    way: JudgedBy
    error: float = 0.0
    note: str = ""

    @property
    def label(self) -> str:
        """The table in words."""
        return " × ".join(self.names) or say("grand total")

    @property
    def judged(self) -> bool:
        """True if there is a posterior to judge by."""
        return self.way not in ("bounds", "none")

    def as_json(self) -> dict[str, object]:
        """One entry of ``tables``."""
        return {
            "reader": self.who,
            "table": list(self.names),
            "inner": self.inner,
            "cells": self.cells,
            "at_risk": self.at_risk,
            "known": self.known,
            "certain": self.certain,
            "way": self.way,
            "error": self.error,
            "complete": not self.note,
            "note": self.note,
        }


@dataclass(frozen=True)
class Verdict:
    """What readers learn from everything that is published together.

    The figures are those of the user, who assumes nothing; other readers are in ``tables``.

    Attributes
    ----------
    tables
        Every judged table, for each reader.
    belief_limit, share, attempts_at_most
        The limits that applied.
    note
        The part left out, in words; empty if none was.
    """

    tables: tuple[TableVerdict, ...]
    belief_limit: float
    share: float
    attempts_at_most: int
    note: str = ""

    @property
    def _user(self) -> tuple[TableVerdict, ...]:
        return tuple(table for table in self.tables if table.who == "user")

    @property
    def at_risk(self) -> float:
        """Expected number of at-risk cells, over all judged tables."""
        return sum(table.at_risk for table in self._user)

    @property
    def known(self) -> int:
        """Number of known cells, over all judged tables."""
        return sum(table.known for table in self._user)

    @property
    def certain(self) -> int:
        """Number of certain cells, over all judged tables."""
        return sum(table.certain for table in self._user)

    @property
    def limit(self) -> float:
        """The largest number of cells that may be known in all."""
        return self.share * self.at_risk

    @property
    def way(self) -> JudgedBy:
        """The least sure way among all judged tables."""
        return max((t.way for t in self.tables), key=WAYS.index, default="none")

    @property
    def error(self) -> float:
        """The largest standard error of a probability."""
        return max((t.error for t in self.tables), default=0.0)

    @property
    def complete(self) -> bool:
        """True if everything public was taken into account, and exactly."""
        return not self.note

    @property
    def judged(self) -> bool:
        """True if every table could be judged for every reader who matters for it."""
        return bool(self.tables) and all(table.judged for table in self.tables)

    @property
    def failing(self) -> tuple[TableVerdict, ...]:
        """Tables of which a user or an intruder would know too many cells.

        Each table has to pass by itself, so that a second one beside it never helps; then they pass
        together, too.
        """
        others = (table for table in self.tables if table.who != "insider")
        return tuple(t for t in others if t.known > self.share * t.at_risk)

    @property
    def accepted(self) -> bool:
        """True if the release passes the gate. A release that cannot be judged never passes."""
        return self.judged and not self.failing

    @property
    def passed(self) -> bool | None:
        """As :attr:`accepted`, but ``None`` if the release can be neither accepted nor refused."""
        return None if not self.judged and not self.failing else self.accepted

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        failing = self.failing
        if failing:
            return joined((self._failure(table) for table in failing[:3]), " ")
        if not self.judged:
            return say("{said}. {note}", capital(NOT_WORKED_OUT), self.note)
        inside = joined(
            say(" {said}.", capital(learned(table, 0.0)))
            for table in self.tables
            if table.who == "insider" and table.known
        )
        said = capital(learned(self, self.limit))
        return say("{said}.{inside} Judged {SAID}", said, inside, SAID[self.way]) + (
            "." if self.complete else say(", incompletely. {note}", self.note)
        )

    def _failure(self, table: TableVerdict) -> str:
        which = say("the inner cells") if table.inner else say("the table {label}", table.label)
        return say("{said} ({which}).", capital(learned(table, self.share * table.at_risk)), which)

    def as_json(self) -> dict[str, object]:
        """The figures for ``--json``."""
        return {
            "at_risk": self.at_risk,
            "known": self.known,
            "certain": self.certain,
            "limit": self.limit,
            "accepted": self.accepted,
            "attempts_at_most": self.attempts_at_most,
            "belief_limit": self.belief_limit,
            "share": self.share,
            "way": self.way,
            "error": self.error,
            "complete": self.complete,
            "note": self.note,
            "tables": [table.as_json() for table in self.tables],
            "sentence": self.sentence,
        }


def nothing_expected(judged: TableVerdict | Verdict) -> bool:
    """True if a reader expects next to no cell at risk, and knows none."""
    return not (judged.known or judged.certain) and judged.at_risk < LEAST_EXPECTED


def learned(judged: TableVerdict | Verdict, limit: float) -> str:
    """What a reader would know of one table, or of all, as part of a sentence.

    Parameters
    ----------
    limit
        Cells that may be known; insiders have none.
    """
    who: Who = judged.who if isinstance(judged, TableVerdict) else "user"
    reader, certain = READER[who], judged.certain
    if nothing_expected(judged):
        if who == "insider":
            return say("{reader} expects no other cell to be at risk", reader)
        return say("{reader} expects no cell to be at risk", reader)
    sure = (
        plural(certain, "{certain:,} is certain", "{certain:,} are certain", certain)
        if certain
        else say("none is certain")
    )
    at_risk = expected_number(judged.at_risk)
    if who == "insider":
        return say(
            "{reader} would know {known:,} of {at_risk} expected other at-risk cells; {sure}",
            reader,
            judged.known,
            at_risk,
            sure,
        )
    return say(
        "{reader} would know {known:,} of {at_risk} expected at-risk cells (limit {limit}); {sure}",
        reader,
        judged.known,
        at_risk,
        expected_number(limit),
        sure,
    )


def expected_number(value: float) -> str:
    """An expected number of cells as sentences write it: ``19.5``, ``1,390``, ``0``."""
    whole = f"{value:,.1f}".endswith(".0")
    return say("{value:,.0f}" if whole else "{value:,.1f}", value)
