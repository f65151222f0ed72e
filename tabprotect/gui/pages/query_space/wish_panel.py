"""The wish list: sub-tables that users ask for, and which of them may go out together."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHeaderView, QPushButton, QTreeWidget, QTreeWidgetItem

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.optimal.best_release import optimal
from tabprotect.engine.query_space.optimal.together import WishesTogether, wishes_together
from tabprotect.engine.randomness import Randomness
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.forms.parameters.name_picks import NamePicks
from tabprotect.gui.lattice.names import counted, first_names
from tabprotect.gui.lattice.space import Regions, Space
from tabprotect.gui.lattice.words import room_text, status_text
from tabprotect.gui.look.buttons import connected, named, silent
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row, set_enabled
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.query_space.panel import SpacePanel
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

EMPTY = message(
    "Put down the tables that readers ask for, the most wanted first: you see which of them "
    "may go out together, and can plan those."
)

QUERY = Qt.ItemDataRole.UserRole


class WishPanel(SpacePanel):
    """``failed`` carries an error, ``changed`` that other wishes may be planned."""

    plans = True

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.found: WishesTogether | None = None
        self._table: object = None
        self._question: BackgroundTask[WishesTogether] = BackgroundTask(
            self,
            space.document.jobs,
            self._answered,
            self._not_answered,
            came=self._answered,
            stopped=self._show,
        )
        self._search: BackgroundTask[tuple[Query, ...]] = BackgroundTask(
            self, space.document.jobs, self._found, self._not_answered, stopped=self._show
        )
        self.names = named(
            NamePicks(lambda name: message("Variable of a wished table: {name}", name)),
            message("Variables of a wished table"),
            changed=self._show_buttons,
        )
        self.adding = connected(QPushButton(tr("Wish for it")), clicked=self.add)
        self.pairs = connected(QPushButton(tr("All two-way tables")), clicked=self.add_pairs)
        self.most = connected(QPushButton(tr("The most tables")), clicked=self.search)
        self.removing = named(
            QPushButton(tr("Remove")), message("Remove the wish that is gone to"), clicked=self.remove
        )
        self.list = named(QTreeWidget(), message("Wish list"))
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setHeaderLabels([tr("wished for"), tr("alone"), tr("with the others")])
        header = self.list.header()
        # What is said of a wish stands beside its name.
        for column in range(3):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        connected(
            self.list,
            itemChanged=lambda _item, column: self._changed(column),
            currentItemChanged=self._gone_to,
        )
        self.said = Label(EMPTY, wordWrap=True, name=message("Which wishes may go out together"))
        first = in_row(Label(message("Table of")), (self.names, 1), spacing=GRID)
        row = in_row(self.adding, self.pairs, self.most, self.removing, 1, spacing=GRID)
        in_column(first, row, self.said, (self.list, 1), on=self, margins=(0, GRID, 0, 0), spacing=GRID)

    # -- the list -----------------------------------------------------------------------------

    @property
    def wishes(self) -> list[Query]:
        """All wishes, in order."""
        return [item.data(0, QUERY) for item in self._items()]

    @property
    def ticked(self) -> list[Query]:
        """Those that are to go out together."""
        yes = Qt.CheckState.Checked
        return [item.data(0, QUERY) for item in self._items() if item.checkState(0) == yes]

    def _items(self) -> list[QTreeWidgetItem]:
        found = [self.list.topLevelItem(n) for n in range(self.list.topLevelItemCount())]
        return [item for item in found if item is not None]

    def add(self) -> None:
        """Put down the table of the names that are picked."""
        if (regions := self.space.regions) is None or not self.names.chosen:
            return
        query = regions.letters.lattice.query(self.names.chosen)
        self.names.choose(())
        self._put(regions, [query])

    def add_pairs(self) -> None:
        """Put down every table of two variables."""
        if (regions := self.space.regions) is not None:
            self._put(regions, list(regions.letters.lattice.level(2)))

    def search(self) -> None:
        """Search for the plan of the most tables, beside the window."""
        if (regions := self.space.regions) is None or self._search.running:
            return
        # Found plans have closed forms: they are proved as they are found.
        standard = replace(regions.state.standard, bounds="auto")

        def work(progress: Progress) -> tuple[Query, ...]:
            chance = Randomness.fresh()
            return tuple(optimal(standard, "annealing", randomness=chance, progress=progress).released)

        self._search.ask(message("comparing releases"), work)
        self._show()

    def _found(self, found: tuple[Query, ...]) -> None:
        if (regions := self.space.regions) is not None:
            self._put(regions, list(found), alone=True)

    def remove(self) -> None:
        """Drop the wish that is gone to."""
        if (item := self.list.currentItem()) is not None:
            self.list.takeTopLevelItem(self.list.indexOfTopLevelItem(item))
            self._ask()

    def _put(self, regions: Regions, queries: list[Query], *, alone: bool = False) -> None:
        there = set(self.wishes)
        with silent(self.list):
            for item in self._items() if alone else ():
                # What was wished for before waits.
                ticked = item.data(0, QUERY) in queries
                item.setCheckState(0, Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
            for query in queries:
                if query and query not in there:
                    item = QTreeWidgetItem([regions.letters.named(query), "", ""])
                    item.setData(0, QUERY, query)
                    wide = self.list.fontMetrics().horizontalAdvance(item.text(0)) + 6 * GRID
                    item.setSizeHint(0, QSize(wide, 3 * GRID))
                    item.setCheckState(0, Qt.CheckState.Checked)
                    self.list.addTopLevelItem(item)
        self._ask()

    def _gone_to(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.space.set_focus(item.data(0, QUERY))

    # -- which go together --------------------------------------------------------------------

    def refresh(self) -> None:
        """Ask anew where table or criterion have changed; another table's wishes are dropped."""
        regions, project = self.space.regions, self.space.document.project
        table = None if project is None else project.table
        if table is not self._table:
            self._table = table
            self.list.clear()
        self.names.offer(() if regions is None else regions.letters.lattice.names)
        self._show_buttons()
        self._ask()

    def _show_buttons(self) -> None:
        there = self.space.regions is not None
        set_enabled(there, self.pairs, self.most, self.removing)
        self.adding.setEnabled(there and bool(self.names.chosen))

    def _changed(self, column: int) -> None:
        if not column:
            self._ask()

    def _ask(self) -> None:
        regions, wishes = self.space.regions, self.ticked
        if regions is None or not wishes:
            self._question.drop()
            self.found = None
            self._show()
            return
        state = regions.state

        def work(progress: Progress) -> WishesTogether:
            return wishes_together(state.standard, wishes, progress)

        key = (state.evidence, state.criterion, state.threshold, state.bounds, *wishes)
        if self._question.ask(message("trying wishes"), work, key):
            self.found = None
        self._show()

    def _answered(self, found: WishesTogether) -> None:
        self.found = found
        self._show()

    def _not_answered(self, error: TabprotectError) -> None:
        self.failed.emit(error)
        self._show()

    def _show(self) -> None:
        regions, found = self.space.regions, self.found
        with silent(self.list):
            for item in self._items():
                query = item.data(0, QUERY)
                item.setText(1, translate("" if regions is None else status_text(regions, query)))
                said = ""
                if found is not None:
                    said = "yes" if query in found.kept else "no" if query in found.left else ""
                    said = message("not proved") if query in found.undecided else said
                item.setText(2, translate(said))
        self.said.setText(translate(self._sentence()))
        self.changed.emit()

    def _sentence(self) -> str:
        regions, found, wishes = self.space.regions, self.found, self.ticked
        if self._search.running:
            return message("Searching \u2026")
        if regions is None or not wishes:
            return EMPTY
        if found is None:
            return message("Trying which may go out together \u2026") if self._question.running else ""
        figure = room_text(regions.state, found.judgement)
        many = counted(len(wishes), message("ticked table"))
        left, undecided = (
            first_names([regions.letters.text(query) for query in part], 6)
            for part in (found.left, found.undecided)
        )
        kept = counted(len(found.kept), "table")
        if undecided:
            said = message("Proved: {kept} of the {many} may go out together. {figure}", kept, many, figure)
            if left:
                said += message(" Proved unsafe beside them: {left}.", left)
            if self._question.running:
                said += message(" Still being tried: {undecided}.", undecided)
            else:
                said += message(" Not proved, and so not planned: {undecided}.", undecided)
            return said
        if not left:
            one = len(wishes) == 1
            return (
                message("The {many} may go out. {figure}", many, figure)
                if one
                else message("The {many} may go out together. {figure}", many, figure)
            )
        if not found.kept:
            return message("None of the {many} may go out: {left}.", many, left)
        return message(
            "Not all together: taken in this order {kept} of the "
            "{many} may go out; {left} may not join them. {figure}",
            kept,
            many,
            left,
            figure,
        )

    def margins(self) -> list[list[str]]:
        """The wishes that may go out together, as margins by name."""
        regions, found = self.space.regions, self.found
        if regions is None or found is None:
            return []
        names = regions.letters.lattice.names_of
        return [list(names(query)) for query in found.kept]
