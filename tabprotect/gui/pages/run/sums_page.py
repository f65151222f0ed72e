"""Set-up and result of a method for sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QSplitter, QWidget

from tabprotect.engine.errors import ParameterError, TabprotectError
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
from tabprotect.engine.project.verbs.release_verbs import protect, protect_words, set_parameters
from tabprotect.engine.project.verbs.table_verbs import placed
from tabprotect.engine.protection.magnitude_method import PUBLISH
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.background.job_view import JobView
from tabprotect.gui.base.background.jobs import Job
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.rule_field import no_rule
from tabprotect.gui.forms.parameters.field import Field
from tabprotect.gui.grid.sums_grid import ShownSums, SumsGrid, sum_text
from tabprotect.gui.look.buttons import ScrollsDown, emptied, faces, named, push_button
from tabprotect.gui.look.file_dialogs import ask_file
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import filled, in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.pages.stages import MethodsStage
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import translate

REST = 600
"""Milliseconds after the last key before what was typed becomes a step of the history."""

SECONDARY = "D"
"""The SDMX letter of a sum that is hidden to protect another one."""


class SetUpSumsPage(MethodsStage, Page):
    """The form at the left, the result beside it."""

    hint = message("The chosen method: its parameters, and what it hides or changes.")
    main_label = message("Protect")

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.fields: dict[str, Field] = {}
        self._method = ""
        self._view = "original"
        self._job: Job | None = None
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self.flush)
        self._build_form()
        self._build_result()
        right = QWidget()
        self.no_rule = no_rule(document)
        in_column(*((self._result, 1), (self.empty, 1), (self.no_rule, 1)), on=right, margins=(GRID, 0, 0, 0))
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        filled(split, self.form, right)
        split.setStretchFactor(1, 1)
        split.setSizes([34 * GRID, 80 * GRID])
        self.body.addWidget(split, 1)
        self._jobs = in_column(spacing=0)
        self.footer.addLayout(self._jobs, 1)
        document.selection_changed.connect(self._selected)

    def _build_form(self) -> None:
        self.form = named(ScrollsDown(), message("Parameters"), focus=Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        self._title = heading("")
        self._about = Label(wordWrap=True)
        self._rows = in_column(spacing=GRID)
        self._like = Label(wordWrap=True, role="quiet", name=message("Last year's release"))
        self.choose_like = push_button(
            message("As last year\u2026"),
            lambda: ask_file(
                self, message("Last year's release"), message("Release bundles (*.zip)"), self._set_like
            ),
            tip=message("<p>What was published last year is published again, unless it is unsafe.</p>"),
        )
        in_column(
            *(self._title, self._about, self._rows),
            in_row(self.choose_like, 1),
            self._like,
            1,
            on=inner,
            margins=(0, 0, GRID, 0),
            spacing=GRID,
        )
        self.form.setWidget(inner)

    def _build_result(self) -> None:
        document = self.document
        self.grid = SumsGrid(message("Result"))
        self.grid.current_changed.connect(document.select)
        self.grid.placed.connect(lambda where: document.run(placed(where), page=self.name))
        self.grid.describe = self._describe
        self.faces = faces(
            {"original": message("Original"), "published": message("Published"), "change": message("Change")},
            self._look,
        )
        self.faces["original"].setChecked(True)
        self.empty = Label(wordWrap=True, role="quiet", alignment=Qt.AlignmentFlag.AlignCenter)
        self.legend = Label(wordWrap=True, role="quiet", name=message("What the marks mean"))
        self._result = QWidget()
        in_column(
            in_row(*self.faces.values(), 1, spacing=0),
            (self.grid, 1),
            self.legend,
            on=self._result,
            margins=0,
            spacing=GRID,
        )

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {"run": self.main_action}

    def words(self, project: Project) -> list[str]:
        return protect_words(project)

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        project, sums = self.document.project, self.document.sums
        if project is None or not project.of_sums:
            return
        house = self.document.in_house
        set_visible(house, self.form, self.main_button)
        set_visible(house, *self.faces.values())
        release = self.document.release_of_sums
        if house and sums is not None:
            self._show_form(project, sums)
        if release is None:
            self._result.hide()
            ruled = not house or sums is None or bool(sums.rules)
            self.no_rule.setVisible(not ruled)
            self.empty.setVisible(ruled)
            self.set_sentence("" if ruled else message("No rule is given yet."))
            self.empty.setText(
                translate(
                    message("What is hidden, or changed, appears here.\nNothing is published by it.")
                    if house
                    else message("A reader sees nothing yet.")
                )
            )
            return
        self._result.show()
        self.empty.hide()
        self.no_rule.hide()
        self._show_result(project)

    def _show_form(self, project: Project, sums: ChosenMagnitudes) -> None:
        method = methods("magnitudes")[project.method]
        if self._method != method.name:
            self._rest.stop()
            self._method = method.name
            emptied(self._rows)
            self.fields = {}
            for parameter in (*method.parameters, PUBLISH):
                field = self.fields[parameter.name] = Field(parameter)
                field.changed.connect(self._rest.start)
                self._rows.addWidget(field)
        self._title.setText(method.label)
        self._about.setText(method.about)
        for name, field in self.fields.items():
            value = project.parameters.get(name, field.parameter.default)
            known = field.parameter.choices
            if known is not None and value not in known:
                # A column of costs by its name.
                value = "column"
            field.show_value(value)
        suppression = method.takes_rules
        set_visible(suppression, self.choose_like, self._like)
        self._like.setText(translate(message("As in {name}", Path(sums.like).name) if sums.like else ""))
        if self._job is None:
            self.main_button.setEnabled(bool(sums.rules) or not suppression)

    def _show_result(self, project: Project) -> None:
        sums, release = self.document.sums, self.document.release_of_sums
        assert release is not None
        done = project.protected_sums if self.document.in_house else None
        table = release.magnitude_table
        text, values = sum_text(table.decimals), table.value
        letters = mark = None
        hatch, hidden = table.hidden, table.hidden
        if done is not None and sums is not None:
            cells = sums.table.cells
            mark = done.record.primary
            second = table.hidden & ~done.record.primary
            letters = np.where(second, SECONDARY, "")
            if self._view == "original":
                values, hatch, hidden = cells.value, second, np.zeros_like(second)
            elif self._view == "change":
                values = np.where(table.hidden, 0, table.value - cells.value)
        shown = ShownSums(values, text, letters=letters, mark=mark, hatch=hatch, hidden=hidden)
        placement = project.placement or Placement.of(project.domain)
        self.grid.show_sums(table.axes, table.key, placement, shown)
        self._selected(self.document.selection)
        self.legend.setText(translate(_legend(done)))
        self.set_sentence(_sentence(done) if done is not None else "")

    def _describe(self, number: int) -> str:
        release, project = self.document.release_of_sums, self.document.project
        if release is None or project is None or not release.magnitude_table.hidden[number]:
            return ""
        done = project.protected_sums if self.document.in_house else None
        if done is None:
            return message("hidden")
        unsafe = bool(done.record.primary[number])
        return message("hidden as unsafe") if unsafe else message("hidden to protect others")

    def _look(self, face: str) -> None:
        self._view = face
        self.faces[face].setChecked(True)
        self.refresh(frozenset())

    def _selected(self, index: Index | None) -> None:
        if self.document.of_sums and not self._result.isHidden():
            self.grid.select(index)

    # -- what happens -------------------------------------------------------------------------

    def flush(self) -> None:
        """Take over what was typed."""
        self._rest.stop()
        project = self.document.project
        if project is None or project.sums is None or self._method != project.method:
            return
        given: dict[str, object] = {}
        for name, field in self.fields.items():
            field.show_fault("")
            value, before = field.value, project.parameters.get(name, field.parameter.default)
            if field.parameter.choices is not None and value == "column":
                value = before if before not in field.parameter.choices else "cost"
            if value != before:
                given[name] = value
        if given:
            order = set_parameters.order(given)
            self.document.run(order, page=self.name, failed=self._wrong)

    def _wrong(self, error: TabprotectError) -> None:
        faults = error.fields if isinstance(error, ParameterError) else {}
        for name, why in faults.items():
            if name in self.fields:
                self.fields[name].show_fault(why)
        if not faults.keys() & self.fields.keys():
            self.show_error(error)

    def _set_like(self, path: str) -> None:
        sums = self.document.sums
        if sums is not None:
            self.do(set_rules, rules=list(sums.rules), like=path)

    def main_action(self) -> None:
        if not self.document.in_house or self._job is not None:
            return
        self.flush()
        job = self.do(protect)
        if job is None:
            return
        self._job = job
        self.main_button.setEnabled(False)
        self._jobs.addWidget(JobView(job))
        job.ended.connect(self._ended)

    def _ended(self) -> None:
        self._job = None
        emptied(self._jobs)
        self.refresh(frozenset())


def _sentence(done: Protected) -> str:
    first, published = "", done.release.magnitude_table
    if published.hidden.any():
        primary = int(done.record.primary.sum())
        first = plural(
            primary,
            "{primary} sum is hidden as unsafe, {secondary} more to protect it, of {cells}.",
            "{primary} sums are hidden as unsafe, {secondary} more to protect them, of {cells}.",
            count_text(primary),
            count_text(int((published.hidden & ~done.record.primary).sum())),
            count_text(len(published.key)),
        )
    return joined(filter(None, (first, done.verdict.staff_sentence)), " ")


def _legend(done: Protected | None) -> str:
    if done is None:
        return message("x: not published.")
    if not done.release.magnitude_table.hidden.any():
        return ""
    return message(
        "\u25cf hidden as unsafe; hatched, {letter}: hidden to protect others. Readers cannot tell "
        "them apart.",
        SECONDARY,
    )
