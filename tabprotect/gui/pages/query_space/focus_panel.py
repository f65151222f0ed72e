"""The sub-table in focus: its status, what its release would do, and the cells in the way."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from tabprotect.engine.query_space.criterion_evidence import TightCell
from tabprotect.gui.lattice.space import Space
from tabprotect.gui.lattice.words import foresight_sentence, status_text, tight_title
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.listing import ListColumn, Listing
from tabprotect.gui.look.theme import GRID, count_text


class FocusPanel(QWidget):
    """``cell_chosen`` carries a cell's index."""

    cell_chosen = Signal(object)

    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space
        self.setAccessibleName("The sub-table in focus")
        self._title = Label(wordWrap=True, role="section", name="Sub-table in focus")
        self._status = Label(wordWrap=True, role="quiet", name="Its status")
        self._sentence = Label(wordWrap=True, name="What its release would do")
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._head = Label(wordWrap=True, role="section")
        self.cells = Listing("At-risk cells and their bounds")
        self.cells.chosen.connect(self._cell_chosen)
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
        """What it says would follow."""
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
        self._title.setText(letters.named(query)[:1].upper() + letters.named(query)[1:])
        width = count_text(widths[query])
        self._status.setText(f"{status_text(regions, query)}; critical width {width}")
        if found is None:
            self._sentence.setText("Looking ahead \u2026")
            self._head.hide()
            self.cells.hide()
            return
        self._sentence.setText(foresight_sentence(regions, found))
        cells = found.judgement.tight
        self._head.setText(tight_title(found, regions.state.threshold) if cells else "")
        self._head.setVisible(bool(cells))
        self.cells.setVisible(bool(cells))
        self.cells.show_rows(
            (
                ListColumn("cell", [c.text.strip("()") for c in cells], str, right=False),
                ListColumn("count", [c.count for c in cells]),
                ListColumn("bounds", cells, _bounds, np.array([c.width for c in cells])),
            )
        )

    def _empty(self) -> None:
        """Leave nothing of the original behind in what is merely hidden."""
        for label in (self._title, self._status, self._sentence, self._head):
            label.clear()
        self.cells.show_rows(())

    def _cell_chosen(self, row: int) -> None:
        found = self.space.foresight()
        if found is not None and row < len(found.judgement.tight):
            self.cell_chosen.emit(found.judgement.tight[row].index)


def _bounds(cell: TightCell) -> str:
    return f"{count_text(cell.lower)} to {count_text(cell.upper)}"
