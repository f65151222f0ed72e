"""What readers learn of the release: a frame with the part of the measure that is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tabprotect.engine.project.project import Project
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.look.buttons import choice, offer
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import held, in_row
from tabprotect.gui.pages.check.beliefs import Beliefs
from tabprotect.gui.pages.check.contributors_tried import ContributorsTried
from tabprotect.gui.pages.stages import CHECK
from tabprotect.languages.messages import message

PARTS: Mapping[str, type[Beliefs | ContributorsTried]] = {"magnitudes": ContributorsTried, "counts": Beliefs}


class CheckPage(Page):
    """The check page: beliefs about counts, or contributors of magnitudes who were tried as readers."""

    stage = CHECK

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.measure = choice(message("Measure that the page is about"), changed=self._measure_chosen)
        self._measures = held(in_row(Label(message("Measure"), buddy=self.measure), self.measure, margins=0))
        self.tools.addWidget(self._measures)
        self._measures.hide()
        self._parts: dict[str, Beliefs | ContributorsTried] = {}
        self.part = self._part("magnitudes" if document.of_magnitudes else "counts")

    def _part(self, measure: str) -> Beliefs | ContributorsTried:
        """The part of a measure, built when it is first shown."""
        if measure not in self._parts:
            part = self._parts[measure] = PARTS[measure](self)
            self.body.addWidget(part, 1)
        return self._parts[measure]

    def _measure_chosen(self) -> None:
        self.part = self._part(self.measure.currentData())
        for part in self._parts.values():
            for widget in (part, *part.around):
                widget.setVisible(part is self.part)
        self.set_sentence("")
        self.follow("everything")
        self.announced.emit()

    def pieces(self) -> Iterator[object]:
        return self.part.pieces()

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return self.part.choices()

    def without_work(self) -> frozenset[str]:
        return self.part.without_work()

    def words(self, project: Project) -> list[str]:
        return self.part.words(project)

    def refresh(self, changes: PageChanges) -> None:
        if not self.document.has_release:
            return
        if self.document.magnitude_release is not None:
            table = self.document.magnitude_release.magnitude_table
            measures = {"magnitudes": table.measure, "counts": message("Number of records")}
            if not self.document.tells_counts:
                del measures["counts"]
            self._measures.setVisible(len(measures) > 1)
            offer(self.measure, measures, current=self.measure.currentData())
            if self.part is not self._part(self.measure.currentData()):
                self._measure_chosen()
                return
        self.part.refresh(changes)
