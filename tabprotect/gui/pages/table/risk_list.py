"""Cells of all layers that a rule names, as a list: the at-risk counts, or what else tells much."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QFrame, QSpinBox, QStackedWidget, QWidget

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.sensitivity.rules.groups import GroupDisclosure
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.rule_field import RuleField
from tabprotect.gui.look.buttons import choice, connected, named, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, heading, show_text, tip
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

UNKNOWN = message("Not known of this table: it came without its records, and a count may hold anything.")
"""Why the cells of one contributor are not offered."""


def next_cell(mask: Bools, order: list[int], here: Index | None, step: int) -> Index | None:
    """The next (or with -1 the previous) cell of a mask, round and round; ``None`` without any.

    Parameters
    ----------
    order
        The axes, that which varies slowest first.
    """
    turned = mask.transpose(order)
    keys = np.flatnonzero(turned)
    if not len(keys):
        return None
    if here is None:
        at = 0 if step > 0 else len(keys) - 1
    else:
        now = int(np.ravel_multi_index([here[a] for a in order], turned.shape))
        at = int((keys <= now).sum()) if step > 0 else int((keys < now).sum()) - 1
    found = np.unravel_index(int(keys[at % len(keys)]), turned.shape)
    index = [0] * len(order)
    for axis, code in zip(order, found, strict=True):
        index[axis] = int(code)
    return tuple(index)


FEW = 4
"""Variables whose categories have room beside each other."""


class RiskList(QFrame):
    """Beside the table. ``chosen`` carries a cell, ``rule_set`` a rule such as ``1..2``."""

    chosen = Signal(object)
    rule_set = Signal(str)
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Risk list"))
        self.setMinimumWidth(30 * GRID)
        self._table: Table | None = None
        self._mask: Bools | None = None
        self._codes: Ints = np.zeros((0, 0), dtype=np.int64)
        self._columns: tuple[ListColumn, ...] = ()
        self._title = heading(message("Small counts"))
        close = tool_button(
            run=self.closed, flat=True, name=message("Close the risk list"), tip=message("Close (Esc)")
        )
        QShortcut(
            QKeySequence(message("Esc")),
            self,
            self.closed.emit,
            context=Qt.ShortcutContext.WidgetWithChildrenShortcut,
        )
        self._close = close
        self.list = connected(
            RowList(message("Small counts in all layers")),
            chosen=lambda row: self.chosen.emit(self.index_of(row)),
        )
        self.search = connected(
            Finder(message("Find small counts by their categories"), message("Find categories")),
            textChanged=self.list.sift,
        )
        in_column(
            in_row((self._title, 1), close),
            self._kinds(),
            self.search,
            (self.list, 1),
            self.said,
            self.rules,
            on=self,
            margins=(GRID, 0, 0, 0),
            spacing=GRID,
        )
        THEME.follow(self, RiskList._paint)
        self._paint()

    def _kinds(self) -> QComboBox:
        """Return what is listed, each with the rule that names it."""
        kinds = {
            "counts": message("Small counts"),
            "group": message("Cells that disclose a group"),
            "one": message("Cells of one contributor"),
        }
        self.kind = choice(message("Which cells are listed"), kinds, self._list)
        self.said = Label(wordWrap=True, role="quiet", name=message("What the list means"))
        self.rules = QStackedWidget()
        self.share = named(
            QSpinBox(minimum=51, maximum=100, value=100, suffix=translate(" %")),
            message("Least share of a row that discloses its group"),
        )
        self.share.setKeyboardTracking(False)
        self.share.valueChanged.connect(lambda _: self._list())
        group = in_row(Label(message("At least")), self.share, Label(message("of the row")), 1, margins=0)
        self.rule = connected(RuleField(), rule_set=lambda rule: self.rule_set.emit(str(rule)))
        for rule in (in_row(self.rule, 1, margins=0), group, in_row(1, margins=0)):
            page = QWidget()
            page.setLayout(rule)
            self.rules.addWidget(page)
        return self.kind

    def show_cells(
        self, table: Table | None, mask: Bools | None, rule: SmallCount, *, records: bool = False
    ) -> None:
        """List the cells of a table that a rule names; nothing without a table.

        Parameters
        ----------
        mask, rule
            The at-risk ones, and what makes them so.
        records
            Whether the counts are known to be of records: then 1 is one contributor.
        """
        self._table, self._mask = table, mask
        one = self.kind.findData("one")
        item = self.kind.model().index(one, 0)
        self.kind.model().setData(item, None if records else 0, Qt.ItemDataRole.UserRole - 1)
        self.kind.setItemData(one, tip("" if records else UNKNOWN), Qt.ItemDataRole.ToolTipRole)
        if not records and self.kind.currentIndex() == one:
            self.kind.setCurrentIndex(0)
        self._list()
        self.rule.show_rule(rule)

    def forget(self) -> None:
        """List nothing, and keep nothing."""
        self.show_cells(None, None, SmallCount())

    def _list(self) -> None:
        """The cells of the kind that is asked for, and what that says of them."""
        table, mask, said = self._table, self._mask, ""
        kind = self.kind.currentData()
        what = message("small counts in all layers")
        if kind == "group":
            what = message("cells that disclose a group")
            said = message(
                "Whoever is known to be in the row most likely has that category. For a look: the "
                "gate judges counts."
            )
            if table is not None:
                mask = GroupDisclosure(self.share.value() / 100).mask(table.counts)
        elif kind == "one":
            what = message("cells of one contributor")
            said = message("One record alone makes the count: that person knows the cell is theirs.")
            if table is not None:
                mask = table.counts == 1
        self._look_up(table, mask)
        # Few variables share the room, each with its beginning in sight; more of them are scrolled.
        shared = len(self._columns) - 1
        self.list.show_rows(self._columns, stretch=range(shared) if shared <= FEW else ())
        self.rules.setCurrentIndex(self.kind.currentIndex())
        show_text(self.said, said)
        number = 0 if mask is None or table is None else int(mask.sum())
        self._title.setText(tr("{number} {what}", count_text(number), what))

    def _look_up(self, table: Table | None, mask: Bools | None) -> None:
        """The cells of a mask as columns, none without: their categories and their counts."""
        if table is None or mask is None:
            self._codes, self._columns = np.zeros((0, 0), dtype=np.int64), ()
            return
        self._codes = np.argwhere(mask)
        variables = zip(table.domain.variables, self._codes.T, strict=True)
        self._columns = (
            *(
                ListColumn(v.name, codes, v.categories.__getitem__, right=False, data=True)
                for v, codes in variables
            ),
            ListColumn(message("Count"), table.counts[mask]),
        )

    def index_of(self, row: int) -> Index:
        """The cell of a row."""
        return tuple(self._codes[row].tolist())

    def select(self, index: Index | None) -> None:
        """Mark the row of a cell."""
        found = np.zeros(0, dtype=np.int64)
        if index is not None and len(index) == self._codes.shape[1]:
            found = np.flatnonzero((self._codes == np.array(index)).all(axis=1))
        self.list.set_current(int(found[0]) if len(found) else None)

    def _paint(self) -> None:
        self._close.setIcon(icons.icon("close"))
