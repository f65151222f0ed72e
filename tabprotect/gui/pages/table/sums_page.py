"""The data page of a magnitude table: sums, which of them tell too much and why, and the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
from tabprotect.engine.project.verbs.table_verbs import opening, placed
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import Sensitivity, rules_of
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.judged.judged_sums import judged
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.grid.magnitude_grid import MagnitudeGrid, ShownMagnitudes, magnitude_text
from tabprotect.gui.look.buttons import named, tool_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, set_visible
from tabprotect.gui.look.theme import count_text
from tabprotect.gui.pages.stages import TableStage
from tabprotect.gui.pages.table.rules_bar import RulesBar
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import translate

FIGURES = {"value": message("Amounts"), "holdings": message("Contributors"), "units": message("Records")}
"""What the cells can show, by the column of the table's cells."""

LETTERS = {
    "A": message("too few contributors"),
    "O": message("one holds nearly all"),
    "T": message("two hold nearly all"),
    "M": message("one could be estimated"),
}
"""The SDMX letters of confidentiality that rules give, in words."""

TYPING = 150
"""Milliseconds of rest before a rule that is being typed is judged."""


class SumsPage(TableStage, Page):
    """The sums in the house with their rules, the published ones in public view."""

    hint = message("The sums, who contributes, and which tell too much.")

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._figure = "value"
        self._judged: BackgroundTask[Sensitivity] = BackgroundTask(
            self, document.jobs, self._tried, self._not_tried
        )
        self.figures = named(QComboBox(), message("What the cells show"))
        for name, words in FIGURES.items():
            self.figures.addItem(translate(words), name)
        self.figures.currentIndexChanged.connect(lambda _: self._show_figure())
        self.unsafe_only = tool_button(
            message("Unsafe only"),
            checkable=True,
            name=message("Show only rows and columns with unsafe sums"),
        )
        filled(self.tools, self.figures, self.unsafe_only)
        self.rules = RulesBar()
        self.rules.rules_set.connect(lambda rules: self.do(set_rules, rules=list(rules)))
        self.rules.weights_set.connect(
            lambda reading: self.do(set_rules, rules=list(self.rules.rules), weights=reading)
        )
        self.rules.tried.connect(self._try)
        self.grid = MagnitudeGrid(message("Table of sums"))
        self.grid.current_changed.connect(document.select)
        self.grid.placed.connect(lambda where: document.run(placed(where), page=self.name))
        self.grid.describe = self._describe
        self.unsafe_only.toggled.connect(self.grid.only)
        self.empty = Label(wordWrap=True, role="quiet", alignment=Qt.AlignmentFlag.AlignCenter)
        self.legend = Label(wordWrap=True, name=message("What the letters mean"))
        for part, stretch in ((self.rules, 0), (self.grid, 1), (self.legend, 0), (self.empty, 1)):
            self.body.addWidget(part, stretch)
        self._who = Label(role="quiet")
        filled(self.footer, self._who, 1)
        document.selection_changed.connect(self._selected)
        document.judged_sums.changed.connect(self._now_judged)
        self.begins = self.grid.grid.cells

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {"next": lambda: self._go(1), "previous": lambda: self._go(-1), "swap": self._swap}

    def words(self, project: Project) -> list[str]:
        return opening(project)

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        document, project = self.document, self.document.project
        if project is None or not project.of_sums:
            return
        house = document.in_house
        sums, release = document.sums, document.release_of_sums
        self.main_button.setText(translate(self.main_label if house else message("What readers would know")))
        self.main_button.setEnabled(house or release is not None)
        set_visible(house, self.rules, self.unsafe_only, self.figures, self.legend)
        if house and sums is not None:
            self.rules.show_rules(sums.rules, weighted=sums.table.weighted, weights=sums.weights)
            self._show_original(project, sums)
        elif release is not None:
            self._show_release(project, release)
        else:
            self.grid.hide()
            self.set_sentence("")
            self._nothing(
                message(
                    "A reader sees nothing yet: the table has not been protected.\n"
                    "Press F9 to see the original again, and go on to Protect."
                )
            )
        if not house:
            self._who.setText("")
            self.legend.setText("")
            self._judged.drop()
            self.rules.forget()

    def _nothing(self, why: str) -> None:
        self.empty.setText(translate(why))
        self.empty.setVisible(bool(why))
        self.grid.setVisible(not why)

    def _show_original(self, project: Project, sums: ChosenMagnitudes) -> None:
        found = self.document.judged_sums.of(sums)
        if found is None:
            # Counting all cells may take seconds: that is not for the window's thread.
            self.document.judged_sums.ask(sums)
            self._nothing(message("Judging every sum\u2026"))
            return
        self._nothing("")
        cells = sums.table.cells
        letters = letters_of(sums, found)
        value = self._figure == "value"
        shown = ShownMagnitudes(
            getattr(cells, self._figure),
            magnitude_text(sums.table.decimals) if value else count_text,
            letters=letters,
            mark=found.unsafe,
        )
        placement = project.placement or Placement.of(project.domain)
        self.grid.show_magnitudes(sums.table.axes, cells.key, placement, shown)
        self._too_large()
        self._selected(self.document.selection)
        self.set_sentence(_sentence(sums, found))
        self.legend.setText(translate(_legend(letters)))
        self._who.setText(translate(_who(sums)))

    def _show_release(self, project: Project, release: Release) -> None:
        self._nothing("")
        table = release.magnitude_table
        shown = ShownMagnitudes(
            table.value, magnitude_text(table.decimals), hatch=table.hidden, hidden=table.hidden
        )
        placement = project.placement or Placement.of(project.domain)
        self.grid.show_magnitudes(table.axes, table.key, placement, shown)
        self._too_large()
        self._selected(self.document.selection)
        hidden = int(table.hidden.sum())
        self.set_sentence(
            message(
                "What a reader sees: {cells} sums of {measure}; {hidden} of them are hidden (x).",
                count_text(len(table.key)),
                table.measure,
                count_text(hidden),
            )
            if release.mechanism.method == "suppression"
            else message(
                "What a reader sees: {cells} sums of {measure}, all of them published with noise.",
                count_text(len(table.key)),
                table.measure,
            )
        )

    def _too_large(self) -> None:
        if not self.grid.fits:
            self._nothing(
                message(
                    "This table has too many combinations to be shown as a grid. Rules, methods and "
                    "release work on it all the same."
                )
            )

    def _describe(self, number: int) -> str:
        sums = self.document.sums
        found = None if sums is None else self.document.judged_sums.of(sums)
        if self.document.public or found is None:
            return ""
        return message("unsafe") if found.unsafe[number] else ""

    def _show_figure(self) -> None:
        self._figure = str(self.figures.currentData())
        self.refresh(frozenset())

    def _now_judged(self) -> None:
        # Out of sight it is shown when the page is next.
        self._changed(frozenset({"at_risk"}))

    def _selected(self, index: Index | None) -> None:
        if self.document.of_sums and not self.grid.isHidden():
            self.grid.select(index)

    # -- rules --------------------------------------------------------------------------------

    def _try(self, rules: tuple[str, ...] | None) -> None:
        """Judge by the rule that is being typed, too, while it is typed."""
        sums = self.document.sums
        if rules is None or sums is None or not self.document.in_house:
            self._judged.drop()
            self.rules.show_draft("")
            return
        try:
            asked = rules_of(rules)
        except TabprotectError as error:
            self._judged.drop()
            self._not_tried(error)
            return

        def work(_progress: Progress) -> Sensitivity:
            return judged(sums, asked)

        key = (sums.table, sums.weights, *rules)
        self._judged.ask(message("judging every sum"), work, key, wait=TYPING)

    def _tried(self, found: Sensitivity) -> None:
        unsafe = int(found.unsafe.sum())
        self.rules.add.setEnabled(True)
        if self.document.in_house:
            before = self.document.at_risk_cells
            self.rules.show_draft(
                message(
                    "With {rule} {unsafe} sums would be unsafe ({before} now).",
                    self.rules.typed,
                    count_text(unsafe),
                    count_text(before),
                )
            )

    def _not_tried(self, error: TabprotectError) -> None:
        self.rules.add.setEnabled(False)
        self.rules.show_draft(error.sentence)

    # -- going about --------------------------------------------------------------------------

    def main_action(self) -> None:
        self.document.page_asked.emit("check" if self.document.public else "protect")

    def _go(self, step: int) -> None:
        if not self.document.in_house:
            return
        found = self.grid.next_marked(self.document.selection, step)
        if found is not None:
            self.document.select(found)
            self.grid.grid.cells.setFocus()

    def _swap(self) -> None:
        project = self.document.project
        if project is not None and project.placement is not None:
            old = project.placement
            turned = Placement(old.columns, old.rows, old.layers)
            self.document.run(placed(turned), page=self.name)


