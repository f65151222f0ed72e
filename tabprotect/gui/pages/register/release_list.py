"""The releases as rows of a list, and one of them in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tabprotect.engine.register.register_entry import RELATIONS, RegisterEntry, Relation
from tabprotect.gui.look.listing import ListColumn

HEADS = ("No.", "Published", "Title", "Method", "Who", "This table", "State")

BEARS: dict[Relation, str] = {
    "original": "the same original",
    "records": "the same records",
    "variables": "some of the same variables",
}
"""How a release bears on the open table, for a column."""

assert BEARS.keys() == RELATIONS.keys()


@dataclass(frozen=True)
class ListedRelease:
    """A release, and how it bears on the table that is open."""

    entry: RegisterEntry
    relation: Relation | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The cells of the row."""
        of = self.entry.publication
        return (
            str(self.entry.number),
            self.entry.day,
            of.title or "untitled",
            of.method_label,
            of.who,
            "" if self.relation is None else BEARS[self.relation],
            "withdrawn" if self.entry.withdrawn is not None else _gate(of.gate),
        )


def _gate(gate: Any) -> str:
    stated = gate.get("gate")
    if not isinstance(stated, dict):
        return "no verdict"
    passed = stated.get("passed")
    if passed is None:
        return "not judged"
    return "within the limits" if passed else "beyond the limits, by decision"


def details(row: ListedRelease) -> list[tuple[str, str]]:
    """Name and value of all that the register keeps of a release."""
    entry, of = row.entry, row.entry.publication
    out = [
        ("Published", f"{entry.time:%Y-%m-%d %H:%M} UTC, {of.who or 'nobody named'}"),
        ("Title", of.title or "untitled"),
        ("Method", of.method_label),
        ("Gate", _gate(of.gate)),
        ("Fingerprint", of.bundle),
    ]
    out += [("Decision", text) for text in of.decisions]
    if (day := entry.withdrawn) is not None:
        out.append(("Withdrawn", f"{day:%Y-%m-%d %H:%M} UTC: {entry.withdrawn_reason}"))
    return out


def columns(rows: Sequence[ListedRelease]) -> list[ListColumn]:
    """The releases for a list."""
    return [
        ListColumn(head, [row.texts[at] for row in rows], str, right=False)
        for at, head in enumerate(HEADS)
    ]
