"""Tabulating microdata: pick a file, choose the variables, count."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QLineEdit, QTableWidgetItem, QWidget

from tabprotect.engine.formats.registered import patterns
from tabprotect.engine.options import option_named
from tabprotect.engine.paths import is_url
from tabprotect.engine.project.options import Tabulation
from tabprotect.engine.project.sources import records_file
from tabprotect.engine.project.verbs.table_verbs import tabulate
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.stage import Stage
from tabprotect.gui.base.variable_words import variable_kind
from tabprotect.gui.look.buttons import connected, named, offer, push_button, silent, tool_button
from tabprotect.gui.look.empty import Empty
from tabprotect.gui.look.file_dialogs import ask_file, ask_folder
from tabprotect.gui.look.label import ElidedLabel, Label, heading
from tabprotect.gui.look.layouts import FlowLayout, filled, held, in_column, in_row, set_visible
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.gui.pages.tabulate.measure_columns import MeasureColumns
from tabprotect.gui.pages.tabulate.table_so_far import Counted, TableSoFar, count_all, counted_by, if_ticked
from tabprotect.gui.pages.tabulate.variable_list import AHEAD, FIGURES, KIND, TITLES, VariableList
from tabprotect.gui.pages.tabulate.words import KINDS, MOST_CATEGORIES, unfit
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.microdata.tabulate import ColumnSummary
    from tabprotect.engine.tables.table import Table

LEAST_KEYS = 100
"""Different numbers that a column of record keys has at least, of many records."""

DRAWN = message("drawn now, kept with this table")

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


EMPTY = message(
    "Here stand the variables of your records, and how many small counts each of them would bring."
)


class TabulatePage(Page):
    """Records to counts. The records themselves are never shown; ``told``: their columns are."""

    stage = Stage(
        name="tabulate",
        page_class="tabulate.page.TabulatePage",
        label=message("Count records"),
        icon="microdata",
        main_label=message("Make the table"),
    )

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.source = self._called = self._beside = ""
        self._columns: tuple[ColumnSummary, ...] = ()
        self.chosen: list[str] = []
        self._look: BackgroundTask[tuple[ColumnSummary, ...]] = BackgroundTask(
            self,
            document.jobs,
            self._show_columns,
            lambda error: self.show_error(
                error, remedy_label=message("Choose another file"), remedy=self._ask
            ),
        )
        self._look.outlives = True
        self._joint: BackgroundTask[Table] = BackgroundTask(
            self, document.jobs, self._have_joint, lambda _: None
        )
        self._ahead: BackgroundTask[dict[str, Counted]] = BackgroundTask(
            self, document.jobs, self._show_ahead, lambda _: None
        )
        self._small: dict[str, Counted] = {}
        self.so_far = TableSoFar()
        self._filter = connected(
            Finder(message("Filter the variables"), message("find variables")), textChanged=self._apply_filter
        )
        self.all = tool_button(
            message("Tick all"),
            self._tick_all,
            tip=message("Every variable in sight with at most 1,000 categories, or none"),
            focus=Qt.FocusPolicy.StrongFocus,
        )
        self._list = connected(
            VariableList(), itemChanged=self._ticked, cellPressed=self._pressed, cellClicked=self._clicked
        )
        self._before: Qt.CheckState | None = None
        self._choose_source()
        self.empty = Empty(EMPTY, message("Choose a file\u2026"), self._ask)
        self._filter.setMaximumWidth(24 * GRID)
        left = in_column(
            in_row((self._file, 1), self._filter, self.all, spacing=GRID, margins=0),
            (self._list, 1),
            heading(message("What each row counts")),
            *self._choose_weights(),
            margins=0,
            spacing=GRID,
        )
        self.counting = held(in_row((held(left), 3), (self.so_far, 2), margins=0, spacing=2 * GRID))
        filled(self.body, (self.empty, 1), (self.counting, 1))
        self._say()

    def _choose_source(self) -> None:
        """Choose where the records are: a file, a folder, a database, or a place as it is written."""
        self._file = ElidedLabel("", role="section")
        self._pick = push_button(message("Another file\u2026"), self._ask)
        folder = push_button(
            message("A folder\u2026"),
            lambda: ask_folder(self, message("Files of records"), "", self.choose, kind="records"),
            name=message("Choose a folder of files"),
        )
        base = push_button(
            message("A database\u2026"), self._ask_database, name=message("Choose a table of a database")
        )
        self.more = tool_button(
            message("More"),
            name=message("Show the place as it is written"),
            checkable=True,
            focus=Qt.FocusPolicy.StrongFocus,
        )
        self.address = named(
            QLineEdit(placeholderText="postgresql://host/base#table"),
            message("Address of a database's table, or a pattern of files"),
            tip=message(
                "A table that an engine holds, a table of a DuckDB file (people.duckdb#table), or "
                "files by a pattern (people/*.parquet); they are counted where they are."
            ),
        )
        self.address.returnPressed.connect(self._look_there)
        there = push_button(message("Look there"), self._look_there)
        written = held(in_row((self.address, 1), there, margins=0, spacing=GRID))
        self.more.toggled.connect(written.setVisible)
        written.hide()
        filled(self.tools, folder, base, self.more)
        filled(self.footer, 1, self._pick)
        self.body.addWidget(written)

    def _choose_weights(self) -> tuple[QWidget, QWidget]:
        """Return what is added up, what the records are weighted by, and where their keys come from."""
        from tabprotect.gui.forms.option_fields import option_choice

        self.measure = connected(MeasureColumns(), changed=self._measured)
        weight, key, design = (
            option_named(Tabulation, name) for name in ("weight", "record_key", "design_weight")
        )
        self._weight, self._design = option_choice(weight), option_choice(design)
        self._key = connected(option_choice(key), currentIndexChanged=self._say)
        row = QWidget()
        foot = FlowLayout(row, gap=GRID)
        self._counting: list[QWidget] = []
        for option, box in ((weight, self._weight), (key, self._key), (design, self._design)):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            label = Label(option.label, buddy=box)
            self.measure.line_up(label, box)
            pair = held(in_row(label, box, margins=0, spacing=GRID))
            foot.addWidget(pair)
            if box is not self._weight:
                # They go with counts only.
                self._counting.append(pair)
        return self.measure, row

    needs: ClassVar[Mapping[str, str]] = {}

    def shows_original(self) -> bool:
        # Names and sizes of categories of records that are not published.
        return bool(self._columns)

    def take(self, source: str) -> None:
        if source:
            self.choose(source)
        else:
            self._ask()

    def choose(self, source: str) -> None:
        """Take a file of records, or ``example:NAME``, and list its variables."""
        self.errors.clear()
        self.source, self._columns, self.chosen = source, (), []
        self._beside = "" if self.document.project is None else self.document.project.source
        name = source.partition("#")[2] if is_url(source) else ""
        self._file.setText(tr("Variables of {name}", name or Path(source).name))
        self._called = name or Path(source).name
        self._list.setRowCount(0)
        self._joint.drop()
        self._ahead.drop()
        self._small = {}
        self._say()
        # Late: DuckDB costs a tenth of the program's start.
        from tabprotect.engine.microdata.tabulate import columns

        self._look.ask(
            message("look into {text}", self._called),
            lambda progress: columns(records_file(source), progress=progress),
        )

    def _look_there(self) -> None:
        if text := self.address.text().strip():
            self.choose(text)

    def _ask_database(self) -> None:
        # The start page, of which this is a part, is painted without it.
        from tabprotect.gui.forms.reading.database_dialog import ask_database

        ask_database(self, self.choose)

    def _ask(self) -> None:
        ask_file(
            self,
            message("Records"),
            message("Records ({patterns});;All files (*)", patterns("records")),
            self.choose,
            kind="records",
        )

    def _show_columns(self, found: tuple[ColumnSummary, ...]) -> None:
        self._columns = found
        with silent(self._list):
            self._list.setRowCount(len(found))
            for row, column in enumerate(found):
                name = QTableWidgetItem(column.name)
                name.setFlags(name.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                name.setCheckState(Qt.CheckState.Unchecked)
                self._list.setItem(row, 0, name)
                about = "" if column.exact else message("{told} ", tr("about"))
                categories = f"{about}{count_text(column.categories)}"
                missing = count_text(column.missing) if column.missing else ""
                kind = unfit(column) or KINDS.get(column.kind, column.kind)
                for at, text in enumerate((categories, "", translate(kind), missing), 1):
                    item = QTableWidgetItem(text)
                    if at in FIGURES:
                        item.setTextAlignment(RIGHT)
                    self._list.setItem(row, at, item)
        self._list.setColumnHidden(len(TITLES) - 1, not any(column.missing for column in found))
        self._list.fit_columns()
        numbers = [c.name for c in found if c.kind in ("integer", "real")]
        # Keys are numbers of a wide range (those of the fewest values, of the ONS, have 256).
        wide = [c.name for c in found if c.categories >= min(LEAST_KEYS, c.records / 2)]
        keys = [name for name in numbers if name in wide]
        # Late, as what counts is: the page is painted before.
        from tabprotect.engine.microdata.coding import UNWEIGHTED

        once = {None: message("once"), UNWEIGHTED: message("once, whatever weights the file states")}
        offer(self._weight, once, names=numbers)
        # True, where a column is its name: a column may be called anything.
        offer(self._key, {None: message("none"), True: DRAWN}, names=keys)
        offer(self._design, {None: message("none")}, names=numbers)
        self.measure.offer([c.name for c in found], numbers)
        self._apply_filter(self._filter.text())
        self.announced.emit()
        self._list.setCurrentCell(0, 0)
        self._list.setFocus()
        self._say()
        if names := counted_by(found, MOST_CATEGORIES):
            self._joint.ask(
                message("counting small counts"),
                lambda progress: count_all(self.source, names, progress),
                (self.source, names),
            )

    def _have_joint(self, table: Table) -> None:
        with silent(self._list):
            for row, column in enumerate(self._columns):
                item = self._list.item(row, KIND)
                if item is not None and column.name in table.domain.names:
                    # By its values, which are known by now: codes are no numbers.
                    item.setText(translate(variable_kind(table.domain[column.name])))
        self._look_ahead()

    def _look_ahead(self) -> None:
        """Count the table so far, and with one variable more."""
        joint, chosen = self._joint.answer, tuple(self.chosen)
        if joint is None or not set(chosen) <= set(joint.domain.names):
            self._show_ahead({})
            return
        names = joint.domain.names
        self._ahead.ask(
            message("counting small counts"),
            lambda progress: if_ticked(joint, chosen, names, progress),
            (joint, chosen),
        )

    def _show_ahead(self, found: dict[str, Counted]) -> None:
        self._small = found
        with silent(self._list):
            for row, column in enumerate(self._columns):
                item, here = self._list.item(row, AHEAD), found.get(column.name)
                if item is None:
                    continue
                said, ink = "", THEME.colours.text
                if column.name in self.chosen:
                    said, ink = message("in the table"), THEME.colours.quiet
                elif here is not None:
                    now = message("{small} \u2192 ", count_text(found[""].small)) if "" in found else ""
                    said = message("{now}{small}", now, count_text(here.small))
                    ink = THEME.colours.at_risk if here.small else ink
                item.setText(translate(said))
                item.setForeground(QColor(ink))
        self._list.fit_columns()
        note = message("All {records} records were counted.", count_text(self._columns[0].records))
        if "" in found:
            self.so_far.show_counted(found[""], note)
        else:
            self.so_far.show_counted(None, message("Tick a variable: here stands what the table would hold."))
        self._say()

    def _apply_filter(self, text: str) -> None:
        wanted = text.casefold().strip()
        for row in range(self._list.rowCount()):
            item = self._list.item(row, 0)
            self._list.setRowHidden(row, item is None or wanted not in item.text().casefold())

    def _pressed(self, row: int, column: int) -> None:
        item = self._list.item(row, 0)
        self._before = None if item is None else item.checkState()

    def _clicked(self, row: int, column: int) -> None:
        """A name is as good to click as its box, which has turned by itself by now."""
        if (item := self._list.item(row, 0)) is not None and item.checkState() == self._before:
            ticked = item.checkState() == Qt.CheckState.Checked
            item.setCheckState(Qt.CheckState.Unchecked if ticked else Qt.CheckState.Checked)

    def _tick_all(self) -> None:
        """Tick every variable in sight that classifies; none where all are ticked."""
        rows = [
            row
            for row, column in enumerate(self._columns)
            if column.categories <= MOST_CATEGORIES and not self._list.isRowHidden(row)
        ]
        items = [item for row in rows if (item := self._list.item(row, 0)) is not None]
        every = all(item.text() in self.chosen for item in items)
        for item in items:
            item.setCheckState(Qt.CheckState.Unchecked if every else Qt.CheckState.Checked)

    def _ticked(self, item: QTableWidgetItem) -> None:
        if item.column() != 0:
            return
        ticked, name = item.checkState() == Qt.CheckState.Checked, item.text()
        if ticked and name not in self.chosen:
            self.chosen.append(name)
        elif not ticked and name in self.chosen:
            self.chosen.remove(name)
        self._small = {}
        self._say()
        self._look_ahead()

    def _say(self) -> None:
        set_visible(bool(self.source), self.counting, self._pick, self.main_button)
        self.empty.setVisible(not self.source)
        self.show_foot_line(bool(self.source))
        self.main_button.setEnabled(len(self.chosen) > 0)
        self.all.setEnabled(bool(self._columns))
        if not self._columns:
            self.set_sentence(message("Choose a file or a folder of records, or name a database's table."))
            return
        if not self.chosen:
            self.set_sentence(
                message(
                    "{records} records. Tick the variables to count by; space ticks the current one.",
                    count_text(self._columns[0].records),
                )
            )
            return
        sizes = {c.name: c.categories + (1 if c.missing else 0) for c in self._columns}
        shape = [sizes[name] for name in self.chosen]
        names = joined(self.chosen, " \u00d7 ")
        product = joined(map(count_text, shape), " \u00d7 ")
        cells = count_text(math.prod(shape))
        said = message("A table {names}: {product} = {cells} cells.", names, product, cells)
        if (here := self._small.get("")) is not None:
            said = (
                message(
                    "{names}: {cells} cells, {small} of them small.", names, cells, count_text(here.small)
                )
                if here.small
                else message("{names}: {cells} cells, none of them small.", names, cells)
            )
        if measured := self.measure.given:
            said = message("Sums of {measure} by {names}: {cells} cells.", measured["measure"], names, cells)
        if self._key.currentData() is True:
            said += message(" Cell keys will not agree with other tabulations of this file.")
        self.set_sentence(said)

    def _measured(self) -> None:
        """Put what goes with counts only out of the way of an amount."""
        set_visible(not self.measure.given, *self._counting)
        self._say()

    def main_action(self) -> None:
        given = {"source": self.source, "by": list(self.chosen)}
        weight = self._weight.currentData() or None
        if measured := self.measure.given:
            order = tabulate.order({**given, "weight": weight, **measured})
            self.document.begins.emit(order)
            return
        key = self._key.currentData()
        order = tabulate(
            source=self.source,
            by=list(self.chosen),
            weight=weight,
            record_key=None if key is True else key or None,
            design_weight=self._design.currentData() or None,
            draw_keys=key is True,
        )
        self.document.begins.emit(order)

    def refresh(self, changes: PageChanges) -> None:
        opened = "" if self.document.project is None else self.document.project.source
        if self.source and opened not in (self._beside, self.source):
            # Another survey was opened since: its variables are others.
            self._beside, self.source, self._columns, self.chosen = opened, "", (), []
            self._list.setRowCount(0)
            self._joint.drop()
            self._file.setText(tr("Variables"))
        self._say()
