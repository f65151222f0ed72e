"""Where a cycle set comes from: templates as cards, the first of them Design for me."""

from __future__ import annotations

from functools import cached_property

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget

from tabprotect.engine.project.project import Project
from tabprotect.gui.base.document import Document
from tabprotect.gui.pages.cycles.templates.design_for_me import DesignForMe
from tabprotect.gui.pages.cycles.templates.template_cards import TemplateCards


class Choosing(QStackedWidget):
    """``chosen`` carries the name of a template, ``done`` says that a design was taken.

    Each part is built when it is first looked at: the page opens without them.
    """

    chosen = Signal(str)
    done = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document

    @cached_property
    def templates(self) -> TemplateCards:
        """The cards."""
        cards = TemplateCards()
        cards.chosen.connect(self.chosen)
        cards.design_asked.connect(self._show_design)
        self.addWidget(cards)
        return cards

    @cached_property
    def design(self) -> DesignForMe:
        """The form, its candidates, and what leaks."""
        form = DesignForMe(self.document)
        form.done.connect(self.done)
        self.addWidget(form)
        return form

    def begin(self, project: Project) -> None:
        """Show the cards."""
        self.templates.show_domain(project.domain)
        self.setCurrentWidget(self.templates)

    def focus_first(self) -> None:
        """The first card gets the keyboard."""
        next(iter(self.templates.cards.values())).setFocus()

    def show_project(self, project: Project) -> None:
        """Bring up to date what is looked at."""
        if self.currentWidget() is None:
            return
        if "design" in self.__dict__ and self.currentWidget() is self.design:
            self.design.show_project(project)
        else:
            self.templates.show_domain(project.domain)

    def _show_design(self) -> None:
        project = self.document.project
        if project is not None:
            self.setCurrentWidget(self.design)
            self.design.show_project(project)
