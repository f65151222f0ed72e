"""What a method published: its tables one at a time, with the true counts in the house."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from tabprotect.engine.arrays import Letters
from tabprotect.engine.formats.statuses import CONF, SECONDARY, TAU
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.variable import spoken
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.magnitude_grid import MagnitudeLayout, magnitude_text
from tabprotect.gui.grid.placement_bar import PlacementBar
from tabprotect.gui.grid.result_table import SUPPRESSED, Margins, Result, ResultTable
from tabprotect.gui.look.buttons import connected, named, present
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

UNMARKED = ("S", "E")
"""Most cells: a letter in each of them would only be noise."""


LETTERS = {**TAU, "D": CONF["D"]}
"""What the letters mean; of magnitudes D, as in SDMX."""


class MethodResult(QWidget):
    """``chosen`` carries a cell of the original, where the shown table has its cells."""

    chosen = Signal(object)
    total_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._release: Release | None = None
        self._protected: Protected | None = None
        self._places: MagnitudeLayout | None = None
        """Where the cells of published magnitudes stand; ``None`` for counts."""
        self._placements: dict[int, tuple[Placement, Index]] = {}
        self.which = named(
            QComboBox(sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToContents),
            message("Published table"),
            activated=lambda _: self._fill(),
        )
        self.which.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        # However long the names: the page does not get wider for them.
        self.which.setMinimumWidth(20 * GRID)
        self._which_label = Label(message("Published table"), buddy=self.which)
        self.legend = Label(wordWrap=True, role="quiet")
        self.placement = connected(PlacementBar(), placed=self._place, layer_chosen=self._choose_layer)
        self.table = connected(ResultTable(), chosen=self._chosen, total_chosen=self.total_chosen)
        row = in_row(self._which_label, self.which, 1, spacing=GRID)
        in_column(row, self.placement, (self.table, 1), self.legend, on=self, margins=0, spacing=GRID)
        THEME.follow(self, MethodResult._fill)

    @property
    def begins(self) -> QWidget:
        """What the keyboard begins with."""
        return self.table.grid.cells

    def show_result(self, release: Release | None, protected: Protected | None) -> None:
        """Show a release; with the record of its run beside what is true."""
        if release is not self._release:
            self._placements, self._places = {}, None
            self.which.clear()
            if release is not None and release.magnitudes:
                table = release.magnitude_table
                self._places = MagnitudeLayout(table.variables, table.key)
                self.which.addItem(table.measure)
            for published in () if release is None else release.tables:
                names = spoken(published.table.domain.names) or message("grand total")
                hidden = int(published.hidden.sum())
                more = message(", {hidden} hidden", count_text(hidden)) if hidden else ""
                self.which.addItem(
                    tr("{names}  ({size}{more})", names, count_text(published.table.domain.size), more)
                )
        self._release, self._protected = release, protected
        set_visible(self.which.count() > 1, self.which, self._which_label)
        self._fill()

    @property
    def domain(self) -> Domain | None:
        """The variables of the shown table."""
        if self._release is None or self.which.currentIndex() < 0:
            return None
        if self._places is not None:
            return self._places.domain
        return self._release.tables[self.which.currentIndex()].table.domain

    @property
    def _of_cells(self) -> bool:
        """True if the shown table has the cells of the original."""
        return self._places is not None or (self._release is not None and self.domain == self._release.domain)

    def select(self, index: Index | None) -> None:
        """Put the cursor on a cell of the original, where the shown table has its cells."""
        if index is not None and self._places is not None:
            index = self._places.index(index)
            self._choose_layer(index)
        if self._of_cells:
            self.table.select(index)

    def _fill(self) -> None:
        if (domain := self.domain) is None:
            return
        number = self.which.currentIndex()
        # The totals of magnitudes are cells of their own, the last of each variable.
        last = self._places is not None
        start = (Placement.of(domain), tuple(n - 1 if last else 0 for n in domain.shape))
        placement, layer = self._placements.get(number, start)
        self.placement.setVisible(domain.ndim > 2)
        layout = self.placement.layers.lay_out(domain, placement, layer)
        if self._protected is None:
            self.table.forget()
        result = self._counts(number, layout) if self._places is None else self._magnitudes(layout)
        self._tell(result)
        self.table.show_result(result, None, key=(placement, self._protected is None))

    def _counts(self, number: int, layout: Layout) -> Result:
        """A published table of counts."""
        release, protected, domain = self._release, self._protected, layout.domain
        assert release is not None
        published = release.tables[number]
        counts = np.where(published.hidden, SUPPRESSED, published.table.counts)
        truth = mark = letters = None
        if protected is not None:
            problem = protected.record.problem
            groupings = groupings_of(problem.table.domain, release.mechanism.parameters)
            weighted = methods()[release.mechanism.method].weighted(release.mechanism.values)
            truth = problem.unprotected(domain, groupings, weighted=weighted).counts
            mark = problem.at_risk.mask(problem.unprotected(domain, groupings).counts)
            if protected.record.statuses:
                letters = _marked(protected.record.statuses[number])
        return Result(layout, counts, truth, self._margins(layout), mark, letters)

    def _magnitudes(self, layout: Layout) -> Result:
        """The published magnitudes, with their totals and groups."""
        places, protected = self._places, self._protected
        assert places is not None and self._release is not None
        table = self._release.magnitude_table
        truth = mark = letters = None
        if protected is not None and (problem := protected.record.problem.magnitudes) is not None:
            truth = places.spread(problem.table.cells.value)
            mark = places.spread(protected.record.primary)
            # On the page of the table M is a letter of the rules: one could be estimated.
            statuses = protected.record.statuses[0]
            letters = places.spread(_marked(np.where(statuses == SECONDARY, "D", statuses)))
        return Result(
            layout,
            places.spread(np.where(table.hidden, SUPPRESSED, table.value)),
            truth,
            margins=False,
            mark=mark,
            letters=letters,
            total=places.total,
            text=magnitude_text(table.decimals),
            change_text=magnitude_text(table.decimals, signed=True),
        )

    def _margins(self, layout: Layout) -> Margins | bool:
        """The totals beside the cells: as they are published, or as they add up."""
        release = present(self._release)
        if len(release.tables) == 1:
            return release.tables[0].suppressed is None
        placement, found = layout.placement, []
        for rows, columns in ((placement.rows, ()), ((), placement.columns), ((), ())):
            names = {*rows, *columns, *placement.layers}
            table = next((t for t in release.tables if set(t.table.domain.names) == names), None)
            if table is None:
                return False
            domain = table.table.domain
            layer = tuple(layout.layer[layout.domain.axis(name)] for name in domain.names)
            counts = np.where(table.hidden, SUPPRESSED, table.table.counts)
            part = Layout(domain, Placement(rows, columns, placement.layers), layer)
            found.append(part.flat(counts).reshape(-1))
        right, bottom, both = found
        return right, bottom, both[0]

    def _tell(self, result: Result) -> None:
        seen = set() if result.letters is None else set(np.unique(result.letters).tolist())
        words = [
            message("{letter} {text}", letter, text) for letter, text in LETTERS.items() if letter in seen
        ]
        if result.hidden.any():
            words.append(message("x not published"))
        self.legend.setText(translate(joined(words, "   ")))
        self.legend.setVisible(bool(words))

    def _place(self, placement: Placement) -> None:
        if (domain := self.domain) is not None:
            number = self.which.currentIndex()
            layer = self._placements.get(number, (placement, (0,) * domain.ndim))[1]
            self._placements[number] = (placement, layer)
            self._fill()

    def _choose_layer(self, index: Index) -> None:
        if (domain := self.domain) is not None:
            number = self.which.currentIndex()
            placement = self._placements.get(number, (Placement.of(domain), index))[0]
            self._placements[number] = (placement, tuple(int(i) for i in index))
            self._fill()

    def _chosen(self, index: Index) -> None:
        if self._of_cells:
            self.chosen.emit(index if self._places is None else self._places.nodes(index))


def _marked(statuses: Letters) -> Letters:
    """The letters of what is not as most cells are."""
    return np.where(np.isin(statuses, UNMARKED), "", statuses)
