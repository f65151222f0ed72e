"""The lattice drawn: every node up to eight variables; frontiers, counts and a neighbourhood above."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from tabprotect.engine.query_space.lattice import Query
from tabprotect.gui.lattice.lattice_view import LatticeView
from tabprotect.gui.lattice.node_looks import NodeLook
from tabprotect.gui.lattice.space import RELEASED, UNRELEASABLE, Foresight, Regions, Space
from tabprotect.gui.lattice.words import spoken
from tabprotect.gui.look.finder import Finder
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import front_sets_height, in_column, in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.query_space.focus_panel import FocusPanel
from tabprotect.gui.pages.query_space.large_lattice import LargeLattice

DRAWN = 8
"""Variables up to which every sub-table is drawn: 256 nodes."""


class LatticePanel(QWidget):
    """``asked`` carries the query that was clicked or entered."""

    asked = Signal(int)

    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space
        self._wanted: Query = 0
        self.finder = Finder("Find sub-tables by variables", "find variables")
        self.finder.textChanged.connect(lambda _: self._find())
        self.finder.returnPressed.connect(self._go_found)
        self._key = Label(wordWrap=True, role="quiet", name="What the letters stand for")
        self.view = LatticeView("Lattice of sub-tables")
        self.view.focused.connect(space.set_focus)
        self.view.activated.connect(self.asked)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.view)
        self.large = LargeLattice(space, self._look)
        self.large.asked.connect(self.asked)
        self.pages.addWidget(self.large)
        front_sets_height(self.pages)
        head = in_row((self._key, 1), self.finder, spacing=GRID)
        drawn = QWidget()
        in_column(head, (self.pages, 1), on=drawn, margins=0, spacing=GRID)
        drawn.setMinimumWidth(50 * GRID)
        self.focus = FocusPanel(space)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(drawn)
        split.addWidget(self.focus)
        split.setStretchFactor(0, 1)
        split.setSizes([70 * GRID, 34 * GRID])
        in_column((split, 1), on=self, margins=(0, GRID, 0, 0))

    @property
    def picture(self) -> LatticeView:
        """The drawing in front: of the lattice, or of a neighbourhood."""
        return self.large.view if self.pages.currentIndex() else self.view

    def refresh(self) -> None:
        """Draw the regions anew."""
        regions = self.space.regions
        self.focus.setVisible(regions is not None)
        if regions is None or regions.variables > DRAWN:
            self.view.show_levels((), None)
            self.view.say("")
            self._key.clear()
        self.large.refresh(
            regions if regions is not None and regions.variables > DRAWN else None, DRAWN
        )
        if regions is None:
            return
        self._key.setText(regions.letters.key)
        self.pages.setCurrentIndex(regions.variables > DRAWN)
        if regions.variables > DRAWN:
            return
        self.view.text = regions.letters.node
        self.view.look = self._look
        lattice = regions.letters.lattice
        levels = [(d, tuple(lattice.level(d))) for d in range(lattice.variables + 1)]
        self.view.show_levels(levels, regions.letters)
        self.refocus()

    def refocus(self) -> None:
        """Follow the focus and what is known of it."""
        regions = self.space.regions
        if regions is None:
            return
        if regions.variables > DRAWN:
            self.large.refocus(regions)
            return
        self.view.set_focus(self.space.focus)
        self.view.say(spoken(regions, self.space.focus, self.space.foresight()))

    def _look(self, query: Query) -> NodeLook:
        return look_of(self.space.regions, self.space.foresight(), query, self._wanted)

    # -- finding ------------------------------------------------------------------------------

    def _find(self) -> None:
        regions = self.space.regions
        self._wanted = 0 if regions is None else wanted_query(regions, self.finder.text())
        self.view.update()
        self.large.view.update()

    def _go_found(self) -> None:
        regions = self.space.regions
        if regions is not None:
            self.space.set_focus(self._wanted)
            self.picture.setFocus()


def look_of(
    regions: Regions | None, found: Foresight | None, query: Query, wanted: Query
) -> NodeLook:
    """A node's region, and what would become of it."""
    if regions is None:
        return NodeLook(RELEASED)
    ghost, at = None, regions.at(query)
    if found is not None and at < len(found.newly_released):
        if found.newly_released[at]:
            ghost = RELEASED
        elif found.newly_unreleasable[at]:
            ghost = UNRELEASABLE
    return NodeLook(
        int(regions.status[at]),
        frontier=bool(regions.frontier[at]),
        ghost=ghost,
        faint=query & wanted != wanted,
    )


def wanted_query(regions: Regions, text: str) -> Query:
    """The variables that a search names, by name, by the beginning of a name, or by letter."""
    letters, lattice = regions.letters.letters, regions.letters.lattice
    names = lattice.names
    out = 0
    for part in text.replace(",", " ").replace("×", " ").split():
        whole = [v for v, n in enumerate(names) if n.casefold() == part.casefold()]
        begun = [v for v, n in enumerate(names) if n.casefold().startswith(part.casefold())]
        if whole or (begun and len(part) > 1):
            out |= 1 << (whole or begun)[0]
            continue
        for letter in part.upper():
            if letter in letters:
                out |= 1 << letters.index(letter)
    return lattice.closed(out)
