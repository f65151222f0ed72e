"""The lattice drawn: every node up to eight variables; frontiers, counts and a neighbourhood above."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from tabprotect.engine.query_space.lattice import Query
from tabprotect.gui.lattice.dimension_bars import DimensionBars
from tabprotect.gui.lattice.lattice_view import LatticeView
from tabprotect.gui.lattice.matrix import FrontierMatrix, by_share
from tabprotect.gui.lattice.names import counted
from tabprotect.gui.lattice.node_looks import NodeLook
from tabprotect.gui.lattice.space import RELEASED, UNRELEASABLE, Foresight, Regions, Space
from tabprotect.gui.lattice.words import foresight_sentence, spoken, status_text, tight_title
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import (
    filled,
    front_sets_height,
    held,
    in_column,
    in_grid,
    in_row,
    set_visible,
)
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.pages.query_space.panel import SpacePanel
from tabprotect.languages.messages import capital, message
from tabprotect.languages.translation import tr, translate

DRAWN = 8
"""Variables up to which every sub-table is drawn: 256 nodes."""


class LatticePanel(SpacePanel):
    """``asked`` carries the query that was clicked or entered."""

    asked = Signal(int)

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self._wanted: Query = 0
        self.finder = connected(
            Finder(message("Find tables by variables"), message("find variables")),
            textChanged=lambda _: self._find(),
            returnPressed=self._go_found,
        )
        self._key = Label(wordWrap=True, role="quiet", name=message("What the letters stand for"))
        self.view = connected(
            LatticeView(message("Lattice of tables")), focused=space.set_focus, activated=self.asked
        )
        self.pages = QStackedWidget()
        self.pages.addWidget(self.view)
        self.large = connected(LargeLattice(space, self._look), asked=self.asked)
        self.pages.addWidget(self.large)
        front_sets_height(self.pages)
        drawn = held(
            in_column(
                in_row((self._key, 1), self.finder, spacing=GRID), (self.pages, 1), margins=0, spacing=GRID
            )
        )
        drawn.setMinimumWidth(50 * GRID)
        self.focus = FocusPanel(space)
        split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        filled(split, drawn, self.focus)
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
        self.large.refresh(regions if regions is not None and regions.variables > DRAWN else None, DRAWN)
        if regions is None:
            return
        self._key.setText(translate(regions.letters.key))
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
        if (regions := self.space.regions) is None:
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
        if self.space.regions is not None:
            self.space.set_focus(self._wanted)
            self.picture.setFocus()


def look_of(regions: Regions | None, found: Foresight | None, query: Query, wanted: Query) -> NodeLook:
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


class FocusPanel(QWidget):
    """``cell_chosen`` carries a cell's index."""

    cell_chosen = Signal(object)

    def __init__(self, space: Space) -> None:
        super().__init__(accessibleName=tr("The table in focus"))
        self.space = space
        self._title = Label(wordWrap=True, role="section", name=message("Table in focus"))
        self._status = Label(wordWrap=True, role="quiet", name=message("Its status"))
        self._sentence = Label(wordWrap=True, name=message("What its release would do"), selectable=True)
        self._head = Label(wordWrap=True, role="section")
        self.cells = connected(RowList(message("Small counts and their bounds")), chosen=self._cell_chosen)
        in_column(
            self._title,
            self._status,
            self._sentence,
            self._head,
            (self.cells, 1),
            0,
            on=self,
            margins=(GRID, 0, 0, 0),
            spacing=GRID,
        )
        self.setMinimumWidth(31 * GRID)

    @property
    def sentence(self) -> str:
        """Say what it says would follow."""
        return self._sentence.text()

    @property
    def title(self) -> str:
        """The sub-table it shows."""
        return self._title.text()

    def refresh(self) -> None:
        """Show the sub-table in focus as far as it is known."""
        regions, query = self.space.regions, self.space.focus
        found = self.space.foresight()
        if regions is None:
            self._empty()
            return
        letters, widths = regions.letters, regions.state.evidence.widths
        self._title.setText(translate(capital(letters.named(query))))
        width = count_text(widths[query] + 1)
        self._status.setText(
            tr("{regions}; at least {width} values possible", status_text(regions, query), width)
        )
        if found is None:
            self._sentence.setText(tr("Looking ahead \u2026"))
            set_visible(False, self._head, self.cells)
            return
        self._sentence.setText(translate(foresight_sentence(regions, found)))
        cells = found.judgement.tight
        self._head.setText(translate(tight_title(found, regions.state.threshold) if cells else ""))
        set_visible(bool(cells), self._head, self.cells)
        self.cells.show_rows(
            (
                ListColumn(message("cell"), [c.text.strip("()") for c in cells], str, right=False),
                ListColumn(message("count"), [c.count for c in cells]),
                ListColumn(
                    message("bounds"),
                    cells,
                    lambda cell: message(
                        "{lower} to {upper}", count_text(cell.lower), count_text(cell.upper)
                    ),
                    np.array([c.width for c in cells]),
                ),
            )
        )

    def _empty(self) -> None:
        """Leave nothing of the original behind in what is merely hidden."""
        for label in (self._title, self._status, self._sentence, self._head):
            label.clear()
        self.cells.show_rows(())

    def _cell_chosen(self, row: int) -> None:
        if (found := self.space.foresight()) is not None and row < len(found.judgement.tight):
            self.cell_chosen.emit(found.judgement.tight[row].index)


