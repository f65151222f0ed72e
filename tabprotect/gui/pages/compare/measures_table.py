"""The table of all measures: by setting or run by run; sorts, filters, copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from tabprotect.gui.look.buttons import choice, connected, tool_button
from tabprotect.gui.look.layouts import in_column, in_row, set_enabled
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.compare.magnitude_ways import WaysCompared
from tabprotect.gui.pages.compare.words import failures, figure_text, head_text, spread_text
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.gui.pages.compare.magnitude_ways import AnyMeasure, Compared
    from tabprotect.gui.plots.ru_map import Place
    from tabprotect.gui.plots.series_looks import SeriesLook

FRONT = 2
"""Measures that stand before the reasons of failures: those of the map."""

KINDS = {"": message("all measures"), "utility": message("utility"), "risk": message("risk")}


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
        rows = {False: message("by setting"), True: message("run by run")}
        self.rows = choice(message("What a row is"), rows, self._fill)
        self.kind = choice(message("Which measures"), KINDS, self._fill)
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
        row = in_row(self.rows, self.kind, (self.filter, 1), *buttons, spacing=GRID)
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
        # Of a single run each, there is nothing to show run by run.
        self.rows.setVisible(found is None or bool(found.runs))
        set_enabled(found is not None, self.copy_button, self.export_button)
        if found is None:
            self.filter.clear()
        self._fill()

    @property
    def by_run(self) -> bool:
        """Return True if each row is one run."""
        return bool(self.rows.currentData())

    def set_place(self, place: Place | None) -> None:
        """Mark the row of a place without telling anybody."""
        row = None
        if place is not None:
            row = place[1] if self.by_run else place[0]
        self.list.set_current(row)

    def _place(self, row: int) -> Place:
        assert self._found is not None
        return (self._found.runs[row].configuration, row) if self.by_run else (row, None)

    def _fill(self) -> None:
        if (found := self._found) is None:
            self.list.show_rows([], stretch=())
            return
        noun = self.kind.currentData()
        measures = sorted(
            (m for m in found.measures if noun in ("", m.noun)),
            key=lambda m: self._first.index(m.name) if m.name in self._first else len(self._first),
        )
        columns = self._run_columns(measures) if self.by_run else self._columns(measures)
        self.list.show_rows(columns, stretch=())

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

    def _run_columns(self, measures: Sequence[AnyMeasure]) -> list[ListColumn]:
        found = self._found
        assert found is not None
        runs = found.runs
        columns = [
            ListColumn(message("No."), [r.configuration + 1 for r in runs]),
            ListColumn(message("method"), [self._label(r.configuration) for r in runs], str, right=False),
            ListColumn(message("run"), [r.number + 1 for r in runs]),
        ]
        for m in measures:
            values = [r.values[m.name] for r in runs]
            order = np.array([np.nan if v is None else v for v in values])
            columns.append(ListColumn(head_text(m), values, partial(figure_text, unit=m.unit), order))
        if any(r.error for r in runs):
            columns.insert(
                3 + FRONT, ListColumn(message("failed"), [r.error for r in runs], str, right=False)
            )
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
