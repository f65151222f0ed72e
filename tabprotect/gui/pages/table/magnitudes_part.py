"""The part of the table page that is about magnitudes: they, which tell too much and why, and the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
from tabprotect.engine.project.verbs.table_verbs import placed
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import Sensitivity, rules_of
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.variable import Variable
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.judging import judged
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.grid.grid_view import GridView
from tabprotect.gui.grid.magnitude_grid import MagnitudeGrid, ShownMagnitudes, magnitude_text
from tabprotect.gui.look.buttons import choice, connected, tool_button
from tabprotect.gui.look.label import Label, show_text
from tabprotect.gui.look.layouts import FlowLayout, filled, in_column, set_visible
from tabprotect.gui.look.theme import GRID, Written, count_text
from tabprotect.gui.pages.table.rules_bar import RulesBar
from tabprotect.gui.pages.table.words import empty_words
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


class MagnitudesPart(QWidget):
    """The magnitudes in the house with their rules, the published ones in public view."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page, self.document = page, page.document
        document = page.document
        self._judged: BackgroundTask[Sensitivity] = BackgroundTask(
            self, document.jobs, self._tried, self._not_tried
        )
        self.figures = choice(message("What the cells show"), FIGURES, lambda: page.follow("view"))
        self.unsafe_only = tool_button(
            message("Unsafe only"),
            checkable=True,
            name=message("Show only rows and columns with unsafe sums"),
        )
        self.bar = QWidget()
        filled(FlowLayout(self.bar, gap=GRID), self.figures, self.unsafe_only)
        page.tools.addWidget(self.bar)
        self.rules = connected(
            RulesBar(), rules_set=lambda rules: self.page.do(set_rules, rules=list(rules)), tried=self._try
        )
        self.rules.weights_set.connect(
            lambda reading: self.page.do(set_rules, rules=list(self.rules.rules), weights=reading)
        )
        self.grid = connected(
            MagnitudeGrid(message("Table of sums")),
            current_changed=document.select,
            placed=lambda where: document.run(placed(where), page=self.page.name),
        )
        self.grid.describe = self._describe
        self.unsafe_only.toggled.connect(self.grid.only)
        self.empty = Label(wordWrap=True, role="quiet", alignment=Qt.AlignmentFlag.AlignCenter)
        self.legend = Label(wordWrap=True, name=message("What the letters mean"))
        in_column(self.rules, (self.grid, 1), self.legend, (self.empty, 1), on=self, margins=0, spacing=GRID)
        self._who = Label(role="quiet")
        filled(page.footer, self._who, 1)
        # Out of sight it is shown when the page is next.
        document.judged_magnitudes.changed.connect(lambda: page.follow("at_risk"))
        document.selection_changed.connect(self.go_to)
        self.begins: QWidget = self.grid.grid.cells

    def choices(self) -> Mapping[str, Callable[[], object]]:
        """No menu entries but those of both measures."""
        return {}

    def copied(self) -> tuple[GridView, Written]:
        """What is copied from, and how its values are written."""
        return self.grid.grid, self.grid.grid.model.text

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        """Bring it up to date."""
        document, project = self.document, self.document.project
        if project is None or not project.of_magnitudes:
            return
        house = document.in_house
        magnitudes, release = document.magnitudes, document.magnitude_release
        set_visible(house, self.rules, self.unsafe_only, self.figures, self.legend)
        if house and magnitudes is not None:
            self.rules.show_rules(
                magnitudes.rules, weighted=magnitudes.table.weighted, weights=magnitudes.weights
            )
            self._show_original(project, magnitudes)
        elif release is not None:
            self._show_release(project, release)
        else:
            self.page.set_sentence("")
            self._nothing(empty_words(document))
        if not house:
            self._who.setText("")
            self.legend.setText("")
            self._judged.drop()
            self.rules.forget()

    def _nothing(self, why: str) -> None:
        show_text(self.empty, why)
        self.grid.setVisible(not why)

    def _show_original(self, project: Project, magnitudes: ChosenMagnitudes) -> None:
        if (found := self.document.judged_magnitudes.of(magnitudes)) is None:
            # Counting all cells may take seconds: that is not for the window's thread.
            self.document.judged_magnitudes.ask(magnitudes)
            self._nothing(message("Judging every sum\u2026"))
            return
        cells = magnitudes.table.cells
        letters = letters_of(magnitudes, found)
        figure = str(self.figures.currentData())
        shown = ShownMagnitudes(
            getattr(cells, figure),
            magnitude_text(magnitudes.table.decimals if figure == "value" else 0),
            letters=letters,
            mark=found.unsafe,
        )
        self._lay_out(project, magnitudes.table.variables, cells.key, shown)
        self.page.set_sentence(_sentence(magnitudes, found))
        self.legend.setText(translate(_legend(letters)))
        self._who.setText(translate(_who(magnitudes)))

    def _show_release(self, project: Project, release: Release) -> None:
        table = release.magnitude_table
        shown = ShownMagnitudes(
            table.value, magnitude_text(table.decimals), hatch=table.hidden, hidden=table.hidden
        )
        self._lay_out(project, table.variables, table.key, shown)
        hidden = int(table.hidden.sum())
        self.page.set_sentence(
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

    def _lay_out(
        self, project: Project, variables: Sequence[Variable], key: Ints, shown: ShownMagnitudes
    ) -> None:
        self._nothing("")
        self.grid.show_magnitudes(variables, key, project.shown_placement, shown)
        self.go_to(self.document.selection)
        if not self.grid.fits:
            self._nothing(
                message(
                    "This table has too many combinations to be shown as a grid. Rules, methods and "
                    "release work on it all the same."
                )
            )

    def _describe(self, number: int) -> str:
        magnitudes = self.document.magnitudes
        found = None if magnitudes is None else self.document.judged_magnitudes.of(magnitudes)
        if self.document.public or found is None:
            return ""
        return message("unsafe") if found.unsafe[number] else ""

    def go_to(self, index: Index | None) -> None:
        """Go to a cell, in its layer."""
        if self.document.of_magnitudes and not self.grid.isHidden():
            self.grid.select(index)

    # -- rules --------------------------------------------------------------------------------

    def _try(self, rules: tuple[str, ...] | None) -> None:
        """Judge by the rule that is being typed, too, while it is typed."""
        magnitudes = self.document.magnitudes
        if rules is None or magnitudes is None or not self.document.in_house:
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
            return judged(magnitudes, asked)

        key = (magnitudes.table, magnitudes.weights, *rules)
        self._judged.ask(message("judging every sum"), work, key, wait=TYPING)

    def _tried(self, found: Sensitivity) -> None:
        unsafe = int(found.unsafe.sum())
        self.rules.add.setEnabled(True)
        if self.document.in_house:
            self.rules.show_draft(
                plural(
                    unsafe,
                    "With {rule} {unsafe} sum would be unsafe ({before} now).",
                    "With {rule} {unsafe} sums would be unsafe ({before} now).",
                    self.rules.typed,
                    count_text(unsafe),
                    count_text(self.document.at_risk_cells),
                )
            )

    def _not_tried(self, error: TabprotectError) -> None:
        self.rules.add.setEnabled(False)
        self.rules.show_draft(error.sentence)

    # -- going about --------------------------------------------------------------------------

    def go_at_risk(self, step: int) -> None:
        """Select the next (or with -1 the previous) unsafe cell, round and round."""
        found = self.grid.next_marked(self.document.selection, step) if self.document.in_house else None
        if found is not None:
            self.document.select(found)
            self.begins.setFocus()

    def go_to_error(self, error: TabprotectError) -> None:
        """No error names a magnitude."""


def letters_of(magnitudes: ChosenMagnitudes, found: Sensitivity) -> np.ndarray:
    """The letter of each cell, empty where it is safe."""
    known = ["", *(rule.letter for rule in rules_of(magnitudes.rules))] if magnitudes.rules else [""]
    return np.array(known)[found.rule + 1]


def _sentence(magnitudes: ChosenMagnitudes, found: Sensitivity) -> str:
    cells = count_text(len(magnitudes.table.cells))
    unsafe = int(found.unsafe.sum())
    if not magnitudes.rules:
        return message(
            "{cells} sums of {measure}. Give a rule: it says which of them tell too much.",
            cells,
            magnitudes.table.measure,
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
            parts.append(message("{number} {letter}: {words}", count_text(number), letter, words))
    return joined(parts, "    ")


def _who(magnitudes: ChosenMagnitudes) -> str:
    table = magnitudes.table
    inner = np.ones(len(table.cells), dtype=bool)
    for variable, nodes in zip(table.variables, table.cells.nodes, strict=True):
        inner &= nodes < len(variable.categories)
    return message(
        "{records} records of {holdings} contributors; {totals} of the sums are totals.",
        count_text(int(table.rows.units.sum())),
        count_text(len(table.names)),
        count_text(int((~inner).sum())),
    )
