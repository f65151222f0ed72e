"""The table page: what is in the table, and which of it tells too much."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.table_verbs import opening, placed
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.pages.stages import TableStage
from tabprotect.gui.pages.table.counts_part import CountsPart
from tabprotect.gui.pages.table.magnitudes_part import MagnitudesPart
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate


class TablePage(TableStage, Page):
    """The original in the house, the published table in public view: by a part for each measure."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.part = MagnitudesPart(self) if document.of_magnitudes else CountsPart(self)
        self.body.addWidget(self.part, 1)
        self.begins = self.part.begins

    def choices(self) -> Mapping[str, Callable[[], object]]:
        going = {"next": partial(self.part.go_at_risk, 1), "previous": partial(self.part.go_at_risk, -1)}
        return {**going, "swap": self._swap, **self.part.choices()}

    def words(self, project: Project) -> list[str]:
        return opening(project)

    def refresh(self, changes: PageChanges) -> None:
        house = self.document.in_house
        readers = message("What readers would know")
        self.main_button.setText(translate(readers if self.document.public else self.main_label))
        self.main_button.setEnabled(house or self.document.has_release)
        self.part.refresh(changes)

    def main_action(self) -> None:
        self.document.page_asked.emit("check" if self.document.public else "protect")

    def go_to_error(self, error: TabprotectError) -> None:
        self.part.go_to_error(error)

    def _swap(self) -> None:
        if (project := self.document.project) is not None and (old := project.placement) is not None:
            self.document.run(placed(Placement(old.columns, old.rows, old.layers)), page=self.name)
