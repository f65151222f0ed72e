"""Too many sub-tables to draw: both frontiers as matrices, counts, and a neighbourhood."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from tabprotect.engine.query_space.lattice import Query
from tabprotect.gui.lattice.dimension_bars import DimensionBars
from tabprotect.gui.lattice.lattice_view import LatticeView
from tabprotect.gui.lattice.matrix import FrontierMatrix, by_share
from tabprotect.gui.lattice.names import counted
from tabprotect.gui.lattice.node_looks import NodeLook
from tabprotect.gui.lattice.space import Regions, Space
from tabprotect.gui.lattice.words import spoken
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, count_text


class LargeLattice(QWidget):
    """``asked`` carries a query that was clicked in the neighbourhood, or entered."""

    asked = Signal(int)

    def __init__(self, space: Space, look: Callable[[Query], NodeLook]) -> None:
        super().__init__()
        self.space = space
        self._why = Label(wordWrap=True, role="quiet", name="Why the lattice is not drawn")
        self.released = FrontierMatrix("Released frontier", hatched=False)
        self.unreleasable = FrontierMatrix("Unreleasable frontier", hatched=True)
        self._titles = (Label(), Label())
        for title in self._titles:
            dress(title, "section")
        for matrix in (self.released, self.unreleasable):
            matrix.focused.connect(space.set_focus)
            matrix.activated.connect(self.asked)
        self.bars = DimensionBars()
        self.view = LatticeView("Neighbourhood of the sub-table in focus")
        self.view.look = look
        self.view.focused.connect(space.set_focus)
        self.view.activated.connect(self.asked)
        # Hovering would move the neighbourhood away from under the mouse.
        self.view.hover_focuses = False
        grid = QGridLayout()
        grid.setSpacing(GRID)
        grid.addWidget(self._titles[0], 0, 0)
        grid.addWidget(self._titles[1], 0, 1)
        grid.addWidget(self.released, 1, 0)
        grid.addWidget(self.unreleasable, 1, 1)
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
            f"{len(lattice.axes)} variables have {count_text(len(regions.every))} sub-tables; up "
            f"to {1 << drawn} are drawn one by one. Both frontiers say the same: all "
            "below a table at the left is released, all above one at the right is refused."
        )
        state, widths = regions.state, regions.state.evidence.widths
        of = [widths.values[lattice.at(f.members)] for f in (state.released, state.unreleasable)]
        released, refused = state.released.members, state.unreleasable.members
        columns = by_share(regions.variables, (*released, *refused))
        self._titles[0].setText(f"Released frontier: {counted(len(released), 'table')}")
        self._titles[1].setText(f"Unreleasable frontier: {counted(len(refused), 'table')}")
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
