"""Every variable with its kind, categories and levels; grouping by width, cuts, file or hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHeaderView,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.microdata.coding import MISSING
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.verbs.level_verbs import (
    group_categories,
    levels_of,
    nest_variables,
    remove_level,
    state_structural_zeros,
    take_level,
    unsafe_at_level,
    with_levels,
)
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.bands import held_name, span_of, whole
from tabprotect.engine.tables.groupings.nesting import chains
from tabprotect.engine.tables.groupings.unlisted_codes import UnlistedError
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.gui.base.background.question import Question
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.forms.mapping_sheet import MappingSheet, Unlisted
from tabprotect.gui.look.buttons import ScrollsDown
from tabprotect.gui.look.label import heading
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import as_list
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.pages.stages import VariablesStage
from tabprotect.gui.pages.variables.category_tree import CategoryTree
from tabprotect.gui.pages.variables.grouping_panel import GroupingPanel
from tabprotect.gui.pages.variables.zeros_menu import ZerosMenu
from tabprotect.languages.said import capital, joined, plural, say
from tabprotect.languages.speaking import tell, told

TITLES = (say("Variable"), say("Kind"), say("Categories"), say("Levels"), say("Missing"))
BY_HAND = "groups"
WIDEST = 80 * GRID
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
WAIT = 150


class VariablesPage(VariablesStage, Page):
    """What the table is classified by."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.variable = ""
        self._chains: tuple[tuple[str, ...], ...] = ()
        self.list = QTableWidget(0, len(TITLES))
        self.list.setHorizontalHeaderLabels(TITLES)
        as_list(self.list, say("Variables"))
        self.list.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.horizontalHeader().setStretchLastSection(True)
        self.list.setMinimumHeight(13 * GRID)
        head = self.list.horizontalHeaderItem(2)
        assert head is not None
        head.setTextAlignment(RIGHT)
        self.list.currentCellChanged.connect(lambda row, *_: self._row_chosen(row))
        self.tree = CategoryTree()
        self.tree.dropped.connect(self._dropped)
        self.panel = GroupingPanel()
        self.panel.changed.connect(self._foresee)
        self.panel.asked.connect(self._group)
        self.panel.together.connect(lambda: self._together(self.tree.chosen))
        self.panel.removed.connect(
            lambda level: self.do(remove_level, variable=self.variable, level=level)
        )
        self.panel.taken.connect(
            lambda level: self.do(take_level, variable=self.variable, level=level)
        )
        self.panel.nested.connect(self._nest)
        self.zeros = ZerosMenu()
        self.zeros.stated.connect(lambda zeros: self.do(state_structural_zeros, zeros=zeros))
        self.tree.itemSelectionChanged.connect(self._selected)
        self.tools.addWidget(self.zeros)
        self._looking: Question[tuple[tuple[str, ...], ...]] = Question(
            self, document.jobs, self._nesting, lambda _: None
        )
        self._ahead: Question[Foreseen] = Question(
            self, document.jobs, self._foreseen, self._not_foreseen
        )
        self.levels = heading("")
        self.finder = Finder(say("Find a category"))
        self.finder.textChanged.connect(self.tree.sift)
        # What is rarely reached scrolls, so that a low window keeps the main action.
        area = ScrollsDown()
        area.setAccessibleName(tell("Ways to group"))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self.panel)
        lower = QWidget()
        in_column(
            in_row((self.levels, 1), self.finder, spacing=GRID),
            (self.tree, 1),
            on=lower,
            margins=(0, GRID, 0, 0),
            spacing=GRID,
        )
        split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(False)
        split.addWidget(self.list)
        split.addWidget(lower)
        split.setSizes([18 * GRID, 54 * GRID])
        # Figures stand beside their names, however wide the window is.
        split.setMaximumWidth(WIDEST)
        area.setMaximumWidth(WIDEST)
        self.body.addLayout(in_row((split, 3), (area, 2), spacing=2 * GRID), 1)

    def main_action(self) -> None:
        self.document.page_asked.emit("table")

    def refresh(self, changes: PageChanges) -> None:
        table = None if self.document.public else self.document.original
        if table is None:
            self._ahead.drop()
            self._looking.drop()
            self._chains, self.variable = (), ""
            self.list.setRowCount(0)
            self.tree.show_variable(None, None)
            self.levels.clear()
            self.finder.clear()
            self.zeros.show_state(None, "", [])
            self.panel.show_levels([], [])
            self.panel.show_possible(numbers=False, chosen=0)
            self.panel.live.clear()
            self.set_sentence("")
            return
        names = table.domain.names
        if self.variable not in names:
            self.variable = names[0]
        self._fill(table)
        leveled = sum(bool(v.coarser) for v in table.domain.variables)
        self.set_sentence(
            plural(
                len(names),
                "{names} variable, {leveled} of them with levels; {total} records",
                "{names} variables, {leveled} of them with levels; {total} records",
                len(names),
                leveled,
                count_text(table.total),
            )
            + joined(
                say("; nobody can be in {words}", z.words) for z in table.domain.structural[:3]
            )
            + "."
        )
        self._show(table)
        self._looking.ask(
            say("looking for variables that nest"),
            lambda progress: chains(table) if len(table.domain.names) > 1 else (),
            (table,),
        )

    def _fill(self, table: Table) -> None:
        self.list.blockSignals(True)
        self.list.setRowCount(table.domain.ndim)
        for row, variable in enumerate(table.domain.variables):
            texts = (
                variable.name,
                told(variable_kind(variable)),
                count_text(len(variable.categories)),
                levels_text(variable),
                joined(map(repr, missing_codes(variable)), ", "),
            )
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                if column == 2:
                    item.setTextAlignment(RIGHT)
                self.list.setItem(row, column, item)
        self.list.setCurrentCell(table.domain.axis(self.variable), 0)
        self.list.blockSignals(False)

    def _row_chosen(self, row: int) -> None:
        table = self.document.original
        if table is not None and 0 <= row < table.domain.ndim:
            self.variable = table.domain.names[row]
            self._show(table)

    def _show(self, table: Table) -> None:
        variable = self._variable(table)
        project = self.document.project
        small = {} if project is None else small_counts(table, project.at_risk, variable.name)
        self.tree.show_variable(variable, table.margin([variable.name]).counts, small)
        self.tree.sift(self.finder.text())
        self.levels.setText(tell("Levels of {name}", variable.name))
        self._selected()
        self._offer(variable)
        self._foresee()

    def _selected(self) -> None:
        table = None if self.document.public else self.document.original
        domain = None if table is None else table.domain
        chosen = self.tree.chosen
        self.zeros.show_state(domain, self.variable, chosen)
        numbers = table is not None and any(map(span_of, self._variable(table).categories))
        self.panel.show_possible(numbers=numbers, chosen=len(chosen))

    def _variable(self, table: Table) -> Variable:
        return table.domain.variables[table.domain.axis(self.variable)]

    def _offer(self, variable: Variable) -> None:
        chain = next((c for c in self._chains if variable.name in c), ())
        self.panel.show_levels([level.name for level in variable.coarser], list(chain))

    def _nesting(self, found: tuple[tuple[str, ...], ...]) -> None:
        self._chains = found
        table = self.document.original
        if table is not None and not self.document.public:
            self._offer(self._variable(table))

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
        table = self.document.original
        if table is None:
            return
        variable = self._variable(table)
        level = self.panel.name.text().strip() or self.panel.level.currentText() or BY_HAND
        known = {one.name: one.groups for one in variable.coarser}.get(level, variable.categories)
        of = dict(zip(variable.categories, known, strict=True))
        wanted = set(categories)
        if onto:
            wanted |= {c for c, group in of.items() if group == of.get(onto, onto) or c == onto}
        if len(wanted) < 2:
            self.show_error(
                InputError(
                    say("a group takes at least two categories"), hint=say("select several of them")
                )
            )
            return
        groups: dict[str, list[str]] = {}
        for category in variable.categories:
            if category not in wanted:
                groups.setdefault(of[category], []).append(category)
        held = [category for category in variable.categories if category in wanted]
        groups = {
            (
                held_name(inside) if len(inside) > 1 and group in variable.categories else group
            ): inside
            for group, inside in groups.items()
        }
        groups[self._named(held, taken=list(groups))] = held
        self._group({"level": level, "groups": groups})
        self.panel.name.clear()
        self.panel.group_name.clear()

    def _named(self, held: Sequence[str], taken: Sequence[str]) -> str:
        """What a group is called: as somebody says, else after its categories."""
        said = self.panel.group_name.text().strip()
        return said if said and said not in taken else held_name(held, taken=taken)

    def _dropped(self, categories: list[str], onto: str) -> None:
        self._together(categories, onto)

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
        given = self.panel.given(self.panel.meant)
        variable = None if table is None else self._variable(table)
        numbers = variable is not None and any(map(span_of, variable.categories))
        if not numbers or table is None or variable is None or project is None or given is None:
            self._ahead.drop()
            self.panel.live.clear()
            return
        try:
            (level,) = levels_of(variable, **given)  # type: ignore[arg-type]
            domain = with_levels(table.domain, variable.name, level)
        except TabprotectError as error:
            self._ahead.drop()
            self.panel.live.setText(tell("{message}.", capital(error.message)))
            return
        rule, name = project.at_risk, variable.name
        key = (table, project.sums, str(rule), name, level.name, "|".join(level.groups))

        def work(progress: Progress) -> Foreseen:
            if project.sums is not None:
                progress.report(say("looking at the groups"), 0.0)
                before, after = unsafe_at_level(project, name, level.name, given)
                return Foreseen(level, len(set(level.groups)), before, after, sums=True)
            return foresee_level(table, rule, domain, name, level, progress)

        self._ahead.ask(say("looking at the groups"), work, key, wait=WAIT)

    def _foreseen(self, found: Foreseen) -> None:
        self.panel.live.setText(told("" if self.document.public else found.sentence))

    def _not_foreseen(self, error: TabprotectError) -> None:
        self.panel.live.setText(told(error.message))


