"""The releases as rows of a list, and one of them in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from tabprotect.engine.register.register_entry import RELATIONS, RegisterEntry, Relation
from tabprotect.gui.look.label import tip
from tabprotect.languages.speaking import told

AnyIndex = QModelIndex | QPersistentModelIndex

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


class ReleasesModel(QAbstractTableModel):
    """The latest first."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[ListedRelease] = []

    def show(self, rows: Sequence[ListedRelease]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(HEADS)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        text = told(self.rows[index.row()].texts[index.column()])
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        return tip(text) if role == Qt.ItemDataRole.ToolTipRole else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return told(HEADS[section])
        return None
