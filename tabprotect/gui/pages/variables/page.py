"""Every variable with its kind, categories and levels; grouping by digits, bands, file or hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QTableWidget, QTableWidgetItem

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.verbs.category_verbs import (
    add_category,
    merge_categories,
    remove_category,
    rename_category,
    rename_variable,
    reorder_categories,
)
from tabprotect.engine.project.verbs.level_verbs import (
    CategoryGroups,
    group_categories,
    levels_of,
    nest_variables,
    remove_level,
    state_structural_zeros,
    take_level,
    unsafe_at_level,
    with_levels,
)
from tabprotect.engine.tables.groupings.bands import held_name, span_of
from tabprotect.engine.tables.groupings.nesting import chains
from tabprotect.engine.tables.groupings.unlisted_codes import UnlistedError
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.variable_words import levels_text, missing_codes, variable_kind
from tabprotect.gui.forms.mapping_sheet import MappingSheet, Unlisted
from tabprotect.gui.look.buttons import ScrollsDown, connected, named, silent
from tabprotect.gui.look.label import ElidedLabel
from tabprotect.gui.look.layouts import held, in_column, in_row, split
from tabprotect.gui.look.lists.figures import show_figures
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import as_list
from tabprotect.gui.look.lists.renaming import Renaming
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.pages.stages import VARIABLES
from tabprotect.gui.pages.variables.category_tree import CategoryTree
from tabprotect.gui.pages.variables.foreseen import Foreseen, foresee_levels, foreseen_words, small_counts
from tabprotect.gui.pages.variables.grouping_panel import GroupingPanel
from tabprotect.gui.pages.variables.level_tools import LevelTools, OrderTools
from tabprotect.gui.pages.variables.zeros_menu import ZerosMenu
from tabprotect.languages.messages import capital, joined, message, plural
from tabprotect.languages.translation import tr, translate

TITLES = (message("Variable"), message("Categories"), message("Kind"), message("Levels"), message("Missing"))
FIGURES = 1
"""The column of figures."""

BY_HAND = "groups"
WIDEST = 80 * GRID
ROOM = 2 * GRID
"""Pixels between two columns."""

MOST_ROWS = 6
"""Variables that the list shows without scrolling."""

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
WAIT = 150


class VariablesPage(Page):
    """The page of variables: what the table is classified by."""

    stage = VARIABLES

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.variable = ""
        self._names: tuple[str, ...] = ()
        self._people = np.zeros(0, dtype=np.int64)
        self._small: dict[str, int] = {}
        self.list = QTableWidget(0, len(TITLES))
        self.list.setHorizontalHeaderLabels([translate(title) for title in TITLES])
        as_list(self.list, message("Variables"))
        self.list.horizontalHeader().setStretchLastSection(True)
        self.list.setMinimumHeight(10 * GRID)
        show_figures(self.list, (FIGURES,))
        Renaming(self.list).renamed.connect(
            lambda old, new: self._edit(rename_variable(variable=old, to=new))
        )
        self.list.currentCellChanged.connect(lambda row, *_: self._row_chosen(row))
        self.tree = connected(
            CategoryTree(),
            dropped=self._together,
            itemSelectionChanged=self._selected,
            renamed=lambda old, new: self._edit(
                rename_category(variable=self.variable, category=old, to=new)
            ),
        )
        self.order = connected(
            OrderTools(), moved=self._move, merged=self._merge, added=self._add, removed=self._remove
        )
        self.levels_there = LevelTools()
        self.panel = GroupingPanel()
        self._connect()
        self.zeros = connected(ZerosMenu(), stated=lambda zeros: self.do(state_structural_zeros, zeros=zeros))
        self.tools.addWidget(self.zeros)
        self._looking: BackgroundTask[tuple[tuple[str, ...], ...]] = BackgroundTask(
            self, document.jobs, self._nesting, lambda _: None
        )
        self._ahead: BackgroundTask[tuple[Foreseen, ...]] = BackgroundTask(
            self,
            document.jobs,
            lambda found: self.panel.live.setText("" if document.public else foreseen_words(found)),
            lambda error: self.panel.live.setText(error.message),
        )
        self.finder = connected(Finder(message("Find a category")), textChanged=self.tree.sift)
        self._lay_out()
        document.rename_asked.connect(self.rename)

    def _connect(self) -> None:
        connected(
            self.panel,
            changed=self._foresee,
            asked=self._group,
            together=lambda: self._together(self.tree.chosen),
            writing=self._write,
        )
        connected(
            self.levels_there,
            removed=lambda level: self.do(remove_level, variable=self.variable, level=level),
            taken=lambda level: self.do(take_level, variable=self.variable, level=level),
            nested=self._nest,
        )

    def _lay_out(self) -> None:
        self.levels = ElidedLabel("", role="section")
        # What is rarely reached scrolls, so that a low window keeps the main action.
        area = named(ScrollsDown(), message("Ways to group"), focus=Qt.FocusPolicy.NoFocus)
        area.setWidget(self.panel)
        head = in_row((self.levels, 1), self.order, self.finder, spacing=GRID)
        margins = (0, GRID, 0, 0)
        lower = held(in_column(head, (self.tree, 1), self.levels_there, margins=margins, spacing=GRID))
        self._split = split(self.list, lower, down=True)
        for part in (self._split, area):
            # Figures stand beside their names, however wide the window is.
            part.setMaximumWidth(WIDEST)
        self.body.addLayout(in_row((self._split, 1), (area, 1), spacing=2 * GRID), 1)

    def main_action(self) -> None:
        self.document.page_asked.emit("table")

    def refresh(self, changes: PageChanges) -> None:
        table = None if self.document.public else self.document.original
        if table is None:
            self._forget()
            return
        names = table.domain.names
        if self.variable not in names:
            self.variable = names[0]
        self._fill(table)
        self.set_sentence(self._said(table))
        self._show(table)
        self._looking.ask(
            message("looking for variables that nest"),
            lambda progress: chains(table) if len(table.domain.names) > 1 else (),
            (table,),
        )

    def _forget(self) -> None:
        """Nothing of the original stays."""
        self._ahead.drop()
        self._looking.drop()
        self.variable = ""
        self._people, self._small = np.zeros(0, dtype=np.int64), {}
        self.list.setRowCount(0)
        self.tree.show_variable(None, None)
        self.levels.clear()
        self.finder.clear()
        self.zeros.show_state(None, "", [])
        self.levels_there.show_levels([], [])
        self.panel.show_variable(None, numbers=False)
        self.panel.show_selected(0)
        self.panel.show_made(None, self._people)
        self.set_sentence("")

    @staticmethod
    def _said(table: Table) -> str:
        number = table.domain.ndim
        return message(
            "Put categories together where counts are small: a level does that and changes no count. "
            "{here}{zeros}.",
            plural(
                number,
                "{number} variable, {total} records",
                "{number} variables, {total} records",
                number,
                count_text(table.total),
            ),
            joined(message("; nobody can be in {words}", z.words) for z in table.domain.structural[:3]),
        )

    def _fill(self, table: Table) -> None:
        with silent(self.list):
            self.list.setRowCount(table.domain.ndim)
            for row, variable in enumerate(table.domain.variables):
                texts = (
                    variable.name,
                    count_text(len(variable.categories)),
                    translate(variable_kind(variable)),
                    levels_text(variable),
                    joined(map(repr, missing_codes(variable)), ", "),
                )
                for column, text in enumerate(texts):
                    item = QTableWidgetItem(text)
                    if column == FIGURES:
                        item.setTextAlignment(RIGHT)
                    if column:
                        item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
                    self.list.setItem(row, column, item)
            missing = any(missing_codes(variable) for variable in table.domain.variables)
            self.list.setColumnHidden(len(TITLES) - 1, not missing)
            self.list.resizeColumnsToContents()
            for column in range(len(TITLES) - 1 - (not missing)):
                self.list.setColumnWidth(column, self.list.columnWidth(column) + ROOM)
            self.list.setCurrentCell(table.domain.axis(self.variable), 0)
        if table.domain.names != self._names:
            self._names = table.domain.names
            rows = min(table.domain.ndim, MOST_ROWS) + 1
            high = rows * self.list.verticalHeader().defaultSectionSize() + GRID
            self._split.setSizes([high, max(self._split.height() - high, 1)])

    def _row_chosen(self, row: int) -> None:
        if (table := self.document.original) is not None and 0 <= row < table.domain.ndim:
            self.variable = table.domain.names[row]
            self._show(table)

    def _show(self, table: Table) -> None:
        variable = self._variable(table)
        project = self.document.project
        self._small = {} if project is None else small_counts(table, project.at_risk, variable.name)
        self._people = table.margin([variable.name]).counts
        self.tree.show_variable(variable, self._people, self._small)
        self.tree.sift(self.finder.text())
        self.levels.setText(tr("Categories of {name}", variable.name))
        self.panel.show_variable(variable, numbers=any(map(span_of, variable.categories)))
        self._selected()
        self._offer(variable)

    def _selected(self) -> None:
        table = None if self.document.public else self.document.original
        domain = None if table is None else table.domain
        chosen = self.tree.chosen
        self.zeros.show_state(domain, self.variable, chosen)
        self.panel.show_selected(len(chosen))
        self.order.show_selected(len(chosen), alone=len(self.tree.selectedItems()) == 1)

    def _variable(self, table: Table) -> Variable:
        return table.domain.variables[table.domain.axis(self.variable)]

    def _offer(self, variable: Variable) -> None:
        chain = next((c for c in self._looking.answer or () if variable.name in c), ())
        self.levels_there.show_levels([level.name for level in variable.coarser], list(chain))

    def _nesting(self, _found: tuple[tuple[str, ...], ...]) -> None:
        if (table := self.document.original) is not None and not self.document.public:
            self._offer(self._variable(table))

    # -- names ---------------------------------------------------------------------------------

    def _edit(self, order: Order) -> None:
        # Once the editor is closed: its list is drawn anew.
        QTimer.singleShot(0, self, lambda: self.document.run(order, page=self.name))

    def rename(self, variable: str, category: str) -> None:
        """Open the field of a category's name."""
        if (table := self.document.original) is None or self.document.public:
            return
        self.variable = variable
        self.list.setCurrentCell(table.domain.axis(variable), 0)
        self._show(table)
        self.tree.choose([category])
        if (item := self.tree.currentItem()) is not None:
            self.tree.editItem(item)

    def _add(self) -> None:
        if (table := self.document.original) is None:
            return
        taken, name = self._variable(table).categories, translate(message("new category"))
        while name in taken:
            name += "'"
        self.do(add_category, variable=self.variable, category=name)
        self.rename(self.variable, name)

    def _remove(self) -> None:
        if chosen := self.tree.chosen:
            self.do(remove_category, variable=self.variable, category=chosen[0])

    # -- order ---------------------------------------------------------------------------------

    def _move(self, by: int) -> None:
        """Move what is selected past what stands beside it: one category, or a group with all it holds."""
        table = self.document.original
        found = self.tree.beside(by)
        if table is None or found is None:
            return
        moved, past = found
        rest = [c for c in self._variable(table).categories if c not in set(moved)]
        at = rest.index(past[0]) if by < 0 else rest.index(past[-1]) + 1
        order = [*rest[:at], *moved, *rest[at:]]
        if (job := self.do(reorder_categories, variable=self.variable, categories=order)) is not None:
            job.finished.connect(lambda _: self.tree.choose(moved))
        else:
            self.tree.choose(moved)

    def _merge(self) -> None:
        table, chosen = self.document.original, self.tree.chosen
        if table is None or len(chosen) < 2:
            return
        rest = [c for c in self._variable(table).categories if c not in set(chosen)]
        said = self.panel.group_name.text().strip()
        into = said if said and said not in rest else held_name(chosen, taken=rest)
        self.do(merge_categories, variable=self.variable, categories=chosen, into=into)

    # -- grouping -----------------------------------------------------------------------------

    def _group(self, given: dict[str, object]) -> None:
        variable = self.variable
        self.document.run(
            group_categories.order({"variable": variable, **given}),
            failed=lambda error: self._not_grouped(error, variable, given),
        )

    def _not_grouped(self, error: TabprotectError, variable: str, given: dict[str, object]) -> None:
        table, project = self.document.original, self.document.project
        if not isinstance(error, UnlistedError) or table is None or project is None:
            self.show_error(error)
            return
        known = table.domain[variable].categories
        people = dict(zip(known, table.margin([variable]).counts.tolist(), strict=True))
        small = small_counts(table, project.at_risk, variable)
        asked = replace(Unlisted.of(error, known), people=people, small=small)
        sheet = MappingSheet(self, [asked], to=Path(str(error.file)).name, remembers=False)

        def again(said: Mapping[tuple[str, str], str]) -> None:
            self.variable = variable
            self._group({**given, "mapping": {code: to for (_, code), to in said.items()}})

        sheet.decided.connect(again)
        # It shows counts of the house.
        self.document.view_changed.connect(sheet.reject)
        sheet.open()

    def _together(self, categories: Sequence[str], onto: str = "") -> None:
        """Put categories into one group: of their own, or that of what they were dropped on."""
        if (table := self.document.original) is None:
            return
        variable = self._variable(table)
        level = self.panel.name.text().strip() or self.levels_there.level.currentText() or BY_HAND
        known = {one.name: one.groups for one in variable.coarser}.get(level, variable.categories)
        of = dict(zip(variable.categories, known, strict=True))
        wanted = set(categories)
        if onto:
            wanted |= {c for c, group in of.items() if group == of.get(onto, onto) or c == onto}
        if len(wanted) < 2:
            self.show_error(
                InputError(
                    message("a group takes at least two categories"), hint=message("select several of them")
                )
            )
            return
        groups: dict[str, list[str]] = {}
        for category in variable.categories:
            if category not in wanted:
                groups.setdefault(of[category], []).append(category)
        held = [category for category in variable.categories if category in wanted]
        groups = {
            (held_name(inside) if len(inside) > 1 and group in variable.categories else group): inside
            for group, inside in groups.items()
        }
        groups[self._named(held, taken=list(groups))] = held
        self._group({"level": level, "groups": groups})
        self.panel.name.clear()
        self.panel.group_name.clear()

    def _write(self) -> None:
        """The groups of the level that is chosen as text; without any, each category for itself."""
        if (table := self.document.original) is None:
            return
        variable, chosen = self._variable(table), self.levels_there.level.currentText()
        groups = next((o.groups for o in variable.coarser if o.name == chosen), variable.categories)
        held: dict[str, list[str]] = {}
        for category, group in zip(variable.categories, groups, strict=True):
            held.setdefault(group, []).append(category)
        self.panel.write(chosen, held)

    def _named(self, held: Sequence[str], taken: Sequence[str]) -> str:
        """Say what a group is called: as somebody says, else after its categories."""
        said = self.panel.group_name.text().strip()
        return said if said and said not in taken else held_name(held, taken=taken)

    def _nest(self, chain: list[str]) -> None:
        # nuts1, nuts2, nuts3: nuts.
        alike = takewhile(lambda signs: len(set(signs)) == 1, zip(*chain, strict=False))
        common = joined(signs[0] for signs in alike).rstrip("_-. 0123456789")
        taken = self.document.original.domain.names if self.document.original else ()
        name = common if len(common) > 1 and common not in taken else chain[-1]
        self.do(nest_variables, variables=chain, name=name)

    # -- live figures ---------------------------------------------------------------------------

    def _foresee(self) -> None:
        table, project = self.document.original, self.document.project
        if table is None or project is None or self.document.public or not self.variable:
            return
        variable = self._variable(table)
        try:
            given = self.panel.given()
            asked = given and CategoryGroups(variable=variable.name, **given)  # type: ignore[arg-type]
            levels = levels_of(variable, asked) if asked else ()
            domain = with_levels(table.domain, variable.name, *levels)
        except TabprotectError as error:
            self._not_possible(tr("{message}.", capital(error.message)))
            return
        if given is None or not levels:
            self._not_possible("")
            return
        self.panel.show_made(replace(variable, coarser=levels), self._people)
        rule, name = project.at_risk, variable.name
        made = "|".join(f"{level.name}:{'|'.join(level.groups)}" for level in levels)
        key = (table, project.magnitudes, str(rule), name, made)

        def work(progress: Progress) -> tuple[Foreseen, ...]:
            if project.magnitudes is not None:
                progress.report(message("looking at the groups"), 0.0)
                return tuple(
                    Foreseen(
                        one,
                        len(set(one.groups)),
                        *unsafe_at_level(project, name, one.name, given),
                        magnitudes=True,
                    )
                    for one in levels[-1:]
                )
            return foresee_levels(table, rule, domain, name, levels, progress)

        self._ahead.ask(message("looking at the groups"), work, key, wait=WAIT)

    def _not_possible(self, why: str) -> None:
        self._ahead.drop()
        self.panel.show_made(None, self._people, why)