MISSING_CODES = frozenset(
    {"", ".", "..", ":", "-", "na", "n/a", "nan", "missing", "unknown", MISSING}
)


def missing_codes(variable: Variable) -> tuple[str, ...]:
    """The categories that mean that nothing is known."""
    return tuple(c for c in variable.categories if c.strip().casefold() in MISSING_CODES)


def variable_kind(variable: Variable) -> str:
    """``numbers``, ``bands``, ``codes`` or ``names``."""
    missing = missing_codes(variable)
    known = [c for c in variable.categories if c not in missing]
    if known and all(whole(c) is not None for c in known):
        return "numbers"
    if known and all(span_of(c) is not None for c in known):
        return "bands"
    return "codes" if known and all(len(c) <= 6 for c in known) else "names"


def levels_text(variable: Variable) -> str:
    """``nuts1 > nuts2 > nuts3; coast``."""
    if not variable.coarser:
        return ""
    tree = joined((level.name for level in variable.levels), " \u203a ")
    return joined([tree, *(level.name for level in variable.across)], "; ")


def small_counts(table: Table, rule: SmallCount, variable: str) -> dict[str, int]:
    """How many cells at risk each category has."""
    axis, categories = table.domain.axis(variable), table.domain[variable].categories
    if rule.low > 0:
        cells, counts = table.cells
        # Few of many cells are at risk: only they are taken apart.
        held = np.unravel_index(cells[rule.mask(counts)], table.domain.shape)[axis]
        found = np.bincount(held, minlength=len(categories))
    else:
        rest = tuple(k for k in range(table.domain.ndim) if k != axis)
        found = rule.mask(table.counts).sum(axis=rest)
    return dict(zip(categories, found.tolist(), strict=True))


