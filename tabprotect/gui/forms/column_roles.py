"""The role of each column of a file, chosen above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHeaderView, QTableWidget

from tabprotect.gui.look.theme import GRID
from tabprotect.languages.said import say
from tabprotect.languages.speaking import tell, told

ROLES = ("count", "drop", "variable", "label", "where")
"""The options that say what a column is."""

Chosen = dict[str, object]

HEIGHT = 4 * GRID
LEAST_WIDTH = 15 * GRID
MOST_VALUES = 30
"""Categories of a column of which one can be chosen alone."""


class RoleHeader(QHeaderView):
    """The header of a file's lines, with a choice above each column; ``chosen`` carries the options.

    ``first`` columns of the table are no columns of the file.
    """

    chosen = Signal(dict)

    def __init__(self, table: QTableWidget, first: int) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self.first = first
        self.picks: dict[str, QComboBox] = {}
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        self.sectionResized.connect(lambda *_: self._lay())
        table.horizontalScrollBar().valueChanged.connect(lambda _: self._lay())

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        return QSize(size.width(), size.height() + (HEIGHT if self.picks else 0))

    def show_roles(
        self,
        columns: Sequence[str],
        values: Mapping[str, Sequence[str]],
        given: Mapping[str, object],
        counted: str,
    ) -> None:
        """Show what each column is: as ``given`` says, or as it was found.

        Parameters
        ----------
        values
            Column -> its first categories.
        counted
            The column that was taken as the count, if nothing is said.
        """
        if list(self.picks) != list(columns):
            for pick in self.picks.values():
                pick.deleteLater()
            self.picks = {name: self._pick(name, columns, values) for name in columns}
        for name, pick in self.picks.items():
            pick.setCurrentIndex(max(pick.findData(role_of(name, given, counted)), 0))
        self.updateGeometries()
        self._lay()

    def _pick(
        self, name: str, columns: Sequence[str], values: Mapping[str, Sequence[str]]
    ) -> QComboBox:
        pick = QComboBox(self)
        pick.setAccessibleName(tell("What the column {name} is", name))
        offered = [
            (say("variable"), "variable"),
            (say("the count"), "count"),
            (say("leave out"), "drop"),
            *(
                (say("names {other}", other), f"label {other}")
                for other in columns
                if other != name
            ),
            *((say("only {value}", v), f"where {v}") for v in values.get(name, ())[:MOST_VALUES]),
        ]
        for words, role in offered:
            pick.addItem(told(words), role)
        pick.activated.connect(lambda _: self.chosen.emit({name: pick.currentData()}))
        pick.show()
        return pick

    def _lay(self) -> None:
        for number, pick in enumerate(self.picks.values(), self.first):
            left, width = self.sectionViewportPosition(number), self.sectionSize(number)
            pick.setGeometry(left + 2, 2, max(width - 4, 0), HEIGHT - 4)
            pick.setVisible(not self.isSectionHidden(number))

    def updateGeometries(self) -> None:
        super().updateGeometries()
        self._lay()


def role_of(name: str, given: Mapping[str, object], counted: str) -> str:
    """The role of a column, as the choices carry it."""
    label, where = given.get("label"), given.get("where")
    if isinstance(where, Mapping) and name in where:
        return f"where {where[name]}"
    if isinstance(label, Mapping) and name in label:
        return f"label {label[name]}"
    drop = given.get("drop")
    if isinstance(drop, list | tuple) and name in drop:
        return "drop"
    return "count" if name == (given.get("count") or counted) else "variable"


def with_role(given: Mapping[str, object], name: str, role: str) -> Chosen:
    """The options that say what columns are, with another role of one column."""
    kind, _, value = role.partition(" ")
    out: Chosen = {}
    for option in ("drop", "variable"):
        held = given.get(option)
        names = [n for n in held if n != name] if isinstance(held, list | tuple) else []
        out[option] = [*names, name] if kind == option else names
    for option in ("label", "where"):
        said = given.get(option)
        kept = {k: v for k, v in said.items() if k != name} if isinstance(said, Mapping) else {}
        out[option] = {**kept, name: value} if kind == option else kept
    counted = given.get("count")
    out["count"] = name if kind == "count" else "" if counted == name else counted or ""
    return out
