"""What readers learn of the release: a frame with the part that the table's measure has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tabprotect.engine.project.project import Project
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.pages.check.beliefs import Beliefs
from tabprotect.gui.pages.check.contributors_tried import ContributorsTried
from tabprotect.gui.pages.stages import CheckStage


class CheckPage(CheckStage, Page):
    """The check page: beliefs about counts, or contributors of magnitudes who were tried as readers."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.part: Beliefs | ContributorsTried = (ContributorsTried if document.of_magnitudes else Beliefs)(
            self
        )
        self.body.addWidget(self.part, 1)

    def pieces(self) -> Iterator[object]:
        return self.part.pieces()

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return self.part.choices()

    def without_work(self) -> frozenset[str]:
        return self.part.without_work()

    def words(self, project: Project) -> list[str]:
        return self.part.words(project)

    def refresh(self, changes: PageChanges) -> None:
        if self.document.has_release:
            self.part.refresh(changes)

    def main_action(self) -> None:
        self.document.page_asked.emit("release")
