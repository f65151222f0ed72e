"""The sums that a cycle breaks: buttons that go there or mend it, and the cells they run over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from tabprotect.engine.arrays import Bools
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.moves import MoveSet, Violation
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.buttons import emptied, named, push_button
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import FlowLayout
from tabprotect.gui.look.theme import GRID, signed_text
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr

MOST_LISTED = 5
"""Broken sums that get a button."""

MOST_OUTLINED = 50
"""Broken sums whose cells are outlined."""

MOST_FOUND = 100


def broken_sums(moves: MoveSet, cycle: int) -> list[Violation]:
    """The kept sums that one cycle breaks."""
    return moves.take([cycle]).violations(most=MOST_FOUND)


def cells_inside(found: list[Violation], layout: Layout, domain: Domain) -> Bools | None:
    """Cells of the broken sums that the edges of the table have no place for."""
    layers = set(layout.placement.layers)
    edges = ({*layout.placement.rows} | layers, {*layout.placement.columns} | layers)
    if not (inside := [v for v in found if set(v.margin) not in edges][:MOST_OUTLINED]):
        return None
    out = np.zeros(domain.shape, dtype=np.bool_)
    for violation in inside:
        fixed = dict(zip(violation.margin, violation.index, strict=True))
        out[tuple(fixed.get(name, slice(None)) for name in domain.names)] = True
    return out


def cell_of(violation: Violation, moves: MoveSet, cycle: int) -> Index | None:
    """A cell of the cycle that a broken sum runs over."""
    cells, _ = moves.entries(cycle)
    keys = moves.domain.project_keys(cells, violation.margin)
    at = np.flatnonzero(keys == moves.domain.project(violation.margin).flat(violation.index))
    return moves.domain.unflat(int(cells[at[0]])) if len(at) else None


def named_sums(violations: Sequence[Violation]) -> dict[int, str]:
    """Name for each cycle that breaks sums which ones, to be looked for."""
    out: dict[int, list[str]] = {}
    for one in violations:
        out.setdefault(one.cycle, []).extend((*one.margin, *one.labels))
    return {cycle: joined(names, " ").casefold() for cycle, names in out.items()}


class BrokenSums(QWidget):
    """A row of buttons, hidden while nothing is broken. ``chosen`` carries the violation."""

    chosen = Signal(object)
    mend_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._row = FlowLayout(self, gap=GRID // 2)
        self.hide()

    def show_sums(self, cycle: int, found: list[Violation], *, editable: bool) -> None:
        """List the sums that a cycle breaks."""
        emptied(self._row)
        self.setVisible(bool(found))
        if not found:
            return
        self._row.addWidget(Label(message("Cycle {cycle} breaks", cycle + 1)))
        for violation in found[:MOST_LISTED]:
            label = joined(violation.labels, ", ") or message("the total")
            amount = signed_text(violation.amount)
            button = named(
                QPushButton(tr("{named}: {amount}", label, amount)),
                message("Broken sum {named}, {amount}: go there", label, amount),
                tip=tip(message("Sum over {margin}: go to a cell of it.", joined(violation.margin, ", "))),
                clicked=lambda _=False, v=violation: self.chosen.emit(v),
            )
            self._row.addWidget(button)
        if len(found) > MOST_LISTED:
            more = "many" if len(found) >= MOST_FOUND else str(len(found) - MOST_LISTED)
            self._row.addWidget(Label(message("and {more} more", more)))
        self.mend = push_button(
            message("Mend"),
            self.mend_asked,
            tip=message("Sets the fewest further signs with which every kept sum stays."),
        )
        self.mend.setVisible(editable)
        self._row.addWidget(self.mend)
