"""The critical-width map: how tight each sub-table alone makes the bounds, drawn and listed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSpinBox, QSplitter, QStackedWidget

from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.query_verbs import widths
from tabprotect.engine.query_space.lattice import Query
from tabprotect.gui.lattice.lattice_view import LatticeView
from tabprotect.gui.lattice.node_looks import NodeLook
from tabprotect.gui.lattice.space import CANDIDATE, Regions, Space
from tabprotect.gui.lattice.tiles import TileMap
from tabprotect.gui.lattice.words import region_text
from tabprotect.gui.look.buttons import connected, named, present
from tabprotect.gui.look.drawn.shades import STEPS, ScaleBar, shade_numbers, shades
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, held, in_column, in_row
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.gui.pages.query_space.lattice_panel import DRAWN, wanted_query
from tabprotect.gui.pages.query_space.panel import SpacePanel
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr


class WidthsPanel(SpacePanel):
    """Map and list of the critical widths."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self._regions: Regions | None = None
        self._shades: npt.NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self._sentence = Label(wordWrap=True, name=message("The most dangerous chain"), selectable=True)
        self.scale = ScaleBar()
        self.view = connected(LatticeView(message("Critical-width map")), focused=space.set_focus)
        self.view.hover_focuses = False
        self.view.neighbour_edges = False
        self.tiles = connected(TileMap(message("Critical-width map")), focused=space.set_focus)
        self.maps = QStackedWidget()
        filled(self.maps, self.view, self.tiles)
        self.finder = connected(
            Finder(message("List tables that have these variables"), message("find variables")),
            textChanged=lambda _: self._filter(),
        )
        self.most = named(
            QSpinBox(minimum=-1, maximum=2_000_000_000, value=-1),
            message("List tables of at most this width"),
        )
        self.most.setSpecialValueText(tr("any"))
        self.most.valueChanged.connect(lambda _: self._filter())
        self._shown = Label(role="quiet", name=message("How many are listed"))
        self.list = connected(RowList(message("Possible values")), chosen=self._chosen)
        label = Label(message("width up to"), buddy=self.most)
        row = in_row((self.finder, 1), label, self.most, spacing=GRID)
        side = held(in_column(row, (self.list, 1), self._shown, margins=(GRID, 0, 0, 0), spacing=GRID))
        left = held(
            in_column(
                (self.maps, 1), (self.scale, 0, Qt.AlignmentFlag.AlignRight), margins=0, spacing=GRID // 2
            )
        )
        split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        filled(split, left, side)
        split.setStretchFactor(0, 1)
        split.setSizes([66 * GRID, 38 * GRID])
        in_column(self._sentence, (split, 1), on=self, margins=(0, GRID, 0, 0), spacing=GRID)

    @property
    def sentence(self) -> str:
        """The most dangerous chain in words."""
        return self._sentence.text()

    def refresh(self) -> None:
        """Show the widths of the regions anew."""
        regions = self._regions = self.space.regions
        if regions is None:
            self._sentence.clear()
            self.view.show_levels((), None)
            self.tiles.show_tiles(np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, bool), ())
            self.list.show_rows(())
            self._shown.clear()
            return
        widths = regions.state.evidence.widths
        chain, letters = widths.chain(), regions.letters
        steps = joined(
            (
                message("{q} {widths}", letters.text(q), count_text(widths[q]))
                for q in chain
                if q.bit_count() > 0
            ),
            " \u2192 ",
        )
        self._sentence.setText(tr("The chain that narrows the bounds fastest: {steps}.", steps))
        values = np.log1p(widths.values.astype(np.float64))
        self._shades = shade_numbers(values, float(values.max()), flip=True)
        self.scale.show_scale(f"{count_text(int(widths.values.max()))}", message("width 0"))
        self.maps.setCurrentIndex(regions.variables > DRAWN)
        if regions.variables > DRAWN:
            self.view.show_levels((), None)
        else:
            self.view.text = letters.node
            self.view.second = lambda query: count_text(widths[query])
            self.view.look = self._look
            self.view.chain = chain
            lattice = letters.lattice
            levels = [(d, tuple(lattice.level(d))) for d in range(lattice.variables + 1)]
            self.view.show_levels(levels, letters)
        self._filter()
        self.refocus()

    def words(self, project: Project) -> list[str]:
        return widths(project)

    def refocus(self) -> None:
        """Follow the focus."""
        regions, query = self._regions, self.space.focus
        if regions is None:
            return
        if regions.variables > DRAWN:
            self.tiles.set_focus(query)
        else:
            self.view.set_focus(query)
        words = message("{query}: width {query2}.", regions.letters.named(query), self._width(query))
        self.view.say(words)
        self.tiles.say(words)
        self.list.set_current(regions.at(query))

    def _chosen(self, row: int) -> None:
        if self._regions is not None:
            self.space.set_focus(int(self._regions.every[row]))

    def _width(self, query: Query) -> str:
        regions = self._regions
        return "" if regions is None else count_text(regions.state.evidence.widths[query])

    def _look(self, query: Query) -> NodeLook:
        regions = present(self._regions)
        ground, ink = shades(THEME.colours)[min(int(self._shades[regions.at(query)]) - 1, STEPS - 1)]
        wanted = wanted_query(regions, self.finder.text())
        return NodeLook(
            CANDIDATE,
            frontier=query in self.view.chain,
            faint=query & wanted != wanted,
            fill=ground.name(),
            ink=ink.name(),
        )

    def _filter(self) -> None:
        if (regions := self._regions) is None:
            return
        widths, every = regions.state.evidence.widths.values, regions.every
        wanted = wanted_query(regions, self.finder.text())
        listed = (every & wanted) == wanted
        if self.most.value() >= 0:
            listed &= widths <= self.most.value()
        rows = np.flatnonzero(listed)
        rows = rows[np.lexsort((rows, -np.bitwise_count(every[rows]).astype(np.int64), widths[rows]))]
        letters = regions.letters
        dimensions = letters.lattice.dimensions(every)
        self.list.show_rows(
            (
                ListColumn(message("table"), every, lambda q: letters.text(int(q)), right=False),
                ListColumn(message("dim."), dimensions, lambda n: str(int(n))),
                ListColumn(message("width"), widths, lambda n: count_text(int(n))),
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
        if regions.variables > DRAWN:
            chain = regions.state.evidence.widths.chain()
            plain = letters.lattice.plain
            self.tiles.row_name = message("{dimension}-way") if plain else message("step {dimension}")
            self.tiles.show_tiles(every, self._shades, ~listed, chain)
        self.view.update()
