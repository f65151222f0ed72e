"""A publication as the register keeps it, and the relation of earlier ones to another table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from tabprotect.engine.disclosure.policy import Again
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.register.original_marks import OriginalMarks
from tabprotect.languages.said import say

Relation = Literal["original", "records", "variables"]
"""The same original; the same records under other variables; variables of the same name."""

RELATIONS: Mapping[Relation, str] = {
    "original": say("this original left the house before"),
    "records": say("a table of the same records left the house before"),
    "variables": say("a table with some of the same variables left the house before"),
}
"""The meaning of each relation, the closest first."""

KIND = "published_before"


@dataclass(frozen=True)
class LeavingPublication:
    """A publication that is about to leave the house.

    Attributes
    ----------
    marks
        Keyed fingerprints of the original.
    bundle
        The bundle's own fingerprint, the SHA-256 of the zip; public.
    method, title
        As the release states them.
    gate
        As stated in the mechanism; empty if none is stated.
    decisions
        Decisions taken against the program's advice, in words.
    who
        The name of the publisher.
    """

    marks: OriginalMarks
    bundle: str
    method: str
    title: str
    gate: Mapping[str, object]
    decisions: tuple[str, ...]
    who: str

    @property
    def method_label(self) -> str:
        """The method's name for people; for a plug-in that is missing, the name as stated."""
        known = methods().get(self.method)
        return self.method if known is None else known.label


@dataclass(frozen=True)
class RegisterEntry:
    """A publication in the register.

    Attributes
    ----------
    number
        1, 2, ... in the order of publication.
    time
        Time of publication in UTC.
    withdrawn, withdrawn_reason
        Time and reason of a withdrawal, if there was one. What was read cannot be unread: a
        withdrawn release still counts.
    """

    number: int
    time: datetime
    publication: LeavingPublication
    withdrawn: datetime | None = None
    withdrawn_reason: str = ""

    @property
    def day(self) -> str:
        """The day of publication, for people."""
        return f"{self.time.day} {self.time:%B %Y}"

    def as_json(self) -> dict[str, object]:
        """For ``--json``; confidential."""
        of = self.publication
        return {
            "number": self.number,
            "time": _text(self.time),
            "who": of.who,
            "title": of.title,
            "method": of.method,
            "bundle": of.bundle,
            "original": of.marks.original,
            "variables": list(of.marks.variables),
            "gate": dict(of.gate),
            "decisions": list(of.decisions),
            "withdrawn": None if self.withdrawn is None else _text(self.withdrawn),
            "withdrawn_reason": self.withdrawn_reason,
        }

    @property
    def line(self) -> str:
        """The entry on one line."""
        of = self.publication
        gone = (
            ""
            if self.withdrawn is None
            else say(", withdrawn ({withdrawn_reason})", self.withdrawn_reason)
        )
        title = f" {of.title!r}" if of.title else ""
        return say(
            "{number}  {time}  {method}{title}  {bundle}  {who}{gone}",
            self.number,
            _text(self.time),
            of.method,
            title,
            of.bundle[:12],
            of.who,
            gone,
        )


@dataclass(frozen=True)
class Earlier:
    """An earlier publication that bears on a table, and its relation."""

    entry: RegisterEntry
    relation: Relation

    def as_json(self) -> dict[str, object]:
        """For ``--json``; confidential."""
        return {"relation": self.relation, **self.entry.as_json()}


def related(
    marks: OriginalMarks, entries: Sequence[RegisterEntry], *, but: str = ""
) -> list[Earlier]:
    """The earlier publications that bear on an original, the closest first, then the latest.

    Parameters
    ----------
    but
        Fingerprint of a bundle that does not count as another release: the same bytes add nothing.
    """
    found = []
    for entry in entries:
        of = entry.publication.marks
        if entry.publication.bundle == but:
            continue
        relation: Relation
        if of.original == marks.original:
            relation = "original"
        elif set(of.records) & set(marks.records):
            relation = "records"
        elif set(of.variables) & set(marks.variables):
            relation = "variables"
        else:
            continue
        found.append(Earlier(entry, relation))
    closeness = list(RELATIONS)
    return sorted(found, key=lambda e: (closeness.index(e.relation), -e.entry.number))


def warnings_of(earlier: Sequence[Earlier]) -> list[dict[str, str]]:
    """One warning for each way in which the earlier publications bear on the table."""
    out = []
    for relation, said in RELATIONS.items():
        mine = [e.entry for e in earlier if e.relation == relation]
        if not mine:
            continue
        last = mine[0]
        times = "" if len(mine) == 1 else say(", {mine} times, last", len(mine))
        message = (
            say(
                "{said}{times} on {day} (release {number}, {method_label}"
                ", withdrawn since); together they tell readers more",
                said,
                times,
                last.day,
                last.number,
                last.publication.method_label,
            )
            if last.withdrawn
            else say(
                "{said}{times} on {day} (release {number}, {method_label}"
                "); together they tell readers more",
                said,
                times,
                last.day,
                last.number,
                last.publication.method_label,
            )
        )
        out.append({"kind": KIND, "message": message})
    return out


def admit(earlier: Sequence[Earlier], rule: Again, reason: str) -> str:
    """Decide if another release may go out; return the decision to record, empty if none.

    Variables that merely share a name lead to a warning under every rule.

    Raises
    ------
    RefusedError
        If the policy refuses it, or requires a reason and there is none.
    """
    close = [e for e in earlier if e.relation != "variables"]
    if not close:
        return ""
    said = warnings_of(close)[0]["message"]
    if rule == "refuse":
        raise RefusedError(said, hint=say("the house's policy allows no second release of a table"))
    if rule == "reason" and not reason:
        raise RefusedError(
            said, hint=say("the house's policy takes a reason: say why it is published")
        )
    return say("published again: {reason}", reason) if reason else ""


def _text(time: datetime) -> str:
    return time.replace(tzinfo=UTC).isoformat(timespec="seconds")
