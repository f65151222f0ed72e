"""Every sub-table in numbers: how tight each alone makes the bounds, and what may become of it."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QSpinBox

from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.query_verbs import widths
from tabprotect.engine.query_space.graphs.independence_graph import independence_graph
from tabprotect.gui.lattice.space import Regions, Space
from tabprotect.gui.lattice.words import region_text
from tabprotect.gui.look.buttons import connected, named
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.pages.query_space.lattice_panel import wanted_query
from tabprotect.gui.pages.query_space.panel import SpacePanel
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate


class NumbersPanel(SpacePanel):
    """The list of the critical widths, and what the planned tables are together."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self._regions: Regions | None = None
        self.said = Label(wordWrap=True, name=message("The most dangerous chain"), selectable=True)
        self.graph = Label(wordWrap=True, name=message("Decomposable or not"), selectable=True)
        self.finder = connected(
            Finder(message("List tables that have these variables"), message("find variables")),
            textChanged=lambda _: self._filter(),
        )
        self.most = named(
            QSpinBox(minimum=-1, maximum=2_000_000_000, value=-1),
            message("List tables of at most this width"),
            valueChanged=lambda _: self._filter(),
        )
        self.most.setSpecialValueText(tr("any"))
        self._shown = Label(role="quiet", name=message("How many are listed"))
        self.list = connected(RowList(message("Possible values")), chosen=self._chosen)
        label = Label(message("width up to"), buddy=self.most)
        row = in_row((self.finder, 1), label, self.most, self._shown, spacing=GRID)
        in_column(self.said, self.graph, row, (self.list, 1), on=self, margins=(0, GRID, 0, 0), spacing=GRID)

    def refresh(self) -> None:
        """Show the widths of the regions anew."""
        regions = self._regions = self.space.regions
        if regions is None:
            for label in (self.said, self.graph, self._shown):
                label.clear()
            self.list.show_rows(())
            return
        found, letters = regions.state.evidence.widths, regions.letters
        steps = joined(
            (
                message("{q} {widths}", letters.text(q), count_text(found[q]))
                for q in found.chain()
                if q.bit_count() > 0
            ),
            " \u2192 ",
        )
        self.said.setText(tr("The chain that narrows the bounds fastest: {steps}.", steps))
        graph = independence_graph(letters.lattice, regions.state.released.members)
        self.graph.setText(translate(graph.sentence if graph.edges else ""))
        self.graph.setVisible(bool(graph.edges))
        self._filter()

    def words(self, project: Project) -> list[str]:
        return widths(project)

    def refocus(self) -> None:
        """Follow the focus."""
        if (regions := self._regions) is not None:
            self.list.set_current(regions.at(self.space.focus))

    def _chosen(self, row: int) -> None:
        if self._regions is not None:
            self.space.set_focus(int(self._regions.every[row]))

    def _filter(self) -> None:
        if (regions := self._regions) is None:
            return
        values, every = regions.state.evidence.widths.values, regions.every
        wanted = wanted_query(regions, self.finder.text())
        listed = (every & wanted) == wanted
        if self.most.value() >= 0:
            listed &= values <= self.most.value()
        rows = np.flatnonzero(listed)
        rows = rows[np.lexsort((rows, -np.bitwise_count(every[rows]).astype(np.int64), values[rows]))]
        letters = regions.letters
        self.list.show_rows(
            (
                ListColumn(message("table"), every, lambda q: letters.text(int(q)), right=False),
                ListColumn(message("dim."), letters.lattice.dimensions(every), lambda n: count_text(int(n))),
                ListColumn(message("width"), values, lambda n: count_text(int(n))),
                ListColumn(
                    message("now"), regions.status, lambda s: region_text(regions, int(s)), right=False
                ),
            ),
            rows,
            # Names are whole in the narrowest window.
            stretch=(3,),
            current=regions.at(self.space.focus),
        )
        self._shown.setText(tr("{rows} of {every} tables", count_text(len(rows)), count_text(len(every))))
