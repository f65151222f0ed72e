"""Every variable with its kind, categories and levels; grouping by width, cuts, file or hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHeaderView,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
)

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.project.verbs.level_verbs import (
    group_categories,
    levels_of,
    nest_variables,
    remove_level,
    state_structural_zeros,
    take_level,
    with_levels,
)
from tabprotect.engine.tables.groupings.bands import held_name, span_of
from tabprotect.engine.tables.groupings.nesting import chains
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Changes, Page
from tabprotect.gui.base.question import Question
from tabprotect.gui.look.buttons import ScrollsDown
from tabprotect.gui.look.listing import as_list
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.pages.stages import VariablesStage
from tabprotect.gui.pages.variables.category_tree import CategoryTree
from tabprotect.gui.pages.variables.grouping_panel import GroupingPanel
from tabprotect.gui.pages.variables.variable_facts import (
    Foreseen,
    foresee_level,
    levels_text,
    missing_codes,
    variable_kind,
)
from tabprotect.gui.pages.variables.zeros_menu import ZerosMenu
from tabprotect.languages.speaking import told

TITLES = ("Variable", "Kind", "Categories", "Levels", "Missing")
BY_HAND = "groups"
WAIT = 150


class VariablesPage(VariablesStage, Page):
    """What the table is classified by."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.variable = ""
        self._chains: tuple[tuple[str, ...], ...] = ()
        self.list = QTableWidget(0, len(TITLES))
        self.list.setHorizontalHeaderLabels(TITLES)
        as_list(self.list, "Variables")
        self.list.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.horizontalHeader().setStretchLastSection(True)
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
            self, document.jobs, self._foreseen, self._not_foreseen, wait=WAIT
        )
        lower = QSplitter(Qt.Orientation.Horizontal)
        lower.setChildrenCollapsible(False)
        lower.addWidget(self.tree)
        # What is rarely reached scrolls, so that a low window keeps the main action.
        area = ScrollsDown()
        area.setAccessibleName("Ways to group")
        area.setWidget(self.panel)
        lower.addWidget(area)
        lower.setStretchFactor(0, 1)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(False)
        split.addWidget(self.list)
        split.addWidget(lower)
        split.setSizes([22 * GRID, 50 * GRID])
        self.body.addWidget(split, 1)

    def main_action(self) -> None:
        self.document.page_asked.emit("table")

    def refresh(self, changes: Changes) -> None:
        table = None if self.document.public else self.document.original
        if table is None:
            self._ahead.drop()
            self._looking.drop()
            self._chains, self.variable = (), ""
            self.list.setRowCount(0)
            self.tree.show_variable(None, None)
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
            f"{len(names)} variable{'' if len(names) == 1 else 's'}, {leveled} of them with levels; "
            f"{count_text(table.total)} records"
            + "".join(f"; nobody can be in {z.words}" for z in table.domain.structural[:3])
            + "."
        )
        self._show(table)
        self._looking.ask(
            "looking for variables that nest",
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
                ", ".join(map(repr, missing_codes(variable))),
            )
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                if column == 2:
                    item.setTextAlignment(
                        Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                    )
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
        self.tree.show_variable(variable, table.margin([variable.name]).counts)
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
        self.document.run(
            group_categories.order({"variable": self.variable, **given}), page=self.name
        )

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
                InputError("a group takes at least two categories", hint="select several of them")
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
        groups[held_name(held, taken=list(groups))] = held
        self._group({"level": level, "groups": groups})
        self.panel.name.clear()

    def _dropped(self, categories: list[str], onto: str) -> None:
        self._together(categories, onto)

    def _nest(self, chain: list[str]) -> None:
        # nuts1, nuts2, nuts3: nuts.
        alike = takewhile(lambda signs: len(set(signs)) == 1, zip(*chain, strict=False))
        common = "".join(signs[0] for signs in alike).rstrip("_-. 0123456789")
        taken = self.document.original.domain.names if self.document.original else ()
        name = common if len(common) > 1 and common not in taken else chain[-1]
        self.do(nest_variables, variables=chain, name=name)

    # -- live figures ---------------------------------------------------------------------------

    def _foresee(self) -> None:
        table, project = self.document.original, self.document.project
        given = self.panel.given(self.panel.meant)
        if table is None or project is None or self.document.public or given is None:
            self._ahead.drop()
            self.panel.live.clear()
            return
        variable = self._variable(table)
        try:
            (level,) = levels_of(variable, **given)  # type: ignore[arg-type]
            domain = with_levels(table.domain, variable.name, level)
        except TabprotectError as error:
            self._ahead.drop()
            self.panel.live.setText(f"{error.message[:1].upper()}{error.message[1:]}.")
            return
        rule, name = project.at_risk, variable.name
        self._ahead.ask(
            "looking at the groups",
            lambda progress: foresee_level(table, rule, domain, name, level, progress),
            (table, str(rule), name, level.name, "|".join(level.groups)),
        )

    def _foreseen(self, found: Foreseen) -> None:
        self.panel.live.setText("" if self.document.public else found.sentence)

    def _not_foreseen(self, error: TabprotectError) -> None:
        self.panel.live.setText(error.message)
