"""The decisions of a table server that is followed: their list and the lattice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from tabprotect.engine.query_space.lattice import Query
from tabprotect.gui.lattice.lattice_view import LatticeView
from tabprotect.gui.lattice.names import VariableLetters
from tabprotect.gui.lattice.node_looks import NodeLook
from tabprotect.gui.look.layouts import filled
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.query_space.lattice_panel import DRAWN
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Decision:
    """One line of a server's history, as it is listed."""

    number: int
    time: datetime
    user: str
    query: Query
    answer: str
    why: str


class DecisionsView(QSplitter):
    """Left the history of decisions, right the lattice, or ``large`` where it has too many nodes.

    Parameters
    ----------
    log, lattice
        What a screen reader calls the two.
    """

    def __init__(self, log: str, lattice: str, large: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, childrenCollapsible=False)
        self.log = RowList(log, sortable=False)
        self.lattice = LatticeView(lattice)
        self.lattice.hover_focuses = False
        self.pictures = QStackedWidget()
        filled(self.pictures, self.lattice, large)
        filled(self, self.log, self.pictures)
        self.setSizes([52 * GRID, 52 * GRID])

    def show_log(self, decisions: Iterable[Decision], letters: VariableLetters, *more: ListColumn) -> None:
        """List the decisions, with what else is known of each."""
        every = tuple(decisions)
        texts = {
            message("time"): [one.time.astimezone().strftime("%H:%M:%S") for one in every],
            message("who"): [one.user for one in every],
            message("asked"): [letters.text(one.query) for one in every],
            message("answer"): [one.answer for one in every],
            message("why"): [one.why for one in every],
        }
        numbers = ListColumn(message("no."), [one.number for one in every])
        columns = [ListColumn(head, cells, str, right=False) for head, cells in texts.items()]
        self.log.show_rows((numbers, *columns, *more), stretch=(5,))

    def draw(self, letters: VariableLetters, look: Callable[[Query], NodeLook], said: str) -> bool:
        """Draw the lattice, and say it; ``False`` where it is too large and ``large`` stands there."""
        lattice = letters.lattice
        small = lattice.variables <= DRAWN
        self.pictures.setCurrentIndex(not small)
        if small:
            self.lattice.text = letters.node
            self.lattice.look = look
            levels = [(d, tuple(lattice.level(d))) for d in range(lattice.variables + 1)]
            self.lattice.show_levels(levels, letters)
            self.lattice.say(said)
        return small
