"""The part of the table page that is about counts: they, their margins, and which are small."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.project.verbs.table_verbs import paste_block, placed, set_at_risk, set_count
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.grid.cell_texts import FIGURES, figure
from tabprotect.gui.grid.clipboard import whole_number
from tabprotect.gui.grid.folded_levels import Folding
from tabprotect.gui.grid.grid_view import GridView
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.placement_bar import PlacementBar
from tabprotect.gui.grid.result_table import TotalsCursor
from tabprotect.gui.look.buttons import choice, connected, present, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import ElidedLabel, Label, tip
from tabprotect.gui.look.layouts import FlowLayout, filled, in_column, set_visible
from tabprotect.gui.look.theme import GRID, Written, colour
from tabprotect.gui.pages.table.find_and_paste_bars import (
    FindBar,
    PasteBar,
    Pending,
    changed_cells,
    from_clipboard,
)
from tabprotect.gui.pages.table.fold_tool import FoldTool
from tabprotect.gui.pages.table.risk_list import RiskList, next_cell
from tabprotect.gui.pages.table.words import cell_called, empty_words, table_words
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

STRUCTURE = frozenset({"table", "placement", "release", "view", "everything"})


class CountsPart(QWidget):
    """The original in the house, the published table in public view."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page, self.document = page, page.document
        document = page.document
        self._figure = "counts"
        self._only = False
        self._folding: Folding | None = None
        self._paste: Pending | None = None
        self._build_tools()
        self.placement = connected(
            PlacementBar(),
            placed=lambda where: self.document.run(placed(where), page=self.page.name),
            layer_chosen=self._choose_layer,
        )
        self.paste_bar = connected(PasteBar(), accepted=self._paste_now, rejected=self._paste_never)
        self.find_bar = connected(FindBar(), found=document.select)
        self.grid = GridView(message("Table of counts"))
        self.find_bar.closed.connect(self.grid.cells.setFocus)
        self.grid.current_changed.connect(self._cell_chosen)
        self.totals = connected(TotalsCursor(self.grid), chosen=document.select_total)
        self.grid.model.typed.connect(self._typed)
        self.grid.model.describe = self._describe
        self.grid.cells.cleared.connect(self._clear)
        for header in (self.grid.cells.rows, self.grid.cells.columns):
            connected(
                header,
                fold_asked=partial(self._toggle, down=header.down),
                rename_asked=partial(self._rename, down=header.down),
            )
        self.empty = Label(wordWrap=True, role="quiet")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.risks = connected(
            RiskList(),
            closed=lambda: self._risks_button.setChecked(False),
            chosen=document.select,
            rule_set=lambda rule: self.page.do(set_at_risk, rule=rule),
        )
        self.risks.hide()
        split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        filled(split, self.grid, self.risks)
        split.setStretchFactor(0, 1)
        self._split = split
        bars = self.placement, self.paste_bar, self.find_bar
        in_column(*bars, (split, 1), (self.empty, 1), on=self, margins=0, spacing=GRID)
        self._legend = ElidedLabel(role="quiet")
        page.footer.addWidget(self._legend, 1)
        self.begins: QWidget = self.grid.cells
        document.selection_changed.connect(self.go_to)

    def _build_tools(self) -> None:
        self._figures = choice(
            message("What the cells show"), FIGURES, lambda: self.show_figure(self._figures.currentData())
        )
        self._only_button, self._risks_button = (
            tool_button(words, checkable=True)
            for words in (message("Small counts only"), message("Risk list"))
        )
        self._categories_button = tool_button(message("Categories"), self._show_categories)
        self._categories_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for button, says, does in (
            (
                self._only_button,
                message("Show only rows and columns with small counts"),
                self.show_only_at_risk,
            ),
            (self._risks_button, message("Show the risk list"), self._show_risks),
        ):
            button.setAccessibleName(translate(says))
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.toggled.connect(does)
        self._house_tools = self._only_button, self._risks_button, self._categories_button
        self.folds = connected(FoldTool(), folded=lambda: self.refresh(frozenset()))
        self.bar = QWidget()
        filled(FlowLayout(self.bar, gap=GRID), self._figures, self.folds, *self._house_tools)
        self.page.tools.addWidget(self.bar)

    # -- menus --------------------------------------------------------------------------------

    def choices(self) -> Mapping[str, Callable[[], object]]:
        """Its menu entries."""
        return {
            "paste": self.paste,
            "find": self.open_find,
            "edit": lambda: self.grid.cells.edit(self.grid.cells.currentIndex()),
            "only": self._only_button.toggle,
            "categories": self._show_categories,
            "risks": self._risks_button.toggle,
            **{key: partial(self.show_figure, key) for key in FIGURES},
        }

    # -- showing ------------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        """Bring it up to date."""
        table, project = self.document.shown_table, self.document.project
        if "theme" in changes or "everything" in changes:
            self._only_button.setIcon(icons.icon("filter"))
            self._categories_button.setIcon(icons.icon("edit"))
            self._risks_button.setIcon(icons.icon("warning"))
        if changes & STRUCTURE and self._paste:
            self._paste_never()
        showable = table is not None and project is not None
        set_visible(showable, self._split, self.placement)
        self.empty.setVisible(not showable)
        house = self.document.in_house
        set_visible(showable, self._figures, self.folds)
        set_visible(house, *self._house_tools)
        if not house:
            self._risks_button.setChecked(False)
            self.risks.forget()
            self.placement.layers.count(None)
        if table is None or project is None:
            self.page.set_sentence("")
            # The rule may be the house's own.
            self._legend.setText("")
            self.empty.setText(translate(empty_words(self.document)))
            return
        self._list_risks()
        try:
            self._show(table)
        except TabprotectError as error:
            self._split.hide()
            self.page.show_error(error)

    def _show(self, table: Table) -> None:
        project = present(self.document.project)
        domain = table.domain
        placement, whole = project.shown_placement, None
        mask = None if self.document.public else self.document.at_risk
        layout = self.placement.layers.lay_out(domain, placement, self.document.selection, mask)
        self._folding = folding = self.folds.of(domain, placement)
        counts = table.counts
        hidden = self.document.suppressed if self.document.public else None
        if folding is not None:
            layout = Layout(folding.shown, placement, folding.nearest(layout.layer))
            counts = folding.sums(counts)
            mask = None if mask is None else folding.sums(mask)
            hidden = None if hidden is None else folding.sums(hidden)
            whole = folding.whole(placement.rows), folding.whole(placement.columns)
        if self._only and mask is not None:
            layout = layout.only(mask)
        if self._paste is not None:
            counts = counts.copy()
            for index, count in self._paste.changes.items():
                counts[index] = count
        shown = figure(self._figure, layout.flat(counts), whole)
        rows = shown.rows if layout.rows is None else shown.rows[layout.rows]
        columns = shown.columns if layout.columns is None else shown.columns[layout.columns]
        delegate = self.grid.delegate
        delegate.mark = None if mask is None else layout.shown(layout.flat(mask))
        delegate.quiet_zeros = self._figure != "residuals"
        delegate.hatch = None if hidden is None else layout.shown(layout.flat(hidden))
        delegate.hidden = delegate.hatch
        self._paint_ground(layout)
        self.grid.show_grid(
            layout,
            layout.shown(shown.cells),
            # Sums over what is left would not be the totals.
            margins=(rows, columns, shown.grand) if hidden is None else None,
            text=shown.text,
            margin_text=shown.margin_text,
        )
        self.grid.set_editable(
            self._figure == "counts" and not (self.document.public or self._paste) and folding is None
        )
        self.find_bar.show_table(table)
        self.go_to(self.document.selection)
        self.grid.repaint_cells()
        sentence, legend = table_words(self.document, table)
        self.page.set_sentence(sentence)
        self._legend.setText(translate(legend))
        # Where it ends in dots, all of it.
        self._legend.setToolTip(tip(legend))

    def _paint_ground(self, layout: Layout) -> None:
        delegate, folding = self.grid.delegate, self._folding
        delegate.ground = None
        if folding is not None:
            delegate.ground = folding.sum_cells(layout)
            delegate.grounds = [(colour("raised"), colour("quiet"))]
            if delegate.mark is not None:
                # A sum over cells at risk is none itself.
                delegate.mark = delegate.mark & (delegate.ground == 0)
        if self._paste is not None:
            original = cast(Table, self.document.original)
            delegate.ground = changed_cells(layout, original, self._paste.changes)
            delegate.grounds = [(colour("plus_fill"), colour("text"))]
            delegate.mark = None

    def _toggle(self, level: int, line: int, *, down: bool) -> None:
        """Fold or unfold the group that a header's label names."""
        if (layout := self.grid.layout_) is not None:
            names = layout.placement.rows if down else layout.placement.columns
            self.folds.toggle(names[level], layout.codes(line, down=down)[level])

    def _cell_chosen(self, index: Index | None) -> None:
        inner = index if self._folding is None or index is None else self._folding.inner(index)
        if inner is not None or index is None:
            self.document.select(inner)
            return
        # A sum is no cell of the table: the cursor stays, nothing is selected.
        self.document.selection_changed.disconnect(self.go_to)
        self.document.select(None)
        self.document.selection_changed.connect(self.go_to)

    def _describe(self, row: int, column: int) -> str:
        mask = self.grid.delegate.mark
        return message("small") if mask is not None and mask[row, column] else ""

    def go_to(self, index: Index | None) -> None:
        """Go to a cell, in its layer."""
        layout = self.grid.layout_
        if not self.risks.isHidden():
            self.risks.select(index)
        if index is None:
            self.grid.set_current(None)
        if index is None or layout is None or len(index) != layout.domain.ndim:
            return
        shown = index if self._folding is None else self._folding.place(index)
        if shown is None and self._folding is not None:
            self.placement.layers.cell = index
            self.folds.open_for(self._folding.opened_for(index))
            return
        if shown is not None and not layout.same_layer(shown):
            self.placement.layers.cell = index
            if self.isVisible():
                self.refresh(frozenset())
            return
        self.grid.set_current(shown)

    def show_figure(self, name: str) -> None:
        """Counts, row %, column % or residuals."""
        self._figure = name
        self._figures.setCurrentIndex(list(FIGURES).index(name))
        self.refresh(frozenset())

    def show_only_at_risk(self, only: bool) -> None:
        """Only rows and columns with at-risk cells."""
        self._only = only
        self._only_button.setChecked(only)
        self.refresh(frozenset())

    def _choose_layer(self, index: Index) -> None:
        selection = self.document.selection
        layout = self.grid.layout_
        if selection is not None and layout is not None:
            # The same row and column in the other layer.
            at = [
                index[a] if n in layout.placement.layers else selection[a]
                for a, n in enumerate(layout.domain.names)
            ]
            self.document.select(tuple(at))
            return
        self.refresh(frozenset())

    # -- commands -----------------------------------------------------------------------------

    def _typed(self, row: int, column: int, text: str) -> None:
        layout = self.grid.layout_
        table = self.document.original
        if layout is None or table is None:
            return
        index = layout.index(row, column)
        try:
            count = whole_number(text)
        except InputError as error:
            error.cell = table.domain.cell_text(index)
            self.page.show_error(error)
            return
        self.page.errors.clear()
        if count != table[index]:
            self.page.do(set_count, index=list(index), count=count)

    def _clear(self) -> None:
        block = self.grid.block()
        layout = self.grid.layout_
        if block is None or layout is None or not self.grid.model.editable or self._only:
            return
        top, left, bottom, right = block
        if (top, left) == (bottom, right):
            self._typed(top, left, "0")
            return
        zeros = [[0] * (right - left + 1) for _ in range(bottom - top + 1)]
        self.page.do(paste_block, at=list(layout.index(top, left)), counts=zeros)

    def _show_categories(self) -> None:
        self.document.page_asked.emit("variables")

    def _show_risks(self, shown: bool) -> None:
        self.risks.setVisible(shown)
        self._list_risks()
        if shown:
            self.risks.search.setFocus()

    def _list_risks(self) -> None:
        if (project := self.document.project) is None or self.document.public or self.risks.isHidden():
            return
        # The counts are known to come from records where they were tabulated here.
        of = any(step.command == "tabulate" for step in self.document.history.trail[:1])
        self.risks.show_cells(project.table, self.document.at_risk, project.at_risk, records=of)
        self.risks.select(self.document.selection)

    def _rename(self, level: int, line: int, *, down: bool) -> None:
        if (layout := self.grid.layout_) is None or self.document.public or self._folding is not None:
            return
        name = (layout.placement.rows if down else layout.placement.columns)[level]
        self._show_categories()
        self.document.rename_asked.emit(name, layout.labels(line, down=down)[level])

    # -- clipboard ----------------------------------------------------------------------------

    def copied(self) -> tuple[GridView, Written]:
        """What is copied from, and how its values are written."""
        return self.grid, str if self._figure == "counts" else "{:.6g}".format

    def paste(self) -> None:
        """Show what the clipboard's block would change; nothing changes before it is accepted."""
        project, at = self.document.project, self.grid.current()
        if project is None or at is None or self.document.public:
            return
        try:
            if self._only or self._figure != "counts" or self._folding is not None:
                raise InputError(
                    message("a block can be pasted only into the whole table of counts"),
                    hint=message("show counts, categories alone, and all rows and columns"),
                )
            block = self.grid.block()
            layout = self.grid.layout_
            if block is not None and layout is not None:
                at = layout.index(block[0], block[1])
            self._paste = from_clipboard(project, at)
        except TabprotectError as error:
            self.page.show_error(error)
            return
        self.page.errors.clear()
        original = project.original
        counts = self._paste.counts
        differing = {i: c for i, c in self._paste.changes.items() if original[i] != c}
        size = message("{counts} \u00d7 {counts2}", len(counts), len(counts[0]))
        self.paste_bar.show_changes(
            message("Paste {size} counts at {at}: ", size, original.domain.cell_text(at)),
            [(original.domain.cell_text(i), original[i], c) for i, c in differing.items()],
        )
        self.refresh(frozenset())

    def _paste_now(self) -> None:
        assert self._paste is not None
        pending = self._paste
        self._paste_never()
        self.page.do(paste_block, at=list(pending.at), counts=pending.counts)
        self.grid.cells.setFocus()

    def _paste_never(self) -> None:
        self._paste = None
        self.paste_bar.forget()
        self.refresh(frozenset())

    # -- going about --------------------------------------------------------------------------

    def open_find(self) -> None:
        """Open the find bar."""
        self.find_bar.open(self.document.selection)

    def go_at_risk(self, step: int) -> None:
        """Select the next (or with -1 the previous) at-risk cell, layer by layer, round and round."""
        mask, project = self.document.at_risk, self.document.project
        if mask is None or project is None or project.placement is None or self.document.public:
            return
        place = project.placement
        order = [project.domain.axis(n) for n in (*place.layers, *place.rows, *place.columns)]
        if (found := next_cell(mask, order, self.document.selection, step)) is not None:
            self.document.select(found)
            self.grid.cells.setFocus()

    def go_to_error(self, error: TabprotectError) -> None:
        """Go to the cell that an error names."""
        table = self.document.original
        cell = getattr(error, "cell", None)
        index = None if table is None or not cell else cell_called(table.domain, cell)
        if index is not None:
            self.document.select(index)
            self.grid.cells.setFocus()