class LargeLattice(QWidget):
    """``asked`` carries a query that was clicked in the neighbourhood, or entered."""

    asked = Signal(int)

    def __init__(self, space: Space, look: Callable[[Query], NodeLook]) -> None:
        super().__init__()
        self.space = space
        self._why = Label(wordWrap=True, role="quiet", name=message("Why the lattice is not drawn"))
        self.released = FrontierMatrix(message("Released frontier"), hatched=False)
        self.unreleasable = FrontierMatrix(message("Refused frontier"), hatched=True)
        self._titles = (Label(), Label())
        for title in self._titles:
            dress(title, "section")
        for matrix in (self.released, self.unreleasable):
            connected(matrix, focused=space.set_focus, activated=self.asked)
        self.bars = DimensionBars()
        self.view = LatticeView(message("Neighbourhood of the table in focus"))
        self.view.look = look
        connected(self.view, focused=space.set_focus, activated=self.asked)
        # Hovering would move the neighbourhood away from under the mouse.
        self.view.hover_focuses = False
        grid = in_grid(across=GRID, down=GRID)
        for column, (title, frontier) in enumerate(
            zip(self._titles, (self.released, self.unreleasable), strict=True)
        ):
            grid.addWidget(title, 0, column)
            grid.addWidget(frontier, 1, column)
        grid.addWidget(self.bars, 2, 0)
        grid.addWidget(self.view, 2, 1)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(1, 4)
        grid.setRowStretch(2, 5)
        in_column(self._why, (grid, 1), on=self, margins=0, spacing=GRID)

    def refresh(self, regions: Regions | None, drawn: int) -> None:
        """Show the regions anew; up to ``drawn`` variables they would have been drawn."""
        if regions is None:
            self.released.clear()
            self.unreleasable.clear()
            self.bars.show_counts(self.bars.counts[:, :0])
            self.view.show_levels((), None)
            self.view.say("")
            return
        lattice = regions.letters.lattice
        self._why.setText(
            tr(
                "{axes} variables have {every} tables; up to {value} are drawn one by one. "
                "Both frontiers say the same: all below a table at the left is released, all "
                "above one at the right is refused.",
                len(lattice.axes),
                count_text(len(regions.every)),
                1 << drawn,
            )
        )
        state, widths = regions.state, regions.state.evidence.widths
        of = [widths.values[lattice.at(f.members)] for f in (state.released, state.unreleasable)]
        released, refused = state.released.members, state.unreleasable.members
        columns = by_share(regions.variables, (*released, *refused))
        self._titles[0].setText(tr("Released frontier: {released}", counted(len(released), "table")))
        self._titles[1].setText(tr("Refused frontier: {refused}", counted(len(refused), "table")))
        self.released.show_frontier(regions.letters, released, columns, of[0])
        self.unreleasable.show_frontier(regions.letters, refused, columns, of[1])
        self.bars.show_counts(regions.by_dimension)
        self.view.text = regions.letters.text
        self.refocus(regions)

    def refocus(self, regions: Regions) -> None:
        """Follow the focus."""
        query, lattice = self.space.focus, regions.letters.lattice
        size = query.bit_count()
        levels = [
            (size - 1, tuple(lattice.below(query))),
            (size, (query,)),
            (size + 1, tuple(lattice.above(query))),
        ]
        self.view.show_levels([level for level in levels if level[1]], regions.letters)
        self.view.set_focus(query)
        self.view.say(spoken(regions, query, self.space.foresight()))
        self.released.set_focus(query)
        self.unreleasable.set_focus(query)
