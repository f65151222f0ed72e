"""The table page: what is in the table, which of it tells too much, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial

from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QLayout, QStackedWidget

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.table_verbs import opening, placed
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.grid.clipboard import Copying
from tabprotect.gui.grid.result_table import VIEWS
from tabprotect.gui.look.buttons import connected, faces, tool_button
from tabprotect.gui.look.label import tip
from tabprotect.gui.look.layouts import FlowLayout, filled
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.stages import TABLE
from tabprotect.gui.pages.table.counts_part import CountsPart
from tabprotect.gui.pages.table.magnitudes_part import MagnitudesPart
from tabprotect.gui.pages.table.method_result import MethodResult
from tabprotect.gui.pages.table.run_panel import RunPanel
from tabprotect.languages.messages import message


class TablePage(Page):
    """The original in the house, the published table in public view: by a part for each measure.

    Once the table is protected, it is shown in the same place as it was, with the change, or as
    readers see it.
    """

    stage = TABLE

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.view = "original"
        self._seen: object = None
        self.tools: QLayout = FlowLayout(gap=GRID)
        self.body.addLayout(self.tools)
        self.faces = faces(VIEWS, self.show_view)
        filled(self.tools, *self.faces.values())
        self.coins = tool_button(message("Coins"), checkable=True, name=message("Show the coins of the run"))
        self.part = MagnitudesPart(self) if document.of_magnitudes else CountsPart(self)
        self.tools.addWidget(self.coins)
        self.coins.toggled.connect(lambda _: self._show())
        self.stack = filled(QStackedWidget(), self.part)
        self.body.addWidget(self.stack, 1)
        self.begins = self.part.begins
        self._copying = Copying(self, document.jobs, self.show_error)
        document.selection_changed.connect(self._selected)

    @cached_property
    def run(self) -> RunPanel:
        """The result of a sequence of cycles: with its coins. Made when there is one."""
        panel = connected(RunPanel(self.document), chosen=self.document.select)
        self.stack.addWidget(panel)
        return panel

    @cached_property
    def result(self) -> MethodResult:
        """The result of any other method. Made when there is one."""
        panel = connected(
            MethodResult(), chosen=self.document.select, total_chosen=self.document.select_total
        )
        self.stack.addWidget(panel)
        return panel

    def pieces(self) -> Iterator[object]:
        yield self.result
        if not self.document.of_magnitudes:
            yield self.run

    def choices(self) -> Mapping[str, Callable[[], object]]:
        going = {"next": partial(self.part.go_at_risk, 1), "previous": partial(self.part.go_at_risk, -1)}
        copying = {
            "copy": partial(self.copy, with_headers=False),
            "copy_headers": partial(self.copy, with_headers=True),
            "copy_table": partial(self.copy, with_headers=True, whole=True),
        }
        return {**going, **copying, "swap": self._swap, **self.part.choices()}

    def words(self, project: Project) -> list[str]:
        return opening(project)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if "run" in vars(self):
            self.run.coins.stop()

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        project = self.document.project
        self.set_heading(self._title(project))
        if changes == {"beside"}:
            return
        self.part.refresh(changes)
        release = None if project is None else project.release
        if release is not self._seen:
            self.view = "original" if release is None else "changed"
            self._seen = release
        self._fill(project)
        self._show()

    def _title(self, project: Project | None) -> str:
        """What is looked at: the title that is published, or what the file is called."""
        if project is None:
            return message("Table")
        if not self.document.in_house:
            return self.document.public_title or message("Table")
        return project.title or project.name

    def _fill(self, project: Project | None) -> None:
        """Have the result follow the release; what is not looked at any more keeps nothing of it."""
        release = None if project is None else project.release
        protected = project.protected if project is not None and self.document.in_house else None
        cycles = project is not None and project.takes_cycles
        for name, mine in (("run", cycles), ("result", not cycles)):
            if name in vars(self) or (release is not None and mine):
                getattr(self, name).show_result(*((release, protected) if mine else (None, None)))

    @property
    def _shown(self) -> RunPanel | MethodResult | None:
        """The result that there is; ``None`` before the table is protected."""
        project = self.document.project
        if project is None or project.release is None:
            return None
        return self.run if project.takes_cycles else self.result

    def show_view(self, view: str) -> None:
        """Look at the original, at what came of it, or at the change."""
        self.view = view
        self._show()

    def _show(self) -> None:
        shown, document = self._shown, self.document
        views = () if shown is None or not document.in_house else shown.table.views
        view = self.view if self.view in views else next(iter(views), "original")
        for name, face in self.faces.items():
            face.setVisible(name in views and len(views) > 1)
            face.setChecked(name == view)
        # A reader's table is as it was published, and where its cells were not, the tables that were.
        original = view == "original" and (document.in_house or document.shown_table is not None)
        front = self.part if shown is None or original else shown
        if shown is not None and front is shown:
            shown.table.turn(view if views else "published")
        self.stack.setCurrentWidget(front)
        self.part.bar.setVisible(front is self.part)
        cycles = isinstance(front, RunPanel) and document.in_house
        self.coins.setVisible(cycles)
        if isinstance(shown, RunPanel):
            shown.coins.setVisible(cycles and self.coins.isChecked())
        self.begins = self.part.begins if front is self.part else front.begins

    def _selected(self, index: Index | None) -> None:
        if self.isVisible() and (front := self.stack.currentWidget()) is not self.part:
            assert isinstance(front, RunPanel | MethodResult)
            front.select(index)

    def set_sentence(self, text: str) -> None:
        """In the house the panel says the number: what else there is to say is the heading's tip."""
        super().set_sentence(text)
        self._sentence.setVisible(bool(text) and not self.document.in_house)
        self._heading.setToolTip(tip(text))

    # -- what happens -------------------------------------------------------------------------

    def main_action(self) -> None:
        self.document.next_asked.emit()

    def go_to_error(self, error: TabprotectError) -> None:
        self.part.go_to_error(error)

    def copy(self, *, with_headers: bool, whole: bool = False) -> None:
        """Copy what is selected of the table in front, or the whole of it, as it is seen."""
        front = self.stack.currentWidget()
        part = front.table if isinstance(front, RunPanel | MethodResult) else self.part
        grid, text = part.copied()
        self._copying.copy(grid, text, with_headers=with_headers, whole=whole)

    def _swap(self) -> None:
        if (project := self.document.project) is not None and (old := project.placement) is not None:
            self.document.run(placed(Placement(old.columns, old.rows, old.layers)), page=self.name)