def at_risk(table: Table, rule: SmallCount) -> int:
    """How many cells hold a count at risk."""
    if rule.low > 0:
        return int(rule.mask(table.cells[1]).sum())
    return int(rule.mask(table.counts).sum())


@dataclass(frozen=True)
class Foreseen:
    """What counting at a level would leave. Confidential.

    Attributes
    ----------
    level
    groups
        How many there would be.
    before, after
        Cells at risk.
    sums
        Whether they are unsafe sums.
    """

    level: Level
    groups: int
    before: int
    after: int
    sums: bool = False

    @property
    def sentence(self) -> str:
        """At-risk cells, live."""
        if self.sums:
            return say(
                "{groups} groups. Unsafe sums {before} \u2192 {after} where the table is counted at "
                "this level.",
                count_text(self.groups),
                count_text(self.before),
                count_text(self.after),
            )
        return say(
            "{groups} groups. Small counts {before} → {after} where the table is counted at "
            "this level.",
            count_text(self.groups),
            count_text(self.before),
            count_text(self.after),
        )


def foresee_level(
    table: Table, rule: SmallCount, domain: Domain, variable: str, level: Level, progress: Progress
) -> Foreseen:
    """Count what is at risk at a level; ``domain`` has it."""
    progress.report(say("looking at the groups"), 0.0)
    names = [f"{variable}@{level.name}" if n == variable else n for n in domain.names]
    coarse = table.on(domain).margin(names)
    progress.report(say("looking at the groups"), 1.0)
    return Foreseen(level, len(set(level.groups)), at_risk(table, rule), at_risk(coarse, rule))
