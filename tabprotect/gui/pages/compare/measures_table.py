"""The table of all measures, setting by setting; sorts, filters, copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from tabprotect.gui.look.buttons import connected, tool_button
from tabprotect.gui.look.layouts import in_column, in_row, set_enabled
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.compare.magnitude_ways import WaysCompared
from tabprotect.gui.pages.compare.words import failures, head_text, spread_text
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.gui.pages.compare.magnitude_ways import AnyMeasure, Compared
    from tabprotect.gui.plots.ru_map import Place
    from tabprotect.gui.plots.series_looks import SeriesLook

FRONT = 2
"""Measures that stand before the reasons of failures: those of the map."""


class MeasuresTable(QWidget):
    """``chosen`` and ``opened`` carry a place of the map, ``export_asked`` nothing."""

    chosen = Signal(object)
    opened = Signal(object)
    export_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._found: Compared | None = None
        self._labels: tuple[str, ...] = ()
        self._first: tuple[str, ...] = ()
        self._looks: Sequence[SeriesLook] = ()
        self.copy_button = tool_button(message("Copy"), self.copy, name=message("Copy the table"))
        self.export_button = tool_button(
            message("Export\u2026"), lambda: self.export_asked.emit(), name=message("Export all runs as CSV")
        )
        buttons = (self.copy_button, self.export_button)
        for button in buttons:
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.list = connected(
            RowList(message("Measures of every setting")),
            chosen=lambda row: self.chosen.emit(self._place(row)),
            activated_row=lambda row: self.opened.emit(self._place(row)),
        )
        self.list.setMinimumHeight(10 * GRID)
        self.filter = connected(Finder(message("Filter the rows by words")), textChanged=self.list.sift)
        keys = QKeySequence(QKeySequence.StandardKey.Copy)
        connected(QShortcut(keys, self.list, context=Qt.ShortcutContext.WidgetShortcut), activated=self.copy)
        row = in_row((self.filter, 1), *buttons, spacing=GRID)
        in_column(row, (self.list, 1), on=self, margins=0, spacing=GRID)

    # -- showing ------------------------------------------------------------------------------

    def show_comparison(
        self,
        found: Compared | None,
        labels: tuple[str, ...],
        first: tuple[str, ...] = (),
        looks: Sequence[SeriesLook] = (),
    ) -> None:
        """Show a comparison's figures, those of the measures ``first`` before the others, each
        setting with its look; ``None`` leaves nothing behind."""
        self._found, self._labels, self._first, self._looks = found, labels, first, looks
        set_enabled(found is not None, self.copy_button, self.export_button)
        if found is None:
            self.filter.clear()
        self._fill()

    def set_place(self, place: Place | None) -> None:
        """Mark the row of a place without telling anybody."""
        self.list.set_current(None if place is None else place[0])

    def _place(self, row: int) -> Place:
        return row, None

    def _fill(self) -> None:
        if (found := self._found) is None:
            self.list.show_rows([], stretch=())
            return
        every: Sequence[AnyMeasure] = found.measures
        measures = sorted(
            every, key=lambda m: self._first.index(m.name) if m.name in self._first else len(self._first)
        )
        self.list.show_rows(self._columns(measures), stretch=())

    def _label(self, c: int) -> str:
        assert self._found is not None
        return self._labels[c] if c < len(self._labels) else self._found.configurations[c].label

    def _columns(self, measures: Sequence[AnyMeasure]) -> list[ListColumn]:
        found = self._found
        assert found is not None
        count = len(found.configurations)
        notes = [failures(found, c) for c in range(count)]
        columns = [
            ListColumn(message("No."), list(range(1, count + 1))),
            ListColumn(
                message("method"),
                [self._label(c) for c in range(count)],
                str,
                right=False,
                signs=[partial(look.icon, 14) for look in self._looks],
            ),
        ]
        for m in measures:
            spreads = [summary[m.name] for summary in found.summaries]
            order = np.array([np.nan if s is None else s.mean for s in spreads])
            columns.append(ListColumn(head_text(m), spreads, partial(spread_text, unit=m.unit), order))
        if any(notes):
            columns.insert(2 + FRONT, ListColumn(message("failed"), notes, str, right=False))
        specs = [] if isinstance(found, WaysCompared) else [c.spec for c in found.configurations]
        given = [spec.title.partition(" (")[2][:-1] for spec in specs]
        if any(given):
            columns.append(ListColumn(message("settings"), given, str, right=False))
        return columns

    # -- copying ------------------------------------------------------------------------------

    def copy(self) -> None:
        """Put the rows, as they are shown, onto the clipboard."""
        if self._found is None:
            return
        model = self.list.rows
        lines = ["\t".join(column.head for column in model.columns)]
        for row in model.rows.tolist():
            texts = (column.text(column.values[row]) for column in model.columns)
            lines.append("\t".join(joined(text.split(), " ") for text in texts))
        QGuiApplication.clipboard().setText(translate(joined(lines, "\n") + "\n"))
