"""What an outsider believes of the magnitude in a cell, beside what is believed of its count."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.grid.magnitude_grid import magnitude_text
from tabprotect.gui.plots.canvas import Mark
from tabprotect.gui.plots.spread import SpreadPlot
from tabprotect.languages.messages import message

LEVELS = (np.arange(400) + 0.5) / 400
"""As many values as the picture is drawn from, all alike likely."""


class MagnitudeBelief(SpreadPlot):
    """The values that the magnitude of the selected cell may have; hidden in a table of counts alone."""

    def __init__(self, document: Document) -> None:
        super().__init__(message("How likely each value of the selected cell is"))
        self.document = document
        self._cell: Index = ()
        self._asking: BackgroundTask[tuple[Ints, Floats]] = BackgroundTask(
            self,
            document.jobs,
            lambda _: self.show_cell(self._cell),
            lambda error: self.show_nothing(error.sentence),
        )
        self.hide()

    def show_cell(self, nodes: Index) -> None:
        """Show the values of a cell once they are worked out: those of all cells are, at once."""
        self._cell = nodes
        if (release := self.document.magnitude_release) is None:
            self.hide()
            return
        self.show()
        table, method = release.magnitude_table, methods("magnitudes")[release.mechanism.method]
        self._asking.ask(
            message("what an outsider believes of every value"),
            lambda _: method.quantiles(release, LEVELS),
            (release,),
        )
        if (found := self._asking.known((release,))) is None:
            return
        cell, text = table.at_nodes(nodes), magnitude_text(table.decimals)
        values = found[1][found[0] == cell] / 10**table.decimals
        if cell is None or not values.size or not np.isfinite(values).all():
            open_ = cell is not None and bool(table.hidden[cell])
            self.show_nothing(
                message("Nothing bounds it, or so much is hidden that it was not worked out.")
                if open_
                else message("Published as it is: {value}.", text(0 if cell is None else table.value[cell]))
            )
            return
        marks = [Mark(table.value[cell], message("published {published}", text(table.value[cell])))]
        if table.hidden[cell]:
            marks.clear()
        magnitudes = self.document.magnitudes if self.document.in_house else None
        if magnitudes is not None and (own := magnitudes.table.at_nodes(nodes)) is not None:
            true = int(magnitudes.table.cells.value[own])
            marks.append(Mark(true, message("true {true} [staff only]", text(true)), true=True))
        self.show_values(
            values[0],
            marks=tuple(Mark(mark.value / 10**table.decimals, mark.label, mark.true) for mark in marks),
            label=table.measure,
        )