def letters_of(sums: ChosenMagnitudes, found: Sensitivity) -> np.ndarray:
    """The letter of each cell, empty where it is safe."""
    known = ["", *(rule.letter for rule in rules_of(sums.rules))] if sums.rules else [""]
    return np.array(known)[found.rule + 1]


def _sentence(sums: ChosenMagnitudes, found: Sensitivity) -> str:
    cells = count_text(len(sums.table.cells))
    unsafe = int(found.unsafe.sum())
    if not sums.rules:
        return message(
            "{cells} sums of {measure}. Give a rule: it says which of them tell too much.",
            cells,
            sums.table.measure,
        )
    if not unsafe:
        return message("None of {cells} sums tells too much by these rules.", cells)
    return plural(
        unsafe,
        "{unsafe} of {cells} sums may not be shown: it tells too much of one contributor.",
        "{unsafe} of {cells} sums may not be shown: they tell too much of one contributor.",
        count_text(unsafe),
        cells,
    )


def _legend(letters: np.ndarray) -> str:
    parts = []
    for letter, words in LETTERS.items():
        if number := int((letters == letter).sum()):
            parts.append(message("{letter} {words}: {number}", letter, words, count_text(number)))
    return joined(parts, "    ")


def _who(sums: ChosenMagnitudes) -> str:
    table = sums.table
    inner = np.ones(len(table.cells), dtype=bool)
    for axis, nodes in zip(table.axes, table.cells.nodes, strict=True):
        inner &= nodes < len(axis.variable.categories)
    return message(
        "{records} records of {holdings} contributors; {totals} of the sums are totals.",
        count_text(int(table.rows.units.sum())),
        count_text(len(table.names)),
        count_text(int((~inner).sum())),
    )
