"""The entries of the rail and what is opened over them, and the pages behind, each built when first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page
from tabprotect.gui.base.stage import Stage, Standings
from tabprotect.gui.pages.help.page import HelpPage
from tabprotect.gui.pages.stages import PAGES as PAGES
from tabprotect.gui.pages.start import StartPage
from tabprotect.gui.pages.tabulate.page import TabulatePage

OTHERS: tuple[type[Page], ...] = (StartPage, TabulatePage, HelpPage)
"""Pages beside the river."""


def page_type(stage: Stage) -> type[Page]:
    """The page of a stage, imported when it is needed: the first paint does not wait for it."""
    module, _, name = stage.page_class.rpartition(".")
    page: type[Page] = getattr(import_module(f"tabprotect.gui.pages.{module}"), name)
    return page


class Pages(Mapping[str, Page]):
    """The pages by name, in order. Asking for a page builds it, the first time.

    ``made`` is told of each page as it is built.
    """

    def __init__(self, document: Document, made: Callable[[Page], None]) -> None:
        self.stages: dict[str, Stage] = {
            stage.name: stage for stage in (*PAGES, *(page.stage for page in OTHERS))
        }
        self.built: dict[str, Page] = {}
        """The pages that were asked for so far."""
        self.built_for_magnitudes: dict[str, Page] = {}
        """Those of them that have parts for magnitudes."""
        self._document = document
        self._made = made
        self.standings = Standings(document)

    def __getitem__(self, name: str) -> Page:
        stage = self.stages[name]
        own = self._document.of_magnitudes and stage.by_measure
        built = self.built_for_magnitudes if own else self.built
        if name not in built:
            page = built[name] = page_type(stage)(self._document)
            self._made(page)
        return built[name]

    def every(self) -> Iterator[Page]:
        """All pages that were built."""
        yield from self.built.values()
        yield from self.built_for_magnitudes.values()

    def __iter__(self) -> Iterator[str]:
        return iter(self.stages)

    def __len__(self) -> int:
        return len(self.stages)

    def why_not(self, name: str) -> str:
        """Say why a page cannot be used now; builds nothing."""
        return self.standings[self.stages[name]].why
