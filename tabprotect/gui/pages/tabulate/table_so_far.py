"""What the ticked variables make before anything is counted for good: cells, small counts, and how
many there would be with one variable more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QHeaderView, QTableWidget, QTableWidgetItem

from tabprotect.engine.arrays import Ints
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.sources import records_file
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import in_column, in_row, set_visible
from tabprotect.gui.look.lists.listing import as_list
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.engine.microdata.tabulate import ColumnSummary

MOST_RECORDS = 1_000_000
"""Records up to which all are counted by every variable at once."""

MOST_VARIABLES = 14
"""Variables that are counted at once."""

RULE = SmallCount()


SEEN = 30, 8
"""Rows and columns of a table that are shown ahead."""


@dataclass(frozen=True)
class Corner:
    """The first counts of a table by its first two variables. Confidential.

    Attributes
    ----------
    names
        The variables: that of the rows, that of the columns if there is one.
    rows, columns
        Their first categories.
    counts : int64 (rows, columns)
        What is counted there.
    """

    names: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: Ints

    @classmethod
    def of(cls, joint: Table, chosen: Sequence[str]) -> Corner:
        """The corner of the table of these variables."""
        table = joint.margin(list(chosen[:2]))
        high, wide = SEEN
        variables = [table.domain[name] for name in table.domain.names]
        columns = variables[1].categories[:wide] if len(variables) > 1 else ("",)
        counts = table.counts.reshape(table.domain.shape[0], -1)[:high, :wide]
        return cls(table.domain.names, variables[0].categories[:high], tuple(columns), counts)


@dataclass(frozen=True)
class Counted:
    """A table of some variables. Confidential.

    Attributes
    ----------
    cells, filled, small, ones
        Its cells, those with anybody in them, with a small count, with one person.
    corner
        Its first counts, where they are to be shown.
    """

    cells: int
    filled: int
    small: int
    ones: int
    corner: Corner | None = field(default=None, compare=False)

    @classmethod
    def of(cls, joint: Table, names: Sequence[str]) -> Counted:
        """The table of these variables, out of one of more."""
        table = joint.margin(list(names))
        counts = table.cells[1]
        filled = int((counts > 0).sum())
        size = int(np.prod([float(n) for n in table.domain.shape]))
        return cls(size, filled, int(RULE.mask(counts).sum()), int((counts == 1).sum()))


def counted_by(columns: Sequence[ColumnSummary], most: int) -> tuple[str, ...]:
    """The variables that classify; none where the records are too many to be counted ahead."""
    if not columns or columns[0].records > MOST_RECORDS:
        return ()
    found = [c.name for c in columns if 1 < c.categories <= most]
    return tuple(found[:MOST_VARIABLES])


def count_all(source: str, names: Sequence[str], progress: Progress) -> Table:
    """One pass over the records, by all variables at once."""
    from tabprotect.engine.microdata.tabulate import tabulate_with_keys

    return tabulate_with_keys(records_file(source), names, wide=True, progress=progress).table


def if_ticked(
    joint: Table, chosen: Sequence[str], names: Sequence[str], progress: Progress
) -> dict[str, Counted]:
    """The table so far, under the empty name, and with each of the others beside it."""
    out = {}
    if chosen:
        out[""] = replace(Counted.of(joint, chosen), corner=Corner.of(joint, chosen))
    for number, name in enumerate(names):
        progress.report(message("counting small counts"), number / len(names))
        if name not in chosen:
            out[name] = Counted.of(joint, [*chosen, name])
    return out


class TableSoFar(QFrame):
    """Three figures of the table that the ticks make, and its first counts."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(translate(message("The table so far")))
        dress(self, "card")
        self._small = False
        self._cells: list[QTableWidgetItem] = []
        self._figures = [Label(role="figure") for _ in range(3)]
        self._names = [Label(wordWrap=True, role="quiet") for _ in range(3)]
        figures = in_row(
            *(
                (in_column(figure, name, spacing=0), 1)
                for figure, name in zip(self._figures, self._names, strict=True)
            ),
            spacing=2 * GRID,
        )
        self._note = Label(wordWrap=True, role="quiet", name=message("Where the figures come from"))
        self._by = Label(wordWrap=True, role="quiet")
        self.corner = QTableWidget()
        as_list(self.corner, message("The first counts of the table"))
        self.corner.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
        self.corner.verticalHeader().setVisible(True)
        self.corner.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        parts = (heading(message("The table so far")), figures, self._note, self._by, (self.corner, 1))
        in_column(*parts, 0, on=self, margins=2 * GRID, spacing=GRID)
        THEME.follow(self, TableSoFar._paint)
        self.show_counted(None, message("Tick a variable: here stands what the table would hold."))

    def show_counted(self, found: Counted | None, note: str = "") -> None:
        """Show the figures, or what is to be done to see them."""
        texts = ("", "", "") if found is None else (found.cells, found.small, found.ones)
        empty = "" if found is None else count_text(found.cells - found.filled)
        names = (
            message("cells, {empty} empty", empty),
            message("small counts (1 or 2)"),
            message("persons alone in a cell"),
        )
        for figure, value in zip(self._figures, texts, strict=True):
            figure.setText(count_text(value) if isinstance(value, int) else "")
        for label, name in zip(self._names, names, strict=True):
            label.setText("" if found is None else translate(name))
        self._note.setText(translate(note))
        self._small = found is not None and found.small > 0
        self._show_corner(None if found is None else found.corner)
        self._paint()

    def _show_corner(self, corner: Corner | None) -> None:
        set_visible(corner is not None, self._by, self.corner)
        self._cells = []
        if corner is None:
            self.corner.setRowCount(0)
            return
        self._by.setText(
            translate(
                message("Its first counts by {rows}:", corner.names[0])
                if len(corner.names) < 2
                else message("Its first counts by {rows} and {columns}:", *corner.names)
            )
        )
        self.corner.setRowCount(len(corner.rows))
        self.corner.setColumnCount(len(corner.columns))
        self.corner.setHorizontalHeaderLabels(list(corner.columns))
        self.corner.setVerticalHeaderLabels(list(corner.rows))
        small = RULE.mask(corner.counts)
        for (row, column), count in np.ndenumerate(corner.counts):
            item = QTableWidgetItem(count_text(int(count)))
            item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.corner.setItem(row, column, item)
            if small[row, column]:
                self._cells.append(item)

    def _paint(self) -> None:
        # Amber is for small counts, not for their absence.
        colours = THEME.colours
        ink = colours.at_risk if self._small else colours.text
        self._figures[1].setStyleSheet(f"color: {ink};")
        for item in self._cells:
            item.setForeground(QColor(colours.at_risk))
            item.setBackground(QColor(colours.at_risk_fill))
