"""The left side of the compare page: which settings are compared, and how often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QSpinBox, QWidget

from tabprotect.engine.project.command import Order
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.compare_verbs import MOST_RUNS, set_comparison
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.forms.parameters.configuration_dialog import ask_configuration
from tabprotect.gui.look.buttons import connected, named, push_button, silent
from tabprotect.gui.look.label import Label, heading, tip
from tabprotect.gui.look.layouts import in_column, in_row, set_enabled
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.gui.pages.compare.words import names as short_names
from tabprotect.gui.pages.compare.words import titles
from tabprotect.gui.plots.series_looks import SeriesLook
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate


def _compared(runs: Iterable[str]) -> Order:
    """The command that compares these settings, each once."""
    return set_comparison(runs=list(dict.fromkeys(runs)))


class RunsPanel(QWidget):
    """``changed`` carries a command, ``chosen`` a setting's number."""

    changed = Signal(object)
    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[str, ...] = ()
        self._domain: Domain | None = None
        self.list = named(QListWidget(), message("Settings to compare"))
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMinimumSize(22 * GRID, 8 * GRID)
        self.list.currentRowChanged.connect(self._went)
        keys, own = QKeySequence(QKeySequence.StandardKey.Delete), Qt.ShortcutContext.WidgetShortcut
        connected(QShortcut(keys, self.list, context=own), activated=self.remove)
        self.build_button = push_button(message("Add a method\u2026"), self._ask_method)
        self.remove_button = push_button(
            message("Remove"), self.remove, name=message("Remove the setting"), flat=True
        )
        self.clear_button = push_button(
            message("Clear"),
            lambda: self.changed.emit(set_comparison(runs=[])),
            name=message("Remove all settings"),
            flat=True,
        )
        self.number = named(QSpinBox(minimum=1, maximum=MOST_RUNS, value=20), message("Runs of each setting"))
        self.number.setKeyboardTracking(False)
        self.number.valueChanged.connect(lambda n: self.changed.emit(set_comparison(runs_per_method=n)))
        in_column(
            heading(message("Compared")),
            (self.list, 1),
            in_row(self.remove_button, self.clear_button, 1),
            in_row(self.build_button, 1),
            in_row(Label(message("Runs of each"), buddy=self.number), self.number, 1, spacing=GRID),
            on=self,
            margins=0,
            spacing=GRID,
        )

    # -- showing ------------------------------------------------------------------------------

    def show_nothing(self) -> None:
        """Forget everything: the public view, or no table."""
        self._runs, self._domain = (), None
        self.build_button.setEnabled(False)
        with silent(self.list):
            self.list.clear()

    def show_plan(self, project: Project, looks: Mapping[str, SeriesLook], failed: Mapping[int, str]) -> None:
        """Show a project's comparison; ``failed`` says which settings did, and why."""
        plan = project.comparison
        self._domain, self._runs = project.domain, plan.runs
        with silent(self.list):
            before = self.list.currentRow()
            self.list.clear()
            size = self.fontMetrics().height()
            self.list.setIconSize(QSize(size, size))
            called, whole = short_names(plan.runs), titles(plan.runs)
            for n, (run, title) in enumerate(zip(plan.runs, called, strict=True)):
                name = run.partition(" ")[0]
                item = QListWidgetItem(message("{n}  {title}", n + 1, translate(title)))
                item.setSizeHint(QSize(0, size + GRID))
                item.setIcon(looks[name].icon(size, THEME.colours))
                unmet = joined(methods()[name].unmet(project.problem).values(), "; ")
                reason = message("Not possible: {unmet}", unmet) if unmet else failed.get(n, "")
                if reason:
                    item.setForeground(self.palette().placeholderText())
                    item.setText(tr("{n}  {title} \u2014 {reason}", n + 1, title, reason))
                item.setToolTip(tip(joined(filter(None, (whole[n], run, reason)), "\n")))
                item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, reason)
                self.list.addItem(item)
            self.list.setCurrentRow(min(before, self.list.count() - 1))
        self.build_button.setEnabled(True)
        set_enabled(bool(plan.runs), self.remove_button, self.clear_button)
        with silent(self.number):
            self.number.setValue(plan.runs_per_method)

    def set_current(self, number: int | None) -> None:
        """Mark a setting without telling anybody."""
        with silent(self.list):
            self.list.setCurrentRow(-1 if number is None else number)

    def _went(self, row: int) -> None:
        if row >= 0:
            self.chosen.emit(row)

    # -- doing --------------------------------------------------------------------------------

    def _ask_method(self) -> None:
        if self._domain is not None:
            ask_configuration(
                self, self._domain, lambda run: self.changed.emit(_compared([*self._runs, run]))
            )

    def remove(self) -> None:
        """Remove the current setting."""
        row = self.list.currentRow()
        if 0 <= row < len(self._runs):
            self.changed.emit(set_comparison(runs=[r for n, r in enumerate(self._runs) if n != row]))
